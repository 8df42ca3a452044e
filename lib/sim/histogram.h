/* SPDX-License-Identifier: MIT */
/*
 * Latency histogram: 32 buckets per octave, so 3.2 % wide; exact below 64 ns; the
 * last bucket takes all from 2^42 ns on. Sum and maximum are exact.
 */
#ifndef IOS_SIM_HISTOGRAM_H
#define IOS_SIM_HISTOGRAM_H

#include <stdint.h>

#define IOS_SIM_BUCKETS 1216

struct ios_sim_histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint32_t bucket[IOS_SIM_BUCKETS];
};

unsigned ios_sim_bucket_of(uint64_t ns);

/* The largest value of bucket @i. */
uint64_t ios_sim_bucket_edge(unsigned i);

void ios_sim_histogram_add(struct ios_sim_histogram *h, uint64_t ns);
void ios_sim_histogram_join(struct ios_sim_histogram *into, const struct ios_sim_histogram *h);

/* At least permyriad / 10000 of the values are at most this; never above max. */
uint64_t ios_sim_histogram_quantile(const struct ios_sim_histogram *h, unsigned permyriad);

#endif
