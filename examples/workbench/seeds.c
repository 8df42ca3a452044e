/* SPDX-License-Identifier: MIT */
/*
 * seeds: the reports in which CFQ lost, reported beside simulated.
 *
 * State: a mean and a digest per cell. Threads take the next cell until none is left; what
 * each finds goes to the cell's own place, so neither table nor digest depends on how many
 * there are. Random seeds of a cell are run one after the other.
 */
#include <iosched/seeds.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "plot.h"
#include "progress.h"
#include "seeds_causes.h"
#include "seeds_plot.h"
#include "seeds_timeline.h"
#include "table.h"
#include "workbench.h"

struct work {
	const struct wb_options *o;
	unsigned count;
	bool *wanted;
	double *simulated;
	uint64_t *digests;
	struct iosched_seed_judgement *judgements;

	pthread_mutex_t lock; /* of what follows */
	unsigned next;
	unsigned done;
	bool failed;
	struct iosched_sim_error why;
	struct wb_progress progress;
};

/* --- Running --- */

static int run_cell(const struct work *w, unsigned i, struct iosched_sim_error *why)
{
	uint64_t digest;
	double value;

	for (uint32_t k = 0; k < w->o->runs; k++) {
		int err = iosched_seed_run(i, w->o->seed + k, &value, &digest, why);

		if (err != 0 && why->text[0] == '\0')
			snprintf(why->text, sizeof(why->text), "%s", strerror(-err));
		if (err != 0)
			return err;
		w->simulated[i] += value / w->o->runs;
		w->digests[i] = w->digests[i] * UINT64_C(0x9E3779B97F4A7C15) + digest;
	}
	return 0;
}

/* The next cell to run, or `count`. */
static unsigned take_cell(struct work *w)
{
	unsigned i;

	pthread_mutex_lock(&w->lock);
	while (w->next < w->count && !w->wanted[w->next])
		w->next++;
	i = w->failed ? w->count : w->next++;
	pthread_mutex_unlock(&w->lock);
	return i < w->count ? i : w->count;
}

static void *run_cells(void *user)
{
	struct work *w = user;
	struct iosched_sim_error why = {""};
	unsigned i;

	while ((i = take_cell(w)) < w->count) {
		int err = run_cell(w, i, &why);

		pthread_mutex_lock(&w->lock);
		if (err != 0 && !w->failed) {
			w->failed = true;
			w->why = why;
		}
		wb_progress_at(&w->progress, ++w->done);
		pthread_mutex_unlock(&w->lock);
	}
	return NULL;
}

static int run_all(struct work *w)
{
	pthread_t threads[WB_MAX_JOBS];
	unsigned started = 0;
	unsigned cells = 0;

	for (unsigned i = 0; i < w->count; i++)
		cells += w->wanted[i];
	wb_progress_begin(&w->progress, "seed tables", cells);
	while (started + 1 < w->o->jobs &&
	       pthread_create(&threads[started], NULL, run_cells, w) == 0)
		started++;
	run_cells(w); /* this thread is one of the jobs */
	while (started > 0)
		pthread_join(threads[--started], NULL);
	wb_progress_end(&w->progress);
	return w->failed ? wb_fail("%s", w->why.text) : WB_OK;
}

/* Of the cells that ran: it is the same whatever other policies the library has. */
static uint64_t digest_of(const struct work *w)
{
	uint64_t digest = 0;

	for (unsigned i = 0; i < w->count; i++)
		if (w->wanted[i])
			digest = digest * UINT64_C(0x9E3779B97F4A7C15) + w->digests[i];
	return digest;
}

/* --- Printing --- */

static void add_value(struct wb_table *t, double value, bool known, int decimals)
{
	if (known)
		wb_table_add(t, "%.*f", decimals, value);
	else
		wb_table_add(t, "-");
}

static void add_cell(struct wb_table *t, const struct work *w, unsigned i)
{
	const struct iosched_seed_judgement *j = &w->judgements[i];
	struct iosched_seed_cell cell;
	int decimals;

	iosched_seed_cell_at(i, &cell);
	decimals = w->simulated[i] < 10 ? 2 : w->simulated[i] < 1000 ? 1 : 0;
	wb_table_add(t, "%s", cell.seed);
	wb_table_add(t, "%s", cell.cell);
	wb_table_add(t, "%s", cell.unit);
	wb_table_add(t, "%s", cell.policy);
	wb_table_add(t, "%s", cell.kernel);
	add_value(t, cell.reported, cell.reported >= 0, decimals);
	add_value(t, w->simulated[i], true, decimals);
	add_value(t, j->reported_ratio, j->reported_ratio >= 0, 3);
	add_value(t, j->simulated_ratio, true, 3);
	if (j->reported_ratio >= 0 && !cell.is_base)
		wb_table_add(t, "%+.0f %%", 100 * j->error);
	else
		wb_table_add(t, "-");
	wb_table_add(t, "%s", iosched_seed_verdict_name(j->verdict));
}

struct tally {
	unsigned reported, reproduced, in_order, absolute, cells;
};

static struct tally tally_of(const struct work *w, const char *seed)
{
	struct tally t = {0};
	struct iosched_seed_cell cell;

	for (unsigned i = 0; i < w->count; i++) {
		const struct iosched_seed_judgement *j = &w->judgements[i];

		iosched_seed_cell_at(i, &cell);
		if (!w->wanted[i] || cell.reported < 0 || strcmp(cell.seed, seed) != 0)
			continue;
		t.cells++;
		t.absolute += j->absolute_error >= -0.25 && j->absolute_error <= 0.25;
		t.reported += !cell.is_base;
		t.reproduced += j->verdict == IOSCHED_SEED_REPRODUCED;
		t.in_order += j->verdict == IOSCHED_SEED_REPRODUCED ||
			      j->verdict == IOSCHED_SEED_ORDER_ONLY;
	}
	return t;
}

static void print_tallies(const struct work *w)
{
	static const char *const seeds[] = {"S0", "S1", "S2", "S3"};

	putchar('\n');
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct tally t = tally_of(w, seeds[i]);

		if (t.cells > 0)
			printf("%s: of %u ratios %u in order, %u in order and within 25 %%; of %u "
			       "values %u within 25 %%\n",
			       seeds[i], t.reported, t.in_order, t.reproduced, t.cells, t.absolute);
	}
	printf("digest %016llx\n", (unsigned long long)digest_of(w));
}

static int print_table(const struct work *w)
{
	static const struct wb_column columns[] = {
		{NULL, "seed", true},	       {NULL, "cell", true},
		{NULL, "unit", true},	       {NULL, "policy", true},
		{NULL, "kernel", true},	       {"value", "reported", false},
		{"value", "simulated", false}, {"ratio", "reported", false},
		{"ratio", "simulated", false}, {NULL, "error", false},
		{NULL, "verdict", true},
	};
	struct wb_table t;
	int code;

	wb_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned i = 0; i < w->count; i++)
		if (w->wanted[i])
			add_cell(&t, w, i);
	code = wb_table_print(&t, 0);
	if (code == WB_OK)
		print_tallies(w);
	return code;
}

static void set_or_null(struct wb_json *object, const char *key, double value, bool known)
{
	if (known)
		wb_json_set_real(object, key, value);
	else
		wb_json_set_number(object, key, UINT64_MAX); /* null */
}

static struct wb_json *cell_json(const struct work *w, unsigned i)
{
	const struct iosched_seed_judgement *j = &w->judgements[i];
	struct wb_json *out = wb_json_object();
	struct iosched_seed_cell cell;

	iosched_seed_cell_at(i, &cell);
	wb_json_set_text(out, "seed", cell.seed);
	wb_json_set_text(out, "cell", cell.cell);
	wb_json_set_text(out, "unit", cell.unit);
	wb_json_set_text(out, "policy", cell.policy);
	wb_json_set_text(out, "kernel", cell.kernel);
	set_or_null(out, "reported", cell.reported, cell.reported >= 0);
	wb_json_set_real(out, "simulated", w->simulated[i]);
	set_or_null(out, "reported_ratio", j->reported_ratio, j->reported_ratio >= 0);
	wb_json_set_real(out, "simulated_ratio", j->simulated_ratio);
	set_or_null(out, "error", j->error, j->reported_ratio >= 0);
	wb_json_set_text(out, "verdict", iosched_seed_verdict_name(j->verdict));
	return out;
}

static int print_json(const struct work *w)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *cells = wb_json_array();

	for (unsigned i = 0; i < w->count; i++)
		if (w->wanted[i])
			wb_json_append(cells, cell_json(w, i));
	wb_json_set(out, "cells", cells);
	return wb_json_print(out);
}

/* --- The verb --- */

static unsigned count_cells(void)
{
	struct iosched_seed_cell cell;
	unsigned n = 0;

	while (iosched_seed_cell_at(n, &cell) == 0)
		n++;
	return n;
}

static bool policy_wanted(const struct wb_options *o, unsigned i)
{
	struct iosched_sim_config config;

	iosched_seed_config(i, &config);
	for (unsigned k = 0; k < o->policy_count; k++)
		if (o->policies[k] == config.policy)
			return true;
	return o->policy_count == 0;
}

static bool names_cell(const struct wb_options *o, const struct iosched_seed_cell *cell)
{
	return o->operand_count == 1 && strcmp(o->operands[0], cell->cell) == 0;
}

/* Those of the table or cell named, or all; without its base a row says nothing. Returns whether
 * there are any, and in *@one whether a cell was named. */
static bool choose(struct work *w, bool *one)
{
	struct iosched_seed_cell cell;
	bool any = false;

	*one = false;
	for (unsigned i = 0; i < w->count; i++) {
		iosched_seed_cell_at(i, &cell);
		*one = *one || names_cell(w->o, &cell);
		w->wanted[i] = (w->o->operand_count == 0 || names_cell(w->o, &cell) ||
				strcmp(w->o->operands[0], cell.seed) == 0) &&
			       (cell.is_base || policy_wanted(w->o, i));
		any = any || w->wanted[i];
	}
	return any;
}

/* A cell has a number for each policy and kernel. */
static bool is_first(unsigned i, const struct iosched_seed_cell *cell)
{
	struct iosched_seed_cell before;

	while (i-- > 0)
		if (iosched_seed_cell_at(i, &before) == 0 && strcmp(before.cell, cell->cell) == 0)
			return false;
	return true;
}

static int refuse_name(const char *name)
{
	struct iosched_seed_cell cell;

	wb_complain("there is no table or cell \"%s\"; the tables are S0 to S3, the cells:", name);
	for (unsigned i = 0; iosched_seed_cell_at(i, &cell) == 0; i++)
		if (is_first(i, &cell))
			fprintf(stderr, "  %s  %s\n", cell.seed, cell.cell);
	return WB_USAGE;
}

static int run_and_print(struct work *w)
{
	bool one;
	int code;

	if (!choose(w, &one))
		return refuse_name(w->o->operands[0]);
	if (w->o->plot != NULL && !wb_seeds_plot_any(w->wanted, w->count))
		return wb_refuse("--plot: ratios to a base are drawn, and only bases are chosen");
	for (unsigned i = 0; i < w->count; i++)
		w->simulated[i] = w->wanted[i] ? 0 : -1;
	code = run_all(w);
	if (code != WB_OK)
		return code;
	iosched_seed_judge(w->simulated, w->count, w->judgements);
	code = w->o->json ? print_json(w) : print_table(w);
	if (code == WB_OK && one && !w->o->json)
		code = wb_seeds_causes(w->wanted, w->count, w->o->seed);
	if (code == WB_OK && w->o->plot != NULL && one)
		code = wb_seeds_timeline(w->o->plot, w->wanted, w->count, w->o->seed);
	else if (code == WB_OK && w->o->plot != NULL)
		code = wb_seeds_plot(w->o->plot, w->judgements, w->wanted, w->count);
	return code;
}

static int run(const struct wb_options *o)
{
	struct work w = {.o = o, .count = count_cells()};
	int code = wb_plot_check_name(o->plot);

	if (code != WB_OK || (o->json && !wb_json_available()))
		return code != WB_OK ? code : WB_FAILED;
	pthread_mutex_init(&w.lock, NULL);
	w.wanted = calloc(w.count, sizeof(*w.wanted));
	w.simulated = calloc(w.count, sizeof(*w.simulated));
	w.digests = calloc(w.count, sizeof(*w.digests));
	w.judgements = calloc(w.count, sizeof(*w.judgements));
	if (w.wanted == NULL || w.simulated == NULL || w.digests == NULL || w.judgements == NULL)
		code = wb_fail("out of memory");
	else
		code = run_and_print(&w);
	free(w.wanted);
	free(w.simulated);
	free(w.digests);
	free(w.judgements);
	pthread_mutex_destroy(&w.lock);
	return code;
}

const struct wb_verb wb_verb_seeds = {
	.name = "seeds",
	.operands = "[TABLE|CELL]",
	.most = 1,
	.summary = "run the reports in which CFQ lost, reported beside simulated",
	.help = "Tables: S0 bonnie++ on a RAID 10, S1 dump and sysbench, S2 an NFS server, S3 "
		"pgbench.\n"
		"A cell is named as the table printed names it: sysbench-3, nfs-4. It is told then "
		"what\n"
		"the device did in one run of it: how much of the time it was busy, held idle "
		"though\n"
		"requests were queued, and not asked for anything.\n"
		"Ratios are to noop, in S2 to deadline of the same kernel. Verdicts: reproduced "
		"(in\n"
		"the reported order and within 25 % of the reported ratio), order only, missed; "
		"of\n"
		"policies that no report has: wins, ties, loses against the best of the others.\n"
		"--plot draws reported and simulated ratios; of one cell what the device did, "
		"request\n"
		"by request.\n",
	.options = WB_BIT(POLICY) | WB_BIT(SEED) | WB_BIT(RUNS) | WB_BIT(JOBS) | WB_BIT(JSON) |
		   WB_BIT(PLOT),
	.run = run,
};
