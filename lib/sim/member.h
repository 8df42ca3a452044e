/* SPDX-License-Identifier: MIT */
/*
 * Members: the devices a device is made of, and the parts of its commands they are given.
 *
 * A member is given no more commands than its depth allows; the rest waits here, in order. A
 * part that a member refuses is offered again when the member is ready.
 *
 * Parts carry the owners of their bytes in the member's own offsets. They are recycled and
 * freed with the pool, whatever state they are in.
 */
#ifndef IOS_SIM_MEMBER_H
#define IOS_SIM_MEMBER_H

#include "sim/device.h"

struct ios_sim_member;

struct ios_sim_part {
	struct ios_sim_command cmd; /* first: a pointer to one is a pointer to the other */
	struct ios_sim_member *member;
	void (*done)(struct ios_sim_part *part, int error);
	/* Whatever `done` wants. */
	void *home; /* the device whose it is */
	void *owner;
	struct ios_sim_part *leader;
	uint64_t tag;
	unsigned tried;
	int result;
	struct ios_sim_piece *pieces;
	unsigned piece_count;
	unsigned piece_room;
	struct ios_sim_part *next_free; /* links what the owner likes while it is taken */
	struct ios_sim_part *next_all;
};

struct ios_sim_parts {
	struct ios_sim_engine *engine; /* stopped with -ENOMEM when there is no memory */
	struct ios_sim_part *free;
	struct ios_sim_part *all;
};

struct ios_sim_member {
	struct ios_sim_device *device;
	struct ios_sim_command_list waiting;
	uint32_t inside; /* commands the device has */
	bool refused;	 /* it said -EBUSY and is not ready yet */
};

/* A part of no member, with no pieces. NULL: no memory, and the engine has been stopped. */
struct ios_sim_part *ios_sim_part_take(struct ios_sim_parts *parts);
void ios_sim_part_give(struct ios_sim_parts *parts, struct ios_sim_part *part);
void ios_sim_parts_fini(struct ios_sim_parts *parts);

/* The owners of [from, to) of @pieces own what begins at @at of @part; called in order of @at.
 * False: no memory, and the engine has been stopped. */
bool ios_sim_part_own(struct ios_sim_parts *parts, struct ios_sim_part *part,
		      const struct ios_sim_piece *pieces, uint64_t from, uint64_t to, uint64_t at);

/* Returns what creating the device returns. */
int ios_sim_member_init(struct ios_sim_member *m, const struct ios_sim_plan *plan,
			struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			struct iosched_sim_error *why);
void ios_sim_member_fini(struct ios_sim_member *m);

/* Fill in cmd's offset, length, op and fua, done and owner first, and pieces unless owned. */
void ios_sim_member_submit(struct ios_sim_member *m, struct ios_sim_part *part);

/* Commands with it or waiting for it. */
static inline uint32_t ios_sim_member_load(const struct ios_sim_member *m)
{
	return m->inside + m->waiting.count;
}

/* Add to @sum what the device did, but for what it was asked: its commands, flushes, and the
 * errors it reported. */
void ios_sim_member_add_stats(const struct ios_sim_member *m, struct iosched_sim_device_stats *sum);

#endif
