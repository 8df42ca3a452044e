/* SPDX-License-Identifier: MIT */
/*
 * histogram: see histogram.h.
 */
#include "core/histogram.h"
#include "core/sched.h"

uint64_t iosched_histogram_edge(unsigned i)
{
	unsigned shift;

	if (i < 64)
		return i;
	if (i >= IOSCHED_HISTOGRAM_BUCKETS)
		return IOS_HISTOGRAM_MAX;
	shift = i / 32 - 1;
	return ((uint64_t)(i % 32 + 33) << shift) - 1;
}

const uint64_t *iosched_latency_histogram(const struct iosched *s, enum iosched_latency which)
{
	return s->latency[which];
}

uint64_t iosched_latency_quantile(const struct iosched *s, enum iosched_latency which,
				  unsigned permyriad)
{
	const uint64_t *count = s->latency[which];
	uint64_t total = 0, seen = 0, rank;
	unsigned i;

	for (i = 0; i < IOSCHED_HISTOGRAM_BUCKETS; i++)
		total += count[i];
	if (total == 0)
		return 0;
	if (permyriad > 10000)
		permyriad = 10000;
	/* The rank of the value asked for, 1..total, rounded up without overflow. */
	rank = total / 10000 * permyriad + (total % 10000 * permyriad + 9999) / 10000;
	if (rank == 0)
		rank = 1;
	for (i = 0; i < IOSCHED_HISTOGRAM_BUCKETS - 1; i++) {
		seen += count[i];
		if (seen >= rank)
			break;
	}
	return iosched_histogram_edge(i);
}
