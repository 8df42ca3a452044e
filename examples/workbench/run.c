/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>

#include "progress.h"

/* A plot has about so many points along its time axis. */
#define INTERVALS 50
/* Below this a point of the plot holds less than a request of a disk. */
#define LEAST_INTERVAL_NS UINT64_C(10000000)

struct feed {
	const struct wb_workload *w;
	struct wb_progress progress;
	size_t next;
};

static int next_record(void *user, struct iosched_sim_record *out)
{
	struct feed *f = user;

	if (f->next == f->w->count)
		return 0;
	*out = f->w->records[f->next++];
	wb_progress_at(&f->progress, f->next);
	return 1;
}

static void fill_replay(struct iosched_sim_replay *r, const struct wb_options *o, struct feed *f)
{
	iosched_sim_replay_init(r, sizeof(*r));
	r->next = next_record;
	r->user = f;
	r->fold = 1;
	r->time_permille = o->scale_permille;
	if (!f->w->timed)
		r->max_outstanding = 1;
	if (o->closed != 0) {
		r->time_permille = 0;
		r->max_outstanding = o->closed;
	}
}

/* The tunables that concern `policy`; returns how many. */
static unsigned fill_tunables(struct iosched_sim_tunable *out, const struct wb_options *o,
			      const struct iosched_policy *policy)
{
	unsigned n = 0;

	for (unsigned i = 0; i < o->tunable_count; i++) {
		const struct wb_tunable *t = &o->tunables[i];
		const struct iosched_tunable *known = NULL;

		if (t->policy != NULL && t->policy != policy)
			continue;
		for (unsigned k = 0; (known = iosched_tunable_list(policy, k)) != NULL; k++)
			if (strcmp(known->name, t->name) == 0)
				break;
		if (known != NULL)
			out[n++] = (struct iosched_sim_tunable){t->name, t->value};
	}
	return n;
}

static uint64_t interval_of(const struct wb_options *o, const struct wb_workload *w)
{
	uint64_t ns = w->span_ns / INTERVALS / 1000 * o->scale_permille;

	return ns > LEAST_INTERVAL_NS ? ns : LEAST_INTERVAL_NS;
}

static int simulate(struct wb_run *run, const struct wb_options *o, struct feed *f,
		    wb_event_fn *event, void *user, struct iosched_sim_error *why)
{
	struct iosched_sim_tunable tunables[WB_MAX_SETTINGS];
	struct iosched_sim_replay replay;
	struct iosched_sim_config c;

	fill_replay(&replay, o, f);
	iosched_sim_config_init(&c, sizeof(c));
	c.policy = run->policy;
	c.tunables = tunables;
	c.tunable_count = fill_tunables(tunables, o, run->policy);
	c.device = o->device;
	c.overrides = o->settings;
	c.override_count = o->setting_count;
	c.replays = &replay;
	c.replay_count = 1;
	c.max_inflight = o->window;
	c.seed = o->seed;
	c.length_ns = IOSCHED_NEVER;
	c.interval_ns = o->plot != NULL ? interval_of(o, f->w) : 0;
	c.event = event;
	c.event_user = user;
	return iosched_sim_run(&c, &run->result, why);
}

static const char *reason(const struct iosched_sim_error *why, int err)
{
	return why->text[0] != '\0' ? why->text : strerror(-err);
}

static int check_tunables(const struct wb_options *o)
{
	struct iosched_sim_tunable found[WB_MAX_SETTINGS];
	unsigned n = 0;

	for (unsigned i = 0; i < o->policy_count; i++)
		n += fill_tunables(found, o, o->policies[i]);
	return o->tunable_count == 0 || n > 0
		       ? WB_OK
		       : wb_refuse("--tunable %s: none of the chosen policies has it",
				   o->tunables[0].name);
}

/* A run of no requests finds what is wrong with the settings. */
int wb_run_check(const struct wb_options *o)
{
	static const struct wb_workload nothing = {.timed = true};

	for (unsigned i = 0; i < o->policy_count; i++) {
		struct feed f = {.w = &nothing};
		struct wb_run run = {.policy = o->policies[i]};
		struct iosched_sim_error why = {""};
		int err = simulate(&run, o, &f, NULL, NULL, &why);

		iosched_sim_result_free(run.result);
		if (err != 0)
			return wb_refuse("%s", reason(&why, err));
	}
	return check_tunables(o);
}

int wb_run(struct wb_run *run, const struct wb_options *o, const struct wb_workload *w,
	   const struct iosched_policy *policy, wb_event_fn *event, void *user)
{
	struct feed f = {.w = w};
	struct iosched_sim_error why = {""};
	int err;

	*run = (struct wb_run){.policy = policy};
	wb_progress_begin(&f.progress, iosched_policy_name(policy), w->count);
	err = simulate(run, o, &f, event, user, &why);
	wb_progress_end(&f.progress);
	if (err == 0)
		return WB_OK;
	return wb_fail("%s: policy %s: %s", w->path, iosched_policy_name(policy),
		       reason(&why, err));
}

int wb_runs_do(struct wb_runs *r, const struct wb_options *o, const struct wb_workload *w)
{
	int code = WB_OK;

	*r = (struct wb_runs){.o = o, .w = w};
	while (code == WB_OK && r->count < o->policy_count) {
		code = wb_run(&r->runs[r->count], o, w, o->policies[r->count], NULL, NULL);
		r->count++;
	}
	return code;
}

void wb_runs_fini(struct wb_runs *r)
{
	for (unsigned i = 0; i < r->count; i++)
		iosched_sim_result_free(r->runs[i].result);
	r->count = 0;
}

void wb_runs_print_notes(const struct wb_runs *r)
{
	const struct iosched_sim_result *result = r->runs[0].result;

	if (result->folded_records > 0)
		printf("note: %llu requests reach past the end of the device; moved into it "
		       "(offset modulo capacity)\n",
		       (unsigned long long)result->folded_records);
	if (result->unordered_records > 0)
		printf("note: %llu records are earlier than the one before; taken as equal\n",
		       (unsigned long long)result->unordered_records);
}

void wb_runs_print_hint(const struct wb_runs *r)
{
	for (unsigned i = 0; i < r->count; i++) {
		if (wb_run_all(&r->runs[i])->wait.p999 > 0)
			continue;
		printf("\nnote: with %s at least 99.9 %% of the requests went to the device at "
		       "once: there "
		       "is little to\nschedule here. --window 1, --device hdd-no-ncq or --scale "
		       "0.5 make "
		       "requests queue.\n",
		       iosched_policy_name(r->runs[i].policy));
		return;
	}
}

const char *wb_run_label(const struct wb_run *run)
{
	return run->label != NULL ? run->label : iosched_policy_name(run->policy);
}

const struct iosched_sim_row *wb_run_all(const struct wb_run *run)
{
	return &run->result->rows[0]; /* the sum row comes first */
}
