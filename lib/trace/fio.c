/* SPDX-License-Identifier: MIT */
/*
 * fio: its iolog, versions 1, 2 and 3.
 *
 *   1: rw, offset, length                          (rw: 0 read, 1 write)
 *   2: file action [offset length]                 no times but `wait` lines
 *   3: microseconds file action [offset length]    no `wait`
 *
 * A file must be added, then opened, before I/O. State: the clock of `wait` lines; which
 * files are added and open is kept with their names.
 */
#include "trace/reader.h"

#define NSEC_PER_USEC 1000u
#define NSEC_PER_MSEC 1000000u

struct fio {
	bool header_seen;
	iosched_time clock; /* version 2: where the wait lines have brought us */
};

static bool v2_matches(struct ios_span line)
{
	return ios_span_is(line, "fio version 2 iolog");
}

static bool v3_matches(struct ios_span line)
{
	return ios_span_is(line, "fio version 3 iolog");
}

static int times(struct iosched_trace *t, struct ios_span word, uint64_t number, uint64_t unit,
		 uint64_t *ns)
{
	if (number > UINT64_MAX / unit)
		return ios_trace_bad(t, "time", word, "is too large");
	*ns = number * unit;
	return 0;
}

/* `wait`: its number stands where an offset would. */
static int wait_line(struct iosched_trace *t, struct ios_span word)
{
	struct fio *state = t->state;
	bool relative = t->options.wait == IOSCHED_TRACE_WAIT_RELATIVE_US;
	uint64_t number, ns = 0;
	int err;

	if ((err = ios_trace_u64(t, "wait", word, &number)) != 0 ||
	    (err = times(t, word, number, relative ? NSEC_PER_USEC : NSEC_PER_MSEC, &ns)) != 0)
		return err;
	if (relative && state->clock > UINT64_MAX - ns)
		return ios_trace_bad(t, "wait", word, "is too large");
	state->clock = relative ? state->clock + ns : ns;
	return IOS_TRACE_IGNORED;
}

/* add, open, close: 1 if it was one of them. */
static int file_action(struct iosched_trace *t, struct ios_trace_name *file, struct ios_span action)
{
	if (ios_span_is(action, "add")) {
		file->added = true;
	} else if (ios_span_is(action, "open")) {
		if (!file->added)
			return ios_trace_bad(t, "file", ios_span_of(file->text),
					     "is opened and was not added");
		file->open = true;
	} else if (ios_span_is(action, "close")) {
		file->open = false;
	} else {
		return 0;
	}
	return 1;
}

static bool set_op(struct ios_span action, struct iosched_trace_record *rec)
{
	if (ios_span_is(action, "read"))
		rec->op = IOSCHED_READ;
	else if (ios_span_is(action, "write"))
		rec->op = IOSCHED_WRITE;
	else if (ios_span_is(action, "trim"))
		rec->op = IOSCHED_DISCARD;
	else if (ios_span_is(action, "sync") || ios_span_is(action, "datasync"))
		rec->op = IOSCHED_FLUSH;
	else
		return false;
	return true;
}

static int read_extent(struct iosched_trace *t, struct ios_span rest,
		       struct iosched_trace_record *rec)
{
	struct ios_span first, second;
	uint64_t offset, length;
	int err;

	ios_text_word(&rest, &first);
	ios_text_word(&rest, &second);
	/* An empty sync line is complete. */
	if (rec->op == IOSCHED_FLUSH && ios_span_empty(first))
		return 0;
	if ((err = ios_trace_u64(t, "offset", first, &offset)) != 0 ||
	    (err = ios_trace_u64(t, "length", second, &length)) != 0)
		return err;
	if (length > UINT32_MAX)
		t->stats.oversized++;
	return rec->op == IOSCHED_FLUSH ? 0 : ios_trace_bytes(t, offset, length, rec);
}

/* What is alike in versions 2 and 3: file action [offset length]. */
static int action_line(struct iosched_trace *t, struct ios_span line, bool waits,
		       struct iosched_trace_record *rec)
{
	struct ios_span name, action, word;
	struct ios_trace_name *file;
	int err;

	ios_text_word(&line, &name);
	ios_text_word(&line, &action);
	if (ios_span_empty(action))
		return ios_trace_bad(t, "action", action, "");
	if (waits && ios_span_is(action, "wait")) {
		ios_text_word(&line, &word);
		return wait_line(t, word);
	}
	err = ios_trace_file(t, name, rec);
	if (err != 0)
		return err;
	file = &t->names.list[rec->device];
	err = file_action(t, file, action);
	if (err != 0)
		return err < 0 ? err : IOS_TRACE_IGNORED;
	if (!set_op(action, rec))
		return ios_trace_bad(t, "action", action, "is unknown in this version");
	if (!file->open)
		return ios_trace_bad(t, "file", name, "is not open");
	ios_trace_context_is_device(rec);
	err = read_extent(t, line, rec);
	return err != 0 ? err : IOS_TRACE_RECORD;
}

/* The first line: IOS_TRACE_IGNORED, or an error; 0 when it has been seen before. */
static int header(struct iosched_trace *t, bool matches)
{
	struct fio *state = t->state;

	if (state->header_seen)
		return 0;
	state->header_seen = true;
	if (matches)
		return IOS_TRACE_IGNORED;
	return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
			      "the first line is not \"fio version %c iolog\"",
			      t->format == &ios_trace_fio_v2 ? '2' : '3');
}

static int v2_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	struct fio *state = t->state;
	int got = header(t, v2_matches(line));

	if (got != 0)
		return got;
	rec->time = state->clock;
	return action_line(t, line, true, rec);
}

static int v3_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	int got = header(t, v3_matches(line));
	struct ios_span word;
	uint64_t number;

	if (got != 0)
		return got;
	ios_text_word(&line, &word);
	if ((got = ios_trace_u64(t, "time", word, &number)) != 0 ||
	    (got = times(t, word, number, NSEC_PER_USEC, &rec->time)) != 0)
		return got;
	return action_line(t, line, false, rec);
}

static int v1_line(struct iosched_trace *t, struct ios_span line, struct iosched_trace_record *rec)
{
	struct ios_span rw, offset_field, length_field;
	uint64_t offset, length;
	int err;

	ios_text_comma(&line, &rw);
	ios_text_comma(&line, &offset_field);
	ios_text_comma(&line, &length_field);
	if (!ios_span_is(rw, "0") && !ios_span_is(rw, "1"))
		return ios_trace_bad(t, "rw", rw, "is neither 0 nor 1");
	rec->op = ios_span_is(rw, "0") ? IOSCHED_READ : IOSCHED_WRITE;
	if ((err = ios_trace_u64(t, "offset", offset_field, &offset)) != 0 ||
	    (err = ios_trace_u64(t, "length", length_field, &length)) != 0 ||
	    (err = ios_trace_bytes(t, offset, length, rec)) != 0)
		return err;
	ios_trace_context_is_device(rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_fio_v1 = {
	.name = "fio-v1",
	.summary = "fio iolog version 1: rw, offset, length",
	.line = v1_line,
	.untimed = true,
};

const struct ios_trace_format ios_trace_fio_v2 = {
	.name = "fio-v2",
	.summary = "fio iolog version 2: file action offset length, no times",
	.matches = v2_matches,
	.state_size = sizeof(struct fio),
	.line = v2_line,
	.untimed = true,
};

const struct ios_trace_format ios_trace_fio_v3 = {
	.name = "fio-v3",
	.summary = "fio iolog version 3: microseconds file action offset length",
	.matches = v3_matches,
	.state_size = sizeof(struct fio),
	.line = v3_line,
};
