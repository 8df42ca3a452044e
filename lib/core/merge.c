/* SPDX-License-Identifier: MIT */
/*
 * merge: a new request joins a queued one; two queued ones join when that
 * closes the gap between them. Linux 4.20's block core, whose order of
 * looking and of refusing is part of the answers.
 *
 * Looking: the one-hit cache `last_merge` (its end, then its start), the hash of
 * ends, then the policy's own search by start. The first that is allowed decides;
 * if it would grow too large, it takes part in no further merge and nothing else
 * is tried (trace micro-size1).
 *
 * A parent's `merged` chain is in offset order and leaves itself out.
 */
#include "core/probe.h"
#include "core/sched.h"

/* Room for both, and both willing. */
static bool same_kind(const struct iosched_request *a, const struct iosched_request *b)
{
	return a->op == b->op && !a->internal.unmergeable && !b->internal.unmergeable;
}

static bool allowed(const struct iosched *s, const struct iosched_request *into,
		    const struct iosched_request *bio)
{
	return same_kind(into, bio) &&
	       (s->ops->merge_allowed == NULL || s->ops->merge_allowed(s->self, into, bio));
}

static bool fits(const struct iosched *s, const struct iosched_request *a,
		 const struct iosched_request *b)
{
	return a->span_length + b->span_length <= s->merge_limit;
}

/* The one-hit cache, if `bio` touches it. */
static struct iosched_request *touches_last(struct iosched *s, const struct iosched_request *bio,
					    enum iosched_side *side)
{
	struct iosched_request *rq = s->last_merge;

	if (rq == NULL)
		return NULL;
	*side = ios_span_end(rq) == bio->offset ? IOSCHED_SIDE_BACK : IOSCHED_SIDE_FRONT;
	if (*side == IOSCHED_SIDE_FRONT && rq->span_offset != bio->offset + bio->length)
		return NULL;
	return rq;
}

/* The newest request that ends at `end`. The hash forgets withdrawn ones it meets, so the
 * cache must not hold on to one. */
static struct iosched_request *ends_at(struct iosched *s, uint64_t end)
{
	if (ios_mhash_none(&s->hash, end))
		return NULL;
	if (s->last_merge != NULL && s->last_merge->internal.unmergeable)
		s->last_merge = NULL;
	return ios_mhash_find(&s->hash, end);
}

/* The request `bio` may join, and at which side; NULL if none. */
static inline struct iosched_request *
find_parent(struct iosched *s, const struct iosched_request *bio, enum iosched_side *side)
{
	struct iosched_request *rq = touches_last(s, bio, side);

	if (rq != NULL && allowed(s, rq, bio))
		return rq;
	*side = IOSCHED_SIDE_BACK;
	rq = ends_at(s, bio->offset);
	if (rq != NULL && allowed(s, rq, bio))
		return rq;
	if (ios_mhash_none_starts(&s->hash, bio->offset + bio->length))
		return NULL;
	*side = IOSCHED_SIDE_FRONT;
	rq = s->ops->front_candidate(s->self, bio);
	return rq != NULL && allowed(s, rq, bio) ? rq : NULL;
}

static void chain_append(struct iosched_request *rq, struct iosched_request *first,
			 struct iosched_request *last)
{
	if (rq->merged == NULL)
		rq->merged = first;
	else
		rq->internal.last->internal.next = first;
	rq->internal.last = last;
	last->internal.next = NULL;
}

static void chain_prepend(struct iosched_request *rq, struct iosched_request *first)
{
	if (rq->merged == NULL)
		rq->internal.last = first;
	first->internal.next = rq->merged;
	rq->merged = first;
}

/* `victim` and its chain, in offset order, follow the chain of `survivor`. */
static void chain_join(struct iosched_request *survivor, struct iosched_request *victim)
{
	struct iosched_request *chain = victim->merged;
	struct iosched_request *before = NULL;
	struct iosched_request *last = chain == NULL ? NULL : victim->internal.last;

	/* Those the victim absorbed at its front lie before it. */
	if (chain != NULL && chain->offset < victim->offset) {
		before = chain;
		while (before->internal.next != NULL &&
		       before->internal.next->offset < victim->offset)
			before = before->internal.next;
	}
	if (before == NULL) {
		victim->internal.next = chain;
		chain = victim;
	} else {
		victim->internal.next = before->internal.next;
		before->internal.next = victim;
	}
	if (last == NULL || last == before)
		last = victim;
	victim->merged = NULL;
	victim->internal.last = NULL;
	chain_append(survivor, chain, last);
}

static bool can_coalesce(const struct iosched *s, const struct iosched_request *low,
			 const struct iosched_request *high)
{
	return low != NULL && high != NULL && ios_span_end(low) == high->span_offset &&
	       same_kind(low, high) && fits(s, low, high);
}

static void rehash(struct iosched *s, struct iosched_request *rq)
{
	ios_mhash_remove(&s->hash, rq);
	ios_mhash_insert(&s->hash, rq);
	s->last_merge = rq;
}

/* Queued `victim` becomes the end of queued `survivor`. */
static void coalesce(struct iosched *s, struct iosched_request *survivor,
		     struct iosched_request *victim, iosched_time now)
{
	survivor->span_length += victim->span_length;
	ios_mhash_remove(&s->hash, victim);
	victim->internal.state = IOS_RQ_MERGED;
	s->queued--;
	s->stats.coalesced++;
	s->ops->absorbed(s->self, survivor, victim, now);
	chain_join(survivor, victim);
	rehash(s, survivor);
	ios_event(s, IOSCHED_EVENT_COALESCE, victim, survivor);
}

static struct iosched_request *neighbour(struct iosched *s, struct iosched_request *rq,
					 enum iosched_side side)
{
	if (s->ops->neighbour == NULL || s->ops->absorbed == NULL)
		return NULL;
	return s->ops->neighbour(s->self, rq, side);
}

static void back_merge(struct iosched *s, struct iosched_request *rq, struct iosched_request *bio,
		       iosched_time now)
{
	struct iosched_request *behind;

	rq->span_length += bio->length;
	chain_append(rq, bio, bio);
	s->stats.back_merges++;
	ios_event(s, IOSCHED_EVENT_BACK_MERGE, bio, rq);
	behind = neighbour(s, rq, IOSCHED_SIDE_BACK);
	if (can_coalesce(s, rq, behind)) {
		coalesce(s, rq, behind, now);
		return;
	}
	rehash(s, rq);
	if (s->ops->grown != NULL)
		s->ops->grown(s->self, rq, IOSCHED_SIDE_BACK, rq->span_offset, now);
}

/* A front merge leaves the request's place in the hash alone (trace micro-fronthash). */
static void front_merge(struct iosched *s, struct iosched_request *rq, struct iosched_request *bio,
			iosched_time now)
{
	uint64_t old_offset = rq->span_offset;
	struct iosched_request *before;

	rq->span_offset = bio->offset;
	rq->span_length += bio->length;
	ios_mhash_move_start(&s->hash, rq, old_offset);
	chain_prepend(rq, bio);
	s->stats.front_merges++;
	ios_event(s, IOSCHED_EVENT_FRONT_MERGE, bio, rq);
	before = neighbour(s, rq, IOSCHED_SIDE_FRONT);
	if (can_coalesce(s, before, rq)) {
		coalesce(s, before, rq, now);
		return;
	}
	s->last_merge = rq;
	if (s->ops->grown != NULL)
		s->ops->grown(s->self, rq, IOSCHED_SIDE_FRONT, old_offset, now);
}

/* True if `rq`, checked but not queued, has joined another. */
bool ios_merge_insert(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	enum iosched_side side;
	struct iosched_request *parent = find_parent(s, rq, &side);

	if (parent == NULL)
		return false;
	if (!fits(s, parent, rq)) {
		ios_merge_forget(s, parent);
		parent->internal.unmergeable = 1;
		return false;
	}
	IOS_PROBE(merge, s, rq);
	rq->internal.state = IOS_RQ_MERGED;
	if (side == IOSCHED_SIDE_BACK)
		back_merge(s, parent, rq, now);
	else
		front_merge(s, parent, rq, now);
	return true;
}

static struct iosched_request *whole_parent(struct iosched *s, const struct iosched_request *rq)
{
	struct iosched_request *low = ends_at(s, rq->span_offset);

	return low != NULL && allowed(s, low, rq) && can_coalesce(s, low, rq) ? low : NULL;
}

/* The multi-queue kernels try a request that found no merge once more, as a whole, and then what
 * it joined, and so on. It succeeds after the first candidate proved too large: an older
 * request that ends at the same place is then found (trace micro-mqins). */
bool ios_merge_whole(struct iosched *s, struct iosched_request *rq, iosched_time now)
{
	struct iosched_request *low = whole_parent(s, rq);

	if (low == NULL)
		return false;
	rq->internal.state = IOS_RQ_MERGED;
	low->span_length += rq->span_length;
	chain_append(low, rq, rq);
	rehash(s, low);
	s->stats.back_merges++;
	ios_event(s, IOSCHED_EVENT_COALESCE, rq, low);
	while ((rq = low, low = whole_parent(s, rq)) != NULL)
		coalesce(s, low, rq, now);
	return true;
}
