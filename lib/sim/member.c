/* SPDX-License-Identifier: MIT */
#include "sim/member.h"

#include <errno.h>
#include <stdlib.h>

/* --- Parts --- */

struct ios_sim_part *ios_sim_part_take(struct ios_sim_parts *parts)
{
	struct ios_sim_part *part = parts->free;

	if (part != NULL) {
		parts->free = part->next_free;
	} else {
		part = calloc(1, sizeof(*part));
		if (part == NULL) {
			ios_sim_stop(parts->engine, -ENOMEM);
			return NULL;
		}
		part->next_all = parts->all;
		parts->all = part;
	}
	part->cmd = (struct ios_sim_command){0};
	part->member = NULL;
	part->piece_count = 0;
	part->tag = 0;
	part->tried = 0;
	part->leader = NULL;
	part->result = 0;
	part->next_free = NULL;
	return part;
}

void ios_sim_part_give(struct ios_sim_parts *parts, struct ios_sim_part *part)
{
	part->next_free = parts->free;
	parts->free = part;
}

void ios_sim_parts_fini(struct ios_sim_parts *parts)
{
	while (parts->all != NULL) {
		struct ios_sim_part *next = parts->all->next_all;

		ios_sim_cancel(parts->engine, &parts->all->cmd.event);
		free(parts->all->pieces);
		free(parts->all);
		parts->all = next;
	}
	parts->free = NULL;
}

/* Pieces may move when they grow, so they are linked anew. */
static bool grow(struct ios_sim_parts *parts, struct ios_sim_part *part)
{
	unsigned room = part->piece_room == 0 ? 4 : part->piece_room * 2;
	struct ios_sim_piece *pieces = realloc(part->pieces, room * sizeof(*pieces));

	if (pieces == NULL) {
		ios_sim_stop(parts->engine, -ENOMEM);
		return false;
	}
	part->pieces = pieces;
	part->piece_room = room;
	for (unsigned i = 0; i + 1 < part->piece_count; i++)
		pieces[i].next = &pieces[i + 1];
	return true;
}

static bool add_piece(struct ios_sim_parts *parts, struct ios_sim_part *part,
		      struct ios_sim_piece piece)
{
	struct ios_sim_piece *last =
		part->piece_count > 0 ? &part->pieces[part->piece_count - 1] : NULL;

	if (last != NULL && last->context == piece.context &&
	    last->offset + last->length == piece.offset) {
		last->length += piece.length;
		return true;
	}
	if (part->piece_count == part->piece_room && !grow(parts, part))
		return false;
	part->pieces[part->piece_count] = piece;
	if (part->piece_count > 0)
		part->pieces[part->piece_count - 1].next = &part->pieces[part->piece_count];
	part->piece_count++;
	part->cmd.pieces = part->pieces;
	return true;
}

bool ios_sim_part_own(struct ios_sim_parts *parts, struct ios_sim_part *part,
		      const struct ios_sim_piece *pieces, uint64_t from, uint64_t to, uint64_t at)
{
	const struct ios_sim_piece *p = pieces;

	if (from == to) /* no bytes: the first owner's, as the ledger has it */
		return add_piece(parts, part, (struct ios_sim_piece){at, 0, p->context, NULL});
	for (; p != NULL; p = p->next) {
		uint64_t start = p->offset > from ? p->offset : from;
		uint64_t end = p->offset + p->length < to ? p->offset + p->length : to;

		if (start < end && !add_piece(parts, part,
					      (struct ios_sim_piece){at + start - from, end - start,
								     p->context, NULL}))
			return false;
	}
	return true;
}

/* --- Members --- */

static void feed(struct ios_sim_member *m)
{
	while (m->waiting.head != NULL && m->inside < m->device->depth && !m->refused) {
		struct ios_sim_command *cmd = ios_sim_list_take(&m->waiting);

		m->inside++;
		if (ios_sim_device_submit(m->device, cmd) == 0)
			continue;
		m->inside--;
		m->refused = true;
		ios_sim_list_prepend(&m->waiting, cmd);
	}
}

static void member_ready(void *owner)
{
	struct ios_sim_member *m = owner;

	m->refused = false;
	feed(m);
}

static void part_done(struct ios_sim_command *cmd, int error)
{
	struct ios_sim_part *part = (struct ios_sim_part *)(void *)cmd;
	struct ios_sim_member *m = part->member;

	m->inside--;
	m->refused = false;
	part->done(part, error);
	feed(m);
}

int ios_sim_member_init(struct ios_sim_member *m, const struct ios_sim_plan *plan,
			struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			struct iosched_sim_error *why)
{
	int err;

	*m = (struct ios_sim_member){0};
	err = ios_sim_plan_create(&m->device, plan, engine, ledger, why);
	if (err != 0)
		return err;
	m->device->ready = member_ready;
	m->device->ready_user = m;
	return 0;
}

void ios_sim_member_fini(struct ios_sim_member *m)
{
	if (m->device != NULL)
		ios_sim_device_destroy(m->device);
	m->device = NULL;
}

void ios_sim_member_submit(struct ios_sim_member *m, struct ios_sim_part *part)
{
	part->member = m;
	part->cmd.done = part_done;
	ios_sim_list_append(&m->waiting, &part->cmd);
	feed(m);
}

void ios_sim_member_add_stats(const struct ios_sim_member *m, struct iosched_sim_device_stats *sum)
{
	struct iosched_sim_device_stats s;

	ios_sim_device_stats(m->device, &s);
	sum->media_ops += s.media_ops;
	sum->media_ns += s.media_ns;
	sum->position_ns += s.position_ns;
	sum->transfer_ns += s.transfer_ns;
	sum->seeks += s.seeks;
	sum->seek_bytes += s.seek_bytes;
	sum->read_hits += s.read_hits;
	sum->cached_writes += s.cached_writes;
	sum->destages += s.destages;
	sum->errors += s.errors - m->device->stats.errors;
}
