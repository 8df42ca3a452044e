/* SPDX-License-Identifier: MIT */
/*
 * cancel: queued requests leave unissued (cancel, drain) or change their priority.
 *
 * A request that has absorbed others cannot be cancelled: its extent is no
 * longer its own. drain takes such a chain apart and hands it out one by one.
 */
#include <errno.h>
#include "core/sched.h"

static int removable(const struct iosched *s, const struct iosched_request *rq)
{
	if (ios_is_internal(rq) || !ios_is_ours(s, rq)) /* not the host's, or not here, to take */
		return -EINVAL;
	switch ((enum ios_rq_state)rq->internal.state) {
	case IOS_RQ_QUEUED:
	case IOS_RQ_BYPASS:
		return rq->merged == NULL ? 0 : -EINPROGRESS;
	case IOS_RQ_MERGED:
	case IOS_RQ_ISSUED:
		return -EINPROGRESS;
	case IOS_RQ_FREE:
		break;
	}
	return -EINVAL;
}

/* Off the bypass. A requeued one was in flight in the policy's eyes until now. */
static void leave_bypass(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	ios_fifo_remove(rq);
	if (rq->internal.epoch == s->epoch && s->ops->complete != NULL)
		s->ops->complete(s->self, rq, now);
}

void ios_take_back(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	s->queued--;
	s->stats.cancelled++;
	ios_merge_forget(s, rq);
	ios_event(s, IOSCHED_EVENT_CANCEL, rq, NULL);
	ios_context_put(s, rq);
	rq->internal.state = IOS_RQ_FREE;
}

int iosched_cancel(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	int error = removable(s, rq);

	if (error != 0)
		return error;
	now = ios_tick(s, now);
	if (rq->internal.state == IOS_RQ_BYPASS)
		leave_bypass(s, rq, now);
	else
		s->ops->remove(s->self, rq, now);
	ios_take_back(s, rq, now);
	ios_settle(s);
	return 0;
}

int iosched_reprioritize(struct iosched *s, struct iosched_request *rq,
			 enum iosched_class prio_class, unsigned prio_level, iosched_time now)
{
	int error = removable(s, rq);

	if (error == -EINPROGRESS && rq->internal.state == IOS_RQ_QUEUED)
		error = 0; /* a chain moves as one */
	if (error != 0)
		return error;
	if ((unsigned)prio_class > IOSCHED_IDLE || prio_level > 8)
		return -EINVAL;
	now = ios_tick(s, now);
	if (rq->internal.state == IOS_RQ_QUEUED)
		s->ops->remove(s->self, rq, now);
	rq->prio_class = (uint8_t)prio_class;
	rq->prio_level = (uint8_t)prio_level;
	if (rq->internal.state == IOS_RQ_QUEUED)
		s->ops->insert(s->self, rq, now);
	ios_settle(s);
	return 0;
}

void iosched_quiesce(struct iosched *s, bool on)
{
	if (on)
		s->full |= IOS_FULL_QUIESCED;
	else
		s->full &= ~(uint32_t)IOS_FULL_QUIESCED;
}

static struct iosched_request *take_absorbed(struct iosched *s)
{
	struct iosched_request *rq = s->returning;

	if (rq == NULL)
		return NULL;
	s->returning = rq->internal.next;
	rq->internal.next = NULL;
	return rq;
}

static struct iosched_request *take_queued(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq;

	while ((rq = ios_fifo_first(&s->bypass)) != NULL) {
		leave_bypass(s, rq, now);
		if (!ios_is_internal(rq))
			break;
		s->queued--;
		ios_flush_end(s);
	}
	if (rq == NULL)
		rq = s->ops->drain(s->self);
	if (rq == NULL)
		return NULL;
	ios_take_back(s, rq, now);
	s->returning = rq->merged;
	rq->merged = NULL;
	rq->internal.last = NULL;
	return rq;
}

struct iosched_request *iosched_drain(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq = take_absorbed(s);

	now = ios_tick(s, now);
	if (rq != NULL) {
		s->stats.cancelled++;
		ios_context_put(s, rq);
		rq->internal.state = IOS_RQ_FREE;
	} else {
		rq = take_queued(s, now);
	}
	if (rq != NULL) {
		rq->span_offset = rq->offset;
		rq->span_length = rq->length;
	}
	ios_settle(s);
	return rq;
}
