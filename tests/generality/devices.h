/* SPDX-License-Identifier: MIT */
/*
 * devices: what fair-deadline is tried on, and how long a run must be there.
 */
#ifndef TESTS_GENERALITY_DEVICES_H
#define TESTS_GENERALITY_DEVICES_H

/* What a share is a share of, see outcome.c. */
enum kind {
	ONE_ARM,  /* device time */
	CHANNELS, /* the model's cost */
};

struct device {
	const char *name;
	const char *line; /* as a scenario's line `device` has it */
	const char *length, *warmup;
	const char *think; /* of an fsync writer: some of its services */
	enum kind kind;
};

extern const struct device devices[];
extern const unsigned device_count;

#endif
