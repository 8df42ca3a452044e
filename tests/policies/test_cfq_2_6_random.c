/* SPDX-License-Identifier: MIT */
/*
 * cfq-2.6.32 under random use: every call of the API, every tunable, contexts that are forgotten,
 * other policies in between. The audit walks all structures after each call; a dispatch
 * that hands out nothing must name what ends the wait; in the end all is served.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/policy.h>
#include "policies/policies.h"

#define MS UINT64_C(1000000)
#define SECTOR 512u
#define FAR 50000000u /* sectors from one place to another that is not close */
#define MAX_REQUESTS 512u

static struct iosched *s;
static struct iosched_request pool[MAX_REQUESTS];
static iosched_time t;
static uint64_t seed;

/* Six contexts are remembered and nine ask: they are forgotten, and context 0 stands in. */
static void open_queue(void)
{
	struct iosched_params p;

	iosched_params_init(&p, sizeof(p));
	p.policy = &ios_cfq26_policy;
	p.now = t = 10000 * MS;
	p.max_contexts = 6;
	p.audit = 1;
	ck_assert_int_eq(iosched_create(&s, &p), 0);
	memset(pool, 0, sizeof(pool));
}

static void set(const char *name, uint64_t value)
{
	ck_assert_int_eq(iosched_tunable_set(s, name, value), 0);
}

static unsigned dice(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 20) % n);
}

static struct iosched_request *any_with(uint8_t state)
{
	unsigned i, from = dice(MAX_REQUESTS);

	for (i = 0; i < MAX_REQUESTS; i++) {
		struct iosched_request *rq = &pool[(from + i) % MAX_REQUESTS];

		if (rq->internal.state == state)
			return rq;
	}
	return NULL;
}

enum { FREE, QUEUED, BYPASS, MERGED, ISSUED };

static void random_insert(void)
{
	static const uint32_t flags[] = {0,
					 0,
					 0,
					 IOSCHED_RQ_SYNC,
					 IOSCHED_RQ_META,
					 IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE,
					 IOSCHED_RQ_HEAD};
	struct iosched_request *rq = any_with(FREE);

	if (rq == NULL || iosched_queued(s) > 60)
		return;
	*rq = (struct iosched_request){0};
	rq->context = dice(9);
	rq->op = (uint8_t)(dice(3) == 0 ? IOSCHED_WRITE : IOSCHED_READ);
	if (dice(20) == 0)
		rq->op = IOSCHED_DISCARD;
	rq->flags = flags[dice(7)];
	rq->offset = (dice(4) * (uint64_t)FAR + 8 * dice(40)) * SECTOR + (dice(30) == 0 ? 100 : 0);
	rq->length = (1 + dice(3)) * 8 * SECTOR;
	if (dice(3) == 0) {
		rq->prio_class = (uint8_t)dice(3);
		rq->prio_level = (uint8_t)dice(9);
	}
	ck_assert_int_eq(iosched_insert(s, rq, t), 0);
}

/* The promise of the library: NULL with work queued names what ends the wait. */
static void dispatch_and_check(void)
{
	enum iosched_hold why;

	if (iosched_dispatch(s, t) != NULL || iosched_queued(s) == 0)
		return;
	why = iosched_hold_reason(s);
	if (why == IOSCHED_HOLD_IDLING)
		ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
	else
		ck_assert(why == IOSCHED_HOLD_INFLIGHT && iosched_inflight(s) > 0);
}

static void random_tunable(void)
{
	static const struct {
		const char *name;
		uint64_t value[3];
	} choice[] = {
		{"slice_idle_ns", {0, 8 * MS, 3 * MS / 2}},
		{"slice_sync_ns", {MS, 100 * MS, 11 * MS}},
		{"slice_async_ns", {MS, 40 * MS, 200 * MS}},
		{"quantum", {1, 4, 2}},
		{"fifo_expire_sync_ns", {0, 125 * MS, 20 * MS}},
		{"slice_async_rq", {1, 2, 3}},
		{"low_latency", {0, 1, 1}},
		{"close_cooperators", {0, 1, 1}},
		{"queue_merging", {0, 1, 1}},
		{"idle_arrival", {0, 1, 2}},
		{"back_seek_max_kb", {0, 16384, 20}},
	};
	unsigned i = dice(sizeof(choice) / sizeof(choice[0]));

	if (iosched_policy_of(s) == &ios_cfq26_policy)
		set(choice[i].name, choice[i].value[dice(3)]);
}

static void random_rarity(void)
{
	struct iosched_request *rq;

	switch (dice(8)) {
	case 0:
		iosched_context_exit(s, 1 + dice(8), t);
		break;
	case 1:
		if ((rq = any_with(QUEUED)) != NULL)
			iosched_cancel(s, rq, t);
		break;
	case 2:
		if ((rq = any_with(ISSUED)) != NULL)
			ck_assert_int_eq(iosched_requeue(s, rq, t), 0);
		break;
	case 3:
		if ((rq = any_with(BYPASS)) != NULL)
			iosched_cancel(s, rq, t);
		break;
	case 4:
		if ((rq = any_with(QUEUED)) != NULL)
			iosched_reprioritize(s, rq, (enum iosched_class)dice(3), dice(9), t);
		break;
	case 5:
		iosched_drain(s, t);
		break;
	case 6:
		random_tunable();
		break;
	default:
		if (dice(5) == 0)
			ck_assert_int_eq(iosched_switch(s,
							dice(3) == 0 ? &ios_deadline_policy
								     : &ios_cfq26_policy,
							t),
					 0);
		break;
	}
}

static void random_op(void)
{
	struct iosched_request *rq;

	switch (dice(8)) {
	case 0:
	case 1:
	case 2:
		random_insert();
		break;
	case 3:
	case 4:
		dispatch_and_check();
		break;
	case 5:
		if ((rq = any_with(ISSUED)) != NULL)
			ck_assert_int_eq(iosched_complete(s, rq, t), 0);
		break;
	case 6:
		t += dice(3) == 0 ? dice(2500) * MS / 2 : dice(8) * MS / 4;
		if (dice(2) == 0)
			iosched_timer(s, t);
		break;
	default:
		if (dice(3) == 0)
			random_rarity();
		break;
	}
}

/* Serve all that is left; each step ends a request or a wait. */
static void run_dry(void)
{
	unsigned steps;

	for (steps = 0; iosched_queued(s) + iosched_inflight(s) > 0; steps++) {
		struct iosched_request *rq = iosched_dispatch(s, t);

		ck_assert_uint_lt(steps, 4000);
		if (rq == NULL && (rq = any_with(ISSUED)) == NULL) {
			ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
			t = iosched_next_wakeup(s);
			continue;
		}
		t += MS / 3;
		ck_assert_int_eq(iosched_complete(s, rq, t), 0);
	}
}

START_TEST(whatever_is_done_structures_hold_and_all_is_served)
{
	unsigned i, round;

	open_queue();
	seed = 0x9e3779b97f4a7c15u + (unsigned)_i;
	for (round = 0; round < 8; round++) {
		for (i = 0; i < 6000; i++)
			random_op();
		run_dry();
	}
	while (iosched_drain(s, t) != NULL)
		; /* absorbed ones of a drain that was not finished */
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

int main(void)
{
	Suite *all = suite_create("cfq-2.6.32 at random");
	TCase *one = tcase_create("random");
	SRunner *runner = srunner_create(all);
	int failed;

	tcase_set_timeout(one, 120);
	tcase_add_loop_test(one, whatever_is_done_structures_hold_and_all_is_served, 0, 8);
	suite_add_tcase(all, one);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
