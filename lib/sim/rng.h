/* SPDX-License-Identifier: MIT */
/*
 * Random numbers of a run: xorshift64*, one generator per load, all seeded from
 * the run's seed. Loads that draw from their own generator see the same numbers
 * under every policy, so a comparison of policies compares policies.
 *
 * Source: S. Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2014.
 */
#ifndef IOS_SIM_RNG_H
#define IOS_SIM_RNG_H

#include <stdint.h>

struct ios_sim_rng {
	uint64_t state; /* never 0 */
};

/* Generator number @stream of a run seeded @seed. */
void ios_sim_rng_init(struct ios_sim_rng *r, uint64_t seed, uint64_t stream);

uint64_t ios_sim_rng_next(struct ios_sim_rng *r);

/* 0 .. limit - 1, equally likely but for a bias of limit / 2^64. */
uint64_t ios_sim_rng_below(struct ios_sim_rng *r, uint64_t limit);

/* Exponential with this mean. */
uint64_t ios_sim_rng_exponential(struct ios_sim_rng *r, uint64_t mean);

#endif
