/* SPDX-License-Identifier: MIT */
/*
 * The promises of fair-deadline, checked from outside, on the events of a queue. The names are
 * those of its page.
 *
 *  B1  once a flow is due, dispatch never returns none while there is room, unless the drive
 *      starves a request; and at most ceil((n + 1) / 8) * 10 requests go before it, n being the
 *      flows that may be due. Before an async request that is due, at most 10 * (n + 1), n
 *      the async requests.
 *  B4  the arm is held no longer than the tunables allow, never for nobody, and after six holds
 *      for nothing not again for the same one before it came soon enough once
 *  I8  a FLUSH of the policy's own goes only after async requests, and while sync ones wait
 *  (9) on flash a flow's sync requests go in the order of their arrival
 *
 * A flow is a context's sync or async requests. It is due when it has had requests queued for as
 * long as its deadline, and none of them was sent. Where that is not known from events
 * (a merge may take away the oldest) it is taken to be later. Contexts in groups or under
 * limits have a tenant's promises, not these.
 *
 * Rule: what is broken first is written down; nothing is checked after that.
 */
#ifndef IOS_SIM_PROMISE_H
#define IOS_SIM_PROMISE_H

#include <iosched/iosched.h>

#include "sim/map.h"

#define IOS_SIM_PROMISE_MARKS 1024

struct ios_sim_promised; /* a flow */
struct ios_sim_sent;	 /* when requests that are with the device were sent */

struct ios_sim_promise {
	bool on;     /* the policy is fair-deadline, and nothing is broken */
	bool hidden; /* classes are: a context may have one of its own, or changes it */
	uint8_t rotational;
	char broken[240]; /* a sentence; empty: nothing */

	/* By enum iosched_class, the longest set so far. */
	uint64_t sync_expire[3], async_expire[3];
	uint64_t hold_most, guard_least;

	struct ios_sim_map map;
	struct ios_sim_promised *flows;
	uint32_t room;
	iosched_time floor;  /* no flow is due before */
	uint32_t waiting[2]; /* flows with requests queued: async, sync */
	uint64_t queued[2];  /* requests */
	uint32_t bypass;     /* those that pass the policy by: they go first */
	/* Async requests sent since the last FLUSH of the policy's own, and between that and the
	 * one before. */
	uint64_t async_since, async_before;
	bool ages_unknown; /* how long requests have been with the device */
	bool uncounted;	   /* holds for nothing: some flows have become one */

	struct ios_sim_sent *sent; /* by time */
	uint32_t sent_first, sent_end, sent_room;

	uint64_t dispatches;			/* by the policy's choice */
	uint64_t passed[IOS_SIM_PROMISE_MARKS]; /* how many by each tenth of a second: a ring */
	uint64_t tenth;				/* the current one */
	uint64_t async_most;			/* most that were queued at a time */
};

/* Watch @queue from here on. Nothing is queued yet. */
void ios_sim_promise_init(struct ios_sim_promise *p, const struct iosched *queue,
			  uint8_t rotational);
void ios_sim_promise_fini(struct ios_sim_promise *p);

/* Its tunables may have changed. */
void ios_sim_promise_tuned(struct ios_sim_promise *p, const struct iosched *queue);

/* @context is in a group, or under a limit, or has exited, so that its number means another now. */
void ios_sim_promise_exempt(struct ios_sim_promise *p, uint64_t context);

/* Classes are not what requests say: a context has its own, or queued ones have changed. */
void ios_sim_promise_reclassed(struct ios_sim_promise *p);

/* Every event of the queue. */
void ios_sim_promise_event(struct ios_sim_promise *p, const struct iosched_event *event);

#endif
