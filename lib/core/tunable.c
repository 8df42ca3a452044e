/* SPDX-License-Identifier: MIT */
/*
 * tunable: the numbers of a policy by name, typed and bounded.
 *
 * A value lives as a uint64_t in the policy's own state, where its table says.
 */
#include <errno.h>
#include <string.h>
#include "core/sched.h"

const struct iosched_tunable *iosched_tunable_list(const struct iosched_policy *p, unsigned i)
{
	const struct iosched_tunable *t = p->tunables;

	if (t == NULL)
		return NULL;
	for (; t->name != NULL; t++)
		if (i-- == 0)
			return t;
	return NULL;
}

static const struct iosched_tunable *find(const struct iosched_policy *p, const char *name)
{
	const struct iosched_tunable *t;
	unsigned i;

	for (i = 0; (t = iosched_tunable_list(p, i)) != NULL; i++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static int why_not(const char *name)
{
	const struct iosched_policy *p;
	unsigned i;

	for (i = 0; (p = iosched_policy_at(i)) != NULL; i++)
		if (find(p, name) != NULL)
			return -EOPNOTSUPP;
	return -ENOENT;
}

static uint64_t *value_of(const struct iosched *s, const struct iosched_tunable *t)
{
	return (uint64_t *)(void *)((char *)s->self + t->member);
}

int iosched_tunable_set(struct iosched *s, const char *name, uint64_t value)
{
	const struct iosched_tunable *t = find(s->ops, name);

	if (t == NULL)
		return why_not(name);
	if (value < t->min || value > t->max)
		return -ERANGE;
	*value_of(s, t) = value;
	if (s->ops->tunable_changed != NULL)
		s->ops->tunable_changed(s->self, t);
	ios_settle(s);
	return 0;
}

int iosched_tunable_get(const struct iosched *s, const char *name, uint64_t *value)
{
	const struct iosched_tunable *t = find(s->ops, name);

	if (t == NULL)
		return why_not(name);
	*value = *value_of(s, t);
	return 0;
}
