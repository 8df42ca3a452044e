/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "units.h"

/* One row of the table. `take` reads the argument; it complains and returns an exit code. */
struct row {
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
	int (*take)(struct wb_options *o, const char *text);
};

static int take_scale(struct wb_options *o, const char *text)
{
	/* A million: what a replay of a day's trace needs to become a tenth of a second is less. */
	if (!wb_parse_permille(text, &o->scale_permille) || o->scale_permille < 1 ||
	    o->scale_permille > UINT64_C(1000000000))
		return wb_refuse("--scale %s: wants a factor from 0.001 to 1000000", text);
	return WB_OK;
}

static int take_closed(struct wb_options *o, const char *text)
{
	uint64_t n;

	if (!wb_parse_value(text, IOSCHED_UNIT_NONE, &n) || n < 1 || n > UINT32_MAX)
		return wb_refuse("--closed %s: wants a number from 1 on", text);
	o->closed = (uint32_t)n;
	return WB_OK;
}

static int take_window(struct wb_options *o, const char *text)
{
	uint64_t n;

	if (!wb_parse_value(text, IOSCHED_UNIT_NONE, &n) || n < 1 || n > UINT32_MAX)
		return wb_refuse("--window %s: wants a number from 1 on", text);
	o->window = (uint32_t)n;
	return WB_OK;
}

static int take_seed(struct wb_options *o, const char *text)
{
	if (!wb_parse_value(text, IOSCHED_UNIT_NONE, &o->seed))
		return wb_refuse("--seed %s: wants a number", text);
	return WB_OK;
}

static int take_count(const char *option, const char *text, uint32_t most, uint32_t *out)
{
	uint64_t n;

	if (!wb_parse_value(text, IOSCHED_UNIT_NONE, &n) || n < 1 || n > most)
		return wb_refuse("--%s %s: wants a number from 1 to %u", option, text, most);
	*out = (uint32_t)n;
	return WB_OK;
}

static int take_runs(struct wb_options *o, const char *text)
{
	return take_count("runs", text, 1000, &o->runs);
}

static int take_jobs(struct wb_options *o, const char *text)
{
	return take_count("jobs", text, WB_MAX_JOBS, &o->jobs);
}

/* An hour: more tells no more. */
static int take_seconds(struct wb_options *o, const char *text)
{
	return take_count("seconds", text, 3600, &o->seconds);
}

static int take_limit(struct wb_options *o, const char *text)
{
	if (!wb_parse_value(text, IOSCHED_UNIT_NONE, &o->limit))
		return wb_refuse("--limit %s: wants a number", text);
	return WB_OK;
}

static int take_from(struct wb_options *o, const char *text)
{
	if (!wb_parse_value(text, IOSCHED_UNIT_NS, &o->from))
		return wb_refuse("--from %s: wants a time, such as 12.5s or 300ms", text);
	return WB_OK;
}

static int take_skip_bad(struct wb_options *o, const char *text)
{
	(void)text;
	o->skip_bad = true;
	return WB_OK;
}

static int take_all(struct wb_options *o, const char *text)
{
	(void)text;
	o->all = true;
	return WB_OK;
}

static int take_json(struct wb_options *o, const char *text)
{
	(void)text;
	o->json = true;
	return WB_OK;
}

static int take_plot(struct wb_options *o, const char *text)
{
	o->plot = text;
	return WB_OK;
}

static int take_perfetto(struct wb_options *o, const char *text)
{
	o->perfetto = text;
	return WB_OK;
}

static int take_explain(struct wb_options *o, const char *text)
{
	(void)text;
	o->explain = true;
	return WB_OK;
}

static int take_only(struct wb_options *o, const char *text)
{
	o->only = text;
	return WB_OK;
}

static int take_write(struct wb_options *o, const char *text)
{
	(void)text;
	o->write = true;
	return WB_OK;
}

static int take_suite(struct wb_options *o, const char *text)
{
	if (strcmp(text, "fairness") != 0)
		return wb_refuse("--suite %s: the one there is is fairness", text);
	o->suite = text;
	return WB_OK;
}

static int take_help(struct wb_options *o, const char *text)
{
	(void)text;
	o->help = true;
	return WB_OK;
}

static const struct row rows[WB_OPTIONS] = {
	[WB_OPTION_POLICY] = {"policy", "NAME[,NAME...]",
			      "which policies; \"all\" is each there is", wb_take_policies},
	[WB_OPTION_DEVICE] = {"device", "NAME[:PARAMETER=VALUE,...]",
			      "the simulated device and changes to it (default hdd)",
			      wb_take_device},
	[WB_OPTION_TUNABLE] =
		{"tunable", "[POLICY.]NAME=VALUE",
		 "set a tunable of one policy, or of all that have it; may be repeated",
		 wb_take_tunable},
	[WB_OPTION_SCALE] = {"scale", "FACTOR",
			     "stretch the times of the trace: 0.5 = twice as fast (default 1)",
			     take_scale},
	[WB_OPTION_CLOSED] = {"closed", "N",
			      "ignore the times of the trace and keep N requests outstanding",
			      take_closed},
	[WB_OPTION_WINDOW] =
		{"window", "N",
		 "give the device at most N requests at once (default: as many as it takes)",
		 take_window},
	[WB_OPTION_SEED] = {"seed", "N", "of the random numbers (default 1)", take_seed},
	[WB_OPTION_FORMAT] = {"format", "NAME", "of the trace, where it cannot be found out",
			      wb_take_format},
	[WB_OPTION_SKIP_BAD] = {"skip-bad", NULL, "count malformed lines of the trace and go on",
				take_skip_bad},
	[WB_OPTION_LIMIT] = {"limit", "N", "print at most N lines; the summary still covers all",
			     take_limit},
	[WB_OPTION_FROM] = {"from", "TIME", "begin to print at this time, e.g. 2.5s", take_from},
	[WB_OPTION_ALL] = {"all", NULL, "print arrivals, merges and completions too", take_all},
	[WB_OPTION_TO] = {"to", "native|fio2|fio3", "what to write (default native)", wb_take_to},
	[WB_OPTION_RUNS] = {"runs", "N",
			    "of each cell, with random seeds from --seed on; the mean is shown "
			    "(default 3)",
			    take_runs},
	[WB_OPTION_JOBS] = {"jobs", "N",
			    "run N cells at a time (default 2); the result does not depend on it",
			    take_jobs},
	[WB_OPTION_JSON] = {"json", NULL, "print JSON instead of a table", take_json},
	[WB_OPTION_PLOT] = {"plot", "FILE.svg|FILE.png",
			    "draw latencies and throughput over time (needs gnuplot)", take_plot},
	[WB_OPTION_PERFETTO] = {"perfetto", "FILE.json",
				"write a trace for ui.perfetto.dev or chrome://tracing",
				take_perfetto},
	[WB_OPTION_EXPLAIN] = {"explain", NULL,
			       "print each decision of one run, and what waiting cost",
			       take_explain},
	[WB_OPTION_ONLY] = {"only", "LABEL", "run only the policy line with this label", take_only},
	[WB_OPTION_SECONDS] = {"seconds", "N", "how long to measure (default 8)", take_seconds},
	[WB_OPTION_WRITE] = {"write", NULL, "measure writes too: OVERWRITES the content",
			     take_write},
	[WB_OPTION_SUITE] = {"suite", "fairness",
			     "instead of traces: what share of a device each context gets, under "
			     "loads of its own",
			     take_suite},
	[WB_OPTION_HELP] = {"help", NULL, "this text", take_help},
};

/* getopt's table of a verb's options; `val` is the id, above every character. */
#define FIRST_VAL 256

static void fill_getopt(const struct wb_verb *v, struct option *out)
{
	for (int id = 0; id < WB_OPTIONS; id++)
		if (id == WB_OPTION_HELP || (v->options >> id & 1) != 0)
			*out++ = (struct option){
				rows[id].name,
				rows[id].argument != NULL ? required_argument : no_argument,
				NULL,
				FIRST_VAL + id,
			};
	*out = (struct option){NULL, 0, NULL, 0};
}

static int check_operands(const struct wb_options *o, const struct wb_verb *v)
{
	if (o->help || (o->operand_count >= v->least && o->operand_count <= v->most))
		return WB_OK;
	return wb_refuse("%s operands: the usage is `iosched %s [OPTION...] %s`",
			 o->operand_count < v->least ? "too few" : "too many", v->name,
			 v->operands);
}

static void set_defaults(struct wb_options *o)
{
	memset(o, 0, sizeof(*o));
	o->scale_permille = 1000;
	o->seed = 1;
	o->runs = 3;
	o->jobs = 2;
	o->seconds = 8;
	o->limit = UINT64_MAX;
	o->to = IOSCHED_TRACE_NATIVE;
	o->format = IOSCHED_TRACE_AUTO;
}

int wb_options_parse(struct wb_options *o, const struct wb_verb *v, int argc, char **argv)
{
	static char program[] = "iosched";
	struct option table[WB_OPTIONS + 1];
	int code = WB_OK;
	int got;

	set_defaults(o);
	fill_getopt(v, table);
	argv[0] = program; /* getopt names it in its messages */
	while (code == WB_OK && (got = getopt_long(argc, argv, "h", table, NULL)) != -1) {
		if (got == 'h')
			o->help = true;
		else if (got < FIRST_VAL)
			return wb_refuse("see `iosched %s --help`", v->name);
		else
			code = rows[got - FIRST_VAL].take(o, optarg);
	}
	o->operands = argv + optind;
	o->operand_count = (unsigned)(argc - optind);
	if (code == WB_OK && o->device == NULL)
		code = wb_take_device(o, "hdd");
	return code == WB_OK ? check_operands(o, v) : code;
}

void wb_options_help(const struct wb_verb *v, FILE *out)
{
	char label[64];

	fprintf(out, "Usage: iosched %s [OPTION...] %s\n%s.\n\n%s\n", v->name, v->operands,
		v->summary, v->help);
	for (int id = 0; id < WB_OPTIONS; id++) {
		if (id != WB_OPTION_HELP && (v->options >> id & 1) == 0)
			continue;
		snprintf(label, sizeof(label), "--%s%s%s", rows[id].name,
			 rows[id].argument != NULL ? " " : "",
			 rows[id].argument != NULL ? rows[id].argument : "");
		fprintf(out, "  %s\n        %s\n", label, rows[id].help);
	}
	if ((v->options & WB_BIT(DEVICE)) != 0)
		wb_list_devices(out);
}

void wb_options_fini(struct wb_options *o)
{
	free(o->device); /* the settings lie in it */
	for (unsigned i = 0; i < o->tunable_count; i++)
		free(o->tunables[i].name);
}
