/* SPDX-License-Identifier: MIT */
/*
 * run: one workload through one policy on the chosen device.
 *
 * A set of runs is one workload through each chosen policy, in the order they were named.
 */
#ifndef WORKBENCH_RUN_H
#define WORKBENCH_RUN_H

#include "workload.h"

struct wb_run {
	const struct iosched_policy *policy;
	struct iosched_sim_result *result;
	const char *label; /* NULL: the policy's name */
};

struct wb_runs {
	const struct wb_options *o;
	const struct wb_workload *w;
	struct wb_run runs[WB_MAX_POLICIES];
	unsigned count;
};

typedef void wb_event_fn(void *user, const struct iosched_event *event);

/* Are device and tunables such that every policy of `o` can run? Refuses if not. */
int wb_run_check(const struct wb_options *o);
/* `event` may be NULL. Free run->result. Returns an exit code. */
int wb_run(struct wb_run *run, const struct wb_options *o, const struct wb_workload *w,
	   const struct iosched_policy *policy, wb_event_fn *event, void *user);
/* All of o->policies. wb_runs_fini() also after an error. */
int wb_runs_do(struct wb_runs *r, const struct wb_options *o, const struct wb_workload *w);
void wb_runs_fini(struct wb_runs *r);
/* What the simulator changed in the trace to be able to run it; on stdout. */
void wb_runs_print_notes(const struct wb_runs *r);

/* That the policies had nothing to do, if it was so; on stdout. */
void wb_runs_print_hint(const struct wb_runs *r);

/* What a table calls it. */
const char *wb_run_label(const struct wb_run *run);

/* The row of everything. */
const struct iosched_sim_row *wb_run_all(const struct wb_run *run);

#endif
