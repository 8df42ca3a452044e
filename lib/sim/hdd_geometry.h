/* SPDX-License-Identifier: MIT */
/*
 * Where sectors lie on a spinning disk, and how long it takes to get there.
 *
 * Zones of equal sector counts, fewer sectors per track further in. Skew is perfect: a
 * sequential transfer loses nothing at track ends. All is in sectors and ns.
 */
#ifndef IOS_SIM_HDD_GEOMETRY_H
#define IOS_SIM_HDD_GEOMETRY_H

#include <stdint.h>

#define IOS_SIM_SECTOR 512
#define IOS_SIM_MAX_ZONES 64

struct ios_sim_geometry {
	uint64_t sectors;
	uint64_t revolution_ns;
	uint64_t zone_count;
	uint64_t zone_sectors;
	uint64_t seek_track_ns; /* shortest seek with settling */
	uint64_t seek_third_ns; /* a third of the stroke: the average of random seeks */
	uint64_t seek_full_ns;
	uint64_t switch_ns; /* another head or a few tracks on */
	uint64_t per_track[IOS_SIM_MAX_ZONES];
};

struct ios_sim_geometry_params {
	uint64_t capacity_bytes;
	uint64_t rpm;
	uint64_t zones;
	uint64_t rate_outer; /* bytes/s of the first and of the last zone */
	uint64_t rate_inner;
	uint64_t seek_track_ns;
	uint64_t seek_third_ns;
	uint64_t seek_full_ns;
	uint64_t switch_ns;
};

/* 0: a track or a zone would hold less than one sector; else 1. */
int ios_sim_geometry_init(struct ios_sim_geometry *g, const struct ios_sim_geometry_params *p);

/* Moving the arm from sector @a to sector @b. */
uint64_t ios_sim_seek_ns(const struct ios_sim_geometry *g, uint64_t a, uint64_t b);

/* From being at sector @from at time @t until sector @to passes under the head. */
uint64_t ios_sim_position_ns(const struct ios_sim_geometry *g, uint64_t from, uint64_t to,
			     uint64_t t);

/* Time that @count sectors from @lba take to pass. */
uint64_t ios_sim_transfer_ns(const struct ios_sim_geometry *g, uint64_t lba, uint64_t count);

/* How many whole sectors from @lba on pass in @ns. */
uint64_t ios_sim_sectors_in(const struct ios_sim_geometry *g, uint64_t lba, uint64_t ns);

#endif
