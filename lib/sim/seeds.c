/* SPDX-License-Identifier: MIT */
/*
 * The seed tables, run and judged.
 *
 * A row of a table and a policy make a cell: every policy of the library is run on the row's
 * kernel, but for cfq-2.6.32, which is run as each generation that the row names.
 */
#include <errno.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/seed_tables.h"

#define GENERATIONS_OF "cfq-2.6.32"

struct contender {
	const struct ios_sim_seed_row *row;
	const struct iosched_policy *policy;
	const struct ios_sim_seed_report *report; /* NULL: none */
	unsigned row_number;
};

static const struct ios_sim_seed_report *report_of(const struct ios_sim_seed_row *row,
						   const char *policy)
{
	for (const struct ios_sim_seed_report *r = row->reports; r->policy != NULL; r++)
		if (r->kernel == NULL && strcmp(r->policy, policy) == 0)
			return r;
	return NULL;
}

/* The @*skip-th of the row's contenders, or false with @*skip less by how many there are. */
static bool find_in_row(const struct ios_sim_seed_row *row, unsigned *skip, struct contender *out)
{
	const struct iosched_policy *p;

	out->row = row;
	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++) {
		out->policy = p;
		if (strcmp(iosched_policy_name(p), GENERATIONS_OF) == 0)
			continue;
		out->report = report_of(row, iosched_policy_name(p));
		if ((*skip)-- == 0)
			return true;
	}
	out->policy = iosched_policy_find(GENERATIONS_OF);
	for (out->report = row->reports; out->report->policy != NULL; out->report++)
		if (out->report->kernel != NULL && (*skip)-- == 0)
			return true;
	return false;
}

static bool find(unsigned i, struct contender *out)
{
	const struct ios_sim_seed_row *row;

	for (unsigned n = 0; (row = ios_sim_seed_row_at(n)) != NULL; n++) {
		out->row_number = n;
		if (find_in_row(row, &i, out))
			return true;
	}
	return false;
}

/* cfq's later namesake comes from 4.20, whatever kernel surrounds it. */
static const char *kernel_of(const struct contender *c)
{
	if (c->report != NULL && c->report->kernel != NULL)
		return c->report->kernel;
	return strcmp(iosched_policy_name(c->policy), "cfq") == 0 ? "4.20" : c->row->kernel;
}

int iosched_seed_cell_at(unsigned i, struct iosched_seed_cell *out)
{
	struct contender c;

	if (!find(i, &c))
		return -ERANGE;
	*out = (struct iosched_seed_cell){
		.seed = c.row->seed,
		.cell = c.row->cell,
		.unit = c.row->unit,
		.policy = c.report != NULL ? c.report->policy : iosched_policy_name(c.policy),
		.kernel = kernel_of(&c),
		.reported = c.report != NULL ? c.report->value : -1,
		.lower_is_better = c.row->measure == IOS_SIM_SEED_SYNC,
		.is_base = strcmp(iosched_policy_name(c.policy), c.row->base) == 0,
		.row = c.row_number,
	};
	return 0;
}

int iosched_seed_config(unsigned i, struct iosched_sim_config *out)
{
	struct contender c;

	if (!find(i, &c))
		return -ERANGE;
	iosched_sim_config_init(out, sizeof(*out));
	out->policy = c.policy;
	if (c.report != NULL && c.report->kernel != NULL)
		out->tunables = ios_sim_seed_generation(c.report->kernel, &out->tunable_count);
	out->device = c.row->device;
	out->device_text = c.row->device_text;
	out->programs = &c.row->program;
	out->program_count = 1;
	out->block_layer = IOSCHED_SIM_PLUGGED;
	out->warmup_ns = c.row->warmup_ns;
	out->length_ns = c.row->length_ns;
	return 0;
}

/* --- Running --- */

static double per_second(uint64_t amount, uint64_t ns)
{
	return ns == 0 ? 0 : (double)amount * 1e9 / (double)ns;
}

static double value_of(const struct iosched_sim_program_result *r,
		       enum ios_sim_seed_measure measure)
{
	switch (measure) {
	case IOS_SIM_SEED_MB:
		return per_second(r->bytes, r->elapsed_ns) / 1e6;
	case IOS_SIM_SEED_KIB:
		return per_second(r->bytes, r->elapsed_ns) / 1024;
	case IOS_SIM_SEED_OPERATIONS:
		return per_second(r->operations, r->elapsed_ns);
	case IOS_SIM_SEED_SYNC:
		return r->syncs == 0 ? 0 : (double)r->sync_ns / (double)r->syncs / 1e6;
	}
	return 0;
}

int iosched_seed_run(unsigned i, uint64_t seed, double *value, uint64_t *digest,
		     struct iosched_sim_error *why)
{
	struct iosched_sim_config config;
	struct iosched_sim_result *r;
	struct contender c;
	int err = iosched_seed_config(i, &config);

	if (err != 0)
		return err;
	config.seed = seed;
	err = iosched_sim_run(&config, &r, why);
	if (err == 0) {
		find(i, &c);
		*value = value_of(&r->programs[0], c.row->measure);
		if (digest != NULL)
			*digest = r->digest;
	}
	iosched_sim_result_free(r);
	return err;
}

/* --- Judging --- */

/* Reported values closer than this are a tie: the reports are single runs, and their own columns
 * in which no scheduler takes part differ by so much (bonnie++ by character 6 %, creating files 9
 * %). At 5 % three more pairs would have to be in order: see docs/seeds.md. */
#define REPORTED_TIE 0.06
#define TIE 0.05
#define WIN 0.03
#define FAR 0.25

/* Greater is better. */
static double merit(const struct iosched_seed_cell *cell, double value)
{
	if (!cell->lower_is_better)
		return value;
	return value > 0 ? 1 / value : 0;
}

static unsigned row_begins(unsigned i, unsigned row)
{
	struct iosched_seed_cell cell;

	while (i > 0 && iosched_seed_cell_at(i - 1, &cell) == 0 && cell.row == row)
		i--;
	return i;
}

static bool in_order(const double *simulated, unsigned i)
{
	struct iosched_seed_cell mine, other;

	iosched_seed_cell_at(i, &mine);
	for (unsigned k = row_begins(i, mine.row);
	     iosched_seed_cell_at(k, &other) == 0 && other.row == mine.row; k++) {
		if (other.reported < 0 || simulated[k] < 0)
			continue;
		if (mine.reported > other.reported * (1 + REPORTED_TIE) &&
		    simulated[i] <= simulated[k])
			return false;
		if (other.reported > mine.reported * (1 + REPORTED_TIE) &&
		    simulated[k] <= simulated[i])
			return false;
	}
	return true;
}

static enum iosched_seed_verdict compare(const double *simulated, unsigned i)
{
	struct iosched_seed_cell mine, other;
	double best = 0, own;

	iosched_seed_cell_at(i, &mine);
	own = merit(&mine, simulated[i]);
	for (unsigned k = row_begins(i, mine.row);
	     iosched_seed_cell_at(k, &other) == 0 && other.row == mine.row; k++)
		if (k != i && simulated[k] >= 0 && merit(&other, simulated[k]) > best)
			best = merit(&other, simulated[k]);
	if (own >= best * (1 + WIN))
		return IOSCHED_SEED_WINS;
	return own >= best * (1 - TIE) ? IOSCHED_SEED_TIES : IOSCHED_SEED_LOSES;
}

static void judge_reported(const double *simulated, unsigned i,
			   const struct iosched_seed_cell *cell, struct iosched_seed_judgement *out)
{
	out->absolute_error = simulated[i] / cell->reported - 1;
	if (cell->is_base)
		out->verdict = IOSCHED_SEED_BASE;
	else if (!in_order(simulated, i))
		out->verdict = IOSCHED_SEED_MISSED;
	else if (out->error < -FAR || out->error > FAR)
		out->verdict = IOSCHED_SEED_ORDER_ONLY;
	else
		out->verdict = IOSCHED_SEED_REPRODUCED;
}

static void judge_one(const double *simulated, unsigned i, struct iosched_seed_judgement *out)
{
	struct iosched_seed_cell cell, base;
	unsigned b;

	*out = (struct iosched_seed_judgement){.reported_ratio = -1};
	iosched_seed_cell_at(i, &cell);
	b = row_begins(i, cell.row);
	while (iosched_seed_cell_at(b, &base) == 0 && !base.is_base)
		b++;
	out->simulated_ratio = simulated[b] > 0 ? simulated[i] / simulated[b] : 0;
	if (cell.reported >= 0 && base.reported > 0) {
		out->reported_ratio = cell.reported / base.reported;
		out->error = out->simulated_ratio / out->reported_ratio - 1;
	}
	if (cell.reported < 0)
		out->verdict = cell.is_base ? IOSCHED_SEED_BASE : compare(simulated, i);
	else
		judge_reported(simulated, i, &cell, out);
}

int iosched_seed_judge(const double *simulated, unsigned count, struct iosched_seed_judgement *out)
{
	struct iosched_seed_cell cell;

	if (iosched_seed_cell_at(count, &cell) == 0 ||
	    (count > 0 && iosched_seed_cell_at(count - 1, &cell) != 0))
		return -EINVAL;
	for (unsigned i = 0; i < count; i++)
		judge_one(simulated, i, &out[i]);
	return 0;
}

const char *iosched_seed_verdict_name(enum iosched_seed_verdict verdict)
{
	static const char *const names[] = {"base", "reproduced", "order only", "missed",
					    "wins", "ties",	  "loses"};

	return (unsigned)verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "";
}
