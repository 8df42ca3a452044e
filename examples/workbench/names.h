/* SPDX-License-Identifier: MIT */
/*
 * names: the contexts of a trace, each with the name of its process and what it asked for.
 *
 * State: entries in order of first appearance, and an open-addressed index of them.
 */
#ifndef WORKBENCH_NAMES_H
#define WORKBENCH_NAMES_H

#include <iosched/trace.h>

struct wb_name {
	uint64_t context;
	uint64_t requests;
	uint64_t bytes;
	char process[IOSCHED_TRACE_PROCESS_SIZE]; /* "" = not known */
};

struct wb_names {
	struct wb_name *names;
	size_t count, room;
	uint32_t *index; /* position + 1; 0: free */
	size_t slots;	 /* a power of two, or 0 */
};

/* The entry of `rec`'s context, made if new, with the record counted. False: out of memory. */
bool wb_names_count(struct wb_names *n, const struct iosched_trace_record *rec);
const struct wb_name *wb_names_find(const struct wb_names *n, uint64_t context);
void wb_names_fini(struct wb_names *n);

#define WB_CONTEXT_SIZE 64
/* "context 7 (postgres)" */
const char *wb_context_text(char out[WB_CONTEXT_SIZE], const struct wb_names *n, uint64_t context);

#endif
