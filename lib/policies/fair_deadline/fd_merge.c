/* SPDX-License-Identifier: MIT */
/*
 * fd_merge: who may join whom. Across flows only within a tenant, class and kind, for the
 * request is charged to one of them; and never so that a deadline of the host's, a boost's
 * size or a channel's patience is exceeded.
 */
#include "policies/fair_deadline/fd.h"

/* Writeback merged beyond this holds a channel for so long that readers suffer (R6). */
static bool too_long_to_merge(const struct fd *d, const struct fd_flow *f, uint64_t bytes)
{
	return f->async && !d->rotational &&
	       fd_bytes_ns(bytes, d->t.byte_cost_ps[1]) > d->t.async_merge_ns;
}

bool ios_fd_merge_allowed(void *self, const struct iosched_request *into,
			  const struct iosched_request *bio)
{
	const struct fd *d = self;
	const struct fd_flow *f = fd_flow_of(into), *g = ios_fd_flow_for(bio);
	uint64_t bytes = into->span_length + bio->length;

	if (f->cls != g->cls || f->async != g->async || f->owner->group != g->owner->group ||
	    (f->async && f != g) || too_long_to_merge(d, f, bytes))
		return false;
	if ((into->internal.mark & FD_MARK_BOOST) && bytes > d->t.boost_bytes)
		return false;
	return bio->deadline == 0 || bio->deadline >= into->internal.expiry;
}

/* Of several that start where `bio` ends, the first come. */
struct iosched_request *ios_fd_front_candidate(void *self, const struct iosched_request *bio)
{
	uint64_t end = bio->offset + bio->length;
	struct iosched_request *rq = ios_fd_sorted_from(ios_fd_flow_for(bio)->entity, end);

	(void)self;
	return rq != NULL && rq->span_offset == end ? rq : NULL;
}

/* Two queued ones may become one only if nothing tells them apart. */
struct iosched_request *ios_fd_neighbour(void *self, struct iosched_request *rq,
					 enum iosched_side side)
{
	const struct fd *d = self;
	const struct fd_entity *e = fd_flow_of(rq)->entity;
	struct iosched_request *n =
		side == IOSCHED_SIDE_BACK ? ios_fd_sorted_next(e, rq) : ios_fd_sorted_prev(e, rq);

	if (n == NULL || fd_flow_of(n) != fd_flow_of(rq) || n->internal.mark != 0 ||
	    rq->internal.mark != 0 ||
	    too_long_to_merge(d, fd_flow_of(rq), n->span_length + rq->span_length))
		return NULL;
	return n;
}

void ios_fd_grown(void *self, struct iosched_request *rq, enum iosched_side side,
		  uint64_t old_offset, iosched_time now)
{
	struct fd_entity *e = fd_flow_of(rq)->entity;
	uint64_t offset = rq->span_offset;

	(void)self, (void)now;
	if (side == IOSCHED_SIDE_BACK)
		return;
	rq->span_offset = old_offset;
	ios_fd_unsort(e, rq);
	rq->span_offset = offset;
	ios_fd_sort(e, rq);
}

void ios_fd_absorbed(void *self, struct iosched_request *survivor, struct iosched_request *victim,
		     iosched_time now)
{
	struct fd *d = self;
	struct fd_flow *f = fd_flow_of(victim);

	if (victim->internal.expiry < survivor->internal.expiry) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	}
	ios_fd_flow_unlink(d, f, victim);
	ios_fd_flow_settle(d, f, now);
}
