/* SPDX-License-Identifier: MIT */
/*
 * names: the files and disks a trace names, each kept once, so that a record can point to its
 * name. Bounded: a trace of a million files is refused, not loaded.
 */
#ifndef IOS_TRACE_NAMES_H
#define IOS_TRACE_NAMES_H

#include "trace/text.h"

#define IOS_TRACE_NAMES_MAX 65536
/* fio's own limit of a file name is 256 with the NUL. */
#define IOS_TRACE_NAME_MAX 255

struct ios_trace_name {
	char *text;
	bool added, open; /* fio */
};

struct ios_trace_names {
	struct ios_trace_name *list;
	uint32_t count, room;
	uint32_t *buckets; /* index + 1 of a name; 0 = free; open addressing */
	uint32_t bucket_count;
};

void ios_trace_names_fini(struct ios_trace_names *names);
/* Finds or adds: 0, -EINVAL (empty or too long), -E2BIG (table full), -ENOMEM. */
int ios_trace_names_get(struct ios_trace_names *names, struct ios_span text, uint32_t *index);

#endif
