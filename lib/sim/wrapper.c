/* SPDX-License-Identifier: MIT */
#include "sim/wrapper.h"

int ios_sim_wrapper_init(struct ios_sim_wrapper *w, const struct ios_sim_model *model,
			 const struct ios_sim_plan *plan, uint64_t seed,
			 struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			 struct iosched_sim_error *why)
{
	int err;

	w->parts.engine = engine;
	ios_sim_rng_init(&w->rng, seed, engine->devices++);
	err = ios_sim_member_init(&w->member, plan->member, engine, ledger, why);
	if (err != 0)
		return err;
	w->device = *w->member.device; /* it looks like the device behind it */
	w->device.model = model;
	w->device.stats = (struct iosched_sim_device_stats){0};
	return 0;
}

void ios_sim_wrapper_fini(struct ios_sim_wrapper *w)
{
	ios_sim_member_fini(&w->member);
	ios_sim_parts_fini(&w->parts);
}

void ios_sim_wrapper_pass(struct ios_sim_wrapper *w, struct ios_sim_command *cmd,
			  void (*done)(struct ios_sim_part *part, int error))
{
	struct ios_sim_part *part = ios_sim_part_take(&w->parts);

	if (part == NULL)
		return;
	part->cmd.offset = cmd->offset;
	part->cmd.length = cmd->length;
	part->cmd.op = cmd->op;
	part->cmd.fua = cmd->fua;
	part->cmd.pieces = cmd->pieces;
	part->done = done;
	part->owner = cmd;
	ios_sim_member_submit(&w->member, part);
}

void ios_sim_wrapper_later(struct ios_sim_wrapper *w, struct ios_sim_command *cmd, int error,
			   iosched_time when, void (*then)(void *cmd))
{
	cmd->mark = (uint64_t)-error;
	ios_sim_event_init(&cmd->event, then, cmd);
	ios_sim_schedule(w->device.engine, &cmd->event, when);
}

void ios_sim_wrapper_end(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, -(int)cmd->mark);
}

void ios_sim_wrapper_add_stats(const struct ios_sim_device *d, struct iosched_sim_device_stats *sum)
{
	ios_sim_member_add_stats(&((const struct ios_sim_wrapper *)d)->member, sum);
}
