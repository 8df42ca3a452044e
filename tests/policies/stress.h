/* SPDX-License-Identifier: MIT */
/*
 * stress: every call in random order against a policy, audited after each. Nothing may be lost or
 * come twice, and a queue that holds its requests back must say what it waits for.
 */
#ifndef IOS_TESTS_POLICIES_STRESS_H
#define IOS_TESTS_POLICIES_STRESS_H

#include <errno.h>
#include <inttypes.h>
#include "support/support.h"

#define STRESS_REQUESTS 40u
#define STRESS_CONTEXTS 6u

struct stress {
	struct iosched *s;
	uint64_t random;
	iosched_time now;
	struct iosched_request rq[STRESS_REQUESTS];
	bool inside[STRESS_REQUESTS]; /* the scheduler's, absorbed ones too */
	struct iosched_request *inflight[STRESS_REQUESTS];
	unsigned n_inflight;
};

static inline uint64_t stress_random(struct stress *t, uint64_t below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random % below;
}

static inline void stress_insert(struct stress *t)
{
	unsigned i = (unsigned)stress_random(t, STRESS_REQUESTS);
	struct iosched_request *rq = &t->rq[i];

	if (t->inside[i])
		return;
	*rq = request(stress_random(t, 3) == 0 ? IOSCHED_WRITE : IOSCHED_READ,
		      stress_random(t, 60) * 4096, (1 + stress_random(t, 3)) * 4096);
	rq->context = stress_random(t, STRESS_CONTEXTS);
	rq->flags = stress_random(t, 3) == 0 ? (uint32_t)IOSCHED_RQ_SYNC : 0;
	rq->prio_class = stress_random(t, 4) == 0 ? (uint8_t)stress_random(t, 3) : 0;
	ck_assert_int_eq(iosched_insert(t->s, rq, t->now), 0);
	t->inside[i] = true;
}

static inline void stress_out(struct stress *t, const struct iosched_request *rq)
{
	unsigned i = (unsigned)(rq - t->rq);

	ck_assert_msg(t->inside[i], "a request came back twice");
	t->inside[i] = false;
}

static inline void stress_complete(struct stress *t)
{
	unsigned i;
	struct iosched_request *rq, *part;

	if (t->n_inflight == 0)
		return;
	i = (unsigned)stress_random(t, t->n_inflight);
	rq = t->inflight[i];
	t->inflight[i] = t->inflight[--t->n_inflight];
	ck_assert_int_eq(iosched_complete(t->s, rq, t->now), 0);
	stress_out(t, rq);
	for (part = rq->merged; part != NULL; part = iosched_merged_next(part))
		stress_out(t, part);
}

static inline void stress_requeue(struct stress *t)
{
	if (t->n_inflight == 0)
		return;
	ck_assert_int_eq(iosched_requeue(t->s, t->inflight[--t->n_inflight], t->now), 0);
}

static inline void stress_dispatch(struct stress *t)
{
	struct iosched_request *rq = iosched_dispatch(t->s, t->now);
	enum iosched_hold why = iosched_hold_reason(t->s);

	if (rq != NULL) {
		ck_assert(t->inside[rq - t->rq]);
		t->inflight[t->n_inflight++] = rq;
	} else if (iosched_queued(t->s) == 0) {
		ck_assert_int_eq(why, IOSCHED_HOLD_EMPTY);
	} else if (why == IOSCHED_HOLD_INFLIGHT) {
		ck_assert_uint_ne(iosched_inflight(t->s), 0);
	} else {
		ck_assert_int_eq(why, IOSCHED_HOLD_IDLING);
		ck_assert_uint_ne(iosched_next_wakeup(t->s), IOSCHED_NEVER);
	}
}

static inline void stress_cancel(struct stress *t)
{
	struct iosched_request *rq = &t->rq[stress_random(t, STRESS_REQUESTS)];

	if (iosched_cancel(t->s, rq, t->now) == 0)
		stress_out(t, rq);
}

/* A new value for one of the policy's times, down to none. */
static inline void stress_tune(struct stress *t)
{
	const struct iosched_policy *p = iosched_policy_of(t->s);
	const struct iosched_tunable *tunable =
		iosched_tunable_list(p, (unsigned)stress_random(t, 5));

	if (tunable == NULL || tunable->unit != IOSCHED_UNIT_NS)
		return;
	ck_assert_int_eq(iosched_tunable_set(t->s, tunable->name, stress_random(t, 30) * MS), 0);
}

static inline void stress_step(struct stress *t)
{
	struct iosched_request *rq = &t->rq[stress_random(t, STRESS_REQUESTS)];

	t->now += stress_random(t, 2 * MS);
	switch (stress_random(t, 24)) {
	case 0:
		stress_cancel(t);
		break;
	case 1:
		stress_requeue(t);
		break;
	case 2:
		iosched_context_exit(t->s, 1 + stress_random(t, STRESS_CONTEXTS), t->now);
		break;
	case 3:
		stress_tune(t);
		break;
	case 4:
		iosched_reprioritize(t->s, rq, (enum iosched_class)stress_random(t, 3), 0, t->now);
		break;
	case 5:
		iosched_timer(t->s, t->now);
		break;
	case 6:
		t->now += stress_random(t, 40 * MS);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		stress_complete(t);
		break;
	case 11:
	case 12:
	case 13:
	case 14:
		stress_dispatch(t);
		break;
	default:
		stress_insert(t);
	}
}

/* Until nothing is left, as a host that only acts when there is a reason would. */
static inline void stress_run_dry(struct stress *t)
{
	while (iosched_queued(t->s) != 0 || t->n_inflight != 0) {
		unsigned before = t->n_inflight;

		stress_dispatch(t);
		if (t->n_inflight != before)
			continue;
		if (t->n_inflight != 0) {
			stress_complete(t);
			continue;
		}
		ck_assert_uint_ne(iosched_next_wakeup(t->s), IOSCHED_NEVER);
		t->now = iosched_next_wakeup(t->s);
		iosched_timer(t->s, t->now);
	}
}

static inline void stress_policy(const char *policy, uint64_t seed)
{
	struct iosched_params p = params_for(policy);
	struct stress t = {.random = seed * UINT64_C(0x9E3779B97F4A7C15) + 1, .now = 1000 * MS};
	struct iosched_request *rq;
	unsigned i;

	p.now = t.now;
	p.max_merge_bytes = 4 * 4096;
	p.max_contexts = 3; /* some are forgotten, some have to share */
	t.s = queue_with(&p);
	for (i = 0; i < 3000; i++)
		stress_step(&t);
	stress_run_dry(&t);
	for (i = 0; i < STRESS_REQUESTS; i++)
		ck_assert_msg(!t.inside[i], "seed %" PRIu64 ": a request was lost", seed);
	for (i = 0; i < 200; i++)
		stress_step(&t);
	while ((rq = iosched_drain(t.s, t.now)) != NULL)
		stress_out(&t, rq);
	while (t.n_inflight != 0)
		stress_complete(&t);
	ck_assert_int_eq(iosched_destroy(t.s), 0);
}

#endif
