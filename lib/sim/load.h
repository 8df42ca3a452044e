/* SPDX-License-Identifier: MIT */
/*
 * The loads of this library; each file makes one kind.
 */
#ifndef IOS_SIM_LOAD_H
#define IOS_SIM_LOAD_H

#include "sim/host.h"

/* A position in a region that several streams may advance together. */
struct ios_sim_cursor {
	uint32_t number; /* iosched_sim_stream::cursor */
	uint64_t region_offset;
	uint64_t region_length;
	uint64_t request_bytes;
	uint64_t stride_bytes; /* 0: request_bytes */
	uint64_t position;     /* from the region's start */
};

/* @s must have passed ios_sim_stream_check() for this device's capacity. @cursor is NULL or
 * outlives the load. Returns 0 or -ENOMEM. */
int ios_sim_stream_create(struct ios_sim_load **out, struct ios_sim_host *h,
			  const struct iosched_sim_stream *s, struct ios_sim_cursor *cursor,
			  uint64_t seed, unsigned index);

/* Both are streams: each request of one waits for a completion of the other. Returns 0 or
 * -ENOMEM. */
int ios_sim_stream_follow(struct ios_sim_load *follower, struct ios_sim_load *leader);

/* Returns 0, -EINVAL or -ERANGE with a sentence. */
int ios_sim_stream_check(const struct iosched_sim_stream *s, uint64_t capacity, unsigned index,
			 struct iosched_sim_error *why);

/* Counters of all replays of a run. */
struct ios_sim_replay_counts {
	uint64_t skipped;
	uint64_t folded;
	uint64_t unordered;
};

/* @counts outlives the load. Returns 0, -EINVAL with a sentence, -ENOMEM. */
int ios_sim_replay_create(struct ios_sim_load **out, struct ios_sim_host *h,
			  const struct iosched_sim_replay *r, struct ios_sim_replay_counts *counts,
			  unsigned index, struct iosched_sim_error *why);

#endif
