/* SPDX-License-Identifier: MIT */
/*
 * dispatch: which request the host issues next, or why none; and the timer.
 *
 * Order: device window, bypass, policy. A due timer runs when the policy has
 * nothing to say, or before asking it when it is overdue.
 */
#include <errno.h>
#include "core/histogram.h"
#include "core/probe.h"
#include "core/sched.h"

static void run_timer(struct iosched *s, iosched_time now)
{
	s->pause_until = IOSCHED_NEVER;
	s->pause_moved = true;
	if (s->env.timer > now)
		return;
	s->env.timer = IOSCHED_NEVER;
	if (s->ops->timer != NULL)
		s->ops->timer(s->self, now);
}

int iosched_timer(struct iosched *s, iosched_time now)
{
	now = ios_tick(s, now);
	if (ios_wakeup(s) > now)
		return -EAGAIN;
	run_timer(s, now);
	ios_settle(s);
	return 0;
}

static inline struct iosched_request *ask_policy(struct iosched *s, iosched_time now)
{
	struct iosched_pause pause = {IOSCHED_HOLD_EMPTY, IOSCHED_NEVER};
	struct iosched_request *rq;

	rq = s->ops->dispatch(s->self, now, &pause);
	if (rq != NULL)
		pause.until = IOSCHED_NEVER;
	else
		s->hold = s->queued == 0 ? IOSCHED_HOLD_EMPTY : pause.reason;
	if (s->pause_until != pause.until) {
		s->pause_until = pause.until;
		s->pause_moved = true;
	}
	return rq;
}

/* The policy waits, and perhaps the wait is already over. */
static __attribute__((noinline)) struct iosched_request *ask_again(struct iosched *s,
								   iosched_time now)
{
	if (ios_wakeup(s) > now || s->params.manual_timer)
		return NULL;
	run_timer(s, now);
	return ask_policy(s, now);
}

static struct iosched_request *take_bypass(struct iosched *s)
{
	struct iosched_request *rq = ios_fifo_take(&s->bypass);

	if (ios_fifo_empty(&s->bypass))
		s->full &= ~(uint32_t)IOS_FULL_BYPASS;
	return rq;
}

static struct iosched_request *choose(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq;

	if (s->full & IOS_FULL_BYPASS && (rq = take_bypass(s)) != NULL)
		return rq;
	if (ios_wakeup(s) < now && !s->params.manual_timer)
		run_timer(s, now);
	rq = ask_policy(s, now);
	return rq != NULL ? rq : ask_again(s, now);
}

static inline __attribute__((always_inline)) void
issue(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	ios_merge_forget(s, rq);
	rq->internal.state = IOS_RQ_ISSUED;
	rq->dispatched = now;
	s->queued--;
	s->env.inflight++;
	s->hold = IOSCHED_HOLD_NONE;
	IOS_PROBE(dispatch, s, rq);
}

static void count_idle(struct iosched *s, iosched_time now)
{
	if (s->idle_since != IOSCHED_NEVER)
		s->stats.idle_ns += now - s->idle_since;
	s->idle_since = IOSCHED_NEVER;
}

static void measure(struct iosched *s, const struct iosched_request *rq, iosched_time now)
{
	uint64_t head = s->head_end;

	count_idle(s, now);
	s->latency[IOSCHED_LATENCY_WAIT][ios_histogram_bucket(now - rq->inserted)]++;
	if (rq->span_offset != head) {
		s->stats.seeks++;
		s->stats.seek_bytes +=
			rq->span_offset > head ? rq->span_offset - head : head - rq->span_offset;
	}
	s->head_end = ios_span_end(rq);
}

static void hold(struct iosched *s, iosched_time now)
{
	if (s->hold == IOSCHED_HOLD_EMPTY)
		return;
	if (s->hold == IOSCHED_HOLD_IDLING && s->env.inflight == 0 &&
	    s->idle_since == IOSCHED_NEVER)
		s->idle_since = now;
	ios_event(s, IOSCHED_EVENT_HOLD, NULL, NULL);
}

static struct iosched_request *window_is_full(struct iosched *s)
{
	s->hold = s->queued == 0 ? IOSCHED_HOLD_EMPTY : IOSCHED_HOLD_WINDOW;
	return NULL;
}

static __attribute__((noinline)) struct iosched_request *dispatch_full(struct iosched *s,
								       iosched_time now)
{
	struct iosched_request *rq;

	now = ios_tick(s, now);
	if (s->env.inflight >= s->window)
		return window_is_full(s);
	rq = choose(s, now);
	if (rq != NULL && ios_is_internal(rq)) {
		count_idle(s, now);
		ios_flush_issue(s, now);
	} else if (rq != NULL) {
		issue(s, rq, now);
		if (s->params.measure)
			measure(s, rq, now);
		ios_event(s, IOSCHED_EVENT_DISPATCH, rq, NULL);
	} else {
		hold(s, now);
	}
	ios_settle(s);
	return rq;
}

/* Nobody watches, but the policy may wait. */
static __attribute__((noinline)) struct iosched_request *dispatch_heard(struct iosched *s,
									iosched_time now)
{
	struct iosched_request *rq;

	s->now = now;
	if (__builtin_expect(s->env.inflight >= s->window, 0))
		return window_is_full(s);
	rq = ask_policy(s, now);
	if (rq == NULL)
		rq = ask_again(s, now);
	if (rq != NULL)
		issue(s, rq, now);
	ios_settle(s);
	return rq;
}

/* Nobody watches, and the policy is work-conserving. */
static __attribute__((noinline)) struct iosched_request *dispatch_plain(struct iosched *s,
									iosched_time now)
{
	struct iosched_pause pause;
	struct iosched_request *rq;

	s->now = now;
	if (__builtin_expect(s->env.inflight >= s->window, 0))
		return window_is_full(s);
	rq = s->ops->dispatch(s->self, now, &pause);
	if (__builtin_expect(rq != NULL, 1))
		issue(s, rq, now);
	else
		s->hold = IOSCHED_HOLD_EMPTY;
	return rq;
}

struct iosched_request *iosched_dispatch(struct iosched *s, iosched_time now)
{
	if (now >= s->now) {
		if (s->full == 0)
			return dispatch_plain(s, now);
		if (s->full == IOS_FULL_POLICY && ios_wakeup(s) > now)
			return dispatch_heard(s, now);
	}
	return dispatch_full(s, now);
}

unsigned iosched_dispatch_many(struct iosched *s, struct iosched_request **out, unsigned max,
			       iosched_time now)
{
	unsigned n = 0;

	while (n < max && (out[n] = iosched_dispatch(s, now)) != NULL)
		n++;
	return n;
}

enum iosched_hold iosched_hold_reason(const struct iosched *s)
{
	return s->hold;
}

iosched_time iosched_next_wakeup(const struct iosched *s)
{
	return ios_wakeup(s);
}

uint64_t iosched_queued(const struct iosched *s)
{
	return s->queued;
}

uint32_t iosched_inflight(const struct iosched *s)
{
	return s->env.inflight;
}
