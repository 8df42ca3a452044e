/* SPDX-License-Identifier: MIT */
/*
 * cfq-2.6.32: each process in turn has the device for itself for a while, and is
 * waited for when it pauses. Linux 2.6.32: one service tree, no groups; with
 * switches for what 2.6.28 to 2.6.30 did otherwise.
 *
 * State: see cfq26.h. A request is in its queue (tree and fifo), on the dispatch list `chosen`
 * (where only aliases stay for longer than a call), or in the driver.
 *
 * dispatch() asks, in order: something chosen already? whose turn is it? may that one
 * have more in flight? its oldest expired (looked at once per slice)? else the nearest
 * to the head.
 */
#include "policies/policies.h"
#include "policies/cfq_2_6/cfq26.h"

static void at(struct cfq26 *c, iosched_time now)
{
	c->now = now;
	c->tick = now / CFQ26_TICK_NS;
}

/* Out of line: every rule has one, and the event would lie on the stack of each. */
void ios_cfq26_tell_slow(const struct cfq26 *c, const char *rule, const struct cfq26_queue *q,
			 const struct cfq26_queue *other)
{
	iosched_tell(c->env, c->now, rule, q->owner, other == NULL ? 0 : other->owner,
		     IOSCHED_NEVER);
}

static void take_tunables(struct cfq26 *c)
{
	c->fifo_expire[CFQ26_SYNC] = c->fifo_expire_sync_ns / CFQ26_TICK_NS;
	c->fifo_expire[CFQ26_ASYNC] = c->fifo_expire_async_ns / CFQ26_TICK_NS;
	c->slice[CFQ26_SYNC] = c->slice_sync_ns / CFQ26_TICK_NS;
	c->slice[CFQ26_ASYNC] = c->slice_async_ns / CFQ26_TICK_NS;
	c->slice_idle = c->slice_idle_ns / CFQ26_TICK_NS;
	c->nearer.back_max = c->back_seek_max_kb * 1024;
	c->nearer.back_penalty = c->back_seek_penalty;
}

static void cfq26_tunable_changed(void *self, const struct iosched_tunable *t)
{
	(void)t;
	take_tunables(self);
}

static size_t cfq26_pool_size(const struct iosched_params *p)
{
	return ios_cfq26_pool_queues(p) * sizeof(struct cfq26_queue);
}

static int cfq26_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct cfq26 *c = self;

	c->env = env;
	at(c, now);
	take_tunables(c);
	c->last_sync_end = c->tick;
	c->hw_tag = true;
	c->gone.exited = true;
	ios_dlist_init(&c->chosen);
	ios_list_init(&c->contexts);
	ios_cfq26_queues_init(c, pool, ios_cfq26_pool_queues(env->params));
	return 0;
}

/* ---- insert ---- */

static void set_expiry(const struct cfq26 *c, const struct cfq26_queue *q,
		       struct iosched_request *rq)
{
	uint64_t tick = rq->inserted / CFQ26_TICK_NS + c->fifo_expire[q->sync];

	rq->internal.expiry = tick * CFQ26_TICK_NS;
}

static void cfq26_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq26 *c = self;
	struct cfq26_queue *q;

	at(c, now);
	q = ios_cfq26_bind(c, rq);
	q->owner = rq->internal.context->id;
	set_expiry(c, q, rq);
	ios_cfq26_link(c, q, rq);
	ios_cfq26_learn(c, q, rq);
	ios_cfq26_arrived(c, q, rq);
}

/* ---- dispatch ---- */

/* The queue's oldest if it has expired; looked at once per slice, and only by a dispatch that was
 * allowed (traces async, deep2, idle2). */
static struct iosched_request *expired_oldest(const struct cfq26 *c, struct cfq26_queue *q)
{
	struct iosched_request *rq = ios_fifo_first(&q->fifo);

	if (q->fifo_looked)
		return NULL;
	q->fifo_looked = true;
	if (c->now < rq->internal.expiry)
		return NULL;
	ios_cfq26_tell(c, "its oldest request has expired and goes first", q, NULL);
	return rq;
}

/* An async slice is also limited in requests: 16 at level 4 by default. */
static uint64_t async_quota(const struct cfq26 *c, const struct cfq26_queue *q)
{
	return 2 * c->slice_async_rq * (CFQ26_LEVELS - q->level);
}

/* Others wait and this one has had its share. A queue that just ran dry is not counted: then two
 * others are needed (trace fz-2296). */
static bool share_used(const struct cfq26 *c, const struct cfq26_queue *q)
{
	if (c->busy <= 1)
		return false;
	return ios_cfq26_is_idle_class(q) || (!q->sync && q->slice_dispatched >= async_quota(c, q));
}

static struct iosched_request *take_from(struct cfq26 *c, struct cfq26_queue *q)
{
	struct iosched_request *rq = expired_oldest(c, q);

	if (rq == NULL)
		rq = q->next;
	ios_cfq26_take(c, q, rq);
	if (c->slice_context == NULL)
		c->slice_context = ios_cfq26_context_of(rq);
	q->slice_dispatched++;
	q->owed = false;
	if (share_used(c, q)) {
		ios_cfq26_tell(c, "its requests for this slice are used up", q, NULL);
		ios_cfq26_expire(c, false);
	}
	return rq;
}

/* One request of the queue whose turn it is; NULL: see `pause`. */
static struct iosched_request *choose(struct cfq26 *c, struct iosched_pause *pause)
{
	struct cfq26_queue *q;

	if (c->busy == 0) {
		pause->reason = IOSCHED_HOLD_EMPTY;
		return NULL;
	}
	q = ios_cfq26_select(c, pause);
	if (q == NULL)
		return NULL;
	if (ios_cfq26_may_dispatch(c, q))
		return take_from(c, q);
	pause->reason = IOSCHED_HOLD_INFLIGHT;
	return NULL;
}

static struct iosched_request *cfq26_dispatch(void *self, iosched_time now,
					      struct iosched_pause *pause)
{
	struct cfq26 *c = self;
	struct iosched_request *rq;

	at(c, now);
	rq = ios_dlist_empty(&c->chosen) ? choose(c, pause) : ios_dlist_take(&c->chosen);
	if (rq == NULL)
		return NULL;
	c->in_driver[iosched_request_is_sync(rq)]++;
	c->chosen.boundary = c->nearer.head = rq->span_offset + rq->span_length;
	return rq;
}

/* ---- complete ---- */

/* Of all that are in the driver, the one that completes included. */
static void learn_depth(struct cfq26 *c)
{
	uint32_t in_driver = c->in_driver[CFQ26_ASYNC] + c->in_driver[CFQ26_SYNC];

	if (in_driver > c->hw_peak)
		c->hw_peak = in_driver;
	if (c->queued > CFQ26_HW_BUSY || in_driver > CFQ26_HW_BUSY)
		ios_cfq26_judge_depth(c);
}

static void stamp(struct cfq26 *c, const struct iosched_request *rq)
{
	ios_cfq26_context_of(rq)->last_end = c->tick;
	c->last_sync_end = c->tick;
}

/* A request of the queue whose turn it is has completed. */
static void go_on(struct cfq26 *c, struct cfq26_queue *q, const struct iosched_request *rq)
{
	if (q->slice_new) {
		q->slice_end = c->tick + ios_cfq26_slice_ticks(c, q);
		q->slice_new = false;
	}
	if (ios_cfq26_slice_used(c, q) || ios_cfq26_is_idle_class(q)) {
		ios_cfq26_tell(c, "slice used up", q, NULL);
		ios_cfq26_expire(c, true);
	} else if (ios_rqtree_empty(&q->sorted) && iosched_request_is_sync(rq) &&
		   !(rq->flags & IOSCHED_RQ_NOIDLE) && ios_cfq26_cooperator(c, q) == NULL) {
		ios_cfq26_arm(c, q);
	}
}

static void cfq26_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq26 *c = self;
	struct cfq26_queue *q = ios_cfq26_queue_of(rq);
	bool sync = iosched_request_is_sync(rq);

	at(c, now);
	learn_depth(c);
	c->in_driver[sync]--;
	q->dispatched--;
	if (sync) {
		c->sync_flight--;
		stamp(c, rq);
	}
	if (c->active == q)
		go_on(c, q, rq);
	if (c->in_driver[CFQ26_ASYNC] + c->in_driver[CFQ26_SYNC] == 0)
		ios_cfq26_kick_deferred(c);
	rq->internal.queue = NULL;
	ios_cfq26_queue_release(c, q);
}

/* ---- merging ---- */

/* Only within the queue the process uses now, before it is redirected or split off (trace
 * fz-2070); so nothing merges across sync and async. */
static struct cfq26_queue *present_queue(const struct iosched_request *bio)
{
	return ios_cfq26_context_of(bio)->queue[iosched_request_is_sync(bio)];
}

static bool cfq26_merge_allowed(void *self, const struct iosched_request *into,
				const struct iosched_request *bio)
{
	(void)self;
	return ios_cfq26_queue_of(into) == present_queue(bio);
}

static struct iosched_request *cfq26_front_candidate(void *self, const struct iosched_request *bio)
{
	const struct cfq26_queue *q = present_queue(bio);

	(void)self;
	return q == NULL ? NULL : ios_rqtree_find(&q->sorted, bio->offset + bio->length);
}

static struct iosched_request *cfq26_neighbour(void *self, struct iosched_request *rq,
					       enum iosched_side side)
{
	(void)self;
	return side == IOSCHED_SIDE_BACK ? ios_rqtree_next(rq) : ios_rqtree_prev(rq);
}

static void cfq26_grown(void *self, struct iosched_request *rq, enum iosched_side side,
			uint64_t old_offset, iosched_time now)
{
	(void)old_offset;
	at(self, now);
	if (side == IOSCHED_SIDE_FRONT)
		ios_cfq26_resort(self, ios_cfq26_queue_of(rq), rq);
}

/* The survivor takes an earlier expiry and the place that goes with it (traces fz-2195, fz-2340).
 */
static void cfq26_absorbed(void *self, struct iosched_request *survivor,
			   struct iosched_request *victim, iosched_time now)
{
	struct cfq26_queue *q = ios_cfq26_queue_of(victim);

	at(self, now);
	if (victim->internal.expiry < survivor->internal.expiry) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	}
	ios_cfq26_unlink(self, q, victim);
	victim->internal.queue = NULL;
}

/* ---- leaving otherwise ---- */

static void take_out(struct cfq26 *c, struct iosched_request *rq)
{
	struct cfq26_queue *q = ios_cfq26_queue_of(rq);

	if (rq->internal.mark == CFQ26_CHOSEN) {
		ios_dlist_remove(rq);
		q->dispatched--;
		if (q->sync)
			c->sync_flight--;
	} else {
		ios_cfq26_unlink(c, q, rq);
	}
	rq->internal.queue = NULL;
	ios_cfq26_queue_release(c, q);
}

/* What the others waited for may be gone: ask again. */
static void cfq26_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq26 *c = self;

	at(c, now);
	take_out(c, rq);
	ios_cfq26_kick_deferred(c);
}

static struct iosched_request *cfq26_drain(void *self)
{
	struct cfq26 *c = self;
	struct iosched_request *rq = ios_fifo_first(&c->chosen.list);

	if (rq == NULL && c->busy != 0)
		rq = ios_fifo_first(&ios_cfq26_served(ios_rb_first(&c->service))->fifo);
	if (rq != NULL)
		take_out(c, rq);
	return rq;
}

/* ---- contexts ---- */

static void cfq26_context_init(void *self, struct iosched_context *context, iosched_time now)
{
	struct cfq26 *c = self;
	struct cfq26_context *ctx = context->data;

	(void)now;
	ios_list_insert_before(&c->contexts, &ctx->list);
}

static void cfq26_context_exit(void *self, struct iosched_context *context, iosched_time now)
{
	at(self, now);
	ios_cfq26_leave(self, context->data);
}

/* A request of a process that has exited may have been queued again: that made a new queue. */
static void cfq26_context_fini(void *self, struct iosched_context *context)
{
	struct cfq26 *c = self;
	struct cfq26_context *ctx = context->data;

	ios_cfq26_leave(c, ctx);
	ios_list_remove(&ctx->list);
	if (c->slice_context == ctx)
		c->slice_context = &c->gone;
}

/* Bounds: a day is longer than any useful time. Times are rounded down to ms; slices of less
 * would be none. Defaults: Linux 2.6.32. */
#define MSEC_NS CFQ26_TICK_NS
#define DAY_NS (UINT64_C(86400) * 1000 * MSEC_NS)
#define MEMBER(m) offsetof(struct cfq26, m)
static const struct iosched_tunable cfq26_tunables[] = {
	{"quantum", IOSCHED_UNIT_NONE, 1, UINT32_MAX, 4, MEMBER(quantum),
	 "requests a queue may have in flight while others are busy; 4 times as many when alone"},
	{"fifo_expire_sync_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 125 * MSEC_NS,
	 MEMBER(fifo_expire_sync_ns),
	 "a sync request that waited so long is first in its queue's next slice"},
	{"fifo_expire_async_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 250 * MSEC_NS,
	 MEMBER(fifo_expire_async_ns), "the same for async ones"},
	{"back_seek_max_kb", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 16384, MEMBER(back_seek_max_kb),
	 "KiB; requests further behind the head are taken last"},
	{"back_seek_penalty", IOSCHED_UNIT_NONE, 1, 1u << 20, 2, MEMBER(back_seek_penalty),
	 "a way back counts as so many times as long as one forward"},
	{"slice_sync_ns", IOSCHED_UNIT_NS, MSEC_NS, DAY_NS, 100 * MSEC_NS, MEMBER(slice_sync_ns),
	 "slice of a sync queue at level 4; a fifth more or less per level"},
	{"slice_async_ns", IOSCHED_UNIT_NS, MSEC_NS, DAY_NS, 40 * MSEC_NS, MEMBER(slice_async_ns),
	 "slice of an async queue at level 4"},
	{"slice_async_rq", IOSCHED_UNIT_NONE, 1, UINT32_MAX, 2, MEMBER(slice_async_rq),
	 "an async slice ends after 2 x (8 - level) times so many requests"},
	{"slice_idle_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 8 * MSEC_NS, MEMBER(slice_idle_ns),
	 "how long the next request of a queue is waited for; 0 = never"},
	{"low_latency", IOSCHED_UNIT_BOOL, 0, 1, 1, MEMBER(low_latency),
	 "1: let async in slowly, idle for seeky queues; 0: as before 2.6.32"},
	{"close_cooperators", IOSCHED_UNIT_BOOL, 0, 1, 1, MEMBER(close_cooperators),
	 "1: a queue that goes on near the head takes over from one that ran dry; 0: 2.6.28, "
	 "2.6.29"},
	{"queue_merging", IOSCHED_UNIT_BOOL, 0, 1, 1, MEMBER(queue_merging),
	 "1: close cooperators come to share one queue"},
	{"idle_arrival", IOSCHED_UNIT_NONE, CFQ26_ARRIVAL_PLUG, CFQ26_ARRIVAL_KICK_IF_LARGE,
	 CFQ26_ARRIVAL_KICK_IF_LARGE, MEMBER(idle_arrival),
	 "an awaited request starts 0: when unplugged (2.6.30-rc1), 1: at once (2.6.28, 2.6.29), "
	 "2: at once if > 4 KiB or others are busy (2.6.30, 2.6.32)"},
	{0},
};

const struct iosched_policy ios_cfq26_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_PRIORITY,
	.name = "cfq-2.6.32",
	.summary =
		"a time slice for each process in turn, idling between its requests (Linux 2.6.32)",
	.self_size = sizeof(struct cfq26),
	.context_size = sizeof(struct cfq26_context),
	.tunables = cfq26_tunables,
	.pool_size = cfq26_pool_size,
	.init = cfq26_init,
	.insert = cfq26_insert,
	.dispatch = cfq26_dispatch,
	.complete = cfq26_complete,
	.timer = ios_cfq26_timer,
	.merge_allowed = cfq26_merge_allowed,
	.front_candidate = cfq26_front_candidate,
	.neighbour = cfq26_neighbour,
	.grown = cfq26_grown,
	.absorbed = cfq26_absorbed,
	.remove = cfq26_remove,
	.drain = cfq26_drain,
	.context_init = cfq26_context_init,
	.context_exit = cfq26_context_exit,
	.context_fini = cfq26_context_fini,
	.tunable_changed = cfq26_tunable_changed,
	.audit = ios_cfq26_audit,
};
