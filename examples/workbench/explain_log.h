/* SPDX-License-Identifier: MIT */
/* explain_log: the decisions of a run as lines that a person reads. */
#ifndef WORKBENCH_EXPLAIN_LOG_H
#define WORKBENCH_EXPLAIN_LOG_H

#include "holds.h"
#include "options.h"
#include "workload.h"

struct wb_log {
	const struct wb_names *names;
	uint64_t limit; /* lines still to print */
	uint64_t left_out;
	iosched_time from;
	bool all;
	uint64_t head_end; /* where the last dispatch ended */
};

/* After wb_holds_event(), whose answer is `news`; `idle_ns` is how long the device had been
 * held idle when the event came. */
void wb_log_event(struct wb_log *l, const struct wb_holds *h, const struct iosched_event *e,
		  bool news, uint64_t idle_ns);

#endif
