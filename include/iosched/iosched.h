/* SPDX-License-Identifier: MIT */
/** @file iosched.h
 * libiosched: put requests in, ask which one to issue next, report when it is done.
 *
 * The library decides; the host does the I/O. A host's loop is five calls:
 * iosched_insert() when a request arrives, iosched_dispatch() until it returns
 * NULL, iosched_complete() when the device answers, iosched_next_wakeup() to
 * know when to call iosched_timer(). There is no thread, clock, lock, global
 * state or random number inside: a run is a function of the calls and of the
 * times passed to them.
 *
 * Conventions
 *  - Time: nanoseconds from any monotonic origin. A call with an earlier time
 *    than the call before is treated as if it came at that call's time, and counted
 *    (iosched_stats::time_went_back).
 *  - Errors: 0 or a negative errno. An error leaves the queue as it was.
 *  - Threads: one caller at a time per queue; different queues are independent.
 *  - Memory: everything is allocated by iosched_create() and iosched_switch()
 *    through the host's allocator, and nothing after.
 *  - Progress: if requests are queued, nothing is in flight and iosched_dispatch()
 *    returned NULL, then iosched_next_wakeup() is finite.
 *  - Structures grow at their end. Those with a `size` member are filled in
 *    by an _init function, which is how old programs run with new libraries.
 */
#ifndef IOSCHED_IOSCHED_H
#define IOSCHED_IOSCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the shared library exports. */
#if defined(__GNUC__)
#define IOSCHED_API __attribute__((visibility("default")))
#else
#define IOSCHED_API
#endif

/** @defgroup time Time
 * @{ */
/** Nanoseconds from any monotonic origin the host likes. */
typedef uint64_t iosched_time;
/** "No such moment": later than every other time. */
#define IOSCHED_NEVER UINT64_MAX
/** @} */

/** A queue: one device's requests under one policy. */
struct iosched;
/** A policy's table of operations (policy.h); opaque to users. */
struct iosched_policy;

/** @defgroup request Requests
 * @{ */
/** What a request does. */
enum iosched_op {
	IOSCHED_READ,	 /**< read; always synchronous */
	IOSCHED_WRITE,	 /**< write; asynchronous unless #IOSCHED_RQ_SYNC */
	IOSCHED_FLUSH,	 /**< empty the device's volatile cache; length 0 */
	IOSCHED_DISCARD, /**< the extent's content is no longer needed */
};

/** Priority class. Zero is the default. */
enum iosched_class {
	IOSCHED_BEST_EFFORT, /**< the default; shares by level or weight */
	IOSCHED_REALTIME,    /**< before everybody else */
	IOSCHED_IDLE,	     /**< only when nobody else wants the device */
};

/** iosched_request::flags. */
enum iosched_rq_flag {
	/** Someone waits for this write. Reads count as sync with or without it. */
	IOSCHED_RQ_SYNC = 1u << 0,
	/** Metadata or priority hint (the kernel's REQ_META, REQ_PRIO). */
	IOSCHED_RQ_META = 1u << 1,
	/** A sync write after which nothing near follows, as fsync makes them. */
	IOSCHED_RQ_NOIDLE = 1u << 2,
	/** Forced unit access: done only when on stable media. Never merged. */
	IOSCHED_RQ_FUA = 1u << 3,
	/** Ahead of everything queued, past the policy: error recovery. Never merged. */
	IOSCHED_RQ_HEAD = 1u << 4,
	/** Neither absorbs another request nor is absorbed. */
	IOSCHED_RQ_NOMERGE = 1u << 5,
	/** Set by the library on a request it made itself: a FLUSH that a policy wants, only with
	 * iosched_params::can_flush. The host did not insert it, `user` is NULL; issue it and
	 * iosched_complete() it as any other (or requeue it), then forget it. */
	IOSCHED_RQ_INTERNAL = 1u << 6,
};

/** Position in a tree. Private to the library. */
struct iosched_tree_link {
	uintptr_t parent_color;		 /**< parent, and the colour in bit 0 */
	struct iosched_tree_link *left;	 /**< smaller keys */
	struct iosched_tree_link *right; /**< larger or equal keys */
};

/** Position in a list. Private to the library. */
struct iosched_list_link {
	struct iosched_list_link *prev; /**< towards the head */
	struct iosched_list_link *next; /**< towards the tail */
};

/** Position in the merge hash. Private to the library. */
struct iosched_hash_link {
	struct iosched_hash_link *next;	  /**< next in the bucket */
	struct iosched_hash_link **pprev; /**< what points at us; NULL: not hashed */
};

struct iosched_context;

/**
 * One request. Embed it in your own I/O struct and zero-initialise it.
 *
 * The host writes the members up to `user` before iosched_insert() and leaves
 * them alone until the request is its own again. The library writes the others.
 * On dispatch, issue `span_offset`/`span_length`; the extents of `merged` lie in it.
 */
struct iosched_request {
	uint64_t offset;    /**< first byte */
	uint64_t length;    /**< bytes; 0 only for a FLUSH */
	uint64_t context;   /**< who asked; 0 = nobody in particular */
	uint32_t flags;	    /**< enum iosched_rq_flag, or-ed */
	uint8_t op;	    /**< enum iosched_op */
	uint8_t prio_class; /**< enum iosched_class */
	uint8_t prio_level; /**< level 0 (best) to 7 stored as 1..8; 0 = the context's, or 4 */
	uint8_t reserved0;  /**< zero */
	/** Latest start wanted, absolute; 0 = the policy's own. A wish: the kernel's policies know
	 * no such thing and go by their own expiry times. */
	iosched_time deadline;
	void *user; /**< the host's; never touched by the library */

	uint64_t span_offset; /**< first byte to issue: own extent and merged ones */
	uint64_t span_length; /**< bytes to issue */
	/** Requests absorbed by this one, in offset order, linked by iosched_merged_next().
	 * They finish when this one does. */
	struct iosched_request *merged;
	iosched_time inserted;	 /**< when it was inserted */
	iosched_time dispatched; /**< when it was last dispatched */

	/** The library's own. Members are for core and policies (policy.h). */
	struct {
		struct iosched_tree_link sort;	 /**< by offset in a policy's tree */
		struct iosched_list_link fifo;	 /**< by arrival in a policy's list */
		struct iosched_hash_link hash;	 /**< by end offset, for back merges */
		iosched_time expiry;		 /**< policy: when the fifo wants it started */
		struct iosched_context *context; /**< who asked, looked up */
		void *queue;			 /**< policy: the queue it waits in */
		struct iosched_request *next;	 /**< absorbed: next one in offset order */
		struct iosched_request *last;	 /**< absorbing: last of `merged` */
		uint32_t epoch;			 /**< which of the queue's policies knows it */
		uint8_t state;			 /**< enum ios_rq_state */
		uint8_t unmergeable;		 /**< takes part in no further merge */
		uint8_t mark;			 /**< policy: a small number of its own */
		uint8_t reserved;		 /**< zero */
	} internal;				 /**< private */
};

/** The next absorbed request after @p rq in offset order.
 * @param rq  an absorbed request
 * @return the next one, or NULL
 * Start with `parent->merged`. Valid until the parent is completed.
 * Threads: as for the queue. Cost: O(1). @ingroup request */
static inline struct iosched_request *iosched_merged_next(const struct iosched_request *rq)
{
	return rq->internal.next;
}

/** Does someone wait for @p rq?
 * @param rq  any request
 * @return true of reads and of writes flagged #IOSCHED_RQ_SYNC   Threads: any. */
static inline bool iosched_request_is_sync(const struct iosched_request *rq)
{
	return rq->op == IOSCHED_READ || (rq->flags & IOSCHED_RQ_SYNC) != 0;
}
/** @} */

/** @defgroup lifecycle Creating and destroying
 * @{ */

/** What happened to a request or a decision; see iosched_event. */
enum iosched_event_type {
	IOSCHED_EVENT_INSERT,	   /**< `rq` is queued */
	IOSCHED_EVENT_BACK_MERGE,  /**< `rq` was appended to `other` */
	IOSCHED_EVENT_FRONT_MERGE, /**< `rq` was put before `other` */
	IOSCHED_EVENT_COALESCE,	   /**< queued `rq` was absorbed by its lower neighbour `other` */
	IOSCHED_EVENT_DISPATCH,	   /**< `rq` was handed to the host */
	IOSCHED_EVENT_COMPLETE,	   /**< `rq`, and all in `rq->merged`, are the host's again */
	IOSCHED_EVENT_REQUEUE,	   /**< issued `rq` is queued again */
	IOSCHED_EVENT_CANCEL,	   /**< queued `rq` was taken out by the host */
	IOSCHED_EVENT_SWITCH,	   /**< another policy took over; `rule` is its name */
	IOSCHED_EVENT_HOLD,	   /**< dispatch returned nothing though work is queued */
	IOSCHED_EVENT_RULE,	   /**< a rule of the policy acted: `rule`, `context`, ... */
};

/** Why iosched_dispatch() returned NULL. */
enum iosched_hold {
	IOSCHED_HOLD_NONE,	/**< it returned a request */
	IOSCHED_HOLD_EMPTY,	/**< nothing is queued */
	IOSCHED_HOLD_WINDOW,	/**< max_inflight requests are with the device */
	IOSCHED_HOLD_IDLING,	/**< the policy waits for a better request, until next_wakeup */
	IOSCHED_HOLD_THROTTLED, /**< over a limit, until next_wakeup */
	IOSCHED_HOLD_INFLIGHT,	/**< the policy waits for a completion */
};

/** One step of the life of a request, or one decision of the policy. */
struct iosched_event {
	enum iosched_event_type type;	     /**< what happened */
	enum iosched_hold hold;		     /**< for #IOSCHED_EVENT_HOLD */
	iosched_time now;		     /**< when */
	const struct iosched_request *rq;    /**< the request it happened to, or NULL */
	const struct iosched_request *other; /**< the absorbing request, or NULL */
	const char *rule; /**< for #IOSCHED_EVENT_RULE: what acted, in words; static storage */
	uint64_t context; /**< for RULE: the context it acted on */
	uint64_t other_context; /**< for RULE: the one that gains by it, if there is one */
	iosched_time until;	/**< for RULE and HOLD: end of the wait, or #IOSCHED_NEVER */
};

/** What the host needs to know when the policy asks for a dispatch. */
enum iosched_kick {
	IOSCHED_KICK_NOW = 1,	   /**< as soon as the current call has returned */
	IOSCHED_KICK_DEFERRED = 2, /**< soon; from a work queue in a kernel */
};

/** What the caller knows of the device's parallelism. */
enum iosched_parallel {
	IOSCHED_PARALLEL_UNKNOWN, /**< let the policy measure it */
	IOSCHED_PARALLEL_NO,	  /**< one arm */
	IOSCHED_PARALLEL_YES,	  /**< several requests make progress at once */
};

/** Parameters of a queue. Fill with iosched_params_init(), then change. */
struct iosched_params {
	size_t size; /**< sizeof the caller's struct; set by iosched_params_init() */
	/** Default noop; NULL, as iosched_policy_find() answers a name it does not know, is
	 * refused. The table must outlive the queue. */
	const struct iosched_policy *policy;
	iosched_time now;	  /**< creation time on the host's clock. Default 0 */
	uint32_t max_inflight;	  /**< device window, requests; 0 = no limit. Default 0 */
	uint32_t max_contexts;	  /**< contexts remembered at a time, 1..2^24. Default 1024 */
	uint32_t max_groups;	  /**< groups above contexts, 0..65536. Default 64 */
	uint32_t expected_queued; /**< sizes the merge hash, 1..2^26; more may be queued. Default
				     32768 */
	uint64_t max_merge_bytes; /**< largest request made by merging; 0 = never merge. Default 512
				     KiB */
	uint8_t rotational;	  /**< 1: seeks cost. Default 1 */
	uint8_t write_cache;	  /**< 1: the device has a volatile write cache. Default 0 */
	uint8_t can_flush;    /**< 1: a policy may hand out FLUSH requests of its own. Default 0 */
	uint8_t array;	      /**< 1: a write-back array controller. Default 0 */
	uint8_t parallel;     /**< enum iosched_parallel. Default unknown */
	uint8_t manual_timer; /**< 1: dispatch never runs a due timer, only iosched_timer(). Default
				 0 */
	uint8_t audit;	      /**< 1: walk all structures after every call and abort() if
			       * one is broken; slow, for tests. Default 0 */
	/** 1: keep latency histograms, seeks and idle time (about 50 instructions a request).
	 * Default 0: the counters only. */
	uint8_t measure;
	uint32_t device_depth; /**< how many requests the device takes at once; 0 = unknown */
	uint32_t reserved1;    /**< zero */

	/** Returns @p size bytes aligned for any type, or NULL. Default malloc. */
	void *(*alloc)(void *user, size_t size);
	/** Takes back what alloc returned. Default free. */
	void (*release)(void *user, void *memory);
	/** Optional: the policy wants a dispatch. Must not call into the queue. */
	void (*kick)(void *user, enum iosched_kick kind);
	/** Optional: next_wakeup changed to @p when. Must not call into the queue. */
	void (*arm_timer)(void *user, iosched_time when);
	/** Optional: every step, in order, once. Must not call into the queue. */
	void (*event)(void *user, const struct iosched_event *event);
	void *user; /**< first argument of the functions above */
};

/**
 * Fill @p p with the defaults named at its members.
 * @param p     to fill
 * @param size  sizeof(struct iosched_params)
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_params_init(struct iosched_params *p, size_t size);

/**
 * Make a queue.
 * @param out  receives the queue; untouched on error
 * @param p    from iosched_params_init(); copied
 * @return 0, -EINVAL (a member out of its range, no policy, a policy table without a
 *         required operation or of an unknown size, alloc without release, a struct that
 *         iosched_params_init() has not seen), -ENOMEM
 * Ownership: the caller's, until iosched_destroy().
 * Threads: any.   Cost: the only allocation until iosched_switch().
 */
IOSCHED_API int iosched_create(struct iosched **out, const struct iosched_params *p);

/**
 * Free a queue.
 * @param s  may be NULL
 * @return 0, or -EBUSY while requests are queued or in flight: see iosched_drain()
 * Threads: the queue's caller.   Cost: O(contexts).
 */
IOSCHED_API int iosched_destroy(struct iosched *s);

/** The version of the library that runs, e.g. "0.1.0".
 * @return static storage   Threads: any. */
IOSCHED_API const char *iosched_version(void);
/** @} */

/** @addtogroup request
 * @{ */

/**
 * Hand one request to the scheduler.
 *
 * It may be merged into a queued one at once; then it has no dispatch of its
 * own and ends with the one that absorbed it.
 * @param s    the queue
 * @param rq   zero-initialised or previously returned; offset + length must not overflow
 * @param now  nanoseconds
 * @return 0, -EINVAL (empty or overflowing extent, a FLUSH with one, unknown op, class, level
 *         or flag), -EBUSY (already inserted, here or elsewhere; or memory that was never
 *         zeroed), -ESHUTDOWN (quiesced)
 * Ownership: on 0 the request is the scheduler's until complete, cancel or drain returns it.
 * Threads: the queue's caller.   Cost: O(log queued), no allocation.
 * @see iosched_dispatch
 */
IOSCHED_API int iosched_insert(struct iosched *s, struct iosched_request *rq, iosched_time now);

/**
 * Insert several in order; stops at the first that is refused.
 * @param s    the queue
 * @param rqs  the requests
 * @param n    how many
 * @param now  nanoseconds
 * @return how many were inserted (n, unless one was refused); the error itself if the first was
 * Ownership, threads, cost: as iosched_insert().
 */
IOSCHED_API int iosched_insert_many(struct iosched *s, struct iosched_request *const *rqs,
				    unsigned n, iosched_time now);

/**
 * Which request to issue now.
 * @param s    the queue
 * @param now  nanoseconds
 * @return a request, to be issued as span_offset, span_length; or NULL: issue
 *         nothing now, see iosched_hold_reason() and iosched_next_wakeup(). Never an error:
 *         a queue that is quiesced goes on until it is empty
 * Ownership: still the scheduler's until iosched_complete().
 * Threads: the queue's caller.   Cost: O(log queued) amortised.
 */
IOSCHED_API struct iosched_request *iosched_dispatch(struct iosched *s, iosched_time now);

/**
 * Dispatch until nothing comes or @p max are out.
 * @param s    the queue
 * @param out  room for @p max pointers
 * @param max  how many at most
 * @param now  nanoseconds
 * @return how many were written
 * Ownership, threads, cost: as iosched_dispatch().
 */
IOSCHED_API unsigned iosched_dispatch_many(struct iosched *s, struct iosched_request **out,
					   unsigned max, iosched_time now);

/** Why the last iosched_dispatch() returned NULL.
 * @param s  the queue
 * @return the reason, or #IOSCHED_HOLD_NONE after a request
 * Threads: the queue's caller.   Cost: O(1). */
IOSCHED_API enum iosched_hold iosched_hold_reason(const struct iosched *s);

/**
 * When the host must call iosched_timer() (or iosched_dispatch()) though nothing else happens.
 * @param s  the queue
 * @return a time, possibly past, or #IOSCHED_NEVER
 * Threads: the queue's caller.   Cost: O(1). Read it after every other call.
 */
IOSCHED_API iosched_time iosched_next_wakeup(const struct iosched *s);

/**
 * The moment next_wakeup named has come. Dispatch afterwards.
 * @param s    the queue
 * @param now  nanoseconds
 * @return 0, or -EAGAIN: nothing was due yet (harmless)
 * Threads: the queue's caller.   Cost: O(log contexts).
 */
IOSCHED_API int iosched_timer(struct iosched *s, iosched_time now);

/**
 * The device has answered. The request and all in its `merged` are the host's again.
 * @param s    the queue
 * @param rq   one that iosched_dispatch() returned
 * @param now  nanoseconds
 * @return 0, or -EINVAL (not in flight in this queue)
 * Ownership: the host's; walk `merged` before reusing the request. A host that gives up on the
 * device (a time-out) calls this too, once the device can no longer touch the memory.
 * Threads: the queue's caller.   Cost: O(merged + log contexts).
 */
IOSCHED_API int iosched_complete(struct iosched *s, struct iosched_request *rq, iosched_time now);

/**
 * The device refused an issued request; it will be the next one dispatched, merged chain and all.
 * @param s    the queue
 * @param rq   one that iosched_dispatch() returned
 * @param now  nanoseconds
 * @return 0, or -EINVAL (not in flight in this queue)
 * Ownership: stays the scheduler's. The policy keeps counting it as in flight.
 * Threads: the queue's caller.   Cost: O(1).
 */
IOSCHED_API int iosched_requeue(struct iosched *s, struct iosched_request *rq, iosched_time now);

/**
 * Take a queued request back, as when its client has lost patience. One that must stay
 * cancellable until it is dispatched has #IOSCHED_RQ_NOMERGE.
 * @param s    the queue
 * @param rq   an inserted request
 * @param now  nanoseconds
 * @return 0, -EINVAL (not inserted in this queue), -EINPROGRESS (issued, absorbed, or has
 *         absorbed others: then it ends by iosched_complete())
 * Ownership: on 0 the host's.
 * Threads: the queue's caller.   Cost: O(log queued).
 */
IOSCHED_API int iosched_cancel(struct iosched *s, struct iosched_request *rq, iosched_time now);

/**
 * Change the priority of a queued request, e.g. read-ahead that someone now waits for.
 * @param s          the queue
 * @param rq         an inserted request
 * @param prio_class enum iosched_class
 * @param prio_level 0 (the context's own) or 1..8, as in iosched_request
 * @param now        nanoseconds
 * @return 0, -EINVAL (not in this queue, class or level out of range), -EINPROGRESS (as
 * iosched_cancel()) Threads: the queue's caller.   Cost: O(log queued). Its arrival time stays.
 */
IOSCHED_API int iosched_reprioritize(struct iosched *s, struct iosched_request *rq,
				     enum iosched_class prio_class, unsigned prio_level,
				     iosched_time now);

/**
 * Refuse (or accept again) new requests, so that the queue runs dry. What is queued is still
 * dispatched: see iosched_drain() to get it back instead.
 * @param s   the queue
 * @param on  true: iosched_insert() answers -ESHUTDOWN from now on
 * Threads: the queue's caller.   Cost: O(1).
 */
IOSCHED_API void iosched_quiesce(struct iosched *s, bool on);

/**
 * Give a queued request back unissued. Call until NULL to empty the queue at shutdown.
 * @param s    the queue
 * @param now  nanoseconds
 * @return a request of the host's, alone (merged ones come one by one); NULL: none is queued
 * Ownership: the host's. Requests in flight still end by iosched_complete().
 * Threads: the queue's caller.   Cost: O(log queued) amortised.
 */
IOSCHED_API struct iosched_request *iosched_drain(struct iosched *s, iosched_time now);

/** How many requests are queued (absorbed ones not counted).
 * @param s  the queue  @return the count   Threads: the queue's caller.   Cost: O(1). */
IOSCHED_API uint64_t iosched_queued(const struct iosched *s);

/** How many requests are with the device.
 * @param s  the queue  @return the count   Threads: the queue's caller.   Cost: O(1). */
IOSCHED_API uint32_t iosched_inflight(const struct iosched *s);
/** @} */

/** @defgroup policy Choosing a policy
 * @{ */

/** A built-in policy by name ("noop", "deadline", ...).
 * @param name  its name  @return its table, or NULL, which iosched_create() refuses   Threads: any.
 * Cost: O(policies). */
IOSCHED_API const struct iosched_policy *iosched_policy_find(const char *name);

/** The built-in policies by number.
 * @param i  from 0  @return a table, or NULL past the last   Threads: any.   Cost: O(1). */
IOSCHED_API const struct iosched_policy *iosched_policy_at(unsigned i);

/** A policy's name.
 * @param p  a table  @return its name, static   Threads: any. */
IOSCHED_API const char *iosched_policy_name(const struct iosched_policy *p);

/** What a policy does, in one line.
 * @param p  a table  @return static text, "" if it has none   Threads: any. */
IOSCHED_API const char *iosched_policy_summary(const struct iosched_policy *p);

/** The policy a queue runs.
 * @param s  the queue  @return its table   Threads: the queue's caller. */
IOSCHED_API const struct iosched_policy *iosched_policy_of(const struct iosched *s);

/**
 * Change the policy while requests are queued and in flight. Every queued request moves,
 * with its arrival time; tunables start at the new policy's defaults. All or nothing.
 * @param s       the queue
 * @param policy  the new one
 * @param now     nanoseconds
 * @return 0, -EINVAL (table not acceptable, see iosched_create()), -ENOMEM; on error the old
 *         policy goes on as if nothing had been asked
 * Threads: the queue's caller.   Cost: O(queued log queued); allocates the new policy's state.
 */
IOSCHED_API int iosched_switch(struct iosched *s, const struct iosched_policy *policy,
			       iosched_time now);

/** What a tunable's number means. */
enum iosched_unit {
	IOSCHED_UNIT_NONE,  /**< a plain count or factor */
	IOSCHED_UNIT_BOOL,  /**< 0 or 1 */
	IOSCHED_UNIT_NS,    /**< nanoseconds */
	IOSCHED_UNIT_BYTES, /**< bytes */
};

/** One tunable of a policy. */
struct iosched_tunable {
	const char *name;	/**< with its unit, e.g. "read_expire_ns" */
	enum iosched_unit unit; /**< of the numbers below */
	uint64_t min;		/**< least value allowed */
	uint64_t max;		/**< largest value allowed */
	uint64_t initial;	/**< value at create */
	size_t member;		/**< offset of its uint64_t in the policy's state */
	const char *doc;	/**< one line: what it does */
};

/** Describe the tunables of a policy.
 * @param p  the policy  @param i  from 0  @return one, or NULL past the last   Threads: any. */
IOSCHED_API const struct iosched_tunable *iosched_tunable_list(const struct iosched_policy *p,
							       unsigned i);

/**
 * Set a tunable of the policy that runs.
 * @param s      the queue
 * @param name   e.g. "read_expire_ns"
 * @param value  in the tunable's unit
 * @return 0, -ENOENT (no policy has it), -EOPNOTSUPP (another policy has it, this one has not),
 *         -ERANGE (outside min..max)
 * Threads: the queue's caller.   Cost: O(tunables).
 */
IOSCHED_API int iosched_tunable_set(struct iosched *s, const char *name, uint64_t value);

/**
 * Read a tunable of the policy that runs.
 * @param s      the queue
 * @param name   its name
 * @param value  receives it
 * @return 0, -ENOENT or -EOPNOTSUPP as iosched_tunable_set()
 * Threads: the queue's caller.   Cost: O(tunables).
 */
IOSCHED_API int iosched_tunable_get(const struct iosched *s, const char *name, uint64_t *value);
/** @} */

/** @defgroup context Contexts and groups
 * Who asks. A context is a process, client, connection, stream: whatever should
 * be told apart; several workers may share one. It comes into being by its first request.
 * When max_contexts are known and a new one asks, the one idle for longest is
 * forgotten (unless iosched_context_set() named it); when none is idle, the request
 * is served under context 0 and iosched_stats::context_overflow counts it.
 * @{ */

/** Bounds on what a context, or a group with all below it, gets. 0 = none. Reservations (min) are
 * kept before weights are looked at, as far as the device can; what a tenant does not use
 * goes to the others. Limits (max) are kept even if the device is idle. Device time is what the
 * policy charges, in thousandths of one device's time. */
struct iosched_limits {
	uint32_t min_permille; /**< device time at least, 0..1000 */
	uint32_t max_permille; /**< device time at most, 0..1000 */
	uint64_t min_bps;      /**< bytes a second at least, up to 10^12 */
	uint64_t max_bps;      /**< bytes a second at most, up to 10^12 */
	uint32_t min_iops;     /**< requests a second at least, up to 10^9 */
	uint32_t max_iops;     /**< requests a second at most, up to 10^9 */
};

/** What a context may be given. Fill with iosched_context_params_init(). */
struct iosched_context_params {
	size_t size;		      /**< sizeof the caller's struct */
	uint32_t weight;	      /**< share among its siblings, 1..1000. Default 100 */
	uint8_t prio_class;	      /**< class of requests that name none: enum iosched_class */
	uint8_t prio_level;	      /**< 0 = 4, else level + 1 */
	uint8_t reserved[2];	      /**< zero */
	uint64_t group;		      /**< its group; 0 = the root */
	struct iosched_limits limits; /**< default none */
};

/** What a group may be given. Fill with iosched_group_params_init(). */
struct iosched_group_params {
	size_t size;		      /**< sizeof the caller's struct */
	uint32_t weight;	      /**< share among its siblings, 1..1000. Default 100 */
	uint32_t reserved;	      /**< zero */
	uint64_t parent;	      /**< the group above; 0 = the root */
	struct iosched_limits limits; /**< default none; for all below it together */
};

/** Defaults. @param p to fill @param size sizeof(*p)   Threads: any. */
IOSCHED_API void iosched_context_params_init(struct iosched_context_params *p, size_t size);
/** Defaults. @param p to fill @param size sizeof(*p)   Threads: any. */
IOSCHED_API void iosched_group_params_init(struct iosched_group_params *p, size_t size);

/**
 * Give a context its weight, priority and group. It is then never forgotten until it exits.
 * @param s    the queue
 * @param id   the context, not 0
 * @param p    what it gets
 * @param now  nanoseconds
 * @return 0, -EINVAL (id 0, a member out of range, a struct that
 *         iosched_context_params_init() has not seen), -ENOENT (no such group), -ENOSPC
 *         (max_contexts are set or busy), -EOPNOTSUPP (a weight, group or limit given
 *         and the policy has none: `iosched policies` tells which has. cfq has weights of
 *         groups, not of contexts)
 * Threads: the queue's caller.   Cost: O(1) and the policy's share.
 */
IOSCHED_API int iosched_context_set(struct iosched *s, uint64_t id,
				    const struct iosched_context_params *p, iosched_time now);

/**
 * The process behind a context is gone: stop waiting for it. A later request of this id is a new
 * context.
 * @param s    the queue
 * @param id   the context
 * @param now  nanoseconds
 * @return 0, or -ENOENT (unknown, or 0). Its requests still run.
 * Threads: the queue's caller.   Cost: O(1) and the policy's share.
 */
IOSCHED_API int iosched_context_exit(struct iosched *s, uint64_t id, iosched_time now);

/**
 * Make a group or change it. A group stays as long as the queue.
 * @param s    the queue
 * @param id   the group, not 0
 * @param p    what it gets
 * @param now  nanoseconds
 * @return 0, -EINVAL (id 0, a member out of range, parent below itself, a struct that
 * iosched_group_params_init() has not seen), -ENOENT (no such parent),
 * -ENOSPC (max_groups exist), -EOPNOTSUPP (the policy has no groups, or no limits)
 * Threads: the queue's caller.   Cost: O(depth).
 */
IOSCHED_API int iosched_group_set(struct iosched *s, uint64_t id,
				  const struct iosched_group_params *p, iosched_time now);
/** @} */

/** @defgroup stats Statistics
 * @{ */

/** Counters since create. Those marked "measure" count if iosched_params::measure is set. */
struct iosched_stats {
	size_t size;	       /**< sizeof the caller's struct */
	uint64_t inserted;     /**< requests accepted */
	uint64_t dispatched;   /**< requests handed out (after a requeue again) */
	uint64_t completed;    /**< requests completed, absorbed ones included */
	uint64_t cancelled;    /**< requests taken back by cancel or drain */
	uint64_t requeued;     /**< iosched_requeue() calls */
	uint64_t back_merges;  /**< requests appended to another */
	uint64_t front_merges; /**< requests put before another */
	uint64_t coalesced;    /**< queued requests joined when the gap between them filled */
	uint64_t read_bytes;   /**< bytes of completed reads */
	uint64_t write_bytes;  /**< bytes of completed writes */
	uint64_t seeks; /**< measure: dispatches that did not start where the one before ended */
	uint64_t seek_bytes; /**< measure: sum of those distances */
	uint64_t idle_ns; /**< measure: time with work queued, nothing in flight, the policy waiting
			   */
	uint64_t time_went_back;   /**< calls with an earlier time than the call before */
	uint64_t context_overflow; /**< requests served as context 0 for want of a context */
	uint64_t switches;	   /**< policies taken over */
	uint64_t kicks;		   /**< times the policy asked for a dispatch */
	uint64_t internal_flushes; /**< #IOSCHED_RQ_INTERNAL requests handed out; they are in no
				    * other count and in no latency */
};

/**
 * Copy the counters.
 * @param s     the queue
 * @param out   to fill
 * @param size  sizeof(struct iosched_stats) as the caller knows it
 * Threads: the queue's caller.   Cost: O(1).
 */
IOSCHED_API void iosched_stats_get(const struct iosched *s, struct iosched_stats *out, size_t size);

/** Which latency. */
enum iosched_latency {
	IOSCHED_LATENCY_WAIT,	/**< insert to dispatch */
	IOSCHED_LATENCY_DEVICE, /**< dispatch to complete */
	IOSCHED_LATENCY_TOTAL,	/**< insert to complete */
};

/** Buckets of a latency histogram: 32 per octave, so 3 % wide, up to 2^42 ns (73 min). */
#define IOSCHED_HISTOGRAM_BUCKETS 1216

/**
 * A quantile of a latency, over all requests since create (absorbed ones counted by their parent).
 * @param s         the queue
 * @param which     which latency
 * @param permyriad 0..10000: 5000 = median, 9990 = p99.9
 * @return nanoseconds, the upper edge of its bucket (at most 3.2 % high); 0 if nothing was counted,
 *         as when iosched_params::measure is off
 * Threads: the queue's caller.   Cost: O(buckets).
 */
IOSCHED_API uint64_t iosched_latency_quantile(const struct iosched *s, enum iosched_latency which,
					      unsigned permyriad);

/**
 * The counts behind iosched_latency_quantile().
 * @param s      the queue
 * @param which  which latency
 * @return #IOSCHED_HISTOGRAM_BUCKETS counters, valid while the queue lives
 * Threads: the queue's caller.   Cost: O(1).
 */
IOSCHED_API const uint64_t *iosched_latency_histogram(const struct iosched *s,
						      enum iosched_latency which);

/** Largest latency that falls into bucket @p i.
 * @param i  0..#IOSCHED_HISTOGRAM_BUCKETS-1  @return nanoseconds   Threads: any.   Cost: O(1). */
IOSCHED_API uint64_t iosched_histogram_edge(unsigned i);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
