/* SPDX-License-Identifier: MIT */
/*
 * progress: a bar on standard error, for a person who has waited a second.
 *
 * Rule: nothing is written when standard error is no terminal, and nothing in the first
 * second. The clock is asked here and nowhere else; no result depends on it.
 */
#ifndef WORKBENCH_PROGRESS_H
#define WORKBENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct wb_progress {
	char label[48];
	uint64_t total; /* 0: not known */
	uint64_t next;	/* look at the clock at this count */
	uint64_t started_ns, drawn_ns;
	bool terminal, drawn;
};

void wb_progress_begin(struct wb_progress *p, const char *label, uint64_t total);
void wb_progress_at(struct wb_progress *p, uint64_t done);
void wb_progress_end(struct wb_progress *p);

#endif
