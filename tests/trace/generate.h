/* SPDX-License-Identifier: MIT */
/* generate: a trace of any length, made while it is read, so that no file is needed. */
#ifndef TRACE_GENERATE_H
#define TRACE_GENERATE_H

#include <iosched/trace.h>

struct generator {
	enum iosched_trace_format format; /* native, blkparse or blktrace */
	uint64_t left;			  /* bytes still to give, about */
	uint64_t number;		  /* records so far */
	char record[256];
	size_t size, at;
};

/* An iosched_trace_read_fn; @user is a struct generator. */
int64_t generate(void *user, void *buffer, size_t size);

#endif
