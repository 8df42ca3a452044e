/* SPDX-License-Identifier: MIT */
/* plot: latencies (cumulative) and throughput over time of a set of runs, drawn by gnuplot. */
#ifndef WORKBENCH_PLOT_H
#define WORKBENCH_PLOT_H

#include <stdio.h>

#include "run.h"

/* Can --plot be done? Asked before the runs, which may take long. */
/* Pixels, of a row of pictures. */
#define WB_PLOT_HEIGHT 500

int wb_plot_check(const struct wb_options *o);
int wb_plot(const struct wb_runs *r);
int wb_plot_check_name(const char *path);
/* Any picture, so many pixels high: `put` writes gnuplot's commands but for terminal and output. */
int wb_plot_picture(const char *path, unsigned height, void (*put)(FILE *script, void *user),
		    void *user);

#endif
