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
#include "sim/raid.h"

#define MEMBER(name) offsetof(struct ios_sim_raid_params, name)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Initial values: a controller of 2009 with 512 MiB to 1 GiB and a battery. Of its memory the write
 * cache has what matters in a steady state, and the read-ahead the rest. */
static const struct ios_sim_param params[] = {
	{"disks", IOS_SIM_UNIT_NONE, 1, IOS_SIM_RAID_DISKS, 12, MEMBER(disks), "how many members"},
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

/* --- Places --- */

uint64_t ios_sim_raid_place_of(const struct ios_sim_raid *r, uint64_t offset)
{
	return offset / r->p.chunk / r->column_count * r->p.chunk + offset % r->p.chunk;
}

uint64_t ios_sim_raid_chunk_on(const struct ios_sim_raid *r, uint64_t offset, uint64_t column)
{
	uint64_t chunk = offset / r->p.chunk;

	return chunk + (column + r->column_count - chunk % r->column_count) % r->column_count;
}

struct ios_sim_fragment ios_sim_raid_fragment_of(const struct ios_sim_raid *r,
						 const struct ios_sim_command *cmd, uint64_t chunk)
{
	uint64_t start = chunk * r->p.chunk;
	uint64_t end = cmd->offset + cmd->length;
	struct ios_sim_fragment f = {
		.from = cmd->offset > start ? cmd->offset : start,
		.to = end < start + r->p.chunk ? end : start + r->p.chunk,
	};

	f.place = ios_sim_raid_place_of(r, f.from);
	return f;
}

uint64_t ios_sim_raid_column_of(const struct ios_sim_raid *r, const struct ios_sim_part *part)
{
	return (uint64_t)(part->member - r->members) / r->p.mirrors;
}

/* --- The end of a command --- */

static void finish(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, -(int)(cmd->mark >> 32));
}

void ios_sim_raid_finish_at(struct ios_sim_raid *r, struct ios_sim_command *cmd, iosched_time when)
{
	ios_sim_event_init(&cmd->event, finish, cmd);
	ios_sim_schedule(r->device.engine, &cmd->event, when);
}

iosched_time ios_sim_raid_over_link(struct ios_sim_raid *r, uint64_t bytes)
{
	r->link_free = (r->link_free > ios_sim_raid_now(r) ? r->link_free : ios_sim_raid_now(r)) +
		       ios_sim_muldiv(bytes, NSEC_PER_SEC, r->p.link_rate);
	return r->link_free + r->p.overhead;
}

void ios_sim_raid_hold(struct ios_sim_command *cmd)
{
	cmd->mark++;
}

void ios_sim_raid_release(struct ios_sim_raid *r, struct ios_sim_command *cmd, int error)
{
	if (error != 0 && cmd->mark >> 32 == 0)
		cmd->mark |= (uint64_t)-error << 32;
	cmd->mark--;
	if ((cmd->mark & UINT32_MAX) != 0)
		return;
	if (cmd->op == IOSCHED_READ)
		ios_sim_raid_finish_at(r, cmd,
				       ios_sim_raid_over_link(r, cmd->mark == 0 ? cmd->length : 0));
	else
		ios_sim_raid_finish_at(r, cmd, ios_sim_raid_now(r));
}

struct ios_sim_part *ios_sim_raid_begin_part(struct ios_sim_raid *r, struct ios_sim_command *cmd,
					     uint64_t place)
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

bool ios_sim_raid_extend_part(struct ios_sim_raid *r, struct ios_sim_part *part,
			      const struct ios_sim_command *cmd, const struct ios_sim_fragment *f)
{
	part->cmd.length += f->to - f->from;
	return ios_sim_part_own(&r->parts, part, cmd->pieces, f->from, f->to, f->place);
}

/* --- Commands come in --- */

static void flush_done(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct ios_sim_raid *r = (struct ios_sim_raid *)cmd->device;

	ios_sim_part_give(&r->parts, part);
	ios_sim_raid_release(r, cmd, error);
}

static void take_flush(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	r->device.stats.flushes++;
	cmd->mark = 0;
	if (r->p.write_cache != 0) {
		ios_sim_raid_finish_at(r, cmd, ios_sim_raid_now(r) + r->p.flush_time);
		return;
	}
	cmd->mark = 1;
	for (uint64_t i = 0; i < r->p.disks; i++) {
		struct ios_sim_part *part = ios_sim_raid_begin_part(r, cmd, 0);

		if (part == NULL || !ios_sim_part_own(&r->parts, part, cmd->pieces, 0, 0, 0))
			return;
		part->done = flush_done;
		ios_sim_raid_hold(cmd);
		ios_sim_member_submit(&r->members[i], part);
	}
	ios_sim_raid_release(r, cmd, 0);
}

/* The disks are not told: what they hold of it in their buffers is of no account. */
static void take_discard(struct ios_sim_raid *r, struct ios_sim_command *cmd)
{
	uint64_t end = cmd->offset + cmd->length;

	for (uint64_t i = 0; i < r->column_count && r->p.write_cache != 0; i++) {
		uint64_t first = ios_sim_raid_chunk_on(r, cmd->offset, i);
		uint64_t chunks = (end + r->p.chunk - 1) / r->p.chunk;
		uint64_t last;

		if (first >= chunks)
			continue;
		last = first + (chunks - 1 - first) / r->column_count * r->column_count;
		ios_sim_cache_drop(r->columns[i].cache,
				   ios_sim_raid_fragment_of(r, cmd, first).place / IOS_SIM_SECTOR,
				   (ios_sim_raid_place_of(r, last * r->p.chunk) +
				    ios_sim_raid_fragment_of(r, cmd, last).to - last * r->p.chunk) /
					   IOS_SIM_SECTOR);
	}
	ios_sim_ahead_forget(&r->ahead, cmd->offset / r->p.chunk, (end - 1) / r->p.chunk + 1);
	cmd->mark = 0;
	ios_sim_raid_finish_at(r, cmd, ios_sim_raid_over_link(r, 0));
}

static int raid_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct ios_sim_raid *r = (struct ios_sim_raid *)d;

	switch (cmd->op) {
	case IOSCHED_READ:
		ios_sim_raid_read(r, cmd);
		break;
	case IOSCHED_WRITE:
		ios_sim_raid_write(r, cmd);
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
	const struct ios_sim_raid *r = (const struct ios_sim_raid *)d;

	for (uint64_t i = 0; i < r->p.disks; i++) {
		ios_sim_member_add_stats(&r->members[i], sum);
		sum->errors += r->members[i].device->stats.errors;
	}
}

/* --- Life --- */

static void raid_destroy(struct ios_sim_device *d)
{
	struct ios_sim_raid *r = (struct ios_sim_raid *)d;

	for (unsigned i = 0; i < IOS_SIM_RAID_DISKS; i++) {
		ios_sim_member_fini(&r->members[i]);
		free(r->columns[i].cache);
	}
	ios_sim_parts_fini(&r->parts);
	ios_sim_ahead_fini(&r->ahead);
	free(r);
}

static int create_caches(struct ios_sim_raid *r)
{
	if (r->p.write_cache == 0)
		return 0;
	for (uint64_t i = 0; i < r->column_count; i++) {
		r->columns[i].cache = malloc(sizeof(struct ios_sim_cache));
		if (r->columns[i].cache == NULL)
			return -ENOMEM;
		ios_sim_cache_init(r->columns[i].cache, r->p.write_cache / IOS_SIM_SECTOR);
	}
	return 0;
}

static int create_ahead(struct ios_sim_raid *r)
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
static void describe(struct ios_sim_raid *r, struct ios_sim_engine *engine,
		     struct ios_sim_ledger *ledger)
{
	const struct ios_sim_device *disk = r->members[0].device;
	bool cached = r->p.write_cache != 0;

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

static int set_up(struct ios_sim_raid *r, const struct ios_sim_plan *plan,
		  struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		  struct iosched_sim_error *why)
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

static int check_params(const struct ios_sim_raid_params *p, struct iosched_sim_error *why)
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
	struct ios_sim_raid *r;

	if (err != 0)
		return err;
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return -ENOMEM;
	r->p = *(const struct ios_sim_raid_params *)plan->values;
	if (r->p.write_cache < IOS_SIM_SECTOR)
		r->p.write_cache = 0;
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
	.params_size = sizeof(struct ios_sim_raid_params),
	.create = raid_create,
	.destroy = raid_destroy,
	.submit = raid_submit,
	.add_stats = raid_add_stats,
};
