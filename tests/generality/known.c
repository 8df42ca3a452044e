/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <stddef.h>
#include <string.h>

const char *const claim_names[CLAIMS] = {"total", "share", "fsync", "wait"};

struct exception {
	const char *device, *load; /* NULL: any */
	enum claim claim;
	const char *why;
};

static const struct exception exceptions[] = {
	{"none", "none", CLAIM_TOTAL, "none"},
};

static bool fits(const char *pattern, const char *name)
{
	return pattern == NULL || strcmp(pattern, name) == 0;
}

const char *known_not_to_hold(const struct device *d, const struct load *l, enum claim claim)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].claim == claim && fits(exceptions[i].device, d->name) &&
		    fits(exceptions[i].load, l->name))
			return exceptions[i].why;
	return NULL;
}
