/* SPDX-License-Identifier: MIT */
/*
 * The write-back cache of a drive: dirty extents that wait to be written to the medium.
 *
 * State: extents, disjoint, in order of sectors (`order`) and in order of age (a
 * list). Neighbours of one owner and one epoch are one extent, up to a size. The
 * epoch counts FLUSH commands: a FLUSH waits for the extents of its epoch and
 * earlier ones, so it ends even while a log writer goes on appending.
 */
#ifndef IOS_SIM_HDD_CACHE_H
#define IOS_SIM_HDD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/ledger.h"

/* Contiguous extents merge up to 4 MiB, and a cache keeps no more than 4000: bounds of the model,
 * so that its tables have a size; an 8 MiB cache of 4 KiB writes holds 2048. */
#define IOS_SIM_CACHE_EXTENTS 4000
#define IOS_SIM_CACHE_MERGE_SECTORS (4u * 1024 * 1024 / 512)

struct ios_sim_dirty {
	uint64_t start; /* sectors */
	uint64_t end;
	uint64_t context;
	uint64_t since; /* ns */
	uint64_t epoch;
	struct ios_sim_dirty *older;
	struct ios_sim_dirty *newer; /* also links the free ones */
};

struct ios_sim_cache {
	uint64_t sectors; /* capacity */
	uint64_t dirty;	  /* sectors in extents */
	uint64_t busy;	  /* sectors being written: they still take room */
	unsigned count;
	struct ios_sim_dirty *order[IOS_SIM_CACHE_EXTENTS];
	struct ios_sim_dirty *oldest;
	struct ios_sim_dirty *newest;
	struct ios_sim_dirty *unused;
	struct ios_sim_dirty pool[IOS_SIM_CACHE_EXTENTS];
};

void ios_sim_cache_init(struct ios_sim_cache *c, uint64_t sectors);

/* Would a write of so many sectors and owners fit now? */
bool ios_sim_cache_fits(const struct ios_sim_cache *c, uint64_t sectors, unsigned pieces);

/* [a, b) of the owners in @pieces (bytes) becomes dirty. It must fit. */
void ios_sim_cache_write(struct ios_sim_cache *c, uint64_t a, uint64_t b,
			 const struct ios_sim_piece *pieces, uint64_t now, uint64_t epoch);

/* [a, b) is no longer dirty: overwritten past the cache, or discarded. */
void ios_sim_cache_drop(struct ios_sim_cache *c, uint64_t a, uint64_t b);

/* Is all of [a, b) in the cache? */
bool ios_sim_cache_holds(const struct ios_sim_cache *c, uint64_t a, uint64_t b);

/* Index in `order` of the first extent that ends after @lba; count if none. */
unsigned ios_sim_cache_at(const struct ios_sim_cache *c, uint64_t lba);

/* Is an extent of this epoch or an earlier one left? */
bool ios_sim_cache_has_epoch(const struct ios_sim_cache *c, uint64_t epoch);

/* Take a contiguous run of at most @max sectors, from the start of order[i]. Fills pieces[]
 * (in bytes, linked) with the owners and @epoch with the least one in the run; returns the
 * run's sectors. The run counts as busy until ios_sim_cache_written(). */
#define IOS_SIM_RUN_PIECES 64
uint64_t ios_sim_cache_take(struct ios_sim_cache *c, unsigned i, uint64_t max,
			    struct ios_sim_piece pieces[IOS_SIM_RUN_PIECES], uint64_t *epoch);

void ios_sim_cache_written(struct ios_sim_cache *c, uint64_t sectors);

#endif
