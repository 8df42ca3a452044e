/* SPDX-License-Identifier: MIT */
/*
 * reader: pulls records out of a format, sorts them in the window, hands them on.
 *
 * next() asks, in order: is the window full enough to give its earliest away? has the
 * source ended? otherwise fetch one more. An error of the source ends it; what is in the window
 * comes first, then the error, and from then on always the error.
 */
#include "trace/reader.h"

/* SELECT_ARRIVALS looks this far ahead for a Q at least: a trace begins with the
 * completions of what was in flight when it was started, and queues were never
 * deeper than a few thousand. */
#define LOOKAHEAD 4096

static bool can_be_arrival(const struct iosched_trace *t, const struct iosched_trace_record *rec)
{
	if (t->options.one_device && rec->device != t->options.device)
		return false;
	return t->options.select == IOSCHED_TRACE_SELECT_ALL || iosched_trace_replayable(rec);
}

static bool wanted(const struct iosched_trace *t, const struct iosched_trace_record *rec)
{
	if (!can_be_arrival(t, rec))
		return false;
	return t->options.select == IOSCHED_TRACE_SELECT_ALL || !t->decided ||
	       rec->event == t->arrival || rec->event == IOSCHED_TRACE_REQUEST;
}

static bool seen(const struct iosched_trace *t, enum iosched_trace_event event)
{
	return (t->events_seen >> event & 1) != 0;
}

static void decide_arrival(struct iosched_trace *t)
{
	if (seen(t, IOSCHED_TRACE_QUEUE))
		t->arrival = IOSCHED_TRACE_QUEUE;
	else if (seen(t, IOSCHED_TRACE_ISSUE))
		t->arrival = IOSCHED_TRACE_ISSUE;
	else
		t->arrival = IOSCHED_TRACE_COMPLETE;
	t->decided = true;
}

/* One line of a text format. */
static int fetch_line(struct iosched_trace *t, struct iosched_trace_record *rec)
{
	struct ios_trace_input *in = &t->inputs[0];
	struct ios_span line, word, rest;
	const char *why = "";
	int got = ios_trace_line(in, &line, &why);

	if (got == -EBADMSG)
		return ios_trace_fail(t, in, got, "%s", why);
	if (got < 0)
		return ios_trace_fail(t, in, got, "%s", strerror(-got));
	if (got == 0)
		return IOS_TRACE_END;
	rest = line;
	if (!ios_text_word(&rest, &word))
		return IOS_TRACE_IGNORED;
	return t->format->line(t, line, rec);
}

static void end(struct iosched_trace *t, int result)
{
	t->ended = true;
	t->result = result;
	if (!t->decided)
		decide_arrival(t);
}

/* One step of the source; a record that is wanted goes into the window. */
static void fetch(struct iosched_trace *t)
{
	struct iosched_trace_record *rec = ios_trace_window_slot(&t->window);
	int got;

	memset(rec, 0, sizeof(*rec));
	rec->position = t->inputs[0].position + 1;
	got = t->format->fetch != NULL ? t->format->fetch(t, rec) : fetch_line(t, rec);
	if (got == IOS_TRACE_IGNORED) {
		t->stats.ignored++;
	} else if (got == -EBADMSG && t->options.skip_bad) {
		t->stats.skipped++;
	} else if (got != IOS_TRACE_RECORD) {
		end(t, got);
	} else if (!wanted(t, rec)) {
		t->stats.unselected++;
	} else {
		t->events_seen |= 1u << rec->event;
		ios_trace_window_push(&t->window);
		if (!t->decided && (seen(t, IOSCHED_TRACE_QUEUE) || seen(t, IOSCHED_TRACE_REQUEST)))
			decide_arrival(t);
	}
}

static bool window_gives(const struct iosched_trace *t)
{
	if (t->ended)
		return t->window.count > 0;
	if (!t->decided)
		return t->window.count == t->window.capacity;
	return t->window.count >= t->options.window;
}

static void yield(struct iosched_trace *t, const struct iosched_trace_record *from,
		  struct iosched_trace_record *rec)
{
	*rec = *from;
	if (!t->any_yielded) {
		t->any_yielded = true;
		t->first_time = t->last_time = rec->time;
	}
	if (rec->time < t->last_time) {
		rec->flags |= IOSCHED_TRACE_LATE;
		t->stats.late++;
	} else {
		t->last_time = rec->time;
	}
	/* Only a late record can be before the first one. */
	if (t->options.from_zero)
		rec->time -= rec->time < t->first_time ? rec->time : t->first_time;
	t->stats.records++;
}

int iosched_trace_next(struct iosched_trace *t, struct iosched_trace_record *rec)
{
	for (;;) {
		const struct iosched_trace_record *from;

		if (window_gives(t)) {
			if (!t->decided)
				decide_arrival(t);
			from = ios_trace_window_take(&t->window);
			if (wanted(t, from)) {
				yield(t, from, rec);
				return 1;
			}
			t->stats.unselected++;
		} else if (t->ended) {
			return t->result;
		} else {
			fetch(t);
		}
	}
}

const char *iosched_trace_error(const struct iosched_trace *t)
{
	return t->error;
}

enum iosched_trace_format iosched_trace_format(const struct iosched_trace *t)
{
	return t->id;
}

bool iosched_trace_timed(const struct iosched_trace *t)
{
	return t->timed;
}

void iosched_trace_stats_get(const struct iosched_trace *t, struct iosched_trace_stats *out,
			     size_t size)
{
	struct iosched_trace_stats stats = t->stats;

	stats.size = size;
	for (uint32_t i = 0; i < t->input_count; i++)
		stats.bytes += ios_trace_input_bytes(&t->inputs[i]);
	memset(out, 0, size);
	memcpy(out, &stats, size < sizeof(stats) ? size : sizeof(stats));
}

int ios_trace_window_for(struct iosched_trace *t)
{
	uint32_t capacity = t->options.window;

	t->decided = t->options.select == IOSCHED_TRACE_SELECT_ALL;
	if (!t->decided && capacity < LOOKAHEAD)
		capacity = LOOKAHEAD;
	return ios_trace_window_init(&t->window, capacity);
}
