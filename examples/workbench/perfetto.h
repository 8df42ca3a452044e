/* SPDX-License-Identifier: MIT */
/*
 * perfetto: a run as Chrome's trace-event JSON, for ui.perfetto.dev or chrome://tracing.
 *
 * One process for each context, in which each request is an async span that holds
 * "queued" and "in device"; and a process "device" with a track of what it did (busy, or held
 * back and why), one of the policy's rules, and counters.
 *
 * Rule: events are written in order of time as they happen, so nothing is kept.
 */
#ifndef WORKBENCH_PERFETTO_H
#define WORKBENCH_PERFETTO_H

#include <stdio.h>

#include "holds.h"
#include "names.h"

struct wb_perfetto {
	FILE *file;
	const struct wb_names *names;
	bool any;

	/* The device's state when time last moved on, and what of it has been written. */
	iosched_time now;
	int state; /* -1: no slice is open */
	uint64_t queued;
	uint32_t inflight;
};

void wb_perfetto_begin(struct wb_perfetto *p, FILE *file, const struct wb_names *names,
		       const char *policy);
/* Before wb_holds_event() takes the event in: `h` is what was until now. */
void wb_perfetto_event(struct wb_perfetto *p, const struct wb_holds *h,
		       const struct iosched_event *e);
/* After wb_holds_end(). */
void wb_perfetto_end(struct wb_perfetto *p, const struct wb_holds *h);

#endif
