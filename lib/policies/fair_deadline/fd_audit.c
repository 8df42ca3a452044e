/* SPDX-License-Identifier: MIT */
/*
 * fd_audit: everything that must be true of the structures, walked.
 */
#include "policies/fair_deadline/fd.h"

#define TRUE_OR_RETURN(claim, sentence)  \
	do {                             \
		if (!(claim))            \
			return sentence; \
	} while (0)

struct totals {
	uint32_t nq, infl, async_infl, active, harmed, syncers;
	uint32_t cls_nq[FD_CLASSES], cls_infl[FD_CLASSES], cls_boosted[FD_CLASSES], odd;
	uint32_t present[FD_CLASSES], deep[FD_CLASSES];
};

static const char *audit_requests(const struct fd_flow *f)
{
	const struct ios_fifo *lists[2] = {&f->fifo, &f->wishes};
	const struct iosched_request *rq, *before;
	uint32_t n = 0, boosted = 0;
	bool prefix = true;
	int i;

	for (i = 0; i < 2; i++) {
		before = NULL;
		for (rq = ios_fifo_first(lists[i]); rq != NULL; rq = ios_fifo_next(lists[i], rq)) {
			bool boost = (rq->internal.mark & FD_MARK_BOOST) != 0;

			TRUE_OR_RETURN(fd_flow_of(rq) == f, "a queued request knows its flow");
			TRUE_OR_RETURN(ios_rqtree_linked(rq), "a queued request is sorted");
			TRUE_OR_RETURN(((rq->internal.mark & FD_MARK_WISH) != 0) == (i == 1),
				       "requests with a wish, and no others, are among the wishes");
			TRUE_OR_RETURN(i == 0 || before == NULL ||
					       before->internal.expiry <= rq->internal.expiry,
				       "wishes are in the order of their deadlines");
			prefix = prefix && boost;
			TRUE_OR_RETURN(!boost || prefix,
				       "boosted requests are a flow's first (I5)");
			boosted += boost;
			before = rq;
			n++;
		}
	}
	TRUE_OR_RETURN(n == f->nq && boosted == f->n_boosted, "a flow counts its requests");
	return NULL;
}

static bool in_tree(const struct ios_treap *t, const struct fd_flow *f)
{
	const struct ios_treap_link *l;

	for (l = t->first; l != NULL; l = ios_treap_next(l))
		if (l == &f->by_tag)
			return true;
	return false;
}

static const char *audit_place(const struct fd *d, const struct fd_flow *f)
{
	const struct fd_class *c = &d->cls[f->cls];
	bool queued = f->place == FD_QUEUED;

	TRUE_OR_RETURN(f->active == (f->place != FD_IDLE),
		       "an active flow, and no other, has a place");
	TRUE_OR_RETURN(f->active || !fd_waits(f), "a flow with requests is active");
	TRUE_OR_RETURN((f->nq != 0) == (queued || f->place == FD_PARKED),
		       "a flow with queued requests is queued or parked");
	TRUE_OR_RETURN(!queued || in_tree(&f->entity->flows, f), "a queued flow is in its entity");
	TRUE_OR_RETURN(f->place != FD_PARKED || in_tree(&f->parked_at->parked[fd_lane(f)], f),
		       "a parked flow is at its limiter");
	TRUE_OR_RETURN(f->place != FD_PRESENT || in_tree(&c->present, f),
		       "a present flow is among the present");
	TRUE_OR_RETURN(f->place != FD_RESTING || in_tree(&c->resting, f),
		       "a resting flow is among the resting");
	TRUE_OR_RETURN((f->place == FD_PARKED) == (f->parked_at != NULL),
		       "a parked flow knows where");
	TRUE_OR_RETURN(f->released_by == NULL ||
			       (queued && f->released_by->released[fd_lane(f)] == f),
		       "a released flow is queued, and its limiter waits for it");
	TRUE_OR_RETURN(f->wished == (queued && !ios_fifo_empty(&f->wishes)),
		       "a queued flow with wishes is among those");
	TRUE_OR_RETURN((f->async ? f->aged : !ios_list_empty(&f->edf)) == queued,
		       "a queued flow has a due time");
	TRUE_OR_RETURN(!ios_list_empty(&f->boosting) == (queued && f->n_boosted != 0),
		       "a queued flow with boosts is among those");
	TRUE_OR_RETURN(!ios_list_empty(&f->turn) == queued,
		       "a queued flow has a turn in its group");
	TRUE_OR_RETURN(!ios_list_empty(&f->owing) == (f->cw != 0), "who owes is listed");
	return NULL;
}

static const char *audit_home(const struct fd *d, const struct fd_flow *f)
{
	const struct fd_entity *e = f->entity;

	TRUE_OR_RETURN(e->cls == f->cls, "a flow's home is of its class");
	TRUE_OR_RETURN(f->async == (e->kind == FD_ASYNC), "an async flow is its own entity");
	TRUE_OR_RETURN(!f->async || e == &f->own, "an async flow is its own entity");
	TRUE_OR_RETURN(e->kind != FD_POOL || e == &d->cls[f->cls].pool, "a class has one POOL");
	TRUE_OR_RETURN(!ios_list_empty(&f->member) == (e->kind == FD_STREAM),
		       "a stream lists its members");
	TRUE_OR_RETURN(d->mode == FD_SERIAL || e->kind != FD_STREAM || !f->active,
		       "nobody is served exclusively in parallel mode");
	return NULL;
}

static void add(struct totals *t, const struct fd_flow *f)
{
	t->nq += f->nq;
	t->infl += f->infl;
	t->async_infl += f->async ? f->infl : 0;
	t->active++;
	t->harmed += f->harmed;
	t->odd += f->odd;
	t->cls_nq[f->cls] += f->nq;
	t->cls_boosted[f->cls] += f->n_boosted;
	t->cls_infl[f->cls] += f->infl;
	t->present[f->cls] += f->counted != 0;
	t->deep[f->cls] += f->counted == 2;
}

static const char *audit_list(const struct fd *d, struct iosched_list_link *list, struct totals *t)
{
	struct iosched_list_link *l;

	for (l = list->next; l != list; l = l->next) {
		const struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);
		const char *wrong = audit_requests(f);

		TRUE_OR_RETURN((list == &d->grace) == !fd_waits(f),
			       "flows with nothing, and no others, are in their grace period");
		if (wrong == NULL)
			wrong = audit_place(d, f);
		if (wrong == NULL)
			wrong = audit_home(d, f);
		if (wrong != NULL)
			return wrong;
		add(t, f);
	}
	return NULL;
}

static const char *audit_sorted(const struct fd_entity *e, uint32_t *nq)
{
	const struct iosched_request *rq;
	const char *wrong =
		e->grid != NULL ? ios_rqgrid_audit(e->grid) : ios_rqtree_audit(&e->sorted);

	if (wrong != NULL)
		return wrong;
	for (rq = ios_fd_sorted_first(e); rq != NULL; rq = ios_fd_sorted_next(e, rq)) {
		TRUE_OR_RETURN(fd_flow_of(rq)->entity == e,
			       "a request is sorted at its flow's home");
		++*nq;
	}
	return NULL;
}

static const char *audit_entity(struct fd_entity *e, uint32_t *nq)
{
	const char *wrong =
		e->starts != NULL ? ios_rqstarts_audit(e->starts, nq) : audit_sorted(e, nq);
	const struct fd_flow *f, *before = NULL;

	if (wrong == NULL)
		wrong = ios_treap_audit(&e->flows);
	if (wrong != NULL)
		return wrong;
	for (f = fd_flow_first(&e->flows); f != NULL; f = fd_flow_next(f)) {
		TRUE_OR_RETURN(before == NULL || !fd_before(f->tag, before->tag),
			       "flows are in the order of their tags");
		TRUE_OR_RETURN(f->place == FD_QUEUED && f->entity == e,
			       "an entity's flows are queued");
		before = f;
	}
	f = fd_flow_first(&e->flows);
	TRUE_OR_RETURN(!e->next_known || e->next == ios_fd_sorted_from(e, e->hpos),
		       "an entity's finger is at its sweep");
	TRUE_OR_RETURN(e->ready == (f != NULL), "an entity with queued flows is ready");
	TRUE_OR_RETURN(f == NULL || e->key == f->tag, "an entity's key is its least tag");
	return NULL;
}

static const char *audit_ready(struct fd *d, struct fd_class *c, int async)
{
	struct iosched_tree_link *l;
	const char *wrong = ios_rb_audit(&c->ready[async]);

	for (l = ios_rb_first(&c->ready[async]); wrong == NULL && l != NULL; l = ios_rb_next(l)) {
		struct fd_entity *e = fd_entity_of_link(l), *next;
		uint32_t nq = 0;

		TRUE_OR_RETURN((e->kind == FD_ASYNC) == (async != 0), "async entities are apart");
		TRUE_OR_RETURN(&d->cls[e->cls] == c, "an entity is ready in its class");
		next = fd_entity_of_link(ios_rb_next(l));
		TRUE_OR_RETURN(next == NULL || !fd_before(next->key, e->key),
			       "entities are in the order of their keys");
		wrong = audit_entity(e, &nq);
		if (wrong == NULL && nq + e->infl != e->outstanding)
			wrong = "an entity counts its requests";
	}
	return wrong;
}

static const char *audit_class(struct fd *d, struct fd_class *c, const struct totals *t, unsigned i)
{
	struct iosched_list_link *l;
	const struct fd_flow *before = NULL;
	const char *wrong = ios_treap_audit(&c->present);

	TRUE_OR_RETURN(c->n_boosted == t->cls_boosted[i], "a class counts its boosts");
	TRUE_OR_RETURN(c->nq == t->cls_nq[i] && c->infl == t->cls_infl[i],
		       "a class counts its requests");
	TRUE_OR_RETURN(c->n_present == t->present[i] && c->n_deep == t->deep[i],
		       "the POOL counts its flows");
	for (l = c->edf.next; l != &c->edf; l = l->next) {
		const struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, edf);

		TRUE_OR_RETURN(before == NULL || before->due <= f->due,
			       "sync flows are in order of due");
		before = f;
	}
	if (wrong == NULL)
		wrong = ios_treap_audit(&c->resting);
	if (wrong == NULL)
		wrong = ios_rb_audit(&c->ages);
	if (wrong == NULL)
		wrong = ios_rb_audit(&c->ends);
	if (wrong == NULL)
		wrong = audit_ready(d, c, 0);
	return wrong == NULL ? audit_ready(d, c, 1) : wrong;
}

static const char *audit_limiters(const struct fd *d)
{
	struct iosched_tree_link *l;
	const char *wrong = ios_rb_audit(&d->wakes);

	for (l = ios_rb_first(&d->dues); wrong == NULL && l != NULL; l = ios_rb_next(l))
		if (IOS_CONTAINER(l, struct fd_limiter, due)->n_active == 0)
			return "a reservation is due only to those that are active";
	if (wrong == NULL)
		wrong = ios_rb_audit(&d->dues);
	return wrong;
}

static const char *audit_sent(const struct fd *d)
{
	uint32_t n = d->aged;
	unsigned i;

	for (i = 0; i < FD_SLICES; i++)
		n += d->sent[i];
	TRUE_OR_RETURN(n == d->infl, "every request in flight is in a slice");
	TRUE_OR_RETURN(d->boost_infl <= d->infl, "boosted ones in flight are in flight");
	TRUE_OR_RETURN(d->flushing != FD_FENCE || d->mode == FD_PARALLEL ||
			       d->infl == d->boost_infl || d->env->flush == NULL,
		       "our FLUSH is out while we wait for it");
	return NULL;
}

const char *ios_fd_audit(void *self)
{
	struct fd *d = self;
	struct totals t = {0};
	const char *wrong = audit_list(d, &d->busy, &t);
	unsigned i;

	if (wrong == NULL)
		wrong = audit_list(d, &d->grace, &t);
	if (wrong == NULL)
		wrong = audit_sent(d);
	if (wrong == NULL)
		wrong = audit_limiters(d);
	for (i = 0; wrong == NULL && i < FD_CLASSES; i++)
		wrong = audit_class(d, &d->cls[i], &t, i);
	if (wrong != NULL)
		return wrong;
	TRUE_OR_RETURN(t.infl == d->infl && t.async_infl == d->async_infl, "in flight is counted");
	TRUE_OR_RETURN(t.active == d->n_active, "active flows are counted");
	TRUE_OR_RETURN(t.harmed == d->n_harmed, "harmed flows are counted");
	TRUE_OR_RETURN(d->special || (d->n_limits == 0 && d->hold.flow == NULL &&
				      d->flushing == FD_NO_FLUSH && d->boost_infl == 0 &&
				      d->depth_lim == 0 && d->aged == 0 && !d->starving),
		       "what is special is known to be");
	TRUE_OR_RETURN(t.odd == d->n_odd, "flows of a weight of their own are counted");
	TRUE_OR_RETURN(d->hold.flow == NULL || d->hold.flow->owner != NULL,
		       "a hold is for somebody");
	return NULL;
}
