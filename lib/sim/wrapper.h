/* SPDX-License-Identifier: MIT */
/*
 * Wrappers: devices that stand before another device and look like it.
 *
 * A wrapper passes the host's commands on, each as one part, and lets them end when and how it
 * likes. While a command is with the wrapper its event and its mark are the wrapper's: the mark
 * keeps the error it will end with.
 */
#ifndef IOS_SIM_WRAPPER_H
#define IOS_SIM_WRAPPER_H

#include "sim/member.h"
#include "sim/rng.h"

/* The first member of each. */
struct ios_sim_wrapper {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct ios_sim_member member;
	struct ios_sim_parts parts;
	struct ios_sim_rng rng;
};

/* The device behind it, and all it is seen by but `model`. Returns what creating it returns. */
int ios_sim_wrapper_init(struct ios_sim_wrapper *w, const struct ios_sim_model *model,
			 const struct ios_sim_plan *plan, uint64_t seed,
			 struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			 struct iosched_sim_error *why);
void ios_sim_wrapper_fini(struct ios_sim_wrapper *w);

/* Give @cmd to the device behind. @done must give the part back; its owner is the command. */
void ios_sim_wrapper_pass(struct ios_sim_wrapper *w, struct ios_sim_command *cmd,
			  void (*done)(struct ios_sim_part *part, int error));

/* @then is called with @cmd at @when; the mark keeps @error. */
void ios_sim_wrapper_later(struct ios_sim_wrapper *w, struct ios_sim_command *cmd, int error,
			   iosched_time when, void (*then)(void *cmd));
/* @cmd ends now, with the error in its mark. */
void ios_sim_wrapper_end(void *cmd);

void ios_sim_wrapper_add_stats(const struct ios_sim_device *d,
			       struct iosched_sim_device_stats *sum);

#endif
