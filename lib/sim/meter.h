/* SPDX-License-Identifier: MIT */
/*
 * Meters: counts, bytes, latencies and time series, per context and operation.
 *
 * Nothing is counted before `from` or after `until`. Contexts beyond `max_contexts` share
 * the last meter.
 */
#ifndef IOS_SIM_METER_H
#define IOS_SIM_METER_H

#include <iosched/sim.h>

#include "sim/histogram.h"
#include "sim/map.h"

#define IOS_SIM_OPS 4

/* The public name of what a row's quantiles are computed from. */
struct iosched_sim_histograms {
	struct ios_sim_histogram of[3]; /* by enum iosched_latency */
	struct iosched_sim_histograms *next_allocated;
};

/* One context and operation. */
struct ios_sim_tally {
	uint64_t requests;
	uint64_t bytes;
	uint64_t merged;
	uint64_t failed;
	struct iosched_sim_histograms *histograms; /* NULL: nothing counted yet */
};

struct ios_sim_context_meter {
	uint64_t context;
	char name[32];
	uint32_t weight; /* 0: none given */
	struct ios_sim_tally by_op[IOS_SIM_OPS];
	uint64_t *interval_bytes;
	uint64_t intervals; /* allocated, and used from the front */
};

struct ios_sim_meter {
	uint32_t max_contexts;
	iosched_time from;
	iosched_time until;
	iosched_time interval; /* 0: no series */
	struct ios_sim_map index;
	struct ios_sim_context_meter *meters;
	uint32_t count;
	uint32_t room;
	uint64_t interval_count;
	struct iosched_sim_histograms *allocated; /* all histograms, for freeing */
	int failed;				  /* 0, or -ENOMEM */
};

/* What is known of a request at its end. */
struct ios_sim_sample {
	uint32_t meter; /* from ios_sim_meter_of() */
	uint8_t op;
	bool merged;
	bool failed;
	uint64_t bytes;
	iosched_time inserted;
	iosched_time dispatched;
	iosched_time completed;
};

void ios_sim_meter_init(struct ios_sim_meter *m, uint32_t max_contexts);
void ios_sim_meter_fini(struct ios_sim_meter *m);

/* The meter of @context. UINT32_MAX: no memory. */
uint32_t ios_sim_meter_of(struct ios_sim_meter *m, uint64_t context);

void ios_sim_meter_name(struct ios_sim_meter *m, uint32_t meter, const char *name, uint32_t weight);

void ios_sim_meter_add(struct ios_sim_meter *m, const struct ios_sim_sample *s);

/* Histograms that live as long as the meter, all zero; NULL: no memory. */
struct iosched_sim_histograms *ios_sim_meter_histograms(struct ios_sim_meter *m);

#endif
