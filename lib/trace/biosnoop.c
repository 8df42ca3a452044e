/* SPDX-License-Identifier: MIT */
/*
 * biosnoop: bcc's biosnoop and perf-tools' iosnoop, whose columns the header names.
 *
 *   TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)
 *   [STARTs ENDs] COMM PID TYPE DEV BLOCK BYTES LATms
 *
 * COMM may have blanks in it: columns before it are counted from the left, those behind it
 * from the right. biosnoop's TIME is that of completion; arrival is LAT and QUE before
 * that. Its clock starts at the first completion, so arrivals are moved on by the first row's
 * LAT + QUE, and what would still be before 0 is at 0.
 */
#include "trace/reader.h"

enum column {
	COLUMN_COMM,
	COLUMN_TIME,
	COLUMN_START,
	COLUMN_PID,
	COLUMN_DISK,
	COLUMN_DEVICE,
	COLUMN_TYPE,
	COLUMN_SECTOR,
	COLUMN_BYTES,
	COLUMN_QUEUED,
	COLUMN_LATENCY,
	COLUMN_OTHER,
};

/* More than any version prints. */
#define COLUMNS_MAX 16

static const struct {
	const char *title;
	enum column column;
} titles[] = {
	{"COMM", COLUMN_COMM},	     {"TIME(s)", COLUMN_TIME},	{"STARTs", COLUMN_START},
	{"PID", COLUMN_PID},	     {"DISK", COLUMN_DISK},	{"DEV", COLUMN_DEVICE},
	{"T", COLUMN_TYPE},	     {"TYPE", COLUMN_TYPE},	{"SECTOR", COLUMN_SECTOR},
	{"BLOCK", COLUMN_SECTOR},    {"BYTES", COLUMN_BYTES},	{"QUE(ms)", COLUMN_QUEUED},
	{"LAT(ms)", COLUMN_LATENCY}, {"LATms", COLUMN_LATENCY},
};

struct biosnoop {
	uint8_t columns[COLUMNS_MAX]; /* enum column of each, left to right */
	uint32_t count;		      /* 0: no header yet */
	uint32_t comm;		      /* which one COMM is */
	uint32_t present;	      /* bit per enum column */
	bool shift_known;
	uint64_t shift;
};

static enum column column_of(struct ios_span title)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (ios_span_is(title, titles[i].title))
			return titles[i].column;
	return COLUMN_OTHER;
}

static bool is_header(struct ios_span line)
{
	struct ios_span word;
	unsigned found = 0;

	while (ios_text_word(&line, &word))
		found |= ios_span_is(word, "COMM") ? 1u : ios_span_is(word, "PID") ? 2u : 0u;
	return found == 3;
}

static bool has(const struct biosnoop *state, enum column column)
{
	return (state->present >> column & 1) != 0;
}

static int read_header(struct iosched_trace *t, struct ios_span line)
{
	struct biosnoop *state = t->state;
	struct ios_span word;

	state->count = state->present = 0;
	while (state->count < COLUMNS_MAX && ios_text_word(&line, &word)) {
		enum column column = column_of(word);

		if (column == COLUMN_COMM)
			state->comm = state->count;
		state->present |= 1u << column;
		state->columns[state->count++] = (uint8_t)column;
	}
	if (!has(state, COLUMN_SECTOR) || !has(state, COLUMN_BYTES) || !has(state, COLUMN_TYPE))
		return ios_trace_fail(t, &t->inputs[0], -ENOTSUP,
				      "rows without type, sector and bytes cannot be replayed");
	t->timed = has(state, COLUMN_TIME) || has(state, COLUMN_START);
	return IOS_TRACE_IGNORED;
}

static bool is_chatter(struct ios_span line)
{
	return ios_span_starts(line, "Tracing") || ios_span_starts(line, "Ending") ||
	       ios_span_starts(line, "[...]");
}

/* Words of a row by column; false if there are fewer than titles. */
static bool split(const struct biosnoop *state, struct ios_span line, struct ios_span *by_column)
{
	for (uint32_t i = 0; i < state->comm; i++)
		if (!ios_text_word(&line, &by_column[state->columns[i]]))
			return false;
	for (uint32_t i = state->count - 1; i > state->comm; i--)
		if (!ios_text_last_word(&line, &by_column[state->columns[i]]))
			return false;
	ios_text_skip_blanks(&line);
	while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t'))
		line.end--;
	by_column[COLUMN_COMM] = line;
	return !ios_span_empty(line);
}

static int read_device(struct iosched_trace *t, const struct ios_span *words,
		       struct iosched_trace_record *rec)
{
	const struct biosnoop *state = t->state;

	if (has(state, COLUMN_DISK))
		return ios_trace_file(t, words[COLUMN_DISK], rec);
	if (has(state, COLUMN_DEVICE) && ios_number_device(words[COLUMN_DEVICE], &rec->device) != 0)
		return ios_trace_bad(t, "DEV", words[COLUMN_DEVICE], "is not major,minor");
	return 0;
}

/* Arrival, from completion and what it took. */
static int arrival(struct iosched_trace *t, uint64_t completed, uint64_t took, iosched_time *time)
{
	struct biosnoop *state = t->state;

	if (!state->shift_known)
		state->shift = took;
	state->shift_known = true;
	if (completed > UINT64_MAX - state->shift)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG, "the time is over 64 bits");
	completed += state->shift;
	*time = completed > took ? completed - took : 0;
	return 0;
}

static int read_times(struct iosched_trace *t, const struct ios_span *words,
		      struct iosched_trace_record *rec)
{
	const struct biosnoop *state = t->state;
	uint64_t queued = 0, completed;
	int err = 0;

	if (has(state, COLUMN_LATENCY))
		err = ios_trace_decimal(t, "LAT", words[COLUMN_LATENCY], 6, &rec->latency);
	if (err == 0 && has(state, COLUMN_QUEUED))
		err = ios_trace_decimal(t, "QUE", words[COLUMN_QUEUED], 6, &queued);
	if (err != 0)
		return err;
	if (has(state, COLUMN_START))
		return ios_trace_decimal(t, "STARTs", words[COLUMN_START], 9, &rec->time);
	if (!has(state, COLUMN_TIME))
		return 0;
	err = ios_trace_decimal(t, "TIME", words[COLUMN_TIME], 9, &completed);
	if (err == 0 && queued > UINT64_MAX - rec->latency)
		err = ios_trace_fail(t, &t->inputs[0], -EBADMSG, "QUE + LAT is over 64 bits");
	return err != 0 ? err : arrival(t, completed, rec->latency + queued, &rec->time);
}

static int read_extent(struct iosched_trace *t, const struct ios_span *words,
		       struct iosched_trace_record *rec)
{
	uint64_t sector, bytes;
	int err;

	if (ios_trace_rwbs_parse(words[COLUMN_TYPE], rec) != 0)
		return ios_trace_bad(t, "type", words[COLUMN_TYPE], "is not letters like WS");
	if ((err = ios_trace_u64(t, "sector", words[COLUMN_SECTOR], &sector)) != 0 ||
	    (err = ios_trace_u64(t, "bytes", words[COLUMN_BYTES], &bytes)) != 0 ||
	    (err = ios_trace_sectors(t, sector, 0, rec)) != 0)
		return err;
	return ios_trace_bytes(t, rec->offset, bytes, rec);
}

static int biosnoop_line(struct iosched_trace *t, struct ios_span line,
			 struct iosched_trace_record *rec)
{
	struct biosnoop *state = t->state;
	struct ios_span words[COLUMN_OTHER + 1] = {{NULL, NULL}};
	int err;

	if (is_chatter(line))
		return IOS_TRACE_IGNORED;
	if (is_header(line))
		return read_header(t, line);
	if (state->count == 0)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG, "no header before the first row");
	if (!split(state, line, words))
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
				      "the row has fewer columns than the header");
	if ((err = read_extent(t, words, rec)) != 0 || (err = read_times(t, words, rec)) != 0 ||
	    (err = read_device(t, words, rec)) != 0 ||
	    (err = ios_trace_u64(t, "PID", words[COLUMN_PID], &rec->context)) != 0)
		return err;
	ios_trace_process(words[COLUMN_COMM], rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_biosnoop = {
	.name = "biosnoop",
	.alias = "iosnoop",
	.summary = "bcc biosnoop and perf-tools iosnoop, columns as in the header",
	.matches = is_header,
	.state_size = sizeof(struct biosnoop),
	.line = biosnoop_line,
};
