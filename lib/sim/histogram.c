/* SPDX-License-Identifier: MIT */
#include "sim/histogram.h"

#include "sim/arith.h"

#define SUB_BITS 5 /* 32 buckets per octave */

unsigned ios_sim_bucket_of(uint64_t ns)
{
	unsigned top;
	unsigned shift;
	uint64_t i;

	if (ns < (UINT64_C(1) << (SUB_BITS + 1)))
		return (unsigned)ns;
	top = 63u - (unsigned)__builtin_clzll(ns);
	shift = top - SUB_BITS;
	i = ((uint64_t)shift << SUB_BITS) + (ns >> shift);
	return i < IOS_SIM_BUCKETS ? (unsigned)i : IOS_SIM_BUCKETS - 1;
}

uint64_t ios_sim_bucket_edge(unsigned i)
{
	unsigned shift;
	uint64_t mantissa;

	if (i < (1u << (SUB_BITS + 1)))
		return i;
	if (i >= IOS_SIM_BUCKETS - 1)
		return UINT64_MAX;
	shift = (i >> SUB_BITS) - 1;
	mantissa = (i & ((1u << SUB_BITS) - 1)) + (1u << SUB_BITS);
	return ((mantissa + 1) << shift) - 1;
}

void ios_sim_histogram_add(struct ios_sim_histogram *h, uint64_t ns)
{
	h->count++;
	h->sum = ios_sim_add(h->sum, ns);
	if (ns > h->max)
		h->max = ns;
	h->bucket[ios_sim_bucket_of(ns)]++;
}

void ios_sim_histogram_join(struct ios_sim_histogram *into, const struct ios_sim_histogram *h)
{
	into->count += h->count;
	into->sum = ios_sim_add(into->sum, h->sum);
	if (h->max > into->max)
		into->max = h->max;
	for (unsigned i = 0; i < IOS_SIM_BUCKETS; i++)
		into->bucket[i] += h->bucket[i];
}

uint64_t ios_sim_histogram_quantile(const struct ios_sim_histogram *h, unsigned permyriad)
{
	uint64_t want = ios_sim_muldiv(h->count, permyriad, 10000);
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	if (want * 10000 < h->count * permyriad || want == 0)
		want++;
	for (unsigned i = 0; i < IOS_SIM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= want) {
			uint64_t edge = ios_sim_bucket_edge(i);

			return edge < h->max ? edge : h->max;
		}
	}
	return h->max;
}
