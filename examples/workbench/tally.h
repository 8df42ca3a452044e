/* SPDX-License-Identifier: MIT */
/*
 * tally: what is in a trace, counted in one pass.
 *
 * State: per kind of record its operations, sizes and contexts, since which kind tells
 * of arrivals is only known at the end.
 */
#ifndef WORKBENCH_TALLY_H
#define WORKBENCH_TALLY_H

#include "names.h"

#define WB_OPS 5    /* enum iosched_op, and none */
#define WB_SIZES 65 /* powers of two: bits that a length needs */

struct wb_kind_tally {
	uint64_t records;
	uint64_t ops[WB_OPS];
	uint64_t bytes[WB_OPS];
	uint64_t sizes[WB_SIZES];
	uint64_t end; /* largest offset + length */
	struct wb_names names;
};

struct wb_tally {
	struct wb_kind_tally kinds[IOSCHED_TRACE_EVENTS];
	uint64_t records;
	iosched_time first, last;
	uint32_t devices[16];
	unsigned device_count; /* 17: more than there is room for */
};

/* False: out of memory. */
bool wb_tally_add(struct wb_tally *t, const struct iosched_trace_record *rec);
/* The kind that tells of arrivals: requests, Q, D or C; NULL: there is none. */
const struct wb_kind_tally *wb_tally_arrivals(const struct wb_tally *t,
					      enum iosched_trace_event *event);
void wb_tally_fini(struct wb_tally *t);

#endif
