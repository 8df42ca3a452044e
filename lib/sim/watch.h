/* SPDX-License-Identifier: MIT */
/*
 * The watch: what must be true of a queue at every step, checked from outside.
 *
 *  - conservation: a request inserted is dispatched once (or goes with one that is, or is
 *    given back), and completed once; a merged request's bytes are all issued
 *  - liveness: while requests are queued and dispatch returns none, a completion or a finite
 *    wake-up is to come
 *  - a wake-up that was honoured does not ask for the same moment again
 *  - the hold reason fits what can be seen from outside
 *
 * The first violation is written down and stops the engine with -EPROTO.
 */
#ifndef IOS_SIM_WATCH_H
#define IOS_SIM_WATCH_H

#include <iosched/sim.h>

#include "sim/engine.h"

/* Where a request is, as the host knows it. */
enum ios_sim_place {
	IOS_SIM_FREE,
	IOS_SIM_QUEUED, /* inserted; possibly merged into another */
	IOS_SIM_ISSUED, /* with the device, alone or in a chain */
};

struct ios_sim_watch {
	struct ios_sim_engine *engine;
	struct iosched_sim_error violation; /* empty: none */
};

__attribute__((format(printf, 2, 3))) void ios_sim_watch_fail(struct ios_sim_watch *w,
							      const char *format, ...);

static inline bool ios_sim_watch_failed(const struct ios_sim_watch *w)
{
	return w->violation.text[0] != '\0';
}

/* Request @number goes @from one place to another; @at is where it is. */
static inline bool ios_sim_watch_place(struct ios_sim_watch *w, uint64_t number, uint8_t at,
				       enum ios_sim_place from, const char *step)
{
	static const char *const names[] = {"with its owner", "queued", "with the device"};

	if (at == from)
		return true;
	ios_sim_watch_fail(w, "request %llu was %s while %s", (unsigned long long)number, step,
			   names[at]);
	return false;
}

/* Dispatch of @queue returned none at a moment when the device would have taken one of at
 * most @window. */
void ios_sim_watch_hold(struct ios_sim_watch *w, const struct iosched *queue, uint32_t window);

/* @queue was given the wake-up it asked for, and dispatched. */
void ios_sim_watch_woken(struct ios_sim_watch *w, const struct iosched *queue);

/* @rq, just dispatched, and what it absorbed: do they cover its span, each byte once? */
bool ios_sim_watch_span(struct ios_sim_watch *w, const struct iosched_request *rq, uint64_t number);

#endif
