/* SPDX-License-Identifier: MIT */
/*
 * sim: scenario files, each a table of its runs and what became of its expectations.
 *
 * The table, the picture and the JSON are those of replay: a scenario is given to them as a
 * set of runs with labels, and its streams as the names of contexts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "plot.h"
#include "progress.h"
#include "report.h"
#include "table.h"
#include "units.h"

/* A plot has about so many points along its time axis. */
#define INTERVALS 50

struct sim {
	const struct wb_options *o;
	const char *path;
	struct iosched_sim_scenario *scenario;
	struct iosched_sim_result **results;
	unsigned count; /* cases */
	struct wb_names names;
	unsigned failures; /* expectations that do not hold */
};

/* --- What to run --- */

static bool policy_chosen(const struct wb_options *o, const struct iosched_policy *p)
{
	for (unsigned i = 0; i < o->policy_count; i++)
		if (o->policies[i] == p)
			return true;
	return o->policy_count == 0;
}

static bool chosen(const struct wb_options *o, const struct iosched_sim_case *c)
{
	return policy_chosen(o, c->policy) && (o->only == NULL || strcmp(o->only, c->label) == 0);
}

static bool has_policy(const struct sim *s, const struct iosched_policy *p)
{
	struct iosched_sim_case c;

	for (unsigned i = 0; iosched_sim_scenario_case(s->scenario, i, &c) == 0; i++)
		if (c.policy == p)
			return true;
	return false;
}

/* Policies asked for that the file does not name. */
static int add_policies(struct sim *s)
{
	for (unsigned i = 0; i < s->o->policy_count; i++) {
		const struct iosched_policy *p = s->o->policies[i];
		int err = has_policy(s, p) ? 0 : iosched_sim_scenario_add_policy(s->scenario, p);

		if (err != 0)
			return wb_fail("%s: policy %s cannot be added: %s", s->path,
				       iosched_policy_name(p), strerror(-err));
	}
	return WB_OK;
}

static int take_name(struct sim *s, uint64_t context, const char *name)
{
	struct iosched_trace_record rec = {.context = context};

	snprintf(rec.process, sizeof(rec.process), "%.*s", (int)sizeof(rec.process) - 1, name);
	return wb_names_count(&s->names, &rec) ? WB_OK : wb_fail("out of memory");
}

/* The device's size is not known here: the scenario has been checked against it. */
static int take_program_names(struct sim *s, const struct iosched_sim_program *p)
{
	unsigned n = 0;
	int code = WB_OK;

	if (iosched_sim_program_check(p, UINT64_MAX, &n, NULL) != 0)
		return wb_fail("out of memory");
	for (unsigned i = 0; code == WB_OK && i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.%u", p->label, i + 1);
		code = take_name(s, p->first_context + i, name);
	}
	return code;
}

static int take_names(struct sim *s, const struct iosched_sim_config *c)
{
	int code = WB_OK;

	for (unsigned i = 0; code == WB_OK && i < c->stream_count; i++)
		code = take_name(s, c->streams[i].context, c->streams[i].name);
	for (unsigned i = 0; code == WB_OK && i < c->program_count; i++)
		code = take_program_names(s, &c->programs[i]);
	return code;
}

static int load(struct sim *s)
{
	struct iosched_sim_error why;
	struct iosched_sim_case c;
	int code;

	if (iosched_sim_scenario_load(&s->scenario, s->path, &why) != 0)
		return wb_fail("%s", why.text);
	code = add_policies(s);
	s->count = iosched_sim_scenario_case_count(s->scenario);
	s->results = calloc(s->count, sizeof(*s->results));
	if (code == WB_OK && s->results == NULL)
		code = wb_fail("out of memory");
	for (unsigned i = 0; code == WB_OK && iosched_sim_scenario_case(s->scenario, i, &c) == 0;
	     i++)
		code = take_names(s, c.config);
	return code;
}

/* --- Running --- */

static int simulate(const struct sim *s, const struct iosched_sim_case *c, wb_event_fn *event,
		    void *user, struct iosched_sim_result **out)
{
	struct iosched_sim_config config = *c->config;
	struct iosched_sim_error why;
	int err;

	config.event = event;
	config.event_user = user;
	if (s->o->plot != NULL)
		config.interval_ns = config.length_ns / INTERVALS + 1;
	err = iosched_sim_run(&config, out, &why);
	return err == 0 ? WB_OK : wb_fail("%s: policy %s: %s", s->path, c->label, why.text);
}

static int refuse_label(const struct sim *s)
{
	struct iosched_sim_case c;
	const char *last = "";

	wb_complain("%s: no policy line is labelled \"%s\"; there are:", s->path, s->o->only);
	for (unsigned i = 0; iosched_sim_scenario_case(s->scenario, i, &c) == 0; i++) {
		if (strcmp(c.label, last) != 0)
			fprintf(stderr, "  %s\n", c.label);
		last = c.label;
	}
	return WB_USAGE;
}

static int run_cases(struct sim *s)
{
	struct wb_progress progress;
	struct iosched_sim_case c;
	unsigned done = 0;
	int code = WB_OK;

	wb_progress_begin(&progress, "simulating", s->count);
	for (unsigned i = 0; code == WB_OK && iosched_sim_scenario_case(s->scenario, i, &c) == 0;
	     i++) {
		if (chosen(s->o, &c)) {
			code = simulate(s, &c, NULL, NULL, &s->results[i]);
			done++;
		}
		wb_progress_at(&progress, i + 1);
	}
	wb_progress_end(&progress);
	if (code == WB_OK && done == 0)
		return refuse_label(s);
	return code;
}

/* --- Showing --- */

/* The runs that were done, as replay's modules want them: with the first seed only, or all. */
static void fill_runs(const struct sim *s, struct wb_runs *r, bool all_seeds)
{
	struct iosched_sim_case c;
	const char *last = NULL;

	for (unsigned i = 0; iosched_sim_scenario_case(s->scenario, i, &c) == 0; i++) {
		bool first = last == NULL || strcmp(last, c.label) != 0;

		last = c.label;
		if (s->results[i] == NULL || (!first && !all_seeds) || r->count == WB_MAX_POLICIES)
			continue;
		r->runs[r->count++] = (struct wb_run){c.policy, s->results[i], c.label};
	}
}

static const char *state_text(enum iosched_sim_state state)
{
	static const char *const texts[] = {
		[IOSCHED_SIM_HOLDS] = "pass",
		[IOSCHED_SIM_FAILS] = "FAIL",
		[IOSCHED_SIM_NOT_CHECKED] = "not checked",
	};

	return texts[state];
}

static int check(struct sim *s, unsigned i, struct iosched_sim_verdict *v)
{
	if (iosched_sim_scenario_check(s->scenario, i, s->results, v) != 0)
		return wb_fail("out of memory");
	s->failures += v->state == IOSCHED_SIM_FAILS;
	return WB_OK;
}

static int print_verdicts(struct sim *s)
{
	struct iosched_sim_verdict v;
	int code = WB_OK;

	for (unsigned i = 0; i < iosched_sim_scenario_check_count(s->scenario); i++) {
		code = check(s, i, &v);
		if (code != WB_OK)
			return code;
		if (i == 0)
			putchar('\n');
		printf("  %s  %s", state_text(v.state), v.text);
		if (v.state != IOSCHED_SIM_NOT_CHECKED)
			printf("   [%s]", v.figures);
		putchar('\n');
	}
	return WB_OK;
}

/* "4 streams, program pgbench". */
static void print_loads(const struct iosched_sim_config *c)
{
	if (c->stream_count > 0)
		printf("%u stream%s", c->stream_count, c->stream_count == 1 ? "" : "s");
	for (unsigned i = 0; i < c->program_count; i++)
		printf("%sprogram %s", i > 0 || c->stream_count > 0 ? ", " : "",
		       c->programs[i].label);
}

static void add_score(struct wb_table *t, const struct iosched_sim_program_result *p)
{
	char text[WB_TEXT_SIZE];
	double seconds = (double)p->elapsed_ns / 1e9;

	wb_table_add(t, "%s",
		     wb_digits_text(text, seconds > 0 ? (double)p->operations / seconds : 0));
	wb_table_add(t, "%s",
		     wb_digits_text(text, seconds > 0 ? (double)p->bytes / seconds / 1e6 : 0));
	wb_table_add(t, "%llu", (unsigned long long)p->syncs);
	if (p->syncs == 0)
		wb_table_add(t, "-");
	else
		wb_table_add(t, "%s",
			     wb_digits_text(text, (double)p->sync_ns / 1e6 / (double)p->syncs));
}

/* Some policy line runs it. */
static const char *program_label(const struct sim *s, uint64_t first_context)
{
	struct iosched_sim_case c;

	for (unsigned k = 0; iosched_sim_scenario_case(s->scenario, k, &c) == 0; k++)
		for (unsigned i = 0; i < c.config->program_count; i++)
			if (c.config->programs[i].first_context == first_context)
				return c.config->programs[i].label;
	return "";
}

/* What programs count themselves: seconds are those in which they had something to do. */
static int print_programs(const struct sim *s, const struct wb_runs *r)
{
	static const struct wb_column columns[] = {
		{NULL, "policy", true},	 {NULL, "program", true},    {"done", "/s", false},
		{"done", "MB/s", false}, {"syncs", "number", false}, {"syncs", "mean ms", false},
	};
	struct wb_table t;
	unsigned rows = 0;

	wb_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned k = 0; k < r->count; k++)
		for (unsigned i = 0; i < r->runs[k].result->program_count; i++) {
			const struct iosched_sim_program_result *p =
				&r->runs[k].result->programs[i];

			wb_table_add(&t, "%s", wb_run_label(&r->runs[k]));
			wb_table_add(&t, "%s", program_label(s, p->first_context));
			add_score(&t, p);
			rows++;
		}
	if (rows == 0)
		return WB_OK;
	putchar('\n');
	return wb_table_print(&t, 2);
}

/* Two policies, and not one decision differs: with nothing queued there is none to make. */
static void print_hint(const struct wb_runs *r)
{
	for (unsigned i = 0; i < r->count; i++)
		for (unsigned k = i + 1; k < r->count; k++) {
			const struct wb_run *a = &r->runs[i], *b = &r->runs[k];

			if (a->policy == b->policy || a->result->digest != b->result->digest ||
			    wb_run_all(a)->wait.p999 > 0)
				continue;
			printf("\nnote: %s and %s did the same: the device took nearly all "
			       "requests at "
			       "once and\nchose among them itself. A line `host window 1` leaves "
			       "that to "
			       "the policy.\n",
			       wb_run_label(a), wb_run_label(b));
			return;
		}
}

static int print(struct sim *s, const struct wb_runs *r)
{
	struct iosched_sim_case c;
	int code;

	iosched_sim_scenario_case(s->scenario, 0, &c);
	printf("%s: %s\n", s->path, iosched_sim_scenario_title(s->scenario));
	print_loads(c.config);
	printf(" on %s, %.6g s, seed %llu\n\n", c.config->device, (double)c.config->length_ns / 1e9,
	       (unsigned long long)c.seed);
	code = wb_report_table(r, -1);
	if (code == WB_OK)
		code = print_programs(s, r);
	if (code == WB_OK)
		print_hint(r);
	if (code == WB_OK)
		code = print_verdicts(s);
	putchar('\n');
	return code;
}

static int verdicts_json(struct sim *s, struct wb_json *array)
{
	struct iosched_sim_verdict v;
	int code = WB_OK;

	for (unsigned i = 0; i < iosched_sim_scenario_check_count(s->scenario); i++) {
		struct wb_json *one;

		code = check(s, i, &v);
		if (code != WB_OK)
			return code;
		one = wb_json_object();
		wb_json_set_text(one, "expect", v.text);
		wb_json_set_number(one, "line", v.line);
		wb_json_set_text(one, "state", state_text(v.state));
		wb_json_set_text(one, "figures", v.figures);
		wb_json_append(array, one);
	}
	return code;
}

static int append_json(struct sim *s, struct wb_runs *r, struct wb_json *all)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *runs = wb_json_array();
	struct wb_json *verdicts = wb_json_array();
	struct iosched_sim_case c;
	int code = verdicts_json(s, verdicts);

	for (unsigned i = 0; iosched_sim_scenario_case(s->scenario, i, &c) == 0; i++) {
		struct wb_run run = {c.policy, s->results[i], c.label};
		struct wb_json *one;

		if (run.result == NULL)
			continue;
		one = wb_report_run_json(r, &run);
		wb_json_set_number(one, "seed", c.seed);
		wb_json_append(runs, one);
	}
	wb_json_set_text(out, "scenario", s->path);
	wb_json_set_text(out, "title", iosched_sim_scenario_title(s->scenario));
	wb_json_set(out, "runs", runs);
	wb_json_set(out, "expectations", verdicts);
	wb_json_append(all, out);
	return code;
}

static int show(struct sim *s, struct wb_json *all)
{
	struct iosched_sim_case c;
	struct wb_options o = *s->o;
	struct wb_workload w = {.path = s->path, .names = s->names};
	struct wb_runs r = {.o = &o, .w = &w};
	int code;

	iosched_sim_scenario_case(s->scenario, 0, &c);
	o.device_spec = c.config->device;
	fill_runs(s, &r, false);
	code = o.json ? append_json(s, &r, all) : print(s, &r);
	return code == WB_OK && o.plot != NULL ? wb_plot(&r) : code;
}

/* --- Explaining --- */

struct one_case {
	const struct sim *s;
	struct iosched_sim_case c;
};

static int simulate_one(void *user, wb_event_fn *event, void *event_user,
			struct iosched_sim_result **out)
{
	const struct one_case *one = user;

	return simulate(one->s, &one->c, event, event_user, out);
}

/* The one policy line that is chosen, with its first seed. */
static int find_one(const struct sim *s, struct iosched_sim_case *out)
{
	struct iosched_sim_case c;
	bool found = false;

	for (unsigned i = 0; iosched_sim_scenario_case(s->scenario, i, &c) == 0; i++) {
		if (!chosen(s->o, &c) || (found && strcmp(c.label, out->label) == 0))
			continue;
		if (found)
			return wb_refuse("--explain and --perfetto want one run: choose by "
					 "--policy or --only");
		found = true;
		*out = c;
	}
	return found ? WB_OK : refuse_label(s);
}

static int explain(const struct sim *s)
{
	struct one_case one = {.s = s};
	struct wb_options o = *s->o;
	struct wb_subject subject = {.names = &s->names, .simulate = simulate_one, .user = &one};
	int code = find_one(s, &one.c);

	if (code != WB_OK)
		return code;
	subject.label = one.c.label;
	if (!o.explain)
		o.limit = 0;
	return wb_explain(&o, &subject);
}

/* --- The verb --- */

static int run_file(struct sim *s, struct wb_json *all)
{
	int code = load(s);

	if (code == WB_OK && (s->o->explain || s->o->perfetto != NULL))
		return explain(s);
	if (code == WB_OK)
		code = run_cases(s);
	return code == WB_OK ? show(s, all) : code;
}

static void fini(struct sim *s)
{
	for (unsigned i = 0; s->results != NULL && i < s->count; i++)
		iosched_sim_result_free(s->results[i]);
	free(s->results);
	iosched_sim_scenario_free(s->scenario);
	wb_names_fini(&s->names);
}

static int run_files(const struct wb_options *o, struct wb_json *all)
{
	unsigned failures = 0;
	int code = WB_OK;

	for (unsigned i = 0; code == WB_OK && i < o->operand_count; i++) {
		struct sim s = {.o = o, .path = o->operands[i]};

		code = run_file(&s, all);
		failures += s.failures;
		fini(&s);
	}
	if (o->json && code == WB_OK)
		code = wb_json_print(all);
	else
		wb_json_free(all);
	if (code == WB_OK && failures > 0)
		return wb_fail("%u expectation%s not hold", failures,
			       failures == 1 ? " does" : "s do");
	return code;
}

static int run(const struct wb_options *o)
{
	int code = wb_plot_check(o);

	if (o->json && !wb_json_available())
		return WB_FAILED;
	if (code == WB_OK)
		code = wb_explain_check(o);
	if (code == WB_OK && o->operand_count > 1 && (o->explain || o->perfetto != NULL))
		code = wb_refuse("--explain and --perfetto: one file at a time");
	return code == WB_OK ? run_files(o, o->json ? wb_json_array() : NULL) : code;
}

const struct wb_verb wb_verb_sim = {
	.name = "sim",
	.operands = "FILE...",
	.least = 1,
	.most = UINT32_MAX,
	.summary = "run scenario files and check what they expect",
	.help = "FILE is a scenario: a device, streams, policies and expectations "
		"(docs/scenarios.md\n"
		"tells how to write one). Prints a table of its policies and whether each "
		"expectation\n"
		"holds; in brackets what was measured, of the run that was nearest to failing.\n"
		"The exit code is 1 when one fails.\n\n"
		"--policy runs those policies only; one that the file does not name is added.\n"
		"--explain and --perfetto tell of one run, with its first seed.\n",
	.options = WB_BIT(POLICY) | WB_BIT(ONLY) | WB_BIT(JSON) | WB_BIT(PLOT) | WB_BIT(EXPLAIN) |
		   WB_BIT(PERFETTO) | WB_BIT(LIMIT) | WB_BIT(FROM) | WB_BIT(ALL),
	.run = run,
};
