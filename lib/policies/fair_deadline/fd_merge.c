/* SPDX-License-Identifier: MIT */
/*
 * fd_merge: who may join whom, and who pays for a request of several flows: each for its bytes.
 * Across flows only within a tenant, class and kind; and never so that a deadline of the host's, a
 * boost's size or a channel's patience is exceeded.
 */
#include "policies/fair_deadline/fd.h"

#define FRONT_SCAN 16 /* requests looked at for one that ends at a place: what a grid costs */

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
	const struct fd_entity *e = ios_fd_flow_for(bio)->entity;
	uint64_t end = bio->offset + bio->length;
	struct iosched_request *rq;

	(void)self;
	if (e->starts != NULL)
		return ios_rqstarts_find(e->starts, end);
	rq = ios_fd_sorted_from(e, end);
	return rq != NULL && rq->span_offset == end ? rq : NULL;
}

/* -- requests of several flows -- */

/* Whose is `a`, that `rq` has absorbed? Class and kind are those it was merged for: its context's
 * may have changed. Merged under a policy that knows no contexts, it is nobody's. */
static struct fd_flow *payer(const struct iosched_request *rq, const struct iosched_request *a)
{
	struct fd_flow *f = fd_flow_of(rq);
	struct fd_owner *o;

	if (a->internal.context == NULL)
		return f;
	o = a->internal.context->data;
	return &o->flow[f->cls][f->async];
}

/* The next one of another flow than `rq`'s among those it absorbed, from `a` on. */
static const struct iosched_request *foreign(const struct iosched_request *rq,
					     const struct iosched_request *a)
{
	while (a != NULL && payer(rq, a) == fd_flow_of(rq))
		a = iosched_merged_next(a);
	return a;
}

/* What is due for `part` of `whole` bytes, of up to 2^40 ns. */
static int64_t part_of(int64_t cost, uint64_t part, uint64_t whole)
{
	return cost / (int64_t)FD_KIB * (int64_t)part / (int64_t)whole * (int64_t)FD_KIB;
}

/* `rq` has absorbed `a`. If that is another flow's, it waits in `rq`, and is active for that. */
static void join(struct fd *d, struct iosched_request *rq, const struct iosched_request *a)
{
	struct fd_flow *g = payer(rq, a);

	if (g == fd_flow_of(rq))
		return;
	rq->internal.mark |= FD_MARK_SHARED;
	ios_fd_flow_activate(d, g);
	g->joined++;
	ios_fd_flow_settle(d, g, d->now);
}

/* `rq` is inserted with what it absorbed under another policy. */
void ios_fd_share_again(struct fd *d, struct iosched_request *rq)
{
	const struct iosched_request *a;

	for (a = rq->merged; a != NULL; a = iosched_merged_next(a))
		join(d, rq, a);
}

/* All whose requests are in it pay, by bytes: its own flow too. */
void ios_fd_share_charge(struct fd *d, const struct iosched_request *rq, int64_t cost)
{
	const struct iosched_request *a = rq->merged;
	int64_t own = cost;

	while ((a = foreign(rq, a)) != NULL) {
		int64_t part = part_of(cost, a->length, rq->span_length);

		ios_fd_flow_charge(d, payer(rq, a), part);
		own -= part;
		a = iosched_merged_next(a);
	}
	ios_fd_flow_charge(d, fd_flow_of(rq), own);
}

/* It was sent, its own flow charged for all of it. */
void ios_fd_share_sent(struct fd *d, const struct iosched_request *rq, uint64_t est,
		       iosched_time now)
{
	const struct iosched_request *a = rq->merged;

	ios_fd_share_charge(d, rq, (int64_t)est);
	ios_fd_flow_charge(d, fd_flow_of(rq), -(int64_t)est);
	for (; (a = foreign(rq, a)) != NULL; a = iosched_merged_next(a))
		payer(rq, a)->t_dispatch = now;
}

/* It is done, or taken from the queue. */
void ios_fd_share_done(struct fd *d, const struct iosched_request *rq, iosched_time now)
{
	const struct iosched_request *a = rq->merged;

	for (; (a = foreign(rq, a)) != NULL; a = iosched_merged_next(a)) {
		struct fd_flow *g = payer(rq, a);

		g->joined--;
		g->t_lc = now;
		ios_fd_flow_rest(d, g, now);
		ios_fd_flow_settle(d, g, now);
	}
}

/* `rq` has absorbed one at its front: it starts where that does, but is sorted by where it did. */
static void sort_again(struct fd_entity *e, struct iosched_request *rq)
{
	uint64_t offset = rq->span_offset;

	rq->span_offset = offset + rq->merged->length;
	ios_fd_unfile(e, rq);
	rq->span_offset = offset;
	ios_fd_file(e, rq);
}

/* Nobody knows the unsorted by where they end. What fills a gap comes soon after what it goes on
 * from, as a rule: one of the newest few of its flow. */
static struct iosched_request *ends_where(const struct iosched_request *rq)
{
	const struct fd_flow *f = fd_flow_of(rq);
	struct iosched_list_link *l = f->fifo.head.prev;
	int i;

	for (i = 0; i < FRONT_SCAN && l != &f->fifo.head; i++, l = l->prev) {
		struct iosched_request *n = ios_fifo_entry(l);

		if (n->span_offset + n->span_length == rq->span_offset)
			return n;
	}
	return NULL;
}

static struct iosched_request *next_to(const struct iosched_request *rq, enum iosched_side side)
{
	const struct fd_entity *e = fd_flow_of(rq)->entity;

	if (e->starts != NULL)
		return side == IOSCHED_SIDE_BACK
			       ? ios_rqstarts_find(e->starts, rq->span_offset + rq->span_length)
			       : ends_where(rq);
	return side == IOSCHED_SIDE_BACK ? ios_fd_sorted_next(e, rq) : ios_fd_sorted_prev(e, rq);
}

/* Asked after every merge, before anybody else looks for `rq` by its place. Two queued ones may
 * become one only if nothing tells them apart. */
struct iosched_request *ios_fd_neighbour(void *self, struct iosched_request *rq,
					 enum iosched_side side)
{
	struct fd *d = self;
	struct iosched_request *n;

	if (side == IOSCHED_SIDE_FRONT)
		sort_again(fd_flow_of(rq)->entity, rq);
	n = next_to(rq, side);
	join(d, rq, side == IOSCHED_SIDE_BACK ? rq->internal.last : rq->merged);
	if (n == NULL || fd_flow_of(n) != fd_flow_of(rq) || n->internal.mark != 0 ||
	    rq->internal.mark != 0 ||
	    too_long_to_merge(d, fd_flow_of(rq), n->span_length + rq->span_length))
		return NULL;
	return n;
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
