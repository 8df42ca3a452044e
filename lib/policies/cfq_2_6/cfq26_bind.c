/* SPDX-License-Identifier: MIT */
/*
 * cfq26_bind: which queue a process's next request goes to.
 *
 * bind() asks, in order: is the queue due a new priority? has the process's priority
 * changed since its last request? has it no queue yet? did its shared queue turn seeky (split)? was
 * its queue merged into another (one step that way)? Only requests of their own get
 * here: one that merged into a queued request changes nothing (traces fz-2110, chprio).
 */
#include "policies/cfq_2_6/cfq26.h"

/* A shared queue that has been seeky for longer is split. */
#define SPLIT_TICKS 1000u

static void begin(const struct cfq26 *c, struct cfq26_context *ctx, uint16_t priority)
{
	if (ctx->started)
		return;
	ctx->started = true;
	ctx->priority = priority;
	ctx->last_end = c->tick; /* think time counts from the first request (13 traces) */
}

/* Kernel quirk: if nobody has used the new priority yet, the process's present queue becomes the
 * one for it, for everybody and for good, with its old class and level (trace chprio). */
static void move_async(struct cfq26 *c, struct cfq26_context *ctx, uint16_t priority)
{
	struct cfq26_queue **slot = ios_cfq26_slot(c, priority);
	struct cfq26_queue *old = ctx->queue[CFQ26_ASYNC];

	if (*slot == NULL)
		*slot = old;
	old->procs--;
	(*slot)->procs++;
	ctx->queue[CFQ26_ASYNC] = *slot;
}

/* Noticed by either kind of request. The sync queue takes it when it is next used. */
static void notice_priority(struct cfq26 *c, struct cfq26_context *ctx, uint16_t priority)
{
	struct cfq26_queue *sync = ctx->queue[CFQ26_SYNC];

	if (ctx->priority == priority)
		return;
	ctx->priority = priority;
	if (ctx->queue[CFQ26_ASYNC] != NULL)
		move_async(c, ctx, priority);
	if (sync != NULL && !sync->permanent)
		sync->prio_marked = true;
}

/* One process less uses `q`, and less will come to where it was to go. */
static void drop(struct cfq26 *c, struct cfq26_queue *q)
{
	struct cfq26_queue *promised = q->redirect;

	while (promised != NULL) {
		struct cfq26_queue *further = promised->redirect;

		promised->procs--;
		ios_cfq26_queue_release(c, promised);
		promised = further;
	}
	q->procs--;
	ios_cfq26_queue_release(c, q);
}

/* The last process keeps the queue. (The kernel keeps what was promised for one that leaves, a
 * leak no input shows.) */
static struct cfq26_queue *split(struct cfq26 *c, struct cfq26_queue *q, uint16_t priority)
{
	if (q->procs == 1) {
		q->shared = false;
		q->seeky_clock = false;
		return q;
	}
	ios_cfq26_tell(c, "split: the shared queue has been seeky for 1 s, a process leaves it", q,
		       NULL);
	drop(c, q);
	return ios_cfq26_queue_take(c, priority);
}

static bool must_split(const struct cfq26 *c, const struct cfq26_queue *q)
{
	return q->shared && q->seeky_clock && c->tick - q->seeky_since > SPLIT_TICKS;
}

/* One step only, however far the target itself is redirected (trace f5-279). What
 * was promised to the target becomes real. */
static struct cfq26_queue *follow(struct cfq26 *c, struct cfq26_queue *q)
{
	struct cfq26_queue *target = q->redirect;

	ios_cfq26_tell(c, "merged: the process now uses the other's queue", q, target);
	target->shared = true;
	q->procs--;
	ios_cfq26_queue_release(c, q);
	return target;
}

static struct cfq26_queue *bind_sync(struct cfq26 *c, struct cfq26_queue *q, uint16_t priority)
{
	if (q == &c->fallback && !ios_list_empty(&c->pool)) {
		drop(c, q);
		q = NULL;
	}
	if (q == NULL)
		return ios_cfq26_queue_take(c, priority);
	if (must_split(c, q))
		q = split(c, q, priority);
	return q->redirect == NULL ? q : follow(c, q);
}

struct cfq26_queue *ios_cfq26_bind_slow(struct cfq26 *c, const struct iosched_request *rq,
					uint16_t priority)
{
	struct cfq26_context *ctx = ios_cfq26_context_of(rq);
	unsigned sync = iosched_request_is_sync(rq);
	struct cfq26_queue *q = ctx->queue[sync];

	begin(c, ctx, priority);
	/* Even if the process is about to leave for another (trace f3-1382). */
	if (q != NULL && q->prio_marked)
		ios_cfq26_queue_prioritise(q, priority);
	notice_priority(c, ctx, priority);
	q = ctx->queue[sync];
	if (sync)
		q = bind_sync(c, q, priority);
	else if (q == NULL)
		q = ios_cfq26_queue_async(c, priority);
	ctx->queue[sync] = q;
	if (q->prio_marked)
		ios_cfq26_queue_prioritise(q, priority);
	return q;
}

static void leave_queue(struct cfq26 *c, struct cfq26_context *ctx, unsigned sync)
{
	struct cfq26_queue *q = ctx->queue[sync];

	if (q == NULL)
		return;
	ctx->queue[sync] = NULL;
	/* Even if others share it, asynchronous ones too (trace fz-2110). */
	if (c->active == q) {
		ios_cfq26_tell(c, "the process is gone: the turn of its queue ends", q, NULL);
		ios_cfq26_expire(c, false);
		ios_cfq26_kick_deferred(c);
	}
	drop(c, q);
}

/* The process is gone. Its requests stay where they are. */
void ios_cfq26_leave(struct cfq26 *c, struct cfq26_context *ctx)
{
	ctx->exited = true;
	leave_queue(c, ctx, CFQ26_ASYNC);
	leave_queue(c, ctx, CFQ26_SYNC);
}
