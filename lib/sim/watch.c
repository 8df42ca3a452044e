/* SPDX-License-Identifier: MIT */
#include "sim/watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void ios_sim_watch_fail(struct ios_sim_watch *w, const char *format, ...)
{
	char sentence[240];
	va_list args;

	if (ios_sim_watch_failed(w))
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	snprintf(w->violation.text, sizeof(w->violation.text), "at %llu ns: %s",
		 (unsigned long long)w->engine->now, sentence);
	ios_sim_stop(w->engine, -EPROTO);
}

static const char *hold_name(enum iosched_hold hold)
{
	switch (hold) {
	case IOSCHED_HOLD_NONE:
		return "none";
	case IOSCHED_HOLD_EMPTY:
		return "empty";
	case IOSCHED_HOLD_WINDOW:
		return "window full";
	case IOSCHED_HOLD_IDLING:
		return "idling";
	case IOSCHED_HOLD_THROTTLED:
		return "throttled";
	case IOSCHED_HOLD_INFLIGHT:
		return "waiting for a completion";
	}
	return "unknown";
}

/* What is known of the queue when it dispatched nothing. */
struct held {
	enum iosched_hold reason;
	uint64_t queued;
	uint32_t inflight;
	iosched_time wakeup;
};

static bool reason_fits(const struct held *h, uint32_t window)
{
	switch (h->reason) {
	case IOSCHED_HOLD_EMPTY:
		return h->queued == 0;
	case IOSCHED_HOLD_WINDOW:
		return h->inflight >= window;
	case IOSCHED_HOLD_IDLING:
	case IOSCHED_HOLD_THROTTLED:
		return h->wakeup != IOSCHED_NEVER;
	case IOSCHED_HOLD_INFLIGHT:
		return h->inflight > 0;
	case IOSCHED_HOLD_NONE:
		return false;
	}
	return false;
}

void ios_sim_watch_hold(struct ios_sim_watch *w, const struct iosched *queue, uint32_t window)
{
	struct held h = {
		.reason = iosched_hold_reason(queue),
		.queued = iosched_queued(queue),
		.inflight = iosched_inflight(queue),
		.wakeup = iosched_next_wakeup(queue),
	};

	if (h.queued > 0 && h.inflight == 0 && h.wakeup == IOSCHED_NEVER)
		ios_sim_watch_fail(w,
				   "%llu requests are queued, none is in flight, dispatch returns "
				   "none (%s) and no wake-up is set: the queue is stuck",
				   (unsigned long long)h.queued, hold_name(h.reason));
	else if (!reason_fits(&h, window))
		ios_sim_watch_fail(
			w,
			"dispatch returns none because \"%s\", but %llu are queued, %u of "
			"%u in flight, and %s wake-up is set",
			hold_name(h.reason), (unsigned long long)h.queued, h.inflight, window,
			h.wakeup == IOSCHED_NEVER ? "no" : "a");
}

void ios_sim_watch_woken(struct ios_sim_watch *w, const struct iosched *queue)
{
	if (iosched_next_wakeup(queue) > w->engine->now || iosched_inflight(queue) > 0)
		return;
	ios_sim_watch_fail(w,
			   "the queue was woken when it asked to be, dispatched nothing, and asks "
			   "for the same moment again: it would spin");
}

bool ios_sim_watch_span(struct ios_sim_watch *w, const struct iosched_request *rq, uint64_t number)
{
	const struct iosched_request *m = rq->merged;
	uint64_t at = rq->span_offset;
	bool own = false;

	while (m != NULL || !own) {
		const struct iosched_request *part = m;

		if (!own && (m == NULL || rq->offset < m->offset)) {
			part = rq;
			own = true;
		} else {
			m = iosched_merged_next(m);
		}
		if (part->offset != at)
			break;
		at += part->length;
	}
	if (m == NULL && own && at == rq->span_offset + rq->span_length)
		return true;
	ios_sim_watch_fail(w,
			   "request %llu is to be issued as %llu bytes at %llu, which its parts do "
			   "not cover exactly",
			   (unsigned long long)number, (unsigned long long)rq->span_length,
			   (unsigned long long)rq->span_offset);
	return false;
}
