/* SPDX-License-Identifier: MIT */
/*
 * holds: where the device's time went, and for each reason how much of it the policy held
 * back requests that were queued.
 *
 * State: the queue as its events tell it (which requests wait, how many are with the device),
 * whether a hold is in force, and the last rule that named an end of a wait.
 *
 * Rule: a hold lasts from the event that says so to the next dispatch, or until nothing is
 * queued. Its time is "idle" while nothing is in flight, "busy" while something is.
 */
#ifndef WORKBENCH_HOLDS_H
#define WORKBENCH_HOLDS_H

#include <iosched/iosched.h>

/* Reasons told apart; the policies together know about twenty. The last takes what is over. */
#define WB_MAX_REASONS 64

struct wb_reason {
	enum iosched_hold hold;
	const char *rule; /* what the policy said, or "" */
	uint64_t times;
	uint64_t idle_ns, busy_ns, longest_ns;
	uint64_t awaited; /* of `times`: waits for a context */
	uint64_t paid;	  /* of those: its request was the next one dispatched */
};

struct wb_holds {
	struct wb_reason reasons[WB_MAX_REASONS];
	unsigned reason_count;
	uint64_t busy_ns, held_ns, empty_ns;
	iosched_time now;

	uint64_t queued;
	uint32_t inflight;
	unsigned char *waits; /* by request number: is it counted in `queued`? */
	uint64_t waits_room;
	bool failed; /* out of memory: counts are wrong */

	bool holding;
	unsigned reason;
	iosched_time since, until;
	uint64_t context; /* whom the hold waits for, or 0 */

	const char
		*rule; /* last rule told, NULL once a dispatch followed it and its wait is over */
	uint64_t rule_context;
	iosched_time rule_at, rule_until;
};

/* Take one event in. True: it is news, that is, no hold said again. */
bool wb_holds_event(struct wb_holds *h, const struct iosched_event *e);
/* Is it queued by itself, as far as the events so far tell? */
bool wb_holds_waits(const struct wb_holds *h, const struct iosched_request *rq);
/* The run is over. */
void wb_holds_end(struct wb_holds *h, iosched_time end);
void wb_holds_fini(struct wb_holds *h);

const char *wb_hold_text(enum iosched_hold hold);
#define WB_REASON_SIZE 160
/* "idling: the next request of this queue is awaited" */
const char *wb_reason_text(char out[WB_REASON_SIZE], const struct wb_reason *r);

#endif
