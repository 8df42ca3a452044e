/* SPDX-License-Identifier: MIT */
/*
 * histogram: latencies in log-linear buckets, 32 per octave.
 *
 * Values below 64 ns have a bucket each; above, a value's six leading bits choose it.
 */
#ifndef IOS_CORE_HISTOGRAM_H
#define IOS_CORE_HISTOGRAM_H

#include <iosched/iosched.h>

/* 2^42 ns, 73 minutes: longer than any request a host would wait for. */
#define IOS_HISTOGRAM_MAX ((UINT64_C(1) << 42) - 1)

static inline unsigned ios_histogram_bucket(uint64_t ns)
{
	unsigned shift;

	if (ns > IOS_HISTOGRAM_MAX)
		ns = IOS_HISTOGRAM_MAX;
	shift = 58u - (unsigned)__builtin_clzll(ns | 32);
	return (shift << 5) + (unsigned)(ns >> shift);
}

#endif
