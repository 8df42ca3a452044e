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

/* `a` or `b`; either may be NULL. At equal cost the higher offset wins; if both
 * are wrapped, the lower; if nothing tells them apart, `a`. */
struct iosched_request *ios_seekpick(const struct ios_seekpick *from, struct iosched_request *a,
				     struct iosched_request *b);

#endif
