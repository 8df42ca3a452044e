/* SPDX-License-Identifier: MIT */
/*
 * stats: the counters, copied out.
 */
#include <string.h>
#include "core/sched.h"

void iosched_stats_get(const struct iosched *s, struct iosched_stats *out, size_t size)
{
	memset(out, 0, size);
	memcpy(out, &s->stats, size < sizeof(s->stats) ? size : sizeof(s->stats));
	if (size >= sizeof(out->size))
		out->size = size;
}
