/* SPDX-License-Identifier: MIT */
#include "sim/readahead.h"

static uint64_t power_of_two_from(uint64_t n)
{
	uint64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static uint64_t at_most(uint64_t n, uint64_t max)
{
	return n < max ? n : max;
}

static uint64_t first_size(uint64_t want, uint64_t max)
{
	uint64_t size = power_of_two_from(want);

	if (size <= max / 32)
		return size * 4;
	if (size <= max / 4)
		return size * 2;
	return max;
}

static uint64_t next_size(uint64_t size, uint64_t max)
{
	return at_most(size < max / 16 ? 4 * size : 2 * size, max);
}

static struct ios_sim_window window_of(const struct ios_sim_readahead *ra)
{
	return (struct ios_sim_window){ra->start, ra->size, ra->start + ra->size - ra->async};
}

/* The reader is where the last window said it would be. */
static bool as_expected(const struct ios_sim_readahead *ra, uint64_t at)
{
	return at != 0 && (at == ra->start + ra->size - ra->async || at == ra->start + ra->size);
}

static struct ios_sim_window go_on(struct ios_sim_readahead *ra, uint64_t max)
{
	ra->start += ra->size;
	ra->size = next_size(ra->size, max);
	ra->async = ra->size;
	return window_of(ra);
}

struct ios_sim_window ios_sim_readahead_missing(struct ios_sim_readahead *ra, uint64_t at,
						uint64_t want, uint64_t max)
{
	if (as_expected(ra, at))
		return go_on(ra, max);
	if (at != 0 && at - ra->previous > 1 && want <= max)
		return (struct ios_sim_window){at, want, UINT64_MAX}; /* random */
	ra->start = at;
	ra->size = first_size(want, max);
	ra->async = ra->size > want ? ra->size - want : ra->size;
	return window_of(ra);
}

struct ios_sim_window ios_sim_readahead_marked(struct ios_sim_readahead *ra, uint64_t at,
					       uint64_t want, uint64_t max, uint64_t hole)
{
	if (as_expected(ra, at))
		return go_on(ra, max);
	if (hole - at > max)
		return (struct ios_sim_window){at, 0, UINT64_MAX};
	ra->start = hole;
	ra->size = next_size(hole - at + want, max);
	ra->async = ra->size;
	return window_of(ra);
}
