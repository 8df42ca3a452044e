/* SPDX-License-Identifier: MIT */
/*
 * policies: which there are, what they go by, and what can be set in one.
 */
#include <iosched/policy.h>

#include "json.h"
#include "options.h"
#include "table.h"
#include "units.h"
#include "workbench.h"

static const char *unit_name(enum iosched_unit unit)
{
	switch (unit) {
	case IOSCHED_UNIT_BOOL:
		return "bool";
	case IOSCHED_UNIT_NS:
		return "ns";
	case IOSCHED_UNIT_BYTES:
		return "bytes";
	case IOSCHED_UNIT_NONE:
		break;
	}
	return "";
}

static unsigned tunable_count(const struct iosched_policy *p)
{
	unsigned n = 0;

	while (iosched_tunable_list(p, n) != NULL)
		n++;
	return n;
}

/* What a host may say that a policy goes by. It refuses weights, groups and limits if it does not
 * know them; of classes and contexts it just takes no notice. */
static const struct {
	uint32_t flag;
	const char *name;
} knowledge[] = {{IOSCHED_POLICY_CONTEXTS, "contexts"},
		 {IOSCHED_POLICY_PRIORITY, "classes"},
		 {IOSCHED_POLICY_GROUPS, "groups"},
		 {IOSCHED_POLICY_WEIGHTS, "weights"},
		 {IOSCHED_POLICY_LIMITS, "limits"}};

#define KNOWLEDGE (sizeof(knowledge) / sizeof(knowledge[0]))

#define KNOWLEDGE_FLAGS                                                              \
	(IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_PRIORITY | IOSCHED_POLICY_GROUPS | \
	 IOSCHED_POLICY_WEIGHTS | IOSCHED_POLICY_LIMITS)

/* Room for all of them. */
#define KNOWLEDGE_SIZE 64

static const char *knows_text(char text[KNOWLEDGE_SIZE], const struct iosched_policy *p)
{
	size_t used = 0;

	for (size_t i = 0; i < KNOWLEDGE; i++)
		if (p->flags & knowledge[i].flag)
			used += (size_t)snprintf(text + used, KNOWLEDGE_SIZE - used, "%s%s",
						 used == 0 ? "" : ", ", knowledge[i].name);
	return used == 0 ? "-" : text;
}

static struct wb_json *knows_json(const struct iosched_policy *p)
{
	struct wb_json *out = wb_json_object();

	for (size_t i = 0; i < KNOWLEDGE; i++)
		wb_json_set_bool(out, knowledge[i].name, (p->flags & knowledge[i].flag) != 0);
	return out;
}

static int print_list(void)
{
	static const struct wb_column columns[] = {{NULL, "policy", true},
						   {NULL, "tunables", false},
						   {NULL, "goes by", true},
						   {NULL, "what it does", true}};
	char text[KNOWLEDGE_SIZE];
	struct wb_table t;
	const struct iosched_policy *p;

	wb_table_init(&t, columns, 4);
	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++) {
		wb_table_add(&t, "%s", iosched_policy_name(p));
		wb_table_add(&t, "%u", tunable_count(p));
		wb_table_add(&t, "%s", knows_text(text, p));
		wb_table_add(&t, "%s", iosched_policy_summary(p));
	}
	return wb_table_print(&t, 0);
}

static int print_tunables(const struct iosched_policy *p)
{
	static const struct wb_column columns[] = {{NULL, "tunable", true},
						   {NULL, "default", false},
						   {NULL, "least", false},
						   {NULL, "most", false},
						   {NULL, "what it does", true}};
	const struct iosched_tunable *tunable;
	struct wb_table t;
	char text[WB_TEXT_SIZE], known[KNOWLEDGE_SIZE];

	printf("%s: %s\n", iosched_policy_name(p), iosched_policy_summary(p));
	if (p->flags & KNOWLEDGE_FLAGS)
		printf("It goes by: %s\n", knows_text(known, p));
	if (tunable_count(p) == 0) {
		puts("It has no tunables.");
		return WB_OK;
	}
	wb_table_init(&t, columns, 5);
	for (unsigned i = 0; (tunable = iosched_tunable_list(p, i)) != NULL; i++) {
		wb_table_add(&t, "%s", tunable->name);
		wb_table_add(&t, "%s", wb_value_text(text, tunable->unit, tunable->initial));
		wb_table_add(&t, "%s", wb_value_text(text, tunable->unit, tunable->min));
		wb_table_add(&t, "%s", wb_value_text(text, tunable->unit, tunable->max));
		wb_table_add(&t, "%s", tunable->doc);
	}
	return wb_table_print(&t, 2);
}

static struct wb_json *tunable_json(const struct iosched_tunable *t)
{
	struct wb_json *out = wb_json_object();

	wb_json_set_text(out, "name", t->name);
	wb_json_set_text(out, "unit", unit_name(t->unit));
	wb_json_set_number(out, "default", t->initial);
	wb_json_set_number(out, "min", t->min);
	wb_json_set_number(out, "max", t->max);
	wb_json_set_text(out, "doc", t->doc);
	return out;
}

static struct wb_json *policy_json(const struct iosched_policy *p)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *tunables = wb_json_array();
	const struct iosched_tunable *t;

	for (unsigned i = 0; (t = iosched_tunable_list(p, i)) != NULL; i++)
		wb_json_append(tunables, tunable_json(t));
	wb_json_set_text(out, "name", iosched_policy_name(p));
	wb_json_set_text(out, "summary", iosched_policy_summary(p));
	wb_json_set(out, "goes_by", knows_json(p));
	wb_json_set(out, "tunables", tunables);
	return out;
}

static int print_json(const struct iosched_policy *only)
{
	struct wb_json *out = wb_json_array();
	const struct iosched_policy *p;

	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++)
		if (only == NULL || only == p)
			wb_json_append(out, policy_json(p));
	return wb_json_print(out);
}

static int run(const struct wb_options *o)
{
	const struct iosched_policy *p = NULL;

	if (o->json && !wb_json_available())
		return WB_FAILED;
	if (o->operand_count == 1) {
		p = iosched_policy_find(o->operands[0]);
		if (p == NULL)
			return wb_refuse("there is no policy \"%s\"; `iosched policies` lists them",
					 o->operands[0]);
	}
	if (o->json)
		return print_json(p);
	return p != NULL ? print_tunables(p) : print_list();
}

const struct wb_verb wb_verb_policies = {
	.name = "policies",
	.operands = "[NAME]",
	.most = 1,
	.summary = "list the policies, or one policy's tunables",
	.help = "Without NAME: every policy in one line. \"Goes by\" is what it looks at beside "
		"the\n"
		"request: who asks (contexts), priority classes, groups and their weights, "
		"weights\n"
		"of contexts, limits. Groups, weights and limits are refused by a policy that "
		"does\n"
		"not know them (EOPNOTSUPP); a class is then without effect.\n\n"
		"With NAME: the tunables of that policy, "
		"their\n"
		"defaults, bounds and meaning. --tunable of other verbs takes values with these\n"
		"units: ns us ms s, B KiB MiB GiB TiB, on off.\n",
	.options = WB_BIT(JSON),
	.run = run,
};
