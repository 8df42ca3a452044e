/* SPDX-License-Identifier: MIT */
/*
 * blkparse: the text blkparse prints by default.
 *
 *   maj,min cpu sequence seconds.nanoseconds pid action rwbs rest
 *
 * `rest` depends on the action; what matters is "sector + count" at its front and the
 * bracket at its end, with a process name (which may have blanks in it) or, for a
 * completion, an error number. The summary behind the events ends the trace.
 */
#include "trace/reader.h"

static bool blkparse_matches(struct ios_span line)
{
	struct ios_span word;
	uint32_t device;
	uint64_t number;

	return ios_text_word(&line, &word) && ios_number_device(word, &device) == 0 &&
	       ios_text_word(&line, &word) && ios_number_u64(word, &number) == 0 &&
	       ios_text_word(&line, &word) && ios_number_u64(word, &number) == 0 &&
	       ios_text_word(&line, &word) && memchr(word.at, '.', ios_span_length(word)) != NULL;
}

/* "CPU0 (sda):" or "Total (sda):" */
static bool is_summary(struct ios_span line)
{
	struct ios_span word;

	ios_text_word(&line, &word);
	ios_text_skip_blanks(&line);
	return (ios_span_starts(word, "CPU") || ios_span_is(word, "Total")) &&
	       ios_span_starts(line, "(");
}

/* Takes "[name]" or "[error]" and what follows it off the end of @rest. */
static bool take_bracket(struct ios_span *rest, struct ios_span *inside)
{
	const char *open =
		ios_span_empty(*rest) ? NULL : memchr(rest->at, '[', ios_span_length(*rest));
	const char *close = rest->end;

	*inside = (struct ios_span){rest->end, rest->end};
	while (open != NULL && close > open && close[-1] != ']')
		close--;
	if (open == NULL || close == open)
		return false;
	*inside = (struct ios_span){open + 1, close - 1};
	rest->end = open;
	return true;
}

static void read_bracket(struct ios_span inside, struct iosched_trace_record *rec)
{
	uint64_t number;
	bool negative = ios_span_starts(inside, "-");

	if (rec->event != IOSCHED_TRACE_COMPLETE) {
		ios_trace_process(inside, rec);
		return;
	}
	inside.at += negative;
	if (ios_number_u64(inside, &number) == 0 && number <= INT32_MAX)
		rec->error = negative ? -(int32_t)number : (int32_t)number;
}

/* "sector + count", "sector / sector", "sector", "bytes (hex ...)" or nothing. */
static int read_extent(struct iosched_trace *t, struct ios_span rest,
		       struct iosched_trace_record *rec)
{
	struct ios_span first, sign, second;
	uint64_t sector, count = 0;
	int err;

	if (!ios_text_word(&rest, &first))
		return 0;
	ios_text_word(&rest, &sign);
	if (ios_span_starts(sign, "(")) {
		rec->flags |= IOSCHED_TRACE_PASSTHROUGH;
		if ((err = ios_trace_u64(t, "bytes", first, &count)) != 0)
			return err;
		return ios_trace_bytes(t, 0, count, rec);
	}
	if ((err = ios_trace_u64(t, "sector", first, &sector)) != 0)
		return err;
	if (ios_span_is(sign, "+")) {
		ios_text_word(&rest, &second);
		err = ios_trace_u64(t, "count of sectors", second, &count);
	} else if (!ios_span_empty(sign) && !ios_span_is(sign, "/")) {
		return ios_trace_bad(t, "extent", sign, "should be + and a count of sectors");
	}
	return err != 0 ? err : ios_trace_sectors(t, sector, count, rec);
}

static bool has_extent(uint8_t event)
{
	return event != IOSCHED_TRACE_PLUG && event != IOSCHED_TRACE_UNPLUG &&
	       event != IOSCHED_TRACE_UNPLUG_TIMER;
}

static int read_rest(struct iosched_trace *t, struct ios_span rest,
		     struct iosched_trace_record *rec)
{
	struct ios_span inside;

	if (take_bracket(&rest, &inside))
		read_bracket(inside, rec);
	else if (rec->event != IOSCHED_TRACE_REMAP)
		return ios_trace_bad(t, "end of line", rest, "has no [name]");
	return has_extent(rec->event) ? read_extent(t, rest, rec) : 0;
}

static int read_device(struct iosched_trace *t, struct ios_span word,
		       struct iosched_trace_record *rec)
{
	int err = ios_number_device(word, &rec->device);

	return err == 0 ? 0 : ios_trace_bad(t, "device", word, "is not major,minor");
}

static int read_action(struct iosched_trace *t, struct ios_span word,
		       struct iosched_trace_record *rec)
{
	enum iosched_trace_event event = ios_trace_event_find(word);

	if (event == IOSCHED_TRACE_EVENTS || event == IOSCHED_TRACE_REQUEST)
		return ios_trace_bad(t, "action", word, "is unknown");
	rec->event = (uint8_t)event;
	return 0;
}

static int blkparse_line(struct iosched_trace *t, struct ios_span line,
			 struct iosched_trace_record *rec)
{
	struct ios_span words[7] = {{NULL, NULL}};
	uint64_t sequence;
	int err;

	if (ios_span_starts(line, "Input file"))
		return IOS_TRACE_IGNORED;
	if (is_summary(line))
		return IOS_TRACE_END;
	for (int i = 0; i < 7; i++)
		ios_text_word(&line, &words[i]);
	if ((err = read_device(t, words[0], rec)) != 0 ||
	    (err = ios_trace_u32(t, "cpu", words[1], &rec->cpu)) != 0 ||
	    (err = ios_trace_u64(t, "sequence", words[2], &sequence)) != 0 ||
	    (err = ios_trace_decimal(t, "time", words[3], 9, &rec->time)) != 0 ||
	    (err = ios_trace_u64(t, "pid", words[4], &rec->context)) != 0)
		return err;
	if (ios_span_is(words[5], "m"))
		return IOS_TRACE_IGNORED;
	if ((err = read_action(t, words[5], rec)) != 0)
		return err;
	if (ios_trace_rwbs_parse(words[6], rec) != 0)
		return ios_trace_bad(t, "rwbs", words[6], "is not letters like WS");
	err = read_rest(t, line, rec);
	return err != 0 ? err : IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_blkparse = {
	.name = "blkparse",
	.summary = "blkparse's default text",
	.matches = blkparse_matches,
	.line = blkparse_line,
};
