/* SPDX-License-Identifier: MIT */
/** @file policy.h
 * Writing a policy. Not needed to use the library. Test one with policy_check.h, run it in
 * the simulator with iosched_sim_config::policy or iosched_sim_scenario_add_policy() (sim.h).
 *
 * A policy is one constant table of operations and one struct of state. The core
 * calls the operations; a policy calls nothing back. What it wants of the core
 * (a timer, a kick, a line in the log of decisions) it writes into its env.
 *
 * When each operation runs
 *  - insert: `rq` is to be queued. Use `rq->inserted`, not `now`, as its arrival: a request that
 *    moves in from another policy, or was re-prioritised, has an earlier one.
 *  - dispatch: the host can take one. Return a request, unlinked from all structures, or NULL and
 * fill the pause. Once per request handed out.
 *  - complete: a request that dispatch returned is done.
 *  - requeue: not an operation. A requeued request is handed out again by the core; a policy counts
 *    it as in flight all the while. If it is cancelled instead, complete runs.
 *  - requests with #IOSCHED_RQ_HEAD, and FLUSH unless the table says #IOSCHED_POLICY_TAKES_FLUSH,
 * pass by.
 */
#ifndef IOSCHED_POLICY_H
#define IOSCHED_POLICY_H

#include <iosched/iosched.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup policy_writing Writing a policy
 * @{ */

/** Which end of a request a merge touches. */
enum iosched_side {
	IOSCHED_SIDE_BACK,  /**< the end: what lies behind it */
	IOSCHED_SIDE_FRONT, /**< the start: what lies before it */
};

/** Filled by dispatch when it returns NULL. */
struct iosched_pause {
	enum iosched_hold reason; /**< EMPTY, IDLING, THROTTLED or INFLIGHT */
	iosched_time until;	  /**< IDLING, THROTTLED: when to ask again, if not by env.timer */
};

/** What a policy and the core tell each other. Given to init; lives as long as the policy. */
struct iosched_policy_env {
	const struct iosched_params *params; /**< the queue's; constant */
	iosched_time timer; /**< policy writes: when its timer op shall run, or #IOSCHED_NEVER */
	uint32_t kick; /**< policy or-s in enum iosched_kick; the core takes them after each op */
	uint32_t inflight; /**< core writes: requests with the device */
	/** Where decisions are told, or NULL when nobody listens. Use iosched_tell(). */
	void (*tell)(void *core, const struct iosched_event *event);
	void *core; /**< first argument of tell */
	/** A FLUSH that dispatch may return though nobody inserted it, to empty the device's write
	 * cache; it comes back through complete. NULL: not now, because the host cannot flush
	 * (iosched_params::can_flush) or it is out. The core's: it outlives the policy. */
	struct iosched_request *flush;
};

/** A group as policies see it. */
struct iosched_group {
	uint64_t id;	 /**< the host's number; 0 = root */
	uint32_t weight; /**< 1..1000 */
	uint32_t index;	 /**< 0 = root, then in order of making; at most params.max_groups */
	struct iosched_group *parent; /**< NULL for the root */
	struct iosched_limits limits; /**< see #IOSCHED_POLICY_LIMITS */
};

/** A context as policies see it; `data` is the policy's own. */
struct iosched_context {
	uint64_t id;		       /**< the host's number */
	struct iosched_group *group;   /**< never NULL */
	uint32_t weight;	       /**< 1..1000 */
	uint8_t prio_class;	       /**< enum iosched_class, for requests that name none */
	uint8_t prio_level;	       /**< 0 = default, else level + 1 */
	uint8_t reserved[2];	       /**< zero */
	uint64_t refs;		       /**< core: requests that point here */
	struct iosched_list_link use;  /**< core: the idle list */
	struct iosched_hash_link hash; /**< core: by id */
	uint32_t state;		       /**< core */
	uint32_t reserved1;	       /**< zero */
	void *data; /**< the policy's context_size bytes: zeroed, then context_init */
	struct iosched_limits limits; /**< see #IOSCHED_POLICY_LIMITS */
};

/** iosched_policy::flags. */
enum iosched_policy_flag {
	IOSCHED_POLICY_TAKES_FLUSH = 1u << 0, /**< FLUSH requests go through insert */
	IOSCHED_POLICY_INSERT_MERGE = 1u
				      << 1, /**< a request that found no merge is tried against the
					     * hash once more as a whole (multi-queue kernels) */
	IOSCHED_POLICY_WEIGHTS = 1u << 2,   /**< honours context weights */
	IOSCHED_POLICY_GROUPS = 1u << 3,    /**< honours groups and their weights */
	IOSCHED_POLICY_CONTEXTS = 1u << 4,  /**< needs rq->internal.context */
	IOSCHED_POLICY_PRIORITY = 1u << 5,  /**< honours prio_class */
	/** Dispatch returns a request whenever one is queued; no timer, no kick, no pause until
	 * some time. The core then takes a shorter road. */
	IOSCHED_POLICY_WORK_CONSERVING = 1u << 6,
	IOSCHED_POLICY_LIMITS = 1u << 7, /**< honours iosched_limits of contexts and groups */
};

/** A policy. Required: init, insert, dispatch, remove, drain. An absent operation has nothing to
 * do. */
struct iosched_policy {
	size_t size;				/**< sizeof(struct iosched_policy) */
	uint32_t flags;				/**< enum iosched_policy_flag */
	uint32_t reserved;			/**< zero */
	const char *name;			/**< as users write it */
	const char *summary;			/**< one line */
	size_t self_size;			/**< bytes of state, zeroed before init */
	size_t context_size;			/**< bytes per context; 0 = none */
	const struct iosched_tunable *tunables; /**< ends with a NULL name; may be NULL */

	/** Bytes of further memory that depend on the parameters; NULL = 0. */
	size_t (*pool_size)(const struct iosched_params *p);
	/** State is zero but for the tunables, which hold their initial values. @return 0 or -errno
	 */
	int (*init)(void *self, struct iosched_policy_env *env, void *pool, iosched_time now);
	/** Last call. Nothing is queued. */
	void (*fini)(void *self);
	/** Queue @p rq. */
	void (*insert)(void *self, struct iosched_request *rq, iosched_time now);
	/** Choose. */
	struct iosched_request *(*dispatch)(void *self, iosched_time now,
					    struct iosched_pause *pause);
	/** @p rq is done. Its context is still valid. */
	void (*complete)(void *self, struct iosched_request *rq, iosched_time now);
	/** env.timer has come; it is #IOSCHED_NEVER again. */
	void (*timer)(void *self, iosched_time now);

	/** May @p bio join queued @p into? Core has checked direction and flags. Absent: yes. */
	bool (*merge_allowed)(void *self, const struct iosched_request *into,
			      const struct iosched_request *bio);
	/** The queued request that starts where @p bio ends. Absent: none. */
	struct iosched_request *(*front_candidate)(void *self, const struct iosched_request *bio);
	/** The queued neighbour of @p rq that could be joined with it. Absent: none. */
	struct iosched_request *(*neighbour)(void *self, struct iosched_request *rq,
					     enum iosched_side side);
	/** @p rq grew at @p side: for FRONT its span_offset moved from @p old_offset, re-sort it.
	 */
	void (*grown)(void *self, struct iosched_request *rq, enum iosched_side side,
		      uint64_t old_offset, iosched_time now);
	/** @p victim was joined to the end of @p survivor: unlink it. Spans are already updated. */
	void (*absorbed)(void *self, struct iosched_request *survivor,
			 struct iosched_request *victim, iosched_time now);
	/** Take queued @p rq out; nobody will dispatch it. */
	void (*remove)(void *self, struct iosched_request *rq, iosched_time now);
	/** Take any queued request out, oldest first within each list; NULL when none is left. */
	struct iosched_request *(*drain)(void *self);

	/** A context is new; its data is zero. */
	void (*context_init)(void *self, struct iosched_context *ctx, iosched_time now);
	/** Its weight, class, level or group changed. */
	void (*context_changed)(void *self, struct iosched_context *ctx, iosched_time now);
	/** Its owner is gone. Requests may still point to it; context_fini comes after the last. */
	void (*context_exit)(void *self, struct iosched_context *ctx, iosched_time now);
	/** It is about to be reused. No request points to it. */
	void (*context_fini)(void *self, struct iosched_context *ctx);
	/** A group's weight or parent changed, or it is new. */
	void (*group_changed)(void *self, struct iosched_group *group, iosched_time now);
	/** A tunable got a new value. */
	void (*tunable_changed)(void *self, const struct iosched_tunable *t);
	/** Walk everything. @return NULL, or the sentence that is false */
	const char *(*audit)(void *self);
};

/** Tell who listens that a rule acted. Free when nobody does.
 * @param env     the policy's
 * @param now     when
 * @param rule    what acted, in words: static storage
 * @param context the context it acted on, 0 if none
 * @param other   the one that gains, 0 if none
 * @param until   end of a wait, or #IOSCHED_NEVER */
static inline void iosched_tell(const struct iosched_policy_env *env, iosched_time now,
				const char *rule, uint64_t context, uint64_t other,
				iosched_time until)
{
	if (env->tell != NULL) {
		struct iosched_event event = {IOSCHED_EVENT_RULE,
					      IOSCHED_HOLD_NONE,
					      now,
					      NULL,
					      NULL,
					      rule,
					      context,
					      other,
					      until};

		env->tell(env->core, &event);
	}
}

/** The class a request runs in: its own, or its context's when it names none.
 * @param rq  queued; its context looked up (#IOSCHED_POLICY_CONTEXTS) or not
 * @return the class */
static inline enum iosched_class iosched_request_class(const struct iosched_request *rq)
{
	const struct iosched_context *c = rq->internal.context;

	if (rq->prio_class != 0 || rq->prio_level != 0 || c == NULL)
		return (enum iosched_class)rq->prio_class;
	return (enum iosched_class)c->prio_class;
}

/** The level a request runs at, 0 (best) to 7: its own, its context's, or 4.
 * @param rq  queued
 * @return the level */
static inline unsigned iosched_request_level(const struct iosched_request *rq)
{
	const struct iosched_context *c = rq->internal.context;
	unsigned stored = rq->prio_level;

	if (rq->prio_class == 0 && stored == 0 && c != NULL)
		stored = c->prio_level;
	return stored == 0 ? 4 : stored - 1;
}

/** Take a queued request out of all further merging, as when a policy has already chosen it.
 * @param rq  queued */
static inline void iosched_withdraw(struct iosched_request *rq)
{
	rq->internal.unmergeable = 1;
}
/** @} */

#ifdef __cplusplus
}
#endif

#endif
