/* SPDX-License-Identifier: MIT */
/*
 * The ladder. dispatch() asks, in order: expired? behind its reservation? boosted (a small sync
 * write within its credit)? is our FLUSH out, or a boosted write starving in the drive? only the
 * idle class left, and too early? Then what the mode says: go on with the visit, or the
 * least tag. Whatever is returned passes take_road(). A plain request takes a road compiled from
 * the same text without the questions that are for others.
 */
#include "policies/fair_deadline/fd.h"

#define CYCLE_SYNC 8 /* expired sync requests of a cycle */
/* Then one async, then a normal choice: no one rescues the device to death. */
#define CYCLE_ASYNC 9
#define EXPIRY_NEAR_NS (100 * FD_MS) /* a FLUSH of ours, or several destages */

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
		fd_seen(f, now);
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
	if (d->boost_lead >= fd_boost_credit(d))
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

	fd_tick(d, now);
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

struct iosched_request *ios_fd_dispatch(void *self, iosched_time now, struct iosched_pause *pause)
{
	struct fd *d = self;

	return d->rotational ? dispatch_with_arm(d, now, pause) : dispatch_flash(d, now, pause);
}
