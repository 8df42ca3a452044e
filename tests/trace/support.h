/* SPDX-License-Identifier: MIT */
/* support: traces out of memory, records one by one, and the runner of a test program. */
#ifndef TRACE_SUPPORT_H
#define TRACE_SUPPORT_H

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/trace.h>

/* Bytes in memory, given out at most `chunk` at a time (0: all that is asked for). */
struct feed {
	const char *bytes;
	size_t size, at, chunk;
};

int64_t feed_read(void *user, void *buffer, size_t size);

struct iosched_trace_options options_of(enum iosched_trace_format format);
/* Opens @text as "t" with the options; fails the test unless open returns @expect. */
struct iosched_trace *open_bytes(const char *bytes, size_t size,
				 const struct iosched_trace_options *o, int expect);
struct iosched_trace *open_text(const char *text, enum iosched_trace_format format);
/* The next record; fails the test if there is none. */
struct iosched_trace_record next_record(struct iosched_trace *t);
/* The trace ends here, with @result. */
void ends_with(struct iosched_trace *t, int result, const char *error);
/* Format detected, one record or error in @text. */
void detected_as(const char *text, enum iosched_trace_format format);
struct iosched_trace_stats stats_of(const struct iosched_trace *t);
/* A single line of the format is refused with this sentence. */
void refuses(enum iosched_trace_format format, const char *text, const char *error);
/* Extent, operation and time of a record. */
void is_request(const struct iosched_trace_record *rec, uint64_t time, uint8_t op, uint64_t offset,
		uint64_t length);
/* All of a file in memory; the caller frees. NULL if there is none such. */
char *file_bytes(const char *path, size_t *size);
/* Are two records equal in all that the native format keeps? */
bool records_equal(const struct iosched_trace_record *a, const struct iosched_trace_record *b);

/* Runs the cases; for main. */
int run_cases(const char *name, const TTest *const *tests, size_t count);

#define RUN(name, ...)                                                           \
	int main(void)                                                           \
	{                                                                        \
		const TTest *const tests[] = {__VA_ARGS__};                      \
		return run_cases(name, tests, sizeof(tests) / sizeof(tests[0])); \
	}

#endif
