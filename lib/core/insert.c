/* SPDX-License-Identifier: MIT */
/*
 * insert: a host's request enters: checked, merged, queued in the policy, or
 * put on the bypass.
 */
#include <errno.h>
#include <string.h>
#include "core/probe.h"
#include "core/sched.h"

static bool malformed(const struct iosched_request *rq)
{
	if ((rq->flags & ~IOS_RQ_HOST_FLAGS) != 0 || rq->op > IOSCHED_DISCARD ||
	    rq->prio_class > IOSCHED_IDLE || rq->prio_level > 8)
		return true;
	if (rq->op == IOSCHED_FLUSH)
		return rq->length != 0;
	return rq->length == 0 || rq->offset + rq->length < rq->offset;
}

/* What a zeroed or completed request does not already have. */
static inline void begin(const struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	rq->span_offset = rq->offset;
	rq->span_length = rq->length;
	rq->merged = NULL;
	rq->inserted = now;
	rq->internal.next = NULL;
	memcpy(&rq->internal.epoch, &s->fresh, sizeof(s->fresh)); /* the members from epoch on */
}

static bool passes_by(const struct iosched *s, const struct iosched_request *rq)
{
	return (rq->flags & IOSCHED_RQ_HEAD) != 0 ||
	       (rq->op == IOSCHED_FLUSH && !(s->ops->flags & IOSCHED_POLICY_TAKES_FLUSH));
}

static void insert_bypass(struct iosched *s, struct iosched_request *rq)
{
	rq->internal.epoch = s->born;
	rq->internal.state = IOS_RQ_BYPASS;
	if (rq->flags & IOSCHED_RQ_HEAD)
		ios_list_insert_after(&s->bypass.head, &rq->internal.fifo);
	else
		ios_list_insert_before(&s->bypass.head, &rq->internal.fifo);
	s->full |= IOS_FULL_BYPASS;
	s->queued++;
	ios_event(s, IOSCHED_EVENT_INSERT, rq, NULL);
}

/* `rq` touches something: it joins that and is gone (true), or others may join it from now on. */
static __attribute__((noinline)) bool joins_another(struct iosched *s, struct iosched_request *rq,
						    iosched_time now)
{
	if (ios_merge_insert(s, rq, now) ||
	    ((s->ops->flags & IOSCHED_POLICY_INSERT_MERGE) && ios_merge_whole(s, rq, now)))
		return true;
	ios_merge_queued(s, rq, ios_merge_place(s, rq));
	return false;
}

static inline bool merges(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	struct ios_mhash_place at = ios_merge_place(s, rq);

	if (!ios_merge_hopeless(s, rq, at))
		return joins_another(s, rq, now);
	ios_merge_queued(s, rq, at);
	return false;
}

static void insert_policy(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	s->queued++;
	ios_event(s, IOSCHED_EVENT_INSERT, rq, NULL);
	s->ops->insert(s->self, rq, now);
}

static __attribute__((noinline)) int insert_full(struct iosched *s, struct iosched_request *rq,
						 iosched_time now)
{
	if (rq->internal.state != IOS_RQ_FREE)
		return -EBUSY;
	if (malformed(rq))
		return -EINVAL;
	if (s->full & IOS_FULL_QUIESCED)
		return -ESHUTDOWN;
	now = ios_tick(s, now);
	begin(s, rq, now);
	rq->internal.unmergeable = rq->op == IOSCHED_FLUSH || (rq->flags & IOS_RQ_ALONE_FLAGS) != 0;
	if (s->wants_contexts)
		rq->internal.context = ios_context_get(s, rq->context, now);
	s->stats.inserted++;
	IOS_PROBE(insert, s, rq);
	if (rq->internal.unmergeable && passes_by(s, rq))
		insert_bypass(s, rq);
	else if (s->merge_limit == 0 || rq->internal.unmergeable || !merges(s, rq, now))
		insert_policy(s, rq, now);
	ios_settle(s);
	return 0;
}

/* The members from `flags` to `reserved0` in one word: all zero but sync, meta, noidle and
 * the write bit. */
static inline bool is_ordinary(const struct iosched_request *rq)
{
	static const struct {
		uint32_t flags;
		uint8_t op, prio_class, prio_level, reserved0;
	} ordinary = {(uint32_t)(IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_NOIDLE),
		      IOSCHED_WRITE, 0, 0, 0};
	uint64_t word, mask;

	memcpy(&word, &rq->flags, sizeof(word));
	memcpy(&mask, &ordinary, sizeof(mask));
	return (word & ~mask) == 0;
}

/* The road without watchers, for a request that is_ordinary(); `hears`: the policy wants contexts
 * and a settled timer. */
static inline __attribute__((always_inline)) int
insert_road(struct iosched *s, struct iosched_request *rq, iosched_time now, const bool hears)
{
	s->now = now;
	begin(s, rq, now);
	if (hears && s->wants_contexts)
		rq->internal.context = ios_context_get(s, rq->context, now);
	s->stats.inserted++;
	IOS_PROBE(insert, s, rq);
	if (s->merge_limit == 0 || !merges(s, rq, now)) {
		s->queued++;
		s->ops->insert(s->self, rq, now);
	}
	if (hears)
		ios_settle_unwatched(s);
	return 0;
}

static inline bool is_extraordinary(const struct iosched *s, const struct iosched_request *rq,
				    iosched_time now)
{
	return rq->internal.state != IOS_RQ_FREE || !is_ordinary(rq) || now < s->now ||
	       rq->offset + rq->length <= rq->offset;
}

static __attribute__((noinline)) int insert_heard(struct iosched *s, struct iosched_request *rq,
						  iosched_time now)
{
	return insert_road(s, rq, now, true);
}

int iosched_insert(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	if (__builtin_expect(is_extraordinary(s, rq, now), 0))
		return insert_full(s, rq, now);
	if (s->full == 0)
		return insert_road(s, rq, now, false);
	return s->full == IOS_FULL_POLICY ? insert_heard(s, rq, now) : insert_full(s, rq, now);
}

int iosched_insert_many(struct iosched *s, struct iosched_request *const *rqs, unsigned n,
			iosched_time now)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		int error = iosched_insert(s, rqs[i], now);

		if (error != 0)
			return i == 0 ? error : (int)i;
	}
	return (int)n;
}
