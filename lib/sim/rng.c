/* SPDX-License-Identifier: MIT */
#include "sim/rng.h"

#include "sim/arith.h"

/* The multiplier of xorshift64*. */
#define STAR UINT64_C(0x2545F4914F6CDD1D)

/* SplitMix64 (Steele, Lea, Flood 2014): neighbouring seeds give unrelated states. */
static uint64_t splitmix(uint64_t x)
{
	x += UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

void ios_sim_rng_init(struct ios_sim_rng *r, uint64_t seed, uint64_t stream)
{
	r->state = splitmix(splitmix(seed) ^ stream);
	if (r->state == 0)
		r->state = STAR;
}

uint64_t ios_sim_rng_next(struct ios_sim_rng *r)
{
	uint64_t x = r->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * STAR;
}

uint64_t ios_sim_rng_below(struct ios_sim_rng *r, uint64_t limit)
{
	return (uint64_t)(((ios_sim_u128)ios_sim_rng_next(r) * limit) >> 64);
}

/* log2(x) in units of 2^-32, x > 0: the position of the top bit, then one
 * fraction bit per squaring. */
static uint64_t log2_q32(uint64_t x)
{
	unsigned top = 63u - (unsigned)__builtin_clzll(x);
	uint64_t mantissa = top >= 31 ? x >> (top - 31) : x << (31 - top); /* 1.0 = 2^31 */
	uint64_t fraction = 0;

	for (unsigned bit = 0; bit < 32; bit++) {
		mantissa = (mantissa * mantissa) >> 31;
		fraction <<= 1;
		if (mantissa >= UINT64_C(1) << 32) {
			mantissa >>= 1;
			fraction |= 1;
		}
	}
	return ((uint64_t)top << 32) | fraction;
}

uint64_t ios_sim_rng_exponential(struct ios_sim_rng *r, uint64_t mean)
{
	/* -ln(u) = (64 - log2(u * 2^64)) * ln 2; ln 2 in units of 2^-32. */
	const uint64_t ln2_q32 = UINT64_C(2977044472);
	uint64_t u = ios_sim_rng_next(r) | 1;
	uint64_t minus_log2 = (UINT64_C(64) << 32) - log2_q32(u);
	uint64_t minus_ln = (uint64_t)(((ios_sim_u128)minus_log2 * ln2_q32) >> 32);
	ios_sim_u128 drawn = ((ios_sim_u128)mean * minus_ln) >> 32;

	return drawn > UINT64_MAX ? UINT64_MAX : (uint64_t)drawn;
}
