/* SPDX-License-Identifier: MIT */
/*
 * Parameters of device models: a table of names, and text that sets them.
 *
 * Every parameter is a uint64_t in the model's struct, in ns, bytes or bytes/s. Presets
 * are the same text that users write, read by the same code.
 */
#ifndef IOS_SIM_PARAM_H
#define IOS_SIM_PARAM_H

#include <iosched/sim.h>

enum ios_sim_unit {
	IOS_SIM_UNIT_NONE,
	IOS_SIM_UNIT_BOOL,
	IOS_SIM_UNIT_NS,
	IOS_SIM_UNIT_BYTES,
	IOS_SIM_UNIT_RATE, /* bytes per second */
};

/* One parameter; a table ends with a NULL name. */
struct ios_sim_param {
	const char *name;
	enum ios_sim_unit unit;
	uint64_t min;
	uint64_t max;
	uint64_t initial;
	size_t member; /* offset of the uint64_t in the model's struct */
	const char *doc;
};

const char *ios_sim_unit_name(enum ios_sim_unit unit);

/* Every parameter gets its initial value. */
void ios_sim_param_defaults(const struct ios_sim_param *table, void *values);

/* Value of the text @value in @unit. Returns 0 or -EINVAL. */
int ios_sim_param_parse(enum ios_sim_unit unit, const char *value, uint64_t *out);

/* Set one parameter from text. Returns 0, -ENOENT, -EINVAL, -ERANGE with a sentence. */
int ios_sim_param_set(const struct ios_sim_param *table, void *values, const char *name,
		      const char *value, struct iosched_sim_error *why);

/* The next `name = value` of @text: copies them, advances @text and @line. Lines are
 * blank, `# comment`, or a setting with or without a comment behind it.
 * Returns 1: got one; 0: end; -EINVAL with a sentence. */
struct ios_sim_line {
	unsigned number; /* of the line just read, from 1; start with 0 */
	char name[64];
	char value[64];
};
int ios_sim_param_line(const char **text, struct ios_sim_line *line, struct iosched_sim_error *why);

/* Fill @why; returns @err. */
__attribute__((format(printf, 3, 4))) int ios_sim_fail(struct iosched_sim_error *why, int err,
						       const char *format, ...);

#endif
