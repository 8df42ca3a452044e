/* SPDX-License-Identifier: MIT */
/*
 * fuzz_api: the public API under any sequence of calls, against a naive twin.
 *
 * The input is a program: each op a byte, its arguments the next ones. The twin knows of
 * each request only whether it is free, in, or with the device; from that it predicts every
 * return code and count, and checks after each call that
 *   - nothing is lost and nothing ends twice,
 *   - a dispatched request spans exactly itself and what it absorbed,
 *   - if something is queued, nothing in flight, and dispatch gives nothing, there is a
 *     time to wait for, and waiting a bounded number of times gives a request,
 *   - fair-deadline keeps its promises (lib/sim/promise.h).
 * The queue audits its own structures meanwhile.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/iosched.h>
#include "sim/promise.h"

#define N 48
#define MS UINT64_C(1000000)

enum twin_state { FREE, IN, ISSUED, RIDING }; /* RIDING: absorbed by one that is issued */

struct world {
	const uint8_t *data;
	size_t left;
	struct iosched *s;
	iosched_time now;
	struct iosched_request rq[N];
	enum twin_state state[N];
	unsigned issued;
	bool quiesced;
	struct ios_sim_promise promise;
};

#define CLAIM(claim)                                                                          \
	do {                                                                                  \
		if (!(claim)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
			abort();                                                              \
		}                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned byte(struct world *w)
{
	if (w->left == 0)
		return 0;
	w->left--;
	return *w->data++;
}

static unsigned index_of(const struct world *w, const struct iosched_request *rq)
{
	CLAIM(rq >= w->rq && rq < w->rq + N);
	return (unsigned)(rq - w->rq);
}

static void fill(struct world *w, struct iosched_request *rq)
{
	static const uint8_t op[] = {IOSCHED_READ, IOSCHED_READ,  IOSCHED_WRITE,   IOSCHED_WRITE,
				     IOSCHED_READ, IOSCHED_WRITE, IOSCHED_DISCARD, IOSCHED_FLUSH};
	unsigned kind = byte(w), where = byte(w);

	rq->op = op[kind & 7];
	/* Near each other, so that they merge; or far apart. */
	rq->offset = (where & 63) * 4096 + (where & 64 ? UINT64_C(1) << 33 : 0);
	rq->length = rq->op == IOSCHED_FLUSH ? 0 : 4096u << (where >> 7);
	rq->context = byte(w) % 7;
	rq->flags = kind >> 3 & 7; /* sync, meta, noidle */
	if ((kind & 0xc0) == 0xc0)
		rq->flags |= 8u << (rq->context & 3) & 0x38; /* fua, head, nomerge */
	rq->prio_class = (uint8_t)(kind % 11 == 0 ? where % 3 : 0);
	rq->prio_level = (uint8_t)(kind % 13 == 0 ? where % 9 : 0);
}

static void do_insert(struct world *w)
{
	unsigned i = byte(w) % N;
	int got;

	if (w->state[i] == FREE)
		fill(w, &w->rq[i]);
	got = iosched_insert(w->s, &w->rq[i], w->now);
	CLAIM(got == (w->state[i] != FREE ? -EBUSY : w->quiesced ? -ESHUTDOWN : 0));
	if (got == 0)
		w->state[i] = IN;
}

/* The absorbed ones and the request itself tile its span. */
static void check_span(const struct world *w, const struct iosched_request *rq)
{
	uint64_t at = rq->span_offset;
	const struct iosched_request *m = rq->merged;
	bool self = false;

	for (;;) {
		if (!self && rq->offset == at &&
		    (m == NULL || m->offset != at || rq->length == 0)) {
			at += rq->length;
			self = true;
		} else if (m != NULL) {
			CLAIM(m->offset == at);
			CLAIM(w->state[index_of(w, m)] == IN);
			at += m->length;
			m = iosched_merged_next(m);
		} else {
			break;
		}
	}
	CLAIM(self && at == rq->span_offset + rq->span_length);
}

static bool do_dispatch(struct world *w)
{
	struct iosched_request *rq = iosched_dispatch(w->s, w->now);
	struct iosched_request *m;

	if (rq == NULL) {
		CLAIM(iosched_hold_reason(w->s) != IOSCHED_HOLD_NONE);
		CLAIM((iosched_hold_reason(w->s) == IOSCHED_HOLD_EMPTY) ==
		      (iosched_queued(w->s) == 0));
		if (iosched_queued(w->s) != 0 && w->issued == 0)
			CLAIM(iosched_next_wakeup(w->s) != IOSCHED_NEVER);
		return false;
	}
	CLAIM(w->state[index_of(w, rq)] == IN);
	check_span(w, rq);
	w->state[index_of(w, rq)] = ISSUED;
	w->issued++;
	for (m = rq->merged; m != NULL; m = iosched_merged_next(m))
		w->state[index_of(w, m)] = RIDING;
	return true;
}

static struct iosched_request *an_issued_one(struct world *w)
{
	unsigned start = byte(w), i;

	for (i = 0; i < N; i++)
		if (w->state[(start + i) % N] == ISSUED)
			return &w->rq[(start + i) % N];
	return NULL;
}

static void do_complete(struct world *w)
{
	struct iosched_request *rq = an_issued_one(w);
	struct iosched_request *m;

	if (rq == NULL)
		return;
	CLAIM(iosched_complete(w->s, rq, w->now) == 0);
	w->state[index_of(w, rq)] = FREE;
	w->issued--;
	for (m = rq->merged; m != NULL; m = iosched_merged_next(m)) {
		CLAIM(w->state[index_of(w, m)] == RIDING);
		w->state[index_of(w, m)] = FREE;
	}
}

static void do_requeue(struct world *w)
{
	struct iosched_request *rq = an_issued_one(w);
	struct iosched_request *m;

	if (rq == NULL)
		return;
	CLAIM(iosched_requeue(w->s, rq, w->now) == 0);
	w->state[index_of(w, rq)] = IN;
	w->issued--;
	for (m = rq->merged; m != NULL; m = iosched_merged_next(m))
		w->state[index_of(w, m)] = IN;
}

static void do_cancel(struct world *w)
{
	unsigned i = byte(w) % N;
	int got = iosched_cancel(w->s, &w->rq[i], w->now);

	if (w->state[i] == FREE)
		CLAIM(got == -EINVAL);
	else if (w->state[i] != IN)
		CLAIM(got == -EINPROGRESS);
	else
		CLAIM(got == 0 || got == -EINPROGRESS);
	if (got == 0)
		w->state[i] = FREE;
}

static void do_reprioritize(struct world *w)
{
	unsigned i = byte(w) % N, to = byte(w);
	int got =
		iosched_reprioritize(w->s, &w->rq[i], (enum iosched_class)(to % 3), to % 9, w->now);

	ios_sim_promise_reclassed(&w->promise);
	CLAIM(w->state[i] == FREE ? got == -EINVAL
				  : (got == 0 && w->state[i] == IN) || got == -EINPROGRESS);
}

static void do_switch(struct world *w)
{
	unsigned n = 0;

	while (iosched_policy_at(n) != NULL)
		n++;
	CLAIM(iosched_switch(w->s, iosched_policy_at(byte(w) % n), w->now) == 0);
}

static void do_tunable(struct world *w)
{
	unsigned which = byte(w), n = 0, value = byte(w);
	const struct iosched_tunable *t;
	const struct iosched_policy *p = iosched_policy_of(w->s);

	while (iosched_tunable_list(p, n) != NULL)
		n++;
	if (n == 0)
		return;
	t = iosched_tunable_list(p, which % n);
	CLAIM(iosched_tunable_set(w->s, t->name, value & 1 ? t->initial : t->min + (value >> 1)) ==
	      (value & 1 || t->min + (value >> 1) <= t->max ? 0 : -ERANGE));
	ios_sim_promise_tuned(&w->promise, w->s);
}

static void do_context(struct world *w)
{
	struct iosched_context_params p;
	unsigned id = byte(w) % 9, what = byte(w);
	int got;

	if (what & 1) {
		ios_sim_promise_exempt(&w->promise, id);
		got = iosched_context_exit(w->s, id, w->now);
		CLAIM(got == 0 || got == -ENOENT);
		return;
	}
	iosched_context_params_init(&p, sizeof(p));
	p.prio_class = (uint8_t)(what >> 1 & 3);
	p.prio_level = (uint8_t)(what >> 3 & 15);
	ios_sim_promise_reclassed(&w->promise);
	got = iosched_context_set(w->s, id, &p, w->now);
	if (id == 0 || p.prio_class > 2 || p.prio_level > 8)
		CLAIM(got == -EINVAL);
	else
		CLAIM(got == 0 || got == -ENOSPC);
}

static void do_drain(struct world *w)
{
	struct iosched_request *rq;

	while ((rq = iosched_drain(w->s, w->now)) != NULL) {
		CLAIM(w->state[index_of(w, rq)] == IN);
		CLAIM(rq->merged == NULL);
		w->state[index_of(w, rq)] = FREE;
	}
	CLAIM(iosched_queued(w->s) == 0);
}

/* With nothing in flight, waiting must help. */
static void wait_for_one(struct world *w)
{
	unsigned tries;

	for (tries = 0; tries < 200; tries++) {
		if (do_dispatch(w))
			return;
		if (iosched_queued(w->s) == 0 || w->issued != 0)
			return;
		if (iosched_next_wakeup(w->s) > w->now)
			w->now = iosched_next_wakeup(w->s);
		iosched_timer(w->s, w->now);
	}
	CLAIM(tries < 200); /* waiting helps */
}

static void hear(void *user, const struct iosched_event *event)
{
	ios_sim_promise_event(&((struct world *)user)->promise, event);
}

/* Contexts that share one for want of room have no promises of their own. */
static void check_promise(struct world *w)
{
	struct iosched_stats st;

	iosched_stats_get(w->s, &st, sizeof(st));
	if (st.context_overflow != 0) {
		w->promise.on = false;
		return;
	}
	if (w->promise.broken[0] != '\0')
		fprintf(stderr, "%s\n", w->promise.broken);
	CLAIM(w->promise.broken[0] == '\0');
}

static void one_op(struct world *w)
{
	unsigned op = byte(w);

	w->now += (op >> 5) * (op >> 5) * (op & 16 ? 10 * MS : MS / 10);
	switch (op & 15) {
	case 0:
	case 1:
	case 2:
	case 3:
		do_insert(w);
		break;
	case 4:
	case 5:
		do_dispatch(w);
		break;
	case 6:
	case 7:
		do_complete(w);
		break;
	case 8:
		iosched_timer(w->s, w->now);
		break;
	case 9:
		do_requeue(w);
		break;
	case 10:
		do_cancel(w);
		break;
	case 11:
		do_reprioritize(w);
		break;
	case 12:
		do_context(w);
		break;
	case 13:
		if (op >> 4 == 0) {
			w->quiesced = !w->quiesced;
			iosched_quiesce(w->s, w->quiesced);
		} else if (op >> 4 == 1) {
			do_drain(w);
		} else {
			do_switch(w);
		}
		break;
	case 14:
		do_tunable(w);
		break;
	default:
		wait_for_one(w);
	}
	CLAIM(iosched_inflight(w->s) == w->issued);
	check_promise(w);
}

/* Everything runs out and is accounted for. */
static void finish(struct world *w)
{
	struct iosched_stats st;
	unsigned i;

	while (iosched_queued(w->s) != 0 || w->issued != 0) {
		w->left = 0;
		w->now += MS;
		do_complete(w);
		wait_for_one(w);
		check_promise(w);
	}
	ios_sim_promise_fini(&w->promise);
	for (i = 0; i < N; i++)
		CLAIM(w->state[i] == FREE);
	iosched_stats_get(w->s, &st, sizeof(st));
	CLAIM(st.inserted == st.completed + st.cancelled);
	CLAIM(iosched_destroy(w->s) == 0);
}

static void begin(struct world *w)
{
	struct iosched_params p;
	unsigned kind = byte(w), n = 0;

	while (iosched_policy_at(n) != NULL)
		n++;
	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_at(byte(w) % n);
	p.max_contexts = 1 + (kind & 7);
	p.max_inflight = kind >> 3 & 7;
	p.expected_queued = 16;
	p.rotational = kind >> 6 & 1;
	p.max_merge_bytes = kind >> 7 ? 512 * 1024 : 32 * 1024;
	p.write_cache = kind & 1;
	p.measure = kind >> 1 & 1;
	p.audit = 1;
	p.event = hear;
	p.user = w;
	CLAIM(iosched_create(&w->s, &p) == 0);
	ios_sim_promise_init(&w->promise, w->s, p.rotational);
	w->promise.uncounted = p.max_contexts < 9; /* who is forgotten begins anew */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.data = data;
	w.left = size;
	begin(&w);
	while (w.left != 0)
		one_op(&w);
	finish(&w);
	return 0;
}
