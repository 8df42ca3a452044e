/* SPDX-License-Identifier: MIT */
/*
 * The seed tables as data: what was run, on what, and what was reported.
 */
#ifndef IOS_SIM_SEED_TABLES_H
#define IOS_SIM_SEED_TABLES_H

#include <iosched/seeds.h>

/* What of a program's result is the cell's value. */
enum ios_sim_seed_measure {
	IOS_SIM_SEED_MB,	 /* 10^6 bytes a second */
	IOS_SIM_SEED_KIB,	 /* 2^10 bytes a second */
	IOS_SIM_SEED_OPERATIONS, /* a second */
	IOS_SIM_SEED_SYNC,	 /* mean time of a sync, ms */
};

/* A generation of cfq, or with `kernel` NULL another policy, and what was reported of it. */
struct ios_sim_seed_report {
	const char *policy;
	const char *kernel;
	double value; /* negative: nothing */
};

#define IOS_SIM_SEED_REPORTS 8

struct ios_sim_seed_row {
	const char *seed;
	const char *cell;
	const char *unit;
	const char *kernel;
	const char *base; /* policy */
	enum ios_sim_seed_measure measure;
	const char *device;
	const char *device_text; /* may be NULL */
	struct iosched_sim_program program;
	iosched_time warmup_ns;
	iosched_time length_ns;
	struct ios_sim_seed_report reports[IOS_SIM_SEED_REPORTS]; /* ends with a NULL policy */
};

/* By number; NULL past the last. */
const struct ios_sim_seed_row *ios_sim_seed_row_at(unsigned i);

/* What makes cfq-2.6.32 the cfq of @kernel; NULL: no such generation. */
const struct iosched_sim_tunable *ios_sim_seed_generation(const char *kernel, unsigned *count);

#endif
