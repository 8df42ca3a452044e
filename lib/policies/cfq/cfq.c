/* SPDX-License-Identifier: MIT */
/*
 * cfq: complete fair queueing. Linux 4.20.
 *
 * Each context has a queue for its sync requests and, in turn, a slice of device
 * time. A reader that goes on where it left is waited for (the device idles), for its next
 * request costs no seek. Async requests share queues by priority.
 *
 * cfq.h       the structures
 * cfq_tree    where a queue stands: keys, service trees, cooperators
 * cfq_group   shares of groups
 * cfq_queue   which queue a request goes to; priority, merge and split of queues
 * cfq_slice   lengths
 * cfq_idle    what is worth waiting for; the timer
 * cfq_select  whose turn it is, how much of it, who preempts
 *
 * dispatch() asks, in order: does the active queue keep the device (slice left and requests
 * queued)? a cooperator nearby? is its next request worth waiting for? else the next queue of the
 * workload. Then: may it have one more in flight? its oldest if expired, else its sweep.
 *
 * What surprises: an idle device with requests queued is a decision, told as a rule with its end
 * in time; a slice begins with its first completion; an emptied queue stays active until it is
 * expired.
 */
#include "policies/cfq/cfq.h"
#include "policies/policies.h"

/* More requests in a row at once than this end a wait, as do other queues: 8 sectors. */
#define LARGE_BYTES 4096u
/* Ahead of creation, when no sync request has been delayed yet: async depth starts at 10. */
#define NEVER_DELAYED_NS NSEC_PER_SEC
/* Queues beyond two for each context: async ones, and ones only requests keep alive. */
#define SPARE_QUEUES 64u

static uint32_t max_queues(const struct iosched_params *p)
{
	return 2 * p->max_contexts + SPARE_QUEUES;
}

static size_t cfq_pool_size(const struct iosched_params *p)
{
	return (sizeof(struct cfq_group) + sizeof(struct cfq_group *)) *
		       (p->max_groups + (size_t)1) +
	       sizeof(struct cfq_queue) * max_queues(p);
}

/* Groups, their buckets, queues. */
static void lay_out_pool(struct cfq *c, void *pool)
{
	c->max_groups = c->env->params->max_groups + 1;
	c->group_pool = pool;
	c->group_buckets = (struct cfq_group **)(void *)(c->group_pool + c->max_groups);
	ios_cfq_queues_init(c, (struct cfq_queue *)(void *)(c->group_buckets + c->max_groups),
			    max_queues(c->env->params));
}

static void set_parallel(struct cfq *c)
{
	switch ((enum iosched_parallel)c->env->params->parallel) {
	case IOSCHED_PARALLEL_UNKNOWN:
		c->tagged = -1;
		break;
	case IOSCHED_PARALLEL_NO:
	case IOSCHED_PARALLEL_YES:
		c->tagged = c->env->params->parallel == IOSCHED_PARALLEL_YES;
		c->depth_known = true;
		break;
	}
}

static int cfq_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct cfq *c = self;

	c->env = env;
	c->now = now;
	c->rotational = env->params->rotational;
	if (!c->rotational)
		c->slice_idle_ns = 0; /* nothing to gain; the kernel does it at registration */
	set_parallel(c);
	c->last_delayed = now - NEVER_DELAYED_NS; /* may wrap: only distances are taken */
	c->served_class = CFQ_BE;
	c->served_type = CFQ_ASYNC;
	lay_out_pool(c, pool);
	return 0;
}

/* ---- a request in a queue ---- */

static struct ios_seekpick from(const struct cfq *c, uint64_t head)
{
	return (struct ios_seekpick){head, c->back_seek_max_kb * 1024, c->back_seek_penalty};
}

/* Metadata first, then by distance from `head`. (All of a queue are sync, or none.) */
static inline struct iosched_request *pick(const struct cfq *c, uint64_t head,
					   struct iosched_request *a, struct iosched_request *b)
{
	struct ios_seekpick seek = from(c, head);

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	if (((a->flags ^ b->flags) & IOSCHED_RQ_META) != 0)
		return (a->flags & IOSCHED_RQ_META) != 0 ? a : b;
	return ios_seekpick(&seek, a, b);
}

/* Of its neighbours in the tree, the nearer one to its start; behind the last lies the first. */
static inline struct iosched_request *after(const struct cfq *c, const struct cfq_queue *q,
					    struct iosched_request *rq)
{
	struct iosched_request *next = ios_rqtree_next(rq);

	if (next == NULL) {
		next = ios_rqtree_first(&q->sorted);
		if (next == rq)
			next = NULL;
	}
	return pick(c, rq->span_offset, next, ios_rqtree_prev(rq));
}

/* Into the tree; the sweep goes on there if it is nearer than what was next. */
static inline void sort_in(struct cfq *c, struct cfq_queue *q, struct iosched_request *rq)
{
	struct iosched_request *next = pick(c, c->head, q->next, rq);

	ios_rqtree_insert(&q->sorted, rq);
	if (next == q->next)
		return;
	ios_cfq_set_next(q, next);
	ios_cfq_file(c, q);
}

static bool is_meta(const struct iosched_request *rq)
{
	return (rq->flags & IOSCHED_RQ_META) != 0;
}

/* `next` is the caller's concern. */
static inline void unlink_request(struct cfq *c, struct cfq_queue *q, struct iosched_request *rq)
{
	ios_rqtree_remove(&q->sorted, rq);
	ios_fifo_remove(rq);
	q->queued--;
	c->queued--;
	q->meta_queued -= is_meta(rq);
	if (q->queued == 0)
		ios_coop_unfile(&q->coop);
}

/* ---- insert ---- */

static void queue_request(struct cfq *c, struct cfq_queue *q, struct iosched_request *rq)
{
	q->refs++;
	q->queued++;
	rq->internal.queue = q;
	rq->internal.expiry =
		rq->inserted + (q->sync ? c->fifo_expire_sync_ns : c->fifo_expire_async_ns);
	ios_fifo_insert(&q->fifo, rq);
	if (q->tree == NULL) {
		ios_cfq_key(c, q);
		ios_cfq_file(c, q);
	}
	sort_in(c, q, rq);
	c->queued++;
	q->meta_queued += is_meta(rq);
}

/* What was waited for has come. A small request alone may have company soon: it waits for the
 * timer or the host's next dispatch (trace lazy1). */
static void end_wait(struct cfq *c, struct cfq_queue *q, const struct iosched_request *rq)
{
	if (rq->span_length <= LARGE_BYTES && c->busy == 1) {
		q->owed = true;
		return;
	}
	c->env->timer = IOSCHED_NEVER;
	q->wait = false;
	cfq_tell(c, "the request that was waited for came", q, NULL, IOSCHED_NEVER);
	cfq_kick_now(c);
}

static struct cfq_queue *bind(struct cfq *c, const struct iosched_request *rq)
{
	bool sync = iosched_request_is_sync(rq);
	const struct cfq_context *ctx = cfq_context_of(rq);
	struct cfq_queue *q = ctx->queue[sync];

	if (q == NULL || q->unsettled || is_meta(rq) || !cfq_priority_known(ctx, rq))
		return ios_cfq_bind(c, rq, sync);
	return q;
}

static void cfq_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_queue *q;

	c->now = now;
	q = bind(c, rq);
	queue_request(c, q, rq);
	ios_cfq_watch_insert(c, q, rq);
	if (q == c->active) {
		if (q->wait)
			end_wait(c, q, rq);
	} else if (ios_cfq_preempts(c, q, rq)) {
		ios_cfq_preempt(c, q);
	}
}

/* ---- limits ---- */

static bool slice_used_soon(const struct cfq *c, const struct cfq_queue *q)
{
	return q->slice_new || c->now + c->slice_idle_ns * q->inflight > q->slice_end;
}

/* With half the quantum in flight: may it have more? */
static bool may_go_deeper(const struct cfq *c, const struct cfq_queue *q)
{
	bool only_sync = q->sync && c->busy_sync == 1;

	if (only_sync || c->busy == 1)
		return true;
	return !slice_used_soon(c, q) && q->inflight < c->quantum;
}

/* After a sync request had to wait too long, async ones begin again one at a time. */
static uint64_t async_limit(const struct cfq *c, const struct cfq_queue *q)
{
	uint64_t depth = (c->now - c->last_delayed) / c->slice_sync_ns;

	return depth == 0 && q->inflight == 0 ? 1 : depth;
}

static inline bool may_dispatch(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->owed)
		return true;
	if (c->flight[ASYNC] != 0 && ios_cfq_should_idle(c, q))
		return false; /* async drains before a queue that will be waited for */
	if (!q->sync && c->flight[SYNC] != 0)
		return false;
	if (!q->sync && c->low_latency && q->inflight >= async_limit(c, q))
		return false;
	if (q->inflight == 0)
		return true;
	if (q->prio_class == CFQ_IDLE)
		return false;
	return q->inflight < c->quantum / 2 || may_go_deeper(c, q);
}

/* ---- dispatch ---- */

/* The oldest, if it has waited too long. Looked at once per slice, at its first try, found or
 * not. It overrides every limit. */
static struct iosched_request *expired(struct cfq *c, struct cfq_queue *q)
{
	struct iosched_request *oldest;

	if (q->fifo_looked)
		return NULL;
	q->fifo_looked = true;
	oldest = ios_fifo_first(&q->fifo);
	if (oldest == NULL || c->now < oldest->internal.expiry)
		return NULL;
	q->owed = true;
	cfq_tell(c, "the oldest request has expired: it goes first", q, NULL, IOSCHED_NEVER);
	return oldest;
}

static void hand_out(struct cfq *c, struct cfq_queue *q, struct iosched_request *rq)
{
	ios_cfq_set_next(q, after(c, q, rq));
	unlink_request(c, q, rq);
	q->inflight++;
	q->group->inflight++;
	c->flight[q->sync]++;
	c->inflight++;
	c->head = rq->span_offset + rq->span_length;
	if (c->slice_think ==
	    NULL) { /* who began it may be gone already: then nobody is waited for */
		c->slice_context = rq->internal.context;
		c->slice_think = &cfq_context_of(rq)->think;
	}
	q->slice_dispatched++;
	q->owed = false;
}

static bool quota_used(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->prio_class == CFQ_IDLE)
		return true;
	return !q->sync && q->slice_dispatched >= 2 * c->slice_async_rq * (8u - q->level);
}

static struct iosched_request *take(struct cfq *c, struct cfq_queue *q)
{
	struct iosched_request *rq = expired(c, q);

	if (!may_dispatch(c, q)) {
		cfq_tell(c, "limit reached: waits for requests in flight", q, NULL, IOSCHED_NEVER);
		return NULL;
	}
	if (rq == NULL)
		rq = q->next;
	hand_out(c, q, rq);
	if (c->busy > 1 && quota_used(c, q)) {
		cfq_tell(c, "quota used: slice ended", q, NULL, IOSCHED_NEVER);
		ios_cfq_expire(c, false);
	}
	return rq;
}

static enum iosched_hold why(const struct cfq *c)
{
	if (c->queued == 0)
		return IOSCHED_HOLD_EMPTY;
	return c->env->timer != IOSCHED_NEVER ? IOSCHED_HOLD_IDLING : IOSCHED_HOLD_INFLIGHT;
}

/* What ios_cfq_select() answers most of the time: the active queue, which has more. */
static inline bool goes_on(const struct cfq *c, const struct cfq_queue *q)
{
	return q != NULL && q->queued != 0 && !q->wait_busy && !cfq_slice_used(c, q);
}

static struct iosched_request *cfq_dispatch(void *self, iosched_time now,
					    struct iosched_pause *pause)
{
	struct cfq *c = self;
	struct iosched_request *rq = NULL;
	struct cfq_queue *q;

	c->now = now;
	q = goes_on(c, c->active) ? c->active : ios_cfq_select(c);
	if (q != NULL)
		rq = take(c, q);
	if (rq == NULL)
		pause->reason = why(c);
	return rq;
}

/* ---- complete ---- */

/* The clock of a slice starts here: the way to its first request was free. */
static void begin_slice(struct cfq *c, struct cfq_queue *q)
{
	if (!q->slice_new)
		return;
	q->slice_start = c->now;
	q->slice_end = c->now + ios_cfq_slice(c, q);
	q->slice_new = false;
}

static void active_completed(struct cfq *c, struct cfq_queue *q)
{
	begin_slice(c, q);
	if (q->queued == 0)
		ios_cfq_wait_busy(c, q);
	if (cfq_slice_used(c, q) || q->prio_class == CFQ_IDLE) {
		cfq_tell(c, "slice used up", q, NULL, IOSCHED_NEVER);
		ios_cfq_expire(c, true);
	} else if (q->sync && q->queued == 0 && ios_cfq_close_cooperator(c, q) == NULL) {
		ios_cfq_arm(c, q);
	}
}

static void cfq_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_queue *q = cfq_queue_of(rq);

	c->now = now;
	ios_cfq_measure_depth(c);
	q->inflight--;
	q->group->inflight--;
	c->flight[q->sync]--;
	c->inflight--;
	ios_cfq_watch_complete(c, q, rq);
	if (q == c->active)
		active_completed(c, q);
	if (c->inflight == 0)
		cfq_kick_later(c);
	cfq_put(c, q); /* after the kick, whose test sees the queue (trace pin01) */
}

static void cfq_timer(void *self, iosched_time now)
{
	struct cfq *c = self;

	c->now = now;
	ios_cfq_timer(c);
}

/* ---- merging ---- */

/* Only in the queue the submitter would use now, before any merge or split of queues. */
static bool cfq_merge_allowed(void *self, const struct iosched_request *into,
			      const struct iosched_request *bio)
{
	(void)self;
	return cfq_context_of(bio)->queue[iosched_request_is_sync(bio)] == into->internal.queue;
}

static struct iosched_request *cfq_front_candidate(void *self, const struct iosched_request *bio)
{
	const struct cfq_queue *q = cfq_context_of(bio)->queue[iosched_request_is_sync(bio)];

	(void)self;
	return q == NULL ? NULL : ios_rqtree_find(&q->sorted, bio->offset + bio->length);
}

static struct iosched_request *cfq_neighbour(void *self, struct iosched_request *rq,
					     enum iosched_side side)
{
	(void)self;
	return side == IOSCHED_SIDE_BACK ? ios_rqtree_next(rq) : ios_rqtree_prev(rq);
}

/* Its place among cooperators is left stale, unless it becomes next by this (trace pin01). */
static void cfq_grown(void *self, struct iosched_request *rq, enum iosched_side side,
		      uint64_t old_offset, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_queue *q = cfq_queue_of(rq);

	(void)old_offset;
	c->now = now;
	if (side == IOSCHED_SIDE_BACK)
		return;
	ios_rqtree_remove(&q->sorted, rq);
	sort_in(c, q, rq);
}

/* The survivor inherits an earlier expiry and the place that goes with it (trace pin01). Where the
 * victim was next, the survivor is (trace dense). */
static void cfq_absorbed(void *self, struct iosched_request *survivor,
			 struct iosched_request *victim, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_queue *q = cfq_queue_of(victim);

	c->now = now;
	if (victim->internal.expiry < survivor->internal.expiry) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	}
	if (q->next == victim)
		ios_cfq_set_next(q, survivor);
	unlink_request(c, q, victim);
	cfq_put(c, q);
}

/* ---- taken out ---- */

/* A queue that is not active and has nothing left is not waited for: it leaves at once. */
static void take_out(struct cfq *c, struct iosched_request *rq)
{
	struct cfq_queue *q = cfq_queue_of(rq);

	if (q->next == rq)
		ios_cfq_set_next(q, after(c, q, rq));
	unlink_request(c, q, rq);
	if (q->queued == 0 && q != c->active)
		ios_cfq_leave(c, q);
	cfq_put(c, q);
}

static void cfq_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct cfq *c = self;

	c->now = now;
	take_out(c, rq);
}

static struct cfq_queue *first_with_requests(const struct cfq_tree *t)
{
	struct cfq_queue *q = cfq_queue_entry(t->first);

	/* The active one may be empty; no other is. */
	if (q != NULL && q->queued == 0)
		q = cfq_queue_entry(ios_rb_next(&q->link));
	return q;
}

static struct cfq_queue *any_with_requests(struct cfq_group *g)
{
	struct cfq_queue *q = first_with_requests(&g->idle);
	unsigned i;

	for (i = 0; q == NULL && i < 6; i++)
		q = first_with_requests(&g->tree[i / 3][i % 3]);
	return q;
}

static struct iosched_request *cfq_drain(void *self)
{
	struct cfq *c = self;
	struct iosched_tree_link *link = ios_rb_first(&c->groups);
	struct cfq_queue *q = NULL;
	struct iosched_request *rq;

	for (; q == NULL && link != NULL; link = ios_rb_next(link))
		q = any_with_requests(cfq_group_entry(link));
	if (q == NULL)
		return NULL;
	rq = ios_fifo_first(&q->fifo);
	take_out(c, rq);
	return rq;
}

/* ---- contexts and groups ---- */

static void cfq_context_init(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_context *mine = ctx->data;

	c->now = now;
	mine->group = ios_cfq_group_find(c, ctx->group);
}

/* Priority is noticed by its next request. Another group means other queues; requests queued in
 * the old ones are served there. */
static void cfq_context_changed(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_context *mine = ctx->data;
	struct cfq_group *group = ios_cfq_group_find(c, ctx->group);

	c->now = now;
	if (mine->group == group)
		return;
	ios_cfq_unbind(c, mine, false);
	mine->group = group;
}

static void cfq_context_exit(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct cfq *c = self;
	struct cfq_context *mine = ctx->data;

	c->now = now;
	mine->exited = true;
	ios_cfq_unbind(c, mine, true);
}

/* It may have begun the running slice: its think time is still asked for. */
static void cfq_context_fini(void *self, struct iosched_context *ctx)
{
	struct cfq *c = self;
	struct cfq_context *mine = ctx->data;

	ios_cfq_unbind(c, mine, true);
	if (c->slice_context != ctx)
		return;
	c->gone_think = mine->think;
	c->slice_think = &c->gone_think;
	c->slice_context = NULL;
}

static void cfq_group_changed(void *self, struct iosched_group *group, iosched_time now)
{
	struct cfq *c = self;

	c->now = now;
	ios_cfq_group_update(c, group);
}

static const char *cfq_audit(void *self)
{
	return ios_cfq_audit(self);
}

/* Defaults: Linux 4.20. A slice or wait of more than an hour is a mistake. */
#define HOUR_NS (3600 * NSEC_PER_SEC)
static const struct iosched_tunable cfq_tunables[] = {
	{"quantum", IOSCHED_UNIT_NONE, 1, UINT32_MAX, 8, offsetof(struct cfq, quantum),
	 "requests of a queue in flight while others have some"},
	{"fifo_expire_sync_ns", IOSCHED_UNIT_NS, 0, HOUR_NS, 125 * NSEC_PER_MSEC,
	 offsetof(struct cfq, fifo_expire_sync_ns),
	 "a sync request that old goes first in its queue"},
	{"fifo_expire_async_ns", IOSCHED_UNIT_NS, 0, HOUR_NS, 250 * NSEC_PER_MSEC,
	 offsetof(struct cfq, fifo_expire_async_ns),
	 "an async request that old goes first in its queue"},
	{"back_seek_max_kb", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 16384,
	 offsetof(struct cfq, back_seek_max_kb), "KiB; a sweep may go back that far"},
	{"back_seek_penalty", IOSCHED_UNIT_NONE, 1, UINT32_MAX, 2,
	 offsetof(struct cfq, back_seek_penalty), "going back costs that many times its distance"},
	{"slice_sync_ns", IOSCHED_UNIT_NS, 1, HOUR_NS, 100 * NSEC_PER_MSEC,
	 offsetof(struct cfq, slice_sync_ns), "slice of a sync queue at level 4"},
	{"slice_async_ns", IOSCHED_UNIT_NS, 1, HOUR_NS, 40 * NSEC_PER_MSEC,
	 offsetof(struct cfq, slice_async_ns), "slice of an async queue at level 4"},
	{"slice_async_rq", IOSCHED_UNIT_NONE, 1, UINT16_MAX, 2,
	 offsetof(struct cfq, slice_async_rq),
	 "dispatches of an async slice, times 2 and 8 less its level"},
	{"slice_idle_ns", IOSCHED_UNIT_NS, 0, HOUR_NS, 8 * NSEC_PER_MSEC,
	 offsetof(struct cfq, slice_idle_ns),
	 "wait for the next request of a queue; starts at 0 without an arm"},
	{"group_idle_ns", IOSCHED_UNIT_NS, 0, HOUR_NS, 8 * NSEC_PER_MSEC,
	 offsetof(struct cfq, group_idle_ns), "wait for the next request of a group's only queue"},
	{"low_latency", IOSCHED_UNIT_BOOL, 0, 1, 1, offsetof(struct cfq, low_latency),
	 "shorten slices towards the target latency; hold async back after delays"},
	{"target_latency_ns", IOSCHED_UNIT_NS, 1, HOUR_NS, 300 * NSEC_PER_MSEC,
	 offsetof(struct cfq, target_latency_ns), "all queues should get a slice within this time"},
	{0},
};

const struct iosched_policy ios_cfq_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_GROUPS | IOSCHED_POLICY_PRIORITY,
	.name = "cfq",
	.summary = "a queue per context, time slices, and waiting for readers (Linux 4.20)",
	.self_size = sizeof(struct cfq),
	.context_size = sizeof(struct cfq_context),
	.tunables = cfq_tunables,
	.pool_size = cfq_pool_size,
	.init = cfq_init,
	.insert = cfq_insert,
	.dispatch = cfq_dispatch,
	.complete = cfq_complete,
	.timer = cfq_timer,
	.merge_allowed = cfq_merge_allowed,
	.front_candidate = cfq_front_candidate,
	.neighbour = cfq_neighbour,
	.grown = cfq_grown,
	.absorbed = cfq_absorbed,
	.remove = cfq_remove,
	.drain = cfq_drain,
	.context_init = cfq_context_init,
	.context_changed = cfq_context_changed,
	.context_exit = cfq_context_exit,
	.context_fini = cfq_context_fini,
	.group_changed = cfq_group_changed,
	.audit = cfq_audit,
};
