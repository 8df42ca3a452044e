/* SPDX-License-Identifier: MIT */
/*
 * null: every command is done at the instant it comes. What is left is the cost of the
 * scheduler and of the simulator themselves.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/device.h"

struct null_params {
	uint64_t capacity;
	uint64_t depth;
};

static const struct ios_sim_param params[] = {
	{"capacity", IOS_SIM_UNIT_BYTES, 512, UINT64_C(1) << 60, UINT64_C(1) << 40,
	 offsetof(struct null_params, capacity), "size of the device"},
	{"depth", IOS_SIM_UNIT_NONE, 1, 1 << 20, 64, offsetof(struct null_params, depth),
	 "commands it takes at once"},
	{0},
};

static int null_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		       struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		       struct iosched_sim_error *why)
{
	const struct null_params *p = plan->values;
	struct ios_sim_device *d = calloc(1, sizeof(*d));

	(void)why;
	if (d == NULL)
		return -ENOMEM;
	*d = (struct ios_sim_device){
		.model = &ios_sim_null_model,
		.engine = engine,
		.ledger = ledger,
		.capacity = p->capacity,
		.depth = (uint32_t)p->depth,
		.instant = true,
		.parallel = IOSCHED_PARALLEL_YES,
	};
	*out = d;
	return 0;
}

static void null_destroy(struct ios_sim_device *d)
{
	free(d);
}

static void finish(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, 0);
}

static int null_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	if (cmd->op == IOSCHED_FLUSH)
		d->stats.flushes++;
	ios_sim_event_init(&cmd->event, finish, cmd);
	ios_sim_schedule(d->engine, &cmd->event, d->engine->now);
	return 0;
}

const struct ios_sim_model ios_sim_null_model = {
	.name = "null",
	.summary = "takes no time",
	.params = params,
	.params_size = sizeof(struct null_params),
	.create = null_create,
	.destroy = null_destroy,
	.submit = null_submit,
};
