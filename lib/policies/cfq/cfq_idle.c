/* SPDX-License-Identifier: MIT */
/*
 * cfq: is the next request of a queue worth waiting for?
 *
 * A reader that goes on right where it left pays back an idle disk, if it comes
 * soon. So each context's think time and each queue's seeks are watched, and the outcome is the
 * queue's `idle_window`. Queues without one wait together: only the last of their tree idles.
 */
#include "policies/cfq/cfq.h"

#define FAR_BYTES UINT64_C(409600)  /* 800 sectors: further than this is a seek */
#define SMALL_BYTES UINT64_C(32768) /* 64 sectors: without an arm, less than this is one */
#define DEEP_QUEUED 4u
#define TAGGED_DEPTH 5u /* a device that held this many at once queues */
#define TAGGED_SAMPLES 50u

/* ---- statistics ---- */

/* The time since the last sync completion, also while others are in flight. */
static void add_think_time(const struct cfq *c, struct ios_ewma *think, iosched_time last_end)
{
	uint64_t most = 2 * c->slice_idle_ns;
	uint64_t elapsed = c->now - last_end;

	ios_ewma_decay(think, elapsed < most ? elapsed : most);
}

/* Only asked now and then, so not kept up to date. */
static uint64_t mean_of(const struct ios_ewma *think)
{
	return (think->total + 128) / think->samples;
}

static bool is_far(const struct cfq *c, const struct cfq_queue *q, const struct iosched_request *rq)
{
	uint64_t at = rq->span_offset;

	if (!c->rotational)
		return rq->span_length < SMALL_BYTES;
	if (q->last_end == 0)
		return false;
	return (at > q->last_end ? at - q->last_end : q->last_end - at) > FAR_BYTES;
}

/* A write after which nothing near follows; asked of the request that would be next, not of
 * the one that came (trace pin05). */
static bool ends_a_burst(const struct iosched_request *next)
{
	return next->op != IOSCHED_READ && (next->flags & IOSCHED_RQ_NOIDLE) != 0;
}

/* Think time decides only once it is known: a window that was closed stays so until then
 * (trace procs). */
static void update_window(const struct cfq *c, struct cfq_queue *q, const struct cfq_context *ctx)
{
	if (q->queued >= DEEP_QUEUED)
		q->deep = true;
	if (ends_a_burst(q->next) || ctx->exited || c->slice_idle_ns == 0 ||
	    (!q->deep && cfq_seeky(q)))
		q->idle_window = false;
	else if (ios_ewma_valid(&ctx->think))
		q->idle_window = mean_of(&ctx->think) <= c->slice_idle_ns;
}

/* `rq` was queued in `q`. */
void ios_cfq_watch_insert(struct cfq *c, struct cfq_queue *q, const struct iosched_request *rq)
{
	struct cfq_context *ctx = cfq_context_of(rq);

	if (q->sync) {
		add_think_time(c, &ctx->think, ctx->last_end);
		add_think_time(c, &q->tree->think, q->tree->last_end);
	}
	q->seek_history = q->seek_history << 1 | is_far(c, q, rq);
	if (q->sync && q->prio_class != CFQ_IDLE)
		update_window(c, q, ctx);
	q->last_end = rq->span_offset + rq->span_length;
}

/* A request of `q` completed. Stamps the tree the queue is on, or would go to. */
void ios_cfq_watch_complete(struct cfq *c, struct cfq_queue *q, const struct iosched_request *rq)
{
	struct cfq_tree *t = q->tree;

	if (!q->sync)
		return;
	if (t == NULL)
		t = cfq_tree_for(q->group, q->prio_class, cfq_type_of(q));
	cfq_context_of(rq)->last_end = c->now;
	t->last_end = c->now;
	if (rq->internal.expiry <= c->now)
		c->last_delayed = c->now;
}

/* One request is about to leave the device: was it ever full while there was enough to do? Once it
 * is known to queue, it stays so. */
void ios_cfq_measure_depth(struct cfq *c)
{
	const struct cfq_queue *q = c->active;

	if (c->inflight > c->depth_peak)
		c->depth_peak = c->inflight;
	if (c->depth_known || (c->queued <= TAGGED_DEPTH && c->inflight <= TAGGED_DEPTH))
		return;
	/* The wait for this queue, not the device, keeps the depth down. */
	if (q != NULL && q->idle_window && q->inflight + q->queued < TAGGED_DEPTH &&
	    c->inflight < TAGGED_DEPTH)
		return;
	if (c->depth_samples++ < TAGGED_SAMPLES)
		return;
	c->tagged = c->depth_peak >= TAGGED_DEPTH;
	c->depth_known = c->tagged == 1;
}

/* ---- the wait ---- */

static bool thinks_longer_than(const struct ios_ewma *think, uint64_t ns)
{
	return ios_ewma_valid(think) && mean_of(think) > ns;
}

/* On its own account, or as the last of its tree on behalf of all of them. */
bool ios_cfq_should_idle(const struct cfq *c, const struct cfq_queue *q)
{
	if (c->slice_idle_ns == 0 || q->prio_class == CFQ_IDLE)
		return false;
	if (q->idle_window && (c->rotational || c->tagged == 0))
		return true;
	return q->sync && q->tree->count == 1 &&
	       !thinks_longer_than(&q->tree->think, c->slice_idle_ns);
}

/* Whoever began the slice thinks longer than what is left of it. */
static bool slice_ends_first(const struct cfq *c, const struct cfq_queue *q)
{
	return c->slice_think != NULL && ios_ewma_valid(c->slice_think) &&
	       q->slice_end - c->now < mean_of(c->slice_think);
}

static bool should_wait_busy(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->group->queues > 1)
		return false;
	return cfq_slice_used(c, q) || slice_ends_first(c, q) || q->slice_end - c->now <= TICK_NS;
}

/* Empty at the end of its slice, the only queue of a group gets one wait more, so that the group
 * does not lose its place for want of a request. Its next request then ends the slice. From now,
 * and again at each such completion (trace pin07). */
void ios_cfq_wait_busy(struct cfq *c, struct cfq_queue *q)
{
	if (!should_wait_busy(c, q))
		return;
	q->slice_end = c->now + (c->slice_idle_ns != 0 ? c->slice_idle_ns : c->group_idle_ns);
	q->wait_busy = true;
	cfq_tell(c, "end of slice, but the group's only queue: it may send one more", q, NULL,
		 q->slice_end);
}

static bool slice_context_lives(const struct cfq *c)
{
	const struct cfq_context *ctx;

	if (c->slice_context == NULL)
		return false;
	ctx = c->slice_context->data;
	return !ctx->exited;
}

/* How long to wait for the group of `q` when `q` itself is not worth it; 0: not. */
static uint64_t group_wait(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->group->queues > 1 || thinks_longer_than(&q->tree->think, c->group_idle_ns))
		return 0;
	return c->group_idle_ns;
}

/* The active queue ran dry: leave the device idle for its next request? */
void ios_cfq_arm(struct cfq *c, struct cfq_queue *q)
{
	bool for_queue = ios_cfq_should_idle(c, q);
	uint64_t wait;

	if (!c->rotational && c->tagged != 0 && c->group_idle_ns == 0)
		return;
	if (q->inflight != 0 || !slice_context_lives(c) || slice_ends_first(c, q))
		return;
	wait = for_queue ? c->slice_idle_ns : group_wait(c, q);
	if (wait == 0)
		return;
	q->wait = true;
	c->env->timer = c->now + wait;
	cfq_tell(c,
		 for_queue ? "idling: its next request is expected soon and near"
			   : "idling for the group: its only queue ran dry",
		 q, NULL, c->env->timer);
}

/* The wait is over. */
void ios_cfq_timer(struct cfq *c)
{
	struct cfq_queue *q = c->active;

	if (q != NULL && !q->owed && (cfq_slice_used(c, q) || q->queued == 0)) {
		if (!cfq_slice_used(c, q))
			q->deep = false;
		cfq_tell(c, "the wait is over: slice ended", q, NULL, IOSCHED_NEVER);
		ios_cfq_expire(c, false);
	}
	cfq_kick_later(c);
}
