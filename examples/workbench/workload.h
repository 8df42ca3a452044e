/* SPDX-License-Identifier: MIT */
/*
 * workload: a trace's arrivals in memory (48 bytes each), so that every policy gets the same.
 *
 * Which records are arrivals is the trace library's choice: Q where there are any, else D,
 * else C. Times begin at 0.
 */
#ifndef WORKBENCH_WORKLOAD_H
#define WORKBENCH_WORKLOAD_H

#include "names.h"
#include "options.h"

struct wb_workload {
	const char *path;
	struct iosched_sim_record *records;
	size_t count, room;
	struct wb_names names;
	uint64_t span_ns; /* time of the last arrival */
	uint64_t bytes;
	uint64_t reads;	  /* of `count` */
	uint64_t skipped; /* malformed lines passed over */
	enum iosched_trace_format format;
	bool timed; /* false: the times are not those of arrivals */
};

/* Returns an exit code. wb_workload_fini() also after an error. */
int wb_workload_load(struct wb_workload *w, const struct wb_options *o, const char *path);
void wb_workload_fini(struct wb_workload *w);
/* One line about it, and its device. */
void wb_workload_print(const struct wb_workload *w, const struct wb_options *o);

#endif
