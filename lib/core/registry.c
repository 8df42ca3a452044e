/* SPDX-License-Identifier: MIT */
/*
 * registry: the built-in policies by name. The only file of the core that
 * knows which there are.
 */
#include <string.h>
#include "policies/policies.h"

static const struct iosched_policy *const builtin[] = {
	&ios_noop_policy,  &ios_deadline_policy, &ios_anticipatory_policy,  &ios_mq_deadline_policy,
	&ios_cfq26_policy, &ios_cfq_policy,	 &ios_fair_deadline_policy,
};

const struct iosched_policy *iosched_policy_at(unsigned i)
{
	return i < sizeof(builtin) / sizeof(builtin[0]) ? builtin[i] : NULL;
}

const struct iosched_policy *iosched_policy_find(const char *name)
{
	const struct iosched_policy *p;
	unsigned i;

	for (i = 0; (p = iosched_policy_at(i)) != NULL; i++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}

const char *iosched_policy_name(const struct iosched_policy *p)
{
	return p->name;
}

const char *iosched_policy_summary(const struct iosched_policy *p)
{
	return p->summary == NULL ? "" : p->summary;
}
