/* SPDX-License-Identifier: MIT */
/*
 * The plug of a block layer of Linux 2.6: whether the host may ask the queue.
 *
 * State: plugged, with a timer that ends it; `run`: something happened after which the
 * queue is asked once; `kicked`: the policy wants to be asked within this insert.
 *
 * Rule: inserting into an empty queue plugs it. Inserting into a queue that holds requests
 * does not ask it, plugged or not: somebody else's completion, sleep or timer does.
 * That is what some of the old policies' worst cases are made of.
 *
 * Source: descriptions of plugging in change logs and mails of 2008 and 2009.
 */
#ifndef IOS_SIM_PLUG_H
#define IOS_SIM_PLUG_H

#include "sim/engine.h"

struct ios_sim_plug {
	bool used; /* false: an eager host, the queue is always asked */
	bool plugged;
	bool run;
	bool kicked;
	struct ios_sim_event timer;
	struct ios_sim_event work; /* a deferred kick */
};

/* Pull the plug, if there is one, and let the queue be asked. */
void ios_sim_plug_pull(struct ios_sim_plug *p, struct ios_sim_engine *e);

/* A request has been inserted. True: pull the plug and ask the queue now. */
bool ios_sim_plug_inserted(struct ios_sim_plug *p, struct ios_sim_engine *e, bool was_empty,
			   uint64_t queued);

/* May the queue be asked? Says so once per reason. */
static inline bool ios_sim_plug_lets_run(struct ios_sim_plug *p)
{
	bool run = p->run || !p->used;

	p->run = false;
	return run;
}

#endif
