/* SPDX-License-Identifier: MIT */
/* seeds_causes: what the device did in cells of the seed tables. */
#ifndef WORKBENCH_SEEDS_CAUSES_H
#define WORKBENCH_SEEDS_CAUSES_H

#include <iosched/seeds.h>

/* Runs each wanted cell once more and prints a line for it. Returns an exit code. */
int wb_seeds_causes(const bool *wanted, unsigned count, uint64_t seed);

#endif
