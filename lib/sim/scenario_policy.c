/* SPDX-License-Identifier: MIT */
/* Scenarios: one statement `policy`, which is one run for each seed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"

static const char *policy_names(const void *user, unsigned i)
{
	const struct iosched_policy *p = iosched_policy_at(i);

	(void)user;
	return p != NULL ? iosched_policy_name(p) : NULL;
}

const char *ios_scn_policy_names(const void *scenario, unsigned i)
{
	const struct iosched_sim_scenario *s = scenario;

	return i < s->policy_count ? s->policies[i].label : NULL;
}

static const char *tunable_names(const void *user, unsigned i)
{
	const struct iosched_tunable *t = iosched_tunable_list(user, i);

	return t != NULL ? t->name : NULL;
}

/* --- Tunables --- */

static const struct iosched_tunable *find_tunable(const struct iosched_policy *p, const char *name)
{
	const struct iosched_tunable *t;

	for (unsigned i = 0; (t = iosched_tunable_list(p, i)) != NULL; i++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static int tunable_value(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
			 const struct iosched_tunable *t, const char *text, uint64_t *out)
{
	static const enum ios_sim_unit units[] = {
		[IOSCHED_UNIT_NONE] = IOS_SIM_UNIT_NONE,
		[IOSCHED_UNIT_BOOL] = IOS_SIM_UNIT_BOOL,
		[IOSCHED_UNIT_NS] = IOS_SIM_UNIT_NS,
		[IOSCHED_UNIT_BYTES] = IOS_SIM_UNIT_BYTES,
	};
	int err = ios_scn_parse_value(s, w, units[t->unit], text, out);

	if (err == 0 && (*out < t->min || *out > t->max))
		return ios_scn_fail(s, w->line, -ERANGE, "%s: %.40s is outside %llu..%llu", t->name,
				    text, (unsigned long long)t->min, (unsigned long long)t->max);
	return err;
}

static int read_tunable(struct ios_scn_reader *r, struct ios_scn_policy *p,
			const struct ios_scn_word *w, char *equals)
{
	struct iosched_sim_tunable *all = ios_scn_grow(p->tunables, p->tunable_count, sizeof(*all));
	const struct iosched_tunable *t;
	uint64_t value;
	int err;

	if (all == NULL)
		return -ENOMEM;
	p->tunables = all;
	*equals = '\0';
	t = find_tunable(p->policy, w->text);
	if (t == NULL)
		return ios_scn_unknown(r->s, w, -ENOENT, "a tunable of the policy", tunable_names,
				       p->policy);
	err = tunable_value(r->s, w, t, equals + 1, &value);
	if (err == 0)
		all[p->tunable_count++] = (struct iosched_sim_tunable){t->name, value};
	return err;
}

/* --- Streams that do not run --- */

static void leave_out(struct iosched_sim_scenario *s, struct ios_scn_policy *p,
		      const struct ios_scn_group *g)
{
	unsigned i = (unsigned)(g - s->groups);

	p->left_out[i / 32] |= UINT32_C(1) << (i % 32);
}

static bool runs(const struct ios_scn_policy *p, unsigned group)
{
	return (p->left_out[group / 32] >> (group % 32) & 1) == 0;
}

static int read_without(struct ios_scn_reader *r, struct ios_scn_policy *p)
{
	const struct ios_scn_word *w;
	const struct ios_scn_group *g;
	int err = ios_scn_want(r, "a stream's name", &w);

	if (err != 0)
		return err;
	g = ios_scn_find_group(r->s, w->text);
	if (g == NULL)
		return ios_scn_unknown(r->s, w, -EINVAL, "a stream or program", ios_scn_group_names,
				       r->s);
	leave_out(r->s, p, g);
	return 0;
}

/* --- Programs that run otherwise --- */

static int add_change(struct ios_scn_policy *p, unsigned program,
		      const struct iosched_sim_setting *setting)
{
	struct ios_scn_change *all = ios_scn_grow(p->changes, p->change_count, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	p->changes = all;
	all[p->change_count++] = (struct ios_scn_change){program, *setting};
	return 0;
}

static int read_changes(struct ios_scn_reader *r, struct ios_scn_policy *p, unsigned program)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a parameter of the program", &w);

	while (err == 0) {
		struct iosched_sim_setting *one = NULL;
		unsigned n = 0;

		err = ios_scn_setting(r->s, w, "the program", &one, &n);
		if (err == 0)
			err = add_change(p, program, one);
		free(one);
		w = ios_scn_peek(r);
		if (w == NULL || strchr(w->text, '=') == NULL)
			break;
		r->at++;
	}
	return err;
}

/* "with NAME parameter=value ...". */
static int read_with(struct ios_scn_reader *r, struct ios_scn_policy *p)
{
	const struct ios_scn_word *w;
	const struct ios_scn_group *g;
	int err = ios_scn_want(r, "a program's name", &w);

	if (err != 0)
		return err;
	g = ios_scn_find_group(r->s, w->text);
	if (g == NULL)
		return ios_scn_unknown(r->s, w, -EINVAL, "a program", ios_scn_group_names, r->s);
	if (!g->is_program)
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "%s is a stream: only programs have parameters that a policy "
				    "line can change",
				    g->name);
	err = read_changes(r, p, g->first);
	p->line = w->line;
	return err;
}

/* --- The statement --- */

static int read_label(struct ios_scn_reader *r, struct ios_scn_policy *p)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a label", &w);

	if (err == 0)
		p->label = w->text;
	return err;
}

static int read_device_settings(struct ios_scn_reader *r, struct ios_scn_policy *p)
{
	uint64_t capacity = r->s->capacity;
	unsigned line = ios_scn_line(r);
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a parameter of the device", &w);

	while (err == 0) {
		err = ios_scn_setting(r->s, w, "the device", &p->settings, &p->setting_count);
		w = ios_scn_peek(r);
		if (w == NULL || strchr(w->text, '=') == NULL)
			break;
		r->at++;
	}
	if (err == 0)
		err = ios_scn_check_device(r->s, line, p->settings, p->setting_count);
	if (err == 0 && r->s->capacity < capacity)
		err = ios_scn_fail(r->s, line, -ERANGE,
				   "a policy line cannot make the device smaller");
	r->s->capacity = capacity;
	return err;
}

static int read_options(struct ios_scn_reader *r, struct ios_scn_policy *p)
{
	static const char *const known[] = {"as",    "without", "with",		 "window",
					    "merge", "device",	"tunable=value", NULL};
	int err = 0;

	while (err == 0 && r->at < r->count) {
		const struct ios_scn_word *w = &r->words[r->at++];
		char *equals = strchr(w->text, '=');

		if (equals != NULL)
			err = read_tunable(r, p, w, equals);
		else if (strcmp(w->text, "as") == 0)
			err = read_label(r, p);
		else if (strcmp(w->text, "without") == 0)
			err = read_without(r, p);
		else if (strcmp(w->text, "with") == 0)
			err = read_with(r, p);
		else if (strcmp(w->text, "window") == 0)
			err = ios_scn_ranged32(r, "a number of requests", 0, UINT32_MAX,
					       &p->window);
		else if (strcmp(w->text, "merge") == 0)
			err = ios_scn_number(r, "the largest merged size", IOS_SIM_UNIT_BYTES,
					     &p->merge_bytes);
		else if (strcmp(w->text, "device") == 0)
			err = read_device_settings(r, p);
		else
			return ios_scn_unknown(r->s, w, -EINVAL, "an option of policy",
					       ios_scn_listed, known);
	}
	return err;
}

static int check_label(const struct ios_scn_reader *r, const struct ios_scn_policy *p)
{
	for (unsigned i = 0; i + 1 < r->s->policy_count; i++)
		if (strcmp(r->s->policies[i].label, p->label) == 0)
			return ios_scn_fail(r->s, ios_scn_line(r), -EINVAL,
					    "a second policy \"%.40s\": give it a label, "
					    "`as NAME`",
					    p->label);
	if (strcmp(p->label, "each") == 0 || ios_scn_is_metric(p->label))
		return ios_scn_fail(r->s, ios_scn_line(r), -EINVAL,
				    "\"%.40s\" means something else in expectations: choose "
				    "another label",
				    p->label);
	return 0;
}

/* The scenario's own settings, which those of the line follow. */
static int copy_settings(const struct iosched_sim_scenario *s, struct ios_scn_policy *p)
{
	for (unsigned i = 0; i < s->setting_count; i++) {
		struct iosched_sim_setting *all =
			ios_scn_grow(p->settings, p->setting_count, sizeof(*all));

		if (all == NULL)
			return -ENOMEM;
		p->settings = all;
		all[p->setting_count++] = s->settings[i];
	}
	return 0;
}

static struct ios_scn_policy *add_policy(struct iosched_sim_scenario *s)
{
	struct ios_scn_policy *all = ios_scn_grow(s->policies, s->policy_count, sizeof(*all));

	if (all == NULL)
		return NULL;
	s->policies = all;
	memset(&all[s->policy_count], 0, sizeof(*all));
	return &all[s->policy_count++];
}

int ios_scn_policy(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	const struct ios_scn_word *w;
	struct ios_scn_policy *p;
	int err = ios_scn_want(r, "a policy's name", &w);

	if (err != 0)
		return err;
	if (iosched_policy_find(w->text) == NULL)
		return ios_scn_glued(s, w, -ENOENT, "a policy in this build", "policy",
				     policy_names, NULL);
	if (s->policy_count == IOS_SCN_MAX_POLICIES)
		return ios_scn_fail(s, w->line, -E2BIG, "more than %d policies",
				    IOS_SCN_MAX_POLICIES);
	p = add_policy(s);
	if (p == NULL)
		return -ENOMEM;
	p->policy = iosched_policy_find(w->text);
	p->label = w->text;
	p->window = s->base.max_inflight;
	p->merge_bytes = s->base.max_merge_bytes;
	err = copy_settings(s, p);
	if (err == 0)
		err = read_options(r, p);
	return err != 0 ? err : check_label(r, p);
}

/* --- Its config --- */

/* Number of a group's first stream among those that run. */
static uint32_t running_index(const struct iosched_sim_scenario *s, const struct ios_scn_policy *p,
			      unsigned group)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < group; i++)
		if (runs(p, i) && !s->groups[i].is_program)
			n += s->groups[i].count;
	return n;
}

/* Whom the copies of group @i wait for: each for its own, or for any. */
static int link_group(struct iosched_sim_scenario *s, struct ios_scn_policy *p, unsigned i)
{
	const struct ios_scn_group *g = &s->groups[i];
	const struct ios_scn_group *leader = ios_scn_find_group(s, g->after->text);
	uint32_t first, at;

	if (leader == NULL)
		return ios_scn_unknown(s, g->after, -EINVAL, "a stream", ios_scn_group_names, s);
	if (leader->is_program)
		return ios_scn_fail(s, g->after->line, -EINVAL,
				    "stream %s cannot wait for a program", g->name);
	if (!runs(p, (unsigned)(leader - s->groups)))
		return ios_scn_fail(s, g->after->line, -EINVAL,
				    "with policy %.40s stream %s waits for %s, which is left out",
				    p->label, g->name, leader->name);
	first = running_index(s, p, (unsigned)(leader - s->groups));
	at = running_index(s, p, i);
	for (uint32_t j = 0; j < g->count; j++) {
		bool own = leader->count == g->count;

		p->streams[at + j].after = 1 + first + (own ? j : 0);
		p->streams[at + j].after_count = own ? 1 : leader->count;
	}
	return 0;
}

static void copy_group(struct iosched_sim_scenario *s, struct ios_scn_policy *p,
		       const struct ios_scn_group *g)
{
	for (unsigned j = 0; j < g->count; j++) {
		struct ios_scn_stream *from = &s->streams[g->first + j];

		p->streams[p->stream_count] = from->s;
		p->streams[p->stream_count++].name = from->name;
	}
}

/* A program of this line: as it stands in the scenario, and what the line changes. */
static int copy_program(struct iosched_sim_scenario *s, struct ios_scn_policy *p, unsigned number,
			struct iosched_sim_setting **room)
{
	struct iosched_sim_program *copy = &p->programs[p->program_count++];
	unsigned processes;

	*copy = s->programs[number].p;
	for (unsigned i = 0; i < copy->setting_count; i++)
		(*room)[i] = s->programs[number].settings[i];
	copy->settings = *room;
	for (unsigned i = 0; i < p->change_count; i++)
		if (p->changes[i].program == number)
			(*room)[copy->setting_count++] = p->changes[i].setting;
	*room += copy->setting_count;
	return ios_scn_check_program(s, copy, p->line, &processes);
}

static int copy_programs(struct iosched_sim_scenario *s, struct ios_scn_policy *p)
{
	unsigned settings = p->change_count;
	struct iosched_sim_setting *room;
	int err = 0;

	for (unsigned i = 0; i < s->program_count; i++)
		settings += s->programs[i].p.setting_count;
	p->programs = calloc(s->program_count + 1, sizeof(*p->programs));
	p->program_settings = calloc(settings + 1, sizeof(*p->program_settings));
	if (p->programs == NULL || p->program_settings == NULL)
		return -ENOMEM;
	room = p->program_settings;
	for (unsigned i = 0; err == 0 && i < s->group_count; i++)
		if (runs(p, i) && s->groups[i].is_program)
			err = copy_program(s, p, s->groups[i].first, &room);
	return err;
}

int ios_scn_prepare(struct iosched_sim_scenario *s, struct ios_scn_policy *p)
{
	int err;

	if (p->settings == NULL && copy_settings(s, p) != 0)
		return -ENOMEM;
	p->streams = calloc(s->stream_count + 1, sizeof(*p->streams));
	if (p->streams == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < s->group_count; i++)
		if (runs(p, i) && !s->groups[i].is_program)
			copy_group(s, p, &s->groups[i]);
	err = copy_programs(s, p);
	if (err != 0)
		return err;
	if (p->stream_count + p->program_count == 0)
		return ios_scn_fail(s, 1, -EINVAL, "policy %.40s has no stream or program left",
				    p->label);
	for (unsigned i = 0; err == 0 && i < s->group_count; i++)
		if (runs(p, i) && s->groups[i].after != NULL)
			err = link_group(s, p, i);
	return err;
}
