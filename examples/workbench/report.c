/* SPDX-License-Identifier: MIT */
#include "report.h"

#include "table.h"
#include "units.h"

/* More contexts than this are a table nobody reads; --json has all of them. */
#define MAX_CONTEXTS_SHOWN 6

static const struct wb_column columns[] = {
	{NULL, "policy", true},
	{"time", "s", false},
	{NULL, "MiB/s", false},
	{NULL, "IOPS", false},
	{"wait ms", "p50", false},
	{"wait ms", "p99", false},
	{"wait ms", "p99.9", false},
	{"wait ms", "max", false},
	{"total ms", "p50", false},
	{"total ms", "p99", false},
	{"total ms", "p99.9", false},
	{"total ms", "max", false},
	{NULL, "merged", false},
	{NULL, "seeks", false},
	{"idle", "ms", false},
	{NULL, "Jain", false},
	/* only with a base: */
	{"against it", "MiB/s", false},
	{"against it", "p50", false},
	{"against it", "p99", false},
};

#define BASE_COLUMNS 3
#define ALL_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void add_latency(struct wb_table *t, const struct iosched_sim_latency *l)
{
	char text[WB_TEXT_SIZE];

	wb_table_add(t, "%s", wb_ms_text(text, l->p50));
	wb_table_add(t, "%s", wb_ms_text(text, l->p99));
	wb_table_add(t, "%s", wb_ms_text(text, l->p999));
	wb_table_add(t, "%s", wb_ms_text(text, l->max));
}

static void add_ratio(struct wb_table *t, uint64_t value, uint64_t base)
{
	if (base == 0)
		wb_table_add(t, "-");
	else
		wb_table_add(t, "%.2f", (double)value / (double)base);
}

static void add_ratios(struct wb_table *t, const struct wb_run *run, const struct wb_run *base)
{
	const struct iosched_sim_row *all = wb_run_all(run);
	const struct iosched_sim_row *base_all = wb_run_all(base);

	add_ratio(t, all->bytes_per_s, base_all->bytes_per_s);
	add_ratio(t, all->total.p50, base_all->total.p50);
	add_ratio(t, all->total.p99, base_all->total.p99);
}

static void add_run(struct wb_table *t, const struct wb_run *run)
{
	const struct iosched_sim_row *all = wb_run_all(run);
	char text[WB_TEXT_SIZE];

	wb_table_add(t, "%s", wb_run_label(run));
	wb_table_add(t, "%s", wb_digits_text(text, (double)run->result->end / 1e9));
	wb_table_add(t, "%s", wb_mib_text(text, all->bytes_per_s));
	wb_table_add(t, "%s", wb_digits_text(text, (double)all->milli_iops / 1e3));
	add_latency(t, &all->wait);
	add_latency(t, &all->total);
	wb_table_add(t, "%llu", (unsigned long long)all->merged);
	wb_table_add(t, "%llu", (unsigned long long)run->result->seeks);
	wb_table_add(t, "%s", wb_ms_text(text, run->result->held_ns));
	wb_table_add(t, "%.3f", run->result->jain);
}

/* --- Who got how much --- */

static int print_contexts(const struct wb_runs *r)
{
	static const char *const group[] = {"share of the device's time, %", "total ms, p99"};
	struct wb_column heads[1 + 2 * MAX_CONTEXTS_SHOWN] = {{NULL, "policy", true}};
	char names[MAX_CONTEXTS_SHOWN][WB_TEXT_SIZE + IOSCHED_TRACE_PROCESS_SIZE];
	size_t n = r->w->names.count;
	struct wb_table t;
	char text[WB_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct wb_name *name = &r->w->names.names[i];

		snprintf(names[i], sizeof(names[i]), "%s%s%llu", name->process,
			 name->process[0] != '\0' ? "/" : "", (unsigned long long)name->context);
		heads[1 + i] = (struct wb_column){group[0], names[i], false};
		heads[1 + n + i] = (struct wb_column){group[1], names[i], false};
	}
	wb_table_init(&t, heads, 1 + 2 * n);
	for (unsigned k = 0; k < r->count; k++) {
		const struct iosched_sim_row *rows[MAX_CONTEXTS_SHOWN];

		wb_table_add(&t, "%s", wb_run_label(&r->runs[k]));
		for (size_t i = 0; i < n; i++) {
			rows[i] = iosched_sim_result_row(r->runs[k].result,
							 r->w->names.names[i].context,
							 IOSCHED_SIM_ALL_OPS);
			wb_table_add(&t, "%.1f",
				     rows[i] == NULL ? 0 : rows[i]->device_share_ppm / 1e4);
		}
		for (size_t i = 0; i < n; i++)
			wb_table_add(&t, "%s",
				     rows[i] == NULL ? "-" : wb_ms_text(text, rows[i]->total.p99));
	}
	putchar('\n');
	return wb_table_print(&t, 2);
}

/* A device that fails commands looks fast: say it. */
static void print_failures(const struct wb_runs *r)
{
	for (unsigned i = 0; i < r->count; i++) {
		const struct iosched_sim_result *result = r->runs[i].result;

		if (result->failed > 0)
			printf("\n%s: the device failed %llu of %llu requests.\n",
			       iosched_policy_name(r->runs[i].policy),
			       (unsigned long long)result->failed,
			       (unsigned long long)result->completed);
	}
}

static void copy_columns(struct wb_column *heads, char *label, size_t size, const char *base)
{
	snprintf(label, size, "times %s's", base);
	for (size_t i = 0; i < ALL_COLUMNS; i++) {
		heads[i] = columns[i];
		if (i >= ALL_COLUMNS - BASE_COLUMNS)
			heads[i].group = label;
	}
}

int wb_report_table(const struct wb_runs *r, int base)
{
	struct wb_column heads[ALL_COLUMNS];
	struct wb_table t;
	char label[64];
	int code;

	copy_columns(heads, label, sizeof(label),
		     base < 0 ? "" : iosched_policy_name(r->runs[base].policy));
	wb_table_init(&t, heads, base < 0 ? ALL_COLUMNS - BASE_COLUMNS : ALL_COLUMNS);
	for (unsigned i = 0; i < r->count; i++) {
		add_run(&t, &r->runs[i]);
		if (base >= 0)
			add_ratios(&t, &r->runs[i], &r->runs[base]);
	}
	code = wb_table_print(&t, 2);
	if (code == WB_OK && r->w->names.count > 1 && r->w->names.count <= MAX_CONTEXTS_SHOWN)
		code = print_contexts(r);
	return code;
}

int wb_report_print(const struct wb_runs *r, int base)
{
	int code;

	wb_workload_print(r->w, r->o);
	wb_runs_print_notes(r);
	putchar('\n');
	code = wb_report_table(r, base);
	if (code == WB_OK)
		print_failures(r);
	if (code == WB_OK)
		wb_runs_print_hint(r);
	putchar('\n');
	return code;
}
