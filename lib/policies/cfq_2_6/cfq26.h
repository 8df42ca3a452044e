/* SPDX-License-Identifier: MIT */
/*
 * cfq26: what the files of the policy cfq-2.6.32 share.
 *
 * One queue per process and one per class and level of asynchronous writes; the busy ones
 * wait on one service tree; one of them, `active`, has the device for a slice.
 *
 * Time inside is in ticks of 1 ms, as the kernel's jiffies at HZ = 1000: what a clock reads
 * is rounded down before anything is decided (every trace needs that). Distances are in
 * sectors of 512 bytes where a mean is taken of them, else in bytes.
 */
#ifndef IOS_POLICIES_CFQ26_H
#define IOS_POLICIES_CFQ26_H

#include <iosched/policy.h>
#include "blocks/coop.h"
#include "blocks/dlist.h"
#include "blocks/ewma.h"
#include "blocks/rqtree.h"
#include "blocks/seekpick.h"

#define CFQ26_TICK_NS UINT64_C(1000000)
#define CFQ26_SECTOR 512u
#define CFQ26_LEVELS 8u
/* A slot per level of realtime and of best effort, one for all of the idle class. */
#define CFQ26_ASYNC_SLOTS (2u * CFQ26_LEVELS + 1u)
/* A queue whose mean seek is longer is "seeky"; a request is "close" within this distance
 * while the mean is not known. 4 MiB in sectors. */
#define CFQ26_CLOSE_SECTORS 8192u
/* How long a seeky queue is waited for, and may think. */
#define CFQ26_SEEKY_IDLE_TICKS 2u

enum { CFQ26_ASYNC, CFQ26_SYNC };

/* A completion says something of the device's depth when more are queued or in the driver. */
#define CFQ26_HW_BUSY 5u

/* iosched_request.internal.mark */
enum { CFQ26_WAITING, CFQ26_CHOSEN };

/* The tunable idle_arrival: what a request does that comes while its queue is waited for. */
enum {
	CFQ26_ARRIVAL_PLUG,	     /* nothing: who sleeps on it will unplug (2.6.30-rc1) */
	CFQ26_ARRIVAL_KICK,	     /* starts at once (2.6.29 and before) */
	CFQ26_ARRIVAL_KICK_IF_LARGE, /* at once if > 4 KiB or others are busy (2.6.30 fix, 2.6.32)
				      */
};

/*
 * A queue: requests of one process (or of several that were found to walk one area), or
 * the asynchronous writes of one class and level.
 *
 * It is `busy`, and on the service tree, exactly while `sorted` holds a request. It lives
 * while a process uses it, one is promised to it, or a request of it is unfinished.
 */
struct cfq26_queue {
	struct iosched_list_link list; /* live, or in the pool */
	struct iosched_tree_link service;
	uint64_t key; /* place on the service tree, ticks, wraps */
	struct ios_coop_node coop;
	struct ios_rqtree sorted;
	struct ios_fifo fifo;
	struct iosched_request *next; /* where it goes on; NULL only when empty */
	uint32_t queued;	      /* in `sorted` */
	uint32_t queued_meta;	      /* of those, flagged META */
	uint32_t dispatched;	      /* chosen and not completed */
	uint32_t slice_dispatched;    /* chosen in this slice */
	uint64_t slice_end;	      /* tick; says nothing while slice_new */
	int64_t residual;	      /* slice left over, or overrun: credit for the next key */
	uint32_t procs;		      /* processes that use it, promised ones included */
	struct cfq26_queue *redirect; /* its processes move there, one by one */
	struct ios_ewma seek;	      /* sectors */
	uint64_t last_end;	      /* sector behind its last inserted request; 0: none yet */
	uint64_t seeky_since;	      /* tick, while seeky_clock */
	uint64_t owner;		      /* context that inserted last, for a person */
	uint8_t prio_class, level;
	bool sync, permanent;
	bool busy;
	bool idle_window; /* worth waiting for */
	bool wait;	  /* was waited for in this slice: stays on when a request comes */
	bool owed;	  /* may dispatch once more though its slice is used up */
	bool fifo_looked; /* the oldest was looked at in this slice */
	bool slice_new;	  /* slice not begun: no completion yet */
	bool shared;	  /* another process was merged into it */
	bool seeky_clock;
	bool prio_marked; /* takes its priority from the next context that uses it */
};

struct cfq26_context {
	struct iosched_list_link list;
	struct cfq26_queue *queue[2];
	struct ios_ewma think; /* ticks */
	uint64_t last_end;     /* tick of its last sync completion */
	uint16_t priority;     /* as last noticed */
	bool started, exited;
};

struct cfq26 {
	/* tunables */
	uint64_t quantum, fifo_expire_sync_ns, fifo_expire_async_ns, back_seek_max_kb,
		back_seek_penalty, slice_sync_ns, slice_async_ns, slice_async_rq, slice_idle_ns,
		low_latency, close_cooperators, queue_merging, idle_arrival;
	/* the same in ticks */
	uint64_t fifo_expire[2], slice[2], slice_idle;

	struct iosched_policy_env *env;
	iosched_time now; /* of the operation under way */
	uint64_t tick;

	struct ios_rbtree service;
	struct ios_rbtree coop[CFQ26_LEVELS];
	uint32_t busy;			     /* queues on the service tree */
	uint32_t queued;		     /* requests in all queues */
	struct cfq26_queue *active;	     /* has the slice, or NULL */
	struct cfq26_context *slice_context; /* of the slice's first dispatch, or NULL */
	struct cfq26_context gone;	     /* stands for a slice_context that is no more */

	struct ios_dlist chosen;    /* its boundary is the head: end of the last handed out */
	struct ios_seekpick nearer; /* from the same head */
	uint32_t in_driver[2];	    /* handed out and not completed */
	uint32_t sync_flight;	    /* sync ones chosen and not completed */
	uint64_t last_sync_end;	    /* tick of the last sync completion */
	bool hw_tag;		    /* the device queues */
	uint32_t hw_samples, hw_peak;

	struct iosched_list_link live, pool, contexts;
	struct cfq26_queue *slot[CFQ26_ASYNC_SLOTS];
	struct cfq26_queue async[CFQ26_ASYNC_SLOTS]; /* the storage behind the slots */
	struct cfq26_queue fallback; /* shared by those for whom the pool had no queue left */
};

static inline struct cfq26_queue *ios_cfq26_queue_of(const struct iosched_request *rq)
{
	return rq->internal.queue;
}

static inline struct cfq26_context *ios_cfq26_context_of(const struct iosched_request *rq)
{
	return rq->internal.context->data;
}

static inline struct cfq26_queue *ios_cfq26_listed(struct iosched_list_link *link)
{
	return IOS_CONTAINER(link, struct cfq26_queue, list);
}

static inline struct cfq26_queue *ios_cfq26_served(struct iosched_tree_link *link)
{
	return link == NULL ? NULL : IOS_CONTAINER(link, struct cfq26_queue, service);
}

static inline bool ios_cfq26_is_idle_class(const struct cfq26_queue *q)
{
	return q->prio_class == IOSCHED_IDLE;
}

/* One far seek is enough; where few samples must not count, the caller asks for that. */
static inline bool ios_cfq26_seeky(const struct cfq26_queue *q)
{
	return q->seek.mean > CFQ26_CLOSE_SECTORS;
}

static inline bool ios_cfq26_slice_used(const struct cfq26 *c, const struct cfq26_queue *q)
{
	return !q->slice_new && c->tick >= q->slice_end;
}

/* Dropped when there is nothing to run (every trace). */
static inline void ios_cfq26_kick_deferred(struct cfq26 *c)
{
	if (c->busy != 0)
		c->env->kick |= IOSCHED_KICK_DEFERRED;
}

static inline void ios_cfq26_kick_now(struct cfq26 *c)
{
	c->env->kick |= IOSCHED_KICK_NOW;
}

/* cfq26.c: tell what rule acted on `q`, in favour of `other` (or NULL), if somebody listens. */
void ios_cfq26_tell_slow(const struct cfq26 *c, const char *rule, const struct cfq26_queue *q,
			 const struct cfq26_queue *other);
static inline void ios_cfq26_tell(const struct cfq26 *c, const char *rule,
				  const struct cfq26_queue *q, const struct cfq26_queue *other)
{
	if (c->env->tell != NULL)
		ios_cfq26_tell_slow(c, rule, q, other);
}

/* cfq26_tree.c: the service tree */
uint64_t ios_cfq26_slice_ticks(const struct cfq26 *c, const struct cfq26_queue *q);
void ios_cfq26_key(struct cfq26 *c, struct cfq26_queue *q, bool front);
void ios_cfq26_unkey(struct cfq26 *c, struct cfq26_queue *q);

/* cfq26_queue.c: requests in a queue; queues from the pool and back */
size_t ios_cfq26_pool_queues(const struct iosched_params *p);
void ios_cfq26_queues_init(struct cfq26 *c, struct cfq26_queue *pool, size_t n);
struct cfq26_queue *ios_cfq26_queue_take(struct cfq26 *c, uint16_t priority);
struct cfq26_queue *ios_cfq26_queue_async(struct cfq26 *c, uint16_t priority);
struct cfq26_queue **ios_cfq26_slot(struct cfq26 *c, uint16_t priority);
void ios_cfq26_queue_prioritise(struct cfq26_queue *q, uint16_t priority);
void ios_cfq26_queue_retire(struct cfq26 *c, struct cfq26_queue *q);
void ios_cfq26_link(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq);
void ios_cfq26_resort(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq);
void ios_cfq26_unlink(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq);
void ios_cfq26_take(struct cfq26 *c, struct cfq26_queue *q, struct iosched_request *rq);

/* Something that kept the queue alive is gone. */
static inline void ios_cfq26_queue_release(struct cfq26 *c, struct cfq26_queue *q)
{
	if (q->procs == 0)
		ios_cfq26_queue_retire(c, q);
}

/* cfq26_bind.c: which queue a process's request goes to */

/* Class in the high byte; in the low one 0, "none given" (which acts as level 4), or level + 1. */
static inline uint16_t ios_cfq26_priority_of(const struct iosched_request *rq)
{
	const struct iosched_context *c = rq->internal.context;

	if (rq->prio_class == 0 && rq->prio_level == 0)
		return (uint16_t)(c->prio_class << 8 | c->prio_level);
	return (uint16_t)(rq->prio_class << 8 | rq->prio_level);
}

struct cfq26_queue *ios_cfq26_bind_slow(struct cfq26 *c, const struct iosched_request *rq,
					uint16_t priority);

/* The queue for new request `rq`. Most go where the one before went. */
static inline struct cfq26_queue *ios_cfq26_bind(struct cfq26 *c, const struct iosched_request *rq)
{
	const struct cfq26_context *ctx = ios_cfq26_context_of(rq);
	struct cfq26_queue *q = ctx->queue[iosched_request_is_sync(rq)];
	uint16_t priority = ios_cfq26_priority_of(rq);

	if (q != NULL && ctx->priority == priority && !q->prio_marked && !q->shared &&
	    q->redirect == NULL && q != &c->fallback)
		return q;
	return ios_cfq26_bind_slow(c, rq, priority);
}

void ios_cfq26_leave(struct cfq26 *c, struct cfq26_context *ctx);

/* cfq26_coop.c: queues that walk one area */
void ios_cfq26_file(struct cfq26 *c, struct cfq26_queue *q);
struct cfq26_queue *ios_cfq26_cooperator(const struct cfq26 *c, const struct cfq26_queue *q);
void ios_cfq26_plan_merge(struct cfq26 *c, struct cfq26_queue *q, struct cfq26_queue *found);

/* cfq26_idle.c: what was learnt of a queue, and waiting for it */
void ios_cfq26_learn(struct cfq26 *c, struct cfq26_queue *q, const struct iosched_request *rq);
void ios_cfq26_judge_depth(struct cfq26 *c);
void ios_cfq26_arm(struct cfq26 *c, struct cfq26_queue *q);
void ios_cfq26_timer(void *self, iosched_time now);

/* cfq26_slice.c: whose turn it is */
void ios_cfq26_expire(struct cfq26 *c, bool timed_out);
struct cfq26_queue *ios_cfq26_select(struct cfq26 *c, struct iosched_pause *pause);
bool ios_cfq26_may_dispatch(struct cfq26 *c, const struct cfq26_queue *q);
void ios_cfq26_arrived_slow(struct cfq26 *c, struct cfq26_queue *q,
			    const struct iosched_request *rq);

/* `rq` is queued in `q`: does that change whose turn it is? */
static inline void ios_cfq26_arrived(struct cfq26 *c, struct cfq26_queue *q,
				     const struct iosched_request *rq)
{
	if (c->active != NULL && (q != c->active || q->wait))
		ios_cfq26_arrived_slow(c, q, rq);
}

/* cfq26_audit.c */
const char *ios_cfq26_audit(void *self);

#endif
