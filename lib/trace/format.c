/* SPDX-License-Identifier: MIT */
/*
 * format: the list of formats, and finding out which one a file has.
 *
 * A binary trace shows its magic. A text is of the first format in the order below
 * that one of its first lines fits; the strict ones (a header, a typed column) come first.
 */
#include "trace/reader.h"

/* Lines that fit nothing before we give up: "Tracing block I/O" and the like. */
#define DETECT_LINES 32

static const struct ios_trace_format auto_format = {.name = "auto"};

const struct ios_trace_format *const ios_trace_formats[IOSCHED_TRACE_FORMATS] = {
	[IOSCHED_TRACE_AUTO] = &auto_format,
	[IOSCHED_TRACE_NATIVE] = &ios_trace_native,
	[IOSCHED_TRACE_BLKTRACE] = &ios_trace_blktrace,
	[IOSCHED_TRACE_BLKPARSE] = &ios_trace_blkparse,
	[IOSCHED_TRACE_FIO_V1] = &ios_trace_fio_v1,
	[IOSCHED_TRACE_FIO_V2] = &ios_trace_fio_v2,
	[IOSCHED_TRACE_FIO_V3] = &ios_trace_fio_v3,
	[IOSCHED_TRACE_SPC] = &ios_trace_spc,
	[IOSCHED_TRACE_MSR] = &ios_trace_msr,
	[IOSCHED_TRACE_DISKSIM] = &ios_trace_disksim,
	[IOSCHED_TRACE_MQSIM] = &ios_trace_mqsim,
	[IOSCHED_TRACE_VALIDATE] = &ios_trace_validate,
	[IOSCHED_TRACE_BIOSNOOP] = &ios_trace_biosnoop,
	[IOSCHED_TRACE_FIU] = &ios_trace_fiu,
};

const char *iosched_trace_format_name(enum iosched_trace_format format)
{
	return (unsigned)format < IOSCHED_TRACE_FORMATS ? ios_trace_formats[format]->name : NULL;
}

const char *iosched_trace_format_summary(enum iosched_trace_format format)
{
	return (unsigned)format < IOSCHED_TRACE_FORMATS ? ios_trace_formats[format]->summary : NULL;
}

enum iosched_trace_format iosched_trace_format_find(const char *name)
{
	for (unsigned i = 0; i < IOSCHED_TRACE_FORMATS; i++) {
		const struct ios_trace_format *f = ios_trace_formats[i];

		if (strcmp(name, f->name) == 0 || (f->alias != NULL && strcmp(name, f->alias) == 0))
			return (enum iosched_trace_format)i;
	}
	return IOSCHED_TRACE_FORMATS;
}

/* Known, and of no use: say so instead of "not recognised". */
static const char *why_refused(struct ios_span line)
{
	struct ios_span word, rest = line;

	if (ios_span_starts(line, "$$TR_IOREC"))
		return "an HP SRT trace; convert it to text first (srtSplit or DiskSim's tools)";
	if (ios_span_starts(line, "simtime,devno,"))
		return "DiskSim's output trace; replay the trace it was made from";
	if (ios_text_word(&rest, &word) &&
	    (ios_span_is(word, "Device") || ios_span_is(word, "Device:")))
		return "iostat's output; it has no requests in it";
	return NULL;
}

static enum iosched_trace_format match(struct ios_span line)
{
	for (unsigned i = 0; i < IOSCHED_TRACE_FORMATS; i++)
		if (ios_trace_formats[i]->matches != NULL && ios_trace_formats[i]->matches(line))
			return (enum iosched_trace_format)i;
	return IOSCHED_TRACE_AUTO;
}

/* The next line of @text, without taking anything from the input. */
static bool next_line(struct ios_span *text, struct ios_span *line)
{
	const char *newline;

	if (ios_span_empty(*text))
		return false;
	newline = memchr(text->at, '\n', ios_span_length(*text));
	line->at = text->at;
	line->end = newline != NULL ? newline : text->end;
	text->at = newline != NULL ? newline + 1 : text->end;
	if (line->end > line->at && line->end[-1] == '\r')
		line->end--;
	return true;
}

static int not_recognised(struct iosched_trace *t)
{
	const struct ios_trace_input *in = &t->inputs[0];

	if (in->error != 0)
		return ios_trace_fail(t, in, in->error, "%s", strerror(-in->error));
	if (in->end == in->at)
		return ios_trace_fail(t, in, -EBADMSG, "the file is empty");
	return ios_trace_fail(t, in, -EBADMSG, "not a trace of a format we know");
}

int ios_trace_detect(struct iosched_trace *t)
{
	struct ios_trace_input *in = &t->inputs[0];
	/* Only what a pipe gives at once would do, but a first write may be short. */
	size_t have = ios_trace_input_need(in, IOS_TRACE_LINE_MAX);
	struct ios_span text = {ios_trace_input_at(in), ios_trace_input_at(in) + have};
	struct ios_span line;

	in->position = 1;
	if (have >= 4 && ios_trace_blktrace_magic(text.at)) {
		t->id = IOSCHED_TRACE_BLKTRACE;
		in->position = 0;
		return 0;
	}
	for (int i = 0; i < DETECT_LINES && next_line(&text, &line); i++) {
		const char *why = why_refused(line);

		if (why != NULL)
			return ios_trace_fail(t, in, -ENOTSUP, "this is %s", why);
		t->id = match(line);
		if (t->id != IOSCHED_TRACE_AUTO) {
			in->position = 0;
			return 0;
		}
	}
	return not_recognised(t);
}
