/* SPDX-License-Identifier: MIT */
/*
 * fd_stream: where a sync flow is at home: in the POOL of random ones, or in a stream,
 * alone or with others that continue each other.
 *
 * `near` is the share of recent arrivals that were close to the flow's last one or to the head:
 * above a half it is sequential. Two flows of which one continues the other twice become one
 * stream (readers of one file through several threads); a member that strays four
 * times leaves. Moving a flow relinks its requests, so a flow moves at most once in a
 * quarter as many arrivals as it has queued: four relinks an arrival at worst.
 */
#include "policies/fair_deadline/fd.h"

#define NEAR_RATE 6	    /* of near: four strays or four neighbours change one's mind */
#define CONTIG_BYTES 32768u /* two requests this close need no positioning (half a track skew) */
#define COOP_RECENT_NS (200 * FD_MS) /* a partner idle for longer is none */
#define COOP_SCAN 4		     /* ends looked at for one arrival */
#define STRIKES 4

static inline bool within(const struct fd *d, uint64_t offset, uint64_t place)
{
	return offset + d->t.near_back_bytes >= place && offset <= place + d->t.near_forward_bytes;
}

static void move_requests(struct fd_flow *f, struct ios_fifo *fifo, struct fd_entity *to)
{
	struct iosched_request *rq;

	for (rq = ios_fifo_first(fifo); rq != NULL; rq = ios_fifo_next(fifo, rq)) {
		ios_fd_unfile(f->entity, rq);
		ios_fd_file(to, rq);
	}
}

static void count_at(struct fd *d, struct fd_flow *f, struct fd_entity *e, bool on)
{
	uint32_t load = f->nq + f->infl;

	e->n_flows = on ? e->n_flows + 1 : e->n_flows - 1;
	e->outstanding = on ? e->outstanding + load : e->outstanding - load;
	e->infl = on ? e->infl + f->infl : e->infl - f->infl;
	if (!f->active)
		return;
	if (on)
		d->cls[e->cls].n_entities += e->n_active++ == 0;
	else
		d->cls[e->cls].n_entities -= --e->n_active == 0;
}

/* The flow and all it has move to `to`. */
void ios_fd_flow_home(struct fd *d, struct fd_flow *f, struct fd_entity *to)
{
	struct fd_entity *from = f->entity;
	enum fd_place place = (enum fd_place)f->place;

	if (from == to)
		return;
	ios_fd_flow_lift(d, f);
	move_requests(f, &f->fifo, to);
	move_requests(f, &f->wishes, to);
	count_at(d, f, from, false);
	count_at(d, f, to, true);
	if (from->last == f)
		from->last = NULL;
	ios_list_remove(&f->member);
	f->entity = to;
	f->arrivals = 0;
	f->strikes = 0;
	if (to->kind == FD_STREAM)
		ios_list_insert_before(&to->members, &f->member);
	/* A POOL thinker that became a stream's, or the other way round. */
	if (place == FD_PRESENT && to->kind != FD_POOL)
		place = FD_RESTING;
	ios_fd_flow_drop(d, f, place);
}

static struct fd_flow *member_of(struct iosched_list_link *l)
{
	return IOS_CONTAINER(l, struct fd_flow, member);
}

/* `f` becomes random. Others that lived in its stream move to the next member's. */
void ios_fd_stream_leave(struct fd *d, struct fd_flow *f)
{
	struct fd_entity *own = &f->own;

	ios_fd_flow_home(d, f, &d->cls[f->cls].pool);
	if (ios_list_empty(&own->members))
		return;
	struct fd_entity *heir = &member_of(own->members.next)->own;

	ios_fd_move_sweep(heir, own->hpos);
	heir->tau = own->tau;
	heir->parr = own->parr;
	heir->t_lc = own->t_lc;
	ios_fd_stream_join(d, own, heir);
	if (d->e == own)
		d->e = heir;
}

void ios_fd_stream_join(struct fd *d, struct fd_entity *from, struct fd_entity *to)
{
	struct iosched_list_link *l = from->members.next;

	while (l != &from->members) {
		struct fd_flow *f = member_of(l);

		l = l->next;
		ios_fd_flow_home(d, f, to);
	}
}

/* After a change of mode every active flow's home is another. */
void ios_fd_rehome_all(struct fd *d)
{
	struct iosched_list_link *list[2] = {&d->busy, &d->grace}, *l;
	int i;

	for (i = 0; i < 2; i++)
		for (l = list[i]->next; l != list[i]; l = l->next) {
			struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);

			if (!f->async && d->mode == FD_PARALLEL && f->entity->kind == FD_STREAM)
				ios_fd_stream_leave(d, f);
		}
	d->e = NULL;
	d->hold.flow = NULL;
}

static struct fd_flow *flow_by_end(struct iosched_tree_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_flow, at.by_end);
}

void ios_fd_forget_end(struct fd *d, struct fd_flow *f)
{
	if (f->ended)
		ios_rb_remove(&d->cls[f->cls].ends, &f->at.by_end);
	f->ended = 0;
}

static void file_end(struct fd *d, struct fd_flow *f)
{
	struct ios_rbtree *t = &d->cls[f->cls].ends;
	struct iosched_tree_link **link = &t->root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = f->last_end < flow_by_end(parent)->last_end ? &parent->left : &parent->right;
	}
	ios_rb_insert(t, &f->at.by_end, parent, link);
	f->ended = 1;
}

static void set_end(struct fd *d, struct fd_flow *f, uint64_t end, bool sequential)
{
	struct fd_flow *next;

	if (f->ended && sequential && end >= f->last_end) {
		next = flow_by_end(ios_rb_next(&f->at.by_end));
		if (next == NULL || next->last_end >= end) {
			f->last_end = end;
			return;
		}
	}
	ios_fd_forget_end(d, f);
	f->last_end = end;
	if (sequential)
		file_end(d, f);
}

static struct fd_flow *first_end_from(const struct fd_class *c, uint64_t end)
{
	struct iosched_tree_link *l = c->ends.root;
	struct fd_flow *best = NULL;

	while (l != NULL) {
		struct fd_flow *f = flow_by_end(l);

		if (f->last_end >= end)
			best = f;
		l = f->last_end >= end ? l->left : l->right;
	}
	return best;
}

/* The flow of another stream that `rq` continues, or NULL. */
static struct fd_flow *partner(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			       iosched_time now)
{
	uint64_t low = rq->offset > CONTIG_BYTES ? rq->offset - CONTIG_BYTES : 0;
	struct fd_flow *g = first_end_from(&d->cls[f->cls], low);
	int i;

	for (i = 0; i < COOP_SCAN && g != NULL && g->last_end <= rq->offset + CONTIG_BYTES; i++) {
		bool recent = g->nq + g->infl != 0 || fd_ago(now, g->t_lc) < COOP_RECENT_NS;

		if (g != f && g->entity != f->entity && g->entity->kind == FD_STREAM && recent)
			return g;
		g = flow_by_end(ios_rb_next(&g->at.by_end));
	}
	return NULL;
}

static void join_larger(struct fd *d, struct fd_entity *a, struct fd_entity *b)
{
	bool into_b = d->e == b || (d->e != a && b->outstanding >= a->outstanding);

	if (into_b)
		ios_fd_stream_join(d, a, b);
	else
		ios_fd_stream_join(d, b, a);
}

static void look_for_partner(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			     iosched_time now)
{
	struct fd_flow *g = partner(d, f, rq, now);

	if (g == NULL)
		return;
	if (f->coop == g->owner->ctx->id + 1) {
		iosched_tell(d->env, now, "two streams continue each other: one from now on",
			     f->owner->ctx->id, g->owner->ctx->id, IOSCHED_NEVER);
		join_larger(d, f->entity, g->entity);
	}
	f->coop = g->owner->ctx->id + 1;
}

static void count_strikes(struct fd *d, struct fd_flow *f, const struct iosched_request *rq)
{
	if (within(d, rq->offset, d->head) || within(d, rq->offset, f->entity->hpos)) {
		f->strikes = 0;
	} else if (++f->strikes >= STRIKES) {
		ios_fd_stream_leave(d, f);
		ios_fd_flow_home(d, f, &f->own);
	}
}

static void observe_stream(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			   bool sequential, iosched_time now)
{
	if (sequential != (f->entity->kind == FD_STREAM) && f->arrivals >= f->nq / 4) {
		if (sequential)
			ios_fd_flow_home(d, f, &f->own);
		else
			ios_fd_stream_leave(d, f);
	} else if (sequential && f->entity->kind == FD_STREAM && f->arrivals >= f->nq / 4) {
		look_for_partner(d, f, rq, now);
		if (f->entity->n_flows > 1)
			count_strikes(d, f, rq);
	}
	set_end(d, f, rq->offset + rq->length, f->entity->kind == FD_STREAM);
}

static uint32_t mean_near(const struct fd *d, const struct fd_flow *f,
			  const struct iosched_request *rq, bool *near)
{
	*near = within(d, rq->offset, f->last_end) || within(d, rq->offset, d->head);
	return ((NEAR_RATE - 1) * f->near + (*near ? FD_ONE : 0)) / NEAR_RATE;
}

/* The short form of what follows, of a flow in the POOL that has others and stays there; false: it
 * is not that, and nothing was done. */
bool ios_fd_observe_random(struct fd *d, struct fd_flow *f, const struct iosched_request *rq)
{
	bool near;
	uint32_t mean = mean_near(d, f, rq, &near);

	if (f->entity->kind != FD_POOL || f->ended || (mean > FD_ONE / 2 && d->mode == FD_SERIAL))
		return false;
	f->near = mean;
	f->arrivals++;
	f->last_end = rq->offset + rq->length;
	return true;
}

/* A new request of sync flow `f`, not linked yet: what it says of its pattern. */
void ios_fd_observe(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
		    iosched_time now)
{
	bool near, sequential;

	if (!d->rotational) { /* never serial: places mean nothing */
		ios_fd_thought(d, f, false, now);
		return;
	}
	f->near = mean_near(d, f, rq, &near);
	sequential = d->mode == FD_SERIAL && f->near > FD_ONE / 2;
	ios_fd_thought(d, f, near, now);
	f->arrivals++;
	if (!sequential && f->entity->kind == FD_POOL && !f->ended)
		f->last_end = rq->offset + rq->length;
	else
		observe_stream(d, f, rq, sequential, now);
}

/* Think times of 20 ms and more are all "long"; 8 ms is the longest a stream is held for,
 * 2 ms the POOL. */
#define THINK_MAX_NS (20 * FD_MS)

static void sample(uint64_t *tau, uint32_t *parr, uint64_t think, uint64_t window)
{
	*tau = (7 * *tau + fd_min(think, THINK_MAX_NS)) / 8;
	*parr = (7 * *parr + (think <= window ? FD_ONE : 0)) / 8;
}

/* A request arrives at an empty flow: how long did its owner think? */
void ios_fd_thought_slow(struct fd *d, struct fd_flow *f, bool near, iosched_time now)
{
	uint64_t window = near ? d->t.hold_stream_ns : d->t.hold_pool_ns;
	struct fd_entity *e = f->entity;

	if (f->nq == 0 && f->infl == 0 && f->t_lc != 0)
		sample(&f->tau, &f->parr, fd_ago(now, f->t_lc), window);
	if (e->kind == FD_STREAM && e->n_flows > 1 && e->outstanding == 0 && e->t_lc != 0)
		sample(&e->tau, &e->parr, fd_ago(now, e->t_lc), window);
}

static uint64_t distance(const struct fd *d, const struct iosched_request *rq)
{
	return rq->span_offset > d->head ? rq->span_offset - d->head : d->head - rq->span_offset;
}

static struct iosched_request *nearer(const struct fd *d, struct iosched_request *a,
				      struct iosched_request *b)
{
	if (b == NULL || fd_flow_of(b)->place != FD_QUEUED || !within(d, b->span_offset, d->head))
		return a;
	if (a == NULL)
		return b;
	return distance(d, b) < distance(d, a) ? b : a;
}

/* The sync request of the class nearest to the head, outside `e`; NULL: none is near. */
struct iosched_request *ios_fd_near_head(struct fd *d, struct fd_class *c,
					 const struct fd_entity *e)
{
	uint64_t low = d->head > d->t.near_back_bytes ? d->head - d->t.near_back_bytes : 0;
	struct iosched_request *best = NULL;
	struct fd_flow *g = first_end_from(c, low);
	int i;

	if (e != &c->pool)
		best = nearer(d, NULL, ios_fd_sorted_from(&c->pool, low));
	for (i = 0; i < COOP_SCAN && g != NULL; i++, g = flow_by_end(ios_rb_next(&g->at.by_end)))
		if (g->entity != e && g->entity->kind == FD_STREAM)
			best = nearer(d, best, ios_fd_sorted_from(g->entity, low));
	return best;
}
