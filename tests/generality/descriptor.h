/* SPDX-License-Identifier: MIT */
/*
 * descriptor: what fair-deadline is told of a device that is not one arm: what requests cost at
 * saturation and take alone, found out by running such loads on the simulated device.
 */
#ifndef TESTS_GENERALITY_DESCRIPTOR_H
#define TESTS_GENERALITY_DESCRIPTOR_H

#include <iosched/sim.h>

#include "devices.h"

#define DESCRIPTOR_TUNABLES 12

struct descriptor {
	double byte_ns[2], seq_ns[2], rand_ns[2]; /* read, write */
	struct iosched_sim_tunable tunables[DESCRIPTOR_TUNABLES];
	unsigned count; /* 0: the policy is left to find out, as on one arm */
};

/* Returns 0 or -errno with a sentence. */
int descriptor_measure(struct descriptor *out, const struct device *d,
		       struct iosched_sim_error *why);

#endif
