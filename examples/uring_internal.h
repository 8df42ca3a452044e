/* SPDX-License-Identifier: MIT */
/*
 * uring_internal: what the files of uring_engine share.
 *
 * uring_setup.c opens and closes, uring_engine.c is the dispatcher's loop, uring_slot.c what
 * becomes of a request between its SQE and its last CQE, uring_emulated.c another disk.
 *
 * State: the front, which clients fill; everything else is the dispatcher's alone. A slot is one
 * request with the device: its buffers, and how much of it is done. Three kinds of completions
 * arrive: a slot's, the timer's, and the wake-up's (a read of an eventfd that is always armed).
 */
#ifndef EXAMPLES_URING_INTERNAL_H
#define EXAMPLES_URING_INTERNAL_H

#include "uring_engine.h"

#include <iosched/front.h>
#include <iosched/sim.h>

#include <liburing.h>
#include <pthread.h>
#include <semaphore.h>

struct slot {
	struct slot *next_free;
	struct iosched_request *rq;
	struct iovec *iov, *v; /* merge_bytes in blocks of them; what is left to do starts at v */
	unsigned n;
	uint64_t done;

	/* With an emulated disk. */
	struct iosched_sim_disk_io command;
	struct engine *engine;
	struct slot *next_answer;
	int res;
};

enum { CANCEL_NONE, CANCEL_ASKED, CANCEL_SEEN, CANCEL_FINISHED };

struct engine {
	struct iosched_front *front;
	int fd, wake_fd;
	bool direct, fixed_file, fixed_buffer;
	char features[80];
	const struct engine_params *params; /* while it opens */
	sem_t opened;
	int error; /* of opening, the dispatcher's part */
	pthread_t dispatcher;
	atomic_bool closing, abandoned;
	pthread_mutex_t cancel_lock;
	struct io *cancels;	       /* by cancel_next */
	struct iosched_sim_disk *disk; /* NULL: the file itself */
	pthread_mutex_t answers_lock;
	struct slot *answers, **answers_end; /* of the disk, by next_answer */

	/* The dispatcher's. */
	struct iosched *queue; /* NULL: the list */
	struct io *first, **end;
	struct io_uring ring;
	struct slot *slots, *free_slots;
	struct iovec *iov; /* of all slots */
	unsigned window, inflight;
	iosched_time armed; /* when the timer fires, or never */
	struct __kernel_timespec timer;
	bool wake_armed;
	uint64_t wake_count; /* what the eventfd said; nobody cares */
};

/* user_data of completions that are not a slot's. */
extern char uring_timer_tag, uring_wake_tag, uring_ignored_tag;

static inline struct io *io_of(struct iosched_request *rq)
{
	return (struct io *)(void *)((char *)rq - offsetof(struct io, rq));
}

iosched_time uring_now(void);
struct io_uring_sqe *uring_sqe(struct engine *e); /* never NULL */
void uring_wake(struct engine *e);
void uring_give_back(struct io *io, int error);

/* uring_slot.c */
void uring_slot_fill(struct slot *s, struct iosched_request *rq);
void uring_slot_start(struct engine *e, struct slot *s);
void uring_slot_answer(struct engine *e, struct slot *s, int res, iosched_time now);

/* uring_emulated.c */
int uring_emulated_open(struct engine *e, const struct engine_params *p);
void uring_emulated_start(struct engine *e, struct slot *s);
void uring_emulated_reap(struct engine *e);

/* uring_setup.c: the part of opening that must be done by the ring's one user. */
int uring_open_ring(struct engine *e);

/* uring_engine.c */
void *uring_dispatcher(void *engine);

#endif
