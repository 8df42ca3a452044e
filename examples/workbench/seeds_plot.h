/* SPDX-License-Identifier: MIT */
/* seeds_plot: reported and simulated ratios of the seed tables, drawn by gnuplot. */
#ifndef WORKBENCH_SEEDS_PLOT_H
#define WORKBENCH_SEEDS_PLOT_H

#include <iosched/seeds.h>

/* Cells whose `wanted` is false are left out. Returns an exit code. */
int wb_seeds_plot(const char *path, const struct iosched_seed_judgement *judgements,
		  const bool *wanted, unsigned count);

#endif
