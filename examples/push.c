/* SPDX-License-Identifier: MIT */
/* push: see push.h. */
#define _GNU_SOURCE
#include "push.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

iosched_time push_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

/* [adapter] */
static void on_kick(void *user, enum iosched_kick kind)
{
	struct push *p = user;

	(void)kind;
	p->kicked = true;
}

static void on_arm_timer(void *user, iosched_time when)
{
	struct push *p = user;
	struct itimerspec t = {{0, 0}, {0, 0}};

	if (when != IOSCHED_NEVER) { /* all zero disarms */
		t.it_value.tv_sec = (time_t)(when / 1000000000u);
		t.it_value.tv_nsec = (long)(when % 1000000000u) | 1;
	}
	(void)timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

void push_pump(struct push *p)
{
	struct iosched_request *rq;

	do {
		p->kicked = false;
		while ((rq = iosched_dispatch(p->queue, push_now())) != NULL)
			p->issue(p->user, rq);
	} while (p->kicked);
}

int push_submit(struct push *p, struct iosched_request *rq)
{
	int error = iosched_insert(p->queue, rq, push_now());

	if (error == 0)
		push_pump(p);
	return error;
}

int push_done(struct push *p, struct iosched_request *rq)
{
	return iosched_complete(p->queue, rq, push_now());
}

void push_timer(struct push *p)
{
	uint64_t times;

	if (read(p->timer, &times, sizeof(times)) == (ssize_t)sizeof(times)) {
		(void)iosched_timer(p->queue, push_now());
		push_pump(p);
	}
}

int push_init(struct push *p, struct iosched_params *params,
	      void (*issue)(void *, struct iosched_request *), void *user)
{
	int error;

	p->kicked = false;
	p->issue = issue;
	p->user = user;
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p->timer < 0)
		return -errno;
	params->kick = on_kick;
	params->arm_timer = on_arm_timer;
	params->user = p;
	error = iosched_create(&p->queue, params);
	if (error != 0)
		close(p->timer);
	return error;
}

int push_fini(struct push *p)
{
	close(p->timer);
	return iosched_destroy(p->queue);
}
/* [/adapter] */
