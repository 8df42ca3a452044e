/* SPDX-License-Identifier: MIT */
/* seeds_plot: reported and simulated ratios of the seed tables, drawn by gnuplot. */
#ifndef WORKBENCH_SEEDS_PLOT_H
#define WORKBENCH_SEEDS_PLOT_H

#include <iosched/seeds.h>

/* _any: is there anything to draw, that is, is a cell wanted that is no base?
 * Cells whose `wanted` is false are left out. Returns an exit code. */
bool wb_seeds_plot_any(const bool *wanted, unsigned count);
int wb_seeds_plot(const char *path, const struct iosched_seed_judgement *judgements,
		  const bool *wanted, unsigned count);

#endif
