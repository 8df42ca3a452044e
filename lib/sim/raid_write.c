/* SPDX-License-Identifier: MIT */
/*
 * raid, writing: copies on all mirrors, and the write-back cache.
 */
#include "sim/raid.h"

/* --- Writing to all mirrors --- */

static void destage_done(struct ios_sim_raid *r, uint64_t column, uint64_t sectors);

/* The leader keeps the count and the outcome, and is given back last. */
static void copy_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_part *leader = part->leader;
	struct ios_sim_command *cmd = leader->owner;
	struct ios_sim_raid *r = leader->home;

	if (error == 0)
		leader->result = 0;
	else if (leader->result > 0)
		leader->result = error;
	if (part != leader)
		ios_sim_part_give(&r->parts, part);
	if (--leader->tried > 0)
		return;
	ios_sim_part_give(&r->parts, leader);
	if (cmd != NULL)
		ios_sim_raid_release(r, cmd, leader->result);
	else
		destage_done(r, ios_sim_raid_column_of(r, leader),
			     leader->cmd.length / IOS_SIM_SECTOR);
}

static void write_copies(struct ios_sim_raid *r, uint64_t column, struct ios_sim_part *leader)
{
	struct ios_sim_member *members = &r->members[column * r->p.mirrors];
	const struct ios_sim_command *cmd = &leader->cmd;
	uint64_t end = cmd->offset + cmd->length;

	leader->home = r;
	leader->leader = leader;
	leader->tried = (unsigned)r->p.mirrors;
	leader->result = 1; /* no copy yet */
	leader->done = copy_done;
	for (uint64_t i = 1; i < r->p.mirrors; i++) {
		struct ios_sim_part *copy = ios_sim_part_take(&r->parts);

		if (copy == NULL || !ios_sim_part_own(&r->parts, copy, leader->pieces, cmd->offset,
						      end, cmd->offset))
			return;
		copy->cmd.offset = cmd->offset;
		copy->cmd.length = cmd->length;
		copy->cmd.op = IOSCHED_WRITE;
		copy->cmd.fua = cmd->fua;
		copy->leader = leader;
		copy->done = copy_done;
		ios_sim_member_submit(&members[i], copy);
	}
	ios_sim_member_submit(&members[0], leader);
}

/* What @cmd has on @column as one part; NULL: nothing, or no memory. */
static struct ios_sim_part *part_on(struct ios_sim_raid *r, struct ios_sim_command *cmd,
				    uint64_t column)
{
	uint64_t end = cmd->offset + cmd->length;
	struct ios_sim_part *part = NULL;

	for (uint64_t c = ios_sim_raid_chunk_on(r, cmd->offset, column); c * r->p.chunk < end;
	     c += r->column_count) {
		struct ios_sim_fragment f = ios_sim_raid_fragment_of(r, cmd, c);

		if (part == NULL)
			part = ios_sim_raid_begin_part(r, cmd, f.place);
		if (part == NULL || !ios_sim_raid_extend_part(r, part, cmd, &f))
			return NULL;
	}
	return part;
}

static void write_through(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	cmd->mark = 1;
	for (uint64_t i = 0; i < r->column_count; i++) {
		struct ios_sim_part *part = part_on(r, cmd, i);
		struct ios_sim_cache *cache = r->columns[i].cache;

		if (part == NULL)
			continue;
		if (cache != NULL)
			ios_sim_cache_drop(cache, part->cmd.offset / IOS_SIM_SECTOR,
					   (part->cmd.offset + part->cmd.length) / IOS_SIM_SECTOR);
		ios_sim_raid_hold(cmd);
		write_copies(r, i, part);
	}
	ios_sim_raid_release(r, cmd, 0);
}

/* --- The write cache --- */

static void destage(struct ios_sim_raid *r, uint64_t column)
{
	struct ios_sim_raid_column *c = &r->columns[column];
	struct ios_sim_piece pieces[IOS_SIM_RUN_PIECES];

	while (c->cache->count > 0 && c->destaging < r->p.destage_ops) {
		unsigned i = ios_sim_cache_at(c->cache, c->cache->oldest->start);
		uint64_t start = c->cache->order[i]->start * IOS_SIM_SECTOR;
		uint64_t epoch;
		uint64_t sectors = ios_sim_cache_take(
			c->cache, i, r->p.destage_size / IOS_SIM_SECTOR, pieces, &epoch);
		struct ios_sim_part *part = ios_sim_part_take(&r->parts);

		if (part == NULL || !ios_sim_part_own(&r->parts, part, pieces, start,
						      start + sectors * IOS_SIM_SECTOR, start))
			return;
		part->cmd.offset = start;
		part->cmd.length = sectors * IOS_SIM_SECTOR;
		part->cmd.op = IOSCHED_WRITE;
		part->owner = NULL;
		c->destaging++;
		r->device.stats.destages++;
		write_copies(r, column, part);
	}
}

static uint64_t cached_bytes(const struct ios_sim_raid *r)
{
	uint64_t sectors = 0;

	for (uint64_t i = 0; i < r->column_count; i++)
		sectors += r->columns[i].cache->dirty + r->columns[i].cache->busy;
	return sectors * IOS_SIM_SECTOR;
}

static unsigned pieces_of(const struct ios_sim_command *cmd)
{
	unsigned n = 0;

	for (const struct ios_sim_piece *p = cmd->pieces; p != NULL; p = p->next)
		n++;
	return n;
}

/* Could it ever lie in the cache? */
static bool cacheable(const struct ios_sim_raid *r, const struct ios_sim_command *cmd)
{
	return r->columns[0].cache != NULL && cmd->length <= r->p.write_cache / 2 &&
	       cmd->offset % IOS_SIM_SECTOR == 0 && cmd->length % IOS_SIM_SECTOR == 0 &&
	       pieces_of(cmd) < IOS_SIM_CACHE_EXTENTS / 2;
}

static bool fits(const struct ios_sim_raid *r, const struct ios_sim_command *cmd)
{
	if (cached_bytes(r) + cmd->length > r->p.write_cache)
		return false;
	for (uint64_t i = 0; i < r->column_count; i++)
		if (!ios_sim_cache_fits(r->columns[i].cache, 0, pieces_of(cmd)))
			return false;
	return true;
}

/* Every column that is not writing begins. */
static void destage_all(struct ios_sim_raid *r)
{
	for (uint64_t i = 0; i < r->column_count; i++)
		destage(r, i);
}

static void enter_cache(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	for (uint64_t i = 0; i < r->column_count; i++) {
		struct ios_sim_part *part = part_on(r, cmd, i);

		if (part == NULL)
			continue;
		ios_sim_cache_write(r->columns[i].cache, part->cmd.offset / IOS_SIM_SECTOR,
				    (part->cmd.offset + part->cmd.length) / IOS_SIM_SECTOR,
				    part->pieces, ios_sim_raid_now(r), 0);
		ios_sim_part_give(&r->parts, part);
	}
	r->device.stats.cached_writes++;
	cmd->mark = 0;
	ios_sim_raid_finish_at(r, cmd, ios_sim_raid_now(r));
	destage_all(r);
}

static void destage_done(struct ios_sim_raid *r, uint64_t column, uint64_t sectors)
{
	ios_sim_cache_written(r->columns[column].cache, sectors);
	r->columns[column].destaging--;
	while (r->blocked.head != NULL && fits(r, r->blocked.head))
		enter_cache(r, ios_sim_list_take(&r->blocked));
	destage(r, column);
}

static void write_arrives(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ios_sim_raid *r = (struct ios_sim_raid *)cmd->device;

	ios_sim_ahead_forget(&r->ahead, cmd->offset / r->p.chunk,
			     (cmd->offset + cmd->length - 1) / r->p.chunk + 1);
	if (!cacheable(r, cmd))
		write_through(r, cmd);
	else if (r->blocked.head != NULL || !fits(r, cmd))
		ios_sim_list_append(&r->blocked, cmd);
	else
		enter_cache(r, cmd);
}

void ios_sim_raid_write(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	ios_sim_event_init(&cmd->event, write_arrives, cmd);
	ios_sim_schedule(r->device.engine, &cmd->event, ios_sim_raid_over_link(r, cmd->length));
}
