/* SPDX-License-Identifier: MIT */
/*
 * The ledger: device time by owner, the truth that shares are measured by.
 *
 * Devices book every nanosecond of their media here, under the context of the
 * bytes that took it. Idle time belongs to nobody.
 */
#ifndef IOS_SIM_LEDGER_H
#define IOS_SIM_LEDGER_H

#include <stdbool.h>

#include "sim/map.h"

/* Whose the bytes of a command are: disjoint extents in offset order. The list covers the
 * command; a part of the command (a member disk's) uses the same list. */
struct ios_sim_piece {
	uint64_t offset;
	uint64_t length;
	uint64_t context;
	const struct ios_sim_piece *next;
};

struct ios_sim_ledger {
	struct ios_sim_map contexts;
	uint64_t *ns; /* by index in `contexts` */
	size_t room;
	uint64_t total;
	bool closed; /* nothing more is booked */
	int failed;  /* 0, or -ENOMEM: a context could not be added */
};

void ios_sim_ledger_init(struct ios_sim_ledger *l);
void ios_sim_ledger_fini(struct ios_sim_ledger *l);

void ios_sim_ledger_book(struct ios_sim_ledger *l, uint64_t context, uint64_t ns);

/* Book @ns to the owners of [offset, offset + length) in proportion to their bytes there. A
 * command without bytes is booked to the first piece. */
void ios_sim_ledger_book_extent(struct ios_sim_ledger *l, const struct ios_sim_piece *pieces,
				uint64_t offset, uint64_t length, uint64_t ns);

uint64_t ios_sim_ledger_of(const struct ios_sim_ledger *l, uint64_t context);

/* All accounts back to 0, as at the end of the warm-up. */
void ios_sim_ledger_reset(struct ios_sim_ledger *l);

#endif
