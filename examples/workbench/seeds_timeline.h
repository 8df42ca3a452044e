/* SPDX-License-Identifier: MIT */
/* seeds_timeline: what the device did for each policy of one cell, request by request, drawn. */
#ifndef WORKBENCH_SEEDS_TIMELINE_H
#define WORKBENCH_SEEDS_TIMELINE_H

#include <iosched/seeds.h>

/* Cells whose `wanted` is false are left out. Returns an exit code. */
int wb_seeds_timeline(const char *path, const bool *wanted, unsigned count, uint64_t seed);

#endif
