/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline: shares of device time by weight, deadlines as a floor under them, and no
 * waiting that does not pay. Our own; docs/policies/fair-deadline.md has the proofs.
 *
 * dispatch() asks, in order: expired? behind its reservation? boosted (a small sync write within
 * its credit)? is our FLUSH out, or a boosted write starving in the drive? only the
 * idle class left, and too early? Then what the mode says: go on with the visit, or the
 * least tag. Whatever is returned passes take().
 */
#include "policies/policies.h"
#include "policies/fair_deadline/fd.h"

#define CYCLE_SYNC 8 /* expired sync requests of a cycle */
#define CYCLE_ASYNC                                                                   \
	9 /* then one async, then a normal choice: no one rescues the device to death \
	   */
#define EXPIRY_NEAR_NS (100 * FD_MS) /* a FLUSH of ours, or several destages */
#define SYNCER_RECENT_NS FD_SEC
/* Each boosted log write costs a rotation when there is no cache, and shrinks group commit: a
 * database's eight clients lost a quarter at depth 1. Up to three are not each other's load. */
#define SYNCERS_BOOSTED 3
#define BOOST_WRITES 8 /* log writes of 8 ms in a credit of 60, on a disk */

struct iosched_request *ios_fd_wait(struct iosched_pause *pause, enum iosched_hold reason,
				    iosched_time until)
{
	pause->reason = reason;
	pause->until = until;
	return NULL;
}

/* For a completion. */
struct iosched_request *ios_fd_busy(struct iosched_pause *pause)
{
	return ios_fd_wait(pause, IOSCHED_HOLD_INFLIGHT, IOSCHED_NEVER);
}

static bool is_async(const struct iosched_request *rq)
{
	return !iosched_request_is_sync(rq);
}

struct fd_flow *ios_fd_flow_for(const struct iosched_request *rq)
{
	struct fd_owner *o = rq->internal.context->data;

	/* Written as an element of the array it would be computed again for each member. */
	return o->flow[0] + (iosched_request_class(rq) * 2u + is_async(rq));
}

static void pass_time(struct fd *d, iosched_time now)
{
	if (now >= d->slice_end)
		ios_fd_slice_advance_slow(d, now);
	d->alarm = d->slice_end;
	ios_fd_grace(d, now);
	if (d->n_limits != 0)
		ios_fd_wake(d, now);
	if (d->n_limits != 0 || now == 0) /* 0 is never, and seen() knows */
		d->alarm = 0;
}

static void tick(struct fd *d, iosched_time now)
{
	d->now = now;
	if (now >= d->alarm)
		pass_time(d, now);
}

static void seen(const struct fd_flow *f, iosched_time now)
{
	iosched_time some = fd_max(now, 1); /* 0 is never */

	f->of->seen = some;
	if (!f->async)
		f->of->sync_seen = some;
}

/* -- insert -- */

static bool expires_by_wish(const struct fd *d, struct iosched_request *rq, const struct fd_flow *f)
{
	uint64_t expire = f->async ? d->t.async_expire_ns[f->cls] : d->t.sync_expire_ns[f->cls];

	rq->internal.expiry = rq->inserted + expire;
	if (rq->deadline == 0 || rq->deadline >= rq->internal.expiry)
		return false;
	rq->internal.expiry = rq->deadline;
	return true;
}

static void count_syncer(struct fd *d, struct fd_flow *f, iosched_time now)
{
	struct iosched_list_link *l;

	if (ios_list_empty(&f->syncing))
		d->n_syncers++;
	else
		ios_list_remove(&f->syncing);
	f->t_syncwrite = now;
	ios_list_insert_before(&d->syncers, &f->syncing);
	while ((l = d->syncers.next) != &f->syncing &&
	       fd_ago(now, IOS_CONTAINER(l, struct fd_flow, syncing)->t_syncwrite) >=
		       SYNCER_RECENT_NS) {
		ios_list_remove(l);
		d->n_syncers--;
	}
}

/* How far a flow may be ahead and still be boosted: some log writes. On one arm that is a tunable;
 * where there are many, a log write takes what it takes alone. */
static uint64_t boost_credit(const struct fd *d)
{
	uint64_t some = BOOST_WRITES * d->lat_rand_ns[1];

	return d->mode == FD_SERIAL ? d->t.boost_credit_ns : fd_min(some, d->t.boost_credit_ns);
}

/* A small sync write whose flow is within its credit, and does not pass its own. */
static bool deserves_boost(struct fd *d, struct fd_flow *f, const struct iosched_request *rq)
{
	uint64_t bound;

	if (rq->span_length > d->t.boost_bytes || f->nq != f->n_boosted)
		return false;
	if (!d->wce && !d->array && d->mode == FD_SERIAL && d->n_syncers > SYNCERS_BOOSTED)
		return false;
	bound = ios_fd_vtime(d, f->cls) + ios_fd_virtual(d, f, boost_credit(d));
	return !fd_before(bound, f->tag);
}

static bool ends_hold(const struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	if (d->hold.flow == NULL)
		return false;
	if (f == d->hold.flow || (d->e != NULL && d->e == f->entity))
		return true;
	return d->e != NULL && d->e->kind == FD_STREAM && !f->async &&
	       rq->span_offset + d->t.near_back_bytes >= d->head &&
	       rq->span_offset <= d->head + d->t.near_forward_bytes;
}

static void kick(struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	if (!f->async || rq->span_length >= d->t.kick_bytes)
		d->env->kick |= IOSCHED_KICK_NOW;
}

static __attribute__((noinline)) void insert_any(struct fd *d, struct fd_flow *f,
						 struct iosched_request *rq, iosched_time now)
{
	bool fsync = rq->op == IOSCHED_WRITE && !f->async;

	tick(d, now);
	if (!f->async)
		ios_fd_observe(d, f, rq, now);
	ios_fd_flow_activate(d, f);
	if (d->cls[IOSCHED_IDLE].nq != 0 && f->cls != IOSCHED_IDLE)
		ios_fd_idle_pause_over(d, now);
	seen(f, now);
	if (fsync)
		count_syncer(d, f, now);
	rq->internal.mark = 0;
	if (expires_by_wish(d, rq, f))
		rq->internal.mark = FD_MARK_WISH;
	else if (fsync && deserves_boost(d, f, rq))
		rq->internal.mark = FD_MARK_BOOST;
	ios_fd_flow_link(d, f, rq);
	ios_fd_flow_settle(d, f, now);
	if (rq->merged != NULL)
		ios_fd_share_again(d, rq);
	if (ends_hold(d, f, rq))
		ios_fd_hold_end(d, now, false);
	kick(d, f, rq);
}

/* The same of one more read of a flow that has some queued: most requests under load. */
static inline __attribute__((always_inline)) void insert_another(struct fd *d, struct fd_flow *f,
								 struct iosched_request *rq,
								 iosched_time now,
								 const enum fd_road road)
{
	f->of->seen = f->of->sync_seen = now;
	rq->internal.mark = 0;
	rq->internal.expiry = rq->inserted + d->t.sync_expire_ns[f->cls];
	d->env->kick |= IOSCHED_KICK_NOW;
	if (f->counted == 1) {
		f->counted = 2;
		f->of->n_deep++;
	}
	ios_fd_flow_append(f, rq, road);
}

static inline __attribute__((always_inline)) bool
is_another(const struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	return rq->op == IOSCHED_READ && rq->deadline == 0 && rq->merged == NULL && !d->special &&
	       f->ordinary && f->place == FD_QUEUED && !ios_fifo_empty(&f->fifo) &&
	       ios_fifo_entry(f->fifo.head.prev)->inserted <= rq->inserted;
}

static __attribute__((noinline)) void insert_with_arm(struct fd *d, struct iosched_request *rq,
						      iosched_time now)
{
	struct fd_flow *f = ios_fd_flow_for(rq);

	if (now >= d->alarm || !is_another(d, f, rq) || !ios_fd_observe_random(d, f, rq)) {
		insert_any(d, f, rq, now);
		return;
	}
	d->now = now;
	insert_another(d, f, rq, now, FD_PLAIN);
}

static void fd_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct fd *d = self;
	struct fd_flow *f;

	if (d->rotational) {
		insert_with_arm(d, rq, now);
		return;
	}
	f = ios_fd_flow_for(rq);
	if (now >= d->alarm || !is_another(d, f, rq)) {
		insert_any(d, f, rq, now);
		return;
	}
	d->now = now;
	insert_another(d, f, rq, now, FD_FLASH);
}

/* -- dispatch -- */

static void send_async(struct fd *d, struct fd_flow *f, uint64_t est, bool contig, iosched_time now)
{
	d->async_infl++;
	d->async_cost += est;
	if (d->mode == FD_PARALLEL)
		ios_fd_pace_charge(d, f->cls, est, now);
	if (d->mode == FD_PARALLEL)
		d->run.flow = f;
	if (d->run.flow == f) {
		d->run.est += est;
		d->run.streaming = contig;
	}
	if (d->wce && d->mode == FD_SERIAL) {
		d->dirty = ios_fd_dirty(d, now) + est;
		d->dirty_at = now;
	}
}

static void send_boost(struct fd *d, iosched_time now)
{
	d->special = 1;
	if (d->boost_infl++ == 0)
		d->t_boost = now;
}

static inline void move_head(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			     bool boost)
{
	uint64_t end = rq->span_offset + rq->span_length;

	if (!boost)
		d->head = end;
	ios_fd_move_sweep(f->entity, end);
	if (d->mode == FD_PARALLEL || rq->op != IOSCHED_READ)
		f->wend = end;
}

/* Everything that is handed out passes here. A plain one: sync, without a mark, not of the
 * idle class, of a flow that has others, all by arrival; and nothing is special. */
static inline __attribute__((always_inline)) struct iosched_request *
take_road(struct fd *d, struct iosched_request *rq, iosched_time now, const enum fd_road road)
{
	const bool plain = road != FD_ROAD;
	struct fd_flow *f = fd_flow_of(rq);
	bool contig, boost = !plain && (rq->internal.mark & FD_MARK_BOOST) != 0;
	uint64_t est = ios_fd_estimate(d, f, rq, &contig, road);

	f->t_dispatch = now;
	ios_fd_flow_take(d, f, rq, road);
	if (d->infl == 0 && (plain || d->flushing == FD_NO_FLUSH)) {
		d->last_comp = now;
		rq->internal.mark |= FD_MARK_ALONE;
	}
	if (contig)
		rq->internal.mark |= FD_MARK_CONTIG;
	f->infl++;
	f->entity->infl++;
	f->of->infl++;
	d->infl++;
	if (road == FD_FLASH)
		f->wend = rq->span_offset + rq->span_length;
	else
		move_head(d, f, rq, boost);
	if (!plain && f->async)
		send_async(d, f, est, contig, now);
	if (boost)
		send_boost(d, now);
	if (!plain && f->cls == IOSCHED_IDLE)
		d->idle_sent = now;
	if (!plain && d->n_limits != 0)
		ios_fd_limit_charge(d, f, est, rq->span_length, now);
	if (!plain || f->odd)
		ios_fd_served(d, f, now);
	ios_fd_flow_sent(d, f, est, now, plain);
	if (!plain && (rq->internal.mark & FD_MARK_SHARED))
		ios_fd_share_sent(d, rq, est, now);
	ios_fd_slice_sent(d, rq, est);
	if (plain)
		f->of->sync_seen = now; /* the class was seen, and is in flight */
	else
		seen(f, now);
	if (!plain && d->hold.flow != NULL && f->entity == d->e)
		ios_fd_hold_end(d, now, false);
	return rq;
}

static __attribute__((noinline)) struct iosched_request *
take(struct fd *d, struct iosched_request *rq, iosched_time now)
{
	return take_road(d, rq, now, FD_ROAD);
}

static struct fd_class *best_class(struct fd *d)
{
	static const unsigned order[FD_CLASSES] = {IOSCHED_REALTIME, IOSCHED_BEST_EFFORT,
						   IOSCHED_IDLE};
	unsigned i;

	for (i = 0; i < FD_CLASSES; i++)
		if (d->cls[order[i]].n_ready != 0)
			return &d->cls[order[i]];
	return NULL;
}

/* Nothing is QUEUED: is anything parked? */
static struct iosched_request *nothing_allowed(const struct fd *d, struct iosched_pause *pause)
{
	iosched_time until = ios_fd_next_wake(d);

	if (until == IOSCHED_NEVER)
		return ios_fd_wait(pause, IOSCHED_HOLD_EMPTY, IOSCHED_NEVER);
	return ios_fd_wait(pause, IOSCHED_HOLD_THROTTLED, until);
}

/* Each flow's credit bounds that flow, not a crowd: sixty-four times 60 ms are four seconds. So
 * all of them together pass others for one such credit, and beyond it for half of the time; for the
 * rest they go by their tags. Passing nobody is free. */
static bool boost_passes(struct fd *d, const struct fd_class *c, const struct iosched_request *rq,
			 iosched_time now)
{
	uint64_t drained = fd_ago(now, d->boost_at) / 2;
	bool contig;

	if (c->nq == c->n_boosted)
		return true;
	d->boost_lead -= fd_min(drained, d->boost_lead);
	d->boost_at = now;
	if (d->boost_lead >= boost_credit(d))
		return false;
	d->boost_lead += ios_fd_estimate(d, fd_flow_of(rq), rq, &contig, FD_ROAD);
	return true;
}

static struct iosched_request *boosted(struct fd *d, const struct fd_class *c, iosched_time now)
{
	struct iosched_request *rq;

	if (ios_list_empty(&c->boosts))
		return NULL;
	rq = ios_fifo_first(&IOS_CONTAINER(c->boosts.next, struct fd_flow, boosting)->fifo);
	return boost_passes(d, c, rq, now) ? rq : NULL;
}

/* The arm's queue is not filled beyond the moment the next reservation is due. */
static bool fits_before_due(const struct fd *d, iosched_time now)
{
	iosched_time due = ios_fd_next_due(d);

	if (d->infl == 0 || due == IOSCHED_NEVER)
		return true;
	return due > now && d->infl < (due - now) / d->t_pos;
}

/* Somebody has a limit or a reservation, or nothing may go. True: that decides. */
static __attribute__((noinline)) bool tenants_decide(struct fd *d, const struct fd_class *c,
						     iosched_time now, struct iosched_pause *pause,
						     struct iosched_request **rq)
{
	struct fd_flow *reserved;

	if (c == NULL) {
		*rq = nothing_allowed(d, pause);
		return true;
	}
	reserved = ios_fd_reserved(d, now);
	if (reserved != NULL) {
		*rq = reserved->async ? ios_fd_sweep(d, reserved->entity)
				      : ios_fd_flow_oldest(reserved);
		return true;
	}
	if (d->mode != FD_SERIAL || fits_before_due(d, now))
		return false;
	*rq = ios_fd_busy(pause);
	return true;
}

/* All but the expired. */
static inline struct iosched_request *choose(struct fd *d, iosched_time now,
					     struct iosched_pause *pause)
{
	struct fd_class *c = best_class(d);
	struct iosched_request *rq;

	if ((c == NULL || d->n_limits != 0) && tenants_decide(d, c, now, pause, &rq))
		return rq;
	if ((rq = boosted(d, c, now)) != NULL)
		return rq;
	if (d->flushing == FD_FENCE || d->starving != FD_NOT_STARVING ||
	    (d->boost_infl != 0 && ios_fd_barrier(d, now)))
		return ios_fd_busy(pause);
	if (c == &d->cls[IOSCHED_IDLE] && !ios_fd_idle_may_go(d, now, pause))
		return NULL;
	return d->mode == FD_SERIAL ? ios_fd_serial(d, c, now, pause)
				    : ios_fd_parallel(d, c, now, pause);
}

/* Over its limit since it was queued: it waits with its tenant's others. */
static bool parks(struct fd *d, struct iosched_request *rq, iosched_time now)
{
	struct fd_flow *f;
	struct fd_limiter *over;

	if (rq->op == IOSCHED_FLUSH)
		return false;
	f = fd_flow_of(rq);
	over = ios_fd_over_limit(d, f, now);
	if (over == NULL)
		return false;
	ios_fd_flow_park(d, f, over);
	return true;
}

static struct iosched_request *allowed(struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	struct iosched_request *rq;

	do
		rq = choose(d, now, pause);
	while (d->n_limits != 0 && rq != NULL && parks(d, rq, now));
	return rq;
}

static struct iosched_request *expired(struct fd *d, bool async, iosched_time now)
{
	struct iosched_request *rq;

	do
		rq = ios_fd_expired(d, async, now);
	while (d->n_limits != 0 && rq != NULL && parks(d, rq, now));
	return rq;
}

/* Eight expired sync ones, one expired async one, one normal choice, and so on. Without the
 * async one a burst of expired writes would wait behind every later read. NULL: it is the normal
 * choice's turn; `late`: though some are expired. */
static struct iosched_request *rescue(struct fd *d, iosched_time now, bool *late)
{
	struct iosched_request *s = expired(d, false, now), *a = expired(d, true, now);

	d->expiry_floor = ios_fd_next_expiry(d);
	if (d->cycle < CYCLE_SYNC && s != NULL) {
		d->cycle++;
		return s;
	}
	if (d->cycle < CYCLE_ASYNC && a != NULL) {
		d->cycle = CYCLE_ASYNC;
		return a;
	}
	d->cycle = 0;
	*late = s != NULL || a != NULL;
	return NULL;
}

/* The normal choice found nothing, and may have parked what had expired. */
static struct iosched_request *rescue_anyway(struct fd *d, iosched_time now)
{
	struct iosched_request *s = expired(d, false, now);

	return s != NULL ? s : expired(d, true, now);
}

static inline struct iosched_request *rescue_or_choose(struct fd *d, iosched_time now,
						       struct iosched_pause *pause)
{
	struct iosched_request *rq;
	bool late = false;

	if (now < d->expiry_floor)
		d->cycle = 0;
	else if ((rq = rescue(d, now, &late)) != NULL)
		return rq;
	rq = allowed(d, now, pause);
	return rq == NULL && late ? rescue_anyway(d, now) : rq;
}

/* A wait must not outlast what may end it. */
static void shorten(const struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	iosched_time other[3];
	int i;

	/* The next completion may be later than the next expiry. */
	if (pause->reason == IOSCHED_HOLD_INFLIGHT && d->mode == FD_SERIAL &&
	    d->expiry_floor < now + EXPIRY_NEAR_NS)
		ios_fd_wait(pause, IOSCHED_HOLD_IDLING, IOSCHED_NEVER);
	if (pause->reason != IOSCHED_HOLD_IDLING && pause->reason != IOSCHED_HOLD_THROTTLED)
		return;
	other[0] = ios_fd_next_expiry(d);
	other[1] = ios_fd_next_due(d);
	other[2] = ios_fd_next_wake(d);
	for (i = 0; i < 3; i++)
		if (other[i] > now)
			pause->until = fd_min(pause->until, other[i]);
	if (pause->until == IOSCHED_NEVER)
		ios_fd_busy(pause);
}

static void forget_depth(struct fd *d, iosched_time now)
{
	if (d->depth_lim != 0 && d->boost_infl == 0 && fd_ago(now, d->t_boost_done) >= FD_SEC)
		d->depth_lim = 0;
}

static void look_for_special(struct fd *d)
{
	d->special = d->n_limits != 0 || d->hold.flow != NULL || d->flushing != FD_NO_FLUSH ||
		     d->boost_infl != 0 || d->depth_lim != 0 || d->aged != 0 || d->starving;
}

static __attribute__((noinline)) struct iosched_request *
dispatch_any(struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	struct iosched_request *rq;

	tick(d, now);
	if (d->hold.flow != NULL)
		ios_fd_hold_over(d, now);
	forget_depth(d, now);
	look_for_special(d);
	if (d->starving == FD_STARVING)
		return ios_fd_busy(pause);
	rq = rescue_or_choose(d, now, pause);
	if (rq != NULL && (rq->flags & IOSCHED_RQ_INTERNAL))
		return rq;
	if (rq != NULL)
		return take(d, rq, now);
	shorten(d, now, pause);
	return NULL;
}

static inline bool is_plain(const struct iosched_request *rq)
{
	const struct fd_flow *f;

	if ((rq->flags & IOSCHED_RQ_INTERNAL) || rq->internal.mark != 0)
		return false;
	f = fd_flow_of(rq);
	return f->ordinary && f->nq > 1 && ios_fifo_empty(&f->wishes);
}

/* Nothing needs the whole ladder: only the best effort class has something, none of it boosted. */
static inline bool is_short(const struct fd *d, const struct fd_class *c, iosched_time now)
{
	return now < d->alarm && now < d->expiry_floor && !d->special &&
	       d->cls[IOSCHED_REALTIME].n_ready == 0 && c->n_ready != 0 &&
	       ios_list_empty(&c->boosts);
}

static __attribute__((noinline)) struct iosched_request *
dispatch_with_arm(struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	struct fd_class *c = &d->cls[IOSCHED_BEST_EFFORT];
	struct iosched_request *rq;

	if (!is_short(d, c, now))
		return dispatch_any(d, now, pause);
	d->now = now;
	d->cycle = 0;
	rq = d->mode == FD_SERIAL ? ios_fd_serial(d, c, now, pause)
				  : ios_fd_parallel(d, c, now, pause);
	if (rq == NULL) {
		shorten(d, now, pause);
		return NULL;
	}
	if (is_plain(rq))
		return take_road(d, rq, now, FD_PLAIN);
	return (rq->flags & IOSCHED_RQ_INTERNAL) ? rq : take(d, rq, now);
}

/* Of the least tag the oldest, if that is all there is to say: nobody is harmed, no writeback
 * waits, and it is plain. NULL: there is more. */
static inline struct iosched_request *plain_of_least(const struct fd *d, struct fd_class *c)
{
	struct iosched_request *rq;
	struct fd_flow *f;

	if (c->ready[1].root != NULL || d->n_harmed != 0 || d->dp != 0)
		return NULL;
	f = fd_flow_first(&c->pool.flows);
	rq = ios_fifo_entry(f->fifo.head.next);
	if (f->nq < 2 || !ios_fifo_empty(&f->wishes) || rq->internal.mark != 0)
		return NULL;
	c->stale++; /* as if it had been asked for weights */
	return rq;
}

/* Flash: the least tag, unless writeback may go or somebody must wait. */
static __attribute__((noinline)) struct iosched_request *
dispatch_other(struct fd *d, struct fd_class *c, iosched_time now, struct iosched_pause *pause)
{
	struct iosched_request *rq = ios_fd_parallel(d, c, now, pause);

	if (rq != NULL)
		return is_plain(rq) ? take_road(d, rq, now, FD_FLASH) : take(d, rq, now);
	shorten(d, now, pause);
	return NULL;
}

static __attribute__((noinline)) struct iosched_request *
dispatch_flash(struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	struct fd_class *c = &d->cls[IOSCHED_BEST_EFFORT];
	struct iosched_request *rq;

	if (!is_short(d, c, now))
		return dispatch_any(d, now, pause);
	d->now = now;
	d->cycle = 0;
	rq = plain_of_least(d, c);
	return rq != NULL ? take_road(d, rq, now, FD_FLASH) : dispatch_other(d, c, now, pause);
}

static struct iosched_request *fd_dispatch(void *self, iosched_time now,
					   struct iosched_pause *pause)
{
	struct fd *d = self;

	return d->rotational ? dispatch_with_arm(d, now, pause) : dispatch_flash(d, now, pause);
}

/* -- complete -- */

static void flush_done(struct fd *d, iosched_time now)
{
	bool pump = d->flushing == FD_PUMP;

	d->flushing = FD_NO_FLUSH;
	if (pump) {
		ios_fd_pump_done(d, now);
		return;
	}
	ios_fd_fence_done(d, now);
	if (d->e != NULL && d->e->kind == FD_ASYNC)
		d->e = NULL;
}

/* A plain one: of a sync flow that has others QUEUED, not of the idle class, marked with nothing
 * but what take() marks all with; and nothing is special. */
static inline __attribute__((always_inline)) void uncount(struct fd *d, struct fd_flow *f,
							  const struct iosched_request *rq,
							  iosched_time now, const enum fd_road road)
{
	const bool plain = road != FD_ROAD;

	ios_fd_slice_done(d, rq, now, plain);
	f->infl--;
	f->entity->infl--;
	f->entity->outstanding--;
	f->of->infl--;
	d->infl--;
	if (!plain && f->async) {
		d->async_infl--;
		d->async_cost -= fd_est_of(rq);
	}
	if (!plain && (rq->internal.mark & FD_MARK_BOOST))
		d->boost_infl--;
	f->t_lc = now;
	if (road != FD_FLASH) { /* which has no streams, and holds nothing for anybody */
		f->entity->t_lc = now;
		f->entity->last = f;
	}
	if (plain)
		f->of->seen = f->of->sync_seen = now;
	else
		seen(f, now);
	if (!plain && f->cls == IOSCHED_IDLE)
		ios_fd_idle_done(d, rq, now);
	if (!plain) {
		ios_fd_flow_rest(d, f, now);
		ios_fd_flow_settle(d, f, now);
	} else if (f->nq == 1 && f->infl == 0 && f->counted == 2) {
		f->counted = 1;
		f->of->n_deep--;
	}
}

static inline __attribute__((always_inline)) void complete_road(struct fd *d, struct fd_flow *f,
								struct iosched_request *rq,
								iosched_time now,
								const enum fd_road road)
{
	const bool plain = road != FD_ROAD;

	uncount(d, f, rq, now, road);
	ios_fd_settle_cost(d, f, rq, now, plain);
	if (!plain && (rq->internal.mark & FD_MARK_SHARED))
		ios_fd_share_done(d, rq, now);
	if (!plain && (rq->internal.mark & FD_MARK_BOOST))
		ios_fd_boost_done(d, fd_ago(now, rq->dispatched), now);
	if (d->mode == FD_PARALLEL)
		ios_fd_parallel_done(d, f, rq, now, road);
	if (d->tries)
		ios_fd_mode_trial(d, ios_fd_model(d, rq, (rq->internal.mark & FD_MARK_CONTIG) != 0),
				  now);
}

static __attribute__((noinline)) void complete_plain(struct fd *d, struct fd_flow *f,
						     struct iosched_request *rq, iosched_time now)
{
	complete_road(d, f, rq, now, FD_PLAIN);
}

static __attribute__((noinline)) void complete_any(struct fd *d, struct iosched_request *rq,
						   iosched_time now)
{
	tick(d, now);
	if (rq->flags & IOSCHED_RQ_INTERNAL)
		flush_done(d, now);
	else
		complete_road(d, fd_flow_of(rq), rq, now, FD_ROAD);
}

static void fd_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	const uint8_t usual = FD_MARK_CONTIG | FD_MARK_ALONE | FD_MARK_SENT;
	struct fd *d = self;
	struct fd_flow *f = fd_flow_of(rq);

	if (now >= d->alarm || d->special || (rq->internal.mark & ~usual) != 0 || !f->ordinary ||
	    f->nq == 0) {
		complete_any(d, rq, now);
		return;
	}
	d->now = now;
	if (d->rotational) {
		complete_plain(d, f, rq, now);
		return;
	}
	uncount(d, f, rq, now, FD_FLASH); /* always parallel, nothing to find out */
	ios_fd_parallel_done(d, f, rq, now, FD_FLASH);
}

/* -- leaving -- */

static void leave_queue(struct fd *d, struct iosched_request *rq, iosched_time now)
{
	struct fd_flow *f = fd_flow_of(rq);

	ios_fd_flow_unlink(d, f, rq);
	if (rq->internal.mark & FD_MARK_SHARED)
		ios_fd_share_done(d, rq, now);
	ios_fd_flow_rest(d, f, now);
	ios_fd_flow_settle(d, f, now);
}

static void fd_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	tick(self, now);
	leave_queue(self, rq, now);
}

static struct iosched_request *fd_drain(void *self)
{
	struct fd *d = self;
	struct iosched_list_link *l;

	for (l = d->busy.next; l != &d->busy; l = l->next) {
		struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);
		struct iosched_request *rq = ios_fd_flow_oldest(f);

		if (rq != NULL) {
			leave_queue(d, rq, d->now);
			return rq;
		}
	}
	return NULL;
}

/* -- contexts and groups -- */

static void fd_context_init(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;
	struct fd_owner *o = ctx->data;

	ios_fd_owner_init(d, o, ctx);
	ios_fd_limits_changed(d, &o->limit, &ctx->limits, now);
}

static void fd_context_changed(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;

	tick(d, now);
	ios_fd_owner_changed(d, ctx->data, now);
	d->env->kick |= IOSCHED_KICK_NOW;
}

/* Its next request will not come: what is held for it is let go. */
static void fd_context_exit(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;
	struct fd_owner *o = ctx->data;

	tick(d, now);
	o->gone = 1;
	if (d->hold.flow == NULL || d->hold.flow->owner != o)
		return;
	ios_fd_hold_end(d, now, false);
	d->e = NULL;
	d->env->kick |= IOSCHED_KICK_NOW;
}

static void fd_context_fini(void *self, struct iosched_context *ctx)
{
	ios_fd_owner_fini(self, ctx->data);
}

static void fd_group_changed(void *self, struct iosched_group *group, iosched_time now)
{
	struct fd *d = self;

	tick(d, now);
	ios_fd_group_changed(d, group, now);
	d->env->kick |= IOSCHED_KICK_NOW;
}

/* -- the table -- */

static size_t groups_size(const struct iosched_params *p)
{
	return sizeof(struct fd_group) * (p->max_groups + 1u);
}

/* What a class keeps its POOL's requests in: with an arm sorted, over so many cells; on flash
 * hashed, in as many buckets. */
static size_t places_size(const struct iosched_params *p, uint32_t n_cells)
{
	return p->rotational ? ios_rqgrid_size(n_cells)
			     : n_cells * sizeof(struct iosched_tree_link *);
}

static void places_init(struct fd_class *c, const struct iosched_params *p, void *memory,
			uint32_t n_cells)
{
	if (p->rotational) {
		ios_rqgrid_init(&c->grid, memory, n_cells);
		c->pool.grid = &c->grid;
	} else {
		ios_rqstarts_init(&c->starts, memory, n_cells);
		c->pool.starts = &c->starts;
	}
}

static size_t fd_pool_size(const struct iosched_params *p)
{
	return groups_size(p) + FD_CLASSES * places_size(p, ios_rqgrid_cells(p->expected_queued));
}

static int fd_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	uint32_t n_cells = ios_rqgrid_cells(env->params->expected_queued);
	struct fd *d = self;
	unsigned i;

	d->env = env;
	d->groups = pool;
	d->rotational = env->params->rotational;
	d->wce = env->params->write_cache;
	d->array = env->params->array;
	d->hint = env->params->parallel;
	d->measures = d->rotational && d->hint == IOSCHED_PARALLEL_UNKNOWN;
	d->tries = d->rotational && d->hint == IOSCHED_PARALLEL_YES;
	if (d->array && d->rotational)
		ios_fd_use_array_model(&d->t);
	for (i = 0; i < FD_CLASSES; i++) {
		ios_fd_class_init(&d->cls[i], i);
		places_init(&d->cls[i], env->params,
			    (char *)pool + groups_size(env->params) +
				    i * places_size(env->params, n_cells),
			    n_cells);
	}
	ios_list_init(&d->busy);
	ios_list_init(&d->grace);
	ios_list_init(&d->owing);
	ios_list_init(&d->syncers);
	d->now = now;
	d->slice = 0;
	d->weight_stamp = 1;
	d->t_pos = d->t.position_ns;
	d->c_byte = d->t.byte_ps;
	d->kappa = UINT64_C(1) << 16;
	d->phi = FD_ONE;
	d->bucket = (int64_t)d->t.pace_cap_ns;
	d->pace_on = 1;
	d->bucket_at = now;
	for (i = 0; i < 2; i++)
		d->lat_rand_ns[i] = d->t.lat_rand_ns[i];
	ios_fd_mode_init(d, now);
	return 0;
}

const struct iosched_policy ios_fair_deadline_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_WEIGHTS | IOSCHED_POLICY_GROUPS | IOSCHED_POLICY_CONTEXTS |
		 IOSCHED_POLICY_PRIORITY | IOSCHED_POLICY_LIMITS,
	.name = "fair-deadline",
	.summary = "device time by weight, deadlines, limits; holds only when it pays (our own)",
	.self_size = sizeof(struct fd),
	.context_size = sizeof(struct fd_owner),
	.tunables = ios_fd_tunables,
	.pool_size = fd_pool_size,
	.init = fd_init,
	.insert = fd_insert,
	.dispatch = fd_dispatch,
	.complete = fd_complete,
	.merge_allowed = ios_fd_merge_allowed,
	.front_candidate = ios_fd_front_candidate,
	.neighbour = ios_fd_neighbour,
	.absorbed = ios_fd_absorbed,
	.remove = fd_remove,
	.drain = fd_drain,
	.context_init = fd_context_init,
	.context_changed = fd_context_changed,
	.context_exit = fd_context_exit,
	.context_fini = fd_context_fini,
	.group_changed = fd_group_changed,
	.tunable_changed = ios_fd_tunable_changed,
	.audit = ios_fd_audit,
};

#ifdef IOS_ONE_UNIT
#include "policies/fair_deadline/fd_audit.c"
#include "policies/fair_deadline/fd_cost.c"
#include "policies/fair_deadline/fd_expired.c"
#include "policies/fair_deadline/fd_flow.c"
#include "policies/fair_deadline/fd_idle.c"
#include "policies/fair_deadline/fd_merge.c"
#include "policies/fair_deadline/fd_mode.c"
#include "policies/fair_deadline/fd_owner.c"
#include "policies/fair_deadline/fd_parallel.c"
#include "policies/fair_deadline/fd_queue.c"
#include "policies/fair_deadline/fd_serial.c"
#include "policies/fair_deadline/fd_stream.c"
#include "policies/fair_deadline/fd_tenant.c"
#include "policies/fair_deadline/fd_tunables.c"
#endif
