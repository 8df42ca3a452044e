/* SPDX-License-Identifier: MIT */
/*
 * flush: the one request nobody inserted: a FLUSH a policy hands out to empty
 * the device's write cache.
 *
 * It lives in the queue, not in the policy, so a switch may find it in flight.
 * env.flush points to it while it is free. It counts as in flight and against the window, and in
 * no other number; only a requeue makes it queued.
 */
#include "core/probe.h"
#include "core/sched.h"

void ios_flush_init(struct iosched *s)
{
	s->flush.op = IOSCHED_FLUSH;
	s->flush.flags = IOSCHED_RQ_INTERNAL;
	s->env.flush = s->params.can_flush ? &s->flush : NULL;
}

/* From the policy, or from the bypass after a requeue. */
void ios_flush_issue(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq = &s->flush;

	if (rq->internal.state == IOS_RQ_BYPASS) {
		s->queued--;
	} else {
		rq->inserted = now;
		rq->internal.epoch = s->epoch;
		rq->internal.unmergeable = 1;
		s->env.flush = NULL;
		s->full |= IOS_FULL_FLUSH;
		s->stats.internal_flushes++;
	}
	rq->dispatched = now;
	rq->internal.state = IOS_RQ_ISSUED;
	s->env.inflight++;
	s->hold = IOSCHED_HOLD_NONE;
	IOS_PROBE(dispatch, s, rq);
	ios_event(s, IOSCHED_EVENT_DISPATCH, rq, NULL);
}

void ios_flush_end(struct iosched *s)
{
	s->flush.internal.state = IOS_RQ_FREE;
	s->full &= ~(uint32_t)IOS_FULL_FLUSH;
	s->env.flush = &s->flush;
}

void ios_flush_complete(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq = &s->flush;

	IOS_PROBE(complete, s, rq);
	if (s->ops->complete != NULL && rq->internal.epoch == s->epoch)
		s->ops->complete(s->self, rq, now);
	ios_event(s, IOSCHED_EVENT_COMPLETE, rq, NULL);
	ios_flush_end(s);
	ios_settle(s);
}
