/* SPDX-License-Identifier: MIT */
/*
 * State: what each context of each cell got under each policy, means of the seeds but for the
 * longest wait. Threads take the next cell and policy; what each finds goes to its own place, so
 * the outcome does not depend on how many there are.
 *
 * Rule: shares are of what the device really spent on each context, not of what a policy
 * believes.
 */
#include "fairness.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fairness_cells.h"
#include "json.h"
#include "plot.h"
#include "progress.h"
#include "table.h"

#define SEEDS 3
#define DEFAULT_WEIGHT 100 /* of a stream that is given none */

struct flow {
	char name[32];
	uint64_t group;
	uint32_t weight;
	double ideal; /* negative: none, it asks for less or others go first */
	double share;
	double throughput; /* bytes/s */
	double p50, p99;   /* ns, insert to completion */
	uint64_t max_wait; /* ns, insert to dispatch; the longest of all seeds */
};

/* One cell under one policy. */
struct outcome {
	struct flow flows[WB_FAIRNESS_FLOWS];
	unsigned count;
};

struct work {
	const struct wb_options *o;
	struct outcome *outcomes; /* by cell, then policy */
	unsigned count;

	pthread_mutex_t lock; /* of what follows */
	unsigned next;
	unsigned done;
	bool failed;
	struct iosched_sim_error why;
	struct wb_progress progress;
};

static const struct wb_fairness_cell *cell_of(const struct work *w, unsigned i)
{
	return &wb_fairness_cells[i / w->o->policy_count];
}

static const struct iosched_policy *policy_of(const struct work *w, unsigned i)
{
	return w->o->policies[i % w->o->policy_count];
}

static const char *device_of(const struct wb_fairness_cell *c, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s", c->device, c->setting != NULL ? ":" : "",
		 c->setting != NULL ? c->setting : "");
	return out;
}

/* --- Running --- */

/* Disks need long runs, as a slice of theirs is a tenth of a second; an SSD makes as many
 * requests in far less. */
static const char *length_of(const struct wb_fairness_cell *c)
{
	if (strncmp(c->device, "hdd", 3) == 0)
		return "length 22s\nwarmup 2s\n";
	return strncmp(c->device, "raid", 4) == 0 ? "length 5s\nwarmup 1s\n"
						  : "length 1200ms\nwarmup 200ms\n";
}

static int load(const struct wb_fairness_cell *c, struct iosched_sim_scenario **out,
		struct iosched_sim_error *why)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "device %s %s\n%spolicy noop\n%s", c->device,
			 c->setting != NULL ? c->setting : "", length_of(c), c->streams);

	if (n < 0 || (size_t)n >= sizeof(text))
		return -E2BIG;
	return iosched_sim_scenario_parse(out, text, (size_t)n, c->name, why);
}

static uint32_t weight_of(const struct iosched_sim_stream *s)
{
	if (s->group_weight != 0)
		return s->group_weight;
	return s->weight != 0 ? s->weight : DEFAULT_WEIGHT;
}

static unsigned rank_of(const struct iosched_sim_stream *s)
{
	return s->prio_class == IOSCHED_REALTIME ? 0 : s->prio_class == IOSCHED_IDLE ? 2 : 1;
}

/* Does it always have work queued, and does nobody of a better class? */
static bool has_ideal(const struct iosched_sim_config *c, const struct iosched_sim_stream *s)
{
	for (unsigned i = 0; i < c->stream_count; i++)
		if (c->streams[i].think_ns == 0 && rank_of(&c->streams[i]) < rank_of(s))
			return false;
	return s->think_ns == 0;
}

/* They share the device by weight. */
static void set_ideals(struct outcome *out, const struct iosched_sim_config *c)
{
	double sum = 0;

	for (unsigned i = 0; i < c->stream_count; i++)
		if (has_ideal(c, &c->streams[i]))
			sum += weight_of(&c->streams[i]);
	for (unsigned i = 0; i < c->stream_count; i++) {
		struct flow *f = &out->flows[i];

		snprintf(f->name, sizeof(f->name), "%s", c->streams[i].name);
		f->group = c->streams[i].group;
		f->weight = weight_of(&c->streams[i]);
		f->ideal = has_ideal(c, &c->streams[i]) ? f->weight / sum : -1;
	}
	out->count = c->stream_count;
}

static void add_result(struct outcome *out, const struct iosched_sim_config *c,
		       const struct iosched_sim_result *r)
{
	for (unsigned i = 0; i < out->count; i++) {
		const struct iosched_sim_row *row =
			iosched_sim_result_row(r, c->streams[i].context, IOSCHED_SIM_ALL_OPS);
		struct flow *f = &out->flows[i];

		if (row == NULL)
			continue; /* it got nothing */
		f->share += row->device_share_ppm / 1e6 / SEEDS;
		f->throughput += (double)row->bytes_per_s / SEEDS;
		f->p50 += (double)row->total.p50 / SEEDS;
		f->p99 += (double)row->total.p99 / SEEDS;
		if (row->wait.max > f->max_wait)
			f->max_wait = row->wait.max;
	}
}

static int run_seeds(const struct work *w, unsigned i, const struct iosched_sim_config *given,
		     struct iosched_sim_error *why)
{
	struct iosched_sim_config c = *given;
	int err = 0;

	if (c.stream_count > WB_FAIRNESS_FLOWS)
		return -E2BIG;
	set_ideals(&w->outcomes[i], &c);
	c.policy = policy_of(w, i);
	for (unsigned k = 0; err == 0 && k < SEEDS; k++) {
		struct iosched_sim_result *r = NULL;

		c.seed = w->o->seed + k;
		err = iosched_sim_run(&c, &r, why);
		if (err == 0)
			add_result(&w->outcomes[i], &c, r);
		iosched_sim_result_free(r);
	}
	return err;
}

static int run_one(const struct work *w, unsigned i, struct iosched_sim_error *why)
{
	struct iosched_sim_scenario *s = NULL;
	struct iosched_sim_case first;
	int err = load(cell_of(w, i), &s, why);

	if (err == 0)
		err = iosched_sim_scenario_case(s, 0, &first);
	if (err == 0)
		err = run_seeds(w, i, first.config, why);
	iosched_sim_scenario_free(s);
	if (err != 0 && why->text[0] == '\0')
		snprintf(why->text, sizeof(why->text), "%s", strerror(-err));
	return err;
}

/* The next to run, or `count`. */
static unsigned take(struct work *w)
{
	unsigned i;

	pthread_mutex_lock(&w->lock);
	i = w->failed || w->next == w->count ? w->count : w->next++;
	pthread_mutex_unlock(&w->lock);
	return i;
}

static void *run_some(void *user)
{
	struct work *w = user;
	struct iosched_sim_error why = {""};
	unsigned i;

	while ((i = take(w)) < w->count) {
		int err = run_one(w, i, &why);

		pthread_mutex_lock(&w->lock);
		if (err != 0 && !w->failed) {
			w->failed = true;
			snprintf(w->why.text, sizeof(w->why.text), "%s, policy %s: %.200s",
				 cell_of(w, i)->name, iosched_policy_name(policy_of(w, i)),
				 why.text);
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

	wb_progress_begin(&w->progress, "fairness", w->count);
	while (started + 1 < w->o->jobs &&
	       pthread_create(&threads[started], NULL, run_some, w) == 0)
		started++;
	run_some(w); /* this thread is one of the jobs */
	while (started > 0)
		pthread_join(threads[--started], NULL);
	wb_progress_end(&w->progress);
	return w->failed ? wb_fail("%s", w->why.text) : WB_OK;
}

/* --- Printing --- */

static void add_flow(struct wb_table *t, const struct flow *f, const char *policy)
{
	wb_table_add(t, "%s", policy);
	wb_table_add(t, "%s", f->name);
	wb_table_add(t, "%u", f->weight);
	if (f->ideal >= 0)
		wb_table_add(t, "%.1f", 100 * f->ideal);
	else
		wb_table_add(t, "-");
	wb_table_add(t, "%.1f", 100 * f->share);
	wb_table_add(t, "%.2f", f->throughput / (1 << 20));
	wb_table_add(t, "%.1f", f->p50 / 1e6);
	wb_table_add(t, "%.1f", f->p99 / 1e6);
	wb_table_add(t, "%.0f", (double)f->max_wait / 1e6);
}

/* All policies on the cell that begins at outcome `first`. */
static int print_cell(const struct work *w, unsigned first)
{
	static const struct wb_column columns[] = {
		{NULL, "policy", true},	      {NULL, "context", true},	  {NULL, "weight", false},
		{"share, %", "ideal", false}, {"share, %", "got", false}, {NULL, "MiB/s", false},
		{"total ms", "p50", false},   {"total ms", "p99", false}, {"wait ms", "max", false},
	};
	char device[64];
	struct wb_table t;

	printf("%s%s (%s)\n", first == 0 ? "" : "\n", cell_of(w, first)->name,
	       device_of(cell_of(w, first), device, sizeof(device)));
	wb_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (unsigned i = first; i < first + w->o->policy_count; i++)
		for (unsigned k = 0; k < w->outcomes[i].count; k++)
			add_flow(&t, &w->outcomes[i].flows[k],
				 k == 0 ? iosched_policy_name(policy_of(w, i)) : "");
	return wb_table_print(&t, 2);
}

static int print_tables(const struct work *w)
{
	int code = WB_OK;

	for (unsigned i = 0; code == WB_OK && i < w->count; i += w->o->policy_count)
		code = print_cell(w, i);
	return code;
}

static struct wb_json *flow_json(const struct work *w, unsigned i, const struct flow *f)
{
	struct wb_json *out = wb_json_object();
	char device[64];

	wb_json_set_text(out, "scenario", cell_of(w, i)->name);
	wb_json_set_text(out, "device", device_of(cell_of(w, i), device, sizeof(device)));
	wb_json_set_text(out, "policy", iosched_policy_name(policy_of(w, i)));
	wb_json_set_text(out, "context", f->name);
	wb_json_set_number(out, "group", f->group);
	wb_json_set_number(out, "weight", f->weight);
	if (f->ideal >= 0)
		wb_json_set_real(out, "ideal_share", f->ideal);
	else
		wb_json_set_number(out, "ideal_share", UINT64_MAX); /* null */
	wb_json_set_real(out, "share", f->share);
	wb_json_set_real(out, "throughput", f->throughput);
	wb_json_set_number(out, "p50_ns", (uint64_t)f->p50);
	wb_json_set_number(out, "p99_ns", (uint64_t)f->p99);
	wb_json_set_number(out, "max_wait_ns", f->max_wait);
	return out;
}

static int print_json(const struct work *w)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *rows = wb_json_array();

	for (unsigned i = 0; i < w->count; i++)
		for (unsigned k = 0; k < w->outcomes[i].count; k++)
			wb_json_append(rows, flow_json(w, i, &w->outcomes[i].flows[k]));
	wb_json_set(out, "rows", rows);
	return wb_json_print(out);
}

/* --- Drawing --- */

/* How far the context that is furthest from its ideal is, in points. */
static double error_of(const struct outcome *out)
{
	double worst = 0;

	for (unsigned k = 0; k < out->count; k++) {
		double error = out->flows[k].share - out->flows[k].ideal;

		error = error < 0 ? -error : error;
		if (out->flows[k].ideal >= 0 && error > worst)
			worst = error;
	}
	return 100 * worst;
}

static void put_errors(FILE *f, const struct work *w, unsigned policy)
{
	char device[64];

	fprintf(f, "$policy%u << EOD\n", policy);
	for (unsigned i = policy; i < w->count; i += w->o->policy_count)
		fprintf(f, "\"%s, %s\" %.3f\n", cell_of(w, i)->name,
			device_of(cell_of(w, i), device, sizeof(device)),
			error_of(&w->outcomes[i]));
	fputs("EOD\n", f);
}

static void put_script(FILE *f, void *user)
{
	const struct work *w = user;

	for (unsigned p = 0; p < w->o->policy_count; p++)
		put_errors(f, w, p);
	fputs("set title 'Largest distance of a share of device time from the ideal, points'\n"
	      "set grid\nset key noenhanced outside\nset yrange [0:*]\n"
	      "set xtics rotate by 60 right noenhanced font ',8'\nset bmargin 14\n",
	      f);
	for (unsigned p = 0; p < w->o->policy_count; p++)
		fprintf(f, "%s $policy%u using 0:2:xtic(1) with points pointtype 7 title '%s'",
			p == 0 ? "plot" : ",", p, iosched_policy_name(w->o->policies[p]));
	putc('\n', f);
}

/* --- The suite --- */

static int run_and_print(struct work *w)
{
	int code = run_all(w);

	if (code == WB_OK)
		code = w->o->json ? print_json(w) : print_tables(w);
	if (code == WB_OK && w->o->plot != NULL)
		code = wb_plot_picture(w->o->plot, WB_PLOT_HEIGHT, put_script, w);
	return code;
}

int wb_fairness(const struct wb_options *o)
{
	struct work w = {.o = o, .count = wb_fairness_cell_count * o->policy_count};
	int code = wb_plot_check_name(o->plot);

	if (code != WB_OK)
		return code;
	w.outcomes = calloc(w.count, sizeof(*w.outcomes));
	if (w.outcomes == NULL)
		return wb_fail("out of memory");
	pthread_mutex_init(&w.lock, NULL);
	code = run_and_print(&w);
	pthread_mutex_destroy(&w.lock);
	free(w.outcomes);
	return code;
}
