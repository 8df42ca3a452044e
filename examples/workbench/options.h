/* SPDX-License-Identifier: MIT */
/*
 * options: every option of every verb, in one table that parses and documents them.
 *
 * A verb names those it takes by their bits; what is not given keeps its default.
 */
#ifndef WORKBENCH_OPTIONS_H
#define WORKBENCH_OPTIONS_H

#include <stdio.h>

#include <iosched/sim.h>
#include <iosched/trace.h>

#include "workbench.h"

enum wb_option_id {
	WB_OPTION_POLICY,
	WB_OPTION_DEVICE,
	WB_OPTION_TUNABLE,
	WB_OPTION_SCALE,
	WB_OPTION_CLOSED,
	WB_OPTION_WINDOW,
	WB_OPTION_SEED,
	WB_OPTION_FORMAT,
	WB_OPTION_SKIP_BAD,
	WB_OPTION_LIMIT,
	WB_OPTION_FROM,
	WB_OPTION_ALL,
	WB_OPTION_TO,
	WB_OPTION_RUNS,
	WB_OPTION_JOBS,
	WB_OPTION_JSON,
	WB_OPTION_PLOT,
	WB_OPTION_PERFETTO,
	WB_OPTION_EXPLAIN,
	WB_OPTION_ONLY,
	WB_OPTION_SECONDS,
	WB_OPTION_WRITE,
	WB_OPTION_SUITE,
	WB_OPTION_HELP,
	WB_OPTIONS,
};

#define WB_BIT(option) (UINT64_C(1) << WB_OPTION_##option)
/* What decides how a trace is run. */
#define WB_RUN_OPTIONS                                                                        \
	(WB_BIT(POLICY) | WB_BIT(DEVICE) | WB_BIT(TUNABLE) | WB_BIT(SCALE) | WB_BIT(CLOSED) | \
	 WB_BIT(SEED) | WB_BIT(WINDOW) | WB_BIT(FORMAT) | WB_BIT(SKIP_BAD))

#define WB_MAX_POLICIES 64
#define WB_MAX_SETTINGS 64
#define WB_MAX_JOBS 64

/* One --tunable. */
struct wb_tunable {
	const struct iosched_policy *policy; /* NULL: every policy that has it */
	char *name;
	uint64_t value;
};

struct wb_options {
	const struct iosched_policy *policies[WB_MAX_POLICIES];
	unsigned policy_count; /* 0: none was named */
	struct wb_tunable tunables[WB_MAX_SETTINGS];
	unsigned tunable_count;
	const char *device_spec; /* as given */
	char *device;		 /* its preset */
	struct iosched_sim_setting settings[WB_MAX_SETTINGS];
	unsigned setting_count;
	uint64_t scale_permille;
	uint32_t closed; /* 0: open loop */
	uint32_t window; /* 0: the device's depth */
	uint64_t seed;
	uint32_t runs;	  /* of each cell of the seed tables */
	uint32_t jobs;	  /* at a time */
	uint32_t seconds; /* of `calibrate` */
	uint32_t format;  /* enum iosched_trace_format */
	uint32_t to;	  /* of `trace convert` */
	uint64_t limit;	  /* lines; UINT64_MAX: all */
	iosched_time from;
	const char *plot;
	const char *perfetto;
	const char *only;  /* label of a scenario's policy line */
	const char *suite; /* of loads that compare brings along */
	bool skip_bad, all, json, explain, write, help;
	char **operands;
	unsigned operand_count;
};

/* The words behind a verb. Call wb_options_fini() also after an error. */
int wb_options_parse(struct wb_options *o, const struct wb_verb *v, int argc, char **argv);
void wb_options_help(const struct wb_verb *v, FILE *out);
void wb_options_fini(struct wb_options *o);

#endif
