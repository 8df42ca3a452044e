/* SPDX-License-Identifier: MIT */
#include "sim/map.h"

#include <stdbool.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

void ios_sim_map_init(struct ios_sim_map *m)
{
	*m = (struct ios_sim_map){0};
}

void ios_sim_map_fini(struct ios_sim_map *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct ios_sim_map){0};
}

/* The slot that holds @key or the free one where it belongs. */
static size_t slot_of(const struct ios_sim_map *m, uint64_t key)
{
	size_t slot = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & m->mask;

	while (m->values[slot] != 0 && m->keys[slot] != key)
		slot = (slot + 1) & m->mask;
	return slot;
}

uint32_t ios_sim_map_find(const struct ios_sim_map *m, uint64_t key)
{
	if (m->count == 0)
		return IOS_SIM_MAP_NONE;
	return m->values[slot_of(m, key)] - 1; /* a free slot's 0 wraps to NONE */
}

static bool rehash(struct ios_sim_map *m, size_t slots)
{
	struct ios_sim_map bigger = {.mask = slots - 1, .count = m->count};

	bigger.keys = calloc(slots, sizeof(*bigger.keys));
	bigger.values = calloc(slots, sizeof(*bigger.values));
	if (bigger.keys == NULL || bigger.values == NULL) {
		ios_sim_map_fini(&bigger);
		return false;
	}
	for (size_t i = 0; m->keys != NULL && i <= m->mask; i++) {
		if (m->values[i] != 0) {
			size_t slot = slot_of(&bigger, m->keys[i]);

			bigger.keys[slot] = m->keys[i];
			bigger.values[slot] = m->values[i];
		}
	}
	free(m->keys);
	free(m->values);
	*m = bigger;
	return true;
}

uint32_t ios_sim_map_get(struct ios_sim_map *m, uint64_t key)
{
	uint32_t found = ios_sim_map_find(m, key);
	size_t slots = m->keys == NULL ? 0 : m->mask + 1;
	size_t slot;

	if (found != IOS_SIM_MAP_NONE)
		return found;
	if (((size_t)m->count + 1) * 2 > slots && !rehash(m, slots == 0 ? FIRST_SLOTS : slots * 2))
		return IOS_SIM_MAP_NONE;
	slot = slot_of(m, key);
	m->keys[slot] = key;
	m->values[slot] = ++m->count;
	return m->count - 1;
}
