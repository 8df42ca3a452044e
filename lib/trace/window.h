/* SPDX-License-Identifier: MIT */
/*
 * window: a bounded number of records, kept in order of time; equal times in order of arrival.
 *
 * A ring of slot numbers, sorted. Traces are nearly sorted, so a new record goes
 * to the end or a few places before it: O(1) typically, O(capacity) at worst.
 */
#ifndef IOS_TRACE_WINDOW_H
#define IOS_TRACE_WINDOW_H

#include <iosched/trace.h>

struct ios_trace_window {
	struct iosched_trace_record *slots;
	uint32_t *ring;	     /* slot numbers: `count` used ones from `head` on, then free ones */
	iosched_time *times; /* of the ring's entries */
	uint32_t head, count, capacity, mask;
};

int ios_trace_window_init(struct ios_trace_window *w, uint32_t capacity);
void ios_trace_window_fini(struct ios_trace_window *w);
/* A free slot to fill, then ios_trace_window_push(); the window must not be full. */
struct iosched_trace_record *ios_trace_window_slot(struct ios_trace_window *w);
void ios_trace_window_push(struct ios_trace_window *w);
/* The earliest, or NULL. Good until the next push. */
const struct iosched_trace_record *ios_trace_window_take(struct ios_trace_window *w);

#endif
