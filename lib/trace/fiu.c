/* SPDX-License-Identifier: MIT */
/*
 * fiu: the content traces of FIU (SNIA IOTTA).
 *
 *   time_ns pid process sector sectors R|W major minor hash
 *
 * The hash is ignored: it is of 4 KiB or of 512 B blocks, depending on the trace.
 */
#include "trace/reader.h"

enum { TIME, PID, PROCESS, SECTOR, COUNT, OP, MAJOR, MINOR, HASH, COLUMNS };

static bool fiu_matches(struct ios_span line)
{
	struct ios_span words[COLUMNS], more;
	uint64_t number;

	for (int i = 0; i < COLUMNS; i++)
		if (!ios_text_word(&line, &words[i]))
			return false;
	return !ios_text_word(&line, &more) && ios_number_u64(words[TIME], &number) == 0 &&
	       ios_number_u64(words[PID], &number) == 0 &&
	       ios_number_u64(words[SECTOR], &number) == 0 &&
	       ios_number_u64(words[COUNT], &number) == 0 &&
	       (ios_span_is_nocase(words[OP], "r") || ios_span_is_nocase(words[OP], "w")) &&
	       ios_number_u64(words[MAJOR], &number) == 0 &&
	       ios_number_u64(words[MINOR], &number) == 0;
}

static int read_device(struct iosched_trace *t, const struct ios_span *words,
		       struct iosched_trace_record *rec)
{
	uint32_t major, minor;
	int err = ios_trace_u32(t, "major", words[MAJOR], &major);

	if (err == 0)
		err = ios_trace_u32(t, "minor", words[MINOR], &minor);
	if (err != 0)
		return err;
	if (major >= 1u << 12 || minor >= 1u << 20)
		return ios_trace_bad(t, "device", words[MAJOR], "has a number too large");
	rec->device = major << 20 | minor;
	return 0;
}

static int fiu_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	struct ios_span words[COLUMNS];
	uint64_t sector, count;
	int err;

	for (int i = 0; i < COLUMNS; i++)
		ios_text_word(&line, &words[i]);
	if (ios_span_empty(words[HASH]))
		return ios_trace_bad(t, "hash", words[HASH], "");
	if ((err = ios_trace_u64(t, "time", words[TIME], &rec->time)) != 0 ||
	    (err = ios_trace_u64(t, "pid", words[PID], &rec->context)) != 0 ||
	    (err = ios_trace_u64(t, "sector", words[SECTOR], &sector)) != 0 ||
	    (err = ios_trace_u64(t, "count of sectors", words[COUNT], &count)) != 0 ||
	    (err = ios_trace_read_or_write(t, words[OP], rec)) != 0 ||
	    (err = read_device(t, words, rec)) != 0 ||
	    (err = ios_trace_sectors(t, sector, count, rec)) != 0)
		return err;
	ios_trace_process(words[PROCESS], rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_fiu = {
	.name = "fiu",
	.summary = "FIU content traces: ns pid process sector sectors op major minor hash",
	.matches = fiu_matches,
	.line = fiu_line,
};
