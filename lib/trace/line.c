/* SPDX-License-Identifier: MIT */
/*
 * line: lines out of an input. A line too long or with a NUL in it is taken as a whole, so that
 * reading can go on behind it; no more than the buffer is ever held.
 */
#include "trace/text.h"

#include <errno.h>

static int take_overlong(struct ios_trace_input *in, const char **why)
{
	for (;;) {
		size_t have = ios_trace_input_need(in, 1);
		const char *at = ios_trace_input_at(in);
		const char *newline = have > 0 ? memchr(at, '\n', have) : NULL;

		if (newline != NULL) {
			ios_trace_input_take(in, (size_t)(newline - at) + 1);
			break;
		}
		if (have == 0)
			break;
		ios_trace_input_take(in, have);
	}
	*why = "the line is longer than 65535 bytes";
	return -EBADMSG;
}

/* How long the line at the input's position is, newline not counted; SIZE_MAX: too long. */
static size_t find_end(struct ios_trace_input *in, bool *terminated)
{
	size_t searched = 0;
	size_t have = in->end - in->at;

	for (;;) {
		const char *at = ios_trace_input_at(in);
		const char *newline =
			have > searched ? memchr(at + searched, '\n', have - searched) : NULL;

		*terminated = newline != NULL;
		searched = have;
		if (newline != NULL) {
			size_t length = (size_t)(newline - at);

			return length < IOS_TRACE_LINE_MAX ? length : SIZE_MAX;
		}
		if (have >= IOS_TRACE_LINE_MAX)
			return SIZE_MAX;
		have = ios_trace_input_need(in, have + 1);
		if (have == searched)
			return have;
	}
}

int ios_trace_line(struct ios_trace_input *in, struct ios_span *line, const char **why)
{
	bool terminated;
	size_t length = find_end(in, &terminated);

	if (length == SIZE_MAX) {
		in->position++;
		return take_overlong(in, why);
	}
	if (length == 0 && !terminated)
		return in->error;
	in->position++;
	line->at = ios_trace_input_at(in);
	line->end = line->at + length;
	/* Taking does not move the buffer's bytes; only the next read does. */
	ios_trace_input_take(in, length + terminated);
	if (length > 0 && line->end[-1] == '\r')
		line->end--;
	if (memchr(line->at, '\0', ios_span_length(*line)) != NULL) {
		*why = "the line has a NUL byte in it";
		return -EBADMSG;
	}
	return 1;
}
