/* SPDX-License-Identifier: MIT */
/*
 * From a finished host to the result users see.
 */
#ifndef IOS_SIM_RESULT_H
#define IOS_SIM_RESULT_H

#include "sim/host.h"
#include "sim/load.h"

/* Takes the host's meter over. Returns 0 or -ENOMEM, and then the host's meter is gone too. */
int ios_sim_result_make(struct iosched_sim_result **out, struct ios_sim_host *h,
			const struct ios_sim_replay_counts *counts);

/* Append the score of a program, one of @count. Returns 0 or -ENOMEM. */
int ios_sim_result_add_score(struct iosched_sim_result *r,
			     const struct iosched_sim_program_result *score, unsigned count);

#endif
