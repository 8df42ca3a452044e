/* SPDX-License-Identifier: MIT */
/*
 * stats: the counters, copied out.
 */
#include <string.h>
#include "core/sched.h"

/* What the hot paths need not count follows from what they do. */
static struct iosched_stats derive(const struct iosched *s)
{
	struct iosched_stats st = s->stats;

	st.dispatched = st.completed + s->env.inflight + st.requeued;
	st.dispatched -= s->flush.internal.state == IOS_RQ_ISSUED;
	st.completed += s->absorbed_completed;
	st.read_bytes = s->bytes[IOSCHED_READ];
	st.write_bytes = s->bytes[IOSCHED_WRITE];
	return st;
}

void iosched_stats_get(const struct iosched *s, struct iosched_stats *out, size_t size)
{
	struct iosched_stats st = derive(s);

	memset(out, 0, size);
	memcpy(out, &st, size < sizeof(st) ? size : sizeof(st));
	if (size >= sizeof(out->size))
		out->size = size;
}
