/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic the models share: products that pass 64 bits, and roots.
 * Floating point would round differently under other compilers and flags, and
 * two runs would no longer be one.
 */
#ifndef IOS_SIM_ARITH_H
#define IOS_SIM_ARITH_H

#include <stdint.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

/* Both compilers the project supports have it; ISO C has not. */
__extension__ typedef unsigned __int128 ios_sim_u128;

/* a * b / c, rounded down; the result must fit. */
static inline uint64_t ios_sim_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t product;

	if (!__builtin_mul_overflow(a, b, &product))
		return product / c;
	return (uint64_t)((ios_sim_u128)a * b / c);
}

/* The largest r with r * r <= x. */
static inline uint64_t ios_sim_isqrt(uint64_t x)
{
	uint64_t root = 0;
	uint64_t bit = UINT64_C(1) << 62;

	while (bit > x)
		bit >>= 2;
	for (; bit != 0; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

/* Sums of times stop at the end of time instead of wrapping past it. */
static inline uint64_t ios_sim_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum < a ? UINT64_MAX : sum;
}

#endif
