/* SPDX-License-Identifier: MIT */
/*
 * From a 64-bit number to a dense index 0, 1, 2 ... in order of first use.
 * Open addressing, linear probing, at most half full.
 */
#ifndef IOS_SIM_MAP_H
#define IOS_SIM_MAP_H

#include <stddef.h>
#include <stdint.h>

struct ios_sim_map {
	uint64_t *keys;	  /* per slot */
	uint32_t *values; /* per slot: index + 1, 0 = free */
	size_t mask;	  /* slots - 1 */
	uint32_t count;
};

#define IOS_SIM_MAP_NONE UINT32_MAX

void ios_sim_map_init(struct ios_sim_map *m);
void ios_sim_map_fini(struct ios_sim_map *m);

/* The index of @key, or IOS_SIM_MAP_NONE. */
uint32_t ios_sim_map_find(const struct ios_sim_map *m, uint64_t key);

/* The index of @key, which is count - 1 afterwards if it was new; IOS_SIM_MAP_NONE: no memory. */
uint32_t ios_sim_map_get(struct ios_sim_map *m, uint64_t key);

#endif
