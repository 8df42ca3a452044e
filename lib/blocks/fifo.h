/* SPDX-License-Identifier: MIT */
/*
 * fifo: requests in the order they arrived, linked by `internal.fifo`.
 *
 * Rule: arrival times never decrease from head to tail, but for survivors of a
 * coalesce, which sit in their victim's place. A request that moves in from elsewhere with
 * an old arrival time is therefore put among its contemporaries; for a new one
 * that is the tail, in O(1).
 */
#ifndef IOS_BLOCKS_FIFO_H
#define IOS_BLOCKS_FIFO_H

#include "blocks/list.h"

struct ios_fifo {
	struct iosched_list_link head;
};

static inline struct iosched_request *ios_fifo_entry(struct iosched_list_link *link)
{
	return IOS_CONTAINER(link, struct iosched_request, internal.fifo);
}

static inline void ios_fifo_init(struct ios_fifo *f)
{
	ios_list_init(&f->head);
}

static inline bool ios_fifo_empty(const struct ios_fifo *f)
{
	return ios_list_empty(&f->head);
}

static inline void ios_fifo_insert(struct ios_fifo *f, struct iosched_request *rq)
{
	struct iosched_list_link *at = &f->head;

	while (at->prev != &f->head && ios_fifo_entry(at->prev)->inserted > rq->inserted)
		at = at->prev;
	ios_list_insert_before(at, &rq->internal.fifo);
}

/* For a request that is certainly the newest. */
static inline void ios_fifo_append(struct ios_fifo *f, struct iosched_request *rq)
{
	ios_list_insert_before(&f->head, &rq->internal.fifo);
}

static inline void ios_fifo_remove(struct iosched_request *rq)
{
	ios_list_remove(&rq->internal.fifo);
}

static inline struct iosched_request *ios_fifo_first(const struct ios_fifo *f)
{
	return ios_fifo_empty(f) ? NULL : ios_fifo_entry(f->head.next);
}

static inline struct iosched_request *ios_fifo_next(const struct ios_fifo *f,
						    const struct iosched_request *rq)
{
	struct iosched_list_link *next = rq->internal.fifo.next;

	return next == &f->head ? NULL : ios_fifo_entry(next);
}

static inline struct iosched_request *ios_fifo_prev(const struct ios_fifo *f,
						    const struct iosched_request *rq)
{
	struct iosched_list_link *prev = rq->internal.fifo.prev;

	return prev == &f->head ? NULL : ios_fifo_entry(prev);
}

/* `rq` takes the place of `victim`, which is then on no list. */
static inline void ios_fifo_replace(struct iosched_request *victim, struct iosched_request *rq)
{
	ios_list_remove(&rq->internal.fifo);
	ios_list_insert_before(&victim->internal.fifo, &rq->internal.fifo);
	ios_list_remove(&victim->internal.fifo);
}

/* The head, off the list, its link undefined; NULL when empty. */
static inline struct iosched_request *ios_fifo_take(struct ios_fifo *f)
{
	struct iosched_request *rq = ios_fifo_first(f);

	if (rq != NULL) {
		f->head.next = rq->internal.fifo.next;
		f->head.next->prev = &f->head;
	}
	return rq;
}

#endif
