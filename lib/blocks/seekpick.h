/* SPDX-License-Identifier: MIT */
/*
 * seekpick: which of two requests is nearer to the head, as the kernel's
 * anticipatory and cfq see it: forward costs its distance, a short way back costs
 * `back_penalty` times it, and what lies further back is "wrapped": reached only
 * by starting over from the low end.
 */
#ifndef IOS_BLOCKS_SEEKPICK_H
#define IOS_BLOCKS_SEEKPICK_H

#include <iosched/iosched.h>

struct ios_seekpick {
	uint64_t head;	   /* bytes */
	uint64_t back_max; /* bytes; further back is wrapped */
	uint64_t back_penalty;
};

/* False: wrapped. */
static inline bool ios_seekpick_cost(const struct ios_seekpick *from,
				     const struct iosched_request *rq, uint64_t *cost)
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

/* `a` or `b`; either may be NULL. At equal cost the higher offset wins; if both
 * are wrapped, the lower; if nothing tells them apart, `a`. */
static inline struct iosched_request *
ios_seekpick(const struct ios_seekpick *from, struct iosched_request *a, struct iosched_request *b)
{
	uint64_t cost_a, cost_b;
	bool near_a, near_b;

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	near_a = ios_seekpick_cost(from, a, &cost_a);
	near_b = ios_seekpick_cost(from, b, &cost_b);
	if (near_a != near_b)
		return near_a ? a : b;
	if (!near_a)
		return a->span_offset <= b->span_offset ? a : b;
	if (cost_a != cost_b)
		return cost_a < cost_b ? a : b;
	return a->span_offset >= b->span_offset ? a : b;
}

#endif
