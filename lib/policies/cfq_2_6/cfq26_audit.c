/* SPDX-License-Identifier: MIT */
/*
 * cfq26_audit: all that must be true of cfq-2.6.32. O(everything), for tests.
 */
#include "policies/cfq_2_6/cfq26.h"

struct sums {
	uint32_t busy, queued, dispatched, sync_flight;
};

static bool in_queue(const struct cfq26_queue *q, const struct iosched_request *rq)
{
	return rq->internal.queue == q && rq->internal.mark == CFQ26_WAITING &&
	       iosched_request_is_sync(rq) == q->sync && rq->internal.context != NULL;
}

static const char *audit_requests(const struct cfq26_queue *q)
{
	const struct iosched_request *rq;
	uint32_t sorted = 0, fifo = 0, meta = 0;
	bool next = false;

	for (rq = ios_rqtree_first(&q->sorted); rq != NULL; rq = ios_rqtree_next(rq)) {
		const struct iosched_request *after = ios_rqtree_next(rq);

		if (!in_queue(q, rq))
			return "a request in a queue belongs there";
		if (after != NULL && after->span_offset == rq->span_offset)
			return "no two requests of a queue start at one place";
		sorted++;
		meta += (rq->flags & IOSCHED_RQ_META) != 0;
		next |= rq == q->next;
	}
	for (rq = ios_fifo_first(&q->fifo); rq != NULL; rq = ios_fifo_next(&q->fifo, rq))
		fifo++;
	if (sorted != q->queued || fifo != q->queued)
		return "a queued request is in its queue's tree and fifo, and counted";
	if (meta != q->queued_meta)
		return "queued metadata requests are counted";
	if (next != (q->queued != 0) || (q->next != NULL) != next)
		return "a queue goes on at one of its requests, if it has any";
	if (q->coop.next != q->next)
		return "the prio tree sees where a queue goes on";
	return ios_rqtree_audit(&q->sorted);
}

static uint32_t users_of(const struct cfq26 *c, const struct cfq26_queue *q)
{
	struct iosched_list_link *link;
	uint32_t n = 0;

	for (link = c->contexts.next; link != &c->contexts; link = link->next) {
		const struct cfq26_context *ctx = IOS_CONTAINER(link, struct cfq26_context, list);

		n += ctx->queue[q->sync] == q;
	}
	return n;
}

static uint32_t promised_to(const struct cfq26 *c, const struct cfq26_queue *q)
{
	struct iosched_list_link *link;
	uint32_t n = 0;

	for (link = c->live.next; link != &c->live; link = link->next) {
		const struct cfq26_queue *from = IOS_CONTAINER(link, struct cfq26_queue, list);

		if (from->redirect == q)
			n += from->procs;
	}
	return n;
}

static const char *audit_queue(const struct cfq26 *c, const struct cfq26_queue *q,
			       struct sums *sums)
{
	if (q->busy != (q->queued != 0))
		return "a queue is busy while it has requests";
	if (q->coop.tree != NULL &&
	    (!q->busy || q->coop.tree < &c->coop[0] || q->coop.tree >= &c->coop[CFQ26_LEVELS]))
		return "only a busy queue is in a prio tree";
	if (q->procs != users_of(c, q) + promised_to(c, q))
		return "a queue counts the processes that use it or are promised to it";
	if (!q->permanent && q->procs + q->queued + q->dispatched == 0)
		return "a queue nobody uses goes back to the pool";
	if (q->redirect != NULL && (q->procs == 0 || !q->sync || q->permanent))
		return "only a sync queue that is used is merged into another";
	if (q->prio_class > IOSCHED_IDLE || q->level >= CFQ26_LEVELS)
		return "a queue has a class and a level";
	if (q->wait && q != c->active)
		return "only the queue whose turn it is is waited for";
	sums->busy += q->busy;
	sums->queued += q->queued;
	sums->dispatched += q->dispatched;
	if (q->sync)
		sums->sync_flight += q->dispatched;
	return audit_requests(q);
}

static const char *audit_queues(const struct cfq26 *c, struct sums *sums)
{
	struct iosched_list_link *link;
	bool active = c->active == NULL;

	for (link = c->live.next; link != &c->live; link = link->next) {
		const struct cfq26_queue *q = IOS_CONTAINER(link, struct cfq26_queue, list);
		const char *wrong = audit_queue(c, q, sums);

		if (wrong != NULL)
			return wrong;
		active |= q == c->active;
	}
	return active ? NULL : "the queue whose turn it is lives";
}

static const char *audit_service(const struct cfq26 *c)
{
	struct iosched_tree_link *n;
	uint32_t served = 0;

	for (n = ios_rb_first(&c->service); n != NULL; n = ios_rb_next(n)) {
		if (!IOS_CONTAINER(n, struct cfq26_queue, service)->busy)
			return "the service tree holds busy queues only";
		served++;
	}
	if (served != c->busy)
		return "busy queues are on the service tree and counted";
	return ios_rb_audit(&c->service);
}

static const char *audit_prio_trees(const struct cfq26 *c)
{
	struct iosched_tree_link *n;
	const char *wrong = NULL;
	unsigned i;

	for (i = 0; i < CFQ26_LEVELS && wrong == NULL; i++) {
		for (n = ios_rb_first(&c->coop[i]); n != NULL; n = ios_rb_next(n)) {
			const struct ios_coop_node *node =
				IOS_CONTAINER(n, struct ios_coop_node, link);

			if (node->tree != &c->coop[i] || node->next == NULL)
				return "a queue in a prio tree knows it and goes on somewhere";
		}
		wrong = ios_rb_audit(&c->coop[i]);
	}
	return wrong;
}

static const char *audit_chosen(const struct cfq26 *c, uint32_t *n)
{
	const struct iosched_request *rq;

	for (rq = ios_fifo_first(&c->chosen.list); rq != NULL;
	     rq = ios_fifo_next(&c->chosen.list, rq)) {
		if (rq->internal.mark != CFQ26_CHOSEN || rq->internal.queue == NULL)
			return "a request on the dispatch list was chosen from a queue";
		++*n;
	}
	return NULL;
}

static const char *audit_counts(const struct cfq26 *c, const struct sums *sums, uint32_t chosen)
{
	if (sums->busy != c->busy || sums->queued != c->queued)
		return "busy queues and queued requests are counted";
	if (sums->sync_flight != c->sync_flight)
		return "sync requests in flight are counted";
	if (c->nearer.head != c->chosen.boundary)
		return "there is one head";
	if (sums->dispatched != chosen + c->in_driver[CFQ26_ASYNC] + c->in_driver[CFQ26_SYNC])
		return "a chosen request is on the dispatch list or in the driver";
	if (c->env->timer != IOSCHED_NEVER && (c->active == NULL || !c->active->wait))
		return "the timer runs only for a queue that is waited for";
	return NULL;
}

static bool knows_context(const struct cfq26 *c, const struct cfq26_context *wanted)
{
	struct iosched_list_link *link;

	for (link = c->contexts.next; link != &c->contexts; link = link->next)
		if (link == &wanted->list)
			return true;
	return wanted == &c->gone;
}

static const char *audit_slots(const struct cfq26 *c)
{
	unsigned i;

	for (i = 0; i < CFQ26_ASYNC_SLOTS; i++)
		if (c->slot[i] != NULL && (c->slot[i]->sync || !c->slot[i]->permanent))
			return "a slot holds an asynchronous queue";
	return NULL;
}

const char *ios_cfq26_audit(void *self)
{
	const struct cfq26 *c = self;
	struct sums sums = {0};
	uint32_t chosen = 0;
	const char *wrong = audit_queues(c, &sums);

	if (wrong == NULL)
		wrong = audit_service(c);
	if (wrong == NULL)
		wrong = audit_prio_trees(c);
	if (wrong == NULL)
		wrong = audit_slots(c);
	if (wrong == NULL)
		wrong = audit_chosen(c, &chosen);
	if (wrong == NULL)
		wrong = audit_counts(c, &sums, chosen);
	if (wrong == NULL && c->slice_context != NULL && !knows_context(c, c->slice_context))
		wrong = "the context of the slice is one that is known";
	return wrong;
}
