/* SPDX-License-Identifier: MIT */
#include "sim/hdd_geometry.h"

#include "sim/arith.h"

/* Within so many tracks the arm need not move far enough to be called a seek. */
#define NEAR_TRACKS 4

int ios_sim_geometry_init(struct ios_sim_geometry *g, const struct ios_sim_geometry_params *p)
{
	*g = (struct ios_sim_geometry){
		.sectors = p->capacity_bytes / IOS_SIM_SECTOR,
		.revolution_ns = 60 * NSEC_PER_SEC / p->rpm,
		.zone_count = p->zones,
		.seek_track_ns = p->seek_track_ns,
		.seek_third_ns = p->seek_third_ns,
		.seek_full_ns = p->seek_full_ns,
		.switch_ns = p->switch_ns,
	};
	g->zone_sectors = (g->sectors + g->zone_count - 1) / g->zone_count;
	for (uint64_t z = 0; z < g->zone_count; z++) {
		uint64_t steps = g->zone_count > 1 ? g->zone_count - 1 : 1;
		uint64_t rate =
			p->rate_outer - ios_sim_muldiv(p->rate_outer - p->rate_inner, z, steps);

		/* To the nearest sector: half a sector is added before the division. */
		g->per_track[z] = (ios_sim_muldiv(rate, g->revolution_ns, NSEC_PER_SEC) +
				   IOS_SIM_SECTOR / 2) /
				  IOS_SIM_SECTOR;
		if (g->per_track[z] == 0)
			return 0;
	}
	return g->zone_sectors > 0;
}

static uint64_t zone_of(const struct ios_sim_geometry *g, uint64_t lba)
{
	uint64_t z = lba / g->zone_sectors;

	return z < g->zone_count ? z : g->zone_count - 1;
}

/* When, within a revolution, the start of @lba passes. */
static uint64_t angle_ns(const struct ios_sim_geometry *g, uint64_t lba)
{
	uint64_t z = zone_of(g, lba);
	uint64_t in_track = (lba - z * g->zone_sectors) % g->per_track[z];

	return in_track * g->revolution_ns / g->per_track[z];
}

/* t1 + (tavg - t1) * sqrt(3x) up to a third of the stroke, then linear to the full one. */
static uint64_t long_seek_ns(const struct ios_sim_geometry *g, uint64_t distance)
{
	uint64_t third = g->sectors / 3;

	if (distance < third) {
		/* sqrt(3x) in units of 2^-20 */
		uint64_t ratio = (uint64_t)(((ios_sim_u128)distance << 40) / third);

		return g->seek_track_ns +
		       (((g->seek_third_ns - g->seek_track_ns) * ios_sim_isqrt(ratio)) >> 20);
	}
	return g->seek_third_ns + ios_sim_muldiv(g->seek_full_ns - g->seek_third_ns,
						 distance - third, g->sectors - third);
}

uint64_t ios_sim_seek_ns(const struct ios_sim_geometry *g, uint64_t a, uint64_t b)
{
	uint64_t distance = a > b ? a - b : b - a;
	uint64_t track = g->per_track[zone_of(g, a)];

	if (distance * 2 < track)
		return 0;
	if (distance < NEAR_TRACKS * track)
		return g->switch_ns;
	return long_seek_ns(g, distance);
}

uint64_t ios_sim_position_ns(const struct ios_sim_geometry *g, uint64_t from, uint64_t to,
			     uint64_t t)
{
	uint64_t seek = ios_sim_seek_ns(g, from, to);
	uint64_t platter = (t + seek) % g->revolution_ns;
	uint64_t wanted = angle_ns(g, to);
	uint64_t turn = (wanted + g->revolution_ns - platter) % g->revolution_ns;

	/* Angles are rounded to ns, so the next sector may seem to have just passed: the
	 * last 1/2000 of a turn counts as none. */
	if (turn * 2000 > g->revolution_ns * 1999)
		turn = 0;
	return seek + turn;
}

uint64_t ios_sim_transfer_ns(const struct ios_sim_geometry *g, uint64_t lba, uint64_t count)
{
	uint64_t ns = 0;

	while (count > 0) {
		uint64_t z = zone_of(g, lba);
		uint64_t left = (z + 1) * g->zone_sectors - lba;
		uint64_t here = count < left || z == g->zone_count - 1 ? count : left;

		ns += here * g->revolution_ns / g->per_track[z];
		lba += here;
		count -= here;
	}
	return ns;
}

uint64_t ios_sim_sectors_in(const struct ios_sim_geometry *g, uint64_t lba, uint64_t ns)
{
	uint64_t passed = 0;

	for (;;) {
		uint64_t z = zone_of(g, lba);
		uint64_t here = ios_sim_muldiv(ns, g->per_track[z], g->revolution_ns);
		uint64_t left = (z + 1) * g->zone_sectors - lba;

		if (here < left || z == g->zone_count - 1)
			return passed + here;
		ns -= left * g->revolution_ns / g->per_track[z];
		passed += left;
		lba += left;
	}
}
