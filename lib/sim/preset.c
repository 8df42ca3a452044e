/* SPDX-License-Identifier: MIT */
/*
 * The named devices, and making a device from a name, a text and single settings.
 *
 * A preset is text in the form users write: what it does not name is the model's default.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device.h"

static const struct ios_sim_model *const models[] = {
	&ios_sim_null_model,
	&ios_sim_fixed_model,
	&ios_sim_hdd_model,
};

#define MODELS (sizeof(models) / sizeof(models[0]))

struct preset {
	struct iosched_sim_preset public;
	const char *text;
};

/* Values are typical of such drives in the years when their reports on CFQ, anticipatory and
 * deadline were written; none is the measurement of a specimen. */
static const struct preset presets[] = {
	{{"null", "null", "takes no time, depth 64"}, ""},
	{{"fixed", "fixed", "1 ms per command, one at a time"}, ""},
	{{"hdd", "hdd", "7200 rpm SATA, 250 GB, 80 to 45 MB/s, NCQ 31, write cache 8 MiB"}, ""},
	{{"hdd-no-ncq", "hdd", "hdd that serves its commands in order, one at a time"},
	 "depth = 1\nncq_window = 1\n"},
	{{"hdd-in-order", "hdd", "hdd that takes 31 commands but serves them in order"},
	 "ncq_window = 1\n"},
	{{"hdd-110", "hdd", "7200 rpm SATA, 110 to 60 MB/s, write cache 8 MiB"},
	 "rate_outer = 110MB/s\nrate_inner = 60MB/s\n"},
	{{"hdd-110-wt", "hdd", "hdd-110 with its write cache off"},
	 "rate_outer = 110MB/s\nrate_inner = 60MB/s\nwrite_cache = 0\n"},
	{{"hdd-128", "hdd", "7200 rpm SATA, 128 to 70 MB/s, write cache 8 MiB"},
	 "rate_outer = 128MB/s\nrate_inner = 70MB/s\n"},
	{{"hdd-15k", "hdd", "15 000 rpm, 140 to 84 MB/s, 16 KiB read-ahead, write cache off"},
	 "rpm = 15000\nrate_outer = 140MB/s\nrate_inner = 84MB/s\nseek_track = 0.3ms\n"
	 "seek_average = 3.5ms\nseek_full = 7ms\nswitch_time = 0.5ms\noverhead = 100us\n"
	 "overhead_overlaps = on\nbus_rate = 300MB/s\ndepth = 32\nncq_age = 0.3s\n"
	 "readahead = 16KiB\npartial_hits = on\nwrite_cache = 0\n"},
	{{"hdd-15k-sas", "hdd", "15 200 rpm 2.5\" SAS, 300 GB, 162 to 108 MB/s, write cache off"},
	 "capacity = 585937500sectors\nrpm = 15200\nrate_outer = 162MB/s\n"
	 "rate_inner = 108MB/s\nseek_track = 0.3ms\nseek_average = 2.9ms\nseek_full = 6ms\n"
	 "overhead = 100us\nbus_rate = 550MB/s\nncq_age = 60ms\nwrite_cache = 0\n"},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const struct iosched_sim_preset *iosched_sim_preset_at(unsigned i)
{
	return i < PRESETS ? &presets[i].public : NULL;
}

static const struct ios_sim_model *find_model(const char *name)
{
	for (size_t i = 0; i < MODELS; i++)
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
	return NULL;
}

static const struct preset *find_preset(const char *name)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strcmp(presets[i].public.name, name) == 0)
			return &presets[i];
	return NULL;
}

/* A model and the values of its parameters, while they are being put together. */
struct draft {
	const struct ios_sim_model *model;
	void *values;
};

static int choose_model(struct draft *d, const char *name, struct iosched_sim_error *why)
{
	const struct ios_sim_model *model = find_model(name);
	void *values;

	if (model == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no device model \"%s\"", name);
	values = calloc(1, model->params_size);
	if (values == NULL)
		return -ENOMEM;
	free(d->values);
	d->values = values;
	d->model = model;
	ios_sim_param_defaults(model->params, values);
	return 0;
}

static int choose(struct draft *d, const char *name, struct iosched_sim_error *why);

/* `preset = x` and `model = x` start anew; everything else sets a parameter. */
static int apply(struct draft *d, const char *name, const char *value,
		 struct iosched_sim_error *why)
{
	if (strcmp(name, "model") == 0)
		return choose_model(d, value, why);
	if (strcmp(name, "preset") == 0)
		return choose(d, value, why);
	return ios_sim_param_set(d->model->params, d->values, name, value, why);
}

static int apply_text(struct draft *d, const char *text, const char *text_name,
		      struct iosched_sim_error *why)
{
	struct ios_sim_line line = {0};
	struct iosched_sim_error inner = {""};
	int got;

	while ((got = ios_sim_param_line(&text, &line, &inner)) > 0) {
		got = apply(d, line.name, line.value, &inner);
		if (got != 0)
			break;
	}
	if (got < 0 && got != -ENOMEM)
		return ios_sim_fail(why, got, "%.80s:%u: %.200s", text_name, line.number,
				    inner.text);
	return got;
}

static int choose(struct draft *d, const char *name, struct iosched_sim_error *why)
{
	const struct preset *preset = find_preset(name);
	int err;

	if (preset == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no device \"%s\"", name);
	err = choose_model(d, preset->public.model, why);
	return err != 0 ? err : apply_text(d, preset->text, name, why);
}

static int draft_of(struct draft *d, const struct ios_sim_device_choice *c,
		    struct iosched_sim_error *why)
{
	int err = choose(d, c->name, why);

	if (err == 0 && c->text != NULL)
		err = apply_text(d, c->text, c->text_name != NULL ? c->text_name : "device text",
				 why);
	for (unsigned i = 0; err == 0 && i < c->override_count; i++)
		err = apply(d, c->overrides[i].name, c->overrides[i].value, why);
	return err;
}

int ios_sim_device_create(struct ios_sim_device **out, const struct ios_sim_device_choice *choice,
			  struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			  struct iosched_sim_error *why)
{
	struct draft d = {NULL, NULL};
	int err = draft_of(&d, choice, why);

	if (err == 0)
		err = d.model->create(out, d.values, engine, ledger, why);
	free(d.values);
	return err;
}

int iosched_sim_param_at(const char *device, unsigned i, struct iosched_sim_param *out)
{
	struct draft d = {NULL, NULL};
	const struct ios_sim_param *p;
	int err = choose(&d, device, NULL);

	if (err != 0)
		return err;
	p = d.model->params;
	while (p->name != NULL && i > 0) {
		p++;
		i--;
	}
	if (p->name == NULL)
		err = -ERANGE;
	else
		*out = (struct iosched_sim_param){
			p->name,
			ios_sim_unit_name(p->unit),
			p->min,
			p->max,
			*(const uint64_t *)(const void *)((const char *)d.values + p->member),
			p->doc,
		};
	free(d.values);
	return err;
}
