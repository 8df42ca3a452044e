/* SPDX-License-Identifier: MIT */
#include "choices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* --- Policies --- */

static bool chosen(const struct wb_options *o, const struct iosched_policy *p)
{
	for (unsigned i = 0; i < o->policy_count; i++)
		if (o->policies[i] == p)
			return true;
	return false;
}

static void choose(struct wb_options *o, const struct iosched_policy *p)
{
	if (!chosen(o, p) && o->policy_count < WB_MAX_POLICIES)
		o->policies[o->policy_count++] = p;
}

void wb_choose_all_policies(struct wb_options *o)
{
	const struct iosched_policy *p;

	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++)
		choose(o, p);
}

int wb_choose_base(struct wb_options *o, const char *name)
{
	const struct iosched_policy *p = iosched_policy_find(name);
	int i = 0;

	choose(o, p);
	while (o->policies[i] != p)
		i++;
	return i;
}

static int take_policy(struct wb_options *o, const char *name)
{
	const struct iosched_policy *p = iosched_policy_find(name);

	if (strcmp(name, "all") == 0)
		wb_choose_all_policies(o);
	else if (p == NULL)
		return wb_refuse("there is no policy \"%s\"; `iosched policies` lists them", name);
	else
		choose(o, p);
	return WB_OK;
}

int wb_take_policies(struct wb_options *o, const char *text)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *name;
	int code = WB_OK;

	if (copy == NULL)
		return wb_fail("out of memory");
	while (code == WB_OK && (name = strsep(&rest, ",")) != NULL)
		code = take_policy(o, name);
	free(copy);
	return code;
}

/* --- Devices --- */

static int take_setting(struct wb_options *o, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL || value == text)
		return wb_refuse("--device: \"%s\" is not PARAMETER=VALUE", text);
	if (o->setting_count == WB_MAX_SETTINGS)
		return wb_refuse("--device: more than %d parameters", WB_MAX_SETTINGS);
	*value++ = '\0';
	o->settings[o->setting_count++] = (struct iosched_sim_setting){text, value};
	return WB_OK;
}

/* Names and values are checked by the simulator, before the first run. */
int wb_take_device(struct wb_options *o, const char *text)
{
	struct iosched_sim_param param;
	char *rest;
	char *setting;
	int code = WB_OK;

	free(o->device);
	o->setting_count = 0;
	o->device_spec = text;
	o->device = strdup(text);
	if (o->device == NULL)
		return wb_fail("out of memory");
	rest = strchr(o->device, ':');
	if (rest != NULL)
		*rest++ = '\0';
	if (iosched_sim_param_at(o->device, 0, &param) == -ENOENT)
		return wb_refuse("there is no device \"%s\"; `iosched replay --help` lists them",
				 o->device);
	while (code == WB_OK && rest != NULL && (setting = strsep(&rest, ",")) != NULL)
		code = take_setting(o, setting);
	return code;
}

static void list_parameters(FILE *out, const char *model)
{
	struct iosched_sim_param param;

	fprintf(out, "\nParameters of %s, with its values:\n", model);
	for (unsigned i = 0; iosched_sim_param_at(model, i, &param) == 0; i++)
		fprintf(out, "  %s=%llu%s%s  %s\n", param.name, (unsigned long long)param.initial,
			param.unit[0] != '\0' ? " " : "", param.unit, param.doc);
}

void wb_list_devices(FILE *out)
{
	static const char *const models[] = {"hdd", "raid", "ssd", "net", "fault", "fixed"};
	const struct iosched_sim_preset *p;

	fputs("\nDevices:\n", out);
	for (unsigned i = 0; (p = iosched_sim_preset_at(i)) != NULL; i++)
		fprintf(out, "  %-13s %s\n", p->name, p->summary);
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		list_parameters(out, models[i]);
	fputs("\nraid, net and fault have a device inside: member=NAME says which,\n"
	      "member.PARAMETER=VALUE changes it.\n",
	      out);
}

/* --- Tunables --- */

static const struct iosched_tunable *tunable_of(const struct iosched_policy *p, const char *name)
{
	const struct iosched_tunable *t;

	for (unsigned i = 0; (t = iosched_tunable_list(p, i)) != NULL; i++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

/* Some policy's description of `name`: its unit is the same in all of them. */
static const struct iosched_tunable *tunable_of_any(const char *name)
{
	const struct iosched_policy *p;

	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++) {
		const struct iosched_tunable *t = tunable_of(p, name);

		if (t != NULL)
			return t;
	}
	return NULL;
}

/* The longest policy name before a point that begins `text`, for names hold points too. */
static const struct iosched_policy *policy_prefix(const char *text, size_t *length)
{
	const struct iosched_policy *p;
	const struct iosched_policy *best = NULL;

	*length = 0;
	for (unsigned i = 0; (p = iosched_policy_at(i)) != NULL; i++) {
		size_t n = strlen(iosched_policy_name(p));

		if (strncmp(text, iosched_policy_name(p), n) == 0 && text[n] == '.' &&
		    n >= *length) {
			best = p;
			*length = n + 1;
		}
	}
	return best;
}

static int parse_tunable(struct wb_tunable *t, const char *text)
{
	const char *equals = strchr(text, '=');
	const struct iosched_tunable *found;
	size_t prefix;

	if (equals == NULL)
		return wb_refuse("--tunable %s: wants [POLICY.]NAME=VALUE", text);
	t->policy = policy_prefix(text, &prefix);
	t->name = strndup(text + prefix, (size_t)(equals - text) - prefix);
	if (t->name == NULL)
		return wb_fail("out of memory");
	found = t->policy != NULL ? tunable_of(t->policy, t->name) : tunable_of_any(t->name);
	if (found == NULL && t->policy == NULL)
		return wb_refuse("--tunable %s: no policy has it", text);
	if (found == NULL)
		return wb_refuse("--tunable %s: policy %s has no tunable \"%s\"", text,
				 iosched_policy_name(t->policy), t->name);
	if (!wb_parse_value(equals + 1, found->unit, &t->value))
		return wb_refuse("--tunable %s: \"%s\" is not a value of it", text, equals + 1);
	return WB_OK;
}

int wb_take_tunable(struct wb_options *o, const char *text)
{
	if (o->tunable_count == WB_MAX_SETTINGS)
		return wb_refuse("--tunable: more than %d of them", WB_MAX_SETTINGS);
	return parse_tunable(&o->tunables[o->tunable_count++], text);
}

/* --- Formats --- */

int wb_take_format(struct wb_options *o, const char *text)
{
	enum iosched_trace_format format = iosched_trace_format_find(text);

	if (format == IOSCHED_TRACE_FORMATS) {
		wb_complain("there is no trace format \"%s\"; these are:", text);
		for (format = IOSCHED_TRACE_AUTO + 1; format < IOSCHED_TRACE_FORMATS; format++)
			fprintf(stderr, "  %-10s %s\n", iosched_trace_format_name(format),
				iosched_trace_format_summary(format));
		return WB_USAGE;
	}
	o->format = format;
	return WB_OK;
}

int wb_take_to(struct wb_options *o, const char *text)
{
	if (strcmp(text, "native") == 0)
		o->to = IOSCHED_TRACE_NATIVE;
	else if (strcmp(text, "fio2") == 0 || strcmp(text, "fio-v2") == 0)
		o->to = IOSCHED_TRACE_FIO_V2;
	else if (strcmp(text, "fio3") == 0 || strcmp(text, "fio-v3") == 0)
		o->to = IOSCHED_TRACE_FIO_V3;
	else
		return wb_refuse("--to %s: native, fio2 and fio3 can be written", text);
	return WB_OK;
}
