/* SPDX-License-Identifier: MIT */
/* writer: what the writers of the formats share. */
#ifndef IOS_TRACE_WRITER_H
#define IOS_TRACE_WRITER_H

#include "trace/native.h"

struct iosched_trace_writer {
	struct iosched_trace_writer_options options;
	FILE *out;
	bool failed;		      /* the stream had an error; it stays */
	char *file;		      /* copy of options.file */
	struct ios_trace_names names; /* fio: files added so far */
	uint64_t clock;		      /* fio: time of the last line, in its unit */
};

/* 0, or -EIO if the stream ever failed. */
int ios_trace_writer_status(struct iosched_trace_writer *w);

/* Can fio read it back: no blanks, not empty, not too long? */
bool ios_fio_name_valid(const char *name);
int ios_fio_write(struct iosched_trace_writer *w, const struct iosched_trace_record *rec);
void ios_fio_end(struct iosched_trace_writer *w);

#endif
