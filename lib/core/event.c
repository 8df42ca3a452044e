/* SPDX-License-Identifier: MIT */
/*
 * event: what the host is told while it calls us: steps of requests, rules
 * of the policy that acted, kicks and the timer.
 */
#include <stdio.h>
#include <stdlib.h>
#include "core/sched.h"

void ios_event_slow(struct iosched *s, enum iosched_event_type type,
		    const struct iosched_request *rq, const struct iosched_request *other)
{
	struct iosched_event event = {
		.type = type,
		.hold = s->hold,
		.now = s->now,
		.rq = rq,
		.other = other,
		.rule = type == IOSCHED_EVENT_SWITCH ? s->ops->name : NULL,
		.until = type == IOSCHED_EVENT_HOLD ? ios_wakeup(s) : IOSCHED_NEVER,
	};

	s->params.event(s->params.user, &event);
}

static void check(struct iosched *s)
{
	const char *wrong = ios_audit(s);

	if (wrong == NULL)
		return;
	fprintf(stderr, "libiosched: audit of %s failed, it is not true that: %s\n", s->ops->name,
		wrong);
	abort();
}

static __attribute__((noinline)) void kick_host(struct iosched *s, uint32_t kick)
{
	if (kick & IOSCHED_KICK_NOW)
		s->params.kick(s->params.user, IOSCHED_KICK_NOW);
	if (kick & IOSCHED_KICK_DEFERRED)
		s->params.kick(s->params.user, IOSCHED_KICK_DEFERRED);
}

void ios_settle_slow(struct iosched *s)
{
	uint32_t kick = s->env.kick;

	s->env.kick = 0;
	s->seen_timer = s->env.timer;
	s->pause_moved = false;
	s->stats.kicks += kick != 0;
	if (s->params.audit)
		check(s);
	if (s->params.kick != NULL)
		kick_host(s, kick);
	if (ios_wakeup(s) == s->armed)
		return;
	s->armed = ios_wakeup(s);
	if (s->params.arm_timer != NULL)
		s->params.arm_timer(s->params.user, s->armed);
}
