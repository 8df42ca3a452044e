/* SPDX-License-Identifier: MIT */
#include "holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/sim.h>

const char *wb_hold_text(enum iosched_hold hold)
{
	switch (hold) {
	case IOSCHED_HOLD_IDLING:
		return "idling";
	case IOSCHED_HOLD_THROTTLED:
		return "throttled";
	case IOSCHED_HOLD_INFLIGHT:
		return "waiting for requests in flight";
	case IOSCHED_HOLD_WINDOW:
		return "the device is full";
	case IOSCHED_HOLD_EMPTY:
		return "nothing is queued";
	case IOSCHED_HOLD_NONE:
		break;
	}
	return "no reason given";
}

const char *wb_reason_text(char out[WB_REASON_SIZE], const struct wb_reason *r)
{
	const char *hold = wb_hold_text(r->hold);

	if (r->rule[0] == '\0')
		return hold;
	if (strncmp(r->rule, hold, strlen(hold)) == 0)
		return r->rule; /* it says so itself */
	snprintf(out, WB_REASON_SIZE, "%s: %s", hold, r->rule);
	return out;
}

/* --- The clock --- */

static void spend(struct wb_holds *h, uint64_t ns)
{
	struct wb_reason *r = &h->reasons[h->reason];

	if (h->inflight > 0)
		h->busy_ns += ns;
	else if (h->queued > 0)
		h->held_ns += ns;
	else
		h->empty_ns += ns;
	if (h->holding && h->inflight > 0)
		r->busy_ns += ns;
	else if (h->holding)
		r->idle_ns += ns;
}

static void advance(struct wb_holds *h, iosched_time now)
{
	if (now > h->now) {
		spend(h, now - h->now);
		h->now = now;
	}
}

/* --- Which requests wait --- */

static bool make_room(struct wb_holds *h, uint64_t number)
{
	uint64_t room = h->waits_room == 0 ? 4096 : h->waits_room * 2;
	unsigned char *waits;

	if (number < h->waits_room)
		return true;
	if (room <= number)
		room = number + 1;
	waits = realloc(h->waits, room);
	if (waits == NULL) {
		h->failed = true;
		return false;
	}
	memset(waits + h->waits_room, 0, room - h->waits_room);
	h->waits = waits;
	h->waits_room = room;
	return true;
}

/* A request that never was queued by itself, but merged on arrival, does not leave either. */
static void set_waits(struct wb_holds *h, const struct iosched_request *rq, bool waits)
{
	uint64_t number = iosched_sim_request_number(rq);

	if (number == 0 || !make_room(h, number) || h->waits[number] == waits)
		return;
	h->waits[number] = waits;
	h->queued += waits ? 1 : UINT64_MAX;
}

bool wb_holds_waits(const struct wb_holds *h, const struct iosched_request *rq)
{
	uint64_t number = iosched_sim_request_number(rq);

	return number < h->waits_room && h->waits[number];
}

/* --- Holds --- */

static unsigned reason_of(struct wb_holds *h, enum iosched_hold hold, const char *rule)
{
	unsigned i;

	for (i = 0; i < h->reason_count; i++)
		if (h->reasons[i].hold == hold && strcmp(h->reasons[i].rule, rule) == 0)
			return i;
	if (i == WB_MAX_REASONS)
		return i - 1;
	h->reasons[i] = (struct wb_reason){.hold = hold, .rule = rule};
	return h->reason_count++;
}

static void finish(struct wb_holds *h, const struct iosched_request *next)
{
	struct wb_reason *r = &h->reasons[h->reason];

	if (!h->holding)
		return;
	if (h->now - h->since > r->longest_ns)
		r->longest_ns = h->now - h->since;
	if (h->context != 0) {
		r->awaited++;
		r->paid += next != NULL && next->context == h->context;
	}
	h->holding = false;
}

/* The rule that explains a hold that begins now: one told at this moment, or one whose wait
 * still lasts. */
static bool rule_explains(const struct wb_holds *h)
{
	return h->rule != NULL && (h->rule_at == h->now ||
				   (h->rule_until != IOSCHED_NEVER && h->rule_until >= h->now));
}

static bool begin_hold(struct wb_holds *h, const struct iosched_event *e)
{
	bool told = rule_explains(h);
	unsigned reason = reason_of(h, e->hold, told ? h->rule : "");

	if (h->holding && h->reason == reason && h->until == e->until)
		return false;
	finish(h, NULL);
	h->holding = true;
	h->reason = reason;
	h->since = h->now;
	h->until = e->until;
	h->context = told && e->hold == IOSCHED_HOLD_IDLING ? h->rule_context : 0;
	h->reasons[reason].times++;
	return true;
}

static void note_rule(struct wb_holds *h, const struct iosched_event *e)
{
	h->rule = e->rule;
	h->rule_context = e->context;
	h->rule_at = h->now;
	h->rule_until = e->until;
}

static void note_dispatch(struct wb_holds *h, const struct iosched_event *e)
{
	finish(h, e->rq);
	set_waits(h, e->rq, false);
	h->inflight++;
	h->rule = NULL;
}

static bool take(struct wb_holds *h, const struct iosched_event *e)
{
	switch (e->type) {
	case IOSCHED_EVENT_INSERT:
		set_waits(h, e->rq, true);
		break;
	case IOSCHED_EVENT_COALESCE:
	case IOSCHED_EVENT_CANCEL:
		set_waits(h, e->rq, false);
		break;
	case IOSCHED_EVENT_REQUEUE:
		set_waits(h, e->rq, true);
		h->inflight--;
		break;
	case IOSCHED_EVENT_DISPATCH:
		note_dispatch(h, e);
		break;
	case IOSCHED_EVENT_COMPLETE:
		h->inflight--;
		break;
	case IOSCHED_EVENT_HOLD:
		return begin_hold(h, e);
	case IOSCHED_EVENT_RULE:
		note_rule(h, e);
		break;
	case IOSCHED_EVENT_BACK_MERGE:
	case IOSCHED_EVENT_FRONT_MERGE:
	case IOSCHED_EVENT_SWITCH:
		break;
	}
	return true;
}

bool wb_holds_event(struct wb_holds *h, const struct iosched_event *e)
{
	bool news;

	advance(h, e->now);
	news = take(h, e);
	if (h->queued == 0)
		finish(h, NULL);
	return news;
}

void wb_holds_end(struct wb_holds *h, iosched_time end)
{
	advance(h, end);
	finish(h, NULL);
}

void wb_holds_fini(struct wb_holds *h)
{
	free(h->waits);
	h->waits = NULL;
}
