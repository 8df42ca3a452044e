/* SPDX-License-Identifier: MIT */
/*
 * Write-back of a file that is written from its start on: a flusher, and writers that it holds up.
 *
 * State: bytes dirtied, handed to the queue, and safe. The flusher works from `high` dirty bytes
 * down to `low`, with at most `depth` writes outstanding, as many as a queue of Linux 2.6
 * takes. A writer that finds `limit` dirty sleeps until a `chunk` of it is safe.
 *
 * Rule: dirty is what is not yet on the device, handed over or not.
 */
#ifndef IOS_SIM_WRITEBACK_H
#define IOS_SIM_WRITEBACK_H

#include "sim/program.h"

struct ios_sim_write;

struct ios_sim_writeback {
	struct ios_sim_process flusher;
	uint64_t offset; /* of the file on the device, bytes */
	uint64_t high;
	uint64_t low;
	uint64_t limit;
	uint64_t chunk;
	uint64_t write_bytes; /* of one write */
	uint32_t depth;

	uint64_t dirtied; /* since the start, bytes */
	uint64_t handed;
	uint64_t safe;
	uint32_t outstanding;
	bool working;
	struct ios_sim_process *sleepers;
	struct ios_sim_write *writes;
	struct ios_sim_write *spare;
};

/* Fill in up to `depth`, and initialise the flusher, first. Returns 0 or -ENOMEM. */
int ios_sim_writeback_init(struct ios_sim_writeback *w);
void ios_sim_writeback_fini(struct ios_sim_writeback *w);

/* The next @bytes of the file are dirty now. */
void ios_sim_writeback_dirty(struct ios_sim_writeback *w, uint64_t bytes);

/* Must a writer sleep? */
bool ios_sim_writeback_full(const struct ios_sim_writeback *w);

/* @p sleeps until there is room, and goes on at @go. */
void ios_sim_writeback_sleep(struct ios_sim_writeback *w, struct ios_sim_process *p,
			     void (*go)(struct ios_sim_process *p));

#endif
