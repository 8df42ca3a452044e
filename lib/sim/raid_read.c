/* SPDX-License-Identifier: MIT */
/*
 * raid, reading: which mirror, what the controller has already, and reading ahead.
 */
#include "sim/raid.h"

/* --- Mirrors --- */

/* How a mirror compares: less is better, earlier members first. */
struct rank {
	bool far;
	uint32_t load;
	uint64_t distance;
};

static bool better(const struct rank *a, const struct rank *b)
{
	if (a->far != b->far)
		return b->far;
	if (a->load != b->load)
		return a->load < b->load;
	return a->distance < b->distance;
}

static struct rank rank_of(const struct ios_sim_raid *r, const struct ios_sim_member *m,
			   uint64_t place, bool seen, const struct ios_sim_look *look)
{
	uint64_t distance = place > look->head ? place - look->head : look->head - place;

	if (!seen)
		return (struct rank){true, ios_sim_member_load(m), 0};
	return (struct rank){distance > r->p.near, ios_sim_member_load(m), distance};
}

/* The mirror to read from, among those not tried yet. */
static unsigned choose_mirror(struct ios_sim_raid *r, uint64_t column,
			      const struct ios_sim_part *part)
{
	struct rank best_rank = {true, UINT32_MAX, UINT64_MAX};
	unsigned best = 0;

	for (unsigned i = 0; i < r->p.mirrors; i++) {
		struct ios_sim_member *m = &r->members[column * r->p.mirrors + i];
		const struct ios_sim_model *model = m->device->model;
		struct ios_sim_look look = {0};
		struct rank rank;
		bool seen;

		if ((part->tried >> i & 1) != 0)
			continue;
		seen = model->look != NULL &&
		       model->look(m->device, part->cmd.offset, part->cmd.length, &look);
		if (seen && look.held)
			return i;
		rank = rank_of(r, m, part->cmd.offset, seen, &look);
		if (better(&rank, &best_rank)) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

static void send_read(struct ios_sim_raid *r, uint64_t column, struct ios_sim_part *part)
{
	unsigned mirror = choose_mirror(r, column, part);

	part->tried |= 1u << mirror;
	ios_sim_member_submit(&r->members[column * r->p.mirrors + mirror], part);
}

/* A failed read goes to a mirror that has not been asked. */
static bool try_another(struct ios_sim_raid *r, struct ios_sim_part *part)
{
	if (part->tried == (1u << r->p.mirrors) - 1)
		return false;
	send_read(r, ios_sim_raid_column_of(r, part), part);
	return true;
}

static void read_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct ios_sim_raid *r = (struct ios_sim_raid *)cmd->device;

	if (error != 0 && try_another(r, part))
		return;
	ios_sim_part_give(&r->parts, part);
	ios_sim_raid_release(r, cmd, error);
}

/* --- Parts --- */

static void wait_for(struct ios_sim_raid *r, struct ios_sim_command *cmd, struct ios_sim_slot *slot,
		     const struct ios_sim_fragment *f)
{
	struct ios_sim_part *part = ios_sim_raid_begin_part(r, cmd, f->place);

	if (part == NULL || !ios_sim_raid_extend_part(r, part, cmd, f))
		return;
	part->done = read_done;
	part->next_free = slot->waiters;
	slot->waiters = part;
	ios_sim_raid_hold(cmd);
}

/* Does the controller have it, or will it? */
static bool controller_has(struct ios_sim_raid *r, struct ios_sim_command *cmd, uint64_t column,
			   uint64_t chunk, const struct ios_sim_fragment *f)
{
	const struct ios_sim_cache *cache = r->columns[column].cache;
	struct ios_sim_slot *slot = ios_sim_ahead_find(&r->ahead, chunk);

	if (cache != NULL && ios_sim_cache_holds(cache, f->place / IOS_SIM_SECTOR,
						 (f->place + f->to - f->from) / IOS_SIM_SECTOR))
		return true;
	if (slot != NULL && slot->state == IOS_SIM_SLOT_COMING)
		wait_for(r, cmd, slot, f);
	return slot != NULL;
}

static void send_part_of(struct ios_sim_raid *r, struct ios_sim_command *cmd, uint64_t column,
			 struct ios_sim_part *part)
{
	if (part == NULL)
		return;
	part->done = read_done;
	ios_sim_raid_hold(cmd);
	send_read(r, column, part);
}

/* Read what @cmd wants of one column: in as few parts as what the controller has allows. */
static void read_column(struct ios_sim_raid *r, struct ios_sim_command *cmd, uint64_t column)
{
	uint64_t end = cmd->offset + cmd->length;
	struct ios_sim_part *part = NULL;

	for (uint64_t c = ios_sim_raid_chunk_on(r, cmd->offset, column); c * r->p.chunk < end;
	     c += r->column_count) {
		struct ios_sim_fragment f = ios_sim_raid_fragment_of(r, cmd, c);

		if (controller_has(r, cmd, column, c, &f)) {
			send_part_of(r, cmd, column, part);
			part = NULL;
			continue;
		}
		if (part == NULL)
			part = ios_sim_raid_begin_part(r, cmd, f.place);
		if (part == NULL || !ios_sim_raid_extend_part(r, part, cmd, &f))
			return;
	}
	send_part_of(r, cmd, column, part);
}

/* --- Read-ahead --- */

static void chunk_arrived(struct ios_sim_part *part, int error)
{
	struct ios_sim_raid *r = part->home;
	struct ios_sim_slot *slot = &r->ahead.slots[part->tag];
	uint64_t column = ios_sim_raid_column_of(r, part);
	struct ios_sim_part *waiter;

	if (error != 0 && try_another(r, part))
		return;
	waiter = ios_sim_ahead_arrived(&r->ahead, slot, error != 0);
	ios_sim_part_give(&r->parts, part);
	while (waiter != NULL) {
		struct ios_sim_part *next = waiter->next_free;

		if (error != 0) {
			send_read(r, column, waiter);
		} else {
			struct ios_sim_command *cmd = waiter->owner;

			ios_sim_part_give(&r->parts, waiter);
			ios_sim_raid_release(r, cmd, 0);
		}
		waiter = next;
	}
}

/* For the reader who made it worth while: it pays. */
static void read_chunk_ahead(struct ios_sim_raid *r, uint64_t chunk, uint64_t context)
{
	struct ios_sim_slot *slot = ios_sim_ahead_reserve(&r->ahead, chunk);
	uint64_t place = ios_sim_raid_place_of(r, chunk * r->p.chunk);
	struct ios_sim_piece piece = {place, r->p.chunk, context, NULL};
	struct ios_sim_part *part;

	if (slot == NULL)
		return;
	part = ios_sim_part_take(&r->parts);
	if (part == NULL ||
	    !ios_sim_part_own(&r->parts, part, &piece, place, place + r->p.chunk, place))
		return;
	part->cmd.offset = place;
	part->cmd.length = r->p.chunk;
	part->cmd.op = IOSCHED_READ;
	part->home = r;
	part->tag = (uint64_t)(slot - r->ahead.slots);
	part->done = chunk_arrived;
	send_read(r, chunk % r->column_count, part);
}

static void read_ahead(struct ios_sim_raid *r, const struct ios_sim_command *cmd)
{
	uint64_t from, to;

	if (!ios_sim_ahead_observe(&r->ahead, cmd->offset, cmd->offset + cmd->length, &from, &to))
		return;
	for (uint64_t chunk = from; chunk < to; chunk++)
		read_chunk_ahead(r, chunk, cmd->pieces->context);
}

void ios_sim_raid_read(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	cmd->mark = 1; /* held until all its parts are known */
	for (uint64_t i = 0; i < r->column_count; i++)
		read_column(r, cmd, i);
	if (cmd->mark == 1)
		r->device.stats.read_hits++;
	ios_sim_raid_release(r, cmd, 0);
	read_ahead(r, cmd);
}
