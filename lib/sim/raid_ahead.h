/* SPDX-License-Identifier: MIT */
/*
 * The adaptive read-ahead of an array's controller: who reads in sequence, and what has been
 * read for them.
 *
 * Streams are found by their reads: one that begins where another ended, or up to a
 * chunk away, belongs to it. After `hits` such reads the chunks before the stream are read.
 *
 * Chunks lie in a ring: a new one replaces the oldest. A chunk is found by its number, through
 * hash chains. One that is on its way has a list of those who wait for it.
 */
#ifndef IOS_SIM_RAID_AHEAD_H
#define IOS_SIM_RAID_AHEAD_H

#include "sim/member.h"

#define IOS_SIM_AHEAD_STREAMS 64

enum ios_sim_slot_state {
	IOS_SIM_SLOT_EMPTY,
	IOS_SIM_SLOT_COMING,
	IOS_SIM_SLOT_STALE, /* coming, but overwritten since: of use to nobody who asks now */
	IOS_SIM_SLOT_READY,
};

struct ios_sim_slot {
	uint64_t chunk;
	enum ios_sim_slot_state state;
	uint32_t chain;		      /* next in the hash chain + 1; 0 = last */
	struct ios_sim_part *waiters; /* by next_free, newest first */
};

struct ios_sim_ahead_stream {
	uint64_t next; /* where its last read ended, bytes */
	uint64_t upto; /* chunks before this one have been asked for */
	uint64_t hits;
	uint64_t used; /* stamp; 0 = none */
};

struct ios_sim_ahead {
	uint64_t chunk_bytes;
	uint64_t chunks; /* of the whole array */
	uint64_t depth;	 /* chunks read ahead */
	uint64_t hits_wanted;
	uint64_t stamp;
	unsigned stream_count;
	struct ios_sim_ahead_stream streams[IOS_SIM_AHEAD_STREAMS];
	uint32_t slot_count; /* 0: no read-ahead */
	uint32_t hand;
	struct ios_sim_slot *slots;
	uint32_t *heads; /* of hash chains: slot + 1 */
};

/* With its settings filled in. Returns 0 or -ENOMEM. */
int ios_sim_ahead_init(struct ios_sim_ahead *a);
void ios_sim_ahead_fini(struct ios_sim_ahead *a);

/* A read of [offset, end) has come. [*from, *to) are the chunks to read ahead; returns
 * whether there are any. */
bool ios_sim_ahead_observe(struct ios_sim_ahead *a, uint64_t offset, uint64_t end, uint64_t *from,
			   uint64_t *to);

/* The slot of @chunk if it is ready or coming, or NULL. */
struct ios_sim_slot *ios_sim_ahead_find(const struct ios_sim_ahead *a, uint64_t chunk);

/* A slot for @chunk, which is coming now. NULL: it has one, or the ring is full of coming ones. */
struct ios_sim_slot *ios_sim_ahead_reserve(struct ios_sim_ahead *a, uint64_t chunk);

/* The chunk of @slot has come, or @failed to. Returns who waited, oldest first, by next_free. */
struct ios_sim_part *ios_sim_ahead_arrived(struct ios_sim_ahead *a, struct ios_sim_slot *slot,
					   bool failed);

/* Chunks [from, to) are written: what is held of them is stale. */
void ios_sim_ahead_forget(struct ios_sim_ahead *a, uint64_t from, uint64_t to);

#endif
