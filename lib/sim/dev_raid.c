/* SPDX-License-Identifier: MIT */
/*
 * raid: disks behind a controller. Chunks go round the columns; a column is one disk, or
 * several that mirror each other. The controller has a link to the host, adaptive read-ahead
 * (raid_ahead.h) and a write-back cache that survives a power cut.
 *
 * Chunk k is on column k mod n at chunk k / n of it. So an extent of the array is at
 * most one extent on each column. Offsets on a column are called places.
 *
 * Reads come from the cache, the read-ahead, or one mirror: the one that has the data in its
 * buffer, else whose head is near, else with fewer commands, else with the nearer head. A read
 * that fails is tried on the others.
 *
 * Writes are done when in the cache; without room they wait, holding their place in the
 * depth. Each column writes its oldest data first, together with what follows it on the
 * disk, to all its mirrors. Without a cache a write is done when it is on all mirrors.
 * One of them is enough for it to have succeeded.
 *
 * State of a command: `mark` counts the parts it waits for, and keeps the first error. A
 * write that waits for room is on `blocked`.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/hdd_cache.h"
#include "sim/hdd_geometry.h"
#include "sim/raid_ahead.h"

#define MAX_DISKS 64

struct raid_params {
	uint64_t disks;
	uint64_t mirrors;
	uint64_t chunk;
	uint64_t depth;
	uint64_t link_rate;
	uint64_t overhead;
	uint64_t near;
	uint64_t ahead_streams;
	uint64_t ahead_hits;
	uint64_t ahead_chunks;
	uint64_t ahead_ring;
	uint64_t write_cache;
	uint64_t destage_size;
	uint64_t destage_ops;
	uint64_t flush_time;
};

struct column {
	struct ios_sim_cache *cache; /* NULL: off */
	unsigned destaging;	     /* operations under way */
};

struct raid {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct raid_params p;
	uint64_t column_count;
	uint64_t column_bytes;
	struct ios_sim_ahead ahead;
	struct ios_sim_parts parts;
	struct ios_sim_command_list blocked;
	iosched_time link_free;
	struct column columns[MAX_DISKS];
	struct ios_sim_member members[MAX_DISKS]; /* column by column */
};

#define MEMBER(name) offsetof(struct raid_params, name)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Initial values: a controller of 2009 with 512 MiB to 1 GiB and a battery. Of its memory the write
 * cache has what matters in a steady state, and the read-ahead the rest. */
static const struct ios_sim_param params[] = {
	{"disks", IOS_SIM_UNIT_NONE, 1, MAX_DISKS, 12, MEMBER(disks), "how many members"},
	{"mirrors", IOS_SIM_UNIT_NONE, 1, 4, 2, MEMBER(mirrors), "copies of the data; 1 = stripe"},
	{"chunk", IOS_SIM_UNIT_BYTES, 4 * KIB, UINT64_C(1) << 30, 64 * KIB, MEMBER(chunk),
	 "bytes on one column before the next"},
	{"depth", IOS_SIM_UNIT_NONE, 1, 65536, 128, MEMBER(depth), "commands it takes at once"},
	{"link_rate", IOS_SIM_UNIT_RATE, 100000, UINT64_C(1000000000000), UINT64_C(5000000000),
	 MEMBER(link_rate), "rate of the link to the host"},
	{"overhead", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 25000, MEMBER(overhead),
	 "time the controller adds to a command"},
	{"near", IOS_SIM_UNIT_BYTES, 0, UINT64_C(1) << 50, 2 * MIB, MEMBER(near),
	 "a mirror whose head is so close is preferred"},
	{"ahead_streams", IOS_SIM_UNIT_NONE, 0, IOS_SIM_AHEAD_STREAMS, 8, MEMBER(ahead_streams),
	 "sequential readers it can follow; 0 = no read-ahead"},
	{"ahead_hits", IOS_SIM_UNIT_NONE, 1, 1000, 2, MEMBER(ahead_hits),
	 "reads in sequence before it reads ahead"},
	{"ahead_chunks", IOS_SIM_UNIT_NONE, 0, 65536, 64, MEMBER(ahead_chunks),
	 "chunks it reads ahead"},
	{"ahead_ring", IOS_SIM_UNIT_NONE, 0, 1 << 20, 4096, MEMBER(ahead_ring),
	 "chunks it keeps; 0 = no read-ahead"},
	{"write_cache", IOS_SIM_UNIT_BYTES, 0, UINT64_C(1) << 40, 64 * MIB, MEMBER(write_cache),
	 "write-back cache with a battery; 0 = none"},
	{"destage_size", IOS_SIM_UNIT_BYTES, 4 * KIB, UINT64_C(1) << 30, MIB / 2,
	 MEMBER(destage_size), "most bytes a column writes from it in one operation"},
	{"destage_ops", IOS_SIM_UNIT_NONE, 1, 1024, 2, MEMBER(destage_ops),
	 "such operations of a column at once"},
	{"flush_time", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 50000, MEMBER(flush_time),
	 "time of a FLUSH, which with a cache writes nothing"},
	{0},
};

static iosched_time now_of(const struct raid *r)
{
	return r->device.engine->now;
}

/* --- Places --- */

static uint64_t place_of(const struct raid *r, uint64_t offset)
{
	return offset / r->p.chunk / r->column_count * r->p.chunk + offset % r->p.chunk;
}

/* The first chunk from that of @offset on that is on @column. */
static uint64_t chunk_on(const struct raid *r, uint64_t offset, uint64_t column)
{
	uint64_t chunk = offset / r->p.chunk;

	return chunk + (column + r->column_count - chunk % r->column_count) % r->column_count;
}

/* What an extent of the array has of one chunk. */
struct fragment {
	uint64_t from; /* in the array */
	uint64_t to;
	uint64_t place;
};

static struct fragment fragment_of(const struct raid *r, const struct ios_sim_command *cmd,
				   uint64_t chunk)
{
	uint64_t start = chunk * r->p.chunk;
	uint64_t end = cmd->offset + cmd->length;
	struct fragment f = {
		.from = cmd->offset > start ? cmd->offset : start,
		.to = end < start + r->p.chunk ? end : start + r->p.chunk,
	};

	f.place = place_of(r, f.from);
	return f;
}

static uint64_t column_of(const struct raid *r, const struct ios_sim_part *part)
{
	return (uint64_t)(part->member - r->members) / r->p.mirrors;
}

/* --- The end of a command --- */

static void finish(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, -(int)(cmd->mark >> 32));
}

static void finish_at(struct raid *r, struct ios_sim_command *cmd, iosched_time when)
{
	ios_sim_event_init(&cmd->event, finish, cmd);
	ios_sim_schedule(r->device.engine, &cmd->event, when);
}

/* When the link has moved so many bytes more, and the controller has done its share. */
static iosched_time over_link(struct raid *r, uint64_t bytes)
{
	r->link_free = (r->link_free > now_of(r) ? r->link_free : now_of(r)) +
		       ios_sim_muldiv(bytes, NSEC_PER_SEC, r->p.link_rate);
	return r->link_free + r->p.overhead;
}

static void hold(struct ios_sim_command *cmd)
{
	cmd->mark++;
}

/* One thing less to wait for. */
static void release(struct raid *r, struct ios_sim_command *cmd, int error)
{
	if (error != 0 && cmd->mark >> 32 == 0)
		cmd->mark |= (uint64_t)-error << 32;
	cmd->mark--;
	if ((cmd->mark & UINT32_MAX) != 0)
		return;
	if (cmd->op == IOSCHED_READ)
		finish_at(r, cmd, over_link(r, cmd->mark == 0 ? cmd->length : 0));
	else
		finish_at(r, cmd, now_of(r));
}

/* --- Reads --- */

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

static struct rank rank_of(const struct raid *r, const struct ios_sim_member *m, uint64_t place,
			   bool seen, const struct ios_sim_look *look)
{
	uint64_t distance = place > look->head ? place - look->head : look->head - place;

	if (!seen)
		return (struct rank){true, ios_sim_member_load(m), 0};
	return (struct rank){distance > r->p.near, ios_sim_member_load(m), distance};
}

/* The mirror to read from, among those not tried yet. */
static unsigned choose_mirror(struct raid *r, uint64_t column, const struct ios_sim_part *part)
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

static void send_read(struct raid *r, uint64_t column, struct ios_sim_part *part)
{
	unsigned mirror = choose_mirror(r, column, part);

	part->tried |= 1u << mirror;
	ios_sim_member_submit(&r->members[column * r->p.mirrors + mirror], part);
}

/* A failed read goes to a mirror that has not been asked. */
static bool try_another(struct raid *r, struct ios_sim_part *part)
{
	if (part->tried == (1u << r->p.mirrors) - 1)
		return false;
	send_read(r, column_of(r, part), part);
	return true;
}

static void read_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct raid *r = (struct raid *)cmd->device;

	if (error != 0 && try_another(r, part))
		return;
	ios_sim_part_give(&r->parts, part);
	release(r, cmd, error);
}

/* A part of @cmd that begins at @place; NULL: no memory, the engine stops. */
static struct ios_sim_part *begin_part(struct raid *r, struct ios_sim_command *cmd, uint64_t place)
{
	struct ios_sim_part *part = ios_sim_part_take(&r->parts);

	if (part == NULL)
		return NULL;
	part->cmd.offset = place;
	part->cmd.op = cmd->op;
	part->cmd.fua = cmd->fua;
	part->owner = cmd;
	return part;
}

static bool extend_part(struct raid *r, struct ios_sim_part *part,
			const struct ios_sim_command *cmd, const struct fragment *f)
{
	part->cmd.length += f->to - f->from;
	return ios_sim_part_own(&r->parts, part, cmd->pieces, f->from, f->to, f->place);
}

static void wait_for(struct raid *r, struct ios_sim_command *cmd, struct ios_sim_slot *slot,
		     const struct fragment *f)
{
	struct ios_sim_part *part = begin_part(r, cmd, f->place);

	if (part == NULL || !extend_part(r, part, cmd, f))
		return;
	part->done = read_done;
	part->next_free = slot->waiters;
	slot->waiters = part;
	hold(cmd);
}

/* Does the controller have it, or will it? */
static bool controller_has(struct raid *r, struct ios_sim_command *cmd, uint64_t column,
			   uint64_t chunk, const struct fragment *f)
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

static void send_part_of(struct raid *r, struct ios_sim_command *cmd, uint64_t column,
			 struct ios_sim_part *part)
{
	if (part == NULL)
		return;
	part->done = read_done;
	hold(cmd);
	send_read(r, column, part);
}

/* Read what @cmd wants of one column: in as few parts as what the controller has allows. */
static void read_column(struct raid *r, struct ios_sim_command *cmd, uint64_t column)
{
	uint64_t end = cmd->offset + cmd->length;
	struct ios_sim_part *part = NULL;

	for (uint64_t c = chunk_on(r, cmd->offset, column); c * r->p.chunk < end;
	     c += r->column_count) {
		struct fragment f = fragment_of(r, cmd, c);

		if (controller_has(r, cmd, column, c, &f)) {
			send_part_of(r, cmd, column, part);
			part = NULL;
			continue;
		}
		if (part == NULL)
			part = begin_part(r, cmd, f.place);
		if (part == NULL || !extend_part(r, part, cmd, &f))
			return;
	}
	send_part_of(r, cmd, column, part);
}

/* --- Read-ahead --- */

static void chunk_arrived(struct ios_sim_part *part, int error)
{
	struct raid *r = part->home;
	struct ios_sim_slot *slot = &r->ahead.slots[part->tag];
	uint64_t column = column_of(r, part);
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
			release(r, cmd, 0);
		}
		waiter = next;
	}
}

/* For the reader who made it worth while: it pays. */
static void read_chunk_ahead(struct raid *r, uint64_t chunk, uint64_t context)
{
	struct ios_sim_slot *slot = ios_sim_ahead_reserve(&r->ahead, chunk);
	uint64_t place = place_of(r, chunk * r->p.chunk);
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

static void read_ahead(struct raid *r, const struct ios_sim_command *cmd)
{
	uint64_t from, to;

	if (!ios_sim_ahead_observe(&r->ahead, cmd->offset, cmd->offset + cmd->length, &from, &to))
		return;
	for (uint64_t chunk = from; chunk < to; chunk++)
		read_chunk_ahead(r, chunk, cmd->pieces->context);
}

static void take_read(struct raid *r, struct ios_sim_command *cmd)
{
	cmd->mark = 1; /* held until all its parts are known */
	for (uint64_t i = 0; i < r->column_count; i++)
		read_column(r, cmd, i);
	if (cmd->mark == 1)
		r->device.stats.read_hits++;
	release(r, cmd, 0);
	read_ahead(r, cmd);
}

/* --- Writing to all mirrors --- */

static void destage_done(struct raid *r, uint64_t column, uint64_t sectors);

/* The leader keeps the count and the outcome, and is given back last. */
static void copy_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_part *leader = part->leader;
	struct ios_sim_command *cmd = leader->owner;
	struct raid *r = leader->home;

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
		release(r, cmd, leader->result);
	else
		destage_done(r, column_of(r, leader), leader->cmd.length / IOS_SIM_SECTOR);
}

static void write_copies(struct raid *r, uint64_t column, struct ios_sim_part *leader)
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
static struct ios_sim_part *part_on(struct raid *r, struct ios_sim_command *cmd, uint64_t column)
{
	uint64_t end = cmd->offset + cmd->length;
	struct ios_sim_part *part = NULL;

	for (uint64_t c = chunk_on(r, cmd->offset, column); c * r->p.chunk < end;
	     c += r->column_count) {
		struct fragment f = fragment_of(r, cmd, c);

		if (part == NULL)
			part = begin_part(r, cmd, f.place);
		if (part == NULL || !extend_part(r, part, cmd, &f))
			return NULL;
	}
	return part;
}

static void write_through(struct raid *r, struct ios_sim_command *cmd)
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
		hold(cmd);
		write_copies(r, i, part);
	}
	release(r, cmd, 0);
}

/* --- The write cache --- */

static void destage(struct raid *r, uint64_t column)
{
	struct column *c = &r->columns[column];
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

static uint64_t cached_bytes(const struct raid *r)
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
static bool cacheable(const struct raid *r, const struct ios_sim_command *cmd)
{
	return r->columns[0].cache != NULL && cmd->length <= r->p.write_cache / 2 &&
	       cmd->offset % IOS_SIM_SECTOR == 0 && cmd->length % IOS_SIM_SECTOR == 0 &&
	       pieces_of(cmd) < IOS_SIM_CACHE_EXTENTS / 2;
}

static bool fits(const struct raid *r, const struct ios_sim_command *cmd)
{
	if (cached_bytes(r) + cmd->length > r->p.write_cache)
		return false;
	for (uint64_t i = 0; i < r->column_count; i++)
		if (!ios_sim_cache_fits(r->columns[i].cache, 0, pieces_of(cmd)))
			return false;
	return true;
}

/* Every column that is not writing begins. */
static void destage_all(struct raid *r)
{
	for (uint64_t i = 0; i < r->column_count; i++)
		destage(r, i);
}

static void enter_cache(struct raid *r, struct ios_sim_command *cmd)
{
	for (uint64_t i = 0; i < r->column_count; i++) {
		struct ios_sim_part *part = part_on(r, cmd, i);

		if (part == NULL)
			continue;
		ios_sim_cache_write(r->columns[i].cache, part->cmd.offset / IOS_SIM_SECTOR,
				    (part->cmd.offset + part->cmd.length) / IOS_SIM_SECTOR,
				    part->pieces, now_of(r), 0);
		ios_sim_part_give(&r->parts, part);
	}
	r->device.stats.cached_writes++;
	cmd->mark = 0;
	finish_at(r, cmd, now_of(r));
	destage_all(r);
}

static void destage_done(struct raid *r, uint64_t column, uint64_t sectors)
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
	struct raid *r = (struct raid *)cmd->device;

	ios_sim_ahead_forget(&r->ahead, cmd->offset / r->p.chunk,
			     (cmd->offset + cmd->length - 1) / r->p.chunk + 1);
	if (!cacheable(r, cmd))
		write_through(r, cmd);
	else if (r->blocked.head != NULL || !fits(r, cmd))
		ios_sim_list_append(&r->blocked, cmd);
	else
		enter_cache(r, cmd);
}

/* --- Commands come in --- */

static void take_write(struct raid *r, struct ios_sim_command *cmd)
{
	ios_sim_event_init(&cmd->event, write_arrives, cmd);
	ios_sim_schedule(r->device.engine, &cmd->event, over_link(r, cmd->length));
}

static void flush_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct raid *r = (struct raid *)cmd->device;

	ios_sim_part_give(&r->parts, part);
	release(r, cmd, error);
}

static void take_flush(struct raid *r, struct ios_sim_command *cmd)
{
	r->device.stats.flushes++;
	cmd->mark = 0;
	if (r->p.write_cache != 0) {
		finish_at(r, cmd, now_of(r) + r->p.flush_time);
		return;
	}
	cmd->mark = 1;
	for (uint64_t i = 0; i < r->p.disks; i++) {
		struct ios_sim_part *part = begin_part(r, cmd, 0);

		if (part == NULL || !ios_sim_part_own(&r->parts, part, cmd->pieces, 0, 0, 0))
			return;
		part->done = flush_done;
		hold(cmd);
		ios_sim_member_submit(&r->members[i], part);
	}
	release(r, cmd, 0);
}

/* The disks are not told: what they hold of it in their buffers is of no account. */
static void take_discard(struct raid *r, struct ios_sim_command *cmd)
{
	uint64_t end = cmd->offset + cmd->length;

	for (uint64_t i = 0; i < r->column_count && r->p.write_cache != 0; i++) {
		uint64_t first = chunk_on(r, cmd->offset, i);
		uint64_t chunks = (end + r->p.chunk - 1) / r->p.chunk;
		uint64_t last;

		if (first >= chunks)
			continue;
		last = first + (chunks - 1 - first) / r->column_count * r->column_count;
		ios_sim_cache_drop(r->columns[i].cache,
				   fragment_of(r, cmd, first).place / IOS_SIM_SECTOR,
				   (place_of(r, last * r->p.chunk) + fragment_of(r, cmd, last).to -
				    last * r->p.chunk) /
					   IOS_SIM_SECTOR);
	}
	ios_sim_ahead_forget(&r->ahead, cmd->offset / r->p.chunk, (end - 1) / r->p.chunk + 1);
	cmd->mark = 0;
	finish_at(r, cmd, over_link(r, 0));
}

static int raid_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct raid *r = (struct raid *)d;

	switch (cmd->op) {
	case IOSCHED_READ:
		take_read(r, cmd);
		break;
	case IOSCHED_WRITE:
		take_write(r, cmd);
		break;
	case IOSCHED_FLUSH:
		take_flush(r, cmd);
		break;
	default:
		take_discard(r, cmd);
		break;
	}
	return 0;
}

static void raid_add_stats(const struct ios_sim_device *d, struct iosched_sim_device_stats *sum)
{
	const struct raid *r = (const struct raid *)d;

	for (uint64_t i = 0; i < r->p.disks; i++) {
		ios_sim_member_add_stats(&r->members[i], sum);
		sum->errors += r->members[i].device->stats.errors;
	}
}

/* --- Life --- */

static void raid_destroy(struct ios_sim_device *d)
{
	struct raid *r = (struct raid *)d;

	for (unsigned i = 0; i < MAX_DISKS; i++) {
		ios_sim_member_fini(&r->members[i]);
		free(r->columns[i].cache);
	}
	ios_sim_parts_fini(&r->parts);
	ios_sim_ahead_fini(&r->ahead);
	free(r);
}

static int create_caches(struct raid *r)
{
	if (r->p.write_cache < IOS_SIM_SECTOR)
		return 0;
	for (uint64_t i = 0; i < r->column_count; i++) {
		r->columns[i].cache = malloc(sizeof(struct ios_sim_cache));
		if (r->columns[i].cache == NULL)
			return -ENOMEM;
		ios_sim_cache_init(r->columns[i].cache, r->p.write_cache / IOS_SIM_SECTOR);
	}
	return 0;
}

static int create_ahead(struct raid *r)
{
	r->ahead.chunk_bytes = r->p.chunk;
	r->ahead.chunks = r->column_count * r->column_bytes / r->p.chunk;
	r->ahead.depth = r->p.ahead_chunks;
	r->ahead.hits_wanted = r->p.ahead_hits;
	r->ahead.stream_count = (unsigned)r->p.ahead_streams;
	r->ahead.slot_count = (uint32_t)r->p.ahead_ring;
	return ios_sim_ahead_init(&r->ahead);
}

/* How the array looks from outside. */
static void describe(struct raid *r, struct ios_sim_engine *engine, struct ios_sim_ledger *ledger)
{
	const struct ios_sim_device *disk = r->members[0].device;
	bool cached = r->p.write_cache >= IOS_SIM_SECTOR;

	r->device = (struct ios_sim_device){
		.model = &ios_sim_raid_model,
		.engine = engine,
		.ledger = ledger,
		.capacity = r->column_count * r->column_bytes,
		.depth = (uint32_t)r->p.depth,
		.rotational = disk->rotational,
		.write_cache = !cached && disk->write_cache,
		.array = cached,
		.parallel =
			cached && r->p.disks > 1 ? (uint8_t)IOSCHED_PARALLEL_YES : disk->parallel,
	};
}

static int set_up(struct raid *r, const struct ios_sim_plan *plan, struct ios_sim_engine *engine,
		  struct ios_sim_ledger *ledger, struct iosched_sim_error *why)
{
	int err = 0;

	for (uint64_t i = 0; err == 0 && i < r->p.disks; i++)
		err = ios_sim_member_init(&r->members[i], plan->member, engine, ledger, why);
	if (err != 0)
		return err;
	r->column_count = r->p.disks / r->p.mirrors;
	r->column_bytes = r->members[0].device->capacity / r->p.chunk * r->p.chunk;
	if (r->column_bytes == 0)
		return ios_sim_fail(why, -EINVAL, "a disk is smaller than a chunk");
	err = create_caches(r);
	if (err == 0)
		err = create_ahead(r);
	describe(r, engine, ledger);
	return err;
}

static int check_params(const struct raid_params *p, struct iosched_sim_error *why)
{
	if (p->disks % p->mirrors != 0)
		return ios_sim_fail(why, -EINVAL, "disks is not a multiple of mirrors");
	if (p->chunk % IOS_SIM_SECTOR != 0)
		return ios_sim_fail(why, -EINVAL, "a chunk is not made of whole sectors");
	return 0;
}

static int raid_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		       struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		       struct iosched_sim_error *why)
{
	int err = check_params(plan->values, why);
	struct raid *r;

	if (err != 0)
		return err;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	r->p = *(const struct raid_params *)plan->values;
	r->parts.engine = engine;
	err = set_up(r, plan, engine, ledger, why);
	if (err != 0) {
		raid_destroy(&r->device);
		return err;
	}
	*out = &r->device;
	return 0;
}

const struct ios_sim_model ios_sim_raid_model = {
	.name = "raid",
	.summary = "disks in stripes and mirrors behind a controller with cache and read-ahead",
	.member = "hdd-15k-sas",
	.params = params,
	.params_size = sizeof(struct raid_params),
	.create = raid_create,
	.destroy = raid_destroy,
	.submit = raid_submit,
	.add_stats = raid_add_stats,
};
