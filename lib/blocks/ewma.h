/* SPDX-License-Identifier: MIT */
/*
 * ewma: decaying mean in fixed point, weight 7/8 for the past, scale 256.
 *
 * Used for think times and seek distances by anticipatory and both cfq. The three
 * integer floors are part of the kernel's answers. `samples` tends to 256; the
 * mean counts once it passes 80, which is after the third sample.
 */
#ifndef IOS_BLOCKS_EWMA_H
#define IOS_BLOCKS_EWMA_H

#include <stdbool.h>
#include <stdint.h>

struct ios_ewma {
	uint64_t samples, total, mean;
};

#define IOS_EWMA_VALID 80u

static inline bool ios_ewma_valid(const struct ios_ewma *e)
{
	return e->samples > IOS_EWMA_VALID;
}

static inline void ios_ewma_decay(struct ios_ewma *e, uint64_t x)
{
	e->samples = (7 * e->samples + 256) / 8;
	e->total = (7 * e->total + 256 * x) / 8;
}

/* A think time: the mean rounds at 128/256. */
static inline void ios_ewma_add(struct ios_ewma *e, uint64_t x)
{
	ios_ewma_decay(e, x);
	e->mean = (e->total + 128) / e->samples;
}

/* A seek distance: the mean rounds at half a sample. */
static inline void ios_ewma_add_seek(struct ios_ewma *e, uint64_t x)
{
	ios_ewma_decay(e, x);
	e->mean = (e->total + e->samples / 2) / e->samples;
}

#endif
