/* SPDX-License-Identifier: MIT */
/*
 * fd_parallel: many channels. The least tag goes next, by a linear cost model, and nobody is
 * waited for; start-time fair queueing with a depth, SFQ(D).
 *
 * State per flow: `lat`, what its requests take in the device, `base`, what they would take alone,
 * `latpk`, a decaying peak. Harmed: lat well above base. Only harm makes us refuse: flows ahead of
 * one that is behind are held to a depth that shrinks while somebody is harmed and
 * grows while nobody is. Writeback beside readers is paced in bursts.
 */
#include "policies/fair_deadline/fd.h"

#define LATENCY_RATE 24	  /* of lat and base: about one queue's depth */
#define LATENCY_SAMPLES 8 /* before lat means anything */
#define PEAK_KEEP 97	  /* percent a completion: a stall is forgotten in a hundred */
#define SOLO_RATE 64
#define FORGIVE_AFTER_NS (100 * FD_MS)
#define FORGIVE_EVERY_NS (5 * FD_MS) /* half of what is left anyway */
#define FORGIVE_TO_NS (10 * FD_MS)
#define LOWEST 16 /* flows looked at for one that is behind */
#define DEPTH_UNKNOWN 32
#define DP_STEP_NS (5 * FD_MS)
#define DP_FORGET_NS (200 * FD_MS)
#define READERS_NS (500 * FD_MS)  /* pace writeback while readers were seen in this time */
#define PHI_DOWN 85		  /* percent a window while somebody is harmed */
#define PHI_UP (FD_ONE * 3 / 100) /* a window otherwise */
#define SHARE_DOUBT 4		  /* the model may be wrong by as much */
#define PHI_MIN (FD_ONE / 64)	  /* a refill must end */

static uint32_t depth_of(const struct fd *d)
{
	return d->env->params->device_depth != 0 ? d->env->params->device_depth : DEPTH_UNKNOWN;
}

static bool harmed(const struct fd *d, const struct fd_flow *f)
{
	return f->nlat >= LATENCY_SAMPLES && f->lat * 1000 > f->base * d->t.harm_permille;
}

/* -- who is behind -- */

struct behind {
	bool any, any_harmed;
	uint64_t bound; /* least tag + latpk (harmed ones only, if asked) */
};

static void see(struct behind *b, const struct fd_flow *g, bool only_harmed)
{
	uint64_t bound = g->tag + g->latpk;

	if (only_harmed && !g->harmed)
		return;
	if (!b->any || fd_before(bound, b->bound))
		b->bound = bound;
	b->any = true;
	b->any_harmed = b->any_harmed || g->harmed;
}

static void scan(struct behind *b, const struct ios_treap *t, const struct fd_flow *but,
		 bool only_harmed)
{
	const struct fd_flow *g;
	int i = 0;

	for (g = fd_flow_first(t); g != NULL && i < LOWEST; g = fd_flow_next(g), i++) {
		if (g == but || g->async)
			continue;
		if (!fd_before(g->tag, but->tag))
			break; /* nor is anyone after it */
		see(b, g, only_harmed);
	}
}

/* Of the active sync flows with a lesser tag than `f`, the lowest few. */
static struct behind behind(struct fd *d, const struct fd_flow *f, bool only_harmed)
{
	struct fd_class *c = &d->cls[f->cls];
	struct behind b = {false, false, 0};

	scan(&b, &c->pool.flows, f, only_harmed);
	scan(&b, &c->present, f, only_harmed);
	scan(&b, &c->resting, f, only_harmed);
	return b;
}

/* Arrays and unequal weights: full stop while a harmed one is behind. */
static bool stopped(struct fd *d, const struct fd_flow *f, bool unequal)
{
	struct behind b;

	if (d->n_harmed == 0 || d->infl == 0 || (f->infl == 0 && !unequal))
		return false;
	b = behind(d, f, true);
	return b.any && fd_before(b.bound + d->t.lead_ns, f->tag);
}

static void step_depth(struct fd *d, bool harm, iosched_time now)
{
	uint32_t depth = depth_of(d);

	d->dp_seen = now;
	if (fd_ago(now, d->dp_at) < DP_STEP_NS)
		return;
	d->dp_at = now;
	if (harm)
		d->dp = (uint32_t)fd_max(
			1, (uint64_t)(d->dp == 0 || d->dp > depth ? depth : d->dp) * 9 / 10);
	else if (d->dp != 0)
		d->dp += 1 + d->dp / 32;
}

/* Equal weights on flash: those ahead share a depth (R4). */
static bool governed(struct fd *d, const struct fd_flow *f, iosched_time now)
{
	struct behind b;

	if (d->dp != 0 && fd_ago(now, d->dp_seen) >= DP_FORGET_NS)
		d->dp = 0;
	if (f->infl == 0 || (d->n_harmed == 0 && d->dp == 0))
		return false;
	b = behind(d, f, false);
	if (!b.any || !fd_before(b.bound + d->t.lead_ns, f->tag))
		return false;
	step_depth(d, b.any_harmed, now);
	return d->dp != 0 && d->infl >= d->dp;
}

static __attribute__((noinline)) bool refused(struct fd *d, const struct fd_flow *f, bool unequal,
					      iosched_time now)
{
	if (f->async)
		return false;
	return d->rotational || unequal ? stopped(d, f, unequal) : governed(d, f, now);
}

/* -- pacing -- */

static uint64_t weight_of(struct fd *d, struct fd_flow *f)
{
	return (UINT64_C(1) << 36) / ios_fd_inverse(d, f);
}

/* Weights of the active flows: of all, of async ones, and of all as far as they would use it. One
 * that thinks leaves the device to others for the part of the time that it does. */
struct weights {
	uint64_t all, async, using;
};

static void weigh(struct fd *d, struct iosched_list_link *list, struct weights *w)
{
	struct iosched_list_link *l;

	for (l = list->next; l != list; l = l->next) {
		struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);
		uint64_t weight = weight_of(d, f);

		w->all += weight;
		if (f->async)
			w->async += weight;
		if (list == &d->grace && !f->async)
			weight =
				fd_scale(weight, f->lat / FD_US + 1, (f->lat + f->tau) / FD_US + 1);
		w->using += weight;
	}
}

/* Is a sync flow slower than its share of what it would be alone? Whatever the model says writeback
 * to an array costs, it then costs more: the controller's cache hides it. */
static bool any_slowed(struct fd *d, struct iosched_list_link *list, uint64_t all)
{
	struct iosched_list_link *l;

	for (l = list->next; l != list; l = l->next) {
		struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);

		if (f->harmed && f->cls != IOSCHED_IDLE &&
		    f->lat / FD_US * weight_of(d, f) > f->base / FD_US * all)
			return true;
	}
	return false;
}

static void step_phi(struct fd *d, iosched_time now)
{
	struct weights w = {0, 0, 0};
	uint64_t share;

	if (fd_ago(now, d->phi_at) < d->t.pace_window_ns)
		return;
	d->phi_at = now;
	weigh(d, &d->busy, &w);
	weigh(d, &d->grace, &w);
	share = w.async == 0 ? 0 : w.async * FD_ONE / w.using;
	d->async_share = share;
	if (d->rotational && d->n_harmed != 0 &&
	    (any_slowed(d, &d->busy, w.all) || any_slowed(d, &d->grace, w.all)))
		share = w.async * FD_ONE / w.all / SHARE_DOUBT;
	if (d->n_harmed != 0)
		d->phi = fd_max(share, d->phi * PHI_DOWN / 100);
	else
		d->phi = fd_min(FD_ONE, d->phi + PHI_UP);
	d->phi = fd_max(d->phi, PHI_MIN);
}

static void refill(struct fd *d, iosched_time now)
{
	int64_t cap = (int64_t)d->t.pace_cap_ns;
	uint64_t elapsed = fd_min(fd_ago(now, d->bucket_at), FD_SEC);

	step_phi(d, now);
	d->bucket_at = now;
	d->bucket += (int64_t)(elapsed * d->phi / FD_ONE);
	if (d->bucket > cap)
		d->bucket = cap;
	if (d->bucket >= cap / 5 * 4)
		d->pace_on = 1;
	if (d->bucket <= 0)
		d->pace_on = 0;
}

/* The idle class goes only while the better ones pause, and is not paced for them. */
static bool readers_about(const struct fd *d, unsigned cls, iosched_time now)
{
	iosched_time sync = fd_sync_last(d, cls);

	return sync != 0 && fd_ago(now, sync) < READERS_NS;
}

/* When the bucket will be full enough to go on. */
static iosched_time refilled_at(const struct fd *d, iosched_time now)
{
	int64_t missing = (int64_t)d->t.pace_cap_ns / 5 * 4 - d->bucket;

	return now + (uint64_t)(missing > 0 ? missing : 0) * FD_ONE / d->phi + 1;
}

/* -- dispatch -- */

/* The async flow to go on with. Disks behind many arms still seek: the one that was sent something
 * last, if it goes on where it ended, for a burst; on flash the least tag. */
static struct fd_flow *go_on_with(struct fd *d, struct fd_flow *least)
{
	struct fd_flow *f = d->run.flow;
	uint64_t burst;

	if (!d->rotational || f == NULL || f == least || f->place != FD_QUEUED ||
	    f->cls != least->cls)
		return least;
	burst = ios_fd_virtual(d, f, d->t.pace_cap_ns);
	if (fd_before(least->tag + burst, f->tag))
		return least;
	return ios_fd_sweep(d, f->entity)->span_offset == f->wend ? f : least;
}

static struct iosched_request *request_of(struct fd *d, struct fd_flow *f)
{
	return f->async ? ios_fd_sweep(d, f->entity) : ios_fd_flow_oldest(f);
}

/* One at a time, to see whether it is many arms still. */
static bool probed(struct fd *d, const struct fd_flow *f, iosched_time now)
{
	return d->infl != 0 && !f->async && f->near <= FD_ONE / 2 && ios_fd_mode_probing(d, now);
}

/* Beside readers half of the depth is not for writes. On flash a reader meets all of what is there:
 * no more than a few service times' worth, or writeback's share of what keeps all channels
 * busy, which is what one request takes alone; or one. */
static bool crowds(const struct fd *d, const struct iosched_request *rq)
{
	if (d->async_infl == 0)
		return false;
	if (d->async_infl >= depth_of(d) / 2)
		return true;
	return !d->rotational && d->async_cost > d->t.lead_ns &&
	       d->async_cost >= ios_fd_solo(d, rq, true) * d->async_share / FD_ONE;
}

/* Async flows have something: the flow that goes next, or NULL and why. */
static __attribute__((noinline)) struct fd_flow *
choose_flow(struct fd *d, struct fd_class *c, iosched_time now, struct iosched_pause *pause)
{
	struct fd_entity *ready = fd_entity_of_link(ios_rb_first(&c->ready[1]));
	struct fd_flow *a = go_on_with(d, fd_flow_first(&ready->flows));
	struct fd_flow *s = fd_flow_first(&c->pool.flows), *f;
	bool crowded = false, paced = false;

	if (readers_about(d, a->cls, now)) {
		refill(d, now);
		paced = !d->pace_on;
		crowded = crowds(d, ios_fd_sweep(d, a->entity));
	}
	f = crowded || paced ? NULL : a;
	if (s != NULL && (f == NULL || !fd_before(f->tag, s->tag)))
		f = s;
	if (f == NULL && paced)
		ios_fd_wait(pause, IOSCHED_HOLD_THROTTLED, refilled_at(d, now));
	else if (f == NULL)
		ios_fd_busy(pause);
	return f;
}

/* All sync flows are in the POOL. */
struct iosched_request *ios_fd_parallel(struct fd *d, struct fd_class *c, iosched_time now,
					struct iosched_pause *pause)
{
	struct fd_flow *f = c->ready[1].root == NULL ? fd_flow_first(&c->pool.flows)
						     : choose_flow(d, c, now, pause);

	bool unequal;

	if (f == NULL)
		return NULL;
	unequal = ios_fd_weights_differ(d, c);
	if (((d->n_harmed != 0 || d->dp != 0) && refused(d, f, unequal, now)) ||
	    (d->measures && probed(d, f, now)))
		return ios_fd_busy(pause);
	return request_of(d, f);
}

/* Async was sent for `est`. */
void ios_fd_pace_charge(struct fd *d, unsigned cls, uint64_t est, iosched_time now)
{
	if (readers_about(d, cls, now))
		d->bucket -= (int64_t)est;
}

/* -- completion -- */

static inline __attribute__((always_inline)) void
learn_solo(struct fd *d, const struct iosched_request *rq, uint64_t latency)
{
	int dir = rq->op != IOSCHED_READ;
	uint64_t moved = fd_bytes_ns(rq->span_length, d->t.lat_byte_ps[dir]);
	uint64_t hint = d->t.lat_rand_ns[dir];

	if (!(rq->internal.mark & FD_MARK_ALONE) || (rq->internal.mark & FD_MARK_CONTIG) ||
	    d->infl != 0 || latency <= moved || latency - moved > hint * 3 / 2)
		return;
	d->lat_rand_ns[dir] =
		(d->lat_rand_ns[dir] * (SOLO_RATE - 1) + (latency - moved)) / SOLO_RATE;
}

/* How far it is behind the flow of its class that is furthest ahead. */
static uint64_t lag_of(struct fd *d, const struct fd_flow *f)
{
	struct fd_class *c = &d->cls[f->cls];
	const struct ios_treap *t[3] = {&c->pool.flows, &c->present, &c->resting};
	uint64_t most = f->tag;
	int i;

	for (i = 0; i < 3; i++) {
		struct fd_flow *g = fd_flow_by_tag(t[i]->last);

		if (g != NULL && fd_before(most, g->tag))
			most = g->tag;
	}
	return most - f->tag;
}

/* No lag beyond `kept`, if that is not next to nothing. */
static void forgive(struct fd *d, struct fd_flow *f, uint64_t kept)
{
	uint64_t lag = lag_of(d, f), most = fd_max(kept, FORGIVE_TO_NS + f->latpk);

	if (lag > most)
		ios_fd_flow_retag(d, f, f->tag + (lag - most));
}

/* What others took while it was not harmed is no debt of theirs once it is: else a tenant whose
 * first thousand writes a controller's cache swallowed within a few milliseconds had to wait until
 * a reader had had as much of the disks. */
static __attribute__((noinline)) void turn(struct fd *d, struct fd_flow *f)
{
	if (f->harmed)
		forgive(d, f, f->lag);
	else
		f->lag = lag_of(d, f);
	d->n_harmed += f->harmed ? 1 : (uint32_t)-1;
}

void ios_fd_parallel_done(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			  iosched_time now, enum fd_road road)
{
	/* From dispatch, not from insert: else our own throttling looks like harm. */
	uint64_t latency = fd_ago(now, rq->dispatched);
	uint64_t solo = ios_fd_solo(d, rq, (rq->internal.mark & FD_MARK_CONTIG) != 0);
	bool is;

	learn_solo(d, rq, latency);
	f->latpk = fd_max(latency, f->latpk * PEAK_KEEP / 100);
	if (f->nlat < LATENCY_SAMPLES && f->nlat++ == 0) {
		f->lat = latency;
		f->base = solo;
	} else {
		f->lat = (f->lat * (LATENCY_RATE - 1) + latency) / LATENCY_RATE;
		f->base = (f->base * (LATENCY_RATE - 1) + solo) / LATENCY_RATE;
	}
	if (road == FD_ROAD && f->async)
		return;
	is = harmed(d, f);
	if (is != f->harmed) {
		f->harmed = is;
		turn(d, f);
	}
	if (is)
		f->t_harm = now;
	else if (now >= f->t_forgiven + FORGIVE_EVERY_NS && now > f->t_harm + FORGIVE_AFTER_NS) {
		f->t_forgiven = now;
		forgive(d, f, 0);
	}
}
