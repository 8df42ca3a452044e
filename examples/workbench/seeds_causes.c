/* SPDX-License-Identifier: MIT */
#include "seeds_causes.h"

#include <stdio.h>

#include "table.h"
#include "workbench.h"

static double percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static double per_second(uint64_t n, uint64_t ns)
{
	return ns == 0 ? 0 : (double)n * 1e9 / (double)ns;
}

static void add_line(struct wb_table *t, const struct iosched_seed_cell *cell,
		     const struct iosched_sim_result *r)
{
	const struct iosched_sim_row *all =
		iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS);
	uint64_t commands = all->requests - all->merged;

	wb_table_add(t, "%s", cell->policy);
	wb_table_add(t, "%s", cell->kernel);
	wb_table_add(t, "%.0f", per_second(commands, r->measured_ns));
	wb_table_add(t, "%.0f", commands == 0 ? 0 : (double)all->bytes / 1024 / (double)commands);
	wb_table_add(t, "%.0f", per_second(r->seeks, r->end));
	wb_table_add(t, "%.0f %%", 100 - percent(r->held_ns + r->empty_ns, r->end));
	wb_table_add(t, "%.0f %%", percent(r->held_ns, r->end));
	wb_table_add(t, "%.0f %%", percent(r->empty_ns, r->end));
	wb_table_add(t, "%.1f", (double)all->wait.mean / 1e6);
	wb_table_add(t, "%.1f", (double)all->device.mean / 1e6);
}

static int run_cell(struct wb_table *t, unsigned i, uint64_t seed)
{
	struct iosched_seed_cell cell;
	struct iosched_sim_config config;
	struct iosched_sim_result *r;
	struct iosched_sim_error why = {""};

	iosched_seed_cell_at(i, &cell);
	iosched_seed_config(i, &config);
	config.seed = seed;
	if (iosched_sim_run(&config, &r, &why) != 0) {
		iosched_sim_result_free(r);
		return wb_fail("%s", why.text);
	}
	add_line(t, &cell, r);
	iosched_sim_result_free(r);
	return WB_OK;
}

int wb_seeds_causes(const bool *wanted, unsigned count, uint64_t seed)
{
	static const struct wb_column columns[] = {
		{NULL, "policy", true},	      {NULL, "kernel", true},
		{"commands", "/s", false},    {"commands", "KiB", false},
		{NULL, "seeks/s", false},     {"device", "busy", false},
		{"device", "held", false},    {"device", "not asked", false},
		{"mean ms", "queued", false}, {"mean ms", "at work", false},
	};
	struct wb_table t;
	int code = WB_OK;

	wb_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned i = 0; code == WB_OK && i < count; i++)
		if (wanted[i])
			code = run_cell(&t, i, seed);
	if (code != WB_OK)
		return code;
	putchar('\n');
	return wb_table_print(&t, 0);
}
