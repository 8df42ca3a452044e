/* SPDX-License-Identifier: MIT */
/*
 * complete: an issued request and all it absorbed become the host's again;
 * or the device refused it and it goes back to be issued first.
 */
#include <errno.h>
#include "core/histogram.h"
#include "core/probe.h"
#include "core/sched.h"

static void count(struct iosched *s, const struct iosched_request *rq, iosched_time now)
{
	s->stats.completed++;
	if (rq->op == IOSCHED_READ)
		s->stats.read_bytes += rq->span_length;
	else if (rq->op == IOSCHED_WRITE)
		s->stats.write_bytes += rq->span_length;
	s->latency[IOSCHED_LATENCY_DEVICE][ios_histogram_bucket(now - rq->dispatched)]++;
	s->latency[IOSCHED_LATENCY_TOTAL][ios_histogram_bucket(now - rq->inserted)]++;
}

static void release_chain(struct iosched *s, struct iosched_request *rq)
{
	for (; rq != NULL; rq = rq->internal.next) {
		s->stats.completed++;
		ios_context_put(s, rq);
		rq->internal.state = IOS_RQ_FREE;
	}
}

int iosched_complete(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	if (rq->internal.state != IOS_RQ_ISSUED)
		return -EINVAL;
	now = ios_tick(s, now);
	s->env.inflight--;
	count(s, rq, now);
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

int iosched_requeue(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	if (rq->internal.state != IOS_RQ_ISSUED)
		return -EINVAL;
	ios_tick(s, now);
	rq->internal.state = IOS_RQ_BYPASS;
	rq->internal.unmergeable = 1;
	ios_list_insert_after(&s->bypass.head, &rq->internal.fifo);
	s->env.inflight--;
	s->queued++;
	s->stats.requeued++;
	ios_event(s, IOSCHED_EVENT_REQUEUE, rq, NULL);
	ios_settle(s);
	return 0;
}
