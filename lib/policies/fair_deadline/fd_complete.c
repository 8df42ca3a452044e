/* SPDX-License-Identifier: MIT */
/*
 * A request is done: counted off, charged, learned from.
 */
#include "policies/fair_deadline/fd.h"

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
		fd_seen(f, now);
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
	fd_tick(d, now);
	if (rq->flags & IOSCHED_RQ_INTERNAL)
		flush_done(d, now);
	else
		complete_road(d, fd_flow_of(rq), rq, now, FD_ROAD);
}

void ios_fd_complete(void *self, struct iosched_request *rq, iosched_time now)
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
