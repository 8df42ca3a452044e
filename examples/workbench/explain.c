/* SPDX-License-Identifier: MIT */
/*
 * explain: what a policy decided on a trace, line by line, and what its waiting cost.
 *
 * Every event of the run goes the same way: to the timeline (which wants the state before
 * it), into the holds' accounts, to the log.
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

#include "explain_log.h"
#include "output.h"
#include "perfetto.h"
#include "table.h"
#include "units.h"

struct explain {
	struct wb_holds holds;
	struct wb_log log;
	struct wb_perfetto timeline;
	struct wb_output timeline_file; /* its `file` is NULL when none is asked for */
};

static void take_event(void *user, const struct iosched_event *e)
{
	struct explain *x = user;
	uint64_t held = x->holds.holding && x->holds.inflight == 0 ? e->now - x->holds.since : 0;
	bool news;

	if (x->timeline_file.file != NULL)
		wb_perfetto_event(&x->timeline, &x->holds, e);
	news = wb_holds_event(&x->holds, e);
	wb_log_event(&x->log, &x->holds, e, news, held);
}

/* --- The summary --- */

static double percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (double)part * 100 / (double)whole;
}

static void print_time(const struct wb_holds *h)
{
	uint64_t all = h->busy_ns + h->held_ns + h->empty_ns;

	printf("time of the device: %.3f ms\n", (double)all / 1e6);
	printf("  %10.3f ms %5.1f %%  busy\n", (double)h->busy_ns / 1e6, percent(h->busy_ns, all));
	printf("  %10.3f ms %5.1f %%  idle, though requests were queued\n",
	       (double)h->held_ns / 1e6, percent(h->held_ns, all));
	printf("  %10.3f ms %5.1f %%  idle, nothing was queued\n", (double)h->empty_ns / 1e6,
	       percent(h->empty_ns, all));
}

static int by_cost(const void *a, const void *b)
{
	const struct wb_reason *x = a, *y = b;

	if (x->idle_ns != y->idle_ns)
		return x->idle_ns < y->idle_ns ? 1 : -1;
	if (x->busy_ns != y->busy_ns)
		return x->busy_ns < y->busy_ns ? 1 : -1;
	return strcmp(x->rule, y->rule);
}

static void add_reason(struct wb_table *t, const struct wb_reason *r)
{
	char reason[WB_REASON_SIZE];
	char text[WB_TEXT_SIZE];

	wb_table_add(t, "%s", wb_reason_text(reason, r));
	wb_table_add(t, "%llu", (unsigned long long)r->times);
	wb_table_add(t, "%s", wb_ms_text(text, r->idle_ns));
	wb_table_add(t, "%s", wb_ms_text(text, r->busy_ns));
	wb_table_add(t, "%s", wb_ms_text(text, r->longest_ns));
	if (r->awaited > 0)
		wb_table_add(t, "%llu of %llu", (unsigned long long)r->paid,
			     (unsigned long long)r->awaited);
	else
		wb_table_add(t, "-");
}

static int print_reasons(struct wb_holds *h)
{
	static const struct wb_column columns[] = {
		{NULL, "why nothing was issued though requests were queued", true},
		{NULL, "times", false},
		{"device, ms", "idle", false},
		{"device, ms", "busy", false},
		{"longest", "ms", false},
		{"awaited", "came", false},
	};
	struct wb_table t;

	if (h->reason_count == 0) {
		puts("The policy never held back a request that the device could have taken.");
		return WB_OK;
	}
	qsort(h->reasons, h->reason_count, sizeof(h->reasons[0]), by_cost);
	wb_table_init(&t, columns, 6);
	for (unsigned i = 0; i < h->reason_count; i++)
		add_reason(&t, &h->reasons[i]);
	return wb_table_print(&t, 2);
}

static int print_summary(struct explain *x, const struct wb_subject *s,
			 const struct iosched_sim_result *result)
{
	if (x->log.left_out > 0)
		printf("and %llu more lines\n", (unsigned long long)x->log.left_out);
	printf("\n%s: %llu requests, %llu dispatches\n", s->label,
	       (unsigned long long)result->completed, (unsigned long long)result->stats.dispatched);
	print_time(&x->holds);
	putchar('\n');
	return print_reasons(&x->holds);
}

/* --- A run --- */

static int explain_run(struct explain *x, const struct wb_subject *s)
{
	struct iosched_sim_result *result = NULL;
	int code;

	if (x->timeline_file.file != NULL)
		wb_perfetto_begin(&x->timeline, x->timeline_file.file, s->names, s->label);
	code = s->simulate(s->user, take_event, x, &result);
	if (code == WB_OK && x->holds.failed)
		code = wb_fail("out of memory");
	if (code == WB_OK) {
		wb_holds_end(&x->holds, result->end);
		if (x->timeline_file.file != NULL)
			wb_perfetto_end(&x->timeline, &x->holds);
		code = print_summary(x, s, result);
	}
	iosched_sim_result_free(result);
	return code;
}

int wb_explain(const struct wb_options *o, const struct wb_subject *s)
{
	struct explain x = {
		.log = {.names = s->names, .limit = o->limit, .from = o->from, .all = o->all}};
	int code = WB_OK;

	if (o->perfetto != NULL)
		code = wb_output_open(&x.timeline_file, o->perfetto);
	if (code == WB_OK)
		code = explain_run(&x, s);
	code = wb_output_close(&x.timeline_file, code);
	wb_holds_fini(&x.holds);
	return code;
}

int wb_explain_check(const struct wb_options *o)
{
	if (o->perfetto != NULL && strcmp(o->perfetto, "-") == 0)
		return wb_refuse("--perfetto: standard output has the log already");
	return WB_OK;
}

/* --- The verb --- */

struct trace_run {
	const struct wb_options *o;
	const struct wb_workload *w;
};

static int simulate_trace(void *user, wb_event_fn *event, void *event_user,
			  struct iosched_sim_result **out)
{
	const struct trace_run *t = user;
	struct wb_run run = {0};
	int code = wb_run(&run, t->o, t->w, t->o->policies[0], event, event_user);

	*out = run.result;
	return code;
}

static int explain(const struct wb_options *o, const struct wb_workload *w)
{
	struct trace_run t = {o, w};
	struct wb_subject s = {
		.label = iosched_policy_name(o->policies[0]),
		.names = &w->names,
		.simulate = simulate_trace,
		.user = &t,
	};

	wb_workload_print(w, o);
	return wb_explain(o, &s);
}

static bool is_scenario(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcmp(path + n - 4, ".scn") == 0;
}

/* The verb sim runs them and can explain as well. */
static int run_scenario(const struct wb_options *given)
{
	struct wb_options o = *given;

	o.explain = true;
	return wb_verb_sim.run(&o);
}

static int run(const struct wb_options *o)
{
	struct wb_workload w;
	int code;

	if (o->policy_count != 1)
		return wb_refuse("explain wants exactly one --policy");
	if (is_scenario(o->operands[0]))
		return run_scenario(o);
	code = wb_explain_check(o);
	if (code == WB_OK)
		code = wb_run_check(o);
	if (code != WB_OK)
		return code;
	code = wb_workload_load(&w, o, o->operands[0]);
	if (code == WB_OK)
		code = explain(o, &w);
	wb_workload_fini(&w);
	return code;
}

const struct wb_verb wb_verb_explain = {
	.name = "explain",
	.operands = "TRACE|SCENARIO.scn",
	.least = 1,
	.most = 1,
	.summary = "say what a policy decides, and what its waiting costs",
	.help = "One line for each decision, in virtual time: rules of the policy that acted, what "
		"was\n"
		"dispatched, and when nothing was though requests were queued, why, and until when "
		"at\n"
		"most. Then a summary: how long the device was busy, held idle and unused, and "
		"the\n"
		"time lost for each reason; \"awaited came\" counts the waits for a context after\n"
		"which its request was indeed the next. --limit 0 prints the summary only.\n",
	.options = WB_RUN_OPTIONS | WB_BIT(LIMIT) | WB_BIT(FROM) | WB_BIT(ALL) | WB_BIT(PERFETTO),
	.run = run,
};
