/* SPDX-License-Identifier: MIT */
/*
 * programs: which the simulator has, and what can be set in one.
 */
#include <iosched/sim.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "table.h"
#include "units.h"
#include "workbench.h"

static const char *summary_of(const char *name)
{
	const char *other, *summary;

	for (unsigned i = 0; (other = iosched_sim_program_at(i, &summary)) != NULL; i++)
		if (strcmp(other, name) == 0)
			return summary;
	return NULL;
}

static const char *value_text(char out[WB_TEXT_SIZE], const char *unit, uint64_t value)
{
	if (strcmp(unit, "ns") == 0)
		return wb_value_text(out, IOSCHED_UNIT_NS, value);
	if (strcmp(unit, "bytes") == 0)
		return wb_value_text(out, IOSCHED_UNIT_BYTES, value);
	if (strcmp(unit, "bool") == 0)
		return wb_value_text(out, IOSCHED_UNIT_BOOL, value);
	snprintf(out, WB_TEXT_SIZE, "%llu%s%.16s", (unsigned long long)value,
		 unit[0] != '\0' ? " " : "", unit);
	return out;
}

static int print_list(void)
{
	static const struct wb_column columns[] = {{NULL, "program", true},
						   {NULL, "what it does", true}};
	const char *name, *summary;
	struct wb_table t;

	wb_table_init(&t, columns, 2);
	for (unsigned i = 0; (name = iosched_sim_program_at(i, &summary)) != NULL; i++) {
		wb_table_add(&t, "%s", name);
		wb_table_add(&t, "%s", summary);
	}
	return wb_table_print(&t, 0);
}

static int print_parameters(const char *program)
{
	static const struct wb_column columns[] = {
		{NULL, "parameter", true}, {NULL, "default", false}, {NULL, "what it is", true}};
	struct iosched_sim_param p;
	struct wb_table t;
	char text[WB_TEXT_SIZE];

	printf("%s: %s\n", program, summary_of(program));
	wb_table_init(&t, columns, 3);
	for (unsigned i = 0; iosched_sim_program_param_at(program, i, &p) == 0; i++) {
		wb_table_add(&t, "%s", p.name);
		wb_table_add(&t, "%s", value_text(text, p.unit, p.initial));
		wb_table_add(&t, "%s", p.doc);
	}
	return wb_table_print(&t, 2);
}

static struct wb_json *program_json(const char *program)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *parameters = wb_json_array();
	struct iosched_sim_param p;

	for (unsigned i = 0; iosched_sim_program_param_at(program, i, &p) == 0; i++) {
		struct wb_json *one = wb_json_object();

		wb_json_set_text(one, "name", p.name);
		wb_json_set_text(one, "unit", p.unit);
		wb_json_set_number(one, "default", p.initial);
		wb_json_set_number(one, "min", p.min);
		wb_json_set_number(one, "max", p.max);
		wb_json_set_text(one, "doc", p.doc);
		wb_json_append(parameters, one);
	}
	wb_json_set_text(out, "name", program);
	wb_json_set_text(out, "summary", summary_of(program));
	wb_json_set(out, "parameters", parameters);
	return out;
}

static int print_json(const char *only)
{
	struct wb_json *out = wb_json_array();
	const char *name;

	for (unsigned i = 0; (name = iosched_sim_program_at(i, NULL)) != NULL; i++)
		if (only == NULL || strcmp(only, name) == 0)
			wb_json_append(out, program_json(name));
	return wb_json_print(out);
}

static int run(const struct wb_options *o)
{
	const char *name = o->operand_count == 1 ? o->operands[0] : NULL;

	if (o->json && !wb_json_available())
		return WB_FAILED;
	if (name != NULL && summary_of(name) == NULL)
		return wb_refuse("there is no program \"%s\"; `iosched programs` lists them", name);
	if (o->json)
		return print_json(name);
	return name != NULL ? print_parameters(name) : print_list();
}

const struct wb_verb wb_verb_programs = {
	.name = "programs",
	.operands = "[NAME]",
	.most = 1,
	.summary = "list the simulated programs, or one program's parameters",
	.help = "A scenario runs them by a line `program NAME PARAMETER=VALUE ...`: processes of "
		"a\n"
		"host with a page cache, a flusher, a log, a network. Without NAME: every program "
		"in\n"
		"one line. With it: its parameters, their defaults and meaning.\n",
	.options = WB_BIT(JSON),
	.run = run,
};
