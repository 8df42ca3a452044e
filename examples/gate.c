/* SPDX-License-Identifier: MIT */
/*
 * gate: park each thread until it is its request's turn.
 *
 * State: one mutex guards the queue. A ticket is QUEUED (its thread sleeps on `turn`), GRANTED
 * (its thread does the I/O), ABSORBED (its thread sleeps, the parent's thread does the I/O) or
 * DONE. One more thread sleeps until next_wakeup.
 *
 * Rule: whoever changes the queue, by an insert, a completion or the timer, dispatches what
 * may go now and wakes the threads of what was dispatched before it lets go of the lock.
 */
#define _GNU_SOURCE
#include "gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUED, GRANTED, DONE };

iosched_time gate_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

static struct ticket *ticket_of(struct iosched_request *rq)
{
	return (struct ticket *)(void *)((char *)rq - offsetof(struct ticket, rq));
}

/* [pump] */
/* Let go what may go, and see that the timer is not late for the rest. */
static void pump(struct gate *g, iosched_time now)
{
	struct iosched_request *rq;

	while ((rq = iosched_dispatch(g->queue, now)) != NULL) {
		struct ticket *t = ticket_of(rq);

		t->state = GRANTED;
		pthread_cond_signal(&t->turn);
	}
	if (iosched_next_wakeup(g->queue) < g->armed)
		pthread_cond_signal(&g->earlier);
}
/* [/pump] */

/* --- The I/O of a request and those merged into it --- */

enum direction { GATHER, SCATTER };

static void copy_part(struct ticket *t, char *span, uint64_t start, enum direction direction)
{
	char *part = span + (t->rq.offset - start);

	if (direction == GATHER)
		memcpy(part, t->buffer, t->rq.length);
	else
		memcpy(t->buffer, part, t->rq.length);
}

static void copy_parts(struct ticket *t, char *span, enum direction direction)
{
	struct iosched_request *m;

	copy_part(t, span, t->rq.span_offset, direction);
	for (m = t->rq.merged; m != NULL; m = iosched_merged_next(m))
		copy_part(ticket_of(m), span, t->rq.span_offset, direction);
}

static int perform_alone(struct ticket *t)
{
	return t->perform(t, t->rq.offset, t->rq.length, t->buffer);
}

/* As one operation, with one buffer. Returns an error also if there is no memory for that. */
static int perform_span(struct ticket *t)
{
	bool data = t->buffer != NULL;
	char *span = data ? malloc(t->rq.span_length) : NULL;
	int error;

	if (data && span == NULL)
		return -ENOMEM;
	if (data && t->rq.op == IOSCHED_WRITE)
		copy_parts(t, span, GATHER);
	error = t->perform(t, t->rq.span_offset, t->rq.span_length, span);
	if (error == 0 && data && t->rq.op == IOSCHED_READ)
		copy_parts(t, span, SCATTER);
	free(span);
	return error;
}

/* Each ticket gets its own error. When the whole fails each part is tried alone, so that one
 * client's bad sector is not its neighbour's. */
static void perform(struct ticket *t)
{
	struct iosched_request *m;

	if (t->rq.merged == NULL) {
		t->error = perform_alone(t);
		return;
	}
	if (perform_span(t) == 0)
		return;
	t->error = perform_alone(t);
	for (m = t->rq.merged; m != NULL; m = iosched_merged_next(m))
		ticket_of(m)->error = perform_alone(ticket_of(m));
}

/* --- One request --- */

static void finish(struct gate *g, struct ticket *t, iosched_time now)
{
	struct iosched_request *m = t->rq.merged, *next;

	iosched_complete(g->queue, &t->rq, now);
	for (; m != NULL; m = next) {
		struct ticket *absorbed = ticket_of(m);

		next = iosched_merged_next(m); /* its thread may be gone as soon as it is woken */
		absorbed->state = DONE;
		pthread_cond_signal(&absorbed->turn);
	}
	pump(g, now);
}

/* [pass] */
int gate_pass(struct gate *g, struct ticket *t)
{
	iosched_time now = gate_now();
	int error;

	t->state = QUEUED;
	t->error = 0;
	pthread_cond_init(&t->turn, NULL);
	pthread_mutex_lock(&g->lock);
	error = iosched_insert(g->queue, &t->rq, now);
	if (error == 0) {
		pump(g, now);
		while (t->state == QUEUED)
			pthread_cond_wait(&t->turn, &g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	if (error == 0 && t->state == GRANTED) {
		perform(t);
		now = gate_now();
		pthread_mutex_lock(&g->lock);
		finish(g, t, now);
		pthread_mutex_unlock(&g->lock);
	}
	pthread_cond_destroy(&t->turn);
	return error != 0 ? error : t->error;
}
/* [/pass] */

/* --- The timer --- */

/* A wake-up that is past is no reason to look again while a completion will. */
static void sleep_until_wakeup(struct gate *g)
{
	iosched_time when = iosched_next_wakeup(g->queue);
	struct timespec until = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};

	if (when != IOSCHED_NEVER && when <= gate_now() && iosched_inflight(g->queue) > 0)
		when = IOSCHED_NEVER;
	/* `earlier` is not for a time that was given up because it is past. */
	g->armed = when;
	if (when == IOSCHED_NEVER)
		pthread_cond_wait(&g->earlier, &g->lock);
	else
		pthread_cond_timedwait(&g->earlier, &g->lock, &until);
}

static void *keep_time(void *arg)
{
	struct gate *g = arg;

	pthread_mutex_lock(&g->lock);
	while (!g->closing) {
		iosched_time now = gate_now();

		iosched_timer(g->queue, now);
		g->armed = 0; /* awake: nobody need wake us */
		pump(g, now);
		sleep_until_wakeup(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

/* --- Life --- */

int gate_init(struct gate *g, const struct iosched_params *p)
{
	pthread_condattr_t attr;
	struct iosched_params params = *p;
	int error;

	memset(g, 0, sizeof(*g));
	params.now = gate_now();
	error = iosched_create(&g->queue, &params);
	if (error != 0)
		return error;
	g->armed = 0;
	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->earlier, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

int gate_start(struct gate *g)
{
	int error = pthread_create(&g->timer, NULL, keep_time, g);

	g->timing = error == 0;
	return -error;
}

int gate_fini(struct gate *g)
{
	int error;

	if (g->timing) {
		pthread_mutex_lock(&g->lock);
		g->closing = true;
		pthread_cond_signal(&g->earlier);
		pthread_mutex_unlock(&g->lock);
		pthread_join(g->timer, NULL);
	}
	error = iosched_destroy(g->queue);
	pthread_cond_destroy(&g->earlier);
	pthread_mutex_destroy(&g->lock);
	return error;
}
