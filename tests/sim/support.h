/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lib/sim share: a runner, a bare device with commands, and configs.
 */
#ifndef TESTS_SIM_SUPPORT_H
#define TESTS_SIM_SUPPORT_H

#include <check.h>

#include "sim/device.h"

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GB UINT64_C(1000000000)

/* Run a suite as the whole program. */
int run_suite(Suite *s);

/* A device with its engine and ledger, and commands to give it. */
struct bench_command {
	struct ios_sim_command cmd;
	struct ios_sim_piece piece;
	iosched_time done_at; /* IOSCHED_NEVER: not yet */
	int error;
};

struct bench {
	struct ios_sim_engine engine;
	struct ios_sim_ledger ledger;
	struct ios_sim_device *device;
	struct bench_command commands[512];
	unsigned used;
	unsigned done;
	unsigned order[512]; /* which ended when */
	bool may_fail;	     /* else a failed command fails the test */
	unsigned failed;
};

/* @text as in a device file; it names its preset or model. */
void bench_open(struct bench *b, const char *text);
void bench_close(struct bench *b);

/* Give the device a command now. Returns its number. */
unsigned bench_give(struct bench *b, enum iosched_op op, uint64_t offset, uint64_t length,
		    uint64_t context);

/* Let time pass, or let everything end. */
void bench_until(struct bench *b, iosched_time when);
void bench_settle(struct bench *b);

/* How long a lone command takes from now. */
uint64_t bench_time(struct bench *b, enum iosched_op op, uint64_t offset, uint64_t length);

#endif
