/* SPDX-License-Identifier: MIT */
/*
 * The read-ahead segments of a drive: what lies in its buffer for reads.
 *
 * After a media read the head goes on reading into the same segment, in the background,
 * until `readahead` beyond the last hit or until the arm is needed. That segment is
 * the active one; how far it has got is computed from the time, not simulated.
 *
 * `delivered` marks how far a segment's data has been paid for by readers: reading
 * ahead costs nobody until somebody takes the data.
 */
#ifndef IOS_SIM_HDD_SEGMENTS_H
#define IOS_SIM_HDD_SEGMENTS_H

#include <stdbool.h>

#include "sim/hdd_geometry.h"

#define IOS_SIM_MAX_SEGMENTS 256

struct ios_sim_segment {
	uint64_t start; /* sectors; empty: start == end */
	uint64_t end;
	uint64_t delivered;
	uint64_t used; /* stamp of the last use */
};

struct ios_sim_segments {
	const struct ios_sim_geometry *geometry;
	uint64_t size;	    /* sectors a segment holds */
	uint64_t readahead; /* sectors beyond the last hit */
	unsigned count;
	uint64_t stamp;
	struct ios_sim_segment *active; /* NULL: the head reads nothing ahead */
	uint64_t base_lba;		/* the head was there ... */
	uint64_t base_ns;		/* ... then, reading */
	uint64_t limit;			/* and stops here */
	struct ios_sim_segment segment[IOS_SIM_MAX_SEGMENTS];
};

/* How far the active segment's reading has got at @now. */
uint64_t ios_sim_segments_reached(const struct ios_sim_segments *s, uint64_t now);

/* Does a segment hold all of [a, b)? Asking is not using. */
bool ios_sim_segments_hold(struct ios_sim_segments *s, uint64_t a, uint64_t b, uint64_t now);

/* The segment that holds all of [a, b), or NULL. */
struct ios_sim_segment *ios_sim_segments_find(struct ios_sim_segments *s, uint64_t a, uint64_t b,
					      uint64_t now);

/* The ended segment that holds @a but not all up to @b, or NULL. */
struct ios_sim_segment *ios_sim_segments_find_part(struct ios_sim_segments *s, uint64_t a);

/* Does [a, b) go on where the active segment is being read? */
bool ios_sim_segments_continues(const struct ios_sim_segments *s, uint64_t a, uint64_t b,
				uint64_t now);

/* Up to @b is wanted: read ahead from there. Only a move forward counts. */
void ios_sim_segments_extend(struct ios_sim_segments *s, uint64_t b, uint64_t now);

/* The head leaves: end the active segment where it is. Returns that place, or @head if
 * nothing was being read. */
uint64_t ios_sim_segments_freeze(struct ios_sim_segments *s, uint64_t head, uint64_t now);

/* A media read of [a, b) ended at @now: it becomes the active segment, replacing the
 * one unused for longest, or growing @grow. */
void ios_sim_segments_begin(struct ios_sim_segments *s, struct ios_sim_segment *grow, uint64_t a,
			    uint64_t b, uint64_t now);

/* [a, b) is written: what is held of it is stale. */
void ios_sim_segments_forget(struct ios_sim_segments *s, uint64_t a, uint64_t b, uint64_t now);

#endif
