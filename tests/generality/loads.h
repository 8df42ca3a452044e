/* SPDX-License-Identifier: MIT */
/*
 * loads: who asks, as lines of a scenario. Each stream is a context of its own; those with a
 * weight are alone in a group of it, as all policies that know weights have them there.
 */
#ifndef TESTS_GENERALITY_LOADS_H
#define TESTS_GENERALITY_LOADS_H

#include <stdbool.h>

#include "devices.h"

struct load {
	const char *name;
	const char *streams; /* "@" stands for the device's think time */
	bool fsync_ruled;    /* fsync must be no worse than the best other policy's */
};

extern const struct load loads[];
extern const unsigned load_count;

/* The scenario of @l on @d into `out`. Returns its length, or 0 if it does not fit. */
unsigned load_text(char *out, unsigned size, const struct device *d, const struct load *l);

#endif
