/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: what can be measured in a result, by name.
 *
 * A metric of a stream is that of the contexts of its copies taken together: sums of
 * counts, joined histograms.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/meter.h"
#include "sim/scenario.h"

enum what {
	THROUGHPUT,
	IOPS,
	REQUESTS,
	MERGES,
	SHARE,
	SPREAD,
	JAIN,
	SEEKS,
	HELD,
	EMPTY,
	OPERATIONS,
	DELIVERED,
	MEAN_SYNC,
	LATENCY
};

static const struct {
	const char *name;
	enum ios_scn_kind kind;
	bool of_streams; /* can be asked of a stream or program */
	bool of_program; /* and only of a program */
} table[] = {
	[THROUGHPUT] = {"throughput", IOS_SCN_RATE, true, false},
	[IOPS] = {"iops", IOS_SCN_IOPS, true, false},
	[REQUESTS] = {"requests", IOS_SCN_COUNT, true, false},
	[MERGES] = {"merges", IOS_SCN_COUNT, true, false},
	[SHARE] = {"share", IOS_SCN_PPM_OF_ONE, true, false},
	[SPREAD] = {"spread", IOS_SCN_PPM_OF_ONE, true, false},
	[JAIN] = {"jain", IOS_SCN_PPM_OF_ONE, false, false},
	[SEEKS] = {"seeks", IOS_SCN_COUNT, false, false},
	[HELD] = {"idle", IOS_SCN_NS, false, false},
	[EMPTY] = {"empty", IOS_SCN_NS, false, false},
	[OPERATIONS] = {"operations", IOS_SCN_IOPS, true, true},
	[DELIVERED] = {"delivered", IOS_SCN_RATE, true, true},
	[MEAN_SYNC] = {"mean_sync", IOS_SCN_NS, true, true},
	[LATENCY] = {NULL, IOS_SCN_NS, true, false},
};

/* --- Names --- */

#define MEAN 10001
#define MAX 10002

static const struct {
	const char *name;
	uint16_t permyriad;
} points[] = {
	{"mean", MEAN}, {"p50", 5000}, {"p90", 9000}, {"p99", 9900}, {"p99.9", 9990}, {"max", MAX},
};

static const char *const latencies[] = {
	[IOSCHED_LATENCY_WAIT] = "wait",
	[IOSCHED_LATENCY_DEVICE] = "device",
	[IOSCHED_LATENCY_TOTAL] = "total",
};

static const char *const names[] = {
	"throughput", "iops",	    "requests",	    "merges",	  "share",	 "spread",
	"jain",	      "seeks",	    "idle",	    "empty",	  "mean_wait",	 "p50_wait",
	"p90_wait",   "p99_wait",   "p99.9_wait",   "max_wait",	  "mean_total",	 "p50_total",
	"p90_total",  "p99_total",  "p99.9_total",  "max_total",  "mean_device", "p50_device",
	"p90_device", "p99_device", "p99.9_device", "max_device", "operations",	 "delivered",
	"mean_sync",  NULL,
};

/* "p99_wait" of @n characters. */
static bool find_latency(const char *text, size_t n, struct ios_scn_metric *out)
{
	const char *bar = memchr(text, '_', n);
	size_t head = bar != NULL ? (size_t)(bar - text) : 0;

	for (size_t i = 0; head > 0 && i < sizeof(points) / sizeof(points[0]); i++)
		for (uint8_t j = 0; j < 3; j++) {
			size_t tail = n - head - 1;

			if (strlen(points[i].name) != head || strlen(latencies[j]) != tail ||
			    memcmp(points[i].name, text, head) != 0 ||
			    memcmp(latencies[j], bar + 1, tail) != 0)
				continue;
			out->what = LATENCY;
			out->permyriad = points[i].permyriad;
			out->latency = j;
			return true;
		}
	return false;
}

static bool find(const char *text, size_t n, struct ios_scn_metric *out)
{
	for (uint8_t i = 0; i < LATENCY; i++)
		if (strlen(table[i].name) == n && memcmp(table[i].name, text, n) == 0) {
			out->what = i;
			return true;
		}
	return find_latency(text, n, out);
}

bool ios_scn_is_metric(const char *text)
{
	struct ios_scn_metric m;

	return find(text, strcspn(text, "("), &m);
}

static int parse_op(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, char *text,
		    struct ios_scn_metric *out)
{
	static const char *const ops[] = {
		[IOSCHED_READ] = "read",
		[IOSCHED_WRITE] = "write",
		[IOSCHED_FLUSH] = "flush",
		NULL,
	};

	for (uint8_t i = 0; ops[i] != NULL; i++)
		if (strcmp(ops[i], text) == 0) {
			out->op = i;
			return 0;
		}
	return ios_scn_unknown(s, &(struct ios_scn_word){text, w->line}, -EINVAL, "an operation",
			       ios_scn_listed, ops);
}

/* "log", "log.2", "log:flush", "log.2:flush". */
static int parse_who(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, char *text,
		     struct ios_scn_metric *out)
{
	char *op = strchr(text, ':');
	char *copy;
	uint64_t n = 0;

	if (op != NULL)
		*op++ = '\0';
	copy = strchr(text, '.');
	if (copy != NULL)
		*copy++ = '\0';
	out->who = ios_scn_find_group(s, text);
	if (out->who == NULL)
		return ios_scn_unknown(s, &(struct ios_scn_word){text, w->line}, -EINVAL,
				       "a stream or program", ios_scn_group_names, s);
	if (copy != NULL &&
	    (ios_sim_param_parse(IOS_SIM_UNIT_NONE, copy, &n) != 0 || n < 1 || n > out->who->count))
		return ios_scn_fail(s, w->line, -EINVAL, "%s %s has no %s %.20s",
				    out->who->is_program ? "program" : "stream", text,
				    out->who->is_program ? "process" : "copy", copy);
	out->copy = (unsigned)n;
	return op != NULL ? parse_op(s, w, op, out) : 0;
}

static int check_who(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
		     const struct ios_scn_metric *m)
{
	if (m->who != NULL && !table[m->what].of_streams)
		return ios_scn_fail(s, w->line, -EINVAL,
				    "%s is of the whole run, not of one stream",
				    table[m->what].name);
	if (table[m->what].of_program &&
	    (m->who == NULL || !m->who->is_program || m->copy != 0 || m->op != IOSCHED_SIM_ALL_OPS))
		return ios_scn_fail(s, w->line, -EINVAL, "%s is of a program, as a whole",
				    table[m->what].name);
	if (m->what == SPREAD && (m->who == NULL || m->copy != 0 || m->who->count < 2))
		return ios_scn_fail(s, w->line, -EINVAL, "spread is of a stream with copies");
	if (m->what == SHARE && (m->who == NULL || m->op != IOSCHED_SIM_ALL_OPS))
		return ios_scn_fail(s, w->line, -EINVAL,
				    "share is of a stream with all its operations");
	return 0;
}

int ios_scn_metric(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
		   const char *text, struct ios_scn_metric *out)
{
	size_t n = strcspn(text, "(");
	char who[64];
	size_t length;
	int err;

	*out = (struct ios_scn_metric){.op = IOSCHED_SIM_ALL_OPS};
	if (!find(text, n, out)) {
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(n < 63 ? n : 63), text);
		return ios_scn_unknown(s, &(struct ios_scn_word){name, w->line}, -EINVAL,
				       "a metric", ios_scn_listed, names);
	}
	out->kind = table[out->what].kind;
	if (text[n] == '\0')
		return check_who(s, w, out);
	text += n + 1;
	length = strlen(text);
	if (length < 2 || text[length - 1] != ')' || length > sizeof(who))
		return ios_scn_fail(s, w->line, -EINVAL,
				    "\"%.40s\" does not end as in p99_wait(log:flush)", w->text);
	memcpy(who, text, length - 1);
	who[length - 1] = '\0';
	err = parse_who(s, w, who, out);
	return err != 0 ? err : check_who(s, w, out);
}

/* --- Measuring --- */

/* Calls @each with the row of every context that @m speaks of, once. */
typedef void row_fn(void *user, const struct iosched_sim_row *row);

static bool seen_before(const struct iosched_sim_scenario *s, unsigned first, unsigned i)
{
	for (unsigned j = first; j < i; j++)
		if (s->streams[j].s.context == s->streams[i].s.context)
			return true;
	return false;
}

/* A policy line may have changed how many processes a program has. */
static void each_process(const struct ios_scn_metric *m, const struct iosched_sim_result *r,
			 row_fn *each, void *user)
{
	uint64_t first = m->who->first_context + (m->copy != 0 ? m->copy - 1 : 0);
	uint64_t count = m->copy != 0 ? 1 : IOS_SCN_PROGRAM_CONTEXTS;

	for (unsigned i = 0; i < r->row_count; i++)
		if (r->rows[i].op == m->op && r->rows[i].context >= first &&
		    r->rows[i].context < first + count)
			each(user, &r->rows[i]);
}

static void each_row(const struct iosched_sim_scenario *s, const struct ios_scn_metric *m,
		     const struct iosched_sim_result *r, row_fn *each, void *user)
{
	const struct iosched_sim_row *row;
	unsigned first, last;

	if (m->who == NULL) {
		row = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, m->op);
		if (row != NULL)
			each(user, row);
		return;
	}
	if (m->who->is_program) {
		each_process(m, r, each, user);
		return;
	}
	first = m->who->first + (m->copy != 0 ? m->copy - 1 : 0);
	last = m->copy != 0 ? first : m->who->first + m->who->count - 1;
	for (unsigned i = first; i <= last; i++) {
		if (seen_before(s, first, i))
			continue;
		row = iosched_sim_result_row(r, s->streams[i].s.context, m->op);
		each(user, row); /* NULL: it did nothing */
	}
}

struct sum {
	const struct ios_scn_metric *m;
	struct ios_sim_histogram *histogram; /* of latencies only */
	uint64_t bytes, requests, merged, share, least, most;
};

static void add_row(void *user, const struct iosched_sim_row *row)
{
	struct sum *sum = user;
	uint64_t bytes = row != NULL ? row->bytes : 0;

	if (bytes < sum->least)
		sum->least = bytes;
	if (bytes > sum->most)
		sum->most = bytes;
	if (row == NULL)
		return;
	sum->bytes += row->bytes;
	sum->requests += row->requests;
	sum->merged += row->merged;
	sum->share += row->device_share_ppm;
	if (sum->histogram != NULL)
		ios_sim_histogram_join(sum->histogram, &row->histograms->of[sum->m->latency]);
}

static uint64_t per_second(const struct iosched_sim_result *r, uint64_t n, uint64_t scale)
{
	return r->measured_ns == 0 ? 0 : ios_sim_muldiv(n, scale * NSEC_PER_SEC, r->measured_ns);
}

/* What the program itself counts, over the time in which it did. */
static int score_of(const struct sum *sum, const struct iosched_sim_result *r, uint64_t *out)
{
	const struct iosched_sim_program_result *p = NULL;

	for (unsigned i = 0; i < r->program_count; i++)
		if (r->programs[i].first_context == sum->m->who->first_context)
			p = &r->programs[i];
	if (p == NULL || p->elapsed_ns == 0 || (sum->m->what == MEAN_SYNC && p->syncs == 0))
		return -ENODATA;
	if (sum->m->what == MEAN_SYNC)
		*out = p->sync_ns / p->syncs;
	else if (sum->m->what == OPERATIONS)
		*out = ios_sim_muldiv(p->operations, 1000 * NSEC_PER_SEC, p->elapsed_ns);
	else
		*out = ios_sim_muldiv(p->bytes, NSEC_PER_SEC, p->elapsed_ns);
	return 0;
}

static uint64_t point_of(const struct ios_scn_metric *m, const struct ios_sim_histogram *h)
{
	if (m->permyriad == MAX)
		return h->max;
	if (m->permyriad == MEAN)
		return h->sum / h->count;
	return ios_sim_histogram_quantile(h, m->permyriad);
}

/* Jain's index of a double in the result, rounded down: for a look, and for bounds whose
 * last digits do not matter. */
static uint64_t jain_ppm(const struct iosched_sim_result *r)
{
	return (uint64_t)(r->jain * (double)IOS_SCN_PPM);
}

static int value_of(const struct sum *sum, const struct iosched_sim_result *r, uint64_t *out)
{
	switch ((enum what)sum->m->what) {
	case THROUGHPUT:
		*out = per_second(r, sum->bytes, 1);
		break;
	case IOPS:
		*out = per_second(r, sum->requests, 1000);
		break;
	case REQUESTS:
		*out = sum->requests;
		break;
	case MERGES:
		*out = sum->merged;
		break;
	case SHARE:
		*out = sum->share;
		break;
	case SPREAD:
		*out = sum->most == 0 ? 0 : ios_sim_muldiv(sum->least, IOS_SCN_PPM, sum->most);
		break;
	case JAIN:
		*out = jain_ppm(r);
		break;
	case SEEKS:
		*out = r->seeks;
		break;
	case HELD:
		*out = r->held_ns;
		break;
	case EMPTY:
		*out = r->empty_ns;
		break;
	case OPERATIONS:
	case DELIVERED:
	case MEAN_SYNC:
		return score_of(sum, r, out);
	case LATENCY:
		if (sum->histogram->count == 0)
			return -ENODATA;
		*out = point_of(sum->m, sum->histogram);
		break;
	}
	return 0;
}

int ios_scn_measure(const struct iosched_sim_scenario *s, const struct ios_scn_metric *m,
		    const struct iosched_sim_result *r, uint64_t *out)
{
	struct sum sum = {.m = m, .least = UINT64_MAX};
	int err;

	*out = 0;
	if (m->what == LATENCY) {
		sum.histogram = calloc(1, sizeof(*sum.histogram));
		if (sum.histogram == NULL)
			return -ENOMEM;
	}
	each_row(s, m, r, add_row, &sum);
	err = value_of(&sum, r, out);
	free(sum.histogram);
	return err;
}

/* --- For people --- */

/* @value / @unit with three digits or so. */
static const char *scaled(char out[IOS_SCN_FIGURE], uint64_t value, uint64_t unit, const char *name)
{
	uint64_t whole = value / unit;
	unsigned decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
	static const uint64_t tens[] = {1, 10, 100};
	uint64_t part = ios_sim_muldiv(value % unit, tens[decimals], unit);

	if (decimals == 0 || unit == 1)
		snprintf(out, IOS_SCN_FIGURE, "%" PRIu64 "%s", whole, name);
	else
		snprintf(out, IOS_SCN_FIGURE, "%" PRIu64 ".%0*" PRIu64 "%s", whole, (int)decimals,
			 part, name);
	return out;
}

const char *ios_scn_figure(char out[IOS_SCN_FIGURE], enum ios_scn_kind kind, uint64_t value)
{
	switch (kind) {
	case IOS_SCN_NS:
		if (value < NSEC_PER_MSEC)
			return scaled(out, value, NSEC_PER_USEC, " us");
		if (value < 10 * NSEC_PER_SEC)
			return scaled(out, value, NSEC_PER_MSEC, " ms");
		return scaled(out, value, NSEC_PER_SEC, " s");
	case IOS_SCN_RATE:
		if (value < 1000000)
			return scaled(out, value, 1000, " KB/s");
		return scaled(out, value, 1000000, " MB/s");
	case IOS_SCN_IOPS:
		return scaled(out, value, 1000, "/s");
	case IOS_SCN_PPM_OF_ONE:
		return scaled(out, value, IOS_SCN_PPM / 100, "%");
	case IOS_SCN_FACTOR:
		return scaled(out, value, IOS_SCN_PPM, "");
	case IOS_SCN_COUNT:
		break;
	}
	return scaled(out, value, 1, "");
}
