/* SPDX-License-Identifier: MIT */
/* plot: latencies (cumulative) and throughput over time of a set of runs, drawn by gnuplot. */
#ifndef WORKBENCH_PLOT_H
#define WORKBENCH_PLOT_H

#include "run.h"

/* Can --plot be done? Asked before the runs, which may take long. */
int wb_plot_check(const struct wb_options *o);
int wb_plot(const struct wb_runs *r);

#endif
