/* SPDX-License-Identifier: MIT */
/*
 * 64-bit digest of a run. Fed with numbers, not with memory, so byte order and
 * padding play no part. It tells runs apart; it does not resist an adversary.
 */
#ifndef IOS_SIM_DIGEST_H
#define IOS_SIM_DIGEST_H

#include <stdint.h>

/* FNV-1a's offset basis: any value would do, but not 0. */
#define IOS_SIM_DIGEST_START UINT64_C(0xcbf29ce484222325)

/* One round of a multiply-and-fold mixer; the odd constant is 2^64 / golden ratio. */
static inline uint64_t ios_sim_digest_add(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return digest ^ (digest >> 32);
}

#endif
