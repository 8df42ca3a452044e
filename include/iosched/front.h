/* SPDX-License-Identifier: MIT */
/** @file front.h
 * A door for many threads: producers leave requests, the dispatcher takes them in.
 *
 * A queue has one caller at a time. When several threads have requests, they may share
 * a mutex around it, or put a front before it: a ring of fixed size that producers fill without
 * locks and the one thread that owns the queue empties in batches. A full ring is an answer
 * (-EAGAIN), not a wait: the host decides what back-pressure means to it.
 *
 * Sleeping: the dispatcher calls iosched_front_sleep() before it blocks in whatever it blocks in
 * (eventfd, condition variable, io_uring). The producer whose iosched_front_submit() then
 * returns 1, and only that one, must wake it. No wake-up is lost and none is paid for while the
 * dispatcher runs. A wake-up may come late, when the dispatcher has found the request by itself: it
 * must be harmless, as an eventfd's is.
 *
 * Order: requests of one producer come out in the order it submitted them. A producer that loses
 * the CPU in the middle of a submit holds back those behind it until it runs again; the
 * dispatcher meanwhile does other work, or sleeps: it will be woken.
 */
#ifndef IOSCHED_FRONT_H
#define IOSCHED_FRONT_H

#include <iosched/iosched.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup front Many producers
 * @{ */

/** A ring of submitted requests before a queue. */
struct iosched_front;

/** Parameters of a front. Fill with iosched_front_params_init(), then change. */
struct iosched_front_params {
	size_t size;	   /**< sizeof the caller's struct */
	uint32_t capacity; /**< requests it holds, 2..2^24; rounded up to a power of two. Default
			      1024 */
	uint32_t reserved; /**< zero */
	/** Returns @p size bytes aligned for any type, or NULL. Default malloc. */
	void *(*alloc)(void *user, size_t size);
	/** Takes back what alloc returned. Default free. */
	void (*release)(void *user, void *memory);
	/** Optional: the queue refused @p rq with @p error (-EINVAL, -EBUSY, -ESHUTDOWN); it is the
	 * host's again. Called by iosched_front_drain(), in the dispatcher's thread. A host without
	 * it must submit only requests that the queue accepts: drain reports the first refusal. */
	void (*refused)(void *user, struct iosched_request *rq, int error);
	void *user; /**< first argument of the functions above */
};

/**
 * Fill @p p with the defaults named at its members.
 * @param p     to fill
 * @param size  sizeof(struct iosched_front_params)
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_front_params_init(struct iosched_front_params *p, size_t size);

/**
 * Make a front.
 * @param out  receives it; untouched on error
 * @param p    from iosched_front_params_init(); copied
 * @return 0, -EINVAL (capacity out of range, alloc without release or the reverse), -ENOMEM
 * Ownership: the caller's, until iosched_front_destroy().
 * Threads: any.   Cost: one allocation of 8 bytes a slot; none afterwards.
 */
IOSCHED_API int iosched_front_create(struct iosched_front **out,
				     const struct iosched_front_params *p);

/**
 * Free a front.
 * @param f  may be NULL
 * @return 0, or -EBUSY while requests are in it: close it and take them out first
 * Threads: no other call may be running.   Cost: O(1).
 */
IOSCHED_API int iosched_front_destroy(struct iosched_front *f);

/**
 * Leave a request for the dispatcher.
 * @param f   the front
 * @param rq  as for iosched_insert(), which sees it later
 * @return 0: left; 1: left, and the dispatcher sleeps: wake it; -EAGAIN: full, @p rq is still
 *         the caller's; -ESHUTDOWN: closed, likewise
 * Ownership: on 0 and 1 the front's, then the queue's.
 * Threads: any number at once.   Cost: one compare-and-swap, no lock, no system call.
 */
IOSCHED_API int iosched_front_submit(struct iosched_front *f, struct iosched_request *rq);

/**
 * Leave several, in order, for the price of one compare-and-swap.
 * @param f     the front
 * @param rqs   the requests
 * @param n     how many, at least 1
 * @param wake  set to true if the dispatcher sleeps and must be woken, else to false
 * @return how many were left, from the first on: fewer than @p n if the ring filled up; -EAGAIN
 *         (full) or -ESHUTDOWN (closed) if none was
 * Ownership, threads: as iosched_front_submit().   Cost: O(n).
 */
IOSCHED_API int iosched_front_submit_many(struct iosched_front *f,
					  struct iosched_request *const *rqs, unsigned n,
					  bool *wake);

/**
 * Insert what was left into a queue, oldest first.
 * @param f    the front
 * @param s    the queue
 * @param max  how many at most; 64 is a good batch
 * @param now  nanoseconds, the arrival time of all of them
 * @return how many were taken from the front, those refused included; without a
 *         iosched_front_params::refused function -errno of the first refusal, and the request
 *         refused stays first in the front, to be had by iosched_front_take()
 * Ownership: those inserted are the queue's, those refused the host's.
 * Threads: the queue's caller.   Cost: O(n log queued).
 */
IOSCHED_API int iosched_front_drain(struct iosched_front *f, struct iosched *s, unsigned max,
				    iosched_time now);

/**
 * Take out what was left without inserting it: at shutdown, or for a queue of one's own.
 * @param f    the front
 * @param out  room for @p max pointers
 * @param max  how many at most
 * @return how many were written, oldest first
 * Ownership: the host's.
 * Threads: the queue's caller.   Cost: O(n).
 */
IOSCHED_API unsigned iosched_front_take(struct iosched_front *f, struct iosched_request **out,
					unsigned max);

/**
 * Say that the dispatcher is about to block. Afterwards one producer will be told to wake it.
 * @param f  the front
 * @return 0: block; -EAGAIN: something has come meanwhile, do not block but drain
 * Threads: the queue's caller.   Cost: one full memory barrier.
 * @see iosched_front_awake
 */
IOSCHED_API int iosched_front_sleep(struct iosched_front *f);

/**
 * Say that the dispatcher runs again, for whatever reason it does: producers need not wake it.
 * @param f  the front
 * Threads: the queue's caller.   Cost: O(1).
 */
IOSCHED_API void iosched_front_awake(struct iosched_front *f);

/**
 * Let nothing in any more: from now on iosched_front_submit() answers -ESHUTDOWN.
 * Submits that were under way may still arrive: iosched_front_pending() says when all are out.
 * @param f  the front
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_front_close(struct iosched_front *f);

/**
 * How many requests are in the front, those half-way through a submit included. After
 * iosched_front_close() it only falls; at 0 no request will ever come out again.
 * @param f  the front
 * @return the count
 * Threads: any; exact for the queue's caller after close, else a moment's view.   Cost: O(1).
 */
IOSCHED_API uint32_t iosched_front_pending(const struct iosched_front *f);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
