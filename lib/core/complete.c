/* SPDX-License-Identifier: MIT */
/*
 * complete: an issued request and all it absorbed become the host's again;
 * or the device refused it and it goes back to be issued first.
 */
#include <errno.h>
#include "core/histogram.h"
#include "core/probe.h"
#include "core/sched.h"

static inline void count(struct iosched *s, const struct iosched_request *rq)
{
	s->stats.completed++;
	s->bytes[rq->op & 3] += rq->span_length;
}

static __attribute__((noinline)) void release_chain(struct iosched *s, struct iosched_request *rq)
{
	for (; rq != NULL; rq = rq->internal.next) {
		s->absorbed_completed++;
		ios_context_put(s, rq);
		rq->internal.state = IOS_RQ_FREE;
	}
}

static __attribute__((noinline)) int complete_full(struct iosched *s, struct iosched_request *rq,
						   iosched_time now)
{
	now = ios_tick(s, now);
	s->env.inflight--;
	if (ios_is_internal(rq)) {
		ios_flush_complete(s, now);
		return 0;
	}
	count(s, rq);
	if (s->params.measure) {
		s->latency[IOSCHED_LATENCY_DEVICE][ios_histogram_bucket(now - rq->dispatched)]++;
		s->latency[IOSCHED_LATENCY_TOTAL][ios_histogram_bucket(now - rq->inserted)]++;
	}
	IOS_PROBE(complete, s, rq);
	if (s->ops->complete != NULL && rq->internal.epoch == s->epoch)
		s->ops->complete(s->self, rq, now);
	ios_event(s, IOSCHED_EVENT_COMPLETE, rq, NULL);
	ios_context_put(s, rq);
	rq->internal.state = IOS_RQ_FREE;
	if (rq->merged != NULL)
		release_chain(s, rq->merged);
	ios_settle(s);
	return 0;
}

/* Nobody watches, but the policy, which knows it, hears of it. */
static __attribute__((noinline)) int complete_heard(struct iosched *s, struct iosched_request *rq,
						    iosched_time now)
{
	s->now = now;
	s->env.inflight--;
	count(s, rq);
	IOS_PROBE(complete, s, rq);
	if (s->ops->complete != NULL)
		s->ops->complete(s->self, rq, now);
	ios_context_put(s, rq);
	rq->internal.state = IOS_RQ_FREE;
	if (rq->merged != NULL)
		release_chain(s, rq->merged);
	ios_settle_unwatched(s);
	return 0;
}

int iosched_complete(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	if (__builtin_expect(rq->internal.state != IOS_RQ_ISSUED, 0))
		return -EINVAL;
	if (__builtin_expect(rq->internal.epoch != s->epoch, 0))
		return ios_is_ours(s, rq) ? complete_full(s, rq, now) : -EINVAL;
	if (now < s->now || (s->full != 0 && s->full != IOS_FULL_POLICY))
		return complete_full(s, rq, now);
	if (s->full != 0 || rq->merged != NULL || rq->internal.context != NULL)
		return complete_heard(s, rq, now);
	s->now = now;
	s->env.inflight--;
	count(s, rq);
	IOS_PROBE(complete, s, rq);
	rq->internal.state = IOS_RQ_FREE;
	return 0;
}

int iosched_requeue(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	if (rq->internal.state != IOS_RQ_ISSUED || !ios_is_ours(s, rq))
		return -EINVAL;
	ios_tick(s, now);
	rq->internal.state = IOS_RQ_BYPASS;
	rq->internal.unmergeable = 1;
	ios_list_insert_after(&s->bypass.head, &rq->internal.fifo);
	s->full |= IOS_FULL_BYPASS;
	s->env.inflight--;
	s->queued++;
	s->stats.requeued += !ios_is_internal(rq);
	ios_event(s, IOSCHED_EVENT_REQUEUE, rq, NULL);
	ios_settle(s);
	return 0;
}
