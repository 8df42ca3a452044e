/* SPDX-License-Identifier: MIT */
/*
 * native: our own text.
 *
 *   # iosched-trace 1
 *   time_ns context op flags offset length [class.level] [key=value ...]
 *
 * The grammar with all keys is in docs/formats.md; native.h has the letters, which the writer
 * uses too. It keeps every member of a record but its position.
 */
#include "trace/native.h"

#include <stdlib.h>

struct native {
	bool header_seen;
};

const struct ios_native_flag ios_native_flags[] = {
	{'S', IOSCHED_RQ_SYNC},
	{'M', IOSCHED_RQ_META},
	{'I', IOSCHED_RQ_NOIDLE},
	{'F', IOSCHED_RQ_FUA},
	{'H', IOSCHED_RQ_HEAD},
	{'N', IOSCHED_RQ_NOMERGE},
	{'A', IOSCHED_TRACE_READAHEAD},
	{'P', IOSCHED_TRACE_PREFLUSH},
	{'B', IOSCHED_TRACE_BARRIER},
	{'C', IOSCHED_TRACE_PASSTHROUGH},
	{'\0', 0},
};

const char *const ios_native_classes[3] = {"be", "rt", "idle"};

static bool native_matches(struct ios_span line)
{
	return ios_span_starts(line, "# iosched-trace ");
}

static int read_op(struct iosched_trace *t, struct ios_span word, struct iosched_trace_record *rec)
{
	const char *at = ios_span_length(word) == 1 ? strchr(IOS_NATIVE_OPS, *word.at) : NULL;

	if (at == NULL)
		return ios_trace_bad(t, "op", word, "is none of R, W, F, D, N");
	rec->op = *at == 'N' ? IOSCHED_TRACE_OP_NONE : (uint8_t)(at - IOS_NATIVE_OPS);
	return 0;
}

static uint32_t flag_of(char letter)
{
	for (const struct ios_native_flag *f = ios_native_flags; f->letter != '\0'; f++)
		if (f->letter == letter)
			return f->flag;
	return 0;
}

static int read_flags(struct iosched_trace *t, struct ios_span word,
		      struct iosched_trace_record *rec)
{
	if (ios_span_is(word, "-"))
		return 0;
	if (ios_span_empty(word))
		return ios_trace_bad(t, "flags", word, "");
	for (const char *p = word.at; p < word.end; p++) {
		if (flag_of(*p) == 0)
			return ios_trace_bad(t, "flags", word, "has an unknown letter");
		rec->flags |= flag_of(*p);
	}
	return 0;
}

/* "rt.0", "be.-" */
static int read_priority(struct iosched_trace *t, struct ios_span word,
			 struct iosched_trace_record *rec)
{
	const char *dot = memchr(word.at, '.', ios_span_length(word));
	struct ios_span name = {word.at, dot != NULL ? dot : word.at};
	uint8_t prio_class = 0;

	while (prio_class < 3 && !ios_span_is(name, ios_native_classes[prio_class]))
		prio_class++;
	if (dot == NULL || prio_class == 3 || word.end != dot + 2 ||
	    ((dot[1] < '0' || dot[1] > '7') && dot[1] != '-'))
		return ios_trace_bad(t, "priority", word,
				     "is not be, rt or idle, a point, and 0..7 or -");
	rec->prio_class = prio_class;
	rec->prio_level = dot[1] == '-' ? 0 : (uint8_t)(dot[1] - '0' + 1);
	return 0;
}

/* Undoes the writer's %XX. */
static int unescape(struct ios_span s, char *out, size_t room, struct ios_span *result)
{
	size_t n = 0;

	for (const char *p = s.at; p < s.end; p++) {
		uint64_t code = (unsigned char)*p;

		if (*p == '%') {
			if (s.end - p < 3 ||
			    ios_number_hex((struct ios_span){p + 1, p + 3}, &code) != 0 ||
			    code == 0)
				return -EINVAL;
			p += 2;
		}
		if (n == room)
			return -EINVAL;
		out[n++] = (char)(unsigned char)code;
	}
	*result = (struct ios_span){out, out + n};
	return 0;
}

static int read_name(struct iosched_trace *t, struct ios_span key, struct ios_span value,
		     struct iosched_trace_record *rec)
{
	char text[IOS_TRACE_NAME_MAX];
	struct ios_span name;
	uint32_t device = rec->device;
	int err;

	if (unescape(value, text, sizeof(text), &name) != 0)
		return ios_trace_bad(t, "name", value, "is too long or has a wrong %XX");
	if (ios_span_is(key, "proc")) {
		ios_trace_process(name, rec);
		return 0;
	}
	err = ios_trace_file(t, name, rec);
	rec->device = device;
	return err;
}

static int read_event(struct iosched_trace *t, struct ios_span value,
		      struct iosched_trace_record *rec)
{
	enum iosched_trace_event event = ios_trace_event_find(value);

	if (event == IOSCHED_TRACE_EVENTS)
		return ios_trace_bad(t, "event", value, "is unknown");
	rec->event = (uint8_t)event;
	return 0;
}

static int read_error(struct iosched_trace *t, struct ios_span value,
		      struct iosched_trace_record *rec)
{
	bool negative = ios_span_starts(value, "-");
	uint32_t number;
	int err;

	value.at += negative;
	err = ios_trace_u32(t, "err", value, &number);
	if (err == 0 && number > INT32_MAX)
		return ios_trace_bad(t, "err", value, "is too large");
	if (err == 0)
		rec->error = negative ? -(int32_t)number : (int32_t)number;
	return err;
}

static int read_option(struct iosched_trace *t, struct ios_span word,
		       struct iosched_trace_record *rec)
{
	const char *equals = memchr(word.at, '=', ios_span_length(word));
	struct ios_span key = {word.at, equals != NULL ? equals : word.end};
	struct ios_span value = {equals != NULL ? equals + 1 : word.end, word.end};

	if (equals == NULL)
		return read_priority(t, word, rec);
	if (ios_span_is(key, "dev"))
		return ios_trace_u32(t, "dev", value, &rec->device);
	if (ios_span_is(key, "event"))
		return read_event(t, value, rec);
	if (ios_span_is(key, "lat"))
		return ios_trace_u64(t, "lat", value, &rec->latency);
	if (ios_span_is(key, "cpu"))
		return ios_trace_u32(t, "cpu", value, &rec->cpu);
	if (ios_span_is(key, "err"))
		return read_error(t, value, rec);
	if (ios_span_is(key, "proc") || ios_span_is(key, "file"))
		return read_name(t, key, value, rec);
	/* A newer writer's; what it adds is not needed to replay. */
	return 0;
}

static int read_comment(struct iosched_trace *t, struct ios_span line)
{
	struct native *state = t->state;

	if (native_matches(line)) {
		struct ios_span version = {line.at + strlen("# iosched-trace "), line.end};

		if (!ios_span_is(version, "1"))
			return ios_trace_fail(t, &t->inputs[0], -ENOTSUP,
					      "only version 1 of iosched-trace can be read");
		state->header_seen = true;
	}
	return IOS_TRACE_IGNORED;
}

static int native_line(struct iosched_trace *t, struct ios_span line,
		       struct iosched_trace_record *rec)
{
	struct native *state = t->state;
	struct ios_span words[6] = {{NULL, NULL}}, word;
	uint64_t offset, length;
	int err;

	if (ios_span_starts(line, "#"))
		return read_comment(t, line);
	if (!state->header_seen)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
				      "no \"# iosched-trace 1\" before the first request");
	for (int i = 0; i < 6; i++)
		ios_text_word(&line, &words[i]);
	if ((err = ios_trace_u64(t, "time", words[0], &rec->time)) != 0 ||
	    (err = ios_trace_u64(t, "context", words[1], &rec->context)) != 0 ||
	    (err = read_op(t, words[2], rec)) != 0 || (err = read_flags(t, words[3], rec)) != 0 ||
	    (err = ios_trace_u64(t, "offset", words[4], &offset)) != 0 ||
	    (err = ios_trace_u64(t, "length", words[5], &length)) != 0 ||
	    (err = ios_trace_bytes(t, offset, length, rec)) != 0)
		return err;
	while (ios_text_word(&line, &word))
		if ((err = read_option(t, word, rec)) != 0)
			return err;
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_native = {
	.name = "native",
	.summary = "our own text: time_ns context op flags offset length [class.level] [key=value]",
	.matches = native_matches,
	.state_size = sizeof(struct native),
	.line = native_line,
};
