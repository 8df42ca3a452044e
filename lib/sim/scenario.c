/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: from a text to runs, and back from results to verdicts.
 *
 * This file owns the scenario, reads the statements about host and time, and makes the configs. The
 * texts of errors name the file and line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/device.h"
#include "sim/scenario.h"

/* --- Host and time --- */

static int read_host(struct ios_scn_reader *r)
{
	static const char *const known[] = {"window", "merge", "audit", "drain", "plugged", NULL};
	struct iosched_sim_config *c = &r->s->base;
	int err = 0;

	while (err == 0 && r->at < r->count) {
		if (ios_scn_take(r, "window")) {
			err = ios_scn_ranged32(r, "a number of requests", 0, UINT32_MAX,
					       &c->max_inflight);
		} else if (ios_scn_take(r, "merge")) {
			err = ios_scn_number(r, "the largest merged size", IOS_SIM_UNIT_BYTES,
					     &c->max_merge_bytes);
		} else if (ios_scn_take(r, "audit")) {
			c->audit = 1;
		} else if (ios_scn_take(r, "drain")) {
			c->drain = 1;
		} else if (ios_scn_take(r, "plugged")) {
			c->block_layer = IOSCHED_SIM_PLUGGED;
		} else {
			return ios_scn_unknown(r->s, ios_scn_peek(r), -EINVAL, "an option of host",
					       ios_scn_listed, known);
		}
	}
	return err;
}

static int read_seeds(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	int err = 0;

	do {
		uint64_t *all = ios_scn_grow(s->seeds, s->seed_count, sizeof(*all));

		if (all == NULL)
			return -ENOMEM;
		s->seeds = all;
		if (s->seed_count == IOS_SCN_MAX_SEEDS)
			return ios_scn_fail(s, ios_scn_line(r), -E2BIG, "more than %d seeds",
					    IOS_SCN_MAX_SEEDS);
		err = ios_scn_number(r, "a seed", IOS_SIM_UNIT_NONE, &all[s->seed_count]);
		s->seed_count += err == 0;
	} while (err == 0 && r->at < r->count);
	return err;
}

static int read_length(struct ios_scn_reader *r)
{
	int err;

	r->s->length_line = r->words[0].line;
	err = ios_scn_number(r, "the length of the run", IOS_SIM_UNIT_NS, &r->s->base.length_ns);
	if (err == 0 && r->s->base.length_ns > IOS_SCN_MAX_NS)
		err = ios_scn_fail(r->s, r->s->length_line, -ERANGE,
				   "the run is longer than two years");
	return err;
}

static int read_warmup(struct ios_scn_reader *r)
{
	r->s->length_line = r->words[0].line;
	return ios_scn_number(r, "the length of the warm-up", IOS_SIM_UNIT_NS,
			      &r->s->base.warmup_ns);
}

/* The words from the second on, with one blank between them. */
static char *joined(const struct ios_scn_word *words, unsigned count)
{
	size_t size = 1;
	char *text;

	for (unsigned i = 1; i < count; i++)
		size += strlen(words[i].text) + 1;
	text = malloc(size);
	if (text == NULL)
		return NULL;
	text[0] = '\0';
	size = 0;
	for (unsigned i = 1; i < count; i++)
		size += (size_t)sprintf(text + size, "%s%s", i > 1 ? " " : "", words[i].text);
	return text;
}

static int read_title(struct ios_scn_reader *r)
{
	r->s->title = joined(r->words, r->count);
	r->at = r->count;
	return r->s->title == NULL ? -ENOMEM : 0;
}

/* --- Statements --- */

enum { ROUND_SETTING, ROUND_STREAM, ROUND_POLICY, ROUND_EXPECT, ROUNDS };

static const struct keyword {
	const char *name;
	int round;
	bool once;
	int (*read)(struct ios_scn_reader *r);
} keywords[] = {
	{"scenario", ROUND_SETTING, true, read_title},
	{"device", ROUND_SETTING, true, ios_scn_device},
	{"host", ROUND_SETTING, false, read_host},
	{"length", ROUND_SETTING, true, read_length},
	{"warmup", ROUND_SETTING, true, read_warmup},
	{"seed", ROUND_SETTING, false, read_seeds},
	{"stream", ROUND_STREAM, false, ios_scn_stream},
	{"program", ROUND_STREAM, false, ios_scn_program},
	{"policy", ROUND_POLICY, false, ios_scn_policy},
	{"expect", ROUND_EXPECT, false, ios_scn_expect},
};

#define KEYWORDS (sizeof(keywords) / sizeof(keywords[0]))

static const char *keyword_names(const void *user, unsigned i)
{
	(void)user;
	return i < KEYWORDS ? keywords[i].name : NULL;
}

static const struct keyword *find_keyword(const char *name)
{
	for (size_t i = 0; i < KEYWORDS; i++)
		if (strcmp(keywords[i].name, name) == 0)
			return &keywords[i];
	return NULL;
}

/* A second line of a keyword that there is once would silently undo the first. */
static int check_once(const struct iosched_sim_scenario *s, const struct ios_scn_word *keyword)
{
	for (unsigned i = 0; s->statements[i].first < (unsigned)(keyword - s->words); i++) {
		const struct ios_scn_word *w = &s->words[s->statements[i].first];

		if (strcmp(w->text, keyword->text) == 0)
			return ios_scn_fail(s, keyword->line, -EINVAL,
					    "a second \"%s\": the first is in line %u", w->text,
					    w->line);
	}
	return 0;
}

static int read_statement(struct iosched_sim_scenario *s, const struct ios_scn_statement *st,
			  int round)
{
	const struct ios_scn_word *first = &s->words[st->first];
	const struct keyword *k = find_keyword(first->text);
	struct ios_scn_reader r = ios_scn_read(s, st);
	int err;

	if (k == NULL)
		return ios_scn_unknown(s, first, -EINVAL, "the beginning of a statement",
				       keyword_names, NULL);
	if (k->round != round)
		return 0;
	err = k->once ? check_once(s, first) : 0;
	if (err == 0)
		err = k->read(&r);
	if (err == 0 && r.at < r.count)
		return ios_scn_fail(s, ios_scn_line(&r), -EINVAL,
				    "\"%.40s\" is too much: the statement was complete before it",
				    ios_scn_peek(&r)->text);
	return err;
}

static int default_seed(struct iosched_sim_scenario *s)
{
	if (s->seed_count > 0)
		return 0;
	s->seeds = malloc(sizeof(*s->seeds));
	if (s->seeds == NULL)
		return -ENOMEM;
	s->seeds[0] = 1;
	s->seed_count = 1;
	return 0;
}

/* What the statements of a round must have left behind. */
static int check_round(struct iosched_sim_scenario *s, int round)
{
	unsigned last = s->word_count > 0 ? s->words[s->word_count - 1].line : 1;

	if (round == ROUND_SETTING) {
		int err = ios_scn_check_device(s, s->device_line, s->settings, s->setting_count);

		if (err == 0 && s->base.warmup_ns >= s->base.length_ns)
			err = ios_scn_fail(s, s->length_line, -EINVAL,
					   "the warm-up is not shorter than the run");
		return err != 0 ? err : default_seed(s);
	}
	if (round == ROUND_STREAM && s->stream_count + s->program_count == 0)
		return ios_scn_fail(s, last, -EINVAL, "there is no stream and no program");
	if (round == ROUND_POLICY && s->policy_count == 0)
		return ios_scn_fail(s, last, -EINVAL, "there is no policy");
	return 0;
}

static int make_configs(struct iosched_sim_scenario *s)
{
	unsigned n = s->policy_count * s->seed_count;
	struct iosched_sim_config *all;

	if (n > IOS_SCN_MAX_CASES)
		return ios_scn_fail(s, 1, -E2BIG, "%u policies by %u seeds are more than %d runs",
				    s->policy_count, s->seed_count, IOS_SCN_MAX_CASES);
	all = calloc(n, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	free(s->configs);
	s->configs = all;
	for (unsigned i = 0; i < n; i++) {
		const struct ios_scn_policy *p = &s->policies[i / s->seed_count];

		all[i] = s->base;
		all[i].policy = p->policy;
		all[i].tunables = p->tunables;
		all[i].tunable_count = p->tunable_count;
		all[i].max_inflight = p->window;
		all[i].max_merge_bytes = p->merge_bytes;
		all[i].device = s->device;
		all[i].device_text = s->device_text;
		all[i].device_text_name = s->device_text_name;
		all[i].overrides = p->settings;
		all[i].override_count = p->setting_count;
		all[i].streams = p->streams;
		all[i].stream_count = p->stream_count;
		all[i].programs = p->programs;
		all[i].program_count = p->program_count;
		all[i].seed = s->seeds[i % s->seed_count];
	}
	return 0;
}

static int build(struct iosched_sim_scenario *s)
{
	int err = ios_scn_cut(s);

	for (int round = 0; err == 0 && round < ROUNDS; round++) {
		for (unsigned i = 0; err == 0 && i < s->statement_count; i++)
			err = read_statement(s, &s->statements[i], round);
		if (err == 0)
			err = check_round(s, round);
	}
	for (unsigned i = 0; err == 0 && i < s->policy_count; i++)
		err = ios_scn_prepare(s, &s->policies[i]);
	return err != 0 ? err : make_configs(s);
}

/* --- Loading --- */

static char *read_whole(FILE *file, size_t *size)
{
	char *text = malloc((size_t)IOS_SCN_MAX_TEXT + 1);

	*size = 0;
	if (text == NULL)
		return NULL;
	*size = fread(text, 1, (size_t)IOS_SCN_MAX_TEXT, file);
	text[*size] = '\0';
	return text;
}

/* A file, whole, with a 0 behind it. */
int ios_scn_read_file(const char *path, char **text, size_t *size)
{
	FILE *file = fopen(path, "rb");
	int err = 0;

	*text = NULL;
	if (file == NULL)
		return -errno;
	errno = 0;
	*text = read_whole(file, size);
	if (*text == NULL)
		err = -ENOMEM;
	else if (ferror(file))
		err = errno != 0 ? -errno : -EIO;
	else if (fgetc(file) != EOF)
		err = -E2BIG;
	fclose(file);
	if (err != 0) {
		free(*text);
		*text = NULL;
	}
	return err;
}

static struct iosched_sim_scenario *create(const char *name, struct iosched_sim_error *why)
{
	struct iosched_sim_scenario *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->why = why;
	s->device = "hdd";
	s->device_line = 1;
	s->next_context = 1;
	s->next_group = 1;
	iosched_sim_config_init(&s->base, sizeof(s->base));
	s->base.weights_optional = 1;
	s->base.max_meters = 65536;
	s->name = strdup(name);
	if (s->name == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

/* Takes @text, which has a 0 behind it. */
static int load(struct iosched_sim_scenario **out, char *text, size_t size, const char *name,
		bool may_open, struct iosched_sim_error *why)
{
	struct iosched_sim_error none;
	struct iosched_sim_scenario *s = create(name, why != NULL ? why : &none);
	int err;

	if (s == NULL) {
		free(text);
		return ios_sim_fail(why, -ENOMEM, "out of memory");
	}
	s->text = text;
	s->may_open = may_open;
	if (strlen(text) != size)
		err = ios_scn_fail(s, 1, -EINVAL, "this is no text: it holds a 0 byte");
	else
		err = build(s);
	if (err == -ENOMEM)
		ios_sim_fail(why, err, "out of memory");
	s->why = NULL;
	if (err != 0)
		iosched_sim_scenario_free(s);
	else
		*out = s;
	return err;
}

int iosched_sim_scenario_load(struct iosched_sim_scenario **out, const char *path,
			      struct iosched_sim_error *why)
{
	char *text;
	size_t size;
	int err;

	*out = NULL;
	ios_sim_fail(why, 0, "%s", "");
	err = ios_scn_read_file(path, &text, &size);
	if (err != 0)
		return ios_sim_fail(why, err, "%.200s: %s", path,
				    err == -E2BIG ? IOS_SCN_TOO_LONG : strerror(-err));
	return load(out, text, size, path, true, why);
}

int iosched_sim_scenario_parse(struct iosched_sim_scenario **out, const char *text, size_t size,
			       const char *name, struct iosched_sim_error *why)
{
	char *copy;

	*out = NULL;
	ios_sim_fail(why, 0, "%s", "");
	if (size > IOS_SCN_MAX_TEXT)
		return ios_sim_fail(why, -E2BIG, "%.80s: %s", name, IOS_SCN_TOO_LONG);
	copy = malloc(size + 1);
	if (copy == NULL)
		return ios_sim_fail(why, -ENOMEM, "out of memory");
	if (size > 0)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return load(out, copy, size, name, false, why);
}

static void free_policy(struct ios_scn_policy *p)
{
	free(p->tunables);
	free(p->settings);
	free(p->streams);
	free(p->changes);
	free(p->programs);
	free(p->program_settings);
}

void iosched_sim_scenario_free(struct iosched_sim_scenario *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->policy_count; i++)
		free_policy(&s->policies[i]);
	for (unsigned i = 0; i < s->expect_count; i++)
		free(s->expects[i].text);
	for (unsigned i = 0; i < s->program_count; i++)
		free(s->programs[i].settings);
	free(s->programs);
	free(s->name);
	free(s->text);
	free(s->words);
	free(s->statements);
	free(s->title);
	free(s->device_text);
	free(s->device_text_name);
	free(s->settings);
	free(s->seeds);
	free(s->streams);
	free(s->groups);
	free(s->policies);
	free(s->configs);
	free(s->expects);
	free(s);
}

/* --- Running --- */

const char *iosched_sim_scenario_title(const struct iosched_sim_scenario *s)
{
	return s->title != NULL ? s->title : "";
}

unsigned iosched_sim_scenario_case_count(const struct iosched_sim_scenario *s)
{
	return s->policy_count * s->seed_count;
}

int iosched_sim_scenario_case(const struct iosched_sim_scenario *s, unsigned i,
			      struct iosched_sim_case *out)
{
	if (i >= iosched_sim_scenario_case_count(s))
		return -ERANGE;
	*out = (struct iosched_sim_case){
		.label = s->policies[i / s->seed_count].label,
		.policy = s->policies[i / s->seed_count].policy,
		.seed = s->configs[i].seed,
		.config = &s->configs[i],
	};
	return 0;
}

int iosched_sim_scenario_add_policy(struct iosched_sim_scenario *s,
				    const struct iosched_policy *policy)
{
	struct iosched_sim_error why;
	struct ios_scn_policy *all;
	int err;

	for (unsigned i = 0; i < s->policy_count; i++)
		if (strcmp(s->policies[i].label, iosched_policy_name(policy)) == 0)
			return -EEXIST;
	if (s->policy_count == IOS_SCN_MAX_POLICIES ||
	    (s->policy_count + 1) * s->seed_count > IOS_SCN_MAX_CASES)
		return -E2BIG;
	all = ios_scn_grow(s->policies, s->policy_count, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	s->policies = all;
	all[s->policy_count] = (struct ios_scn_policy){
		.label = iosched_policy_name(policy),
		.policy = policy,
		.window = s->base.max_inflight,
		.merge_bytes = s->base.max_merge_bytes,
	};
	s->why = &why;
	err = ios_scn_prepare(s, &all[s->policy_count]);
	s->policy_count += err == 0;
	if (err == 0)
		err = make_configs(s);
	s->why = NULL;
	return err;
}

int iosched_sim_scenario_run(const struct iosched_sim_scenario *s,
			     struct iosched_sim_result **results, struct iosched_sim_error *why)
{
	unsigned n = iosched_sim_scenario_case_count(s);

	for (unsigned i = 0; i < n; i++)
		results[i] = NULL;
	for (unsigned i = 0; i < n; i++) {
		int err = iosched_sim_run(&s->configs[i], &results[i], why);

		if (err != 0)
			return err;
	}
	return 0;
}
