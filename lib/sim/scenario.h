/* SPDX-License-Identifier: MIT */
/*
 * Scenarios, from inside: the words of a text, and what becomes of them.
 *
 * A text is cut into statements (a line and the indented lines below it) and those into
 * words. Statements are read in four rounds, so that their order in the text is free: device and
 * numbers, streams, policies, expectations.
 *
 * Rule: everything lives as long as the scenario; words point into its copy of the text.
 * Every refusal goes through ios_scn_fail(), which puts file and line before it.
 */
#ifndef IOS_SIM_SCENARIO_H
#define IOS_SIM_SCENARIO_H

#include <iosched/sim.h>

#include "sim/param.h"

/* More than any person writes, little enough for a machine that guesses. */
#define IOS_SCN_MAX_TEXT (UINT32_C(1) << 20)
#define IOS_SCN_TOO_LONG "longer than 1 MiB, the most that is read"
#define IOS_SCN_MAX_GROUPS 64	  /* as many as a queue has unless its host asks for more */
#define IOS_SCN_MAX_WEIGHTED 1024 /* contexts, likewise */
#define IOS_SCN_MAX_NS (UINT64_C(1) << 56) /* two years, as a stream's waits */
#define IOS_SCN_MAX_STREAMS 4096
#define IOS_SCN_MAX_PROGRAMS 64
#define IOS_SCN_MAX_POLICIES 64
#define IOS_SCN_MAX_SEEDS 64
#define IOS_SCN_MAX_CASES 256
#define IOS_SCN_MAX_EXPECTS 1024

#define IOS_SCN_PPM UINT64_C(1000000) /* the scale of factors and shares */

struct ios_scn_word {
	char *text;
	unsigned line;
};

struct ios_scn_statement {
	unsigned first; /* word */
	unsigned count; /* words; at least one */
};

/* One line `stream`: `count` copies from stream number `first` on. Or one line `program`: `count`
 * processes, from context `first_context` on. */
/* Numbers that a program keeps, used or not: a policy line may give it more processes, at most
 * 1025. */
#define IOS_SCN_PROGRAM_CONTEXTS 2000

struct ios_scn_group {
	const char *name;
	bool is_program;
	const char *context;		  /* name of the context; NULL: one for each copy */
	const char *group;		  /* name of the group; NULL: the root */
	const char *position;		  /* name of the position it shares; NULL: its own */
	const struct ios_scn_word *after; /* the stream that this one waits for; NULL: none */
	uint64_t group_number;
	uint64_t first_context; /* of a program */
	unsigned first;		/* stream, or program */
	unsigned count;
};

struct ios_scn_stream {
	struct iosched_sim_stream s; /* s.name points to `name` when all are read */
	char name[32];
};

/* One line `program`. */
struct ios_scn_program {
	struct iosched_sim_program p; /* p.settings points to `settings` when all are read */
	struct iosched_sim_setting *settings;
};

/* `with NAME parameter=value`: the setting of a program in one policy's runs. */
struct ios_scn_change {
	unsigned program;
	struct iosched_sim_setting setting;
};

/* One line `policy`. */
struct ios_scn_policy {
	const char *label;
	const struct iosched_policy *policy;
	struct iosched_sim_tunable *tunables;
	unsigned tunable_count;
	struct iosched_sim_setting *settings; /* the scenario's and its own */
	unsigned setting_count;
	uint32_t window;
	uint64_t merge_bytes;
	uint32_t left_out[IOS_SCN_MAX_STREAMS / 32]; /* a bit for each group */
	struct iosched_sim_stream *streams;	     /* those that run */
	unsigned stream_count;
	unsigned line; /* of what it says about programs */
	struct ios_scn_change *changes;
	unsigned change_count;
	struct iosched_sim_program *programs;	      /* those that run */
	struct iosched_sim_setting *program_settings; /* of all of them */
	unsigned program_count;
};

/* What a metric is counted in. */
enum ios_scn_kind {
	IOS_SCN_COUNT,
	IOS_SCN_NS,
	IOS_SCN_RATE, /* bytes per second */
	IOS_SCN_IOPS, /* thousandths per second */
	IOS_SCN_PPM_OF_ONE,
	IOS_SCN_FACTOR, /* millionths; no metric has it */
};

/* One thing to measure in a result. */
struct ios_scn_metric {
	uint8_t what;	    /* enum in scenario_metric.c */
	uint8_t latency;    /* enum iosched_latency */
	uint8_t op;	    /* enum iosched_op or IOSCHED_SIM_ALL_OPS */
	uint16_t permyriad; /* of a quantile */
	enum ios_scn_kind kind;
	const struct ios_scn_group *who; /* NULL: all */
	unsigned copy;			 /* 0: all copies; else the n-th */
};

enum ios_scn_relation {
	IOS_SCN_LESS,
	IOS_SCN_AT_MOST,
	IOS_SCN_EQUAL,
	IOS_SCN_AT_LEAST,
	IOS_SCN_MORE,
};

#define IOS_SCN_EACH UINT32_MAX	      /* every policy line */
#define IOS_SCN_SAME (UINT32_MAX - 1) /* the one on the left */

/* left(policy) RELATION factor * right(policy), or factor * 1 of a plain value. */
struct ios_scn_expect {
	char *text; /* on one line */
	unsigned line;
	struct ios_scn_metric left;
	struct ios_scn_metric right;
	unsigned left_policy;  /* index or IOS_SCN_EACH */
	unsigned right_policy; /* index or IOS_SCN_SAME */
	bool plain;	       /* compare with `value` */
	uint64_t value;
	uint64_t factor_ppm;
	uint64_t within_ppm; /* of IOS_SCN_EQUAL */
	enum ios_scn_relation relation;
};

struct iosched_sim_scenario {
	char *name; /* what errors call it */
	bool may_open;
	struct iosched_sim_error *why;
	char *text;
	struct ios_scn_word *words;
	unsigned word_count;
	struct ios_scn_statement *statements;
	unsigned statement_count;

	char *title;
	const char *device;
	char *device_text;
	char *device_text_name;
	struct iosched_sim_setting *settings;
	unsigned setting_count;
	unsigned device_line;
	unsigned length_line;
	uint64_t capacity; /* of the device */
	bool instant;	   /* the device takes no time */
	struct iosched_sim_config base;
	uint64_t *seeds;
	unsigned seed_count;

	struct ios_scn_stream *streams;
	unsigned stream_count;
	struct ios_scn_group *groups;
	unsigned group_count;
	struct ios_scn_program *programs;
	unsigned program_count;
	uint64_t next_context;
	uint64_t next_group;
	uint64_t weighted; /* contexts with a weight or group */

	struct ios_scn_policy *policies;
	unsigned policy_count;
	struct iosched_sim_config *configs; /* policy_count * seed_count */

	struct ios_scn_expect *expects;
	unsigned expect_count;
};

/* A place in a statement. */
struct ios_scn_reader {
	struct iosched_sim_scenario *s;
	const struct ios_scn_word *words;
	unsigned count;
	unsigned at;
};

/* scenario_text.c */

/* Cut the text into words and statements. Returns 0 or -errno with a sentence. */
int ios_scn_cut(struct iosched_sim_scenario *s);
/* `name:line: sentence` into s->why; returns @err. */
__attribute__((format(printf, 4, 5))) int
ios_scn_fail(const struct iosched_sim_scenario *s, unsigned line, int err, const char *format, ...);
/* The same for a word that is none of those `known(i)` gives until NULL, with the
 * nearest of them, or all if they are few. @what names the kind: "a metric". */
typedef const char *ios_scn_names(const void *user, unsigned i);
int ios_scn_unknown(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, int err,
		    const char *what, ios_scn_names *known, const void *user);
/* The same for a word that may be a name and settings as options of the command line have them,
 * "hdd:rpm=1": in a line @keyword they stand apart. */
int ios_scn_glued(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, int err,
		  const char *what, const char *keyword, ios_scn_names *known, const void *user);
/* The names of a NULL-terminated array of strings. */
const char *ios_scn_listed(const void *array, unsigned i);
/* Room for element @count of an array that grows one by one; NULL: no memory, old one lives. */
void *ios_scn_grow(void *array, unsigned count, size_t size);

struct ios_scn_reader ios_scn_read(struct iosched_sim_scenario *s,
				   const struct ios_scn_statement *st);
/* The next word, or NULL at the end. */
const struct ios_scn_word *ios_scn_peek(const struct ios_scn_reader *r);
/* Take the next word if it is @text. */
bool ios_scn_take(struct ios_scn_reader *r, const char *text);
/* Take any word. Returns 0 or -EINVAL: @what is missing. */
int ios_scn_want(struct ios_scn_reader *r, const char *what, const struct ios_scn_word **out);
/* Line of the word at hand, or of the last one. */
unsigned ios_scn_line(const struct ios_scn_reader *r);
/* Any word, as a name. */
int ios_scn_name(struct ios_scn_reader *r, const char *what, const char **out);
/* A class and a level, as requests have them. */
int ios_scn_class(struct ios_scn_reader *r, uint8_t *out);
int ios_scn_level(struct ios_scn_reader *r, uint8_t *out);
int ios_scn_weight(struct ios_scn_reader *r, uint32_t *out);

/* scenario_number.c */

/* A number and its unit, which may be a word of its own. */
struct ios_scn_amount {
	const struct ios_scn_word *word; /* the number's */
	const char *text; /* without a blank before the unit; the word's or `joined` */
	char joined[48];
};

/* Take an amount. Returns 0 or -EINVAL: @what is missing. */
int ios_scn_amount(struct ios_scn_reader *r, const char *what, struct ios_scn_amount *out);
bool ios_scn_is_unit(const struct ios_scn_word *w);
/* Take an amount in @unit. */
int ios_scn_number(struct ios_scn_reader *r, const char *what, enum ios_sim_unit unit,
		   uint64_t *out);
int ios_scn_parse_value(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
			enum ios_sim_unit unit, const char *text, uint64_t *out);
/* Take a plain number in @min..@max. The sentence names the keyword before it. */
int ios_scn_ranged(struct ios_scn_reader *r, const char *what, uint64_t min, uint64_t max,
		   uint64_t *out);
int ios_scn_ranged32(struct ios_scn_reader *r, const char *what, uint32_t min, uint32_t max,
		     uint32_t *out);
/* "0.95", "95%" in millionths. */
bool ios_scn_parse_ppm(const char *text, uint64_t *out);
/* Take "95%", "95 %" or "0.95", in millionths: at most the whole. @what has an example. */
int ios_scn_share(struct ios_scn_reader *r, const char *what, uint64_t *out);
/* Take "20/s" or "20 /s", and also "20" unless @slash, in millionths. @what has an example. */
int ios_scn_per_second(struct ios_scn_reader *r, const char *what, bool slash, uint64_t *out);

/* scenario.c */

/* A file, whole, with a 0 behind it, which the caller frees. Returns 0, -E2BIG, -ENOMEM, or why
 * it could not be read. */
int ios_scn_read_file(const char *path, char **text, size_t *size);

/* scenario_device.c, scenario_stream.c, scenario_program.c, scenario_policy.c, scenario_expect.c:
 * one statement each, behind its first word. Return 0 or -errno with a sentence. */
int ios_scn_device(struct ios_scn_reader *r);
int ios_scn_stream(struct ios_scn_reader *r);
int ios_scn_program(struct ios_scn_reader *r);
int ios_scn_policy(struct ios_scn_reader *r);
int ios_scn_expect(struct ios_scn_reader *r);

/* `name=value` words of @whom, "the device", onto *@settings. */
int ios_scn_setting(struct iosched_sim_scenario *s, const struct ios_scn_word *w, const char *whom,
		    struct iosched_sim_setting **settings, unsigned *count);
/* Is @p, with these settings, a program that fits on the device? Counts its processes. */
int ios_scn_check_program(const struct iosched_sim_scenario *s, const struct iosched_sim_program *p,
			  unsigned line, unsigned *processes);
/* Is the device, with those settings, one that can be made? Learns the capacity. */
int ios_scn_check_device(struct iosched_sim_scenario *s, unsigned line,
			 const struct iosched_sim_setting *settings, unsigned count);
/* Fill the streams of @p and its configs. Returns 0 or -ENOMEM. */
int ios_scn_prepare(struct iosched_sim_scenario *s, struct ios_scn_policy *p);
const char *ios_scn_policy_names(const void *scenario, unsigned i);

/* scenario_names.c */

const struct ios_scn_group *ios_scn_find_group(const struct iosched_sim_scenario *s,
					       const char *name);
const char *ios_scn_group_names(const void *scenario, unsigned i);
/* Is @name one that a stream or program can have, and none has yet? */
int ios_scn_check_name(const struct ios_scn_reader *r, const char *name, unsigned line);
/* Take the name of a group: an earlier one, or there is room for one more. */
int ios_scn_group_name(struct ios_scn_reader *r, const char **out);
/* Another @n contexts have a weight or group: the queue must have room for them. */
int ios_scn_add_weighted(struct ios_scn_reader *r, uint64_t n);
/* The number of a group that is named; 0: the root. */
uint64_t ios_scn_group_number(struct iosched_sim_scenario *s, const char *name);

/* scenario_metric.c */

/* "p99_wait(log.2:flush)". */
int ios_scn_metric(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
		   const char *text, struct ios_scn_metric *out);
bool ios_scn_is_metric(const char *text);
/* Returns 0, -ENODATA (nothing was measured), -ENOMEM. */
int ios_scn_measure(const struct iosched_sim_scenario *s, const struct ios_scn_metric *m,
		    const struct iosched_sim_result *r, uint64_t *out);
/* A measure for people. */
#define IOS_SCN_FIGURE 32
const char *ios_scn_figure(char out[IOS_SCN_FIGURE], enum ios_scn_kind kind, uint64_t value);

#endif
