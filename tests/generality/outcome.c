/* SPDX-License-Identifier: MIT */
/*
 * What a share is of: on one arm, of the time the device really spent. Elsewhere of the model's
 * cost, and a flow that gets two thirds of what it would get alone is content with less than its
 * share: channels that it cannot use are of no use to it.
 */
#include "outcome.h"

#include <errno.h>
#include <string.h>

#define CONTENT (2.0 / 3)
#define DEFAULT_WEIGHT 100

static void describe(struct flow *f, const struct iosched_sim_stream *s)
{
	f->write = s->read_permyriad < 5000;
	f->sync = !f->write || (s->write_flags & IOSCHED_RQ_SYNC) != 0 || s->flush_every != 0;
	f->random = s->pattern == IOSCHED_SIM_RANDOM;
	f->thinks = s->think_ns != 0;
	f->deep = s->depth > 2;
}

/* Weights are those of groups; a group's members share it. */
static void set_ideals(struct cell *c)
{
	double sum = 0, part[FLOWS];
	unsigned i, k;

	for (i = 0; i < c->count; i++) {
		const struct iosched_sim_stream *s = &c->config->streams[i];
		unsigned members = 1;

		if (s->group != 0)
			for (k = 0, members = 0; k < c->count; k++)
				members += c->config->streams[k].group == s->group;
		part[i] =
			(s->group_weight != 0 ? s->group_weight : DEFAULT_WEIGHT) / (double)members;
		sum += c->flows[i].thinks ? 0 : part[i];
	}
	for (i = 0; i < c->count; i++)
		c->flows[i].ideal = c->flows[i].thinks ? -1 : part[i] / sum;
}

/* Copies of a stream are alike: the first is asked for all. */
static bool alike(const struct iosched_sim_stream *a, const struct iosched_sim_stream *b)
{
	return a->pattern == b->pattern && a->request_bytes == b->request_bytes &&
	       a->depth == b->depth && a->read_permyriad == b->read_permyriad &&
	       a->write_flags == b->write_flags && a->refill == b->refill;
}

static int ask_alone(struct cell *c, unsigned i, struct iosched_sim_error *why)
{
	struct iosched_sim_stream s = c->config->streams[i];
	struct iosched_sim_config config = *c->config;
	struct iosched_sim_result *r = NULL;
	const struct iosched_sim_row *row;
	int err;

	s.cursor = 0;
	config.streams = &s;
	config.stream_count = 1;
	err = iosched_sim_run(&config, &r, why);
	row = err != 0 ? NULL : iosched_sim_result_row(r, s.context, IOSCHED_SIM_ALL_OPS);
	c->flows[i].bytes_solo = row != NULL ? (double)row->bytes_per_s : 0;
	iosched_sim_result_free(r);
	return err;
}

static int ask_each_alone(struct cell *c, struct iosched_sim_error *why)
{
	int err = 0;

	for (unsigned i = 0; err == 0 && i < c->count; i++)
		if (i > 0 && alike(&c->config->streams[i], &c->config->streams[i - 1]))
			c->flows[i].bytes_solo = c->flows[i - 1].bytes_solo;
		else if (!c->flows[i].thinks)
			err = ask_alone(c, i, why);
	return err;
}

int cell_open(struct cell *c, const struct device *d, const struct load *l,
	      const struct descriptor *model, struct iosched_sim_error *why)
{
	struct iosched_sim_case first;
	char text[2000];
	unsigned n = load_text(text, sizeof(text), d, l);
	int err = n == 0 ? -E2BIG : 0;

	memset(c, 0, sizeof(*c));
	c->d = d;
	c->l = l;
	c->model = model;
	if (err == 0)
		err = iosched_sim_scenario_parse(&c->scenario, text, n, l->name, why);
	if (err == 0)
		err = iosched_sim_scenario_case(c->scenario, 0, &first);
	if (err != 0)
		return err;
	c->config = first.config;
	c->count = c->config->stream_count;
	if (c->count > FLOWS)
		return -E2BIG;
	for (unsigned i = 0; i < c->count; i++)
		describe(&c->flows[i], &c->config->streams[i]);
	set_ideals(c);
	return d->kind == CHANNELS ? ask_each_alone(c, why) : 0;
}

void cell_close(struct cell *c)
{
	iosched_sim_scenario_free(c->scenario);
	c->scenario = NULL;
}

/* --- shares --- */

static double model_cost(const struct descriptor *m, bool random, int write,
			 const struct iosched_sim_row *row)
{
	double base = random ? m->rand_ns[write] : m->seq_ns[write];

	return row == NULL ? 0
			   : (double)(row->requests - row->merged) * base +
				     (double)row->bytes * m->byte_ns[write];
}

static double cost_of(const struct cell *c, unsigned i, const struct iosched_sim_result *r,
		      const struct iosched_sim_row *all)
{
	uint64_t context = c->config->streams[i].context;

	if (c->d->kind == ONE_ARM)
		return (double)all->device_ns;
	return model_cost(c->model, c->flows[i].random, 0,
			  iosched_sim_result_row(r, context, IOSCHED_READ)) +
	       model_cost(c->model, c->flows[i].random, 1,
			  iosched_sim_result_row(r, context, IOSCHED_WRITE));
}

static double error_of(const struct cell *c, const struct flow *f, double share, double bytes)
{
	double off = f->ideal - share;

	if (c->d->kind == ONE_ARM)
		return off < 0 ? -off : off;
	return off < 0 || bytes >= CONTENT * f->bytes_solo ? 0 : off;
}

/* --- a run --- */

static void keep_longest(double *most, uint64_t ns)
{
	*most = (double)ns > *most ? (double)ns : *most;
}

static void add_waits(struct outcome *out, const struct flow *f, const struct iosched_sim_row *row)
{
	if (f->write && f->sync && f->thinks)
		keep_longest(&out->fsync_p99, row->total.p99);
	if (f->sync && !f->deep) {
		keep_longest(&out->shallow_p99, row->total.p99);
		keep_longest(&out->shallow_end, row->total.max);
	}
	keep_longest(!f->sync  ? &out->async_max
		     : f->deep ? &out->deep_max
			       : &out->shallow_max,
		     row->wait.max);
}

static void evaluate(const struct cell *c, const struct iosched_sim_result *r, struct outcome *out)
{
	double bytes[FLOWS] = {0}, sum = 0;
	unsigned i;

	memset(out, 0, sizeof(*out));
	out->least = 1;
	for (i = 0; i < c->count; i++) {
		const struct iosched_sim_row *row = iosched_sim_result_row(
			r, c->config->streams[i].context, IOSCHED_SIM_ALL_OPS);

		if (row == NULL || row->requests == 0) {
			out->starved = true;
			continue;
		}
		bytes[i] = (double)row->bytes_per_s;
		out->total += bytes[i];
		add_waits(out, &c->flows[i], row);
		if (!c->flows[i].thinks)
			sum += out->shares[i] = cost_of(c, i, r, row);
	}
	for (i = 0; i < c->count; i++) {
		const struct flow *f = &c->flows[i];
		double error, part;

		if (f->thinks)
			continue;
		out->shares[i] /= sum > 0 ? sum : 1;
		error = 100 * error_of(c, f, out->shares[i], bytes[i]);
		out->error = error > out->error ? error : out->error;
		part = error == 0 ? 1 : out->shares[i] / f->ideal;
		out->least = part < out->least ? part : out->least;
	}
}

int cell_run(const struct cell *c, const struct iosched_policy *p, uint64_t seed,
	     struct outcome *out, struct iosched_sim_error *why)
{
	struct iosched_sim_config config = *c->config;
	struct iosched_sim_result *r = NULL;
	int err;

	config.policy = p;
	config.seed = seed;
	config.weights_optional = 1;
	if (strcmp(iosched_policy_name(p), "fair-deadline") == 0) {
		config.tunables = c->model->tunables;
		config.tunable_count = c->model->count;
	}
	err = iosched_sim_run(&config, &r, why);
	if (err == 0)
		evaluate(c, r, out);
	iosched_sim_result_free(r);
	return err;
}
