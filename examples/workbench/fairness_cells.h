/* SPDX-License-Identifier: MIT */
/* fairness_cells: the loads of `iosched compare --suite fairness`, as scenario texts. */
#ifndef WORKBENCH_FAIRNESS_CELLS_H
#define WORKBENCH_FAIRNESS_CELLS_H

#define WB_FAIRNESS_FLOWS 17 /* streams in a cell, at most */

struct wb_fairness_cell {
	const char *name;    /* no other cell has it */
	const char *device;  /* a preset */
	const char *setting; /* "name=value" of the device; NULL: none */
	const char *streams; /* lines of a scenario; each stream is a context of its own */
};

extern const struct wb_fairness_cell wb_fairness_cells[];
extern const unsigned wb_fairness_cell_count;

#endif
