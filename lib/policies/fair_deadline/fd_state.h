/* SPDX-License-Identifier: MIT */
/*
 * fd_state: the state of fair-deadline.
 *
 * A flow is (context, class, sync or async). Its tag is its virtual time: nanoseconds of device
 * time over its effective weight. It is in exactly one place: IDLE (nowhere), QUEUED (its
 * entity's `flows`), PARKED (a limiter's `parked`), PRESENT or RESTING (nothing queued, but
 * active: in flight or not long gone). An entity is what the arm serves exclusively: the POOL of
 * all random sync flows of a class, a stream of cooperating sequential ones, or one async flow.
 * Fractions are of FD_ONE.
 */
#ifndef IOS_POLICIES_FAIR_DEADLINE_FD_STATE_H
#define IOS_POLICIES_FAIR_DEADLINE_FD_STATE_H

#include <iosched/policy.h>
#include "blocks/audit.h"
#include "blocks/fifo.h"
#include "blocks/rqgrid.h"
#include "blocks/rqstarts.h"
#include "blocks/treap.h"

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

#endif
