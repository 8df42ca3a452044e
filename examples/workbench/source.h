/* SPDX-License-Identifier: MIT */
/*
 * source: a trace file opened for reading, through xz, gzip, bzip2 or zstd if it is
 * compressed; "-" is standard input.
 *
 * Rule: every failure is said once, as "file:line: what", where it happens.
 */
#ifndef WORKBENCH_SOURCE_H
#define WORKBENCH_SOURCE_H

#include <stdio.h>
#include <sys/types.h>

#include <iosched/trace.h>

struct wb_source {
	struct iosched_trace *trace;
	const char *path;
	const char *program; /* that unpacks it, or NULL */
	FILE *stream;	     /* the file, or what `program` writes; NULL: several files */
	pid_t child;
};

/* Returns an exit code. wb_source_close() also after an error. */
int wb_source_open(struct wb_source *s, const char *path, const struct iosched_trace_options *o);
/* Sets *got to 1 and fills `rec`, or to 0 at the end. Returns an exit code. */
int wb_source_next(struct wb_source *s, struct iosched_trace_record *rec, int *got);
void wb_source_close(struct wb_source *s);

#endif
