/* SPDX-License-Identifier: MIT */
/*
 * dlist: requests a policy has chosen but not handed out yet, in one-way
 * elevator order (the kernel's dispatch list). Linked by `internal.fifo`.
 *
 * State: the list, and `boundary`, the end of the last request handed out: offsets from there on
 * come first, ascending, then those below, ascending. An entry of the other
 * direction is never passed.
 */
#ifndef IOS_BLOCKS_DLIST_H
#define IOS_BLOCKS_DLIST_H

#include "blocks/fifo.h"

struct ios_dlist {
	struct ios_fifo list;
	uint64_t boundary;
};

static inline void ios_dlist_init(struct ios_dlist *d)
{
	ios_fifo_init(&d->list);
	d->boundary = 0;
}

static inline bool ios_dlist_empty(const struct ios_dlist *d)
{
	return ios_fifo_empty(&d->list);
}

/* Sorted in from the tail; behind an entry with the same offset. */
void ios_dlist_insert(struct ios_dlist *d, struct iosched_request *rq);

/* The head, handed out: it moves the boundary. NULL when empty. */
struct iosched_request *ios_dlist_take(struct ios_dlist *d);

/* An entry leaves otherwise than by being handed out. */
static inline void ios_dlist_remove(struct iosched_request *rq)
{
	ios_fifo_remove(rq);
}

#endif
