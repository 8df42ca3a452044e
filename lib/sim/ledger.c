/* SPDX-License-Identifier: MIT */
#include "sim/ledger.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"

void ios_sim_ledger_init(struct ios_sim_ledger *l)
{
	*l = (struct ios_sim_ledger){0};
}

void ios_sim_ledger_fini(struct ios_sim_ledger *l)
{
	ios_sim_map_fini(&l->contexts);
	free(l->ns);
	*l = (struct ios_sim_ledger){0};
}

static bool grow(struct ios_sim_ledger *l)
{
	size_t room = l->room == 0 ? 32 : l->room * 2;
	uint64_t *ns = realloc(l->ns, room * sizeof(*ns));

	if (ns == NULL)
		return false;
	for (size_t i = l->room; i < room; i++)
		ns[i] = 0;
	l->ns = ns;
	l->room = room;
	return true;
}

void ios_sim_ledger_book(struct ios_sim_ledger *l, uint64_t context, uint64_t ns)
{
	uint32_t i;

	if (l->closed)
		return;
	i = ios_sim_map_get(&l->contexts, context);
	if (i == IOS_SIM_MAP_NONE || (i >= l->room && !grow(l))) {
		l->failed = -ENOMEM;
		return;
	}
	l->ns[i] += ns;
	l->total += ns;
}

/* Bytes of @p in [offset, end). */
static uint64_t overlap(const struct ios_sim_piece *p, uint64_t offset, uint64_t end)
{
	uint64_t from = p->offset > offset ? p->offset : offset;
	uint64_t to = p->offset + p->length < end ? p->offset + p->length : end;

	return to > from ? to - from : 0;
}

void ios_sim_ledger_book_extent(struct ios_sim_ledger *l, const struct ios_sim_piece *pieces,
				uint64_t offset, uint64_t length, uint64_t ns)
{
	uint64_t done_bytes = 0;
	uint64_t done_ns = 0;

	if (pieces->next == NULL || length == 0) {
		ios_sim_ledger_book(l, pieces->context, ns);
		return;
	}
	/* Rounding carries over to the next piece, so that the sum is exact. */
	for (const struct ios_sim_piece *p = pieces; p != NULL; p = p->next) {
		uint64_t upto;

		done_bytes += overlap(p, offset, offset + length);
		upto = ios_sim_muldiv(ns, done_bytes, length);
		if (upto > done_ns)
			ios_sim_ledger_book(l, p->context, upto - done_ns);
		done_ns = upto;
	}
}

uint64_t ios_sim_ledger_of(const struct ios_sim_ledger *l, uint64_t context)
{
	uint32_t i = ios_sim_map_find(&l->contexts, context);

	return i == IOS_SIM_MAP_NONE || i >= l->room ? 0 : l->ns[i];
}

void ios_sim_ledger_reset(struct ios_sim_ledger *l)
{
	for (size_t i = 0; i < l->room; i++)
		l->ns[i] = 0;
	l->total = 0;
}
