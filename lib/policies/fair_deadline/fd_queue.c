/* SPDX-License-Identifier: MIT */
/*
 * fd_queue: a flow's requests, and when the flow is due for them.
 *
 * `fifo` holds them by arrival, boosted ones first; `wishes` those with a deadline of the host's,
 * by that. `due` is when the flow is expired: sync, the oldest's expiry or a deadline after its
 * last dispatch, whichever is later, so that serving it puts it at the end of the list; async, the
 * oldest's expiry, in a tree.
 */
#include "policies/fair_deadline/fd.h"

static void age_insert(struct ios_rbtree *t, struct fd_flow *f)
{
	struct iosched_tree_link **link = &t->root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = f->due < IOS_CONTAINER(parent, struct fd_flow, at.by_age)->due
			       ? &parent->left
			       : &parent->right;
	}
	ios_rb_insert(t, &f->at.by_age, parent, link);
}

static void unfile_due(struct fd *d, struct fd_flow *f)
{
	if (!f->async)
		ios_list_remove(&f->edf);
	else if (f->aged)
		ios_rb_remove(&d->cls[f->cls].ages, &f->at.by_age);
	if (f->async)
		f->aged = 0;
}

static void file_due(struct fd *d, struct fd_flow *f)
{
	struct fd_class *c = &d->cls[f->cls];
	struct iosched_list_link *at = &c->edf;

	fd_lower_floor(d, f->due);
	if (f->async) {
		age_insert(&c->ages, f);
		f->aged = 1;
		return;
	}
	while (at->prev != &c->edf && IOS_CONTAINER(at->prev, struct fd_flow, edf)->due > f->due)
		at = at->prev;
	ios_list_insert_before(at, &f->edf);
}

/* First in its due list: its tenant was served at `last`, so it is not due yet. */
void ios_fd_flow_postpone(struct fd *d, struct fd_flow *f, iosched_time last)
{
	unfile_due(d, f);
	f->due = last + (f->async ? d->t.async_expire_ns[f->cls] : d->t.sync_expire_ns[f->cls]);
	file_due(d, f);
}

/* Sync, and its oldest request expires at `expiry`. */
static inline iosched_time due_by_arrival(const struct fd *d, const struct fd_flow *f,
					  iosched_time expiry)
{
	return fd_max(expiry, f->t_dispatch + d->t.sync_expire_ns[f->cls]);
}

/* When the flow would be expired if it got nothing until then. */
static iosched_time due_of(const struct fd *d, const struct fd_flow *f)
{
	const struct iosched_request *a = ios_fifo_first(&f->fifo);
	const struct iosched_request *b = ios_fifo_first(&f->wishes);
	uint64_t expire = f->async ? d->t.async_expire_ns[f->cls] : d->t.sync_expire_ns[f->cls];
	iosched_time due = a == NULL ? IOSCHED_NEVER : a->internal.expiry;

	if (b != NULL)
		due = fd_min(due, b->inserted + expire);
	return f->async ? due : due_by_arrival(d, f, due);
}

/* Its oldest request or its last dispatch has changed. */
void ios_fd_flow_refile_due(struct fd *d, struct fd_flow *f)
{
	bool filed = f->async ? f->aged : !ios_list_empty(&f->edf);
	bool file = f->place == FD_QUEUED && f->nq != 0;
	iosched_time due = file ? due_of(d, f) : 0;

	if (filed && file && due == f->due)
		return;
	if (filed)
		unfile_due(d, f);
	f->due = due;
	if (file)
		file_due(d, f);
}

static void file_boost(struct fd *d, struct fd_flow *f)
{
	struct iosched_list_link *head = &d->cls[f->cls].boosts, *at = head;
	iosched_time since = ios_fifo_first(&f->fifo)->inserted;

	while (at->prev != head &&
	       ios_fifo_first(&IOS_CONTAINER(at->prev, struct fd_flow, boosting)->fifo)->inserted >
		       since)
		at = at->prev;
	ios_list_insert_before(at, &f->boosting);
}

void ios_fd_sort_slow(struct fd_entity *e, struct iosched_request *rq)
{
	if (e->grid != NULL)
		ios_rqgrid_insert_slow(e->grid, rq);
	else
		ios_rqtree_insert(&e->sorted, rq);
}

void ios_fd_unsort_slow(struct fd_entity *e, struct iosched_request *rq)
{
	if (e->next_known && e->next == rq)
		e->next = ios_fd_sorted_next(e, rq);
	if (e->grid != NULL)
		ios_rqgrid_remove(e->grid, rq);
	else
		ios_rqtree_remove(&e->sorted, rq);
}

/* Boosted requests are the first of the fifo; the list of flows goes by their age. */
void ios_fd_refile_boost(struct fd *d, struct fd_flow *f)
{
	ios_list_remove(&f->boosting);
	if (f->n_boosted != 0 && f->place == FD_QUEUED)
		file_boost(d, f);
}

struct iosched_request *ios_fd_flow_oldest_of_both(const struct fd_flow *f)
{
	struct iosched_request *a = ios_fifo_first(&f->fifo), *b = ios_fifo_first(&f->wishes);

	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	return b->inserted < a->inserted ? b : a;
}

static void insert_wish(struct fd_flow *f, struct iosched_request *rq)
{
	struct iosched_list_link *at = &f->wishes.head;

	while (at->prev != &f->wishes.head &&
	       ios_fifo_entry(at->prev)->internal.expiry > rq->internal.expiry)
		at = at->prev;
	ios_list_insert_before(at, &rq->internal.fifo);
}

/* By arrival, but not before boosted ones: they stay a flow's first. */
static struct iosched_list_link *place_by_arrival(struct fd_flow *f,
						  const struct iosched_request *rq)
{
	struct iosched_list_link *at = &f->fifo.head;

	while (at->prev != &f->fifo.head && ios_fifo_entry(at->prev)->inserted > rq->inserted &&
	       !(ios_fifo_entry(at->prev)->internal.mark & FD_MARK_BOOST))
		at = at->prev;
	return at;
}

static inline void count_in(struct fd_flow *f, struct iosched_request *rq)
{
	rq->internal.queue = f;
	f->nq++;
	f->of->nq++;
	f->entity->outstanding++;
}

/* Queue `rq`; the caller settles the flow. */
void ios_fd_flow_link(struct fd *d, struct fd_flow *f, struct iosched_request *rq)
{
	bool wish = (rq->internal.mark & FD_MARK_WISH) != 0;

	if (wish)
		insert_wish(f, rq);
	else
		ios_list_insert_before(place_by_arrival(f, rq), &rq->internal.fifo);
	count_in(f, rq);
	ios_fd_file(f->entity, rq);
	if (rq->internal.mark & FD_MARK_BOOST) {
		f->n_boosted++;
		f->of->n_boosted++;
	}
	if (f->place != FD_QUEUED)
		return;
	if (wish || ios_fifo_first(&f->fifo) == rq)
		ios_fd_flow_refile_due(d, f);
	if (rq->internal.mark & FD_MARK_BOOST)
		ios_fd_refile_boost(d, f);
	if (wish)
		ios_fd_wish_refile(d, f);
}

/* The same of a plain one that is the last to arrive at a QUEUED flow with others. */
void ios_fd_flow_append(struct fd_flow *f, struct iosched_request *rq, enum fd_road road)
{
	ios_fifo_append(&f->fifo, rq);
	count_in(f, rq);
	if (road == FD_FLASH)
		ios_rqstarts_insert(&f->of->starts, rq);
	else
		ios_fd_sort_in(f->entity, rq);
}

/* Out of all but the due list. */
static inline __attribute__((always_inline)) void
unlink_request(struct fd *d, struct fd_flow *f, struct iosched_request *rq, enum fd_road road)
{
	rq->internal.fifo.prev->next = rq->internal.fifo.next;
	rq->internal.fifo.next->prev = rq->internal.fifo.prev;
	if (road == FD_FLASH)
		ios_rqstarts_remove(rq);
	else if (road == FD_PLAIN)
		ios_fd_sort_out(f->entity, rq);
	else
		ios_fd_unfile(f->entity, rq);
	f->nq--;
	f->of->nq--;
	if (road != FD_ROAD)
		return;
	if (rq->internal.mark & FD_MARK_BOOST) {
		f->n_boosted--;
		f->of->n_boosted--;
		ios_fd_refile_boost(d, f);
	}
	if (rq->internal.mark & FD_MARK_WISH)
		ios_fd_wish_refile(d, f);
}

/* Take it out; the caller settles the flow. */
void ios_fd_flow_unlink(struct fd *d, struct fd_flow *f, struct iosched_request *rq)
{
	unlink_request(d, f, rq, FD_ROAD);
	f->entity->outstanding--;
	ios_fd_flow_refile_due(d, f);
}

/* It is sent: taken out, but outstanding still. The caller settles the flow. A plain one has no
 * mark, and its flow has others, all by arrival. */
void ios_fd_flow_take(struct fd *d, struct fd_flow *f, struct iosched_request *rq,
		      enum fd_road road)
{
	struct iosched_list_link *edf = &f->of->edf;
	iosched_time due;

	unlink_request(d, f, rq, road);
	if (road == FD_ROAD && f->nq == 0)
		return; /* it is about to leave the due list */
	if (road == FD_ROAD && (f->async || !ios_fifo_empty(&f->wishes))) {
		ios_fd_flow_refile_due(d, f);
		return;
	}
	/* A deadline after its last dispatch, which was just now, is the last of all, as a rule. */
	due = due_by_arrival(d, f, ios_fifo_entry(f->fifo.head.next)->internal.expiry);
	if (due < IOS_CONTAINER(edf->prev, struct fd_flow, edf)->due) {
		ios_fd_flow_refile_due(d, f);
		return;
	}
	if (due == f->due)
		return;
	f->due = due;
	fd_lower_floor(d, due);
	if (f->edf.next == edf)
		return;
	f->edf.prev->next = f->edf.next;
	f->edf.next->prev = f->edf.prev;
	ios_list_insert_before(edf, &f->edf);
}
