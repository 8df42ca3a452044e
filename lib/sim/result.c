/* SPDX-License-Identifier: MIT */
#include "sim/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"

/* A result and what it points to. */
struct full_result {
	struct iosched_sim_result public; /* first: a pointer to one is a pointer to the other */
	struct ios_sim_meter meter;
	uint32_t *order; /* meters by context number */
	struct iosched_sim_row *rows;
	struct iosched_sim_series *series;
	uint64_t *points;
	struct iosched_sim_program_result *scores;
};

void iosched_sim_result_free(struct iosched_sim_result *r)
{
	struct full_result *f = (struct full_result *)r;

	if (f == NULL)
		return;
	ios_sim_meter_fini(&f->meter);
	free(f->order);
	free(f->rows);
	free(f->series);
	free(f->points);
	free(f->scores);
	free(f);
}

const struct iosched_sim_row *iosched_sim_result_row(const struct iosched_sim_result *r,
						     uint64_t context, uint8_t op)
{
	for (unsigned i = 0; i < r->row_count; i++)
		if (r->rows[i].context == context && r->rows[i].op == op)
			return &r->rows[i];
	return NULL;
}

uint64_t iosched_sim_row_quantile(const struct iosched_sim_row *row, enum iosched_latency which,
				  unsigned permyriad)
{
	if (row->histograms == NULL || which > IOSCHED_LATENCY_TOTAL || permyriad > 10000)
		return 0;
	return ios_sim_histogram_quantile(&row->histograms->of[which], permyriad);
}

/* --- Rows --- */

static struct iosched_sim_latency summary_of(const struct ios_sim_histogram *h)
{
	return (struct iosched_sim_latency){
		.mean = h->count == 0 ? 0 : h->sum / h->count,
		.p50 = ios_sim_histogram_quantile(h, 5000),
		.p90 = ios_sim_histogram_quantile(h, 9000),
		.p99 = ios_sim_histogram_quantile(h, 9900),
		.p999 = ios_sim_histogram_quantile(h, 9990),
		.max = h->max,
	};
}

static void add_tally(struct iosched_sim_row *row, struct iosched_sim_histograms *sum,
		      const struct ios_sim_tally *t)
{
	if (t->histograms == NULL)
		return;
	row->requests += t->requests;
	row->bytes += t->bytes;
	row->merged += t->merged;
	row->failed += t->failed;
	for (unsigned i = 0; i < 3; i++)
		ios_sim_histogram_join(&sum->of[i], &t->histograms->of[i]);
}

static void finish_row(const struct full_result *f, struct iosched_sim_row *row,
		       const struct iosched_sim_histograms *sum)
{
	uint64_t ns = f->public.measured_ns;

	row->histograms = sum;
	row->wait = summary_of(&sum->of[IOSCHED_LATENCY_WAIT]);
	row->device = summary_of(&sum->of[IOSCHED_LATENCY_DEVICE]);
	row->total = summary_of(&sum->of[IOSCHED_LATENCY_TOTAL]);
	if (ns == 0)
		return;
	row->bytes_per_s = ios_sim_muldiv(row->bytes, NSEC_PER_SEC, ns);
	row->milli_iops = ios_sim_muldiv(row->requests, 1000 * NSEC_PER_SEC, ns);
}

/* The row of meters [from, to) in order and of one op, or all. Returns 0 or -ENOMEM. */
static int make_row(struct full_result *f, struct iosched_sim_row *row, uint32_t from, uint32_t to,
		    uint8_t op)
{
	struct iosched_sim_histograms *sum = ios_sim_meter_histograms(&f->meter);

	if (sum == NULL)
		return -ENOMEM;
	*row = (struct iosched_sim_row){.context = IOSCHED_SIM_ALL_CONTEXTS, .op = op};
	strcpy(row->name, "all");
	for (uint32_t i = from; i < to; i++) {
		const struct ios_sim_context_meter *m = &f->meter.meters[f->order[i]];

		for (uint8_t each = 0; each < IOS_SIM_OPS; each++)
			if (op == IOSCHED_SIM_ALL_OPS || op == each)
				add_tally(row, sum, &m->by_op[each]);
	}
	finish_row(f, row, sum);
	return 0;
}

static bool op_used(const struct full_result *f, uint32_t from, uint32_t to, uint8_t op)
{
	for (uint32_t i = from; i < to; i++)
		if (f->meter.meters[f->order[i]].by_op[op].requests > 0)
			return true;
	return false;
}

/* The sum row and the rows per op of meters [from, to). */
static int make_rows(struct full_result *f, uint32_t from, uint32_t to)
{
	struct iosched_sim_row *row = &f->rows[f->public.row_count++];
	int err = make_row(f, row, from, to, IOSCHED_SIM_ALL_OPS);

	for (uint8_t op = 0; err == 0 && op < IOS_SIM_OPS; op++)
		if (op_used(f, from, to, op))
			err = make_row(f, &f->rows[f->public.row_count++], from, to, op);
	return err;
}

/* Rows from @first on are of this meter. */
static void name_rows(struct full_result *f, unsigned first, const struct ios_sim_context_meter *m)
{
	for (unsigned i = first; i < f->public.row_count; i++) {
		f->rows[i].context = m->context;
		f->rows[i].weight = m->weight;
		memcpy(f->rows[i].name, m->name, sizeof(m->name));
	}
}

static void set_share(struct iosched_sim_row *row, uint64_t ns, uint64_t total)
{
	row->device_ns = ns;
	row->device_share_ppm = total == 0 ? 0 : (uint32_t)ios_sim_muldiv(ns, 1000000, total);
}

static int make_table(struct full_result *f, const struct ios_sim_ledger *ledger)
{
	uint32_t n = f->meter.count;
	uint64_t known = 0;
	int err;

	f->rows = calloc(((size_t)n + 1) * (IOS_SIM_OPS + 1), sizeof(*f->rows));
	if (f->rows == NULL)
		return -ENOMEM;
	f->public.rows = f->rows;
	err = make_rows(f, 0, n);
	set_share(&f->rows[0], ledger->total, ledger->total);
	for (uint32_t i = 0; err == 0 && i < n; i++) {
		const struct ios_sim_context_meter *m = &f->meter.meters[f->order[i]];
		unsigned first = f->public.row_count;
		uint64_t ns = m->context == IOSCHED_SIM_OTHER_CONTEXTS
				      ? ledger->total - known /* they come last */
				      : ios_sim_ledger_of(ledger, m->context);

		err = make_rows(f, i, i + 1);
		name_rows(f, first, m);
		set_share(&f->rows[first], ns, ledger->total);
		known += ns;
	}
	return err;
}

/* --- Order, series, Jain --- */

struct numbered {
	uint64_t context;
	uint32_t meter;
};

static int by_context(const void *a, const void *b)
{
	const struct numbered *x = a;
	const struct numbered *y = b;

	return (x->context > y->context) - (x->context < y->context);
}

static int make_order(struct full_result *f)
{
	uint32_t n = f->meter.count;
	struct numbered *sorted = calloc((size_t)n + 1, sizeof(*sorted));

	f->order = calloc((size_t)n + 1, sizeof(*f->order));
	if (sorted == NULL || f->order == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = (struct numbered){f->meter.meters[i].context, i};
	qsort(sorted, n, sizeof(*sorted), by_context);
	for (uint32_t i = 0; i < n; i++)
		f->order[i] = sorted[i].meter;
	free(sorted);
	return 0;
}

static void add_points(uint64_t *to, const struct ios_sim_context_meter *m, uint64_t count)
{
	for (uint64_t i = 0; i < count && i < m->intervals; i++)
		to[i] += m->interval_bytes[i];
}

static int make_series(struct full_result *f)
{
	uint64_t count = f->meter.interval_count;
	uint32_t n = f->meter.count;

	if (f->meter.interval == 0 || count == 0)
		return 0;
	f->series = calloc((size_t)n + 1, sizeof(*f->series));
	f->points = calloc(((size_t)n + 1) * count, sizeof(*f->points));
	if (f->series == NULL || f->points == NULL)
		return -ENOMEM;
	f->series[0] = (struct iosched_sim_series){IOSCHED_SIM_ALL_CONTEXTS, f->points};
	for (uint32_t i = 0; i < n; i++) {
		const struct ios_sim_context_meter *m = &f->meter.meters[f->order[i]];
		uint64_t *points = &f->points[((size_t)i + 1) * count];

		add_points(points, m, count);
		add_points(f->points, m, count);
		f->series[i + 1] = (struct iosched_sim_series){m->context, points};
	}
	f->public.series = f->series;
	f->public.series_count = n + 1;
	f->public.interval_count = count;
	f->public.interval_ns = f->meter.interval;
	return 0;
}

static double jain_of(const struct full_result *f)
{
	double sum = 0;
	double squares = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < f->public.row_count; i++) {
		const struct iosched_sim_row *row = &f->rows[i];
		double x = (double)row->device_ns / (row->weight == 0 ? 100.0 : row->weight);

		if (row->op != IOSCHED_SIM_ALL_OPS || row->context >= IOSCHED_SIM_OTHER_CONTEXTS)
			continue;
		sum += x;
		squares += x * x;
		n++;
	}
	return squares > 0 ? sum * sum / (n * squares) : 0;
}

/* --- The whole --- */

static void copy_counters(struct iosched_sim_result *r, const struct ios_sim_host *h,
			  const struct ios_sim_replay_counts *counts)
{
	iosched_time until = h->engine.now < h->meter.until ? h->last_completion : h->meter.until;

	r->digest = h->digest;
	r->end = h->engine.now;
	r->measured_ns = until > h->meter.from ? until - h->meter.from : 0;
	r->events = h->engine.fired;
	r->submitted = h->submitted;
	r->completed = h->completed;
	r->failed = h->failed;
	r->returned = h->returned;
	r->skipped_records = counts->skipped;
	r->folded_records = counts->folded;
	r->unordered_records = counts->unordered;
	r->seeks = h->seeks;
	r->seek_bytes = h->seek_bytes;
	r->held_ns = h->business_ns[IOS_SIM_HELD];
	r->empty_ns = h->business_ns[IOS_SIM_EMPTY];
	ios_sim_device_stats(h->device, &r->device);
	iosched_stats_get(h->queue, &r->stats, sizeof(r->stats));
}

int ios_sim_result_make(struct iosched_sim_result **out, struct ios_sim_host *h,
			const struct ios_sim_replay_counts *counts)
{
	struct full_result *f = calloc(1, sizeof(*f));
	int err;

	if (f == NULL) {
		ios_sim_meter_fini(&h->meter);
		return -ENOMEM;
	}
	copy_counters(&f->public, h, counts);
	f->meter = h->meter;
	h->meter = (struct ios_sim_meter){0};
	err = make_order(f);
	if (err == 0)
		err = make_table(f, &h->ledger);
	if (err == 0)
		err = make_series(f);
	if (err != 0) {
		iosched_sim_result_free(&f->public);
		return err;
	}
	f->public.jain = jain_of(f);
	*out = &f->public;
	return 0;
}

int ios_sim_result_add_score(struct iosched_sim_result *r,
			     const struct iosched_sim_program_result *score, unsigned count)
{
	struct full_result *f = (struct full_result *)r;

	if (f->scores == NULL)
		f->scores = calloc(count, sizeof(*f->scores));
	if (f->scores == NULL)
		return -ENOMEM;
	f->scores[r->program_count++] = *score;
	r->programs = f->scores;
	return 0;
}
