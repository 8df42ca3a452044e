/* SPDX-License-Identifier: MIT */
/*
 * noop: first come, first served. Linux 4.20.
 *
 * State: one fifo. Merging is the core's; the neighbours a merged request can
 * be joined with are those in the fifo, which are rarely adjacent on disk.
 *
 * dispatch() takes the head. (The kernel's sorted dispatch list never holds
 * more than one request, so it sorts nothing.)
 */
#include "policies/policies.h"
#include "blocks/fifo.h"

struct noop {
	struct ios_fifo fifo;
};

static int noop_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct noop *n = self;

	(void)env, (void)pool, (void)now;
	ios_fifo_init(&n->fifo);
	return 0;
}

static void noop_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct noop *n = self;

	if (rq->inserted == now)
		ios_fifo_append(&n->fifo, rq);
	else
		ios_fifo_insert(&n->fifo, rq);
}

static struct iosched_request *noop_dispatch(void *self, iosched_time now,
					     struct iosched_pause *pause)
{
	struct noop *n = self;

	(void)now, (void)pause; /* a work-conserving policy pauses only when empty */
	return ios_fifo_take(&n->fifo);
}

static struct iosched_request *noop_neighbour(void *self, struct iosched_request *rq,
					      enum iosched_side side)
{
	const struct noop *n = self;

	return side == IOSCHED_SIDE_BACK ? ios_fifo_next(&n->fifo, rq)
					 : ios_fifo_prev(&n->fifo, rq);
}

static void noop_absorbed(void *self, struct iosched_request *survivor,
			  struct iosched_request *victim, iosched_time now)
{
	(void)self, (void)survivor, (void)now;
	ios_fifo_remove(victim);
}

static void noop_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)self, (void)now;
	ios_fifo_remove(rq);
}

static struct iosched_request *noop_drain(void *self)
{
	struct noop *n = self;

	return ios_fifo_take(&n->fifo);
}

const struct iosched_policy ios_noop_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_WORK_CONSERVING,
	.name = "noop",
	.summary = "first come, first served, with merging (Linux 4.20)",
	.self_size = sizeof(struct noop),
	.init = noop_init,
	.insert = noop_insert,
	.dispatch = noop_dispatch,
	.neighbour = noop_neighbour,
	.absorbed = noop_absorbed,
	.remove = noop_remove,
	.drain = noop_drain,
};
