/* SPDX-License-Identifier: MIT */
/*
 * cfq26_queue: requests in a queue, and queues from the pool and back.
 *
 * No memory is taken after init. If the pool is empty, a process shares the `fallback`
 * queue with all others that found it empty; it is best effort 4, is never merged or split, and
 * is left for an own queue as soon as there is one. Asynchronous queues have
 * storage of their own and live for ever.
 */
#include "policies/cfq_2_6/cfq26.h"

/* Contexts that are known, ones that are gone while requests of theirs are under way, and
 * queues that processes left behind with requests in them. */
size_t ios_cfq26_pool_queues(const struct iosched_params *p)
{
	return 2 * (size_t)p->max_contexts + 64;
}

void ios_cfq26_queue_prioritise(struct cfq26_queue *q, uint16_t priority)
{
	unsigned stored = priority & 0xff;

	q->prio_class = (uint8_t)(priority >> 8);
	q->level = (uint8_t)(stored == 0 ? 4 : stored - 1);
	/* Leaving the idle class does not bring the window back (trace fz-2110). */
	if (ios_cfq26_is_idle_class(q)) {
		q->level = CFQ26_LEVELS - 1;
		q->idle_window = false;
	}
	q->prio_marked = false;
}

static void reset(struct cfq26_queue *q, bool sync, uint16_t priority)
{
	struct iosched_list_link list = q->list;

	*q = (struct cfq26_queue){.list = list, .sync = sync, .idle_window = sync};
	ios_fifo_init(&q->fifo);
	ios_cfq26_queue_prioritise(q, priority);
}

void ios_cfq26_queues_init(struct cfq26 *c, struct cfq26_queue *pool, size_t n)
{
	size_t i;

	ios_list_init(&c->live);
	ios_list_init(&c->pool);
	for (i = 0; i < n; i++)
		ios_list_insert_before(&c->pool, &pool[i].list);
	reset(&c->fallback, true, 0);
	c->fallback.permanent = true;
	ios_list_insert_before(&c->live, &c->fallback.list);
}

/* A sync queue with one process. The fallback keeps its priority. */
struct cfq26_queue *ios_cfq26_queue_take(struct cfq26 *c, uint16_t priority)
{
	struct cfq26_queue *q = &c->fallback;

	if (!ios_list_empty(&c->pool)) {
		q = ios_cfq26_listed(c->pool.next);
		ios_list_remove(&q->list);
		ios_list_insert_before(&c->live, &q->list);
		reset(q, true, priority);
	}
	q->procs++;
	return q;
}

static unsigned slot_of(uint16_t priority)
{
	unsigned stored = priority & 0xff;
	unsigned level = stored == 0 ? 4 : stored - 1;

	switch (priority >> 8) {
	case IOSCHED_REALTIME:
		return level;
	case IOSCHED_IDLE:
		return 2 * CFQ26_LEVELS;
	default:
		return CFQ26_LEVELS + level;
	}
}

struct cfq26_queue **ios_cfq26_slot(struct cfq26 *c, uint16_t priority)
{
	return &c->slot[slot_of(priority)];
}

/* The shared queue for asynchronous requests of this priority, with one more process. */
struct cfq26_queue *ios_cfq26_queue_async(struct cfq26 *c, uint16_t priority)
{
	unsigned i = slot_of(priority);

	if (c->slot[i] == NULL) {
		struct cfq26_queue *q = c->slot[i] = &c->async[i];

		reset(q, false, priority);
		q->permanent = true;
		ios_list_insert_before(&c->live, &q->list);
	}
	c->slot[i]->procs++;
	return c->slot[i];
}

/* No process is left. If the last request is gone too while the queue has its turn, that ends,
 * with a kick, so that even an insert can kick (trace procs). */
void ios_cfq26_queue_retire(struct cfq26 *c, struct cfq26_queue *q)
{
	q->redirect = NULL; /* nobody is left to follow it */
	if (q->permanent || q->queued + q->dispatched != 0)
		return;
	if (c->active == q) {
		ios_cfq26_tell(c, "nobody uses the queue any more: its turn ends", q, NULL);
		ios_cfq26_expire(c, false);
		ios_cfq26_kick_deferred(c);
	}
	ios_list_remove(&q->list);
	ios_list_insert_after(&c->pool, &q->list);
}

/* The nearer to the head; metadata first. Queues hold either sync or async ones only. */
static struct iosched_request *nearer(const struct cfq26 *c, struct iosched_request *a,
				      struct iosched_request *b)
{
	if (a != NULL && b != NULL && ((a->flags ^ b->flags) & IOSCHED_RQ_META))
		return a->flags & IOSCHED_RQ_META ? a : b;
	return ios_seekpick(&c->nearer, a, b);
}

static void set_next(struct cfq26_queue *q, struct iosched_request *rq)
{
	q->next = rq;
	q->coop.next = rq;
}

/* One request less in the tree. */
static void count_out(struct cfq26 *c, struct cfq26_queue *q, const struct iosched_request *rq)
{
	q->queued--;
	c->queued--;
	if (rq->flags & IOSCHED_RQ_META)
		q->queued_meta--;
}

/* Out of the tree; the fifo and `next` are the caller's. */
static void unsort(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	ios_rqtree_remove(&q->sorted, rq);
	count_out(c, q, rq);
}

/* The same, and the queue goes on at the nearer of the two around `rq`; after the last comes the
 * first. */
static void unsort_next(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	struct iosched_request *after = ios_rqtree_remove_next(&q->sorted, rq);
	struct iosched_request *before;

	count_out(c, q, rq);
	if (after != NULL) {
		before = ios_rqtree_prev(after);
	} else {
		before = ios_rqtree_last(&q->sorted);
		after = ios_rqtree_first(&q->sorted);
	}
	set_next(q, nearer(c, after, before));
}

static void leave_if_empty(struct cfq26 *c, struct cfq26_queue *q)
{
	if (!ios_rqtree_empty(&q->sorted))
		return;
	ios_coop_unfile(&q->coop);
	if (q->busy)
		ios_cfq26_unkey(c, q);
}

/* The queued one that starts where a new one starts leaves for the dispatch list, as any chosen
 * request does. If it was alone, the queue comes back with a new key (traces dupsec, fz-2296).
 * Rare, so out of line. */
static __attribute__((noinline)) void evict_alias(struct cfq26 *c, struct cfq26_queue *q,
						  struct iosched_request *alias)
{
	ios_cfq26_tell(c, "alias: a second request for the same start sends the first on its way",
		       q, NULL);
	iosched_withdraw(alias);
	ios_cfq26_take(c, q, alias);
	ios_dlist_insert(&c->chosen, alias);
}

/* Into the tree, and all that follows from it; not into the fifo. */
static void sort_in(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	struct iosched_request *alias, *next;

	while ((alias = ios_rqtree_insert_unique(&q->sorted, rq)) != NULL)
		evict_alias(c, q, alias);
	q->queued++;
	c->queued++;
	if (rq->flags & IOSCHED_RQ_META)
		q->queued_meta++;
	if (!q->busy)
		ios_cfq26_key(c, q, false);
	next = nearer(c, q->next, rq);
	if (next == q->next)
		return;
	set_next(q, next);
	ios_cfq26_file(c, q);
}

/* A new request. */
void ios_cfq26_link(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	rq->internal.queue = q;
	rq->internal.mark = CFQ26_WAITING;
	ios_fifo_insert(&q->fifo, rq);
	sort_in(c, q, rq);
}

/* Queued `rq` now starts elsewhere. If it is next already, the place the queue is filed
 * at goes stale (trace f2-506). */
void ios_cfq26_resort(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	unsort(c, q, rq);
	sort_in(c, q, rq);
}

/* A queued request leaves unserved. */
void ios_cfq26_unlink(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	ios_fifo_remove(rq);
	if (q->next == rq)
		unsort_next(c, q, rq);
	else
		unsort(c, q, rq);
	leave_if_empty(c, q);
}

/* A queued request is chosen. `next` is found anew even if it was another one, seen from the end of
 * the last handed out, not of this one (traces async, chprio). */
void ios_cfq26_take(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq)
{
	ios_fifo_remove(rq);
	unsort_next(c, q, rq);
	leave_if_empty(c, q);
	q->dispatched++;
	c->sync_flight += q->sync;
	rq->internal.mark = CFQ26_CHOSEN;
}
