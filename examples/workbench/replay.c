/* SPDX-License-Identifier: MIT */
/*
 * replay: a trace through policies on a simulated device, one table. compare is the same for
 * all policies unless some are named, with ratios to noop.
 */
#include <string.h>

#include "choices.h"
#include "fairness.h"
#include "plot.h"
#include "report.h"

static int show(const struct wb_runs *r, int base, struct wb_json *all)
{
	int code = WB_OK;

	if (r->o->json)
		wb_json_append(all, wb_report_json(r, base));
	else
		code = wb_report_print(r, base);
	return code == WB_OK && r->o->plot != NULL ? wb_plot(r) : code;
}

static int replay_one(const struct wb_options *o, const char *path, int base, struct wb_json *all)
{
	struct wb_workload w;
	struct wb_runs runs = {0};
	int code = wb_workload_load(&w, o, path);

	if (code == WB_OK)
		code = wb_runs_do(&runs, o, &w);
	if (code == WB_OK)
		code = show(&runs, base, all);
	wb_runs_fini(&runs);
	wb_workload_fini(&w);
	return code;
}

static int replay_all(const struct wb_options *o, int base)
{
	struct wb_json *all = o->json ? wb_json_array() : NULL;
	int code = WB_OK;

	for (unsigned i = 0; code == WB_OK && i < o->operand_count; i++)
		code = replay_one(o, o->operands[i], base, all);
	if (!o->json)
		return code;
	if (code == WB_OK)
		return wb_json_print(all);
	wb_json_free(all);
	return code;
}

static int run(const struct wb_options *given, bool compare)
{
	struct wb_options o = *given;
	int base = -1;
	int code;

	if (o.json && !wb_json_available())
		return WB_FAILED;
	if (o.policy_count == 0)
		wb_choose_all_policies(&o);
	if (compare)
		base = wb_choose_base(&o, "noop");
	code = wb_plot_check(&o);
	if (code == WB_OK)
		code = wb_run_check(&o);
	return code == WB_OK ? replay_all(&o, base) : code;
}

static int replay(const struct wb_options *o)
{
	return run(o, false);
}

/* A suite has devices and times of its own. */
static bool changes_a_run(const struct wb_options *o)
{
	return strcmp(o->device_spec, "hdd") != 0 || o->tunable_count > 0 || o->closed != 0 ||
	       o->scale_permille != 1000 || o->window != 0 || o->skip_bad ||
	       o->format != IOSCHED_TRACE_AUTO;
}

static int run_suite(const struct wb_options *given)
{
	struct wb_options o = *given;

	if (o.operand_count > 0)
		return wb_refuse("--suite %s runs loads of its own: no traces", o.suite);
	if (changes_a_run(&o))
		return wb_refuse(
			"--suite %s takes --policy, --seed, --jobs, --json and --plot only",
			o.suite);
	if (o.json && !wb_json_available())
		return WB_FAILED;
	if (o.policy_count == 0)
		wb_choose_all_policies(&o);
	return wb_fairness(&o);
}

static int compare(const struct wb_options *o)
{
	if (o->suite != NULL)
		return run_suite(o);
	if (o->operand_count == 0)
		return wb_refuse("too few operands: name traces, or --suite fairness");
	return run(o, true);
}

#define COLUMNS_HELP                                                                              \
	"Columns: time until the last request was done; throughput; wait is from insert to\n"     \
	"dispatch and total from insert to completion; merged requests; seeks are dispatches\n"   \
	"that do not begin where the one before ended; idle is the time the device had nothing\n" \
	"to do while requests were queued; Jain's index of the contexts' device time, 1 = all\n"  \
	"the same. With up to 6 contexts, a second table says what each got.\n"

const struct wb_verb wb_verb_replay = {
	.name = "replay",
	.operands = "TRACE...",
	.least = 1,
	.most = UINT32_MAX,
	.summary = "replay traces on a simulated device, through each policy named",
	.help = "TRACE is a file of any format that `iosched trace info` knows, also compressed by "
		"xz,\n"
		"gzip, bzip2 or zstd; \"-\" is standard input. Requests arrive at their recorded "
		"times\n"
		"whatever becomes of those before (see --scale, --closed).\n\n" COLUMNS_HELP,
	.options = WB_RUN_OPTIONS | WB_BIT(JSON) | WB_BIT(PLOT),
	.run = replay,
};

const struct wb_verb wb_verb_compare = {
	.name = "compare",
	.operands = "TRACE... | --suite fairness",
	.least = 0,
	.most = UINT32_MAX,
	.summary = "replay traces through all policies, side by side with noop",
	.help = "As `iosched replay`, for every policy unless --policy names some, and with ratios "
		"to\n"
		"noop, which always runs.\n\n"
		"--suite fairness runs some sixty loads on simulated disks, arrays and SSDs "
		"instead, "
		"each "
		"with three\n"
		"seeds, and tells what share of the device's time each context got and what its "
		"weight\n"
		"promises. A policy without weights runs without them. It takes --policy, --seed, "
		"--jobs,\n"
		"--json and --plot.\n\n" COLUMNS_HELP,
	.options = WB_RUN_OPTIONS | WB_BIT(JSON) | WB_BIT(PLOT) | WB_BIT(SUITE) | WB_BIT(JOBS),
	.run = compare,
};
