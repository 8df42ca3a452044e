/* SPDX-License-Identifier: MIT */
/*
 * fd_cost: what a request costs: an estimate when it is sent, the truth when it is done.
 *
 * Serial: positioning unless contiguous, plus time per byte; at completion the time since the last
 * completion takes its place, so that charges add up to busy time. A write the cache has
 * swallowed says nothing at completion; its cost shows later, in somebody's slow read, and is
 * then charged to who made the cache dirty. Parallel: a linear model, final when sent.
 */
#include "policies/fair_deadline/fd.h"

#define CONTIG_BYTES 32768u
/* Beyond these a drive's slowest single service is not positioning but something else. */
#define POSITION_MAX_NS (30 * FD_MS)
#define POSITION_BYTES_MAX (256 * FD_KIB)
#define RATE_BYTES_MIN (64 * FD_KIB)
#define LEARN 32    /* of the rate per byte */
#define MEDIAN 64   /* one step of the running median of positioning: 1.6 % */
#define OWED_MAX 64 /* cached writes remembered a flow: a drive destages about as many in 0.5 s */
#define OWING_SCAN 16
#define BULK_DIRTY_NS (5 * FD_MS)    /* less than one positioning of dirt is not bulk */
#define CONTIG_SLACK_NS (FD_MS / 2)  /* a rotation lost between two tracks is less */
#define DESTAGE_SLACK_NS (2 * FD_MS) /* above 1.5 positionings: a destage came between */
#define KAPPA_ONE (UINT64_C(1) << 16)
#define KAPPA_MIN 1311 /* .02: a cache that sorts 64 MiB of scattered writes gains no more */
#define KAPPA_MAX (4 * KAPPA_ONE)

static bool near_to(uint64_t a, uint64_t b)
{
	return a >= b ? a - b <= CONTIG_BYTES : b - a <= CONTIG_BYTES;
}

/* A DISCARD's extent moves no bytes. */
static uint64_t bytes_of(const struct iosched_request *rq)
{
	return rq->op == IOSCHED_DISCARD ? 0 : rq->span_length;
}

uint64_t ios_fd_model(const struct fd *d, const struct iosched_request *rq, bool contig)
{
	int dir = rq->op != IOSCHED_READ;

	return (contig ? d->t.seq_cost_ns[dir] : d->t.rand_cost_ns[dir]) +
	       fd_bytes_ns(bytes_of(rq), d->t.byte_cost_ps[dir]);
}

/* How long it takes with nobody else on the device. */
uint64_t ios_fd_solo(const struct fd *d, const struct iosched_request *rq, bool contig)
{
	int dir = rq->op != IOSCHED_READ;

	return (contig ? d->t.lat_seq_ns[dir] : d->lat_rand_ns[dir]) +
	       fd_bytes_ns(bytes_of(rq), d->t.lat_byte_ps[dir]);
}

static inline __attribute__((always_inline)) uint64_t
estimate_serial(struct fd *d, const struct fd_flow *f, const struct iosched_request *rq,
		bool *contig)
{
	bool write = rq->op != IOSCHED_READ;
	uint64_t est;

	/* A cached append is cheap whatever the head does. */
	*contig = near_to(rq->span_offset, write && d->wce ? f->wend : d->head);
	if (write && d->array)
		return ios_fd_model(d, rq, *contig);
	est = (*contig ? 0 : d->t_pos) + fd_bytes_ns(bytes_of(rq), d->c_byte);
	if (!f->async || !d->wce)
		return est;
	est = est * d->kappa / KAPPA_ONE;
	/* Somewhere in the visit the arm must go there, though the writes append. */
	if (*contig && d->run.flow == f && d->run.est == 0)
		est += d->t_pos;
	return est;
}

uint64_t ios_fd_estimate(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			 bool *contig, enum fd_road road)
{
	uint64_t est;

	if (road == FD_FLASH || d->mode == FD_PARALLEL) {
		*contig = near_to(rq->span_offset, f->wend);
		est = ios_fd_model(d, rq, *contig);
	} else {
		est = estimate_serial(d, f, rq, contig);
	}
	return fd_min(fd_max(est, 1), (UINT64_C(1) << FD_EST_BITS) - 1);
}

/* What is estimated to lie in the drive's cache still: halves every second, but a drive writes no
 * more than a second's worth in a second. */
uint64_t ios_fd_dirty_slow(const struct fd *d, iosched_time now)
{
	uint64_t age, whole, v, half;

	age = fd_ago(now, d->dirty_at);
	whole = age / FD_SEC;
	v = whole < 63 ? d->dirty >> whole : 0;
	half = v - (v >> 1) * (age % FD_SEC / FD_US) / (FD_SEC / FD_US);
	return fd_max(half, d->dirty > age ? d->dirty - age : 0);
}

static inline void charge(struct fd *d, struct fd_flow *f, int64_t cost)
{
	ios_fd_flow_charge(d, f, cost);
	if (d->n_limits != 0)
		ios_fd_limit_correct(d, f, cost);
}

static void owe(struct fd *d, struct fd_flow *f)
{
	if (f->cw < OWED_MAX)
		f->cw++;
	ios_list_remove(&f->owing);
	ios_list_insert_after(&d->owing, &f->owing);
}

/* Of those with cached writes outstanding the one with most, `f` aside. */
static struct fd_flow *most_owing(struct fd *d, const struct fd_flow *f)
{
	struct iosched_list_link *l = d->owing.next;
	struct fd_flow *best = NULL;
	int i;

	for (i = 0; i < OWING_SCAN && l != &d->owing; i++, l = l->next) {
		struct fd_flow *g = IOS_CONTAINER(l, struct fd_flow, owing);

		if (g != f && (best == NULL || g->cw > best->cw))
			best = g;
	}
	return best;
}

static uint64_t blame_small(struct fd *d, const struct fd_flow *f, uint64_t excess)
{
	struct fd_flow *g = most_owing(d, f);

	if (g == NULL)
		return 0;
	excess = fd_min(excess, d->t_pos);
	charge(d, g, (int64_t)excess);
	if (--g->cw == 0)
		ios_list_remove(&g->owing);
	return excess;
}

/* How much of a read's time was the destage of others' writes; they are charged for it. */
static uint64_t blame(struct fd *d, const struct fd_flow *f, const struct iosched_request *rq,
		      uint64_t dt, iosched_time now)
{
	bool contig = (rq->internal.mark & FD_MARK_CONTIG) != 0;
	uint64_t bytes = fd_bytes_ns(bytes_of(rq), d->c_byte);
	uint64_t usual = bytes + (contig ? 0 : d->t_pos);
	uint64_t limit =
		contig ? bytes + CONTIG_SLACK_NS : bytes + d->t_pos * 3 / 2 + DESTAGE_SLACK_NS;

	if (dt <= limit)
		return 0;
	if (ios_fd_dirty(d, now) <= BULK_DIRTY_NS)
		return blame_small(d, f, dt - usual);
	if (d->run.flow == NULL || d->run.flow == f)
		return 0;
	charge(d, d->run.flow, (int64_t)(dt - usual));
	return dt - usual;
}

static inline __attribute__((always_inline)) void
learn(struct fd *d, const struct iosched_request *rq, uint64_t dt)
{
	uint64_t bytes = bytes_of(rq), moved = fd_bytes_ns(bytes, d->c_byte);

	if (rq->op != IOSCHED_READ || bytes == 0)
		return;
	if (rq->internal.mark & FD_MARK_CONTIG) {
		uint64_t ps = dt * 1000 / bytes;

		if (bytes >= RATE_BYTES_MIN && ps >= d->c_byte / 8 && ps <= d->c_byte * 4)
			d->c_byte = (d->c_byte * (LEARN - 1) + ps) / LEARN;
		return;
	}
	if (!(rq->internal.mark & FD_MARK_ALONE) || d->infl != 0 || bytes > POSITION_BYTES_MAX ||
	    dt <= moved || dt - moved >= POSITION_MAX_NS)
		return;
	if (dt - moved > d->t_pos)
		d->t_pos += d->t_pos / MEDIAN;
	else
		d->t_pos = fd_max(d->t_pos - d->t_pos / MEDIAN, FD_US);
}

static bool says_nothing(const struct fd *d, const struct iosched_request *rq)
{
	return rq->op != IOSCHED_READ && (d->wce || d->array);
}

/* `rq` of `f` is done and no longer counted in flight: replace its estimate by what it took. */
static inline __attribute__((always_inline)) void settle_serial(struct fd *d, struct fd_flow *f,
								struct iosched_request *rq,
								iosched_time now, bool plain)
{
	uint64_t dt = fd_ago(now, d->last_comp), est = fd_est_of(rq), cost = dt;

	if (says_nothing(d, rq)) {
		/* last_comp stays: the time since belongs to those still in flight. Resetting it
		 * here lost half of all charges in the mix of a reader and a cached writer. */
		if (d->wce && !f->async)
			owe(d, f);
		else if (f == d->run.flow)
			d->run.cached += est;
		return;
	}
	d->last_comp = now;
	if (d->measures)
		ios_fd_mode_sample(d, rq, dt, now);
	if (d->array && rq->op == IOSCHED_READ)
		ios_fd_efficiency(d, ios_fd_model(d, rq, (rq->internal.mark & FD_MARK_CONTIG) != 0),
				  dt, now);
	if (d->wce && rq->op == IOSCHED_READ)
		cost -= blame(d, f, rq, dt, now);
	learn(d, rq, dt);
	if (!plain && (rq->internal.mark & FD_MARK_SHARED))
		ios_fd_share_charge(d, rq, (int64_t)(cost - est));
	else
		ios_fd_flow_charge(d, f, (int64_t)(cost - est));
	if (!plain && d->n_limits != 0)
		ios_fd_limit_correct(d, f, (int64_t)(cost - est));
}

static __attribute__((noinline)) void
sample_parallel(struct fd *d, const struct iosched_request *rq, iosched_time now)
{
	ios_fd_mode_sample(d, rq, fd_ago(now, d->last_comp), now);
}

/* Parallel: the model's cost was final. */
void ios_fd_settle_cost(struct fd *d, struct fd_flow *f, struct iosched_request *rq,
			iosched_time now, bool plain)
{
	if (d->mode == FD_SERIAL) {
		settle_serial(d, f, rq, now, plain);
		return;
	}
	if (d->measures)
		sample_parallel(d, rq, now);
	d->last_comp = now;
}

static uint64_t root(uint64_t x)
{
	uint64_t r = 0, bit = UINT64_C(1) << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit != 0; bit >>= 2) {
		if (x >= r + bit) {
			x -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

/* The FLUSH has put away others' small writes too, which cost nothing yet but their bytes: a
 * positioning each. How much of `took` that was. */
static uint64_t settle_owing(struct fd *d, uint64_t took)
{
	uint64_t all = 0;
	int i;

	for (i = 0; i < OWING_SCAN && !ios_list_empty(&d->owing); i++) {
		struct fd_flow *g = IOS_CONTAINER(d->owing.next, struct fd_flow, owing);

		g->cw = 0;
		ios_list_remove(&g->owing);
		if (all + d->t_pos > took / 2)
			continue;
		charge(d, g, (int64_t)d->t_pos);
		all += d->t_pos;
	}
	return all;
}

static uint64_t clamp(uint64_t x, uint64_t low, uint64_t high)
{
	return fd_min(fd_max(x, low), high);
}

/* Our FLUSH after a visit is done. The visit took at least the time in which the medium was at
 * work beyond doubt, and at most all since its start; between these the estimate is believed. */
void ios_fd_fence_done(struct fd *d, iosched_time now)
{
	uint64_t est = fd_max(d->run.est, 1), ratio;
	uint64_t took = clamp(est, fd_ago(now, d->run.busy_since), fd_ago(now, d->run.since));

	took -= fd_min(d->run.others + settle_owing(d, took), took / 2);
	if (d->run.flow != NULL)
		charge(d, d->run.flow, (int64_t)(took - d->run.est));
	if (d->dirty > 2 * est)
		took = est; /* it was others' dirt too: no lesson */
	ratio = clamp(fd_scale(took, KAPPA_ONE, est), KAPPA_ONE / 4, 4 * KAPPA_ONE);
	ratio = root(root(ratio * KAPPA_ONE) * KAPPA_ONE); /* its fourth root: a slow integral */
	d->kappa = clamp(d->kappa * ratio / KAPPA_ONE, KAPPA_MIN, KAPPA_MAX);
	d->run.est = 0;
	d->dirty = 0;
	d->last_comp = now;
}

/* Our FLUSH within a visit is done: what was in the cache when it was sent is written. */
void ios_fd_pump_done(struct fd *d, iosched_time now)
{
	uint64_t dirty = ios_fd_dirty(d, now);

	d->dirty = dirty > d->flush_dirt ? dirty - d->flush_dirt : 0;
	d->dirty_at = now;
	d->run.others += settle_owing(d, fd_ago(now, d->run.since) - d->run.others);
}
