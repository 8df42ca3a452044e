/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: one statement `program`.
 *
 *   program KIND [as NAME] [PARAMETER=VALUE ...] [class C] [level N] [weight N]
 *           [group NAME] [group-weight N]
 *
 * Rule: how many processes it has is known when the scenario is read, with what a policy line
 * changes as well; their contexts are numbered on from those before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"

struct draft {
	struct ios_scn_program program;
	struct ios_scn_group group;
};

/* --- Names --- */

static const char *kinds(const void *user, unsigned i)
{
	(void)user;
	return iosched_sim_program_at(i, NULL);
}

static const char *params(const void *kind, unsigned i)
{
	struct iosched_sim_param p;

	return iosched_sim_program_param_at(kind, i, &p) == 0 ? p.name : NULL;
}

static bool is_listed(ios_scn_names *names, const void *user, const char *text)
{
	const char *name;

	for (unsigned i = 0; (name = names(user, i)) != NULL; i++)
		if (strcmp(name, text) == 0)
			return true;
	return false;
}

/* --- Is it one that can run? --- */

int ios_scn_check_program(const struct iosched_sim_scenario *s, const struct iosched_sim_program *p,
			  unsigned line, unsigned *processes)
{
	struct iosched_sim_error inner = {""};
	int err;

	for (unsigned i = 0; i < p->setting_count; i++)
		if (!is_listed(params, p->name, p->settings[i].name)) {
			char name[64];
			struct ios_scn_word w = {name, line};
			size_t n = strlen(p->settings[i].name);

			n = n < sizeof(name) - 1 ? n : sizeof(name) - 1;
			memcpy(name, p->settings[i].name, n);
			name[n] = '\0';
			return ios_scn_unknown(s, &w, -ENOENT, "a parameter of the program", params,
					       p->name);
		}
	err = iosched_sim_program_check(p, s->capacity, processes, &inner);
	return err != 0 && err != -ENOMEM
		       ? ios_scn_fail(s, line, err, "program %s: %s", p->label, inner.text)
		       : err;
}

/* --- The statement --- */

static int read_word(struct ios_scn_reader *r, struct draft *d, const struct ios_scn_word *w)
{
	static const char *const known[] = {"as",    "class",	     "level",		"weight",
					    "group", "group-weight", "parameter=value", NULL};
	struct iosched_sim_program *p = &d->program.p;

	if (strchr(w->text, '=') != NULL)
		return ios_scn_setting(r->s, w, "the program", &d->program.settings,
				       &p->setting_count);
	if (strcmp(w->text, "as") == 0)
		return ios_scn_name(r, "a name", &d->group.name);
	if (strcmp(w->text, "class") == 0)
		return ios_scn_class(r, &p->prio_class);
	if (strcmp(w->text, "level") == 0)
		return ios_scn_level(r, &p->prio_level);
	if (strcmp(w->text, "weight") == 0)
		return ios_scn_weight(r, &p->weight);
	if (strcmp(w->text, "group-weight") == 0)
		return ios_scn_weight(r, &p->group_weight);
	if (strcmp(w->text, "group") == 0)
		return ios_scn_group_name(r, &d->group.group);
	return ios_scn_unknown(r->s, w, -EINVAL, "a word about programs", ios_scn_listed, known);
}

static int read_words(struct ios_scn_reader *r, struct draft *d)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a program", &w);

	if (err != 0)
		return err;
	if (!is_listed(kinds, NULL, w->text))
		return ios_scn_glued(r->s, w, -ENOENT, "a program", "program", kinds, NULL);
	d->program.p.name = w->text;
	d->group.name = w->text;
	while (err == 0 && r->at < r->count)
		err = read_word(r, d, &r->words[r->at++]);
	return err;
}

static int add(struct iosched_sim_scenario *s, struct draft *d)
{
	struct ios_scn_program *programs =
		ios_scn_grow(s->programs, s->program_count, sizeof(*programs));
	struct ios_scn_group *groups;

	if (programs == NULL)
		return -ENOMEM;
	s->programs = programs;
	groups = ios_scn_grow(s->groups, s->group_count, sizeof(*groups));
	if (groups == NULL)
		return -ENOMEM;
	s->groups = groups;
	d->group.is_program = true;
	d->group.first = s->program_count;
	d->group.first_context = s->next_context;
	d->group.group_number = ios_scn_group_number(s, d->group.group);
	d->program.p.first_context = s->next_context;
	d->program.p.group = d->group.group_number;
	s->next_context += IOS_SCN_PROGRAM_CONTEXTS;
	groups[s->group_count++] = d->group;
	programs[s->program_count++] = d->program;
	return 0;
}

int ios_scn_program(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	unsigned line = ios_scn_line(r);
	struct draft d = {.group.count = 1};
	int err = read_words(r, &d);

	if (err == 0)
		err = ios_scn_check_name(r, d.group.name, line);
	if (err == 0 && d.program.p.group_weight != 0 && d.group.group == NULL)
		err = ios_scn_fail(s, line, -EINVAL, "program %s has a group-weight and no group",
				   d.group.name);
	if (err == 0 && s->program_count == IOS_SCN_MAX_PROGRAMS)
		err = ios_scn_fail(s, line, -E2BIG, "more than %d programs", IOS_SCN_MAX_PROGRAMS);
	d.program.p.label = d.group.name;
	d.program.p.settings = d.program.settings;
	if (err == 0)
		err = ios_scn_check_program(s, &d.program.p, line, &d.group.count);
	if (err == 0 && (d.program.p.weight != 0 || d.group.group != NULL))
		err = ios_scn_add_weighted(r, d.group.count);
	if (err == 0)
		err = add(s, &d);
	if (err != 0)
		free(d.program.settings);
	return err;
}
