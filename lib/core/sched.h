/* SPDX-License-Identifier: MIT */
/*
 * sched: the queue object every file of the core shares.
 *
 * `now` is the latest time any call came with. `bypass` holds requests the policy
 * is not asked about: error recovery, flushes, requeued ones. `queued` counts those and the
 * policy's. A request's `epoch` says which of the policies the queue has had knows it; `born` is
 * none. So it says whose request it is as well, see ios_is_ours().
 *
 * Insert, dispatch and complete are compiled twice from one body: a plain road for a
 * work-conserving policy that nobody watches, and the full road, taken while any bit of `full` is
 * set.
 */
#ifndef IOS_CORE_SCHED_H
#define IOS_CORE_SCHED_H

#include <iosched/policy.h>
#include "blocks/audit.h"
#include "blocks/ctab.h"
#include "blocks/fifo.h"
#include "blocks/mhash.h"
#include "core/request.h"

enum ios_full {
	IOS_FULL_QUIESCED = 1u << 0, /* new requests are refused */
	IOS_FULL_WATCHED = 1u << 1,  /* events, latencies or audits are wanted */
	IOS_FULL_POLICY = 1u << 2,   /* the policy waits, wants contexts or hears of completions */
	IOS_FULL_BYPASS = 1u << 3,   /* the bypass may hold something */
	IOS_FULL_FLUSH = 1u << 4,    /* our own FLUSH is out */
};

struct iosched {
	const struct iosched_policy *ops;
	void *self;
	iosched_time now;
	struct iosched_policy_env env;
	iosched_time pause_until; /* from the last pause of the policy */
	iosched_time seen_timer;  /* env.timer when it was last looked at */
	iosched_time armed;	  /* next_wakeup as last told to the host */
	bool pause_moved;	  /* pause_until was written since then */
	uint32_t window;	  /* max_inflight, or UINT32_MAX */
	uint32_t born, epoch;
	/* The last members of iosched_request::internal as insert sets them. */
	struct {
		uint32_t epoch;
		uint8_t state, unmergeable, mark, reserved;
	} fresh;
	uint64_t queued;
	uint64_t merge_limit;		    /* max_merge_bytes */
	struct iosched_request *last_merge; /* one-hit cache of the merge search */
	struct ios_mhash hash;
	uint32_t *starts; /* for hash.starts, while the policy searches by start */
	struct ios_fifo bypass;
	uint64_t head_end;	 /* end of the last request dispatched */
	iosched_time idle_since; /* NEVER: not idling */
	enum iosched_hold hold;
	uint32_t full;		    /* enum ios_full, or-ed: why calls take the full road */
	bool wants_contexts;	    /* the policy is told who asks */
	bool priorities_set;	    /* by iosched_context_set() */
	struct iosched_stats stats; /* as counted; see iosched_stats_get() for the derived ones */
	uint64_t absorbed_completed;
	uint64_t bytes[4]; /* completed, by op */

	struct iosched_params params;
	struct ios_ctab contexts;
	struct iosched_group *groups; /* [0] is the root */
	uint32_t n_groups;
	struct iosched_request flush;	   /* see policy.h; here, so that it outlives a policy */
	struct iosched_request *returning; /* drain: absorbed ones still to be given back */
	uint64_t latency[3][IOSCHED_HISTOGRAM_BUCKETS];
};

/* Take the time of a call: it never runs backwards. */
static inline iosched_time ios_tick(struct iosched *s, iosched_time now)
{
	if (__builtin_expect(now < s->now, 0)) {
		s->stats.time_went_back++;
		return s->now;
	}
	return s->now = now;
}

/* Where a queue's epochs begin. It takes no part in a decision, so a run stays a function of its
 * calls. Two queues are a `struct iosched` apart or more, that is 1800 switches of policy, until
 * addresses 64 GiB apart look the same. */
static inline uint32_t ios_birthplace(const struct iosched *s)
{
	_Static_assert(sizeof(struct iosched) / 16 > 1800, "queues are that far apart");
	return (uint32_t)((uintptr_t)s / 16);
}

/* Is `rq`, which some queue has inserted, a request of this one? */
static inline bool ios_is_ours(const struct iosched *s, const struct iosched_request *rq)
{
	return rq->internal.epoch - s->born <= s->epoch - s->born;
}

/* core/event.c: tell the host what the policy asked for in this call, and audit. */
void ios_settle_slow(struct iosched *s);
static inline iosched_time ios_wakeup(const struct iosched *s)
{
	return s->env.timer < s->pause_until ? s->env.timer : s->pause_until;
}

/* Every public call that changes something ends with this. `pause_until` moves in dispatch
 * and timer only; they say so themselves. */
static inline void ios_settle(struct iosched *s)
{
	if (__builtin_expect((s->env.kick | s->params.audit) != 0 ||
				     s->env.timer != s->seen_timer || s->pause_moved,
			     0))
		ios_settle_slow(s);
}

/* The same where nobody audits, and for a call that cannot move the pause. A kick nobody wants
 * to hear is only counted. */
static inline void ios_settle_unwatched(struct iosched *s)
{
	if (__builtin_expect(s->env.timer != s->seen_timer ||
				     (s->env.kick != 0 && s->params.kick != NULL),
			     0)) {
		ios_settle_slow(s);
	} else if (s->env.kick != 0) {
		s->env.kick = 0;
		s->stats.kicks++;
	}
}

/* core/event.c: one step of a request. */
void ios_event_slow(struct iosched *s, enum iosched_event_type type,
		    const struct iosched_request *rq, const struct iosched_request *other);
static inline void ios_event(struct iosched *s, enum iosched_event_type type,
			     const struct iosched_request *rq, const struct iosched_request *other)
{
	if (__builtin_expect(s->params.event != NULL, 0))
		ios_event_slow(s, type, rq, other);
}

/* core/merge.c */
bool ios_merge_insert(struct iosched *s, struct iosched_request *rq, iosched_time now);
bool ios_merge_whole(struct iosched *s, struct iosched_request *rq, iosched_time now);

/* The place in the hash of a request that is about to be queued. */
static inline struct ios_mhash_place ios_merge_place(const struct iosched *s,
						     const struct iosched_request *rq)
{
	return ios_mhash_place(&s->hash, rq->span_offset, ios_span_end(rq));
}

/* Nothing queued touches `rq`, which belongs `at` that place: the short answer of
 * ios_merge_insert(), for most requests. The last merged request is hashed like any other, so it
 * matters only where starts are not. */
static inline bool ios_merge_hopeless(const struct iosched *s, const struct iosched_request *rq,
				      struct ios_mhash_place at)
{
	const struct iosched_request *last = s->last_merge;

	if (s->hash.buckets[at.start] != NULL)
		return false;
	if (s->hash.starts != NULL)
		return s->hash.starts[at.end] == 0;
	return last == NULL || last->span_offset != ios_span_end(rq);
}

/* `rq`, which belongs `at` that place, is about to be queued: others may join it. It is not
 * unmergeable. */
static inline void ios_merge_queued(struct iosched *s, struct iosched_request *rq,
				    struct ios_mhash_place at)
{
	ios_mhash_insert_at(&s->hash, rq, at);
	if (s->last_merge == NULL || s->last_merge->internal.unmergeable)
		s->last_merge = rq;
}

/* The last merged request is hashed, so one test does for most. */
static inline void ios_merge_forget(struct iosched *s, struct iosched_request *rq)
{
	if (!ios_mhash_linked(rq))
		return;
	ios_mhash_unlink(&s->hash, rq);
	if (s->last_merge == rq)
		s->last_merge = NULL;
}

/* core/context.c */
struct iosched_context *ios_context_make(struct iosched *s, uint64_t id, iosched_time now);
static inline struct iosched_context *ios_context_get(struct iosched *s, uint64_t id,
						      iosched_time now)
{
	struct iosched_context *c = ios_ctab_find(&s->contexts, id);

	if (__builtin_expect(c == NULL, 0))
		c = ios_context_make(s, id, now);
	ios_ctab_ref(c);
	return c;
}
void ios_context_put_slow(struct iosched *s, struct iosched_context *c);
static inline void ios_context_put(struct iosched *s, struct iosched_request *rq)
{
	if (rq->internal.context != NULL) {
		if (ios_ctab_unref(&s->contexts, rq->internal.context))
			ios_context_put_slow(s, rq->internal.context);
		rq->internal.context = NULL;
	}
}

/* core/switch.c: a policy's memory, and its start. */
void ios_policy_contexts(struct iosched *s);
int ios_policy_check(const struct iosched_policy *p);
int ios_policy_start(struct iosched *s, const struct iosched_policy *ops); /* first one */
void ios_policy_stop(struct iosched *s);

/* core/flush.c: the FLUSH that policies may hand out. */
void ios_flush_init(struct iosched *s);
void ios_flush_issue(struct iosched *s, iosched_time now);
void ios_flush_complete(struct iosched *s, iosched_time now);
void ios_flush_end(struct iosched *s);

static inline bool ios_is_internal(const struct iosched_request *rq)
{
	return (rq->flags & IOSCHED_RQ_INTERNAL) != 0;
}

/* core/cancel.c: an inserted request becomes the host's without having been issued. */
void ios_take_back(struct iosched *s, struct iosched_request *rq, iosched_time now);

/* core/audit.c: NULL, or the sentence that is false. */
const char *ios_audit(struct iosched *s);

static inline void *ios_alloc(const struct iosched_params *p, size_t size)
{
	return p->alloc(p->user, size);
}

#endif
