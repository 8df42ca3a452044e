/* SPDX-License-Identifier: MIT */
/*
 * spc: the Storage Performance Council's text, as UMass's Financial and WebSearch traces have it.
 *
 *   asu, lba, bytes, op, seconds[, anything ...]
 *
 * Blocks of an lba are options.spc_block_bytes long; sizes are bytes, may be 0 and need not be
 * whole blocks. The unit (asu) is the device.
 */
#include "trace/reader.h"

static bool spc_matches(struct ios_span line)
{
	struct ios_span fields[5] = {{NULL, NULL}};
	uint64_t number;

	for (int i = 0; i < 5; i++)
		if (!ios_text_comma(&line, &fields[i]))
			return false;
	return ios_number_u64(fields[0], &number) == 0 && ios_number_u64(fields[1], &number) == 0 &&
	       ios_number_u64(fields[2], &number) == 0 &&
	       (ios_span_is_nocase(fields[3], "r") || ios_span_is_nocase(fields[3], "w"));
}

static int blocks_to_bytes(struct iosched_trace *t, struct ios_span word, uint64_t *offset)
{
	uint64_t lba;
	int err = ios_trace_u64(t, "lba", word, &lba);

	if (err != 0)
		return err;
	if (lba > UINT64_MAX / t->options.spc_block_bytes)
		return ios_trace_bad(t, "lba", word, "is too large");
	*offset = lba * t->options.spc_block_bytes;
	return 0;
}

static int spc_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	struct ios_span fields[5] = {{NULL, NULL}};
	uint64_t offset = 0, length;
	int err;

	for (int i = 0; i < 5; i++)
		ios_text_comma(&line, &fields[i]);
	if ((err = ios_trace_u32(t, "asu", fields[0], &rec->device)) != 0 ||
	    (err = blocks_to_bytes(t, fields[1], &offset)) != 0 ||
	    (err = ios_trace_u64(t, "size", fields[2], &length)) != 0 ||
	    (err = ios_trace_read_or_write(t, fields[3], rec)) != 0 ||
	    (err = ios_trace_decimal(t, "time", fields[4], 9, &rec->time)) != 0 ||
	    (err = ios_trace_bytes(t, offset, length, rec)) != 0)
		return err;
	ios_trace_context_is_device(rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_spc = {
	.name = "spc",
	.summary = "SPC and UMass: asu,lba,bytes,op,seconds",
	.matches = spc_matches,
	.line = spc_line,
};
