/* SPDX-License-Identifier: MIT */
/*
 * cfq: which queue a request goes to, its priority, and who keeps a queue alive.
 *
 * A context has a sync queue of its own, and shares async ones with all of its group, by class
 * and level. Cooperators are joined by a redirect: each context that has the one queue
 * takes the other at its next request. Old requests stay behind.
 *
 * All queues come from a pool made at the start. When it is exhausted, requests
 * go to a fallback queue (one for sync, one for async) of the root group at level 4, which
 * takes part in no cooperation; a context leaves it as soon as the pool has a queue again.
 */
#include "policies/cfq/cfq.h"

#define DEFAULT_LEVEL 4
#define IDLE_LEVEL 7

/* ---- alive ---- */

static void queue_init(struct cfq_queue *q, struct cfq_group *g, bool sync)
{
	*q = (struct cfq_queue){.group = g,
				.sync = sync,
				.idle_window = sync,
				.prio_class = CFQ_BE,
				.own_class = CFQ_BE,
				.level = DEFAULT_LEVEL,
				.own_level = DEFAULT_LEVEL};
	ios_rb_clear(&q->link);
	ios_rb_clear(&q->coop.link);
	ios_fifo_init(&q->fifo);
}

void ios_cfq_queues_init(struct cfq *c, struct cfq_queue *pool, uint32_t n)
{
	unsigned sync;

	c->queue_pool = pool;
	c->max_queues = n;
	for (sync = ASYNC; sync <= SYNC; sync++) {
		queue_init(&c->fallback[sync], &c->group_pool[0], sync);
		c->fallback[sync].fallback = true;
		c->fallback[sync].unsettled = true;
		c->fallback[sync].refs = 1;
	}
}

/* Without a reference; NULL when the pool is exhausted. */
static struct cfq_queue *acquire(struct cfq *c, struct cfq_group *g, bool sync)
{
	struct cfq_queue *q = c->free_queue;

	if (q != NULL)
		c->free_queue = q->redirect;
	else if (c->n_queues < c->max_queues)
		q = &c->queue_pool[c->n_queues++];
	else
		return NULL;
	queue_init(q, g, sync);
	return q;
}

static struct cfq_queue *get(struct cfq_queue *q)
{
	q->refs++;
	return q;
}

/* With its last reference a queue goes, and if it is the active one the device is free for
 * others (trace procs). */
void ios_cfq_retire(struct cfq *c, struct cfq_queue *q)
{
	if (c->active == q) {
		cfq_tell(c, "nobody is left to use the queue: slice ended", q, NULL, IOSCHED_NEVER);
		ios_cfq_expire(c, false);
		cfq_kick_later(c);
	}
	IOS_ASSERT(q->tree == NULL && q->queued + q->inflight == 0);
	q->redirect = c->free_queue;
	c->free_queue = q;
}

/* ---- priority ---- */

struct priority {
	enum cfq_class prio_class;
	uint8_t level;
};

/* As the context's latest noticed request asked for it. All idle levels are one. */
static struct priority priority_of(const struct cfq_context *ctx)
{
	struct priority p = {CFQ_BE, DEFAULT_LEVEL};

	if (ctx->prio_level != 0)
		p.level = (uint8_t)(ctx->prio_level - 1);
	if (ctx->prio_class == IOSCHED_REALTIME) {
		p.prio_class = CFQ_RT;
	} else if (ctx->prio_class == IOSCHED_IDLE) {
		p.prio_class = CFQ_IDLE;
		p.level = IDLE_LEVEL;
	}
	return p;
}

/* The queue is keyed by it when its turn comes, not now. Leaving the idle class does not bring
 * the idle window back (trace pin04). */
static void take_priority(struct cfq_queue *q, const struct cfq_context *ctx)
{
	struct priority p = priority_of(ctx);

	q->prio_changed = false;
	if (q->fallback)
		return; /* it is everybody's */
	q->prio_class = q->own_class = p.prio_class;
	q->level = q->own_level = p.level;
	if (p.prio_class == CFQ_IDLE)
		q->idle_window = false;
}

/* While metadata is asked for, a queue is no worse than BE 4: others may wait for the lock its
 * owner holds. The next other request takes that back (trace fuzz5). */
static void boost(struct cfq_queue *q, bool meta)
{
	q->prio_class = q->own_class;
	q->level = q->own_level;
	if (!meta)
		return;
	q->unsettled = true;
	if (q->prio_class == CFQ_IDLE)
		q->prio_class = CFQ_BE;
	if (q->level > DEFAULT_LEVEL)
		q->level = DEFAULT_LEVEL;
}

static struct cfq_queue **async_slot(struct cfq_group *g, struct priority p)
{
	return p.prio_class == CFQ_IDLE ? &g->async_idle : &g->async[p.prio_class][p.level];
}

static struct cfq_queue *async_queue(struct cfq *c, struct cfq_context *ctx)
{
	struct cfq_queue **slot = async_slot(ctx->group, priority_of(ctx));

	if (*slot == NULL) {
		struct cfq_queue *q = acquire(c, ctx->group, false);

		if (q == NULL)
			return get(&c->fallback[ASYNC]);
		take_priority(q, ctx);
		*slot = get(q);
	}
	return get(*slot);
}

static struct cfq_queue *sync_queue(struct cfq *c, const struct iosched_request *rq)
{
	struct cfq_queue *q = acquire(c, cfq_context_of(rq)->group, true);

	if (q == NULL)
		return get(&c->fallback[SYNC]);
	q->owner = rq->internal.context->id;
	take_priority(q, cfq_context_of(rq));
	return get(q);
}

/* A context with another priority than at its last request. Its async requests go on to the queue
 * of the priority it had until now: they lag one change behind (trace chprio). */
static void notice_priority(struct cfq *c, struct cfq_context *ctx,
			    const struct iosched_request *rq)
{
	uint8_t prio_class = rq->prio_class, prio_level = rq->prio_level;

	if (cfq_priority_known(ctx, rq))
		return;
	if (prio_class == 0 && prio_level == 0) {
		prio_class = rq->internal.context->prio_class;
		prio_level = rq->internal.context->prio_level;
	}
	if (ctx->queue[ASYNC] != NULL) {
		struct cfq_queue *old = ctx->queue[ASYNC];

		ctx->queue[ASYNC] = async_queue(c, ctx);
		cfq_put(c, old);
	}
	if (ctx->queue[SYNC] != NULL) {
		ctx->queue[SYNC]->prio_changed = true;
		ctx->queue[SYNC]->unsettled = true;
	}
	ctx->prio_class = prio_class;
	ctx->prio_level = prio_level;
}

/* ---- cooperators ---- */

/* Contexts that use it or are promised to it: all references but its requests'. */
static uint32_t process_refs(const struct cfq_queue *q)
{
	return q->refs - q->queued - q->inflight;
}

/* The contexts of one of two queues shall move to the other: few to many, `q` to `found` at a tie.
 * They count there at once, so that later ties see them (trace pin05). */
void ios_cfq_mark_merge(struct cfq *c, struct cfq_queue *q, struct cfq_queue *found)
{
	if (q->redirect != NULL || process_refs(found) == 0)
		return;
	while (found->redirect != NULL) {
		found = found->redirect;
		if (found == q)
			return;
	}
	if (process_refs(q) == 0 || process_refs(found) == 0)
		return;
	if (process_refs(found) < process_refs(q)) {
		struct cfq_queue *swap = q;

		q = found;
		found = swap;
	}
	q->redirect = found;
	q->unsettled = true;
	found->refs += process_refs(q);
	cfq_tell(c, "cooperating queues will be merged", q, found, IOSCHED_NEVER);
}

/* A context, there or promised, gives `q` up. With the last one the redirect ends: nobody is left
 * to follow it, and where it leads may be gone before the requests of `q` are. */
static void drop_context(struct cfq *c, struct cfq_queue *q)
{
	if (process_refs(q) == 1)
		q->redirect = NULL;
	cfq_put(c, q);
}

/* A context leaves `q` otherwise than along its redirect: what was promised for it is void. */
static void leave_queue(struct cfq *c, struct cfq_queue *q)
{
	struct cfq_queue *on = q->redirect;

	while (on != NULL) {
		struct cfq_queue *next = on->redirect;

		drop_context(c, on);
		on = next;
	}
	drop_context(c, q);
}

/* The queue is to be split. The last context keeps it, its history included. */
static void part(struct cfq *c, struct cfq_context *ctx)
{
	struct cfq_queue *q = ctx->queue[SYNC];

	if (process_refs(q) == 1) {
		q->shared = q->split = false;
		return;
	}
	cfq_tell(c, "merged queues are split: they seek", q, NULL, IOSCHED_NEVER);
	ctx->queue[SYNC] = NULL;
	leave_queue(c, q);
}

/* One step per request (trace pin05). */
static void follow_redirect(struct cfq *c, struct cfq_context *ctx)
{
	struct cfq_queue *q = ctx->queue[SYNC];

	ctx->queue[SYNC] = q->redirect;
	q->redirect->shared = true;
	cfq_tell(c, "a context joins the queue of its cooperator", q, q->redirect, IOSCHED_NEVER);
	drop_context(c, q);
}

/* ---- binding ---- */

/* A fallback queue is left as soon as there is another. */
static void leave_fallback(struct cfq *c, struct cfq_context *ctx, bool sync)
{
	if (ctx->queue[sync] == NULL || !ctx->queue[sync]->fallback)
		return;
	cfq_put(c, ctx->queue[sync]);
	ctx->queue[sync] = NULL;
}

static bool is_unsettled(const struct cfq_queue *q)
{
	return q->fallback || q->redirect != NULL || (q->shared && q->split) ||
	       q->prio_class != q->own_class || q->level != q->own_level;
}

/* The queue `rq` is to wait in, when that is not simply the one its context has. The order of
 * these steps is part of the answers. */
struct cfq_queue *ios_cfq_bind(struct cfq *c, const struct iosched_request *rq, bool sync)
{
	struct cfq_context *ctx = cfq_context_of(rq);
	struct cfq_queue *q;

	if (!ctx->born) {
		ctx->born = true;
		ctx->last_end = c->now;
	}
	leave_fallback(c, ctx, sync);
	q = ctx->queue[sync];
	if (q != NULL) {
		if (q->prio_changed)
			take_priority(q, ctx);
		boost(q, (rq->flags & IOSCHED_RQ_META) != 0);
	}
	notice_priority(c, ctx, rq);
	if (sync && q != NULL && q->shared && q->split)
		part(c, ctx);
	if (sync && ctx->queue[SYNC] != NULL && ctx->queue[SYNC]->redirect != NULL)
		follow_redirect(c, ctx);
	if (ctx->queue[sync] == NULL)
		ctx->queue[sync] = sync ? sync_queue(c, rq) : async_queue(c, ctx);
	q = ctx->queue[sync];
	if (q->prio_changed)
		take_priority(q, ctx);
	q->unsettled = is_unsettled(q);
	return q;
}

/* The context gives its queues up. If it exits, one that is active is stopped at once, even if
 * others share it (trace exit). */
void ios_cfq_unbind(struct cfq *c, struct cfq_context *ctx, bool exits)
{
	unsigned sync;

	for (sync = ASYNC; sync <= SYNC; sync++) {
		struct cfq_queue *q = ctx->queue[sync];

		if (q == NULL)
			continue;
		if (exits && q == c->active) {
			cfq_tell(c, "its context exits: slice ended", q, NULL, IOSCHED_NEVER);
			ios_cfq_expire(c, false);
			cfq_kick_later(c);
		}
		ctx->queue[sync] = NULL;
		leave_queue(c, q);
	}
}
