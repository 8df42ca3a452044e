/* SPDX-License-Identifier: MIT */
/* child: another program, found on PATH: xz and its kin, gnuplot. */
#ifndef WORKBENCH_CHILD_H
#define WORKBENCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

bool wb_child_found(const char *program);
/* Start argv[0] with these as its standard input and output; -1 keeps ours.
 * Returns 0 or an error number. */
int wb_child_start(pid_t *out, const char *const *argv, int input, int output);
/* Wait for it. True: it ended by itself with exit code 0. */
bool wb_child_succeeded(pid_t child);

#endif
