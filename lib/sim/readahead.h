/* SPDX-License-Identifier: MIT */
/*
 * Read-ahead of Linux 2.6.28 to 2.6.38 for one opened file: which window to read when a
 * page is missing, or when a reader steps on the mark in a page already read.
 *
 * State: the last window [start, start + size), of which the last `async` pages are ahead of
 * the mark; `previous`, the page read last.
 *
 * Rule: the answer depends on the request and on this state only. Threads that share
 * a file share the state, or work on stale copies of it: nfsd does.
 *
 * Source: Wu Fengguang et al., "On the design of a new Linux readahead framework", 2008.
 */
#ifndef IOS_SIM_READAHEAD_H
#define IOS_SIM_READAHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct ios_sim_readahead {
	uint64_t start; /* pages */
	uint64_t size;
	uint64_t async;
	uint64_t previous;
};

struct ios_sim_window {
	uint64_t first;
	uint64_t pages;
	uint64_t mark; /* page that gets it; not below first + pages: none */
};

/* Page @at of a request with @want pages still to read is missing. */
struct ios_sim_window ios_sim_readahead_missing(struct ios_sim_readahead *ra, uint64_t at,
						uint64_t want, uint64_t max);

/* The reader has stepped on a mark at page @at; @hole is the first page behind it that is not
 * there. */
struct ios_sim_window ios_sim_readahead_marked(struct ios_sim_readahead *ra, uint64_t at,
					       uint64_t want, uint64_t max, uint64_t hole);

#endif
