/* SPDX-License-Identifier: MIT */
/*
 * net: a network in front of a device. A command travels there, is served, and its answer travels
 * back. Each way takes `latency` and a random delay; bytes go one command after the
 * other at `rate`: those of a write on the way there, those of a read on the way back.
 *
 * With `ordered`, as over one connection, nothing overtakes: what is delayed delays what
 * is behind it. Time on the way is no device time and is booked to nobody.
 *
 * State: per direction, when the wire is free and when the last one arrives.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/wrapper.h"

struct net_params {
	uint64_t latency;
	uint64_t jitter;
	uint64_t rate;
	uint64_t ordered;
	uint64_t depth;
	uint64_t seed;
};

struct way {
	iosched_time wire_free;
	iosched_time last_arrival;
};

struct net {
	struct ios_sim_wrapper wrapper; /* first: the device lies in it */
	struct net_params p;
	struct way there;
	struct way back;
};

#define MEMBER(name) offsetof(struct net_params, name)

/* Initial values: gigabit Ethernet through one switch. */
static const struct ios_sim_param params[] = {
	{"latency", IOS_SIM_UNIT_NS, 0, 60 * NSEC_PER_SEC, 60000, MEMBER(latency),
	 "time each way, at least"},
	{"jitter", IOS_SIM_UNIT_NS, 0, 60 * NSEC_PER_SEC, 15000, MEMBER(jitter),
	 "mean of an exponential delay on top"},
	{"rate", IOS_SIM_UNIT_RATE, 1000, UINT64_C(1000000000000), 117500000, MEMBER(rate),
	 "rate of the wire, each way"},
	{"ordered", IOS_SIM_UNIT_BOOL, 0, 1, 1, MEMBER(ordered), "nothing overtakes on the way"},
	{"depth", IOS_SIM_UNIT_NONE, 0, 65536, 0, MEMBER(depth),
	 "commands under way at once; 0 = as many as the device takes"},
	{"seed", IOS_SIM_UNIT_NONE, 0, UINT64_MAX, 1, MEMBER(seed), "of its random delays"},
	{0},
};

static iosched_time arrival(struct net *n, struct way *w, uint64_t bytes)
{
	iosched_time now = n->wrapper.device.engine->now;
	iosched_time when;

	w->wire_free = (w->wire_free > now ? w->wire_free : now) +
		       ios_sim_muldiv(bytes, NSEC_PER_SEC, n->p.rate);
	when = w->wire_free + n->p.latency + ios_sim_rng_exponential(&n->wrapper.rng, n->p.jitter);
	if (n->p.ordered && when < w->last_arrival)
		when = w->last_arrival;
	w->last_arrival = when;
	return when;
}

static void served(struct ios_sim_part *part, int error)
{
	struct ios_sim_command *cmd = part->owner;
	struct net *n = (struct net *)cmd->device;
	uint64_t bytes = cmd->op == IOSCHED_READ && error == 0 ? cmd->length : 0;

	ios_sim_part_give(&n->wrapper.parts, part);
	ios_sim_wrapper_later(&n->wrapper, cmd, error, arrival(n, &n->back, bytes),
			      ios_sim_wrapper_end);
}

static void command_arrives(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_wrapper_pass((struct ios_sim_wrapper *)cmd->device, cmd, served);
}

static int net_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct net *n = (struct net *)d;
	uint64_t bytes = cmd->op == IOSCHED_WRITE ? cmd->length : 0;

	d->stats.flushes += cmd->op == IOSCHED_FLUSH;
	ios_sim_wrapper_later(&n->wrapper, cmd, 0, arrival(n, &n->there, bytes), command_arrives);
	return 0;
}

static void net_destroy(struct ios_sim_device *d)
{
	struct net *n = (struct net *)d;

	ios_sim_wrapper_fini(&n->wrapper);
	free(n);
}

static int net_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		      struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		      struct iosched_sim_error *why)
{
	struct net *n = calloc(1, sizeof(*n));
	int err;

	if (n == NULL)
		return -ENOMEM;
	n->p = *(const struct net_params *)plan->values;
	err = ios_sim_wrapper_init(&n->wrapper, &ios_sim_net_model, plan, n->p.seed, engine, ledger,
				   why);
	if (err != 0) {
		free(n);
		return err;
	}
	n->wrapper.device.instant = false;
	if (n->p.depth != 0)
		n->wrapper.device.depth = (uint32_t)n->p.depth;
	*out = &n->wrapper.device;
	return 0;
}

const struct ios_sim_model ios_sim_net_model = {
	.name = "net",
	.summary = "a network in front of a device: latency, jitter, a wire",
	.member = "hdd",
	.params = params,
	.params_size = sizeof(struct net_params),
	.create = net_create,
	.destroy = net_destroy,
	.submit = net_submit,
	.add_stats = ios_sim_wrapper_add_stats,
};
