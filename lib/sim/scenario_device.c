/* SPDX-License-Identifier: MIT */
/* Scenarios: one statement `device`, and whether there can be such a device. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device.h"
#include "sim/scenario.h"

static const char *preset_names(const void *user, unsigned i)
{
	const struct iosched_sim_preset *p = iosched_sim_preset_at(i);

	(void)user;
	return p != NULL ? p->name : NULL;
}

static const char *param_names(const void *user, unsigned i)
{
	struct iosched_sim_param p;

	return iosched_sim_param_at(user, i, &p) == 0 ? p.name : NULL;
}

static bool is_model(const char *name)
{
	struct iosched_sim_param p;

	return iosched_sim_param_at(name, 0, &p) != -ENOENT;
}

/* Beside the scenario's own file. */
static char *path_beside(const char *scenario, const char *name)
{
	const char *slash = strrchr(scenario, '/');
	size_t folder = slash == NULL || name[0] == '/' ? 0 : (size_t)(slash - scenario) + 1;
	char *path = malloc(folder + strlen(name) + 1);

	if (path != NULL) {
		memcpy(path, scenario, folder);
		strcpy(path + folder, name);
	}
	return path;
}

static int read_device_file(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	const struct ios_scn_word *w;
	size_t size;
	int err = ios_scn_want(r, "the device file's name", &w);

	if (err != 0)
		return err;
	if (!s->may_open)
		return ios_scn_fail(s, w->line, -EINVAL,
				    "a scenario that is no file cannot name another file");
	s->device_text_name = path_beside(s->name, w->text);
	if (s->device_text_name == NULL)
		return -ENOMEM;
	err = ios_scn_read_file(s->device_text_name, &s->device_text, &size);
	if (err != 0 && err != -ENOMEM)
		return ios_scn_fail(s, w->line, err, "%.120s: %s", s->device_text_name,
				    err == -E2BIG ? IOS_SCN_TOO_LONG : strerror(-err));
	return err;
}

int ios_scn_setting(struct iosched_sim_scenario *s, const struct ios_scn_word *w, const char *whom,
		    struct iosched_sim_setting **settings, unsigned *count)
{
	struct iosched_sim_setting *all = ios_scn_grow(*settings, *count, sizeof(*all));
	char *equals = strchr(w->text, '=');

	if (all == NULL)
		return -ENOMEM;
	*settings = all;
	if (equals == NULL || equals == w->text || equals[1] == '\0')
		return ios_scn_fail(s, w->line, -EINVAL,
				    "\"%.40s\" is not a parameter of %s as name=value "
				    "(without blanks)",
				    w->text, whom);
	*equals = '\0';
	all[(*count)++] = (struct iosched_sim_setting){w->text, equals + 1};
	return 0;
}

static const char *known_param(const char *device, const char *name)
{
	struct iosched_sim_param p;

	for (unsigned i = 0; iosched_sim_param_at(device, i, &p) == 0; i++)
		if (strcmp(p.name, name) == 0)
			return p.name;
	return NULL;
}

/* The device has no parameter of a setting's name: say which, with a likeness. Names with a point
 * are those of a device's own devices, which are not listed. */
static int unknown_param(const struct iosched_sim_scenario *s, unsigned line,
			 const struct iosched_sim_setting *settings, unsigned count,
			 const char *sentence)
{
	for (unsigned i = 0; s->device_text == NULL && i < count; i++) {
		char name[64];
		struct ios_scn_word w = {name, line};

		if (strchr(settings[i].name, '.') != NULL ||
		    known_param(s->device, settings[i].name) != NULL)
			continue;
		snprintf(name, sizeof(name), "%s", settings[i].name);
		return ios_scn_unknown(s, &w, -ENOENT, "a parameter of the device", param_names,
				       s->device);
	}
	return ios_scn_fail(s, line, -ENOENT, "%s", sentence);
}

int ios_scn_check_device(struct iosched_sim_scenario *s, unsigned line,
			 const struct iosched_sim_setting *settings, unsigned count)
{
	struct ios_sim_device_choice choice = {
		.name = s->device,
		.text = s->device_text,
		.text_name = s->device_text_name,
		.overrides = settings,
		.override_count = count,
	};
	struct ios_sim_engine engine;
	struct ios_sim_ledger ledger;
	struct iosched_sim_error inner = {""};
	struct ios_sim_device *d;
	int err;

	ios_sim_engine_init(&engine);
	ios_sim_ledger_init(&ledger);
	err = ios_sim_device_create(&d, &choice, &engine, &ledger, &inner);
	if (err == 0) {
		s->capacity = d->capacity;
		s->instant = d->instant;
		ios_sim_device_destroy(d);
	}
	ios_sim_ledger_fini(&ledger);
	ios_sim_engine_fini(&engine);
	if (err == -ENOENT)
		return unknown_param(s, line, settings, count, inner.text);
	return err != 0 && err != -ENOMEM ? ios_scn_fail(s, line, err, "%s", inner.text) : err;
}

int ios_scn_device(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	const struct ios_scn_word *w;
	int err;

	s->device_line = r->words[0].line;
	if (ios_scn_take(r, "file")) {
		err = read_device_file(r);
	} else {
		err = ios_scn_want(r, "a device's name", &w);
		if (err == 0 && !is_model(w->text))
			return ios_scn_glued(s, w, -ENOENT, "a device", "device", preset_names,
					     NULL);
		if (err == 0)
			s->device = w->text;
	}
	while (err == 0 && r->at < r->count)
		err = ios_scn_setting(s, &r->words[r->at++], "the device", &s->settings,
				      &s->setting_count);
	return err;
}
