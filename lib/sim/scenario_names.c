/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: names of streams, programs and their groups, and how many of them a queue has room
 * for.
 *
 * Rule: a stream and a program cannot have one name; a group is made by the first line that names
 * it, and its number is the next free one.
 */
#include <errno.h>
#include <string.h>

#include "sim/scenario.h"

/* --- Streams and programs --- */

const struct ios_scn_group *ios_scn_find_group(const struct iosched_sim_scenario *s,
					       const char *name)
{
	for (unsigned i = 0; i < s->group_count; i++)
		if (strcmp(s->groups[i].name, name) == 0)
			return &s->groups[i];
	return NULL;
}

const char *ios_scn_group_names(const void *scenario, unsigned i)
{
	const struct iosched_sim_scenario *s = scenario;

	return i < s->group_count ? s->groups[i].name : NULL;
}

int ios_scn_check_name(const struct ios_scn_reader *r, const char *name, unsigned line)
{
	size_t n = strlen(name);

	if (n > 24 || strpbrk(name, "().:,*") != NULL)
		return ios_scn_fail(
			r->s, line, -EINVAL,
			"\"%.40s\" is no name of a stream or program: at most 24 characters, none "
			"of them ( ) . : , *",
			name);
	if (ios_scn_find_group(r->s, name) != NULL)
		return ios_scn_fail(r->s, line, -EINVAL, "a second stream or program \"%s\"", name);
	return 0;
}

/* --- Groups --- */

/* A stream or program of an earlier line that is in the group @name. */
static const struct ios_scn_group *member_of(const struct iosched_sim_scenario *s, const char *name)
{
	for (unsigned i = 0; i < s->group_count; i++)
		if (s->groups[i].group != NULL && strcmp(s->groups[i].group, name) == 0)
			return &s->groups[i];
	return NULL;
}

int ios_scn_group_name(struct ios_scn_reader *r, const char **out)
{
	unsigned line = ios_scn_line(r);
	int err = ios_scn_name(r, "a group's name", out);

	if (err == 0 && r->s->next_group > IOS_SCN_MAX_GROUPS && member_of(r->s, *out) == NULL)
		return ios_scn_fail(r->s, line, -E2BIG, "more than %d groups", IOS_SCN_MAX_GROUPS);
	return err;
}

int ios_scn_add_weighted(struct ios_scn_reader *r, uint64_t n)
{
	r->s->weighted += n;
	if (r->s->weighted <= IOS_SCN_MAX_WEIGHTED)
		return 0;
	return ios_scn_fail(r->s, r->words[0].line, -E2BIG,
			    "more than %d contexts have a weight or group", IOS_SCN_MAX_WEIGHTED);
}

uint64_t ios_scn_group_number(struct iosched_sim_scenario *s, const char *name)
{
	const struct ios_scn_group *member = name != NULL ? member_of(s, name) : NULL;

	if (name == NULL)
		return 0;
	return member != NULL ? member->group_number : s->next_group++;
}
