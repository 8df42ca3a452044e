/* SPDX-License-Identifier: MIT */
/*
 * rwbs: operation, flags and events as the letters blkparse writes.
 *
 * [F = flush first] one of W D R N, or F alone for a flush, then F fua, A readahead, S sync,
 * M metadata, B barrier. Letters of kernels to come are accepted and mean nothing to us.
 */
#include "trace/reader.h"

static const char *const event_names[IOSCHED_TRACE_EVENTS] = {
	[IOSCHED_TRACE_REQUEST] = "-",	  [IOSCHED_TRACE_QUEUE] = "Q",
	[IOSCHED_TRACE_BACK_MERGE] = "M", [IOSCHED_TRACE_FRONT_MERGE] = "F",
	[IOSCHED_TRACE_GET] = "G",	  [IOSCHED_TRACE_SLEEP] = "S",
	[IOSCHED_TRACE_REQUEUE] = "R",	  [IOSCHED_TRACE_ISSUE] = "D",
	[IOSCHED_TRACE_COMPLETE] = "C",	  [IOSCHED_TRACE_PLUG] = "P",
	[IOSCHED_TRACE_UNPLUG] = "U",	  [IOSCHED_TRACE_UNPLUG_TIMER] = "T",
	[IOSCHED_TRACE_INSERT] = "I",	  [IOSCHED_TRACE_SPLIT] = "X",
	[IOSCHED_TRACE_BOUNCE] = "B",	  [IOSCHED_TRACE_REMAP] = "A",
	[IOSCHED_TRACE_ABORT] = "abort",  [IOSCHED_TRACE_DRIVER] = "drv",
};

const char *iosched_trace_event_name(enum iosched_trace_event event)
{
	return (unsigned)event < IOSCHED_TRACE_EVENTS ? event_names[event] : NULL;
}

enum iosched_trace_event ios_trace_event_find(struct ios_span letters)
{
	if (ios_span_is(letters, "UT"))
		return IOSCHED_TRACE_UNPLUG_TIMER;
	for (unsigned i = 0; i < IOSCHED_TRACE_EVENTS; i++)
		if (ios_span_is(letters, event_names[i]))
			return (enum iosched_trace_event)i;
	return IOSCHED_TRACE_EVENTS;
}

static uint8_t op_of_letter(char letter)
{
	switch (letter) {
	case 'R':
		return IOSCHED_READ;
	case 'W':
		return IOSCHED_WRITE;
	case 'D':
	case 'E': /* secure erase */
		return IOSCHED_DISCARD;
	default: /* N none, V verify, zone operations */
		return IOSCHED_TRACE_OP_NONE;
	}
}

static uint32_t flag_of_letter(char letter)
{
	switch (letter) {
	case 'F':
		return IOSCHED_RQ_FUA;
	case 'A':
		return IOSCHED_TRACE_READAHEAD;
	case 'S':
		return IOSCHED_RQ_SYNC;
	case 'M':
		return IOSCHED_RQ_META;
	case 'B':
		return IOSCHED_TRACE_BARRIER;
	default:
		return 0;
	}
}

/* A leading F: before W, D or R it asks for a flush first; before N or anything else it is one. */
static const char *leading_flush(struct ios_span s, struct iosched_trace_record *rec)
{
	const char *next = s.at + 1;

	if (next < s.end && strchr("WDR", *next) != NULL) {
		rec->flags |= IOSCHED_TRACE_PREFLUSH;
		rec->op = op_of_letter(*next);
		return next + 1;
	}
	rec->op = IOSCHED_FLUSH;
	return next < s.end && *next == 'N' ? next + 1 : next;
}

int ios_trace_rwbs_parse(struct ios_span s, struct iosched_trace_record *rec)
{
	const char *p = s.at;

	/* The longest there is has six letters; more is something else. */
	if (ios_span_empty(s) || ios_span_length(s) > 8)
		return -EINVAL;
	for (; p < s.end; p++)
		if (*p < 'A' || *p > 'Z')
			return -EINVAL;
	if (*s.at == 'F') {
		p = leading_flush(s, rec);
	} else {
		rec->op = op_of_letter(*s.at);
		p = s.at + 1;
	}
	for (; p < s.end; p++)
		rec->flags |= flag_of_letter(*p);
	return 0;
}

static char *put_op(const struct iosched_trace_record *rec, char *p)
{
	if (rec->op == IOSCHED_FLUSH || (rec->flags & IOSCHED_TRACE_PREFLUSH) != 0)
		*p++ = 'F';
	*p++ = rec->op == IOSCHED_READ	    ? 'R'
	       : rec->op == IOSCHED_WRITE   ? 'W'
	       : rec->op == IOSCHED_DISCARD ? 'D'
					    : 'N';
	return p;
}

void iosched_trace_rwbs(const struct iosched_trace_record *rec, char *out)
{
	static const char letters[] = "FASMB";
	char *p = put_op(rec, out);

	for (const char *l = letters; *l != '\0'; l++)
		if ((rec->flags & flag_of_letter(*l)) != 0)
			*p++ = *l;
	*p = '\0';
}
