/* SPDX-License-Identifier: MIT */
#include "sim/plug.h"

#include "sim/arith.h"

/* The kernel's default values: 4 requests, 3 ms, in ticks of 1 ms. */
#define UNPLUG_REQUESTS 4
#define UNPLUG_TICKS 3

void ios_sim_plug_pull(struct ios_sim_plug *p, struct ios_sim_engine *e)
{
	if (!p->used)
		return;
	p->plugged = false;
	p->run = true;
	ios_sim_cancel(e, &p->timer);
}

bool ios_sim_plug_inserted(struct ios_sim_plug *p, struct ios_sim_engine *e, bool was_empty,
			   uint64_t queued)
{
	bool kicked = p->kicked;

	if (!p->used)
		return false;
	p->kicked = false;
	if (was_empty && !p->plugged) {
		p->plugged = true;
		ios_sim_schedule(e, &p->timer,
				 (e->now / NSEC_PER_MSEC + UNPLUG_TICKS) * NSEC_PER_MSEC);
	}
	return kicked || (p->plugged && queued >= UNPLUG_REQUESTS);
}
