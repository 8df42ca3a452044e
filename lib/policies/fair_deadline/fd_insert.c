/* SPDX-License-Identifier: MIT */
/*
 * A request arrives: whose it is, when it is due, whether it may pass the others (a boost), and
 * whether somebody should dispatch now.
 */
#include "policies/fair_deadline/fd.h"

#define SYNCER_RECENT_NS FD_SEC
/* Each boosted log write costs a rotation when there is no cache, and shrinks group commit: a
 * database's eight clients lost a quarter at depth 1. Up to three are not each other's load. */
#define SYNCERS_BOOSTED 3

static bool expires_by_wish(const struct fd *d, struct iosched_request *rq, const struct fd_flow *f)
{
	uint64_t expire = f->async ? d->t.async_expire_ns[f->cls] : d->t.sync_expire_ns[f->cls];

	rq->internal.expiry = rq->inserted + expire;
	if (rq->deadline == 0 || rq->deadline >= rq->internal.expiry)
		return false;
	rq->internal.expiry = rq->deadline;
	return true;
}

static void count_syncer(struct fd *d, struct fd_flow *f, iosched_time now)
{
	struct iosched_list_link *l;

	if (ios_list_empty(&f->syncing))
		d->n_syncers++;
	else
		ios_list_remove(&f->syncing);
	f->t_syncwrite = now;
	ios_list_insert_before(&d->syncers, &f->syncing);
	while ((l = d->syncers.next) != &f->syncing &&
	       fd_ago(now, IOS_CONTAINER(l, struct fd_flow, syncing)->t_syncwrite) >=
		       SYNCER_RECENT_NS) {
		ios_list_remove(l);
		d->n_syncers--;
	}
}

/* A small sync write whose flow is within its credit, and does not pass its own. */
static bool deserves_boost(struct fd *d, struct fd_flow *f, const struct iosched_request *rq)
{
	uint64_t bound;

	if (rq->span_length > d->t.boost_bytes || f->nq != f->n_boosted)
		return false;
	if (!d->wce && !d->array && d->mode == FD_SERIAL && d->n_syncers > SYNCERS_BOOSTED)
		return false;
	bound = ios_fd_vtime(d, f->cls) + ios_fd_virtual(d, f, fd_boost_credit(d));
	return !fd_before(bound, f->tag);
}

static bool ends_hold(const struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	if (d->hold.flow == NULL)
		return false;
	if (f == d->hold.flow || (d->e != NULL && d->e == f->entity))
		return true;
	return d->e != NULL && d->e->kind == FD_STREAM && !f->async &&
	       rq->span_offset + d->t.near_back_bytes >= d->head &&
	       rq->span_offset <= d->head + d->t.near_forward_bytes;
}

static void kick(struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	if (!f->async || rq->span_length >= d->t.kick_bytes)
		d->env->kick |= IOSCHED_KICK_NOW;
}

static __attribute__((noinline)) void insert_any(struct fd *d, struct fd_flow *f,
						 struct iosched_request *rq, iosched_time now)
{
	bool fsync = rq->op == IOSCHED_WRITE && !f->async;

	fd_tick(d, now);
	if (!f->async)
		ios_fd_observe(d, f, rq, now);
	ios_fd_flow_activate(d, f);
	if (d->cls[IOSCHED_IDLE].nq != 0 && f->cls != IOSCHED_IDLE)
		ios_fd_idle_pause_over(d, now);
	fd_seen(f, now);
	if (fsync)
		count_syncer(d, f, now);
	rq->internal.mark = 0;
	if (expires_by_wish(d, rq, f))
		rq->internal.mark = FD_MARK_WISH;
	else if (fsync && deserves_boost(d, f, rq))
		rq->internal.mark = FD_MARK_BOOST;
	ios_fd_flow_link(d, f, rq);
	ios_fd_flow_settle(d, f, now);
	if (rq->merged != NULL)
		ios_fd_share_again(d, rq);
	if (ends_hold(d, f, rq))
		ios_fd_hold_end(d, now, false);
	kick(d, f, rq);
}

/* The same of one more read of a flow that has some queued: most requests under load. */
static inline __attribute__((always_inline)) void insert_another(struct fd *d, struct fd_flow *f,
								 struct iosched_request *rq,
								 iosched_time now,
								 const enum fd_road road)
{
	f->of->seen = f->of->sync_seen = now;
	rq->internal.mark = 0;
	rq->internal.expiry = rq->inserted + d->t.sync_expire_ns[f->cls];
	d->env->kick |= IOSCHED_KICK_NOW;
	if (f->counted == 1) {
		f->counted = 2;
		f->of->n_deep++;
	}
	ios_fd_flow_append(f, rq, road);
}

static inline __attribute__((always_inline)) bool
is_another(const struct fd *d, const struct fd_flow *f, const struct iosched_request *rq)
{
	return rq->op == IOSCHED_READ && rq->deadline == 0 && rq->merged == NULL && !d->special &&
	       f->ordinary && f->place == FD_QUEUED && !ios_fifo_empty(&f->fifo) &&
	       ios_fifo_entry(f->fifo.head.prev)->inserted <= rq->inserted;
}

static __attribute__((noinline)) void insert_with_arm(struct fd *d, struct iosched_request *rq,
						      iosched_time now)
{
	struct fd_flow *f = ios_fd_flow_for(rq);

	if (now >= d->alarm || !is_another(d, f, rq) || !ios_fd_observe_random(d, f, rq)) {
		insert_any(d, f, rq, now);
		return;
	}
	d->now = now;
	insert_another(d, f, rq, now, FD_PLAIN);
}

void ios_fd_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct fd *d = self;
	struct fd_flow *f;

	if (d->rotational) {
		insert_with_arm(d, rq, now);
		return;
	}
	f = ios_fd_flow_for(rq);
	if (now >= d->alarm || !is_another(d, f, rq)) {
		insert_any(d, f, rq, now);
		return;
	}
	d->now = now;
	insert_another(d, f, rq, now, FD_FLASH);
}
