/* SPDX-License-Identifier: MIT */
/*
 * What every file of the workbench shares: exit codes, the one way to complain,
 * and what a verb is. main.c has the table of verbs.
 */
#ifndef WORKBENCH_H
#define WORKBENCH_H

#include <stdint.h>

/* Exit codes; every function that may fail returns one of them, having said why. */
enum { WB_OK = 0, WB_FAILED = 1, WB_USAGE = 2 };

/* "iosched: ..." on stderr. */
void wb_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the exit code to return. */
int wb_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int wb_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct wb_options;

/* One verb. A name of two words is a verb with a subject: "trace info". */
struct wb_verb {
	const char *name;
	const char *operands; /* as the usage line shows them */
	unsigned least, most; /* how many operands */
	const char *summary;  /* one line */
	const char *help;     /* paragraphs for --help */
	uint64_t options;     /* WB_BIT() of those it takes */
	int (*run)(const struct wb_options *o);
};

extern const struct wb_verb wb_verb_policies;
extern const struct wb_verb wb_verb_programs;
extern const struct wb_verb wb_verb_calibrate;
extern const struct wb_verb wb_verb_replay;
extern const struct wb_verb wb_verb_compare;
extern const struct wb_verb wb_verb_explain;
extern const struct wb_verb wb_verb_seeds;
extern const struct wb_verb wb_verb_sim;
extern const struct wb_verb wb_verb_trace_info;
extern const struct wb_verb wb_verb_trace_convert;

#endif
