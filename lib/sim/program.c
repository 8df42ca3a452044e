/* SPDX-License-Identifier: MIT */
#include "sim/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ios_sim_program_kind *const kinds[] = {
	&ios_sim_program_bonnie_read,  &ios_sim_program_bonnie_rewrite,
	&ios_sim_program_bonnie_seeks, &ios_sim_program_bonnie_write,
	&ios_sim_program_dump,	       &ios_sim_program_nfs,
	&ios_sim_program_pgbench,      &ios_sim_program_sysbench,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Context numbers that are kept free above a program's first. */
#define MOST_PROCESSES 65536

/* --- Kinds and parameters --- */

const char *iosched_sim_program_at(unsigned i, const char **summary)
{
	if (i >= KINDS)
		return NULL;
	if (summary != NULL)
		*summary = kinds[i]->summary;
	return kinds[i]->name;
}

static const struct ios_sim_program_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

int iosched_sim_program_param_at(const char *program, unsigned i, struct iosched_sim_param *out)
{
	const struct ios_sim_program_kind *kind = find_kind(program);
	const struct ios_sim_param *p;

	if (kind == NULL)
		return -ENOENT;
	for (p = kind->params; p->name != NULL && i > 0; i--)
		p++;
	if (p->name == NULL)
		return -ERANGE;
	*out = (struct iosched_sim_param){
		p->name, ios_sim_unit_name(p->unit), p->min, p->max, p->initial, p->doc,
	};
	return 0;
}

static int set_params(const struct ios_sim_program_kind *kind, void *values,
		      const struct iosched_sim_program *config, struct iosched_sim_error *why)
{
	ios_sim_param_defaults(kind->params, values);
	for (unsigned i = 0; i < config->setting_count; i++) {
		const struct iosched_sim_setting *s = &config->settings[i];
		int err = ios_sim_param_set(kind->params, values, s->name, s->value, why);

		if (err == -ENOENT)
			return ios_sim_fail(why, err, "there is no parameter \"%s\"", s->name);
		if (err != 0)
			return err;
	}
	return 0;
}

/* --- As a load --- */

static void program_start(struct ios_sim_load *load)
{
	struct ios_sim_program *pr = (struct ios_sim_program *)load;

	pr->kind->start(pr);
}

static void program_completed(struct ios_sim_load *load, void *token, uint8_t op)
{
	struct ios_sim_token *t = token;

	(void)load;
	(void)op;
	t->done(t);
}

static void program_destroy(struct ios_sim_load *load)
{
	struct ios_sim_program *pr = (struct ios_sim_program *)load;

	pr->kind->fini(pr);
	free(pr);
}

static struct ios_sim_program *new_program(const struct ios_sim_program_kind *kind,
					   struct ios_sim_host *h,
					   const struct iosched_sim_config *c,
					   const struct iosched_sim_program *config)
{
	struct ios_sim_program *pr = calloc(1, kind->size);

	if (pr == NULL)
		return NULL;
	pr->load = (struct ios_sim_load){h, program_start, program_completed, program_destroy};
	pr->kind = kind;
	pr->config = config;
	pr->score.name = kind->name;
	pr->score.first_context = config->first_context;
	pr->from = c->warmup_ns;
	pr->until = c->length_ns;
	pr->seed = c->seed;
	return pr;
}

/* The parameters of a program that can be, or NULL and *@err. */
static void *make_params(const struct ios_sim_program_kind *kind,
			 const struct iosched_sim_program *config, uint64_t capacity, int *err,
			 struct iosched_sim_error *why)
{
	void *values = calloc(1, kind->params_size);

	*err = values != NULL ? set_params(kind, values, config, why) : -ENOMEM;
	if (*err == 0)
		*err = kind->check(values, capacity, why);
	if (*err == 0)
		return values;
	free(values);
	return NULL;
}

int iosched_sim_program_check(const struct iosched_sim_program *p, uint64_t capacity,
			      unsigned *count, struct iosched_sim_error *why)
{
	const struct ios_sim_program_kind *kind = find_kind(p->name != NULL ? p->name : "");
	void *values;
	int err;

	if (kind == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no program \"%s\"",
				    p->name != NULL ? p->name : "");
	values = make_params(kind, p, capacity, &err, why);
	if (values == NULL)
		return err;
	*count = kind->processes(values);
	free(values);
	return 0;
}

static int init_program(struct ios_sim_program *pr, const struct iosched_sim_program *config,
			struct iosched_sim_error *why)
{
	int err;
	void *values = make_params(pr->kind, config, pr->load.host->device->capacity, &err, why);

	if (values == NULL)
		return err;
	err = pr->kind->init(pr, values, config->first_context, why);
	free(values);
	return err;
}

int ios_sim_program_create(struct ios_sim_program **out, struct ios_sim_host *h,
			   const struct iosched_sim_config *c, unsigned index,
			   struct iosched_sim_error *why)
{
	const char *name = c->programs[index].name != NULL ? c->programs[index].name : "";
	const struct ios_sim_program_kind *kind = find_kind(name);
	struct iosched_sim_error inner = {""};
	struct ios_sim_program *pr;
	int err;

	if (kind == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no program \"%s\"", name);
	if (kind->endless && c->length_ns == IOSCHED_NEVER)
		return ios_sim_fail(why, -EINVAL,
				    "program %u (%s) never ends, and neither does the run",
				    index + 1, name);
	if (c->programs[index].first_context > UINT64_MAX - MOST_PROCESSES)
		return ios_sim_fail(why, -EINVAL,
				    "program %u (%s) has context numbers that are reserved",
				    index + 1, name);
	pr = new_program(kind, h, c, &c->programs[index]);
	if (pr == NULL)
		return -ENOMEM;
	err = init_program(pr, &c->programs[index], &inner);
	if (err != 0) {
		program_destroy(&pr->load);
		return err == -ENOMEM ? err
				      : ios_sim_fail(why, err, "program %u (%s): %.240s", index + 1,
						     kind->name, inner.text);
	}
	h->live_loads++;
	*out = pr;
	return 0;
}

/* --- The score --- */

static bool metered(const struct ios_sim_program *pr)
{
	iosched_time now = ios_sim_program_now(pr);

	return now >= pr->from && now <= pr->until;
}

void ios_sim_program_count(struct ios_sim_program *pr, uint64_t operations, uint64_t bytes)
{
	if (!metered(pr))
		return;
	pr->score.operations += operations;
	pr->score.bytes += bytes;
	pr->score.elapsed_ns = ios_sim_program_now(pr) - pr->from;
}

void ios_sim_program_synced(struct ios_sim_program *pr, iosched_time since)
{
	if (!metered(pr))
		return;
	pr->score.syncs++;
	pr->score.sync_ns += ios_sim_program_now(pr) - since;
}

void ios_sim_program_done(struct ios_sim_program *pr)
{
	ios_sim_host_load_done(pr->load.host);
}

/* --- Processes --- */

static void process_fires(void *owner)
{
	struct ios_sim_process *p = owner;
	struct ios_sim_host *h = p->program->load.host;

	ios_sim_host_enter(h);
	p->go(p);
	ios_sim_host_leave(h);
}

int ios_sim_process_init(struct ios_sim_process *p, struct ios_sim_program *pr,
			 uint64_t first_context, unsigned number, const char *name)
{
	struct ios_sim_host *h = pr->load.host;
	char full[32];

	*p = (struct ios_sim_process){.program = pr, .context = first_context + number};
	ios_sim_event_init(&p->event, process_fires, p);
	ios_sim_rng_init(&p->rng, pr->seed, p->context);
	p->meter = ios_sim_meter_of(&h->meter, p->context);
	if (p->meter == UINT32_MAX)
		return -ENOMEM;
	if (pr->config->label != NULL)
		snprintf(full, sizeof(full), "%.20s.%u", pr->config->label, number + 1);
	else
		snprintf(full, sizeof(full), "%s %u", name, number + 1);
	ios_sim_meter_name(&h->meter, p->meter, full, pr->config->weight);
	return 0;
}

void ios_sim_process_fini(struct ios_sim_process *p)
{
	if (p->program != NULL)
		ios_sim_cancel(&p->program->load.host->engine, &p->event);
}

void ios_sim_process_after(struct ios_sim_process *p, uint64_t ns,
			   void (*go)(struct ios_sim_process *p))
{
	p->go = go;
	ios_sim_schedule(&p->program->load.host->engine, &p->event,
			 ios_sim_program_now(p->program) + ns);
}

bool ios_sim_process_submit(struct ios_sim_process *p, struct ios_sim_token *token, uint8_t op,
			    uint64_t offset, uint64_t length, uint32_t flags)
{
	struct ios_sim_want want = {
		.offset = offset,
		.length = length,
		.context = p->context,
		.meter = p->meter,
		.flags = flags,
		.op = op,
		.prio_class = p->program->config->prio_class,
		.prio_level = p->program->config->prio_level,
		.token = token,
	};

	return ios_sim_host_submit(p->program->load.host, &p->program->load, &want) == 0;
}
