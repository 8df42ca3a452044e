/* SPDX-License-Identifier: MIT */
/*
 * seekpick: see seekpick.h.
 */
#include "blocks/seekpick.h"

/* False: wrapped. */
static bool cost_of(const struct ios_seekpick *from, const struct iosched_request *rq,
		    uint64_t *cost)
{
	uint64_t back;

	if (rq->span_offset >= from->head) {
		*cost = rq->span_offset - from->head;
		return true;
	}
	back = from->head - rq->span_offset;
	*cost = back * from->back_penalty;
	return back <= from->back_max;
}

struct iosched_request *ios_seekpick(const struct ios_seekpick *from, struct iosched_request *a,
				     struct iosched_request *b)
{
	uint64_t cost_a, cost_b;
	bool near_a, near_b;

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	near_a = cost_of(from, a, &cost_a);
	near_b = cost_of(from, b, &cost_b);
	if (near_a != near_b)
		return near_a ? a : b;
	if (!near_a)
		return a->span_offset <= b->span_offset ? a : b;
	if (cost_a != cost_b)
		return cost_a < cost_b ? a : b;
	return a->span_offset >= b->span_offset ? a : b;
}
