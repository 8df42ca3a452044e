/* SPDX-License-Identifier: MIT */
/*
 * input: bytes of one file, pipe or callback through one buffer of fixed size.
 *
 * What lies in [at, end) of the buffer has been read and not been taken. Nothing
 * here knows lines or records; `position` is their number, kept for error messages.
 */
#ifndef IOS_TRACE_INPUT_H
#define IOS_TRACE_INPUT_H

#include <iosched/trace.h>

/* Twice the longest line, so that one fits wherever it starts. */
#define IOS_TRACE_LINE_MAX 65536
#define IOS_TRACE_INPUT_BYTES (2 * IOS_TRACE_LINE_MAX)

struct ios_trace_input {
	iosched_trace_read_fn *read;
	void *user;
	FILE *owned; /* closed by fini; NULL if the caller's */
	char *name;
	char *buffer;
	size_t at, end;
	uint64_t taken;	   /* bytes before buffer[0] */
	uint64_t position; /* line or record being read, from 1 */
	bool eof;	   /* read said 0 or an error */
	int error;	   /* what read said, or 0 */
};

int ios_trace_input_init(struct ios_trace_input *in, const char *name, iosched_trace_read_fn *read,
			 void *user);
/* Opens @path; -errno of open. */
int ios_trace_input_open(struct ios_trace_input *in, const char *path);
/* Reads from @file, which stays the caller's. */
int ios_trace_input_stream(struct ios_trace_input *in, const char *name, FILE *file);
void ios_trace_input_fini(struct ios_trace_input *in);

/* Tries to have @n bytes (at most the buffer's) at buffer + at; returns how many there are. */
size_t ios_trace_input_need(struct ios_trace_input *in, size_t n);
void ios_trace_input_take(struct ios_trace_input *in, size_t n);
/* Takes @n bytes, more than the buffer if need be; false if the input ended first. */
bool ios_trace_input_skip(struct ios_trace_input *in, uint64_t n);

static inline uint64_t ios_trace_input_bytes(const struct ios_trace_input *in)
{
	return in->taken + in->at;
}

static inline const char *ios_trace_input_at(const struct ios_trace_input *in)
{
	return in->buffer + in->at;
}

#endif
