/* SPDX-License-Identifier: MIT */
/*
 * fault: a device that fails. It passes commands on to a device and then, by chance, by place
 * or by time, delays or spoils the outcome:
 *
 *   chance   a command fails with -EIO after `error_time` of retries
 *   timeout  a command is never served; it fails with -ETIMEDOUT after `timeout`
 *   place    in the slow region a command takes `slow_time` longer; in the bad one it fails
 *            like one by chance
 *   time     from `dead_after` on every command fails with -ENODEV after `dead_time`; those
 *            inside then fail as they come out
 *
 * While it retries or is slow it takes no further command into the device behind (those
 * that are inside already go on). Retries and slowness are work of the medium and booked
 * to the owner of the bytes; a timeout is booked to nobody.
 *
 * State: commands that wait for the end of a retry; how many retries are under way.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/wrapper.h"

struct fault_params {
	uint64_t read_errors;
	uint64_t write_errors;
	uint64_t error_time;
	uint64_t timeouts;
	uint64_t timeout;
	uint64_t slow_offset;
	uint64_t slow_length;
	uint64_t slow_time;
	uint64_t bad_offset;
	uint64_t bad_length;
	uint64_t dead_after;
	uint64_t dead_time;
	uint64_t seed;
};

struct fault {
	struct ios_sim_wrapper wrapper; /* first: the device lies in it */
	struct fault_params p;
	struct ios_sim_command_list waiting;
	unsigned retrying;
};

#define MEMBER(name) offsetof(struct fault_params, name)
#define PER_MILLION 1000000

/* Initial values: all is well. Where faults are asked for, a second of retries is what drives
 * without a limit on error recovery take at least, and 30 s is the time-out of Linux's SCSI layer.
 */
static const struct ios_sim_param params[] = {
	{"read_errors", IOS_SIM_UNIT_NONE, 0, PER_MILLION, 0, MEMBER(read_errors),
	 "reads in a million that fail"},
	{"write_errors", IOS_SIM_UNIT_NONE, 0, PER_MILLION, 0, MEMBER(write_errors),
	 "writes in a million that fail, FLUSH included"},
	{"error_time", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, NSEC_PER_SEC, MEMBER(error_time),
	 "retries before a command fails"},
	{"timeouts", IOS_SIM_UNIT_NONE, 0, PER_MILLION, 0, MEMBER(timeouts),
	 "commands in a million that are never served"},
	{"timeout", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 30 * NSEC_PER_SEC, MEMBER(timeout),
	 "when the host gives those up"},
	{"slow_offset", IOS_SIM_UNIT_BYTES, 0, UINT64_MAX, 0, MEMBER(slow_offset),
	 "where the slow region begins"},
	{"slow_length", IOS_SIM_UNIT_BYTES, 0, UINT64_MAX, 0, MEMBER(slow_length),
	 "how long it is; 0 = there is none"},
	{"slow_time", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 100 * NSEC_PER_MSEC,
	 MEMBER(slow_time), "what a command that touches it takes longer"},
	{"bad_offset", IOS_SIM_UNIT_BYTES, 0, UINT64_MAX, 0, MEMBER(bad_offset),
	 "where the bad region begins"},
	{"bad_length", IOS_SIM_UNIT_BYTES, 0, UINT64_MAX, 0, MEMBER(bad_length),
	 "how long it is; 0 = there is none"},
	{"dead_after", IOS_SIM_UNIT_NS, 0, UINT64_MAX, UINT64_MAX, MEMBER(dead_after),
	 "from then on the device is dead"},
	/* Not 0: time would stand still for a load that answers an error at once. */
	{"dead_time", IOS_SIM_UNIT_NS, 1, 3600 * NSEC_PER_SEC, 100000, MEMBER(dead_time),
	 "what a command then takes to fail"},
	{"seed", IOS_SIM_UNIT_NONE, 0, UINT64_MAX, 1, MEMBER(seed), "of its chances"},
	{0},
};

static bool dead(const struct fault *f)
{
	return f->wrapper.device.engine->now >= f->p.dead_after;
}

/* Nothing is drawn where nothing can happen. */
static bool chance(struct fault *f, uint64_t per_million)
{
	return per_million != 0 && ios_sim_rng_below(&f->wrapper.rng, PER_MILLION) < per_million;
}

static bool touches(const struct ios_sim_command *cmd, uint64_t offset, uint64_t length)
{
	if (length == 0 || cmd->length == 0 || cmd->op == IOSCHED_DISCARD)
		return false;
	return cmd->offset < ios_sim_add(offset, length) && cmd->offset + cmd->length > offset;
}

static bool is_spoilt(struct fault *f, const struct ios_sim_command *cmd)
{
	if (touches(cmd, f->p.bad_offset, f->p.bad_length))
		return true;
	return chance(f, cmd->op == IOSCHED_READ ? f->p.read_errors : f->p.write_errors);
}

static void pass_on(struct fault *f, struct ios_sim_command *cmd);

static void retries_end(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct fault *f = (struct fault *)cmd->device;

	f->retrying--;
	if (dead(f))
		cmd->mark = ENODEV;
	ios_sim_wrapper_end(cmd);
	while (f->retrying == 0 && f->waiting.head != NULL)
		pass_on(f, ios_sim_list_take(&f->waiting));
}

static void retry(struct fault *f, struct ios_sim_command *cmd, int error, uint64_t ns)
{
	f->retrying++;
	ios_sim_device_book(&f->wrapper.device, cmd, ns);
	ios_sim_wrapper_later(&f->wrapper, cmd, error,
			      ios_sim_add(f->wrapper.device.engine->now, ns), retries_end);
}

static void served(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct fault *f = (struct fault *)cmd->device;
	uint64_t slow = touches(cmd, f->p.slow_offset, f->p.slow_length) ? f->p.slow_time : 0;

	ios_sim_part_give(&f->wrapper.parts, part);
	if (dead(f))
		error = -ENODEV;
	if (error == 0 && is_spoilt(f, cmd))
		retry(f, cmd, -EIO, f->p.error_time);
	else if (error == 0 && slow != 0)
		retry(f, cmd, 0, slow);
	else
		ios_sim_device_done(&f->wrapper.device, cmd, error);
}

static void pass_on(struct fault *f, struct ios_sim_command *cmd)
{
	if (dead(f)) {
		ios_sim_wrapper_later(&f->wrapper, cmd, -ENODEV,
				      f->wrapper.device.engine->now + f->p.dead_time,
				      ios_sim_wrapper_end);
		return;
	}
	ios_sim_wrapper_pass(&f->wrapper, cmd, served);
}

static int fault_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct fault *f = (struct fault *)d;

	d->stats.flushes += cmd->op == IOSCHED_FLUSH;
	if (!dead(f) && chance(f, f->p.timeouts))
		ios_sim_wrapper_later(&f->wrapper, cmd, -ETIMEDOUT,
				      ios_sim_add(d->engine->now, f->p.timeout),
				      ios_sim_wrapper_end);
	else if (f->retrying > 0 && !dead(f))
		ios_sim_list_append(&f->waiting, cmd);
	else
		pass_on(f, cmd);
	return 0;
}

static bool fault_look(struct ios_sim_device *d, uint64_t offset, uint64_t length,
		       struct ios_sim_look *look)
{
	struct ios_sim_device *inner = ((struct fault *)d)->wrapper.member.device;

	return inner->model->look != NULL && inner->model->look(inner, offset, length, look);
}

static void fault_destroy(struct ios_sim_device *d)
{
	struct fault *f = (struct fault *)d;

	ios_sim_wrapper_fini(&f->wrapper);
	free(f);
}

static int fault_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
			struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			struct iosched_sim_error *why)
{
	struct fault *f = calloc(1, sizeof(*f));
	int err;

	if (f == NULL)
		return -ENOMEM;
	f->p = *(const struct fault_params *)plan->values;
	err = ios_sim_wrapper_init(&f->wrapper, &ios_sim_fault_model, plan, f->p.seed, engine,
				   ledger, why);
	if (err != 0) {
		free(f);
		return err;
	}
	*out = &f->wrapper.device;
	return 0;
}

const struct ios_sim_model ios_sim_fault_model = {
	.name = "fault",
	.summary = "a device that fails: errors, time-outs, a slow region, death",
	.member = "hdd",
	.params = params,
	.params_size = sizeof(struct fault_params),
	.create = fault_create,
	.destroy = fault_destroy,
	.submit = fault_submit,
	.look = fault_look,
	.add_stats = ios_sim_wrapper_add_stats,
};
