/* SPDX-License-Identifier: MIT */
/*
 * push: the pull interface turned round, for a host with an event loop. The host hands requests in
 * and says when they are done; issue() is called whenever one is to start.
 *
 * State: the queue, a timer descriptor, and `kicked`, set by the queue's hooks. The hooks may not
 * call into the queue, so they only leave a mark (or set the timer) and push_pump() runs
 * afterwards.
 */
#ifndef EXAMPLES_PUSH_H
#define EXAMPLES_PUSH_H

#include <iosched/iosched.h>

iosched_time push_now(void); /* CLOCK_MONOTONIC */

struct push {
	struct iosched *queue;
	int timer;   /* readable when next_wakeup has come */
	bool kicked; /* the policy wants to be asked */
	void (*issue)(void *user, struct iosched_request *rq); /* must not call push_done() */
	void *user;
};

/* Takes params from iosched_params_init(), sets its hooks, makes the queue. @return 0 or -errno */
int push_init(struct push *p, struct iosched_params *params,
	      void (*issue)(void *user, struct iosched_request *rq), void *user);
int push_fini(struct push *p); /* 0, or -EBUSY: requests are queued or in flight */
int push_submit(struct push *p, struct iosched_request *rq); /* as iosched_insert() */
/* The device has answered: the request and those it absorbed are the host's. When it has dealt with
 * them it calls push_pump(). */
int push_done(struct push *p, struct iosched_request *rq);
void push_pump(struct push *p);	 /* issues what can be issued */
void push_timer(struct push *p); /* the timer descriptor is readable */

#endif
