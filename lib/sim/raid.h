/* SPDX-License-Identifier: MIT */
/*
 * What the files of the raid model share: dev_raid.c (parameters, layout, the end of commands),
 * raid_read.c (mirrors, read-ahead) and raid_write.c (copies, the write cache).
 */
#ifndef IOS_SIM_RAID_H
#define IOS_SIM_RAID_H

#include "sim/hdd_cache.h"
#include "sim/hdd_geometry.h"
#include "sim/raid_ahead.h"

#define IOS_SIM_RAID_DISKS 64

struct ios_sim_raid_params {
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

struct ios_sim_raid_column {
	struct ios_sim_cache *cache; /* NULL: off */
	unsigned destaging;	     /* operations under way */
};

struct ios_sim_raid {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct ios_sim_raid_params p;
	uint64_t column_count;
	uint64_t column_bytes;
	struct ios_sim_ahead ahead;
	struct ios_sim_parts parts;
	struct ios_sim_command_list blocked;
	iosched_time link_free;
	struct ios_sim_raid_column columns[IOS_SIM_RAID_DISKS];
	struct ios_sim_member members[IOS_SIM_RAID_DISKS]; /* column by column */
};

/* What an extent of the array has of one chunk. */
struct ios_sim_fragment {
	uint64_t from; /* in the array */
	uint64_t to;
	uint64_t place;
};

static inline iosched_time ios_sim_raid_now(const struct ios_sim_raid *r)
{
	return r->device.engine->now;
}

/* Where byte @offset of the array lies on its column. */
uint64_t ios_sim_raid_place_of(const struct ios_sim_raid *r, uint64_t offset);

/* The first chunk from that of @offset on that is on @column. */
uint64_t ios_sim_raid_chunk_on(const struct ios_sim_raid *r, uint64_t offset, uint64_t column);

/* What @cmd has of @chunk, which it touches. */
struct ios_sim_fragment ios_sim_raid_fragment_of(const struct ios_sim_raid *r,
						 const struct ios_sim_command *cmd, uint64_t chunk);

/* The column whose disk @part was given to. */
uint64_t ios_sim_raid_column_of(const struct ios_sim_raid *r, const struct ios_sim_part *part);

/* A part of @cmd that begins at @place; NULL: no memory, the engine stops. */
struct ios_sim_part *ios_sim_raid_begin_part(struct ios_sim_raid *r, struct ios_sim_command *cmd,
					     uint64_t place);

/* It goes on with @f. False: no memory, the engine stops. */
bool ios_sim_raid_extend_part(struct ios_sim_raid *r, struct ios_sim_part *part,
			      const struct ios_sim_command *cmd, const struct ios_sim_fragment *f);

/* @cmd waits for one thing more; for one thing less, which ended with @error. When it waits for
 * none it ends, a read over the link. */
void ios_sim_raid_hold(struct ios_sim_command *cmd);
void ios_sim_raid_release(struct ios_sim_raid *r, struct ios_sim_command *cmd, int error);

void ios_sim_raid_finish_at(struct ios_sim_raid *r, struct ios_sim_command *cmd, iosched_time when);

/* When the link has moved so many bytes more, and the controller has done its share. */
iosched_time ios_sim_raid_over_link(struct ios_sim_raid *r, uint64_t bytes);

/* A read, a write has come. */
void ios_sim_raid_read(struct ios_sim_raid *r, struct ios_sim_command *cmd);
void ios_sim_raid_write(struct ios_sim_raid *r, struct ios_sim_command *cmd);

#endif
