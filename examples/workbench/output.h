/* SPDX-License-Identifier: MIT */
/*
 * output: a file that appears whole or not at all.
 *
 * State: a temporary file beside the one wanted. Committing renames it, abandoning removes
 * it. "-" and what is no regular file (a pipe, a terminal) are written directly.
 */
#ifndef WORKBENCH_OUTPUT_H
#define WORKBENCH_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct wb_output {
	const char *path;
	char *temp; /* NULL: written directly */
	FILE *file;
};

int wb_output_open(struct wb_output *out, const char *path);
/* Ends it. Pass the exit code of what wrote it: unless that is WB_OK the file is abandoned.
 * Returns that code, or WB_FAILED when the file could not be finished. */
int wb_output_close(struct wb_output *out, int code);

#endif
