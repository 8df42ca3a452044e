/* SPDX-License-Identifier: MIT */
#include "sim/raid_ahead.h"

#include <errno.h>
#include <stdlib.h>

int ios_sim_ahead_init(struct ios_sim_ahead *a)
{
	if (a->slot_count == 0)
		return 0;
	a->slots = calloc(a->slot_count, sizeof(*a->slots));
	a->heads = calloc(a->slot_count, sizeof(*a->heads));
	return a->slots == NULL || a->heads == NULL ? -ENOMEM : 0;
}

void ios_sim_ahead_fini(struct ios_sim_ahead *a)
{
	free(a->slots);
	free(a->heads);
}

/* --- Streams --- */

static bool belongs(const struct ios_sim_ahead *a, const struct ios_sim_ahead_stream *s,
		    uint64_t offset)
{
	uint64_t away = offset > s->next ? offset - s->next : s->next - offset;

	return s->used != 0 && away <= a->chunk_bytes;
}

static struct ios_sim_ahead_stream *stream_of(struct ios_sim_ahead *a, uint64_t offset)
{
	struct ios_sim_ahead_stream *oldest = &a->streams[0];

	for (unsigned i = 0; i < a->stream_count; i++) {
		struct ios_sim_ahead_stream *s = &a->streams[i];

		if (belongs(a, s, offset)) {
			s->hits++;
			return s;
		}
		if (s->used < oldest->used)
			oldest = s;
	}
	*oldest = (struct ios_sim_ahead_stream){0};
	return oldest;
}

bool ios_sim_ahead_observe(struct ios_sim_ahead *a, uint64_t offset, uint64_t end, uint64_t *from,
			   uint64_t *to)
{
	struct ios_sim_ahead_stream *s;
	uint64_t next_chunk = (end + a->chunk_bytes - 1) / a->chunk_bytes;

	if (a->slot_count == 0 || a->stream_count == 0)
		return false;
	s = stream_of(a, offset);
	s->used = ++a->stamp;
	if (end > s->next)
		s->next = end;
	if (s->hits < a->hits_wanted)
		return false;
	*from = s->upto > next_chunk ? s->upto : next_chunk;
	*to = next_chunk + a->depth < a->chunks ? next_chunk + a->depth : a->chunks;
	if (*from >= *to)
		return false;
	s->upto = *to;
	return true;
}

/* --- The ring --- */

static uint32_t *head_of(const struct ios_sim_ahead *a, uint64_t chunk)
{
	return &a->heads[chunk % a->slot_count];
}

struct ios_sim_slot *ios_sim_ahead_find(const struct ios_sim_ahead *a, uint64_t chunk)
{
	if (a->slot_count == 0)
		return NULL;
	for (uint32_t i = *head_of(a, chunk); i != 0; i = a->slots[i - 1].chain)
		if (a->slots[i - 1].chunk == chunk && a->slots[i - 1].state != IOS_SIM_SLOT_STALE)
			return &a->slots[i - 1];
	return NULL;
}

static void unchain(struct ios_sim_ahead *a, struct ios_sim_slot *slot)
{
	uint32_t index = (uint32_t)(slot - a->slots) + 1;
	uint32_t *link = head_of(a, slot->chunk);

	while (*link != index)
		link = &a->slots[*link - 1].chain;
	*link = slot->chain;
}

static void empty(struct ios_sim_ahead *a, struct ios_sim_slot *slot)
{
	unchain(a, slot);
	slot->state = IOS_SIM_SLOT_EMPTY;
}

static bool on_its_way(const struct ios_sim_slot *slot)
{
	return slot->state == IOS_SIM_SLOT_COMING || slot->state == IOS_SIM_SLOT_STALE;
}

struct ios_sim_slot *ios_sim_ahead_reserve(struct ios_sim_ahead *a, uint64_t chunk)
{
	struct ios_sim_slot *slot = &a->slots[a->hand];

	if (ios_sim_ahead_find(a, chunk) != NULL || on_its_way(slot))
		return NULL;
	if (slot->state == IOS_SIM_SLOT_READY)
		empty(a, slot);
	*slot = (struct ios_sim_slot){
		.chunk = chunk, .state = IOS_SIM_SLOT_COMING, .chain = *head_of(a, chunk)};
	*head_of(a, chunk) = a->hand + 1;
	a->hand = (a->hand + 1) % a->slot_count;
	return slot;
}

struct ios_sim_part *ios_sim_ahead_arrived(struct ios_sim_ahead *a, struct ios_sim_slot *slot,
					   bool failed)
{
	struct ios_sim_part *first = NULL;

	while (slot->waiters != NULL) {
		struct ios_sim_part *part = slot->waiters;

		slot->waiters = part->next_free;
		part->next_free = first;
		first = part;
	}
	if (failed || slot->state == IOS_SIM_SLOT_STALE)
		empty(a, slot);
	else
		slot->state = IOS_SIM_SLOT_READY;
	return first;
}

static void spoil(struct ios_sim_ahead *a, struct ios_sim_slot *slot)
{
	if (slot->state == IOS_SIM_SLOT_READY)
		empty(a, slot);
	else if (slot->state == IOS_SIM_SLOT_COMING)
		slot->state = IOS_SIM_SLOT_STALE;
}

void ios_sim_ahead_forget(struct ios_sim_ahead *a, uint64_t from, uint64_t to)
{
	if (to - from < a->slot_count) {
		for (uint64_t c = from; c < to; c++) {
			struct ios_sim_slot *slot = ios_sim_ahead_find(a, c);

			if (slot != NULL)
				spoil(a, slot);
		}
		return;
	}
	for (uint32_t i = 0; i < a->slot_count; i++)
		if (a->slots[i].chunk >= from && a->slots[i].chunk < to)
			spoil(a, &a->slots[i]);
}
