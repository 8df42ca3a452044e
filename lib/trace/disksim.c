/* SPDX-License-Identifier: MIT */
/*
 * disksim: five columns, of DiskSim (and the simulators that took its format) and of MQSim.
 *
 *   time device sector sectors flags
 *
 * DiskSim: milliseconds with a fraction, flags in hex of which bit 0 says read.
 * MQSim: whole nanoseconds, 1 = read, 0 = write. The fraction tells them apart.
 */
#include "trace/reader.h"

static bool five_columns(struct ios_span line, struct ios_span *words)
{
	struct ios_span rest = line;
	uint64_t number;

	for (int i = 0; i < 5; i++)
		if (!ios_text_word(&rest, &words[i]))
			return false;
	return !ios_text_word(&rest, &rest) && ios_number_u64(words[1], &number) == 0 &&
	       ios_number_u64(words[2], &number) == 0 && ios_number_u64(words[3], &number) == 0 &&
	       ios_number_hex(words[4], &number) == 0;
}

static bool disksim_matches(struct ios_span line)
{
	struct ios_span words[5];
	uint64_t number;

	return five_columns(line, words) && ios_number_decimal(words[0], 6, &number) == 0 &&
	       ios_number_u64(words[0], &number) != 0;
}

static bool mqsim_matches(struct ios_span line)
{
	struct ios_span words[5];
	uint64_t number;

	return five_columns(line, words) && ios_number_u64(words[0], &number) == 0 &&
	       (ios_span_is(words[4], "0") || ios_span_is(words[4], "1"));
}

/* All but time and flags; puts those two words into @time and @flags. */
static int columns(struct iosched_trace *t, struct ios_span line, struct ios_span *time,
		   struct ios_span *flags, struct iosched_trace_record *rec)
{
	struct ios_span words[5], more;
	uint64_t sector, count;
	int err;

	for (int i = 0; i < 5; i++)
		ios_text_word(&line, &words[i]);
	*time = words[0];
	*flags = words[4];
	if ((err = ios_trace_u32(t, "device", words[1], &rec->device)) != 0 ||
	    (err = ios_trace_u64(t, "sector", words[2], &sector)) != 0 ||
	    (err = ios_trace_u64(t, "count of sectors", words[3], &count)) != 0 ||
	    (err = ios_trace_sectors(t, sector, count, rec)) != 0)
		return err;
	if (ios_text_word(&line, &more))
		return ios_trace_bad(t, "sixth column", more, "is one too many");
	ios_trace_context_is_device(rec);
	return 0;
}

static int disksim_line(struct iosched_trace *t, struct ios_span line,
			struct iosched_trace_record *rec)
{
	struct ios_span time, flags;
	uint64_t bits;
	int err = columns(t, line, &time, &flags, rec);

	if (err != 0 || (err = ios_trace_decimal(t, "time", time, 6, &rec->time)) != 0)
		return err;
	if (ios_number_hex(flags, &bits) != 0)
		return ios_trace_bad(t, "flags", flags, "is not a hexadecimal number");
	rec->op = (bits & 1) != 0 ? IOSCHED_READ : IOSCHED_WRITE;
	return IOS_TRACE_RECORD;
}

static int mqsim_line(struct iosched_trace *t, struct ios_span line,
		      struct iosched_trace_record *rec)
{
	struct ios_span time, type;
	int err = columns(t, line, &time, &type, rec);

	if (err != 0 || (err = ios_trace_u64(t, "time", time, &rec->time)) != 0)
		return err;
	if (!ios_span_is(type, "0") && !ios_span_is(type, "1"))
		return ios_trace_bad(t, "type", type, "is neither 0 nor 1");
	rec->op = ios_span_is(type, "1") ? IOSCHED_READ : IOSCHED_WRITE;
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_disksim = {
	.name = "disksim",
	.summary = "DiskSim ASCII: milliseconds device sector sectors flags",
	.matches = disksim_matches,
	.line = disksim_line,
};

const struct ios_trace_format ios_trace_mqsim = {
	.name = "mqsim",
	.alias = "ssdsim",
	.summary = "MQSim and SSDsim: nanoseconds device sector sectors type",
	.matches = mqsim_matches,
	.line = mqsim_line,
};
