/* SPDX-License-Identifier: MIT */
/*
 * fd: which file of fair-deadline does what, and what they call of each other.
 *
 *   fd_state.h    the state
 *   fd_owner.c    a context's flows come and go
 *   fd_flow.c     their tags and places
 *   fd_queue.c    their requests, and when they are due
 *   fd_stream.c   random or sequential; think times; streams that cooperate
 *   fd_merge.c    who may join whom
 *   fd_cost.c     what a request costs, before and after it was served
 *   fd_tenant.c   effective weights of nested groups, limits and reservations
 *   fd_expired.c  the expired cycle, the host's own deadlines, the guard of the drive
 *   fd_serial.c   one arm: exclusive visits, holding, the flush fence
 *   fd_idle.c     when the idle class may go
 *   fd_parallel.c many channels: start tags, throttle by measured harm, paced writeback
 *   fd_mode.c     which of the two, by measurement
 *   fd_insert.c, fd_dispatch.c, fd_complete.c  a request's way; the ladder
 *   fd.c          the table
 *   fd_tunables.c the numbers; fd_audit.c what must be true
 *
 * The build makes one translation unit of them, for a request's road crosses eight files and calls
 * the compiler cannot see through were a tenth of its cost. File by file they work as well.
 */
#ifndef IOS_POLICIES_FAIR_DEADLINE_FD_H
#define IOS_POLICIES_FAIR_DEADLINE_FD_H

#include "policies/fair_deadline/fd_state.h"

#ifdef IOS_ONE_UNIT
#define FD_SHARED static
#define FD_HOT static inline __attribute__((always_inline)) /* a step of the plain road */
#else
#define FD_SHARED
#define FD_HOT
#endif

/* Wrap-safe: a is before b. */
static inline bool fd_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static inline iosched_time fd_ago(iosched_time now, iosched_time then)
{
	return now > then ? now - then : 0;
}

static inline uint64_t fd_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t fd_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* x * num / den for x of up to 2^50 and factors of up to 2^30, without overflow. */
static inline uint64_t fd_scale(uint64_t x, uint64_t num, uint64_t den)
{
	return x / den * num + x % den * num / den;
}

static inline struct fd_flow *fd_flow_by_tag(struct ios_treap_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_flow, by_tag);
}

static inline struct fd_flow *fd_flow_first(const struct ios_treap *t)
{
	return fd_flow_by_tag(t->first);
}

static inline struct fd_flow *fd_flow_next(const struct fd_flow *f)
{
	return fd_flow_by_tag(ios_treap_next(&f->by_tag));
}

static inline struct fd_entity *fd_entity_of_link(struct iosched_tree_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_entity, link);
}

/* It waits for something. */
static inline bool fd_waits(const struct fd_flow *f)
{
	return f->nq + f->infl + f->joined != 0;
}

static inline struct fd_flow *fd_flow_of(const struct iosched_request *rq)
{
	return rq->internal.queue;
}

/* What a sent request was estimated to cost: kept where its expiry was (see ios_fd_take). */
#define FD_EST_BITS 40
static inline uint64_t fd_est_of(const struct iosched_request *rq)
{
	return rq->internal.expiry & ((UINT64_C(1) << FD_EST_BITS) - 1);
}

static inline uint64_t fd_bytes_ns(uint64_t bytes, uint64_t ps)
{
	return bytes * ps / 1000;
}

static inline unsigned fd_lane(const struct fd_flow *f)
{
	return f->cls * 2u + f->async;
}

/* Smaller: better. enum iosched_class is BE, RT, IDLE. */
static inline unsigned fd_rank(unsigned cls)
{
	return cls == IOSCHED_REALTIME ? 0 : cls == IOSCHED_BEST_EFFORT ? 1 : 2;
}

/* When a class above idle last had something; 0: never. */
static inline iosched_time fd_better_last(const struct fd *d)
{
	return fd_max(d->cls[IOSCHED_REALTIME].seen, d->cls[IOSCHED_BEST_EFFORT].seen);
}

/* The same of sync flows; for the idle class, those of its own. */
static inline iosched_time fd_sync_last(const struct fd *d, unsigned cls)
{
	return cls == IOSCHED_IDLE ? d->cls[cls].sync_seen
				   : fd_max(d->cls[IOSCHED_REALTIME].sync_seen,
					    d->cls[IOSCHED_BEST_EFFORT].sync_seen);
}

/* An entity's requests in offset order; not of the POOL on flash. */
static inline struct iosched_request *ios_fd_sorted_first(const struct fd_entity *e)
{
	return e->grid != NULL ? ios_rqgrid_first(e->grid) : ios_rqtree_first(&e->sorted);
}

static inline struct iosched_request *ios_fd_sorted_last(const struct fd_entity *e)
{
	return e->grid != NULL ? ios_rqgrid_last(e->grid) : ios_rqtree_last(&e->sorted);
}

static inline struct iosched_request *ios_fd_sorted_next(const struct fd_entity *e,
							 const struct iosched_request *rq)
{
	return e->grid != NULL ? ios_rqgrid_next(e->grid, rq) : ios_rqtree_next(rq);
}

static inline struct iosched_request *ios_fd_sorted_prev(const struct fd_entity *e,
							 const struct iosched_request *rq)
{
	return e->grid != NULL ? ios_rqgrid_prev(e->grid, rq) : ios_rqtree_prev(rq);
}

static inline struct iosched_request *ios_fd_sorted_from(const struct fd_entity *e, uint64_t offset)
{
	return e->grid != NULL ? ios_rqgrid_first_from(e->grid, offset)
			       : ios_rqtree_first_from(&e->sorted, offset);
}

/* The same with a finger at its sweep. */
FD_SHARED void ios_fd_sort_slow(struct fd_entity *e, struct iosched_request *rq);
static inline void ios_fd_sort_in(struct fd_entity *e, struct iosched_request *rq)
{
	if (e->next_known && rq->span_offset >= e->hpos &&
	    (e->next == NULL || rq->span_offset < e->next->span_offset))
		e->next = rq;
	if (e->grid == NULL || !ios_rqgrid_insert_alone(e->grid, rq))
		ios_fd_sort_slow(e, rq);
}

FD_SHARED void ios_fd_unsort_slow(struct fd_entity *e, struct iosched_request *rq);
static inline __attribute__((always_inline)) void ios_fd_sort_out(struct fd_entity *e,
								  struct iosched_request *rq)
{
	if (e->grid == NULL || !ios_rqgrid_alone(e->grid, rq))
		ios_fd_unsort_slow(e, rq);
	else if (e->next_known && e->next == rq)
		e->next = ios_rqgrid_remove_next(e->grid, rq);
	else
		ios_rqgrid_remove_alone(e->grid, rq);
}

/* Into what its entity keeps them in, and out of it. It may start elsewhere by then only if that
 * is `starts`. */
static inline void ios_fd_file(struct fd_entity *e, struct iosched_request *rq)
{
	if (e->starts != NULL)
		ios_rqstarts_insert(e->starts, rq);
	else
		ios_fd_sort_in(e, rq);
}

static inline void ios_fd_unfile(struct fd_entity *e, struct iosched_request *rq)
{
	if (e->starts != NULL)
		ios_rqstarts_remove(rq);
	else
		ios_fd_sort_out(e, rq);
}

/* The sweep stands at `pos`: where the finger was, or just behind a request it stood at. */
static inline void ios_fd_move_sweep(struct fd_entity *e, uint64_t pos)
{
	bool forward =
		e->next_known && pos >= e->hpos && (e->next == NULL || e->next->span_offset >= pos);

	e->hpos = pos;
	if (!forward)
		e->next_known = 0;
}

static inline struct iosched_request *ios_fd_from_sweep(struct fd_entity *e)
{
	if (!e->next_known) {
		e->next = ios_fd_sorted_from(e, e->hpos);
		e->next_known = 1;
	}
	return e->next;
}

/* An earlier expiry was filed. */
static inline void fd_lower_floor(struct fd *d, iosched_time due)
{
	if (due < d->expiry_floor)
		d->expiry_floor = due;
}

/* fd_queue.c */
FD_SHARED void ios_fd_flow_refile_due(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_flow_postpone(struct fd *d, struct fd_flow *f, iosched_time last);
FD_SHARED void ios_fd_refile_boost(struct fd *d, struct fd_flow *f);
FD_SHARED struct iosched_request *ios_fd_flow_oldest_of_both(const struct fd_flow *f);
static inline struct iosched_request *ios_fd_flow_oldest(const struct fd_flow *f)
{
	return ios_fifo_empty(&f->wishes) && !ios_fifo_empty(&f->fifo)
		       ? ios_fifo_entry(f->fifo.head.next)
		       : ios_fd_flow_oldest_of_both(f);
}
FD_SHARED void ios_fd_flow_link(struct fd *d, struct fd_flow *f, struct iosched_request *rq);
FD_HOT void ios_fd_flow_append(struct fd_flow *f, struct iosched_request *rq, enum fd_road road);
FD_SHARED void ios_fd_flow_unlink(struct fd *d, struct fd_flow *f, struct iosched_request *rq);
FD_HOT void ios_fd_flow_take(struct fd *d, struct fd_flow *f, struct iosched_request *rq,
			     enum fd_road road);

/* fd_owner.c */
FD_SHARED void ios_fd_class_init(struct fd_class *c, unsigned cls);
FD_SHARED void ios_fd_owner_init(struct fd *d, struct fd_owner *o, struct iosched_context *ctx);
FD_SHARED void ios_fd_owner_fini(struct fd *d, struct fd_owner *o);
FD_SHARED void ios_fd_owner_changed(struct fd *d, struct fd_owner *o, iosched_time now);

/* fd_flow.c */
FD_SHARED void ios_fd_flow_leave(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_flow_settle_slow(struct fd *d, struct fd_flow *f, iosched_time now);
FD_SHARED void ios_fd_flow_retag(struct fd *d, struct fd_flow *f, uint64_t tag);
FD_SHARED void ios_fd_flow_charge_slow(struct fd *d, struct fd_flow *f);
/* Corrections wait for the flow's next move, when its tag changes anyway, unless they are large:
 * more than two positionings. */
static inline void ios_fd_flow_charge(struct fd *d, struct fd_flow *f, int64_t cost)
{
	int64_t much = (int64_t)(2 * d->t_pos);

	f->owed += cost;
	if (f->owed > much || f->owed < -much)
		ios_fd_flow_charge_slow(d, f);
}
FD_SHARED void ios_fd_flow_let_out(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_flow_lift(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_flow_drop(struct fd *d, struct fd_flow *f, enum fd_place place);
FD_SHARED void ios_fd_flow_rest_slow(struct fd *d, struct fd_flow *f, iosched_time now);
static inline void ios_fd_flow_rest(struct fd *d, struct fd_flow *f, iosched_time now)
{
	if (!fd_waits(f))
		ios_fd_flow_rest_slow(d, f, now);
}
FD_SHARED void ios_fd_flow_activate_slow(struct fd *d, struct fd_flow *f);
static inline void ios_fd_flow_activate(struct fd *d, struct fd_flow *f)
{
	if (!fd_waits(f))
		ios_fd_flow_activate_slow(d, f);
}
FD_SHARED void ios_fd_flow_deactivate(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_flow_recount(struct fd *d, struct fd_flow *f, uint8_t want);

/* Its number of requests, its place or its home has changed. */
static inline void ios_fd_flow_count(struct fd *d, struct fd_flow *f)
{
	uint8_t want = 0;

	if (f->entity->kind == FD_POOL && (f->place == FD_QUEUED || f->place == FD_PRESENT))
		want = f->nq + f->infl >= 2 ? 2 : 1;
	if (want != f->counted)
		ios_fd_flow_recount(d, f, want);
}

/* Put it where it belongs. */
static inline void ios_fd_flow_settle(struct fd *d, struct fd_flow *f, iosched_time now)
{
	if (f->place != FD_QUEUED || f->nq == 0 || d->n_limits != 0)
		ios_fd_flow_settle_slow(d, f, now);
	else if (f->counted == (f->nq + f->infl >= 2 ? 1 : 2))
		ios_fd_flow_count(d, f);
}
FD_SHARED void ios_fd_grace(struct fd *d, iosched_time now);
FD_SHARED uint64_t ios_fd_vtime(struct fd *d, unsigned cls);
FD_SHARED struct fd_flow *ios_fd_present_first_slow(struct fd *d, struct fd_class *c,
						    iosched_time now);
static inline struct fd_flow *ios_fd_present_first(struct fd *d, struct fd_class *c,
						   iosched_time now)
{
	return c->present.first == NULL ? NULL : ios_fd_present_first_slow(d, c, now);
}
FD_SHARED iosched_time ios_fd_think_end(const struct fd_flow *f);
FD_SHARED void ios_fd_compare_weights(struct fd *d, struct fd_class *c);
/* Have the POOL's flows different weights? Compared once in as many questions as there are
 * flows, so that one question costs O(1). */
static inline bool ios_fd_weights_differ(struct fd *d, struct fd_class *c)
{
	if (c->stale++ >= c->n_present)
		ios_fd_compare_weights(d, c);
	return c->unequal != 0;
}

/* Do they want unequal service: by weight, or one deep beside a shallow one? */
static inline bool ios_fd_pool_unequal(struct fd *d, struct fd_class *c)
{
	return (c->n_deep != c->n_present && c->n_deep != 0) || ios_fd_weights_differ(d, c);
}
FD_HOT void ios_fd_flow_sent(struct fd *d, struct fd_flow *f, uint64_t est, iosched_time now,
			     bool plain);

/* fd_stream.c */
FD_SHARED void ios_fd_flow_home(struct fd *d, struct fd_flow *f, struct fd_entity *to);
FD_SHARED void ios_fd_thought_slow(struct fd *d, struct fd_flow *f, bool near, iosched_time now);
/* A request arrives: had the flow, or its stream, nothing until now? */
static inline void ios_fd_thought(struct fd *d, struct fd_flow *f, bool near, iosched_time now)
{
	if (f->nq + f->infl == 0 || f->entity->kind == FD_STREAM)
		ios_fd_thought_slow(d, f, near, now);
}
FD_HOT bool ios_fd_observe_random(struct fd *d, struct fd_flow *f,
				  const struct iosched_request *rq);
FD_SHARED void ios_fd_observe(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
			      iosched_time now);
FD_SHARED void ios_fd_stream_leave(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_stream_join(struct fd *d, struct fd_entity *from, struct fd_entity *to);
FD_SHARED void ios_fd_rehome_all(struct fd *d);
FD_SHARED struct iosched_request *ios_fd_near_head(struct fd *d, struct fd_class *c,
						   const struct fd_entity *e);
FD_SHARED void ios_fd_forget_end(struct fd *d, struct fd_flow *f);

/* fd_cost.c */
FD_SHARED uint64_t ios_fd_model(const struct fd *d, const struct iosched_request *rq, bool contig);
FD_SHARED uint64_t ios_fd_solo(const struct fd *d, const struct iosched_request *rq, bool contig);
FD_HOT uint64_t ios_fd_estimate(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
				bool *contig, enum fd_road road);
FD_HOT void ios_fd_settle_cost(struct fd *d, struct fd_flow *f, struct iosched_request *rq,
			       iosched_time now, bool plain);
FD_SHARED uint64_t ios_fd_dirty_slow(const struct fd *d, iosched_time now);
static inline uint64_t ios_fd_dirty(const struct fd *d, iosched_time now)
{
	return d->dirty == 0 ? 0 : ios_fd_dirty_slow(d, now);
}
FD_SHARED void ios_fd_fence_done(struct fd *d, iosched_time now);
FD_SHARED void ios_fd_pump_done(struct fd *d, iosched_time now);

/* fd_tenant.c */
FD_SHARED uint64_t ios_fd_inverse_slow(struct fd *d, struct fd_flow *f);
static inline uint64_t ios_fd_inverse(struct fd *d, struct fd_flow *f)
{
	return f->weight_stamp == d->weight_stamp ? f->inverse : ios_fd_inverse_slow(d, f);
}

/* `cost` ns of device time as virtual time of this flow. */
static inline uint64_t ios_fd_virtual(struct fd *d, struct fd_flow *f, uint64_t cost)
{
	uint64_t inverse;

	cost = fd_min(cost, (UINT64_C(1) << FD_EST_BITS) - 1);
	if (!f->odd)
		return cost;
	inverse = ios_fd_inverse(d, f);
	return (cost >> 16) * inverse + (((cost & 0xffff) * inverse) >> 16);
}
FD_SHARED void ios_fd_flow_weight_changed(struct fd_flow *f);
FD_SHARED void ios_fd_weigh(struct fd *d, struct fd_flow *f, bool on);
FD_SHARED struct fd_group *ios_fd_group(struct fd *d, struct iosched_group *g);
FD_SHARED void ios_fd_group_changed(struct fd *d, struct iosched_group *host, iosched_time now);
FD_SHARED void ios_fd_limits_changed(struct fd *d, struct fd_limiter *l,
				     const struct iosched_limits *limits, iosched_time now);
FD_SHARED struct fd_limiter *ios_fd_over_limit(struct fd *d, struct fd_flow *f, iosched_time now);
FD_SHARED void ios_fd_limit_charge(struct fd *d, struct fd_flow *f, uint64_t est, uint64_t bytes,
				   iosched_time now);
FD_SHARED void ios_fd_limit_correct(struct fd *d, struct fd_flow *f, int64_t cost);
FD_SHARED void ios_fd_flow_park(struct fd *d, struct fd_flow *f, struct fd_limiter *l);
FD_SHARED void ios_fd_unpark(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_released_left(struct fd *d, struct fd_flow *f);
FD_SHARED void ios_fd_wake_refile(struct fd *d, struct fd_limiter *l);
FD_SHARED void ios_fd_served(struct fd *d, struct fd_flow *f, iosched_time now);
FD_SHARED iosched_time ios_fd_tenant_served(const struct fd_flow *f);
FD_SHARED void ios_fd_wake(struct fd *d, iosched_time now);
FD_SHARED void ios_fd_queued(struct fd_flow *f, bool on);
FD_SHARED struct fd_flow *ios_fd_reserved(struct fd *d, iosched_time now);
FD_SHARED iosched_time ios_fd_next_due(const struct fd *d);
FD_SHARED iosched_time ios_fd_next_wake(const struct fd *d);

/* fd_expired.c */
FD_SHARED struct iosched_request *ios_fd_expired(struct fd *d, bool async, iosched_time now);

FD_SHARED void ios_fd_slice_advance_slow(struct fd *d, iosched_time now);
FD_HOT void ios_fd_slice_sent(struct fd *d, struct iosched_request *rq, uint64_t est);
FD_HOT void ios_fd_slice_done(struct fd *d, const struct iosched_request *rq, iosched_time now,
			      bool plain);
FD_SHARED void ios_fd_wish_refile(struct fd *d, struct fd_flow *f);
FD_SHARED iosched_time ios_fd_next_expiry(const struct fd *d);

/* fd_serial.c */
FD_HOT struct iosched_request *ios_fd_serial(struct fd *d, struct fd_class *c, iosched_time now,
					     struct iosched_pause *pause);
FD_SHARED struct iosched_request *ios_fd_sweep(const struct fd *d, struct fd_entity *e);
FD_SHARED bool ios_fd_barrier(const struct fd *d, iosched_time now);
FD_SHARED void ios_fd_hold_over(struct fd *d, iosched_time now);
FD_SHARED void ios_fd_hold_end(struct fd *d, iosched_time now, bool failed);
FD_SHARED void ios_fd_efficiency(struct fd *d, uint64_t model, uint64_t spent, iosched_time now);
FD_SHARED void ios_fd_boost_done(struct fd *d, uint64_t latency, iosched_time now);

/* fd_idle.c */
FD_SHARED void ios_fd_idle_pause_over(struct fd *d, iosched_time now);
FD_SHARED void ios_fd_idle_done(struct fd *d, const struct iosched_request *rq, iosched_time now);
FD_SHARED bool ios_fd_idle_may_go(const struct fd *d, iosched_time now,
				  struct iosched_pause *pause);

/* fd_parallel.c */
FD_HOT struct iosched_request *ios_fd_parallel(struct fd *d, struct fd_class *c, iosched_time now,
					       struct iosched_pause *pause);
FD_SHARED void ios_fd_pace_charge(struct fd *d, unsigned cls, uint64_t est, iosched_time now);
FD_HOT void ios_fd_parallel_done(struct fd *d, struct fd_flow *f, const struct iosched_request *rq,
				 iosched_time now, enum fd_road road);

/* fd_mode.c */
FD_SHARED void ios_fd_mode_init(struct fd *d, iosched_time now);
FD_HOT void ios_fd_mode_sample(struct fd *d, const struct iosched_request *rq, uint64_t dt,
			       iosched_time now);
FD_SHARED void ios_fd_mode_trial(struct fd *d, uint64_t cost, iosched_time now);
FD_HOT bool ios_fd_mode_probing(struct fd *d, iosched_time now);
FD_SHARED bool ios_fd_mode_probing_crowd(struct fd *d, iosched_time now);

/* fd_audit.c */
FD_SHARED const char *ios_fd_audit(void *self);

/* fd_merge.c: operations of the table. */
FD_SHARED bool ios_fd_merge_allowed(void *self, const struct iosched_request *into,
				    const struct iosched_request *bio);
FD_SHARED struct iosched_request *ios_fd_front_candidate(void *self,
							 const struct iosched_request *bio);
FD_SHARED struct iosched_request *ios_fd_neighbour(void *self, struct iosched_request *rq,
						   enum iosched_side side);
FD_SHARED void ios_fd_absorbed(void *self, struct iosched_request *survivor,
			       struct iosched_request *victim, iosched_time now);

FD_SHARED void ios_fd_share_again(struct fd *d, struct iosched_request *rq);
FD_SHARED void ios_fd_share_sent(struct fd *d, const struct iosched_request *rq, uint64_t est,
				 iosched_time now);
FD_SHARED void ios_fd_share_charge(struct fd *d, const struct iosched_request *rq, int64_t cost);
FD_SHARED void ios_fd_share_done(struct fd *d, const struct iosched_request *rq, iosched_time now);

/* fd_tunables.c */
extern const struct iosched_tunable ios_fd_tunables[];
FD_SHARED void ios_fd_tunable_changed(void *self, const struct iosched_tunable *t);
FD_SHARED void ios_fd_use_array_model(struct fd_tunables *t);

/* fd.c */
FD_HOT struct fd_flow *ios_fd_flow_for(const struct iosched_request *rq);
FD_SHARED struct iosched_request *ios_fd_wait(struct iosched_pause *pause, enum iosched_hold reason,
					      iosched_time until);
FD_SHARED struct iosched_request *ios_fd_busy(struct iosched_pause *pause);

/* fd.c: time that something hangs on has come. */
FD_SHARED void ios_fd_pass_time(struct fd *d, iosched_time now);
static inline void fd_tick(struct fd *d, iosched_time now)
{
	d->now = now;
	if (now >= d->alarm)
		ios_fd_pass_time(d, now);
}

/* The class has something to do. */
static inline void fd_seen(const struct fd_flow *f, iosched_time now)
{
	iosched_time some = fd_max(now, 1); /* 0 is never */

	f->of->seen = some;
	if (!f->async)
		f->of->sync_seen = some;
}

#define FD_BOOST_WRITES 8 /* log writes of 8 ms in a credit of 60, on a disk */
/* How far a flow may be ahead and still be boosted: some log writes. On one arm that is a tunable;
 * where there are many, a log write takes what it takes alone. */
static inline uint64_t fd_boost_credit(const struct fd *d)
{
	uint64_t some = FD_BOOST_WRITES * d->lat_rand_ns[1];

	return d->mode == FD_SERIAL ? d->t.boost_credit_ns : fd_min(some, d->t.boost_credit_ns);
}

/* fd_insert.c, fd_dispatch.c, fd_complete.c: operations of the table. */
FD_SHARED void ios_fd_insert(void *self, struct iosched_request *rq, iosched_time now);
FD_SHARED struct iosched_request *ios_fd_dispatch(void *self, iosched_time now,
						  struct iosched_pause *pause);
FD_SHARED void ios_fd_complete(void *self, struct iosched_request *rq, iosched_time now);

#endif
