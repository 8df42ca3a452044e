/* SPDX-License-Identifier: MIT */
/*
 * outcome: what a load came to under one policy: its total, how unfair it was, how long fsync
 * took and requests waited.
 */
#ifndef TESTS_GENERALITY_OUTCOME_H
#define TESTS_GENERALITY_OUTCOME_H

#include <iosched/sim.h>

#include "descriptor.h"
#include "loads.h"

#define FLOWS 24

struct flow {
	bool write, sync, random, thinks, deep;
	double ideal;	   /* its share by weight; negative: it asks for less than that */
	double bytes_solo; /* bytes/s when it is alone; 0: not asked for */
};

/* A load on a device, ready to be run under any policy. */
struct cell {
	const struct device *d;
	const struct load *l;
	const struct descriptor *model;
	struct iosched_sim_scenario *scenario;
	const struct iosched_sim_config *config;
	struct flow flows[FLOWS];
	unsigned count;
};

struct outcome {
	double total; /* bytes/s, all that does not think */
	double shares[FLOWS];
	bool starved;	    /* somebody got nothing at all */
	double error;	    /* points: the flow furthest from its share */
	double least;	    /* share over what it ought to be, of the flow that comes off worst */
	double shallow_p99; /* ns, insert to completion: sync, one or two at a time, the worst */
	double shallow_end; /* ns, the longest of those */
	double fsync_p99;   /* ns; 0: nobody calls it */
	double shallow_max; /* ns, insert to dispatch: sync, one or two at a time */
	double deep_max;    /* sync, more at a time */
	double async_max;
};

int cell_open(struct cell *c, const struct device *d, const struct load *l,
	      const struct descriptor *model, struct iosched_sim_error *why);
void cell_close(struct cell *c);
int cell_run(const struct cell *c, const struct iosched_policy *p, uint64_t seed,
	     struct outcome *out, struct iosched_sim_error *why);

#endif
