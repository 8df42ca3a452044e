/* SPDX-License-Identifier: MIT */
/*
 * fd_serial: one arm. It visits one entity at a time, and a visit ends when the least
 * tag of the others is a visit's worth behind.
 *
 * State: `e`, who is visited. Rule of a visit: go on while entitled; hold the arm when the visited
 * has nothing queued but is about to; let others ride along whose request is at the
 * head; drain before the next visit. An async visit ends with a FLUSH of our own, where the
 * drive has a cache and the host allows it: its true cost is only then known.
 *
 * A step returns a request, or NULL with `e` set: wait as the pause says; or NULL
 * with `e` cleared: the visit is over, choose the next.
 */
#include "policies/fair_deadline/fd.h"

#define POOL_SCAN 16 /* requests looked at for one of an eligible flow */
/* Equals of depth one are left to the drive, whose choice is even; but not quite where they read at
 * different places. So many times the lead of others. */
#define POOL_DRIFT 16
#define DEPTH_ALL 32 /* what a drive's queue takes (SATA NCQ: 31) */
#define DEPTH_FLOOR 2
#define DEPTH_RESTORE 8	       /* good boosts for one more in flight */
#define BOOST_RECENT_NS FD_SEC /* fsync comes in bouts; a second without is none */
#define PUMP_PART 8	       /* of a visit: the medium rests while that much is swallowed */
#define EFFICIENCY_WINDOW_NS (500 * FD_MS)
#define EFFICIENCY_LEAST_NS (100 * FD_MS)
#define EFFICIENCY_PERMILLE 220 /* a controller that destages leaves reads less than this */
#define VIRTUAL_FENCE_NS (10 * FD_SEC)

/* What the others of the class want. */
struct others {
	bool any;
	uint64_t tag; /* the least */
	uint64_t visit;
};

static void least_of(struct ios_rbtree *t, const struct fd_entity *e, const struct fd_flow *but,
		     struct others *o)
{
	struct iosched_tree_link *l;

	if (t->root == NULL ||
	    (e != NULL && t->root == &e->link && e->link.left == NULL && e->link.right == NULL))
		return;
	for (l = ios_rb_first(t); l != NULL; l = ios_rb_next(l)) {
		struct fd_entity *other = fd_entity_of_link(l);
		struct fd_flow *f = fd_flow_first(&other->flows);
		bool skipped = f == but;

		if (other == e)
			continue;
		if (skipped)
			f = fd_flow_next(f);
		if (f != NULL && (!o->any || fd_before(f->tag, o->tag))) {
			o->any = true;
			o->tag = f->tag;
		}
		if (!skipped)
			return;
	}
}

static bool boosted_lately(const struct fd *d, iosched_time now)
{
	return d->t_boost_done != 0 && fd_ago(now, d->t_boost_done) < BOOST_RECENT_NS;
}

static uint64_t visit_of(const struct fd *d, const struct fd_class *c, const struct fd_entity *e,
			 iosched_time now)
{
	uint32_t n = c->n_entities == 0 ? 1 : c->n_entities;

	if (e != NULL && e->kind == FD_ASYNC && d->wce && boosted_lately(d, now))
		return d->t.boosted_visit_ns;
	return fd_min(fd_max(d->t.round_ns / n, d->t.visit_min_ns), d->t.visit_max_ns);
}

/* Those outside `e`, and without flow `but`. */
static void look_closer(struct fd *d, struct fd_class *c, const struct fd_entity *e,
			const struct fd_flow *but, iosched_time now, struct others *o)
{
	o->visit = visit_of(d, c, e, now);
	least_of(&c->ready[0], e, but, o);
	least_of(&c->ready[1], e, but, o);
}

static inline struct others look(struct fd *d, struct fd_class *c, const struct fd_entity *e,
				 const struct fd_flow *but, iosched_time now)
{
	struct others o = {false, 0, 0};

	if (c->n_ready != (e->ready && e->of == c))
		look_closer(d, c, e, but, now, &o);
	return o;
}

/* A visit in the flow's virtual time. In the POOL no flow gains by a long one of its own, so
 * light flows (a tenant's many) get no longer ones. */
static uint64_t lead_of(struct fd *d, struct fd_flow *f, uint64_t visit)
{
	if (f->entity->kind == FD_POOL && ios_fd_inverse(d, f) > 65536)
		return visit;
	return ios_fd_virtual(d, f, visit);
}

static bool within_lead(struct fd *d, struct fd_flow *f, const struct others *o)
{
	return (int64_t)(f->tag - (o->tag + lead_of(d, f, o->visit))) <= 0;
}

static inline bool entitled(struct fd *d, struct fd_flow *f, const struct others *o)
{
	return !o->any || within_lead(d, f, o);
}

/* -- sweeps -- */

static struct iosched_request *sweep_from(const struct fd *d, struct fd_entity *e, uint64_t pos)
{
	struct iosched_request *next =
		pos == e->hpos ? ios_fd_from_sweep(e) : ios_fd_sorted_from(e, pos);
	struct iosched_request *prev;

	if (next != NULL && next->span_offset <= pos + d->t.near_forward_bytes)
		return next;
	prev = next != NULL ? ios_fd_sorted_prev(e, next) : ios_fd_sorted_last(e);
	if (prev != NULL && prev->span_offset + d->t.near_back_bytes >= pos)
		return ios_fd_sorted_from(e, prev->span_offset); /* oldest of equals */
	return next != NULL ? next : ios_fd_sorted_first(e);
}

/* Where entity `e` goes on when it is visited: its own sweep, not the head's place. A sweep
 * restarted at the head after each switch made writes miss their deadline. */
struct iosched_request *ios_fd_sweep(const struct fd *d, struct fd_entity *e)
{
	return sweep_from(d, e, e->hpos);
}

static bool oldest_is_late(const struct fd *d, const struct fd_flow *f, iosched_time now)
{
	const struct iosched_request *rq = ios_fifo_first(&f->fifo);

	return rq != NULL && now >= rq->inserted + d->t.sync_expire_ns[f->cls];
}

/* In offset order from the head, of the flows that are not far ahead. */
static __attribute__((noinline)) struct iosched_request *
pool_sweep(struct fd *d, struct fd_entity *pool, uint64_t bound, const struct others *o)
{
	struct iosched_request *rq =
		d->head == pool->hpos ? ios_fd_from_sweep(pool) : ios_fd_sorted_from(pool, d->head);
	int i;

	for (i = 0; i < POOL_SCAN; i++) {
		struct fd_flow *f;

		if (rq == NULL)
			rq = ios_fd_sorted_first(pool);
		f = fd_flow_of(rq);
		if (f->place == FD_QUEUED && !fd_before(bound, f->tag) && entitled(d, f, o))
			return rq;
		rq = ios_fd_sorted_next(pool, rq);
	}
	return NULL;
}

/* The same, and mostly it is the first. */
static inline __attribute__((always_inline)) struct iosched_request *
pool_next(struct fd *d, struct fd_entity *pool, uint64_t bound, const struct others *o)
{
	struct iosched_request *rq = pool->next;
	struct fd_flow *f;

	if (pool->next_known && d->head == pool->hpos && rq != NULL) {
		f = fd_flow_of(rq);
		if (f->place == FD_QUEUED && !fd_before(bound, f->tag) && entitled(d, f, o))
			return rq;
	}
	return pool_sweep(d, pool, bound, o);
}

/* -- steps of a visit -- */

static struct iosched_request *over(struct fd *d)
{
	d->e = NULL;
	return NULL;
}

static struct iosched_request *throttle_pool(struct fd *d, const struct fd_flow *ahead_of,
					     struct iosched_pause *pause)
{
	if (d->infl != 0)
		return ios_fd_busy(pause); /* a completion asks again: no polling (R7) */
	return ios_fd_wait(pause, IOSCHED_HOLD_IDLING, ios_fd_think_end(ahead_of));
}

static inline uint32_t pool_depth(struct fd *d, const struct others *o, iosched_time now)
{
	uint64_t depth = o->any ? d->t.pool_depth_shared : d->t.pool_depth_alone;

	if (d->measures && ios_fd_mode_probing(d, now))
		return 1;
	if (d->depth_lim != 0)
		depth = fd_min(depth, d->depth_lim);
	return (uint32_t)depth;
}

static inline __attribute__((always_inline)) struct iosched_request *
visit_pool_of(struct fd *d, struct fd_class *c, const struct others *o, iosched_time now,
	      struct iosched_pause *pause)
{
	struct fd_flow *f = fd_flow_first(&c->pool.flows);
	struct fd_flow *least = ios_fd_present_first(d, c, now);
	bool unequal = ios_fd_pool_unequal(d, c);
	uint64_t lead = d->t_pos * (unequal ? d->t.pool_lead_unequal : d->t.pool_lead_equal);
	struct iosched_request *rq = NULL;
	bool crowd;

	if (!entitled(d, f, o))
		return over(d);
	if (least == NULL || fd_before(f->tag, least->tag))
		least = f;
	crowd = d->measures && unequal && d->e->outstanding > 4 &&
		ios_fd_mode_probing_crowd(d, now);
	if (!crowd && fd_before(least->tag + lead, f->tag) &&
	    (unequal || f->infl != 0 || fd_before(least->tag + POOL_DRIFT * lead, f->tag)))
		return throttle_pool(d, least, pause);
	if (d->infl >= pool_depth(d, o, now))
		return ios_fd_busy(pause);
	if (!unequal && !oldest_is_late(d, f, now))
		rq = pool_next(d, &c->pool, least->tag + lead, o);
	return rq != NULL ? rq : ios_fd_flow_oldest(f);
}

static __attribute__((noinline)) struct iosched_request *
visit_pool(struct fd *d, struct fd_class *c, const struct others *o, iosched_time now,
	   struct iosched_pause *pause)
{
	return visit_pool_of(d, c, o, now, pause);
}

/* Beside fsync without a cache: what an fsync would meet in the device takes no longer than a
 * positioning. One write at a time would cost a stream a turn of the platter each. */
static bool async_full(const struct fd *d, const struct iosched_request *rq, iosched_time now)
{
	uint64_t each = fd_bytes_ns(rq->span_length, d->c_byte);

	if (d->infl >= d->t.async_depth)
		return true;
	return !d->wce && !d->array && d->infl >= d->t.async_depth_fsync &&
	       boosted_lately(d, now) && (!d->run.streaming || d->infl * each > d->t_pos);
}

static uint64_t by_weight(struct fd *d, struct fd_flow *f, uint64_t visit)
{
	uint64_t inverse = ios_fd_inverse(d, f);

	return inverse < 65536 ? visit * 65536 / inverse : visit;
}

/* An async visit that catches up much at once would leave more in the cache than can be flushed. */
static bool long_enough(struct fd *d, const struct others *o)
{
	return d->wce && o->any && d->run.flow != NULL &&
	       d->run.est >= 2 * by_weight(d, d->run.flow, o->visit);
}

static struct iosched_request *visit_sorted(struct fd *d, const struct others *o, iosched_time now,
					    struct iosched_pause *pause)
{
	bool async = d->e->kind == FD_ASYNC;
	struct iosched_request *rq = sweep_from(d, d->e, async ? d->e->hpos : d->head);

	if (fd_flow_of(rq)->place != FD_QUEUED) /* a parked member's */
		rq = ios_fd_flow_oldest(fd_flow_first(&d->e->flows));
	if (async && async_full(d, rq, now))
		return ios_fd_busy(pause);
	if (!entitled(d, fd_flow_of(rq), o) || (async && long_enough(d, o)))
		return over(d);
	if (!async && d->infl >= d->t.stream_depth)
		return ios_fd_busy(pause);
	return rq;
}

/* -- holding -- */

void ios_fd_hold_end(struct fd *d, iosched_time now, bool failed)
{
	struct fd_flow *f = d->hold.flow;
	uint64_t held = fd_ago(now, d->hold.since);

	d->hold.flow = NULL;
	ios_fd_flow_charge(d, f, (int64_t)held);
	if (!failed)
		return;
	f->parr = f->parr * 7 / 8;
	f->tau = (7 * f->tau + fd_min(2 * held, 20 * FD_MS)) / 8;
	if (f->entity->n_flows > 1) {
		f->entity->parr = f->entity->parr * 7 / 8;
		f->entity->tau = (7 * f->entity->tau + fd_min(2 * held, 20 * FD_MS)) / 8;
	}
}

/* The hold has lasted as long as it may: it was for nothing, and the visit is over. */
void ios_fd_hold_over(struct fd *d, iosched_time now)
{
	if (d->hold.flow == NULL || now < d->hold.until)
		return;
	iosched_tell(d->env, now, "held for nothing", d->hold.flow->owner->ctx->id, 0,
		     IOSCHED_NEVER);
	ios_fd_hold_end(d, now, true);
	d->e = NULL;
}

/* How long after its last completion the visited may think. 0: it does not pay. */
static uint64_t hold_window(const struct fd *d, const struct fd_entity *e, const struct fd_flow *l)
{
	bool many = e->kind == FD_STREAM && e->n_flows > 1;
	uint64_t tau = many ? e->tau : l->tau, saved;
	uint32_t parr = many ? e->parr : l->parr;

	if (parr < FD_ONE / 2 || l->owner->gone || l->place == FD_PARKED)
		return 0;
	if (e->kind == FD_POOL)
		return tau > d->t.hold_pool_ns / 2 ? 0
						   : fd_min(d->t.hold_pool_ns, 2 * tau + FD_MS / 5);
	/* Two positionings, there and back, if it comes and comes near. */
	saved = 2 * d->t_pos * (parr * l->near / FD_ONE) / FD_ONE;
	if (tau > d->t.hold_stream_ns / 2 || saved <= tau)
		return 0;
	return fd_min(d->t.hold_stream_ns, 2 * tau + FD_MS / 2);
}

static struct iosched_request *hold(struct fd *d, struct fd_flow *f, iosched_time now,
				    iosched_time until, struct iosched_pause *pause)
{
	d->special = 1;
	d->hold.flow = f;
	d->hold.since = now;
	d->hold.until = until;
	iosched_tell(d->env, now, "the arm is held", f->owner->ctx->id, 0, until);
	return ios_fd_wait(pause, IOSCHED_HOLD_IDLING, until);
}

/* The nearest sync request at the head, of whatever flow. It joins the visit if that is fair. */
static struct iosched_request *ride_along(struct fd *d, struct fd_class *c, iosched_time now)
{
	struct iosched_request *rq = ios_fd_near_head(d, c, d->e);
	struct fd_flow *g;
	struct others o;

	if (rq == NULL)
		return NULL;
	g = fd_flow_of(rq);
	o = look(d, c, d->e, g, now);
	if (!entitled(d, g, &o))
		return NULL;
	if (d->hold.flow != NULL)
		ios_fd_hold_end(d, now, false);
	if (g->entity->kind == FD_STREAM) {
		iosched_tell(d->env, now, "rides along", g->owner->ctx->id, 0, IOSCHED_NEVER);
		ios_fd_stream_join(d, g->entity, d->e);
	}
	return rq;
}

/* It thinks, and to hold for it does not pay: it is not backlogged, and what it is behind the
 * others is not owed to it beyond what a flow keeps that was away for a moment. Else each of its
 * requests, a few ms apart, would end another's visit after one request. */
static void yields(struct fd *d, struct fd_flow *l, const struct others *o)
{
	uint64_t least = o->tag - ios_fd_virtual(d, l, d->t.grace_ns);

	if (l->nq == 0 && fd_before(l->tag, least))
		ios_fd_flow_retag(d, l, least);
}

static struct iosched_request *visit_empty(struct fd *d, struct fd_class *c, const struct others *o,
					   iosched_time now, struct iosched_pause *pause)
{
	struct fd_entity *e = d->e;
	struct fd_flow *l = e->last;
	struct iosched_request *rq;
	iosched_time until, since;
	uint64_t window;

	if (e->kind == FD_STREAM && (rq = ride_along(d, c, now)) != NULL)
		return rq;
	if (d->hold.flow != NULL)
		return ios_fd_wait(pause, IOSCHED_HOLD_IDLING, d->hold.until);
	if (e->infl != 0)
		return ios_fd_busy(pause);
	window = l == NULL || !entitled(d, l, o) ? 0 : hold_window(d, e, l);
	since = l == NULL ? 0 : e->kind == FD_STREAM && e->n_flows > 1 ? e->t_lc : l->t_lc;
	until = since + window;
	if (window != 0 && now < until)
		return hold(d, l, now, until, pause);
	if (window == 0 && l != NULL && o->any)
		yields(d, l, o);
	return over(d);
}

/* -- the FLUSH -- */

static bool fences(const struct fd *d)
{
	return d->wce && d->t.fence && d->env->params->can_flush;
}

static struct iosched_request *flush(struct fd *d, enum fd_flush what, iosched_time now)
{
	d->special = 1;
	d->flushing = (uint8_t)what;
	d->flush_dirt = ios_fd_dirty(d, now);
	d->run.cached = 0;
	if (d->run.busy_since == 0)
		d->run.busy_since = now;
	iosched_tell(d->env, now,
		     what == FD_PUMP ? "keeps the drive writing" : "flushes after an async visit",
		     d->run.flow->owner->ctx->id, 0, IOSCHED_NEVER);
	return d->env->flush;
}

/* A cache swallows faster than the medium writes, and what the medium does meanwhile is the
 * drive's secret: it rests, or goes on reading for the one before. In a visit that streams a FLUSH
 * is out from its first write on: no time is lost, and all of it is the visit's. One that
 * scatters is filled in a moment, and is better sorted as a whole. */
static bool pump_is_due(const struct fd *d, const struct fd_class *c, const struct others *o)
{
	return d->run.cached > o->visit / PUMP_PART && d->run.streaming && o->any && fences(d) &&
	       c->ready[0].root != NULL && d->env->flush != NULL &&
	       d->env->params->device_depth != 1;
}

/* -- leaving an async visit -- */

static bool fence_is_due(struct fd *d, const struct fd_class *c, const struct others *o,
			 iosched_time now)
{
	uint64_t visit;

	/* A better class is not made to wait for the sake of shares within a worse one. */
	if (!fences(d) || d->run.est == 0 || d->run.flow == NULL || c->ready[0].root == NULL ||
	    c != &d->cls[d->run.flow->cls])
		return false;
	visit = by_weight(d, d->run.flow, o->visit);
	/* A long uncontended run has filled the cache: a FLUSH could take seconds. */
	return d->run.est <= 3 * (visit + d->t_pos) && ios_fd_dirty(d, now) <= visit * 7 / 2;
}

static struct iosched_request *leave_async(struct fd *d, struct fd_class *c, const struct others *o,
					   iosched_time now, struct iosched_pause *pause)
{
	if (d->array && now < d->vfence_until && now < d->run.since + d->run.est)
		return ios_fd_wait(pause, IOSCHED_HOLD_IDLING, d->run.since + d->run.est);
	if (!fence_is_due(d, c, o, now)) {
		d->run.est = 0;
		return over(d);
	}
	if (d->infl != 0 || d->env->flush == NULL)
		return ios_fd_busy(pause);
	return flush(d, FD_FENCE, now);
}

/* -- the next visit -- */

static struct iosched_request *select_next(struct fd *d, struct fd_class *c, iosched_time now,
					   struct iosched_pause *pause)
{
	struct fd_entity *a = fd_entity_of_link(ios_rb_first(&c->ready[0]));
	struct fd_entity *b = fd_entity_of_link(ios_rb_first(&c->ready[1]));
	struct fd_entity *e = a == NULL || (b != NULL && fd_before(b->key, a->key)) ? b : a;
	struct fd_flow *f = fd_flow_first(&e->flows);
	struct iosched_request *rq;

	if (d->infl != e->infl)
		return ios_fd_busy(pause);
	d->e = e;
	if (e->kind == FD_ASYNC) {
		d->run = (struct fd_run){.flow = f, .since = now};
	}
	if (e->kind == FD_POOL)
		return ios_fd_flow_oldest(f);
	rq = ios_fd_sweep(d, e);
	return fd_flow_of(rq)->place == FD_QUEUED ? rq : ios_fd_flow_oldest(f);
}

/* A better class's sync entity has run dry: it may be back before a worse class is worth it. */
static struct iosched_request *hold_for_class(struct fd *d, iosched_time now,
					      struct iosched_pause *pause)
{
	struct fd_entity *e = d->e;
	struct fd_flow *l = e->last;
	uint64_t window;

	if (e->infl != 0)
		return ios_fd_busy(pause);
	if (d->hold.flow != NULL)
		return ios_fd_wait(pause, IOSCHED_HOLD_IDLING, d->hold.until);
	if (l == NULL || l->owner->gone || l->place == FD_PARKED || l->parr < FD_ONE / 2 ||
	    l->tau > d->t.hold_stream_ns / 2)
		return over(d);
	window = fd_min(d->t.hold_stream_ns, 2 * l->tau + FD_MS / 2);
	if (now >= l->t_lc + window)
		return over(d);
	return hold(d, l, now, l->t_lc + window, pause);
}

static struct iosched_request *go_on(struct fd *d, struct fd_class *c, iosched_time now,
				     struct iosched_pause *pause)
{
	struct fd_entity *e = d->e;
	struct others o = look(d, c, e, NULL, now);
	struct iosched_request *rq = NULL;
	bool other_class = e->of != c;

	if (other_class && e->kind != FD_ASYNC) {
		if (fd_rank(e->cls) < fd_rank((unsigned)(c - d->cls)))
			return hold_for_class(d, now, pause);
		return over(d);
	}
	if (other_class || (e->kind == FD_ASYNC && e->flows.root == NULL))
		return leave_async(d, c, &o, now, pause);
	if (e->flows.root == NULL)
		return visit_empty(d, c, &o, now, pause);
	if (e->kind == FD_POOL)
		return visit_pool(d, c, &o, now, pause);
	if (e->kind == FD_ASYNC && d->run.cached != 0 && pump_is_due(d, c, &o))
		return flush(d, FD_PUMP, now);
	rq = visit_sorted(d, &o, now, pause);
	if (rq == NULL && d->e == NULL && e->kind == FD_ASYNC) {
		d->e = e;
		return leave_async(d, c, &o, now, pause);
	}
	return rq;
}

static __attribute__((noinline)) struct iosched_request *
visit_any(struct fd *d, struct fd_class *c, iosched_time now, struct iosched_pause *pause)
{
	if (d->e != NULL) {
		struct iosched_request *rq = go_on(d, c, now, pause);

		if (rq != NULL || d->e != NULL)
			return rq;
	}
	if (d->hold.flow != NULL)
		ios_fd_hold_end(d, now, false);
	return select_next(d, c, now, pause);
}

/* `c` is the best class with anything QUEUED. When that is its POOL alone and it is visited
 * already, there is little to ask. */
struct iosched_request *ios_fd_serial(struct fd *d, struct fd_class *c, iosched_time now,
				      struct iosched_pause *pause)
{
	static const struct others nobody = {false, 0, 0};

	if (d->e == &c->pool && c->n_ready == 1 && c->pool.flows.first != NULL)
		return visit_pool_of(d, c, &nobody, now, pause);
	return visit_any(d, c, now, pause);
}

/* -- boosts and the drive -- */

/* A drive with a queue starves a lone write behind a stream or a crowd: stop refilling it. */
bool ios_fd_barrier(const struct fd *d, iosched_time now)
{
	if (d->wce || d->array || d->mode != FD_SERIAL || d->boost_infl == 0)
		return false;
	return (d->e != NULL && d->e->kind != FD_POOL) ||
	       fd_ago(now, d->t_boost) > d->t_pos * 3 / 2;
}

/* A boosted write took so long in the device. The depth for everybody follows. */
void ios_fd_boost_done(struct fd *d, uint64_t latency, iosched_time now)
{
	uint64_t floor;

	d->t_boost_done = now;
	if (d->wce || d->array || d->mode != FD_SERIAL)
		return;
	if (latency <= 3 * d->t_pos) {
		if (d->depth_lim != 0 && ++d->good_boosts >= DEPTH_RESTORE) {
			d->good_boosts = 0;
			d->depth_lim = (uint32_t)fd_min(d->depth_lim + 1, DEPTH_ALL);
		}
		return;
	}
	d->good_boosts = 0;
	floor = fd_max(DEPTH_FLOOR, fd_min(8, 2 * (uint64_t)d->n_syncers));
	d->depth_lim = (uint32_t)fd_max(
		floor, (d->depth_lim == 0 ? DEPTH_ALL : (uint64_t)d->depth_lim) * 3 / 4);
}

/* Array: a read of `model` ns took `spent`. Two windows of bad ones: the controller is
 * destaging, and async visits wait out their estimate for a while. */
void ios_fd_efficiency(struct fd *d, uint64_t model, uint64_t spent, iosched_time now)
{
	d->eff_model += model;
	d->eff_spent += spent;
	if (fd_ago(now, d->eff_since) < EFFICIENCY_WINDOW_NS)
		return;
	if (d->eff_spent >= EFFICIENCY_LEAST_NS &&
	    d->eff_model < d->eff_spent / 1000 * EFFICIENCY_PERMILLE)
		d->eff_bad++;
	else
		d->eff_bad = 0;
	if (d->eff_bad >= 2)
		d->vfence_until = now + VIRTUAL_FENCE_NS;
	d->eff_model = 0;
	d->eff_spent = 0;
	d->eff_since = now;
}
