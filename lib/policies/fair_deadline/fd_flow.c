/* SPDX-License-Identifier: MIT */
/*
 * fd_flow: flows: their virtual tags, and the one place each is in.
 *
 * ios_fd_flow_settle() is the only judge of places: it looks at what a flow has and
 * moves it. Whatever hangs on being QUEUED (the entity's key, due lists, boosts, wishes, the
 * tenants' counts) is done in enter() and leave, so a parked flow is in none of them.
 *
 * Virtual time of a class: the least tag of its active flows, never going back. A flow is
 * active while it has something and for a grace period after.
 */
#include "policies/fair_deadline/fd.h"

/* Tags further apart than this (13 days) are leftovers of before a wrap, or of a weight so
 * small that it would never be served again. */
#define LEAD_MAX (INT64_C(1) << 50)

static __attribute__((noinline)) void tag_descend(struct ios_treap *t, struct fd_flow *f)
{
	struct ios_treap_link **link = &t->root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = fd_before(f->tag, fd_flow_by_tag(parent)->tag) ? &parent->left
								      : &parent->right;
	}
	ios_treap_insert(t, &f->by_tag, parent, link);
}

static inline __attribute__((always_inline)) void tag_insert(struct ios_treap *t, struct fd_flow *f)
{
	if (t->last != NULL && fd_before(f->tag, fd_flow_by_tag(t->last)->tag))
		tag_descend(t, f);
	else
		ios_treap_append(t, &f->by_tag);
}

static struct ios_treap *tree_of(struct fd *d, struct fd_flow *f)
{
	struct fd_class *c = &d->cls[f->cls];

	switch ((enum fd_place)f->place) {
	case FD_QUEUED:
		return &f->entity->flows;
	case FD_PARKED:
		return &f->parked_at->parked[fd_lane(f)];
	case FD_PRESENT:
		return &c->present;
	case FD_RESTING:
		return &c->resting;
	case FD_IDLE:
		break;
	}
	return NULL;
}

static void ready_insert(struct ios_rbtree *t, struct fd_entity *e)
{
	struct iosched_tree_link **link = &t->root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = fd_before(e->key, fd_entity_of_link(parent)->key) ? &parent->left
									 : &parent->right;
	}
	ios_rb_insert(t, &e->link, parent, link);
}

static bool in_key_order(struct fd_entity *e, uint64_t key)
{
	struct fd_entity *other;

	if (fd_before(key, e->key)) {
		other = fd_entity_of_link(ios_rb_prev(&e->link));
		return other == NULL || !fd_before(key, other->key);
	}
	other = fd_entity_of_link(ios_rb_next(&e->link));
	return other == NULL || !fd_before(other->key, key);
}

static void refile_entity_slow(struct fd_entity *e)
{
	struct ios_rbtree *t = &e->of->ready[e->kind == FD_ASYNC];
	const struct fd_flow *first = fd_flow_first(&e->flows);

	if (e->ready && first != NULL && in_key_order(e, first->tag)) {
		e->key = first->tag;
		return;
	}
	if (e->ready)
		ios_rb_remove(t, &e->link);
	e->of->n_ready -= e->ready;
	e->ready = first != NULL;
	if (first == NULL)
		return;
	e->of->n_ready++;
	e->key = first->tag;
	ready_insert(t, e);
}

/* The entity's first flow, or its tag, may have changed. */
static inline void refile_entity(struct fd_entity *e)
{
	const struct fd_flow *first = fd_flow_first(&e->flows);

	if (first == NULL || !e->ready || (e->key != first->tag && e->of->n_ready != 1))
		refile_entity_slow(e);
	else
		e->key = first->tag;
}

static inline uint64_t limit_lead(const struct fd_flow *f, uint64_t tag)
{
	uint64_t vtime = f->of->vtime;

	return (int64_t)(tag - vtime) > LEAD_MAX ? vtime + (uint64_t)LEAD_MAX : tag;
}

/* Its tag after `cost` ns of device time, which may be negative. */
static inline uint64_t tag_after(struct fd *d, struct fd_flow *f, int64_t cost)
{
	const uint64_t most = (UINT64_C(1) << FD_EST_BITS) - 1;
	uint64_t v;

	if (!f->odd && (uint64_t)cost + most <= 2 * most) /* within `most` either way */
		return limit_lead(f, f->tag + (uint64_t)cost);
	v = ios_fd_virtual(d, f, (uint64_t)(cost < 0 ? -cost : cost));
	return limit_lead(f, cost < 0 ? f->tag - v : f->tag + v);
}

/* What was charged since the tag was last moved. */
static void settle_debt(struct fd *d, struct fd_flow *f)
{
	f->tag = tag_after(d, f, f->owed);
	f->owed = 0;
}

void ios_fd_flow_leave(struct fd *d, struct fd_flow *f)
{
	struct ios_treap *t = tree_of(d, f);
	enum fd_place was = (enum fd_place)f->place;

	f->place = FD_IDLE;
	if (t != NULL)
		ios_treap_remove(t, &f->by_tag);
	if (was == FD_QUEUED)
		refile_entity(f->entity);
	if (was == FD_PARKED)
		ios_fd_unpark(d, f);
	if (was != FD_QUEUED)
		return;
	ios_fd_flow_refile_due(d, f);
	if (f->n_boosted != 0)
		ios_list_remove(&f->boosting);
	if (f->wished)
		ios_fd_wish_refile(d, f);
	ios_fd_queued(f, false);
	if (f->released_by != NULL)
		ios_fd_released_left(d, f);
}

static void enter(struct fd *d, struct fd_flow *f, enum fd_place place)
{
	f->place = (uint8_t)place;
	if (place == FD_IDLE)
		return;
	if (f->owed != 0)
		settle_debt(d, f);
	tag_insert(tree_of(d, f), f);
	if (place != FD_QUEUED)
		return;
	refile_entity(f->entity);
	ios_fd_flow_refile_due(d, f);
	if (f->n_boosted != 0)
		ios_fd_refile_boost(d, f);
	if (!ios_fifo_empty(&f->wishes))
		ios_fd_wish_refile(d, f);
	ios_fd_queued(f, true);
}

/* A thinker counts against its POOL only as long as its next request is expected. */
#define PRESENT_TAU_NS (2 * FD_MS)

iosched_time ios_fd_think_end(const struct fd_flow *f)
{
	return f->t_lc + 2 * f->tau + FD_MS / 2;
}

static enum fd_place wanted(struct fd *d, struct fd_flow *f, iosched_time now,
			    struct fd_limiter **over)
{
	if (!f->active)
		return FD_IDLE;
	if (f->nq != 0) {
		*over = d->n_limits == 0 ? NULL : ios_fd_over_limit(d, f, now);
		return *over != NULL ? FD_PARKED : FD_QUEUED;
	}
	if (f->entity->kind == FD_POOL && (f->infl != 0 || f->tau < PRESENT_TAU_NS))
		return FD_PRESENT;
	return FD_RESTING;
}

void ios_fd_flow_settle_slow(struct fd *d, struct fd_flow *f, iosched_time now)
{
	struct fd_limiter *over = NULL;
	enum fd_place place = wanted(d, f, now, &over);

	if (f->place == FD_PARKED && place == FD_PARKED)
		return; /* its limiter lets it out */
	if (place == FD_PARKED) {
		ios_fd_flow_park(d, f, over);
		return;
	}
	if (place != (enum fd_place)f->place) {
		ios_fd_flow_leave(d, f);
		enter(d, f, place);
	}
	ios_fd_flow_count(d, f);
}

/* It waits until `l` allows more. */
void ios_fd_flow_park(struct fd *d, struct fd_flow *f, struct fd_limiter *l)
{
	ios_fd_flow_leave(d, f);
	f->parked_at = l;
	enter(d, f, FD_PARKED);
	ios_fd_wake_refile(d, l);
	ios_fd_flow_count(d, f);
}

/* Out of its place for a change of entity; drop puts it back. */
void ios_fd_flow_lift(struct fd *d, struct fd_flow *f)
{
	if (f->place != FD_PARKED)
		ios_fd_flow_leave(d, f);
}

void ios_fd_flow_drop(struct fd *d, struct fd_flow *f, enum fd_place place)
{
	if (place != FD_PARKED)
		enter(d, f, place);
	ios_fd_flow_count(d, f);
}

/* Let out by its limiter: QUEUED even if the next look would park it again. */
void ios_fd_flow_let_out(struct fd *d, struct fd_flow *f)
{
	ios_fd_flow_leave(d, f);
	if (fd_before(f->tag, ios_fd_vtime(d, f->cls)))
		f->tag = d->cls[f->cls].vtime;
	enter(d, f, FD_QUEUED);
	ios_fd_flow_count(d, f);
}

void ios_fd_flow_recount(struct fd *d, struct fd_flow *f, uint8_t want)
{
	struct fd_class *c = &d->cls[f->cls];

	c->n_present -= f->counted != 0;
	c->n_deep -= f->counted == 2;
	c->n_present += want != 0;
	c->n_deep += want == 2;
	f->counted = want;
}

static bool in_order(struct fd_flow *f, uint64_t tag)
{
	struct fd_flow *other;

	if (fd_before(tag, f->tag)) {
		other = fd_flow_by_tag(ios_treap_prev(&f->by_tag));
		return other == NULL || !fd_before(tag, other->tag);
	}
	other = fd_flow_next(f);
	return other == NULL || !fd_before(other->tag, tag);
}

void ios_fd_flow_retag(struct fd *d, struct fd_flow *f, uint64_t tag)
{
	struct ios_treap *t = tree_of(d, f);

	if (t == NULL || in_order(f, tag)) {
		f->tag = tag;
	} else {
		ios_treap_remove(t, &f->by_tag);
		f->tag = tag;
		tag_insert(t, f);
	}
	if (f->place == FD_QUEUED)
		refile_entity(f->entity);
}

/* The same of a QUEUED flow that was served: it is often the first, and does not stay it. */
static inline __attribute__((always_inline)) void retag_served(struct fd *d, struct fd_flow *f,
							       uint64_t tag)
{
	struct fd_entity *e = f->entity;
	struct fd_flow *next;

	if (tag == f->tag)
		return;
	if (e->flows.first != &f->by_tag || fd_before(tag, f->tag)) {
		ios_fd_flow_retag(d, f, tag);
		return;
	}
	next = fd_flow_by_tag(ios_treap_second(&e->flows));
	f->tag = tag;
	if (next != NULL && fd_before(next->tag, tag)) {
		ios_treap_remove_first(&e->flows, &next->by_tag);
		tag_insert(&e->flows, f);
	}
	refile_entity(e);
}

/* A request of `est` ns was sent: what is left of its queue goes by the new tag. `plain`: it stays
 * QUEUED. */
void ios_fd_flow_sent(struct fd *d, struct fd_flow *f, uint64_t est, iosched_time now, bool plain)
{
	uint64_t tag;

	if (f->owed == 0 && !f->odd)
		tag = limit_lead(f, f->tag + est);
	else
		tag = tag_after(d, f, (int64_t)est + f->owed);
	f->owed = 0;
	if (plain || (f->nq != 0 && d->n_limits == 0)) {
		retag_served(d, f, tag);
		return;
	}
	ios_fd_flow_leave(d, f);
	f->tag = tag;
	ios_fd_flow_settle(d, f, now);
}

void ios_fd_flow_charge_slow(struct fd *d, struct fd_flow *f)
{
	int64_t cost = f->owed;

	f->owed = 0;
	ios_fd_flow_retag(d, f, tag_after(d, f, cost));
}

uint64_t ios_fd_vtime(struct fd *d, unsigned cls)
{
	struct fd_class *c = &d->cls[cls];
	struct fd_entity *e[2];
	struct fd_flow *f[2];
	uint64_t least = 0;
	bool any = false;
	int i;

	e[0] = fd_entity_of_link(ios_rb_first(&c->ready[0]));
	e[1] = fd_entity_of_link(ios_rb_first(&c->ready[1]));
	f[0] = fd_flow_first(&c->present);
	f[1] = fd_flow_first(&c->resting);
	for (i = 0; i < 2; i++) {
		if (e[i] != NULL && (!any || fd_before(e[i]->key, least)))
			least = e[i]->key, any = true;
		if (f[i] != NULL && (!any || fd_before(f[i]->tag, least)))
			least = f[i]->tag, any = true;
	}
	if (any && fd_before(c->vtime, least))
		c->vtime = least;
	return c->vtime;
}

static void add_active(struct fd *d, struct fd_entity *e, bool on)
{
	if (on)
		d->cls[e->cls].n_entities += e->n_active++ == 0;
	else
		d->cls[e->cls].n_entities -= --e->n_active == 0;
}

/* It has something again: no credit for the time away, no debt that a wrap made up. */
void ios_fd_flow_activate_slow(struct fd *d, struct fd_flow *f)
{
	uint64_t vtime;

	ios_list_remove(&f->activity);
	ios_list_insert_before(&d->busy, &f->activity);
	if (f->active)
		return;
	vtime = ios_fd_vtime(d, f->cls);
	settle_debt(d, f);
	if (fd_before(f->tag, vtime) || (int64_t)(f->tag - vtime) > LEAD_MAX)
		f->tag = vtime;
	f->active = 1;
	d->n_active++;
	add_active(d, f->entity, true);
	ios_fd_weigh(d, f, true);
}

void ios_fd_flow_deactivate(struct fd *d, struct fd_flow *f)
{
	ios_list_remove(&f->activity);
	if (!f->active)
		return;
	ios_fd_flow_leave(d, f);
	f->active = 0;
	d->n_active--;
	add_active(d, f->entity, false);
	ios_fd_weigh(d, f, false);
	ios_fd_flow_count(d, f);
	if (f->harmed) {
		f->harmed = 0;
		d->n_harmed--;
	}
}

/* Nothing queued and nothing in flight: the grace period begins. */
void ios_fd_flow_rest_slow(struct fd *d, struct fd_flow *f, iosched_time now)
{
	if (!f->active)
		return;
	f->t_idle = now;
	d->alarm = fd_min(d->alarm, now + d->t.grace_ns + 1);
	ios_list_remove(&f->activity);
	ios_list_insert_before(&d->grace, &f->activity);
}

void ios_fd_grace(struct fd *d, iosched_time now)
{
	while (!ios_list_empty(&d->grace)) {
		struct fd_flow *f = IOS_CONTAINER(d->grace.next, struct fd_flow, activity);

		if (f->t_idle + d->t.grace_ns >= now) {
			d->alarm = fd_min(d->alarm, f->t_idle + d->t.grace_ns + 1);
			break;
		}
		ios_fd_flow_deactivate(d, f);
	}
}

struct fd_flow *ios_fd_present_first_slow(struct fd *d, struct fd_class *c, iosched_time now)
{
	struct fd_flow *f;

	while ((f = fd_flow_first(&c->present)) != NULL) {
		if (f->infl != 0 || now < ios_fd_think_end(f))
			break;
		ios_fd_flow_leave(d, f);
		enter(d, f, FD_RESTING);
		ios_fd_flow_count(d, f);
	}
	return f;
}

static bool inverses_differ(struct fd *d, const struct ios_treap *t, uint64_t *inverse)
{
	struct fd_flow *f;

	for (f = fd_flow_first(t); f != NULL; f = fd_flow_next(f)) {
		uint64_t mine = ios_fd_inverse(d, f);

		if (*inverse == 0)
			*inverse = mine;
		if (mine != *inverse)
			return true;
	}
	return false;
}

void ios_fd_compare_weights(struct fd *d, struct fd_class *c)
{
	uint64_t inverse = 0;

	c->stale = 0;
	c->unequal = d->n_odd != 0 && (inverses_differ(d, &c->pool.flows, &inverse) ||
				       inverses_differ(d, &c->present, &inverse));
}
