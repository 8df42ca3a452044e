/* SPDX-License-Identifier: MIT */
/*
 * A gate: for servers whose threads each carry one request to its end and may sleep for it.
 *
 * A thread fills a ticket and calls gate_pass(). It sleeps there until the policy lets its
 * request go, does the I/O itself by the ticket's `perform`, and returns when it is done.
 * When the policy has merged requests, one of their threads does the I/O of all.
 */
#ifndef EXAMPLES_GATE_H
#define EXAMPLES_GATE_H

#include <pthread.h>

#include <iosched/iosched.h>

/* One request on its way; on its thread's stack. Zero-initialise, then fill the first part. */
struct ticket {
	struct iosched_request rq; /* offset, length, op, context, flags, ... */
	void *buffer;		   /* rq.length bytes, or NULL if the op moves none */
	/* Do the I/O of [offset, offset + length) with @buffer; of this ticket, or of it and those
	 * merged into it. Returns 0 or -errno. Called in some ticket's thread, without the lock. */
	int (*perform)(struct ticket *t, uint64_t offset, uint64_t length, void *buffer);
	void *user;

	int error; /* the gate's, from here on */
	unsigned char state;
	pthread_cond_t turn;
};

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t earlier; /* next_wakeup may have moved to an earlier time */
	struct iosched *queue;
	iosched_time armed; /* until when the timer's thread sleeps */
	pthread_t timer;
	bool timing; /* the thread runs */
	bool closing;
};

/* Make the queue; @p as for iosched_create(). Returns 0 or -errno. */
int gate_init(struct gate *g, const struct iosched_params *p);

/* Start the timer's thread: in the process that will serve. Returns 0 or -errno. */
int gate_start(struct gate *g);

/* One request from insert to completion. Returns 0 or -errno: the request's own error. */
int gate_pass(struct gate *g, struct ticket *t);

/* Nobody may be in gate_pass(). Returns 0, or -EBUSY: requests are left in the queue. */
int gate_fini(struct gate *g);

/* The clock of the queue. */
iosched_time gate_now(void);

#endif
