/* SPDX-License-Identifier: MIT */
/*
 * dlist: see dlist.h.
 */
#include "blocks/dlist.h"

static bool same_direction(const struct iosched_request *a, const struct iosched_request *b)
{
	return (a->op == IOSCHED_READ) == (b->op == IOSCHED_READ) &&
	       (a->op == IOSCHED_DISCARD) == (b->op == IOSCHED_DISCARD);
}

/* `rq` belongs behind `entry`. */
static bool follows(const struct ios_dlist *d, const struct iosched_request *rq,
		    const struct iosched_request *entry)
{
	bool rq_ahead = rq->span_offset >= d->boundary;
	bool entry_ahead = entry->span_offset >= d->boundary;

	if (rq_ahead != entry_ahead)
		return entry_ahead;
	return rq->span_offset >= entry->span_offset;
}

void ios_dlist_insert(struct ios_dlist *d, struct iosched_request *rq)
{
	struct iosched_list_link *at = &d->list.head;

	while (at->prev != &d->list.head) {
		const struct iosched_request *entry = ios_fifo_entry(at->prev);

		if (!same_direction(rq, entry) || follows(d, rq, entry))
			break;
		at = at->prev;
	}
	ios_list_insert_before(at, &rq->internal.fifo);
}

struct iosched_request *ios_dlist_take(struct ios_dlist *d)
{
	struct iosched_request *rq = ios_fifo_take(&d->list);

	if (rq != NULL)
		d->boundary = rq->span_offset + rq->span_length;
	return rq;
}
