/* SPDX-License-Identifier: MIT */
/*
 * A run: from a config to a result.
 *
 * Host, device, queue and loads are set up in this order, the engine runs, and all is
 * taken down in the opposite one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/load.h"
#include "sim/program.h"
#include "sim/result.h"

struct run {
	const struct iosched_sim_config *c;
	struct iosched_sim_error *why;
	struct ios_sim_host host;
	struct ios_sim_load **loads;
	unsigned load_count;
	struct ios_sim_cursor *cursors;
	unsigned cursor_count;
	struct ios_sim_replay_counts counts;
	struct ios_sim_event warm;
	struct ios_sim_event end;
};

/* --- Defaults --- */

static void init_struct(void *p, size_t size, const void *ours, size_t our_size)
{
	memset(p, 0, size);
	memcpy(p, ours, size < our_size ? size : our_size);
}

void iosched_sim_stream_init(struct iosched_sim_stream *s, size_t size)
{
	struct iosched_sim_stream ours = {
		.size = size,
		.context = 1,
		.request_bytes = 4096,
		.depth = 1,
		.refill = UINT32_MAX,
		.read_permyriad = 10000,
		.stop_ns = IOSCHED_NEVER,
	};

	init_struct(s, size, &ours, sizeof(ours));
}

void iosched_sim_replay_init(struct iosched_sim_replay *r, size_t size)
{
	struct iosched_sim_replay ours = {.size = size, .time_permille = 1000};

	init_struct(r, size, &ours, sizeof(ours));
}

void iosched_sim_config_init(struct iosched_sim_config *c, size_t size)
{
	struct iosched_sim_config ours = {
		.size = size,
		.max_merge_bytes = UINT64_C(512) * 1024,
		.device = "hdd",
		.seed = 1,
		.length_ns = 10 * NSEC_PER_SEC,
		.max_meters = 1024,
	};

	init_struct(c, size, &ours, sizeof(ours));
}

/* --- Checking --- */

static int check_streams_end(const struct iosched_sim_config *c, struct iosched_sim_error *why)
{
	for (unsigned i = 0; i < c->stream_count; i++)
		if (c->streams[i].max_requests == 0 && c->streams[i].stop_ns == IOSCHED_NEVER)
			return ios_sim_fail(why, -EINVAL,
					    "stream %u never ends, and neither does the run",
					    i + 1);
	return 0;
}

static int check_config(const struct iosched_sim_config *c, struct iosched_sim_error *why)
{
	if (c->size != sizeof(*c))
		return ios_sim_fail(why, -EINVAL,
				    "the config was not initialised by iosched_sim_config_init()");
	if (c->device == NULL)
		return ios_sim_fail(why, -EINVAL, "no device is named");
	if (c->block_layer > IOSCHED_SIM_PLUGGED)
		return ios_sim_fail(why, -EINVAL, "there is no such block layer");
	if (c->stream_count + c->replay_count + c->program_count == 0)
		return ios_sim_fail(why, -EINVAL, "there is no load");
	if (c->warmup_ns >= c->length_ns)
		return ios_sim_fail(why, -EINVAL, "the warm-up is not shorter than the run");
	if (c->max_meters < 1 || c->max_meters > 65536)
		return ios_sim_fail(why, -EINVAL, "max_meters is outside 1..65536");
	return c->length_ns == IOSCHED_NEVER ? check_streams_end(c, why) : 0;
}

/* --- The queue --- */

static int set_tunables(struct run *run)
{
	for (unsigned i = 0; i < run->c->tunable_count; i++) {
		const struct iosched_sim_tunable *t = &run->c->tunables[i];
		int err = iosched_tunable_set(run->host.queue, t->name, t->value);

		if (err == -ERANGE)
			return ios_sim_fail(run->why, err, "tunable %s: %llu is out of range",
					    t->name, (unsigned long long)t->value);
		if (err != 0)
			return ios_sim_fail(run->why, err, "policy %s has no tunable \"%s\"",
					    iosched_policy_name(iosched_policy_of(run->host.queue)),
					    t->name);
	}
	return 0;
}

static int create_queue(struct run *run)
{
	const struct iosched_sim_config *c = run->c;
	const struct ios_sim_device *d = run->host.device;
	struct iosched_params p;
	int err;

	iosched_params_init(&p, sizeof(p));
	if (c->policy != NULL)
		p.policy = c->policy;
	run->host.window = d->depth;
	if (c->max_inflight != 0 && c->max_inflight < d->depth)
		run->host.window = c->max_inflight;
	p.max_inflight = run->host.window;
	p.max_merge_bytes = c->max_merge_bytes;
	p.rotational = d->rotational;
	p.write_cache = d->write_cache;
	/* Only policies that hand out a FLUSH of their own notice. */
	p.can_flush = d->write_cache && !c->no_flush;
	p.array = d->array;
	p.parallel = d->parallel;
	p.device_depth = d->depth;
	p.audit = c->audit;
	p.event = ios_sim_host_event;
	p.kick = run->host.plug.used ? ios_sim_host_kick : NULL;
	p.user = &run->host;
	err = iosched_create(&run->host.queue, &p);
	if (err != 0)
		return ios_sim_fail(run->why, err, "the queue cannot be created: %s",
				    strerror(-err));
	err = set_tunables(run);
	if (err == 0)
		ios_sim_promise_init(&run->host.promise, run->host.queue, p.rotational);
	return err;
}

static int set_group(struct run *run, uint64_t group, uint32_t weight)
{
	struct iosched_group_params g;

	if (group == 0)
		return 0;
	iosched_group_params_init(&g, sizeof(g));
	if (weight != 0)
		g.weight = weight;
	return iosched_group_set(run->host.queue, group, &g, 0);
}

static int set_context(struct run *run, uint64_t context, uint64_t group, uint32_t weight)
{
	struct iosched_context_params p;

	if (weight == 0 && group == 0)
		return 0;
	iosched_context_params_init(&p, sizeof(p));
	if (weight != 0)
		p.weight = weight;
	p.group = group;
	if (group != 0)
		ios_sim_promise_exempt(&run->host.promise, context);
	return iosched_context_set(run->host.queue, context, &p, 0);
}

static const char *weight_fault(int err)
{
	switch (err) {
	case -EOPNOTSUPP:
		return "the policy knows none";
	case -EINVAL:
		return "a weight above 1000, or context 0";
	case -ENOSPC:
		return "more groups or contexts than a queue has room for";
	default:
		return strerror(-err);
	}
}

static int judge_weights(const struct run *run, int err, const char *what, unsigned index)
{
	if (err == 0 || (err == -EOPNOTSUPP && run->c->weights_optional))
		return 0;
	return ios_sim_fail(run->why, err, "weight or group of %s %u: %s", what, index + 1,
			    weight_fault(err));
}

static int set_stream_weights(struct run *run, unsigned index)
{
	const struct iosched_sim_stream *s = &run->c->streams[index];
	int err = set_group(run, s->group, s->group_weight);

	if (err == 0)
		err = set_context(run, s->context, s->group, s->weight);
	return judge_weights(run, err, "stream", index);
}

static int set_program_weights(struct run *run, unsigned index)
{
	const struct iosched_sim_program *p = &run->c->programs[index];
	int err = set_group(run, p->group, p->group_weight);
	unsigned n = 0;

	if (err == 0 && (p->weight != 0 || p->group != 0))
		err = iosched_sim_program_check(p, run->host.device->capacity, &n, NULL);
	for (unsigned i = 0; err == 0 && i < n; i++)
		err = set_context(run, p->first_context + i, p->group, p->weight);
	return judge_weights(run, err, "program", index);
}

/* --- Loads --- */

/* The position that streams of this number share; made if new. */
static struct ios_sim_cursor *cursor_of(struct run *run, uint32_t number)
{
	struct ios_sim_cursor *c;

	if (number == 0)
		return NULL;
	for (unsigned i = 0; i < run->cursor_count; i++)
		if (run->cursors[i].number == number)
			return &run->cursors[i];
	c = &run->cursors[run->cursor_count++];
	c->number = number;
	return c;
}

static int check_stream(struct run *run, unsigned index)
{
	const struct iosched_sim_stream *s = &run->c->streams[index];
	int err = ios_sim_stream_check(s, run->host.device->capacity, index, run->why);

	if (err == 0 && run->host.device->instant && s->think_ns == 0 && s->max_requests == 0)
		return ios_sim_fail(
			run->why, -EINVAL,
			"stream %u never waits, nor does the device: give it max_requests",
			index + 1);
	return err;
}

static int create_streams(struct run *run)
{
	for (unsigned i = 0; i < run->c->stream_count; i++) {
		const struct iosched_sim_stream *s = &run->c->streams[i];
		int err = check_stream(run, i);

		if (err == 0)
			err = set_stream_weights(run, i);
		if (err == 0)
			err = ios_sim_stream_create(&run->loads[run->load_count], &run->host, s,
						    cursor_of(run, s->cursor), run->c->seed, i);
		if (err != 0)
			return err;
		run->load_count++;
	}
	return 0;
}

/* Each stream learns whose completions it waits for. */
static int link_streams(struct run *run)
{
	for (unsigned i = 0; i < run->c->stream_count; i++) {
		const struct iosched_sim_stream *s = &run->c->streams[i];
		uint32_t count = s->after_count != 0 ? s->after_count : 1;

		if (s->after == 0)
			continue;
		if (s->after > run->c->stream_count || count > run->c->stream_count - s->after + 1)
			return ios_sim_fail(run->why, -EINVAL,
					    "stream %u waits for a stream that is not there",
					    i + 1);
		for (uint32_t j = 0; j < count; j++)
			if (ios_sim_stream_follow(run->loads[i], run->loads[s->after - 1 + j]) != 0)
				return -ENOMEM;
	}
	return 0;
}

static int create_replays(struct run *run)
{
	for (unsigned i = 0; i < run->c->replay_count; i++) {
		int err = ios_sim_replay_create(&run->loads[run->load_count], &run->host,
						&run->c->replays[i], &run->counts, i, run->why);

		if (err != 0)
			return err;
		run->load_count++;
	}
	return 0;
}

static int create_programs(struct run *run)
{
	for (unsigned i = 0; i < run->c->program_count; i++) {
		struct ios_sim_program *pr;
		int err = ios_sim_program_create(&pr, &run->host, run->c, i, run->why);

		if (err != 0)
			return err;
		run->loads[run->load_count++] = &pr->load;
		err = set_program_weights(run, i);
		if (err != 0)
			return err;
	}
	return 0;
}

static int create_loads(struct run *run)
{
	size_t n = (size_t)run->c->stream_count + run->c->replay_count + run->c->program_count;
	int err;

	run->loads = calloc(n, sizeof(struct ios_sim_load *));
	run->cursors = calloc(n, sizeof(*run->cursors));
	if (run->loads == NULL || run->cursors == NULL)
		return -ENOMEM;
	err = create_streams(run);
	if (err == 0)
		err = link_streams(run);
	if (err == 0)
		err = create_replays(run);
	return err != 0 ? err : create_programs(run);
}

/* --- Running --- */

static void warm_up_ends(void *owner)
{
	struct run *run = owner;

	ios_sim_ledger_reset(&run->host.ledger);
}

static void time_is_up(void *owner)
{
	struct run *run = owner;

	run->host.ledger.closed = true;
	ios_sim_host_close(&run->host);
}

static int set_up(struct run *run)
{
	const struct iosched_sim_config *c = run->c;
	struct ios_sim_host *h = &run->host;
	struct ios_sim_device *device;
	struct ios_sim_device_choice choice = {
		.name = c->device,
		.text = c->device_text,
		.text_name = c->device_text_name,
		.overrides = c->overrides,
		.override_count = c->override_count,
	};
	int err = ios_sim_device_create(&device, &choice, &h->engine, &h->ledger, run->why);

	if (err != 0)
		return err;
	ios_sim_host_attach(h, device);
	err = create_queue(run);
	return err != 0 ? err : create_loads(run);
}

static void start(struct run *run)
{
	struct ios_sim_engine *e = &run->host.engine;

	ios_sim_event_init(&run->warm, warm_up_ends, run);
	ios_sim_event_init(&run->end, time_is_up, run);
	if (run->c->warmup_ns != 0)
		ios_sim_schedule(e, &run->warm, run->c->warmup_ns);
	if (run->c->length_ns != IOSCHED_NEVER)
		ios_sim_schedule(e, &run->end, run->c->length_ns);
	for (unsigned i = 0; i < run->load_count; i++)
		run->loads[i]->start(run->loads[i]);
}

/* What must be true when all is over. */
static void check_conservation(struct ios_sim_host *h)
{
	struct iosched_stats s;

	iosched_stats_get(h->queue, &s, sizeof(s));
	if (h->submitted != h->completed + h->returned)
		ios_sim_watch_fail(&h->watch,
				   "%llu requests were submitted, %llu completed and %llu given "
				   "back, and nothing more is to happen",
				   (unsigned long long)h->submitted,
				   (unsigned long long)h->completed,
				   (unsigned long long)h->returned);
	else if (s.inserted != h->submitted || s.completed != h->completed ||
		 s.cancelled != h->returned)
		ios_sim_watch_fail(
			&h->watch,
			"the queue counts %llu inserted, %llu completed, %llu cancelled; "
			"the host %llu, %llu, %llu",
			(unsigned long long)s.inserted, (unsigned long long)s.completed,
			(unsigned long long)s.cancelled, (unsigned long long)h->submitted,
			(unsigned long long)h->completed, (unsigned long long)h->returned);
}

/* Returns 0, -EPROTO (a violation), or why the run failed; with a sentence. */
static int play(struct run *run)
{
	struct ios_sim_host *h = &run->host;
	int end;

	start(run);
	end = ios_sim_engine_run(&h->engine);
	if (end == -ELOOP)
		ios_sim_watch_fail(&h->watch, "time stands still: loads that never wait, on a "
					      "device that takes no time?");
	else if (end >= 0)
		check_conservation(h);
	if (ios_sim_watch_failed(&h->watch))
		return ios_sim_fail(run->why, -EPROTO, "%s", h->watch.violation.text);
	if (h->meter.failed != 0 || h->ledger.failed != 0)
		return -ENOMEM;
	if (end < 0 && h->failure.text[0] != '\0')
		return ios_sim_fail(run->why, end, "%s", h->failure.text);
	return end < 0 ? end : 0;
}

static void tear_down(struct run *run)
{
	for (unsigned i = 0; i < run->load_count; i++)
		run->loads[i]->destroy(run->loads[i]);
	ios_sim_cancel(&run->host.engine, &run->warm);
	ios_sim_cancel(&run->host.engine, &run->end);
	free(run->loads);
	free(run->cursors);
	ios_sim_host_fini(&run->host);
	ios_sim_meter_fini(&run->host.meter);
}

static void begin(struct run *run, const struct iosched_sim_config *c,
		  struct iosched_sim_error *why)
{
	struct ios_sim_host *h = &run->host;

	run->c = c;
	run->why = why;
	ios_sim_host_init(h);
	ios_sim_meter_init(&h->meter, c->max_meters);
	h->meter.from = c->warmup_ns;
	h->meter.until = c->length_ns;
	h->meter.interval = c->interval_ns;
	h->drain = c->drain;
	h->plug.used = c->block_layer == IOSCHED_SIM_PLUGGED;
	h->event = c->event;
	h->event_user = c->event_user;
}

/* Programs are the last of the loads. Without their scores there is no result. */
static int add_scores(const struct run *run, struct iosched_sim_result **r)
{
	unsigned n = run->c->program_count;
	int err = 0;

	for (unsigned i = 0; err == 0 && i < n; i++) {
		const struct ios_sim_load *load = run->loads[run->load_count - n + i];

		err = ios_sim_result_add_score(*r, &((const struct ios_sim_program *)load)->score,
					       n);
	}
	if (err != 0) {
		iosched_sim_result_free(*r);
		*r = NULL;
	}
	return err;
}

int iosched_sim_run(const struct iosched_sim_config *c, struct iosched_sim_result **out,
		    struct iosched_sim_error *why)
{
	struct run *run;
	int err;
	int made = 0;

	*out = NULL;
	ios_sim_fail(why, 0, "%s", "");
	err = check_config(c, why);
	if (err != 0)
		return err;
	run = calloc(1, sizeof(*run));
	if (run == NULL)
		return ios_sim_fail(why, -ENOMEM, "out of memory");
	begin(run, c, why);
	err = set_up(run);
	if (err == 0)
		err = play(run);
	if (err == 0 || err == -EPROTO)
		made = ios_sim_result_make(out, &run->host, &run->counts);
	if (made == 0 && *out != NULL)
		made = add_scores(run, out);
	if (made != 0)
		err = made;
	if (err == -ENOMEM)
		ios_sim_fail(why, err, "out of memory");
	tear_down(run);
	free(run);
	return err;
}
