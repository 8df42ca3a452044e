/* SPDX-License-Identifier: MIT */
/* explain: the log, the timeline and the summary of one run, whatever its load. */
#ifndef WORKBENCH_EXPLAIN_H
#define WORKBENCH_EXPLAIN_H

#include "names.h"
#include "run.h"

/* A run to be explained. */
struct wb_subject {
	const char *label;
	const struct wb_names *names;
	/* Runs it with that watcher of events; returns an exit code. */
	int (*simulate)(void *user, wb_event_fn *event, void *event_user,
			struct iosched_sim_result **out);
	void *user;
};

/* Can --perfetto be done? */
int wb_explain_check(const struct wb_options *o);
int wb_explain(const struct wb_options *o, const struct wb_subject *s);

#endif
