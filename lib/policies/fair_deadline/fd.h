/* SPDX-License-Identifier: MIT */
/*
 * fd: the state of fair-deadline, and which file keeps which part of it true.
 *
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
 *   fd.c          the ladder, insert, complete, the table
 *   fd_tunables.c the numbers; fd_audit.c what must be true
 *
 * The build makes one translation unit of them, for a request's road crosses eight files and calls
 * the compiler cannot see through were a tenth of its cost. File by file they work as well.
 *
 * A flow is (context, class, sync or async). Its tag is its virtual time: nanoseconds of device
 * time over its effective weight. It is in exactly one place: IDLE (nowhere), QUEUED (its
 * entity's `flows`), PARKED (a limiter's `parked`), PRESENT or RESTING (nothing queued, but
 * active: in flight or not long gone). An entity is what the arm serves exclusively: the POOL of
 * all random sync flows of a class, a stream of cooperating sequential ones, or one async flow.
 * Fractions are of FD_ONE.
 */
#ifndef IOS_POLICIES_FAIR_DEADLINE_FD_H
#define IOS_POLICIES_FAIR_DEADLINE_FD_H

#include <iosched/policy.h>
#include "blocks/audit.h"
#include "blocks/fifo.h"
#include "blocks/rqgrid.h"
#include "blocks/rqstarts.h"
#include "blocks/treap.h"

#ifdef IOS_ONE_UNIT
#define FD_SHARED static
#define FD_HOT static inline __attribute__((always_inline)) /* a step of the plain road */
#else
#define FD_SHARED
#define FD_HOT
#endif

#define FD_US UINT64_C(1000)
#define FD_MS UINT64_C(1000000)
#define FD_SEC UINT64_C(1000000000)
#define FD_ONE 4096
#define FD_CLASSES 3
#define FD_KIB UINT64_C(1024)

enum fd_place { FD_IDLE, FD_QUEUED, FD_PARKED, FD_PRESENT, FD_RESTING };
enum fd_kind { FD_POOL, FD_STREAM, FD_ASYNC };
enum fd_mode { FD_SERIAL, FD_PARALLEL };

/* In rq->internal.mark. */
enum fd_mark {
	FD_MARK_CONTIG = 1,  /* it was estimated without positioning */
	FD_MARK_ALONE = 2,   /* the device was idle when it was sent */
	FD_MARK_BOOST = 4,   /* a small sync write that passes the others */
	FD_MARK_WISH = 8,    /* in the flow's `wishes`, by the host's deadline */
	FD_MARK_SHARED = 32, /* it has absorbed requests of other flows */
	FD_MARK_SENT = 16,   /* internal.expiry holds estimate and slice, not a time */
};

/* What is known of a request on its way, so that all else is left out: nothing; that it is plain
 * (see take_road() and uncount() for what that is); and that it is on flash as well. */
enum fd_road { FD_ROAD, FD_PLAIN, FD_FLASH };

/* Is a request in the device for long: by what is usual there, or by the guard? */
enum fd_starving { FD_NOT_STARVING, FD_LAGGING, FD_STARVING };

enum fd_dimension { FD_TIME, FD_BYTES, FD_COUNT, FD_DIMENSIONS };

struct fd_flow;
struct fd_owner;

#define FD_LANES (FD_CLASSES * 2) /* class and sync or async */

/* Limits of a context or group. Tags: when the next request would be due (min) or allowed (max). */
struct fd_limiter {
	const struct iosched_limits *limits; /* the core's; NULL: none is set */
	iosched_time min_tag[FD_DIMENSIONS], max_tag[FD_DIMENSIONS];
	struct ios_treap parked[FD_LANES];  /* flows that wait for max, by tag */
	struct fd_flow *released[FD_LANES]; /* let out, not yet dispatched: the next waits */
	struct iosched_tree_link wake;	    /* in fd.wakes, while a lane could let one out */
	struct iosched_tree_link due;	    /* in fd.dues, while min is set and a flow is active */
	iosched_time wake_at, due_at;
	uint32_t n_queued; /* QUEUED flows here or below */
	uint32_t n_active; /* active ones */
	uint8_t waking, dueing, of_group;
};

struct fd_group {
	struct iosched_group *host;
	struct fd_group *parent;	  /* as counted */
	uint64_t sum;			  /* weights of active children */
	uint32_t children;		  /* how many */
	uint32_t weight;		  /* as counted at the parent */
	iosched_time t_dispatch, t_async; /* last of any below it, of async ones */
	struct fd_limiter limit;
	struct iosched_list_link
		flows; /* QUEUED flows of its contexts, least recently served first */
	struct iosched_list_link groups; /* groups below with any */
	struct iosched_list_link turn;	 /* in the parent's `groups` */
	uint8_t below;			 /* whose turn: a flow's or a group's */
};

struct fd_entity {
	struct fd_class *of;
	enum fd_kind kind;
	uint8_t cls;
	uint8_t ready;		      /* linked in fd_class.ready */
	struct ios_rqtree sorted;     /* requests of its flows */
	struct ios_rqgrid *grid;      /* the POOL's, instead: it has many, and scattered */
	struct ios_rqstarts *starts;  /* on flash, its instead: nothing is sorted, only merged */
	struct ios_treap flows;	      /* QUEUED ones by tag */
	struct iosched_request *next; /* first in `sorted` from `hpos` on, if `next_known` */
	uint8_t next_known;
	struct iosched_tree_link link; /* by key */
	uint64_t key;		       /* least tag in `flows`, while ready */
	uint64_t hpos;		       /* where its own sweep stands */
	uint32_t n_flows;	       /* flows homed here */
	uint32_t n_active;
	uint32_t infl;
	uint32_t outstanding;
	struct fd_flow *last; /* whose request completed last; for holding */
	/* A stream of two or more thinks as one. */
	struct iosched_list_link members;
	uint64_t tau;
	uint32_t parr;
	iosched_time t_lc;
};

struct fd_flow {
	struct fd_entity own;	  /* as root of a stream, or as an async flow */
	struct fd_entity *entity; /* where it is homed */
	struct fd_owner *owner;
	struct fd_class *of;
	uint8_t cls, async, place, active;
	uint8_t strikes;
	uint8_t counted; /* at the POOL: 0 not, 1 shallow, 2 deep */
	uint8_t harmed;
	uint8_t odd;	  /* of a weight of its own, or in a group */
	uint8_t ordinary; /* sync, and not of the idle class */
	uint64_t tag;
	int64_t owed;	  /* ns charged since the tag was last moved */
	uint64_t inverse; /* of the effective weight, 16 fraction bits */
	uint64_t weight_stamp;
	uint32_t weight; /* as counted at its group */
	struct ios_treap_link by_tag;
	struct fd_limiter *parked_at, *released_by;

	uint32_t nq, infl, n_boosted;
	uint32_t joined;		   /* its requests that others' have absorbed */
	struct ios_fifo fifo;		   /* without a wish; sync by arrival */
	struct ios_fifo wishes;		   /* by deadline */
	iosched_time due;		   /* when it is expired: see fd_expired.c */
	struct iosched_list_link edf;	   /* sync: class.edf by due, while QUEUED with a fifo */
	struct iosched_tree_link wish;	   /* fd.wishes by the first deadline */
	struct iosched_list_link activity; /* fd.busy or fd.grace */
	struct iosched_list_link boosting; /* class.boosts */
	struct iosched_list_link turn;	   /* its group's `flows` */
	struct iosched_list_link member;   /* entity->members, if a stream */
	struct iosched_list_link owing;	   /* fd.owing, if cw > 0 */
	struct iosched_list_link syncing;  /* fd.syncers */
	union {
		struct iosched_tree_link by_end; /* sync: class.ends by last_end */
		struct iosched_tree_link by_age; /* async: class.ages by due */
	} at;
	uint8_t ended, aged, wished; /* linked in those trees */
	uint8_t cw;		     /* cached small writes nobody was charged for */

	iosched_time wish_at; /* the first, as filed */
	uint64_t last_end;    /* of the last inserted */
	uint64_t wend;	      /* of the last dispatched write; parallel: request */
	uint32_t near;	      /* of FD_ONE */
	uint32_t parr;
	uint64_t tau;
	iosched_time t_lc, t_dispatch, t_syncwrite, t_idle;
	uint64_t coop;	   /* 1 + context that we continued once */
	uint32_t arrivals; /* since it was last rehomed */
	/* parallel */
	uint64_t lat, base, latpk;
	uint64_t lag; /* behind the furthest ahead, when it was harmed last */
	uint32_t nlat;
	iosched_time t_harm, t_forgiven;
};

struct fd_owner {
	struct iosched_context *ctx;
	struct fd_group *group;
	struct fd_limiter limit;
	uint8_t gone;
	struct fd_flow flow[FD_CLASSES][2];
};

struct fd_class {
	struct fd_entity pool;
	struct ios_rqgrid grid;
	struct ios_rqstarts starts;
	struct ios_rbtree ready[2]; /* entities with QUEUED flows by key; sync, async */
	struct ios_treap present; /* POOL flows, unqueued, in flight or thinking shortly, by tag */
	struct ios_treap resting; /* other unqueued active flows */
	struct iosched_list_link edf;	 /* sync flows by due.base */
	struct iosched_list_link boosts; /* flows whose head is boosted, by its arrival */
	struct ios_rbtree ages;		 /* async flows by due */
	struct ios_rbtree ends;		 /* sequential flows by last_end */
	uint64_t vtime;
	uint32_t n_entities;	      /* active ones */
	uint32_t n_ready;	      /* entities in `ready` */
	uint32_t n_present, n_deep;   /* POOL flows, for symmetry */
	uint32_t nq, infl;	      /* requests */
	uint32_t n_boosted;	      /* of those queued */
	iosched_time seen, sync_seen; /* when there was last something to do; 0: never */
	uint32_t stale;		      /* questions since their weights were compared */
	uint8_t unequal;	      /* what came out */
};

/* Where the arm is held for someone. */
struct fd_hold {
	struct fd_flow *flow;
	iosched_time since, until;
};

struct fd_run { /* an async visit */
	struct fd_flow *flow;
	iosched_time since;
	uint64_t est;
	/* With a cache: estimate of what was swallowed since the last FLUSH; since when the medium
	 * has been at work beyond doubt, 0: it may be resting; the last write sent went on where
	 * the one before ended. */
	uint64_t cached;
	uint64_t others; /* what others were charged for their part of our FLUSHes */
	iosched_time busy_since;
	uint8_t streaming;
};

enum fd_flush { FD_NO_FLUSH, FD_FENCE, FD_PUMP }; /* what our FLUSH in flight is for */

/* The tunables, in the order of the table in fd.c. */
struct fd_tunables {
	uint64_t visit_max_ns, visit_min_ns, round_ns;
	uint64_t hold_stream_ns, hold_pool_ns;
	uint64_t boost_bytes, boost_credit_ns, boosted_visit_ns;
	uint64_t sync_expire_ns[FD_CLASSES], async_expire_ns[FD_CLASSES]; /* BE, RT, IDLE */
	uint64_t pool_depth_alone, pool_depth_shared, stream_depth;
	uint64_t async_depth, async_depth_fsync;
	uint64_t pool_lead_equal, pool_lead_unequal;
	uint64_t near_forward_bytes, near_back_bytes;
	uint64_t grace_ns, idle_grace_ns, kick_bytes;
	uint64_t harm_permille, lead_ns, pace_cap_ns, pace_window_ns;
	uint64_t async_merge_ns, guard_ns, limit_burst_ns, fence;
	uint64_t position_ns, byte_ps;
	uint64_t byte_cost_ps[2], seq_cost_ns[2], rand_cost_ns[2]; /* read, write */
	uint64_t lat_rand_ns[2], lat_seq_ns[2], lat_byte_ps[2];
};

/* What a queue in the device gains: time of a random read alone, and between those of a crowd. */
struct fd_gain {
	uint64_t t1, t4;
	uint32_t n1, n4;
};

#define FD_SLICES 64
struct fd {
	struct fd_tunables t;
	struct iosched_policy_env *env;
	struct fd_class cls[FD_CLASSES]; /* indexed by enum iosched_class */
	struct fd_group *groups;
	struct iosched_list_link busy, grace, owing, syncers;
	struct ios_rbtree wishes[2];   /* sync, async flows by their first deadline */
	struct ios_rbtree wakes, dues; /* limiters */
	uint32_t n_limits;	       /* contexts and groups with any */
	uint64_t weight_stamp;
	uint64_t n_made; /* flows, ever */
	uint32_t n_odd;	 /* active flows that are odd */
	uint32_t n_syncers, n_active;
	iosched_time
		expiry_floor; /* nothing expires before: lowered when filed, raised when looked */
	iosched_time now;     /* of the last operation */
	iosched_time alarm;   /* time alone does something at this time, not before */
	/* Somebody has a limit, the arm is held, a boost or our FLUSH is in the device, it takes
	 * fewer than it could, or starves one. Set at once, cleared when dispatch looks again.
	 * While it is not set most requests take the plain road. */
	uint8_t special;

	/* device */
	enum fd_mode mode;
	uint8_t rotational, wce, array, hint;
	uint8_t measures, tries; /* is the mode to be found out by measurement, by trial? */
	uint64_t head;		 /* end of the last dispatched, boosts aside */
	iosched_time last_comp;
	uint32_t infl, async_infl;
	uint64_t boost_lead; /* ns by which boosts had passed others too often, at boost_at */
	iosched_time boost_at;
	uint64_t async_cost; /* estimates of the async ones in flight */
	uint64_t slice;	     /* number of the current one */
	iosched_time slice_end;
	uint64_t device_lat;		/* mean time in the device */
	uint8_t starving;		/* enum fd_starving, as of the last slice or completion */
	uint32_t sent[FD_SLICES], aged; /* in flight by slice of dispatch; before those */
	uint64_t gap, idle_lat;		/* see fd_idle.c */
	iosched_time idle_sent;

	/* serial */
	struct fd_entity *e;
	struct fd_hold hold;
	struct fd_run run;
	uint32_t cycle;
	uint64_t t_pos, c_byte; /* ns, ps a byte */
	uint64_t kappa;		/* 16 fraction bits */
	uint64_t dirty;		/* estimated undestaged ns, at dirty_at */
	iosched_time dirty_at;
	uint8_t flushing;			     /* enum fd_flush */
	uint64_t flush_dirt;			     /* `dirty` when it was sent */
	uint32_t boost_infl, depth_lim, good_boosts; /* depth_lim 0: none */
	iosched_time t_boost;			     /* last dispatch of a boost */
	iosched_time t_boost_done;

	/* virtual fence (array) */
	uint64_t eff_model, eff_spent;
	iosched_time eff_since, vfence_until;
	uint32_t eff_bad;

	/* mode */
	struct fd_gain gain[2];	       /* of one flow's requests, of several flows' */
	const struct fd_flow *crowd;   /* whose gain[0] is; never followed, nor are these: */
	const struct fd_flow *sampled; /* whose request completed last */
	const struct fd_entity *sampled_at;
	uint32_t probe,
		probe_crowd; /* requests left: one at a time, or several whatever the tags say */
	iosched_time t1_last, t4_last;
	uint64_t trial_cost, trial_rate;
	iosched_time trial_next, trial_since, trial_gap;
	uint32_t trial_step;

	/* parallel */
	uint64_t phi;	      /* of FD_ONE */
	uint64_t async_share; /* the same: what is writeback's, as of the last window */
	int64_t bucket;
	iosched_time bucket_at, phi_at;
	uint8_t pace_on;
	uint32_t n_harmed;
	uint64_t lat_rand_ns[2]; /* alone on the device; learned */
	uint32_t dp;		 /* depth for those ahead; 0: none */
	iosched_time dp_at, dp_seen;
};

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

#endif
