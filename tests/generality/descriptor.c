/* SPDX-License-Identifier: MIT */
/*
 * The model: a request costs base + bytes * per_byte. per_byte is the inverse of the best rate,
 * base what short ones take beyond it. `iosched calibrate` does the same to real devices.
 */
#include "descriptor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SMALL 4096u
#define LARGE (256u << 10)

struct probe {
	const char *name, *pattern;
	unsigned bytes, depth;
};

enum probe_id { SEQ_LARGE, SEQ_SMALL, SEQ_SOLO, RAND_DEEP, RAND_SOLO, LARGE_SOLO, PROBES };

static const struct probe probes[PROBES] = {
	[SEQ_LARGE] = {"seq_large", "sequential", LARGE, 32},
	[SEQ_SMALL] = {"seq_small", "sequential", SMALL, 64},
	[SEQ_SOLO] = {"seq_solo", "sequential", SMALL, 1},
	[RAND_DEEP] = {"rand_deep", "random", SMALL, 256},
	[RAND_SOLO] = {"rand_solo", "random", SMALL, 1},
	[LARGE_SOLO] = {"large_solo", "random", LARGE, 1},
};

struct rate {
	double bytes_per_s, per_s, median_ns;
};

static int run_probe(const struct device *d, const struct probe *p, bool write, struct rate *out,
		     struct iosched_sim_error *why)
{
	struct iosched_sim_scenario *s = NULL;
	struct iosched_sim_result *r = NULL;
	struct iosched_sim_case first;
	const struct iosched_sim_row *row;
	char text[700];
	int n = snprintf(text, sizeof(text),
			 "device %s\nlength %s\nwarmup %s\nhost merge 0B\npolicy noop\n"
			 "stream s %s %s size %u B depth %u in 0..90%%\n",
			 d->line, d->length, d->warmup, write ? "write sync" : "read", p->pattern,
			 p->bytes, p->depth);
	int err = iosched_sim_scenario_parse(&s, text, (size_t)n, p->name, why);

	if (err == 0)
		err = iosched_sim_scenario_case(s, 0, &first);
	if (err == 0)
		err = iosched_sim_run(first.config, &r, why);
	if (err == 0) {
		row = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS);
		out->bytes_per_s = (double)row->bytes_per_s;
		out->per_s = (double)row->milli_iops / 1000;
		out->median_ns = (double)row->total.p50;
		if (row->requests == 0)
			err = -ENODATA;
	}
	iosched_sim_result_free(r);
	iosched_sim_scenario_free(s);
	return err;
}

static double at_least_0(double x)
{
	return x > 0 ? x : 0;
}

static void tell(struct descriptor *out, const char *name, double value)
{
	struct iosched_sim_tunable *t = &out->tunables[out->count++];

	t->name = name;
	t->value = value < 1 ? 1 : (uint64_t)(value + 0.5);
}

static void derive(struct descriptor *out, const struct rate *r, int w)
{
	static const char *const names[2][6] = {
		{"read_byte_ps", "read_seq_ns", "read_rand_ns", "read_solo_rand_ns",
		 "read_solo_seq_ns", "read_solo_byte_ps"},
		{"write_byte_ps", "write_seq_ns", "write_rand_ns", "write_solo_rand_ns",
		 "write_solo_seq_ns", "write_solo_byte_ps"},
	};
	double solo_byte = at_least_0(r[LARGE_SOLO].median_ns - r[RAND_SOLO].median_ns) /
			   (double)(LARGE - SMALL);

	out->byte_ns[w] = 1e9 / r[SEQ_LARGE].bytes_per_s;
	out->seq_ns[w] = at_least_0(1e9 / r[SEQ_SMALL].per_s - SMALL * out->byte_ns[w]);
	out->rand_ns[w] = at_least_0(1e9 / r[RAND_DEEP].per_s - SMALL * out->byte_ns[w]);
	tell(out, names[w][0], out->byte_ns[w] * 1e3);
	tell(out, names[w][1], out->seq_ns[w]);
	tell(out, names[w][2], out->rand_ns[w]);
	tell(out, names[w][3], at_least_0(r[RAND_SOLO].median_ns - SMALL * solo_byte));
	tell(out, names[w][4], at_least_0(r[SEQ_SOLO].median_ns - SMALL * solo_byte));
	tell(out, names[w][5], solo_byte * 1e3);
}

int descriptor_measure(struct descriptor *out, const struct device *d,
		       struct iosched_sim_error *why)
{
	memset(out, 0, sizeof(*out));
	for (int w = 0; d->kind == CHANNELS && w < 2; w++) {
		struct rate r[PROBES];

		for (int i = 0; i < PROBES; i++) {
			int err = run_probe(d, &probes[i], w != 0, &r[i], why);

			if (err != 0)
				return err;
		}
		derive(out, r, w);
	}
	return 0;
}
