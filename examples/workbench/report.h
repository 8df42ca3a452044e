/* SPDX-License-Identifier: MIT */
/* report: a set of runs as tables, or as JSON. */
#ifndef WORKBENCH_REPORT_H
#define WORKBENCH_REPORT_H

#include "json.h"
#include "run.h"

/* The table of all runs; with `base` (an index, or -1) ratios to that run too. */
int wb_report_print(const struct wb_runs *r, int base);
/* Its tables alone. */
int wb_report_table(const struct wb_runs *r, int base);
/* All that one run measured. */
struct wb_json *wb_report_run_json(const struct wb_runs *r, const struct wb_run *run);
struct wb_json *wb_report_json(const struct wb_runs *r, int base);

#endif
