/* SPDX-License-Identifier: MIT */
/*
 * Write-back of blocks that were changed here and there: a flusher that now and then hands over
 * all that was changed until then, in one burst.
 *
 * State: the changed blocks, of which the first `burst` are being written and of those `handed`
 * are in the queue, at most `depth` at a time. What is changed meanwhile waits for the next burst.
 *
 * Rule: nobody waits for these writes; a change that finds no room among `most` is not remembered.
 */
#ifndef IOS_SIM_SCATTER_H
#define IOS_SIM_SCATTER_H

#include "sim/program.h"

struct ios_sim_scatter {
	struct ios_sim_process flusher; /* first */
	uint64_t period;		/* ns between two bursts */
	uint64_t block_bytes;
	uint64_t most;	/* changed blocks that it remembers */
	uint64_t depth; /* writes outstanding */
	bool sorted;	/* a burst is in order of offsets, as a page cache's tree gives it */

	struct ios_sim_token write;
	uint64_t *changed; /* offsets */
	uint64_t changed_count;
	uint64_t handed;
	uint64_t burst;
	uint64_t outstanding;
};

/* Fill in up to `sorted`, and initialise the flusher, first. Returns 0 or -ENOMEM. */
int ios_sim_scatter_init(struct ios_sim_scatter *s);
void ios_sim_scatter_fini(struct ios_sim_scatter *s);
void ios_sim_scatter_start(struct ios_sim_scatter *s);

/* The block at @offset has been changed. */
void ios_sim_scatter_change(struct ios_sim_scatter *s, uint64_t offset);

#endif
