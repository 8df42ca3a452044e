/* SPDX-License-Identifier: MIT */
/*
 * cfq: is everything that must be true of its state true? Walks all, for tests.
 */
#include "policies/cfq/cfq.h"

struct totals {
	uint32_t busy, busy_sync, queued, inflight, flight[2];
};

static const char *audit_tree(const struct cfq *c, struct cfq_group *g, struct cfq_tree *t)
{
	struct iosched_tree_link *link;
	uint32_t count = 0;

	if (t->first != ios_rb_first(&t->by_key))
		return "a service tree knows its first queue";
	for (link = t->first; link != NULL; link = ios_rb_next(link)) {
		struct cfq_queue *q = cfq_queue_entry(link);
		struct cfq_queue *next = cfq_queue_entry(ios_rb_next(link));

		if (q->tree != t || q->group != g)
			return "a queue knows the tree it is on";
		if (q->queued == 0 && q != c->active)
			return "only the active queue may be empty and on a tree";
		if (next != NULL && (int64_t)(next->key - q->key) < 0)
			return "a service tree is sorted by key";
		count++;
	}
	if (count != t->count)
		return "a service tree counts its queues";
	return ios_rb_audit(&t->by_key);
}

static const char *audit_group(struct cfq *c, struct cfq_group *g, struct totals *sum)
{
	const char *wrong = audit_tree(c, g, &g->idle);
	uint64_t weight = 0;
	uint32_t active = 0, on_trees = g->idle.count, i;

	for (i = 0; wrong == NULL && i < 6; i++) {
		wrong = audit_tree(c, g, &g->tree[i / 3][i % 3]);
		on_trees += g->tree[i / 3][i % 3].count;
	}
	if (wrong != NULL)
		return wrong;
	if (on_trees != g->queues)
		return "a group counts its queues";
	if ((g->queues != 0) != ios_rb_linked(&g->link))
		return "a group competes while it has queues";
	for (i = 0; i < c->n_groups; i++)
		if (c->group_pool[i].parent == g && c->group_pool[i].active != 0) {
			weight += c->group_pool[i].weight;
			active++;
		}
	active += g->queues != 0;
	if (active != g->active || (active == 0) != (g->active_weight == 0) ||
	    g->active_weight < weight)
		return "a group weighs what is active below it";
	sum->busy += g->queues;
	return NULL;
}

static const char *audit_requests(const struct cfq_queue *q)
{
	const struct iosched_request *rq;
	uint32_t sorted = 0, fifo = 0, meta = 0;
	bool next_found = false;

	for (rq = ios_rqtree_first(&q->sorted); rq != NULL; rq = ios_rqtree_next(rq)) {
		if (rq->internal.queue != q)
			return "a request knows the queue it waits in";
		if (!q->fallback && iosched_request_is_sync(rq) != q->sync)
			return "a queue is sync or async";
		next_found |= rq == q->next;
		meta += (rq->flags & IOSCHED_RQ_META) != 0;
		sorted++;
	}
	for (rq = ios_fifo_first(&q->fifo); rq != NULL; rq = ios_fifo_next(&q->fifo, rq))
		fifo++;
	if (sorted != q->queued || fifo != q->queued || meta != q->meta_queued)
		return "a queue counts its requests, and has each in tree and fifo";
	if (next_found != (q->queued != 0))
		return "a sweep goes on at a request of its queue";
	return ios_rqtree_audit(&q->sorted);
}

static const char *audit_queue(const struct cfq *c, const struct cfq_queue *q, struct totals *sum)
{
	if (q->refs < q->queued + q->inflight)
		return "each request keeps its queue alive";
	if (q->queued != 0 && q->tree == NULL)
		return "a queue with requests is on a tree";
	if (q->coop.tree != NULL && (q->queued == 0 || q->coop.next != q->next || q->fallback))
		return "a queue that may be found as a cooperator has a next request";
	if (q->redirect != NULL && q->redirect->refs == 0)
		return "a queue that is being merged goes to a living one";
	if ((q->prio_changed || q->redirect != NULL || (q->shared && q->split) ||
	     q->prio_class != q->own_class || q->level != q->own_level) &&
	    !q->unsettled)
		return "a queue that its next request may change says so";
	if ((q->wait || q->wait_busy) && q != c->active)
		return "only the active queue is waited for";
	sum->busy_sync += q->sync && q->tree != NULL;
	sum->queued += q->queued;
	sum->inflight += q->inflight;
	sum->flight[q->sync] += q->inflight;
	return audit_requests(q);
}

static const char *audit_queues(const struct cfq *c, struct totals *sum)
{
	const char *wrong = audit_queue(c, &c->fallback[ASYNC], sum);
	uint32_t i;

	if (wrong == NULL)
		wrong = audit_queue(c, &c->fallback[SYNC], sum);
	for (i = 0; wrong == NULL && i < c->n_queues; i++)
		if (c->queue_pool[i].refs != 0)
			wrong = audit_queue(c, &c->queue_pool[i], sum);
		else if (c->queue_pool[i].tree != NULL || c->queue_pool[i].queued != 0 ||
			 c->queue_pool[i].inflight != 0)
			wrong = "a free queue is unused";
	return wrong;
}

static const char *audit_service(const struct cfq *c)
{
	const struct cfq_queue *q = c->active;

	if (q == NULL)
		return c->env->timer == IOSCHED_NEVER && c->slice_think == NULL
			       ? NULL
			       : "without an active queue nobody is waited for";
	if (q->tree == NULL || q->refs == 0)
		return "the active queue is on a tree";
	if (c->env->timer != IOSCHED_NEVER && !q->wait)
		return "the timer runs for the active queue";
	return NULL;
}

const char *ios_cfq_audit(struct cfq *c)
{
	struct totals sum = {0};
	const char *wrong = audit_service(c);
	uint32_t i;

	for (i = 0; wrong == NULL && i < c->n_groups; i++)
		wrong = audit_group(c, &c->group_pool[i], &sum);
	if (wrong == NULL)
		wrong = audit_queues(c, &sum);
	if (wrong == NULL &&
	    (sum.busy != c->busy || sum.busy_sync != c->busy_sync || sum.queued != c->queued ||
	     sum.inflight != c->inflight || sum.flight[ASYNC] != c->flight[ASYNC] ||
	     sum.flight[SYNC] != c->flight[SYNC]))
		wrong = "the totals are the sums of the queues";
	for (i = 0; wrong == NULL && i < 8; i++)
		wrong = ios_rb_audit(&c->coop[i]);
	return wrong == NULL ? ios_rb_audit(&c->groups) : wrong;
}
