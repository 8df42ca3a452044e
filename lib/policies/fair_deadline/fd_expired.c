/* SPDX-License-Identifier: MIT */
/*
 * fd_expired: requests that have waited too long, and those the drive makes wait.
 *
 * A sync request is expired when its deadline has passed and its flow has had nothing for as
 * long: else rescue is first come, first served, and shares go by queue depth. An async one
 * by its own deadline alone. In a group the tenant takes the flow's place: many flows of one
 * buy it no more rescues than its share is worth.
 *
 * The cycle (in fd.c) is: up to eight sync ones, one async one, one normal choice.
 *
 * In flight requests are counted by the slice of time they were sent in, to see that the oldest
 * is not too old.
 */
#include "policies/fair_deadline/fd.h"

#define WISH_SCAN 4
#define SLICE_NS (UINT64_C(31250) * FD_US) /* the guard's precision */
/* Eight times the mean is what the last in a drive's queue waits when it takes the nearest first
 * and forgets nobody; below a quarter of a second nobody minds. */
#define GUARD_MEANS 8
#define GUARD_RATE 16 /* of the mean: half a drive's queue */
#define GUARD_LEAST_NS (250 * FD_MS)
#define SLICE_MASK ((UINT64_C(1) << (64 - FD_EST_BITS)) - 1)
/* Writeback that waits in the device slows readers: with readers about one a flow (R6). */
#define READERS_RECENT_NS (100 * FD_MS)

static struct fd_flow *by_wish(struct iosched_tree_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_flow, wish);
}

static iosched_time wish_of(const struct fd_flow *f)
{
	return ios_fifo_first(&f->wishes)->internal.expiry;
}

/* The flow's first wish, or its place, has changed. */
void ios_fd_wish_refile(struct fd *d, struct fd_flow *f)
{
	struct ios_rbtree *t = &d->wishes[f->async];
	struct iosched_tree_link **link = &t->root, *parent = NULL;

	if (f->wished)
		ios_rb_remove(t, &f->wish);
	f->wished = f->place == FD_QUEUED && !ios_fifo_empty(&f->wishes);
	if (!f->wished)
		return;
	/* Compared by what was filed: the wish of a flow that is being changed may move. */
	f->wish_at = wish_of(f);
	fd_lower_floor(d, f->wish_at);
	while (*link != NULL) {
		parent = *link;
		link = f->wish_at < by_wish(parent)->wish_at ? &parent->left : &parent->right;
	}
	ios_rb_insert(t, &f->wish, parent, link);
}

/* The flow whose first request by arrival is due first, and when. */
static struct fd_flow *first_due(const struct fd *d, bool async, iosched_time *when)
{
	struct fd_flow *best = NULL;
	unsigned i;

	*when = IOSCHED_NEVER;
	for (i = 0; i < FD_CLASSES; i++) {
		const struct fd_class *c = &d->cls[i];
		struct iosched_tree_link *l = async ? ios_rb_first(&c->ages) : NULL;
		struct fd_flow *f = NULL;

		if (l != NULL)
			f = IOS_CONTAINER(l, struct fd_flow, at.by_age);
		else if (!async && !ios_list_empty(&c->edf))
			f = IOS_CONTAINER(c->edf.next, struct fd_flow, edf);
		if (f != NULL && f->due < *when) {
			*when = f->due;
			best = f;
		}
	}
	return best;
}

static bool may_rescue(const struct fd *d, const struct fd_flow *f, iosched_time now)
{
	iosched_time sync = fd_sync_last(d, f->cls);

	return d->rotational || f->infl == 0 || fd_ago(now, sync) >= READERS_RECENT_NS || sync == 0;
}

/* A deadline of the host's buys order, not share: it counts while its flow is within credit. */
static struct iosched_request *first_wish(struct fd *d, bool async, iosched_time now)
{
	struct fd_flow *f = by_wish(ios_rb_first(&d->wishes[async]));
	int i;

	for (i = 0; i < WISH_SCAN && f != NULL && f->wish_at <= now; i++) {
		uint64_t credit = ios_fd_virtual(d, f, d->t.boost_credit_ns);

		if (!fd_before(ios_fd_vtime(d, f->cls) + credit, f->tag))
			return ios_fifo_first(&f->wishes);
		f = by_wish(ios_rb_next(&f->wish));
	}
	return NULL;
}

/* First of those that have had nothing, nor has their tenant, since they were due. */
static struct fd_flow *really_due(struct fd *d, bool async, iosched_time now)
{
	iosched_time when, last;
	struct fd_flow *f;

	while ((f = first_due(d, async, &when)) != NULL && when <= now) {
		uint64_t expire =
			async ? d->t.async_expire_ns[f->cls] : d->t.sync_expire_ns[f->cls];

		last = ios_fd_tenant_served(f);
		if (last == 0 || fd_ago(now, last) >= expire)
			return f;
		ios_fd_flow_postpone(d, f, last);
	}
	return NULL;
}

/* The request to rescue, or NULL. */
struct iosched_request *ios_fd_expired(struct fd *d, bool async, iosched_time now)
{
	struct iosched_request *wish = first_wish(d, async, now);
	struct fd_flow *f = really_due(d, async, now);

	if (wish != NULL && (f == NULL || wish->internal.expiry <= f->due))
		return wish;
	if (f == NULL || (async && !may_rescue(d, f, now)))
		return wish;
	return ios_fd_flow_oldest(f);
}

/* When the next one expires, if nothing changes. */
iosched_time ios_fd_next_expiry(const struct fd *d)
{
	iosched_time least = IOSCHED_NEVER, when;
	int async;

	for (async = 0; async < 2; async++) {
		const struct fd_flow *wisher = by_wish(ios_rb_first(&d->wishes[async]));

		first_due(d, async != 0, &when);
		least = fd_min(least, when);
		if (wisher != NULL)
			least = fd_min(least, wisher->wish_at);
	}
	return least;
}

/* -- the guard -- */

/* A drive may starve a request inside; it stops when it gets nothing else. */
static bool any_older(const struct fd *d, uint64_t ns)
{
	uint64_t slices = ns / SLICE_NS, i;

	for (i = slices + 1; i < FD_SLICES; i++)
		if (d->sent[(d->slice - i) % FD_SLICES] != 0)
			return true;
	return d->aged != 0;
}

static enum fd_starving how_starved(const struct fd *d)
{
	uint64_t usual = fd_max(GUARD_MEANS * d->device_lat, GUARD_LEAST_NS);

	if (d->t.guard_ns == 0 || !any_older(d, fd_min(d->t.guard_ns, usual)))
		return FD_NOT_STARVING;
	return any_older(d, d->t.guard_ns) ? FD_STARVING : FD_LAGGING;
}

/* Time has come this far: slices that fall out of the ring are old. */
void ios_fd_slice_advance_slow(struct fd *d, iosched_time now)
{
	uint64_t slice = now / SLICE_NS;
	unsigned i;

	d->slice_end = (slice + 1) * SLICE_NS;

	if (slice - d->slice >= FD_SLICES) {
		for (i = 0; i < FD_SLICES; i++) {
			d->aged += d->sent[i];
			d->sent[i] = 0;
		}
		d->slice = slice;
	}
	while (d->slice != slice) {
		d->slice++;
		d->aged += d->sent[d->slice % FD_SLICES];
		d->sent[d->slice % FD_SLICES] = 0;
	}
	d->starving = (uint8_t)how_starved(d);
	if (d->aged != 0 || d->starving)
		d->special = 1;
}

/* Its expiry is not needed any more: estimate and slice take its place. */
void ios_fd_slice_sent(struct fd *d, struct iosched_request *rq, uint64_t est)
{
	rq->internal.expiry = est | (d->slice & SLICE_MASK) << FD_EST_BITS;
	rq->internal.mark |= FD_MARK_SENT;
	d->sent[d->slice % FD_SLICES]++;
}

/* `plain`: none is old. */
void ios_fd_slice_done(struct fd *d, const struct iosched_request *rq, iosched_time now, bool plain)
{
	uint64_t slice = rq->internal.expiry >> FD_EST_BITS;
	uint64_t age = (d->slice - slice) & SLICE_MASK, took = fd_ago(now, rq->dispatched);

	d->device_lat = d->device_lat - d->device_lat / GUARD_RATE + took / GUARD_RATE;

	if (plain || age < FD_SLICES)
		d->sent[slice % FD_SLICES]--;
	else
		d->aged--;
	if (!plain && d->starving)
		d->starving = (uint8_t)how_starved(d);
}
