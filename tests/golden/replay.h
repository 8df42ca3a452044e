/* SPDX-License-Identifier: MIT */
/*
 * replay: one decision trace against one queue, line by line.
 *
 * Format: tests/golden/README.md. Offsets in a trace are 512-byte sectors.
 */
#ifndef IOS_TESTS_REPLAY_H
#define IOS_TESTS_REPLAY_H

#include <iosched/iosched.h>

struct replay;

/* An empty replay for the trace called `name`. NULL: out of memory. */
struct replay *replay_begin(const char *name);

/* The next line, without its newline. False: it does not hold, or makes no sense; replay_error()
 * says which, and no more lines are wanted. */
bool replay_line(struct replay *r, char *line);

/* Call at the end of the trace. False: the trace held nothing to compare. */
bool replay_end(struct replay *r);

const char *replay_error(const struct replay *r);
void replay_free(struct replay *r);

#endif
