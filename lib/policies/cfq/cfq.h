/* SPDX-License-Identifier: MIT */
/*
 * cfq: what the files of this folder share. Read cfq.c first.
 *
 * group ─┬─ tree[RT|BE][ASYNC|NOIDLE|SYNC], idle ── queues by key ─┬─ sorted, fifo: requests
 *        └─ async[class][level]: the queues all contexts share     └─ coop: by where it goes on
 * context ── queue[SYNC] (its own, or one it cooperates in), queue[ASYNC] (shared)
 *
 * A queue lives as long as someone refers to it: contexts, contexts promised to
 * it by a redirect, its requests (queued and in flight), the slot of an async one.
 */
#ifndef IOS_POLICIES_CFQ_H
#define IOS_POLICIES_CFQ_H

#include <iosched/policy.h>
#include "blocks/audit.h"
#include "blocks/coop.h"
#include "blocks/ewma.h"
#include "blocks/fifo.h"
#include "blocks/rqtree.h"
#include "blocks/seekpick.h"

#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_SEC (1000 * NSEC_PER_MSEC)
#define TICK_NS NSEC_PER_MSEC /* the kernel's jiffy at HZ=1000, where a rule counts in those */
#define CLOSE_BYTES UINT64_C(4194304)	 /* 8192 sectors: a request this near the head is close */
#define FRACTION_ONE (UINT64_C(1) << 20) /* a group's share of the device, fixed point */

/* In the order they are served, and in the order ties between types are decided. */
enum cfq_class { CFQ_RT, CFQ_BE, CFQ_IDLE };
enum cfq_type { CFQ_ASYNC, CFQ_NOIDLE, CFQ_SYNC };
enum { ASYNC, SYNC };

/* Queues of one class and type, by key. Idle-class queues have one tree whatever their type. */
struct cfq_tree {
	struct ios_rbtree by_key;
	struct iosched_tree_link *first;
	uint32_t count;
	struct ios_ewma think; /* of whoever has a queue here */
	iosched_time last_end; /* latest completion of a sync request */
};

struct cfq_group {
	const struct iosched_group *shown; /* the core's */
	struct cfq_group *same_bucket;	   /* next one whose `shown` hashes alike */
	struct cfq_group *parent;
	uint32_t weight;
	uint32_t active;	/* children with queues, and 1 for queues of its own */
	uint64_t active_weight; /* the same, weighed */

	struct iosched_tree_link link; /* among groups, while it has queues */
	uint64_t vdisktime;	       /* device time used, divided by its share */
	uint32_t queues;	       /* on its trees */
	uint32_t inflight;
	uint32_t average[2]; /* queues of RT, BE, damped */
	struct cfq_tree tree[2][3], idle;

	uint64_t saved_ns; /* what was left of the workload when its last queue expired, and of
			      which */
	enum cfq_class saved_class;
	enum cfq_type saved_type;

	struct cfq_queue *async[2][8], *async_idle;
};

struct cfq_queue {
	struct iosched_tree_link link;
	struct cfq_tree *tree; /* NULL: on none, so without requests */
	uint64_t key;
	struct cfq_group *group;
	uint64_t owner; /* context it was made for; 0 for shared ones */

	struct ios_rqtree sorted;
	struct ios_fifo fifo;
	struct iosched_request *next; /* where its sweep goes on; set_next() */
	struct ios_coop_node coop;
	uint32_t queued, meta_queued, inflight;
	uint32_t refs;		    /* requests, contexts, promised contexts, slot */
	struct cfq_queue *redirect; /* its contexts move there, each at its next request */

	iosched_time activated;
	iosched_time slice_start, slice_end; /* valid unless slice_new */
	uint32_t slice_dispatched;
	int64_t residual; /* left (or overrun, < 0) when it was cut short; spent by the next key */

	uint64_t last_end;     /* end of the last inserted request; 0: none yet */
	uint32_t seek_history; /* a bit per insert, newest lowest: was it far? */

	enum cfq_class prio_class, own_class; /* now (maybe boosted); as the context says */
	uint8_t level, own_level;
	bool sync, fallback;
	bool unsettled;	   /* the next request may change it: priority, boost, merge or split */
	bool prio_changed; /* takes its context's priority at the next chance */
	bool idle_window;  /* worth waiting for its next request */
	bool deep;	   /* has had 4 requests queued: several in parallel, not a seeky chain */
	bool slice_new;	   /* no request has completed in this slice */
	bool wait;	   /* active, timer armed for its next request */
	bool wait_busy;	   /* its slice was stretched so that its group does not run dry */
	bool owed;	   /* must be given a dispatch before its slice is looked at */
	bool fifo_looked;  /* this slice */
	bool shared;	   /* contexts were merged into it */
	bool split;	   /* they shall part again */
};

struct cfq_context {
	struct cfq_queue *queue[2];
	struct cfq_group *group;
	struct ios_ewma think;
	iosched_time last_end;		/* latest completion of a sync request of it */
	uint8_t prio_class, prio_level; /* as last noticed, as in iosched_request */
	bool born;			/* has had a request */
	bool exited;
};

struct cfq {
	uint64_t quantum, fifo_expire_sync_ns, fifo_expire_async_ns, back_seek_max_kb,
		back_seek_penalty, slice_sync_ns, slice_async_ns, slice_async_rq, slice_idle_ns,
		group_idle_ns, low_latency, target_latency_ns;
	struct iosched_policy_env *env;
	bool rotational;
	iosched_time now; /* of the operation that runs */

	/* What is served: the queue, its workload, and who began its slice. */
	struct cfq_queue *active;
	enum cfq_class served_class;
	enum cfq_type served_type;
	iosched_time served_until;
	struct iosched_context *slice_context;
	const struct ios_ewma *slice_think; /* of that context, which may be gone */
	struct ios_ewma gone_think;

	uint32_t busy, busy_sync; /* queues on trees, of all groups */
	uint32_t queued;	  /* requests */
	uint32_t inflight, flight[2];
	uint64_t head;		   /* end of the last request handed out */
	iosched_time last_delayed; /* when a sync request completed that had waited too long */

	int tagged; /* 1: the device queues, 0: it does not, -1: not known, taken as "it does" */
	bool depth_known;
	uint32_t depth_peak, depth_samples;

	struct ios_rbtree coop[8]; /* queues that may cooperate, by level */

	struct ios_rbtree groups; /* those with queues, by vdisktime */
	uint64_t min_vdisktime;
	struct cfq_group *group_pool;	  /* [0] is the root */
	struct cfq_group **group_buckets; /* by the core's group; as many as groups may be */
	uint32_t n_groups, max_groups;
	struct cfq_queue *queue_pool, *free_queue; /* free ones are linked by `redirect` */
	uint32_t n_queues, max_queues;		   /* ever used; in the pool */
	struct cfq_queue fallback[2];
};

static inline struct cfq_context *cfq_context_of(const struct iosched_request *rq)
{
	return rq->internal.context->data;
}

/* It asks for the priority its context asked for last, as far as the context knows. */
static inline bool cfq_priority_known(const struct cfq_context *ctx,
				      const struct iosched_request *rq)
{
	const struct iosched_context *from = rq->internal.context;

	if ((rq->prio_class | rq->prio_level) != 0)
		return rq->prio_class == ctx->prio_class && rq->prio_level == ctx->prio_level;
	return from->prio_class == ctx->prio_class && from->prio_level == ctx->prio_level;
}

static inline struct cfq_queue *cfq_queue_of(const struct iosched_request *rq)
{
	return rq->internal.queue;
}

static inline struct cfq_queue *cfq_queue_entry(struct iosched_tree_link *link)
{
	return link == NULL ? NULL : IOS_CONTAINER(link, struct cfq_queue, link);
}

static inline struct cfq_group *cfq_group_entry(struct iosched_tree_link *link)
{
	return link == NULL ? NULL : IOS_CONTAINER(link, struct cfq_group, link);
}

static inline enum cfq_type cfq_type_of(const struct cfq_queue *q)
{
	if (!q->sync)
		return CFQ_ASYNC;
	return q->idle_window ? CFQ_SYNC : CFQ_NOIDLE;
}

static inline struct cfq_tree *cfq_tree_for(struct cfq_group *g, enum cfq_class c, enum cfq_type t)
{
	return c == CFQ_IDLE ? &g->idle : &g->tree[c][t];
}

static inline uint32_t cfq_busy_in(const struct cfq_group *g, enum cfq_class c)
{
	return c == CFQ_IDLE ? g->idle.count
			     : g->tree[c][CFQ_ASYNC].count + g->tree[c][CFQ_NOIDLE].count +
				       g->tree[c][CFQ_SYNC].count;
}

/* More than 4 of the last 32 requests were far away (or, without an arm, small). */
static inline bool cfq_seeky(const struct cfq_queue *q)
{
	uint32_t h = q->seek_history;
	unsigned i;

	for (i = 0; i < 4; i++)
		h &= h - 1; /* drops the lowest bit set */
	return h != 0;
}

static inline bool cfq_slice_used(const struct cfq *c, const struct cfq_queue *q)
{
	return !q->slice_new && c->now >= q->slice_end;
}

static inline void cfq_kick_now(struct cfq *c)
{
	c->env->kick |= IOSCHED_KICK_NOW;
}

/* Pointless, and not done, while no queue is on a tree (trace coop). */
static inline void cfq_kick_later(struct cfq *c)
{
	if (c->busy != 0)
		c->env->kick |= IOSCHED_KICK_DEFERRED;
}

static inline void cfq_tell(const struct cfq *c, const char *rule, const struct cfq_queue *q,
			    const struct cfq_queue *other, iosched_time until)
{
	iosched_tell(c->env, c->now, rule, q == NULL ? 0 : q->owner,
		     other == NULL ? 0 : other->owner, until);
}

/* a * b / d; exact unless a * b passes 2^64, which no sensible tunable does. */
static inline uint64_t cfq_mul_div(uint64_t a, uint64_t b, uint64_t d)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? a / d * b : product / d;
}

/* cfq_slice.c: how long a queue, and a workload, may have the device. */
uint64_t ios_cfq_slice_unscaled(const struct cfq *c, bool sync, unsigned level);
uint64_t ios_cfq_slice(struct cfq *c, struct cfq_queue *q);
uint64_t ios_cfq_workload_slice(const struct cfq *c, struct cfq_group *g);

/* cfq_tree.c: a queue on its service tree, and among those that may cooperate. */
void ios_cfq_key(struct cfq *c, struct cfq_queue *q);
void ios_cfq_key_front(struct cfq *c, struct cfq_queue *q);
void ios_cfq_leave(struct cfq *c, struct cfq_queue *q);
void ios_cfq_file(struct cfq *c, struct cfq_queue *q);
void ios_cfq_set_next(struct cfq_queue *q, struct iosched_request *rq);
struct cfq_queue *ios_cfq_close_cooperator(struct cfq *c, const struct cfq_queue *q);

/* cfq_group.c: shares of groups. */
struct cfq_group *ios_cfq_group_find(struct cfq *c, const struct iosched_group *shown);
void ios_cfq_group_update(struct cfq *c, const struct iosched_group *shown);
void ios_cfq_group_enter(struct cfq *c, struct cfq_group *g);
void ios_cfq_group_leave(struct cfq *c, struct cfq_group *g);
struct cfq_group *ios_cfq_group_first(struct cfq *c);
void ios_cfq_group_charge(struct cfq *c, const struct cfq_queue *q);
uint64_t ios_cfq_group_fraction(const struct cfq_group *g);
bool ios_cfq_group_below(const struct cfq_group *g, const struct cfq_group *top);

/* cfq_queue.c: which queue a request goes to, and who keeps it alive. */
void ios_cfq_queues_init(struct cfq *c, struct cfq_queue *pool, uint32_t n);
struct cfq_queue *ios_cfq_bind(struct cfq *c, const struct iosched_request *rq, bool sync);
void ios_cfq_retire(struct cfq *c, struct cfq_queue *q);
static inline void cfq_put(struct cfq *c, struct cfq_queue *q)
{
	if (--q->refs == 0)
		ios_cfq_retire(c, q);
}
void ios_cfq_unbind(struct cfq *c, struct cfq_context *ctx, bool exits);
void ios_cfq_mark_merge(struct cfq *c, struct cfq_queue *q, struct cfq_queue *found);

/* cfq_idle.c: is the next request of a queue worth waiting for? */
void ios_cfq_watch_insert(struct cfq *c, struct cfq_queue *q, const struct iosched_request *rq);
void ios_cfq_watch_complete(struct cfq *c, struct cfq_queue *q, const struct iosched_request *rq);
void ios_cfq_measure_depth(struct cfq *c);
bool ios_cfq_should_idle(const struct cfq *c, const struct cfq_queue *q);
void ios_cfq_wait_busy(struct cfq *c, struct cfq_queue *q);
void ios_cfq_arm(struct cfq *c, struct cfq_queue *q);
void ios_cfq_timer(struct cfq *c);

/* cfq_select.c: whose turn it is. */
void ios_cfq_expire(struct cfq *c, bool timed_out);
struct cfq_queue *ios_cfq_select(struct cfq *c);
bool ios_cfq_preempts(const struct cfq *c, const struct cfq_queue *newer,
		      const struct iosched_request *rq);
void ios_cfq_preempt(struct cfq *c, struct cfq_queue *newer);

/* cfq_audit.c */
const char *ios_cfq_audit(struct cfq *c);

#endif
