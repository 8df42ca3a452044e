/* SPDX-License-Identifier: MIT */
/*
 * uring_engine: what clients call, and the dispatcher's loop. See uring_engine.h.
 *
 * Rule of the loop: take in, cancel, issue, arm the timer, sleep, reap. It sleeps only when
 * the front agrees that it may.
 */
#define _GNU_SOURCE
#include "uring_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char uring_timer_tag, uring_wake_tag, uring_ignored_tag;

iosched_time uring_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

void uring_wake(struct engine *e)
{
	uint64_t one = 1;

	while (write(e->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* [submit] */
int engine_submit(void *engine, struct io *io)
{
	struct engine *e = engine;
	int error;

	if (io->rq.offset % ENGINE_BLOCK != 0 || io->rq.length % ENGINE_BLOCK != 0)
		return -EINVAL;
	atomic_store_explicit(&io->cancel, CANCEL_NONE, memory_order_relaxed);
	error = iosched_front_submit(e->front, &io->rq);
	if (error == 1)
		uring_wake(e); /* it sleeps, and we are the one to wake it */
	return error < 0 ? error : 0;
}
/* [/submit] */

int engine_submit_many(struct engine *e, struct io *const *ios, unsigned n)
{
	struct iosched_request *rqs[ENGINE_BATCH];
	bool wake = false;
	unsigned i;
	int taken;

	for (i = 0; i < n && i < ENGINE_BATCH; i++) {
		if (ios[i]->rq.offset % ENGINE_BLOCK != 0 || ios[i]->rq.length % ENGINE_BLOCK != 0)
			return -EINVAL;
		atomic_store_explicit(&ios[i]->cancel, CANCEL_NONE, memory_order_relaxed);
		rqs[i] = &ios[i]->rq;
	}
	taken = iosched_front_submit_many(e->front, rqs, i, &wake);
	if (wake)
		uring_wake(e);
	return taken;
}

int engine_cancel(void *engine, struct io *io)
{
	struct engine *e = engine;
	int none = CANCEL_NONE;

	if (!atomic_compare_exchange_strong(&io->cancel, &none, CANCEL_ASKED))
		return -EALREADY;
	pthread_mutex_lock(&e->cancel_lock);
	io->cancel_next = e->cancels;
	e->cancels = io;
	pthread_mutex_unlock(&e->cancel_lock);
	uring_wake(e);
	return 0;
}

static struct iosched_request *next_request(struct engine *e, iosched_time now)
{
	struct io *io = e->first;

	if (e->queue != NULL)
		return iosched_dispatch(e->queue, now);
	if (io == NULL)
		return NULL;
	e->first = io->next;
	if (e->first == NULL)
		e->end = &e->first;
	io->rq.span_offset = io->rq.offset;
	io->rq.span_length = io->rq.length;
	io->rq.merged = NULL;
	return &io->rq;
}

static void issue(struct engine *e, iosched_time now)
{
	struct iosched_request *rq;
	struct slot *s;

	while ((s = e->free_slots) != NULL && (rq = next_request(e, now)) != NULL) {
		e->free_slots = s->next_free;
		e->inflight++;
		uring_slot_fill(s, rq);
		uring_slot_start(e, s);
	}
}

/* [takein] */
static void take_in(struct engine *e, iosched_time now)
{
	struct iosched_request *rqs[64];
	unsigned n, i;

	if (e->queue != NULL) {
		while (iosched_front_drain(e->front, e->queue, 64, now) == 64)
			;
		return;
	}
	while ((n = iosched_front_take(e->front, rqs, 64)) != 0)
		for (i = 0; i < n; i++) {
			io_of(rqs[i])->next = NULL;
			*e->end = io_of(rqs[i]);
			e->end = &io_of(rqs[i])->next;
		}
}
/* [/takein] */

static struct slot *slot_of(struct engine *e, const struct iosched_request *rq)
{
	unsigned i;

	for (i = 0; i < e->window; i++)
		if (e->slots[i].rq == rq)
			return &e->slots[i];
	return NULL;
}

/* [cancel] */
/* Queued: it comes back at once. With the device, alone: the kernel is asked; its completion tells.
 * Merged with others: it ends with them. */
static void cancel_one(struct engine *e, struct io *io, iosched_time now)
{
	int expected = CANCEL_ASKED, error;
	struct slot *s;

	if (!atomic_compare_exchange_strong(&io->cancel, &expected, CANCEL_SEEN)) {
		io->done(io); /* finished meanwhile; it waited for this list */
		return;
	}
	error = e->queue != NULL ? iosched_cancel(e->queue, &io->rq, now) : -EINPROGRESS;
	if (error == 0) {
		uring_give_back(io, -ECANCELED);
		return;
	}
	s = slot_of(e, &io->rq);
	if (s != NULL && io->rq.merged == NULL) {
		struct io_uring_sqe *sqe = uring_sqe(e);

		io_uring_prep_cancel(sqe, s, 0);
		io_uring_sqe_set_data(sqe, &uring_ignored_tag);
	}
}

static void cancel_all(struct engine *e, iosched_time now)
{
	struct io *list, *next;

	pthread_mutex_lock(&e->cancel_lock);
	list = e->cancels;
	e->cancels = NULL;
	pthread_mutex_unlock(&e->cancel_lock);
	if (list != NULL)
		take_in(e, now); /* a request is submitted before it is cancelled */
	for (; list != NULL; list = next) {
		next = list->cancel_next;
		cancel_one(e, list, now);
	}
}
/* [/cancel] */

static void give_up_queued(struct engine *e, iosched_time now)
{
	struct iosched_request *rq;

	while ((rq = e->queue != NULL ? iosched_drain(e->queue, now) : next_request(e, now)) !=
	       NULL)
		uring_give_back(io_of(rq), -ECANCELED);
}

/* [timer] */
/* One timer, absolute. An early one is harmless, so it is only ever moved forward. */
static void arm_timer(struct engine *e)
{
	iosched_time when = e->queue != NULL ? iosched_next_wakeup(e->queue) : IOSCHED_NEVER;
	struct io_uring_sqe *sqe;

	if (when >= e->armed)
		return;
	e->timer.tv_sec = (long long)(when / 1000000000u);
	e->timer.tv_nsec = (long long)(when % 1000000000u);
	sqe = uring_sqe(e);
	if (e->armed == IOSCHED_NEVER) {
		io_uring_prep_timeout(sqe, &e->timer, 0, IORING_TIMEOUT_ABS);
		io_uring_sqe_set_data(sqe, &uring_timer_tag);
	} else {
		io_uring_prep_timeout_update(sqe, &e->timer, (uint64_t)(uintptr_t)&uring_timer_tag,
					     IORING_TIMEOUT_ABS);
		io_uring_sqe_set_data(sqe, &uring_ignored_tag);
	}
	e->armed = when;
}
/* [/timer] */

static void arm_wake(struct engine *e)
{
	struct io_uring_sqe *sqe = uring_sqe(e);

	io_uring_prep_read(sqe, e->wake_fd, &e->wake_count, sizeof(e->wake_count), 0);
	io_uring_sqe_set_data(sqe, &uring_wake_tag);
	e->wake_armed = true;
}

static void on_completion(struct engine *e, const struct io_uring_cqe *cqe, iosched_time now)
{
	void *tag = io_uring_cqe_get_data(cqe);

	if (tag == &uring_timer_tag)
		e->armed = IOSCHED_NEVER; /* dispatch runs the timer that is due */
	else if (tag == &uring_wake_tag)
		e->wake_armed = false;
	else if (tag != &uring_ignored_tag)
		uring_slot_answer(e, tag, cqe->res, now);
}
static void reap(struct engine *e)
{
	struct io_uring_cqe *cqe;
	unsigned head, n = 0;
	iosched_time now = uring_now();

	io_uring_for_each_cqe(&e->ring, head, cqe)
	{
		on_completion(e, cqe, now);
		n++;
	}
	io_uring_cq_advance(&e->ring, n);
	if (e->disk != NULL)
		uring_emulated_reap(e);
}

/* Closing, and everything accepted has come back. */
static bool all_done(struct engine *e)
{
	return atomic_load(&e->closing) && e->inflight == 0 && e->first == NULL &&
	       iosched_front_pending(e->front) == 0 &&
	       (e->queue == NULL || iosched_queued(e->queue) == 0);
}

static void sleep_or_not(struct engine *e)
{
	bool may_sleep = iosched_front_sleep(e->front) == 0;
	int error = may_sleep ? io_uring_submit_and_wait(&e->ring, 1) : io_uring_submit(&e->ring);

	iosched_front_awake(e->front);
	if (error < 0 && error != -EINTR && error != -EAGAIN && error != -EBUSY) {
		fprintf(stderr, "uring_engine: io_uring_enter: %s\n", strerror(-error));
		abort(); /* only a bug here makes the kernel refuse */
	}
}

/* [loop] */
void *uring_dispatcher(void *engine)
{
	struct engine *e = engine;
	int error = uring_open_ring(e); /* here: this thread is its only user */

	e->error = error;
	sem_post(&e->opened);
	if (error != 0)
		return NULL;
	for (;;) {
		iosched_time now = uring_now();

		take_in(e, now);
		cancel_all(e, now);
		if (atomic_load(&e->abandoned))
			give_up_queued(e, now);
		issue(e, now);
		arm_timer(e);
		if (!e->wake_armed)
			arm_wake(e);
		if (all_done(e))
			break;
		sleep_or_not(e);
		reap(e);
	}
	cancel_all(e, uring_now());
	uring_wake(e); /* the kernel lets go of wake_count */
	while (e->wake_armed) {
		sleep_or_not(e);
		reap(e);
	}
	io_uring_queue_exit(&e->ring);
	return NULL;
}
/* [/loop] */

/* An io whose cancel is on the list, or about to be, must not go before the list lets go of it. */
void uring_give_back(struct io *io, int error)
{
	io->error = error;
	if (atomic_exchange(&io->cancel, CANCEL_FINISHED) != CANCEL_ASKED)
		io->done(io);
}

struct io_uring_sqe *uring_sqe(struct engine *e)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&e->ring);

	while (sqe == NULL) { /* full: the kernel takes what is there */
		(void)io_uring_submit(&e->ring);
		sqe = io_uring_get_sqe(&e->ring);
	}
	return sqe;
}
