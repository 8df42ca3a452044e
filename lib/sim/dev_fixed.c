/* SPDX-License-Identifier: MIT */
/*
 * fixed: n channels, each serving one command at a time in a constant time plus its
 * bytes at a constant rate. Commands wait in order of arrival for a free channel.
 *
 * State: how many channels are busy; the commands that wait.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/device.h"

struct fixed_params {
	uint64_t capacity;
	uint64_t depth;
	uint64_t channels;
	uint64_t latency;
	uint64_t rate;
};

struct fixed {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct fixed_params p;
	uint64_t busy;
	struct ios_sim_command_list waiting;
};

static const struct ios_sim_param params[] = {
	{"capacity", IOS_SIM_UNIT_BYTES, 512, UINT64_C(1) << 60, UINT64_C(1) << 40,
	 offsetof(struct fixed_params, capacity), "size of the device"},
	{"depth", IOS_SIM_UNIT_NONE, 1, 1 << 20, 32, offsetof(struct fixed_params, depth),
	 "commands it takes at once"},
	{"channels", IOS_SIM_UNIT_NONE, 1, 1 << 20, 1, offsetof(struct fixed_params, channels),
	 "commands it serves at once"},
	{"latency", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, NSEC_PER_MSEC,
	 offsetof(struct fixed_params, latency), "time per command"},
	{"rate", IOS_SIM_UNIT_RATE, 0, UINT64_C(1) << 50, 0, offsetof(struct fixed_params, rate),
	 "transfer rate per channel on top; 0 = no time"},
	{0},
};

static int fixed_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
			struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			struct iosched_sim_error *why)
{
	const struct fixed_params *p = plan->values;
	struct fixed *f = calloc(1, sizeof(*f));

	(void)why;
	if (f == NULL)
		return -ENOMEM;
	f->p = *p;
	f->device = (struct ios_sim_device){
		.model = &ios_sim_fixed_model,
		.engine = engine,
		.ledger = ledger,
		.capacity = p->capacity,
		.depth = (uint32_t)p->depth,
		.parallel = p->channels > 1 ? IOSCHED_PARALLEL_YES : IOSCHED_PARALLEL_NO,
	};
	*out = &f->device;
	return 0;
}

static void fixed_destroy(struct ios_sim_device *d)
{
	free(d);
}

static void serve(struct fixed *f, struct ios_sim_command *cmd)
{
	uint64_t transfer =
		f->p.rate == 0 ? 0 : ios_sim_muldiv(cmd->length, NSEC_PER_SEC, f->p.rate);

	f->busy++;
	f->device.stats.media_ops++;
	f->device.stats.transfer_ns += transfer;
	ios_sim_device_book(&f->device, cmd, f->p.latency + transfer);
	ios_sim_schedule(f->device.engine, &cmd->event,
			 ios_sim_add(f->device.engine->now, f->p.latency + transfer));
}

static void finish(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct fixed *f = (struct fixed *)cmd->device;
	struct ios_sim_command *next;

	f->busy--;
	next = ios_sim_list_take(&f->waiting);
	if (next != NULL)
		serve(f, next);
	ios_sim_device_done(&f->device, cmd, 0);
}

static int fixed_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct fixed *f = (struct fixed *)d;

	if (cmd->op == IOSCHED_FLUSH)
		d->stats.flushes++;
	ios_sim_event_init(&cmd->event, finish, cmd);
	if (f->busy < f->p.channels)
		serve(f, cmd);
	else
		ios_sim_list_append(&f->waiting, cmd);
	return 0;
}

const struct ios_sim_model ios_sim_fixed_model = {
	.name = "fixed",
	.summary = "a constant time per command on each of n channels",
	.params = params,
	.params_size = sizeof(struct fixed_params),
	.create = fixed_create,
	.destroy = fixed_destroy,
	.submit = fixed_submit,
};
