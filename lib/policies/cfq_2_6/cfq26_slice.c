/* SPDX-License-Identifier: MIT */
/*
 * cfq26_slice: whose turn it is, how it ends, and how much one may have in flight.
 *
 * A slice begins with the first completion in it: the seek there is free. Until then it cannot
 * be used up.
 */
#include "policies/cfq_2_6/cfq26.h"

/* A queue that is alone may have this many times the quantum in flight. */
#define ALONE_FACTOR 4u

/* The turn of the active queue ends. Only one that `timed_out` (used up at a completion, or
 * preempted) keeps what is left or overrun; all others keep an older credit (trace fz-2296). */
void ios_cfq26_expire(struct cfq26 *c, bool timed_out)
{
	struct cfq26_queue *q = c->active;

	if (q->wait)
		c->env->timer = IOSCHED_NEVER;
	q->wait = false;
	if (timed_out && !q->slice_new)
		q->residual = (int64_t)(q->slice_end - c->tick);
	if (q->busy) {
		ios_cfq26_key(c, q, false);
		ios_cfq26_file(c, q);
	}
	c->active = NULL;
	c->slice_context = NULL;
}

static void activate(struct cfq26 *c, struct cfq26_queue *q)
{
	c->active = q;
	q->slice_end = 0;
	q->slice_dispatched = 0;
	q->wait = q->owed = q->fifo_looked = false;
	q->slice_new = true;
	ios_cfq26_tell(c, "a new slice begins", q, NULL);
}

/* The active queue goes on waiting, or is waited for: NULL follows. */
static bool keep_idling(const struct cfq26 *c, const struct cfq26_queue *q,
			struct iosched_pause *pause)
{
	bool armed = c->env->timer != IOSCHED_NEVER;

	pause->reason = armed ? IOSCHED_HOLD_IDLING : IOSCHED_HOLD_INFLIGHT;
	return armed || (q->dispatched != 0 && q->idle_window);
}

static struct cfq26_queue *switch_to(struct cfq26 *c, struct cfq26_queue *to)
{
	if (c->active != NULL)
		ios_cfq26_expire(c, false);
	if (to == NULL)
		to = ios_cfq26_served(ios_rb_first(&c->service));
	activate(c, to);
	return to;
}

/* Whose turn it is; NULL: nobody's, see `pause`. Some queue is busy. */
struct cfq26_queue *ios_cfq26_select(struct cfq26 *c, struct iosched_pause *pause)
{
	struct cfq26_queue *q = c->active, *near;

	if (q == NULL)
		return switch_to(c, NULL);
	if (ios_cfq26_slice_used(c, q) && !q->owed) {
		ios_cfq26_tell(c, "slice used up", q, NULL);
		return switch_to(c, NULL);
	}
	if (!ios_rqtree_empty(&q->sorted))
		return q;
	near = ios_cfq26_cooperator(c, q);
	if (near != NULL) {
		ios_cfq26_tell(c, "close cooperator: it goes on where this one ended", q, near);
		ios_cfq26_plan_merge(c, q, near);
		return switch_to(c, near);
	}
	if (keep_idling(c, q, pause))
		return NULL;
	ios_cfq26_tell(c, "ran dry and is not worth waiting for", q, NULL);
	return switch_to(c, NULL);
}

/* Buffered writes are let in slowly after a sync completion: one more for each slice_sync that
 * has passed since. The first may count from the creation of the queue (trace fz-2177). */
static uint64_t async_depth(const struct cfq26 *c, const struct cfq26_queue *q)
{
	uint64_t depth = (c->tick - c->last_sync_end) / c->slice[CFQ26_SYNC];

	return depth == 0 && q->dispatched == 0 ? 1 : depth;
}

/* May `q`, whose turn it is, have one more in flight? If not, one is. */
bool ios_cfq26_may_dispatch(struct cfq26 *c, const struct cfq26_queue *q)
{
	uint64_t limit = ios_cfq26_is_idle_class(q) ? 1 : c->quantum;

	if (q->idle_window && c->in_driver[CFQ26_ASYNC] != 0) {
		ios_cfq26_tell(c, "waits until the async requests in the device are done", q, NULL);
		return false;
	}
	if (!q->sync && c->sync_flight != 0) {
		ios_cfq26_tell(c, "async waits until no sync request is in flight", q, NULL);
		return false;
	}
	if (q->dispatched >= limit) {
		if (ios_cfq26_is_idle_class(q) || c->busy > 1) {
			ios_cfq26_tell(c, "its quantum is in flight", q, NULL);
			return false;
		}
		limit *= ALONE_FACTOR;
	}
	if (!q->sync && c->low_latency && async_depth(c, q) < limit)
		limit = async_depth(c, q);
	if (q->dispatched >= limit) {
		ios_cfq26_tell(c, "as much in flight as it may have", q, NULL);
		return false;
	}
	return true;
}

static bool close_to_head(const struct cfq26 *c, const struct cfq26_queue *q,
			  const struct iosched_request *rq)
{
	uint64_t head = c->chosen.boundary, start = rq->span_offset;
	uint64_t sectors = ios_ewma_valid(&q->seek) ? q->seek.mean : CFQ26_CLOSE_SECTORS;

	return (start > head ? start - head : head - start) <= sectors * CFQ26_SECTOR;
}

/* Why `q`, which just got `rq`, takes the turn from the active queue; NULL: it does not. "Slice
 * used up" comes before the classes (trace fz-2104); the wait mark may be an old one (trace coop).
 */
static const char *preempts(const struct cfq26 *c, const struct cfq26_queue *q,
			    const struct iosched_request *rq)
{
	const struct cfq26_queue *a = c->active;

	if (ios_cfq26_slice_used(c, a))
		return "preempted: its slice is used up";
	if (ios_cfq26_is_idle_class(q))
		return NULL;
	if (ios_cfq26_is_idle_class(a))
		return "preempted: it is of the idle class";
	if (q->sync && !a->sync)
		return "preempted: sync goes before async";
	if ((rq->flags & IOSCHED_RQ_META) && a->queued_meta == 0)
		return "preempted: metadata goes first";
	if (q->prio_class == IOSCHED_REALTIME && a->prio_class != IOSCHED_REALTIME)
		return "preempted: realtime goes first";
	if (c->slice_context == NULL || !a->wait)
		return NULL;
	return close_to_head(c, a, rq) ? "preempted: the request is close to the head" : NULL;
}

static void preempt(struct cfq26 *c, struct cfq26_queue *q, const char *why)
{
	ios_cfq26_tell(c, why, c->active, q);
	ios_cfq26_expire(c, true);
	ios_cfq26_key(c, q, true);
	q->slice_end = 0;
	q->slice_new = true;
	ios_cfq26_kick_now(c);
}

static bool starts_at_once(const struct cfq26 *c, const struct iosched_request *rq)
{
	switch (c->idle_arrival) {
	case CFQ26_ARRIVAL_PLUG:
		return false;
	case CFQ26_ARRIVAL_KICK:
		return true;
	default:
		return rq->span_length > 4096 || c->busy > 1;
	}
}

/* The awaited request. Small and alone it may still grow by merging: it waits for whoever
 * sleeps on it, or for the timer. The wait mark stays on (traces coop, fuzz1). */
static void end_wait(struct cfq26 *c, struct cfq26_queue *q, const struct iosched_request *rq)
{
	q->owed = true;
	if (!starts_at_once(c, rq))
		return;
	c->env->timer = IOSCHED_NEVER;
	ios_cfq26_kick_now(c);
}

/* A queue is active, another one or this one and it is waited for. */
void ios_cfq26_arrived_slow(struct cfq26 *c, struct cfq26_queue *q,
			    const struct iosched_request *rq)
{
	const char *why;

	if (q == c->active) {
		end_wait(c, q, rq);
		return;
	}
	why = preempts(c, q, rq);
	if (why != NULL)
		preempt(c, q, why);
}
