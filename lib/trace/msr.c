/* SPDX-License-Identifier: MIT */
/*
 * msr: the CSV of the MSR-Cambridge traces.
 *
 *   ticks,host,disk,Read|Write,offset,bytes,response ticks
 *
 * Ticks are Windows's: 100 ns since 1601. Times become ns since 1970. Rows are partly in order of
 * completion; the window sorts them.
 */
#include "trace/reader.h"

/* From 1601-01-01 to 1970-01-01 in 100 ns: 134774 days. */
#define UNIX_EPOCH_TICKS (134774ull * 86400 * 10000000)
#define NSEC_PER_TICK 100

static bool msr_matches(struct ios_span line)
{
	struct ios_span fields[7] = {{NULL, NULL}};

	for (int i = 0; i < 7; i++)
		if (!ios_text_comma(&line, &fields[i]))
			return false;
	return ios_span_is_nocase(fields[0], "timestamp") ||
	       ios_span_is_nocase(fields[3], "read") || ios_span_is_nocase(fields[3], "write");
}

static int read_time(struct iosched_trace *t, struct ios_span word, iosched_time *time)
{
	uint64_t ticks;
	int err = ios_trace_u64(t, "timestamp", word, &ticks);

	if (err != 0)
		return err;
	if (ticks < UNIX_EPOCH_TICKS)
		return ios_trace_bad(t, "timestamp", word, "is before 1970");
	if (ticks - UNIX_EPOCH_TICKS > UINT64_MAX / NSEC_PER_TICK)
		return ios_trace_bad(t, "timestamp", word, "is too large");
	*time = (ticks - UNIX_EPOCH_TICKS) * NSEC_PER_TICK;
	return 0;
}

static int read_response(struct iosched_trace *t, struct ios_span word, uint64_t *latency)
{
	uint64_t ticks;
	int err = ios_trace_u64(t, "response time", word, &ticks);

	if (err == 0 && ticks > UINT64_MAX / NSEC_PER_TICK)
		err = ios_trace_bad(t, "response time", word, "is too large");
	if (err == 0)
		*latency = ticks * NSEC_PER_TICK;
	return err;
}

static int read_type(struct iosched_trace *t, struct ios_span word,
		     struct iosched_trace_record *rec)
{
	if (ios_span_is_nocase(word, "read"))
		rec->op = IOSCHED_READ;
	else if (ios_span_is_nocase(word, "write"))
		rec->op = IOSCHED_WRITE;
	else
		return ios_trace_bad(t, "type", word, "is neither Read nor Write");
	return 0;
}

static int msr_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	struct ios_span fields[7] = {{NULL, NULL}};
	uint64_t offset, length;
	int err;

	for (int i = 0; i < 7; i++)
		ios_text_comma(&line, &fields[i]);
	if (ios_span_is_nocase(fields[0], "timestamp"))
		return IOS_TRACE_IGNORED;
	if ((err = read_time(t, fields[0], &rec->time)) != 0 ||
	    (err = ios_trace_u32(t, "disk", fields[2], &rec->device)) != 0 ||
	    (err = read_type(t, fields[3], rec)) != 0 ||
	    (err = ios_trace_u64(t, "offset", fields[4], &offset)) != 0 ||
	    (err = ios_trace_u64(t, "size", fields[5], &length)) != 0 ||
	    (err = read_response(t, fields[6], &rec->latency)) != 0 ||
	    (err = ios_trace_bytes(t, offset, length, rec)) != 0)
		return err;
	ios_trace_context_is_device(rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_msr = {
	.name = "msr",
	.summary = "MSR-Cambridge CSV: ticks,host,disk,Read|Write,offset,bytes,response",
	.matches = msr_matches,
	.line = msr_line,
};
