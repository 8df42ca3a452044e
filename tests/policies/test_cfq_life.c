/* SPDX-License-Identifier: MIT */
/*
 * cfq, life: cancel, exit, group moves, exhaustion, and random operations, all audited.
 * The one law: work that is queued is dispatched, or something is in flight, or
 * a timer is set.
 */
#include "policies/cfq_rig.h"

/* False: there is no room for one more context. */
static bool try_move(uint64_t context, uint64_t group_id)
{
	struct iosched_context_params c;

	iosched_context_params_init(&c, sizeof(c));
	c.group = group_id;
	return iosched_context_set(rig.s, context, &c, rig.now) == 0;
}

static void move_to(uint64_t context, uint64_t group_id)
{
	ck_assert(try_move(context, group_id));
}

static void group(uint64_t id, uint64_t parent, uint32_t weight)
{
	struct iosched_group_params g;

	iosched_group_params_init(&g, sizeof(g));
	g.parent = parent;
	g.weight = weight;
	iosched_group_set(rig.s, id, &g, rig.now); /* a cycle is refused: not our matter here */
}

/* Ask, and hold the answer against the law. */
static struct iosched_request *ask(void)
{
	struct iosched_request *rq = next();

	if (rq != NULL || iosched_queued(rig.s) == 0)
		return rq;
	switch (iosched_hold_reason(rig.s)) {
	case IOSCHED_HOLD_INFLIGHT:
	case IOSCHED_HOLD_WINDOW:
		ck_assert_uint_gt(iosched_inflight(rig.s), 0);
		break;
	case IOSCHED_HOLD_IDLING:
		ck_assert_uint_ne(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
		ck_assert_uint_gt(iosched_next_wakeup(rig.s), rig.now);
		break;
	default:
		ck_abort_msg("held for no reason");
	}
	return rq;
}

/* All that is queued comes out, one by one, in finite time. */
static unsigned run_dry(void)
{
	unsigned n = 0, asked = 0;

	while (iosched_queued(rig.s) != 0) {
		struct iosched_request *rq = ask();

		ck_assert_uint_lt(asked++, 100000);
		if (rq != NULL) {
			done(rq, MS / 10);
			n++;
		} else {
			rig.now = iosched_next_wakeup(rig.s);
			iosched_timer(rig.s, rig.now);
		}
	}
	return n;
}

/* Context 1 reads on, context 2 waits far away: after this the disk idles for 1. */
static struct iosched_request *idle_for_1(void)
{
	struct iosched_request *other;

	expect(get(1, 1000));
	other = get(2, 50000000);
	expect_hold(IOSCHED_HOLD_IDLING);
	return other;
}

START_TEST(the_exit_of_the_awaited_ends_the_wait)
{
	struct iosched_request *other;

	rig_start();
	other = idle_for_1();
	ck_assert_int_eq(iosched_context_exit(rig.s, 1, rig.now), 0);
	ck_assert_uint_eq(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
	expect(other);
	rig_end();
}
END_TEST

START_TEST(a_context_that_exits_with_requests_queued_is_served)
{
	struct iosched_request *mine;

	rig_start();
	mine = get(1, 1000);
	iosched_context_exit(rig.s, 1, rig.now);
	expect(mine);
	rig_end();
}
END_TEST

START_TEST(a_context_that_exits_with_requests_in_flight_is_completed)
{
	struct iosched_request *mine;

	rig_start();
	mine = get(1, 1000);
	ck_assert_ptr_eq(next(), mine);
	iosched_context_exit(rig.s, 1, rig.now);
	done(mine, MS);
	expect(get(1, 2000)); /* a new context of that id */
	rig_end();
}
END_TEST

START_TEST(cancelling_the_last_request_leaves_nothing_behind)
{
	struct iosched_request *mine;

	rig_start();
	mine = get(1, 1000);
	ck_assert_int_eq(iosched_cancel(rig.s, mine, rig.now), 0);
	expect_hold(IOSCHED_HOLD_EMPTY);
	expect(get(1, 2000));
	rig_end();
}
END_TEST

START_TEST(cancelling_what_the_active_queue_has_left_lets_others_go_on)
{
	struct iosched_request *first, *second, *other;

	rig_start();
	first = get(1, 1000);
	second = get(1, 1016);
	other = get(2, 50000000);
	ck_assert_ptr_eq(next(), first);
	ck_assert_int_eq(iosched_cancel(rig.s, second, rig.now), 0);
	done(first, MS);
	ck_assert_uint_eq(run_dry(), 1);
	ck_assert_uint_gt(other->dispatched, 0);
	rig_end();
}
END_TEST

START_TEST(cancelling_during_the_wait_keeps_the_wait_finite)
{
	struct iosched_request *other;

	rig_start();
	other = idle_for_1();
	ck_assert_int_eq(iosched_cancel(rig.s, other, rig.now), 0);
	expect_hold(IOSCHED_HOLD_EMPTY);
	get(2, 60000000);
	ck_assert_uint_eq(run_dry(), 1);
	rig_end();
}
END_TEST

START_TEST(a_wait_ends_though_idling_is_turned_off_meanwhile)
{
	rig_start();
	idle_for_1();
	set("slice_idle_ns", 0);
	set("group_idle_ns", 0);
	ck_assert_uint_eq(run_dry(), 1);
	rig_end();
}
END_TEST

START_TEST(a_requeued_request_goes_first_and_counts_as_in_flight)
{
	struct iosched_request *mine;

	rig_start();
	mine = get(1, 1000);
	get(2, 50000000);
	ck_assert_ptr_eq(next(), mine);
	ck_assert_int_eq(iosched_requeue(rig.s, mine, rig.now), 0);
	ck_assert_ptr_eq(ask(), mine);
	done(mine, MS);
	ck_assert_uint_eq(run_dry(), 1);
	rig_end();
}
END_TEST

START_TEST(a_request_that_moves_in_with_an_old_arrival_is_expired)
{
	struct iosched_params p = rig_params();
	struct iosched_request *old;

	p.policy = iosched_policy_find("deadline");
	rig_start_with(&p);
	old = get(1, 50000000);
	rig.now += 1000 * MS;
	get(1, 16);
	ck_assert_int_eq(iosched_switch(rig.s, iosched_policy_find("cfq"), rig.now), 0);
	expect(old);
	ck_assert(told("the oldest request has expired: it goes first"));
	rig_end();
}
END_TEST

START_TEST(a_clock_that_starts_at_zero_works)
{
	struct iosched_params p = rig_params();
	struct iosched_request *a, *b;

	p.now = 0;
	rig_start_with(&p);
	a = put(1, IOSCHED_WRITE, 0, 1000, 8);
	ck_assert_ptr_eq(next(), a);
	b = get(2, 50000000); /* preempts: its key is a second before now */
	done(a, MS);
	expect(b);
	rig_end();
}
END_TEST

/* Each move to another group leaves a queue behind that only its request keeps alive. */
START_TEST(an_exhausted_pool_falls_back_to_a_shared_queue)
{
	struct iosched_params p = rig_params();
	unsigned i;

	p.max_contexts = 1;
	p.max_groups = 1;
	rig_start_with(&p);
	group(1, 0, 100);
	for (i = 0; i < 200; i++) {
		move_to(1, i % 2);
		get(1, 1000 + (uint64_t)i * 100000);
		put(1, IOSCHED_WRITE, 0, 7 + (uint64_t)i * 1000, 8);
	}
	ck_assert_uint_eq(run_dry(), 400);
	expect(get(1, 5000)); /* and the pool is whole again */
	rig_end();
}
END_TEST

START_TEST(drain_gives_everything_back)
{
	unsigned i, n = 0;

	rig_start();
	group(1, 0, 100);
	move_to(3, 1);
	for (i = 0; i < 60; i++) {
		if (i % 2 == 0)
			get_as(i % 7, (enum iosched_class)(i % 3), i % 8, 1000 + i * 5000);
		else
			put(i % 7, IOSCHED_WRITE, 0, 2000000 + i * 5000, 8);
	}
	done(next(), MS);
	while (iosched_drain(rig.s, rig.now) != NULL)
		n++;
	ck_assert_uint_eq(n, 59);
	ck_assert_uint_eq(iosched_queued(rig.s), 0);
	expect(get(1, 64));
	rig_end();
}
END_TEST

/* ---- random operations ---- */

static uint64_t random_state;

static uint64_t dice(uint64_t sides)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % sides;
}

/* Where a request of ours is. */
enum where { MINE, INSIDE, ISSUED };
#define N 96
static enum where where[N];

static void random_insert(void)
{
	static const uint32_t flags[] = {0,
					 0,
					 IOSCHED_RQ_SYNC,
					 IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE,
					 IOSCHED_RQ_META,
					 IOSCHED_RQ_META | IOSCHED_RQ_SYNC,
					 IOSCHED_RQ_FUA,
					 IOSCHED_RQ_HEAD};
	uint64_t i = dice(N), context = dice(12), kind = dice(40);
	struct iosched_request *rq = &rig.rq[i];

	if (where[i] != MINE)
		return;
	/* Each context reads near a place of its own, or its neighbour's; some ask anywhere. */
	*rq = request(dice(3) == 0 ? IOSCHED_WRITE : IOSCHED_READ,
		      (context / 2 * 1000000 + dice(kind == 0 ? 90000000 : 64) * 8) * SECTOR,
		      (1 + dice(4)) * 8 * SECTOR);
	if (kind == 1) {
		rq->op = IOSCHED_FLUSH;
		rq->offset = rq->length = 0;
	} else if (kind == 2) {
		rq->op = IOSCHED_DISCARD;
	}
	rq->context = context;
	rq->flags = flags[dice(8) < 6 ? dice(4) : dice(8)];
	if (dice(4) == 0) {
		rq->prio_class = (uint8_t)dice(3);
		rq->prio_level = (uint8_t)dice(9);
	}
	ck_assert_int_eq(iosched_insert(rig.s, rq, rig.now), 0);
	where[i] = INSIDE;
}

static void freed(const struct iosched_request *rq)
{
	const struct iosched_request *m;

	where[rq - rig.rq] = MINE;
	for (m = rq->merged; m != NULL; m = iosched_merged_next(m))
		where[m - rig.rq] = MINE;
}

static void random_dispatch(void)
{
	struct iosched_request *rq = ask();

	if (rq != NULL)
		where[rq - rig.rq] = ISSUED;
}

static void random_end(void)
{
	uint64_t i = dice(N);

	if (where[i] == INSIDE && dice(4) == 0) {
		if (iosched_cancel(rig.s, &rig.rq[i], rig.now) == 0)
			where[i] = MINE;
	} else if (where[i] == ISSUED && dice(12) == 0) {
		ck_assert_int_eq(iosched_requeue(rig.s, &rig.rq[i], rig.now), 0);
		where[i] = INSIDE;
	} else if (where[i] == ISSUED) {
		ck_assert_int_eq(iosched_complete(rig.s, &rig.rq[i], rig.now), 0);
		freed(&rig.rq[i]);
	}
}

static void random_tunable(void)
{
	static const char *const times[] = {"slice_idle_ns",	 "group_idle_ns",
					    "slice_sync_ns",	 "slice_async_ns",
					    "target_latency_ns", "fifo_expire_sync_ns"};
	static const uint64_t values[] = {1, MS, 8 * MS, 40 * MS, 100 * MS};

	if (dice(3) == 0)
		set("low_latency", dice(2));
	else if (dice(3) == 0)
		set("quantum", 1 + dice(8));
	else
		set(times[dice(6)], values[dice(5)]);
	if (dice(6) == 0)
		set("slice_idle_ns", 0);
}

static void random_rare(void)
{
	uint64_t i = dice(N);

	switch (dice(8)) {
	case 0:
		iosched_context_exit(rig.s, dice(12), rig.now);
		break;
	case 1:
		if (where[i] == INSIDE)
			iosched_reprioritize(rig.s, &rig.rq[i], (enum iosched_class)dice(3),
					     (unsigned)dice(9), rig.now);
		break;
	case 2:
		try_move(1 + dice(11), dice(5));
		break;
	case 3:
		group(1 + dice(4), dice(5), 1 + (uint32_t)dice(1000));
		break;
	case 4:
		random_tunable();
		break;
	case 5:
		rig.now += dice(300) * MS;
		break;
	case 6:
		iosched_timer(rig.s, rig.now);
		break;
	default:
		if (dice(20) == 0)
			iosched_switch(rig.s,
				       iosched_policy_find(dice(2) == 0 ? "deadline" : "cfq"),
				       rig.now);
	}
	if (strcmp(iosched_policy_name(iosched_policy_of(rig.s)), "cfq") != 0)
		iosched_switch(rig.s, iosched_policy_find("cfq"), rig.now);
}

static void random_run(uint64_t seed, bool rotational)
{
	struct iosched_params p = rig_params();
	unsigned i;

	random_state = seed * 7919 + 1;
	memset(where, 0, sizeof(where));
	p.max_merge_bytes = 128 * KIB;
	p.max_contexts = 8;
	p.max_groups = 4;
	p.rotational = rotational;
	p.max_inflight = seed % 3 == 0 ? 1 : 0;
	p.now = seed % 2 == 0 ? 0 : 1000 * MS;
	rig_start_with(&p);
	for (i = 1; i <= 4; i++)
		group(i, 0, 100);
	for (i = 0; i < 6000; i++) {
		uint64_t what = dice(100);

		rig.now += dice(3) * dice(MS);
		forget_rules();
		if (what < 38)
			random_insert();
		else if (what < 65)
			random_dispatch();
		else if (what < 97)
			random_end();
		else
			random_rare();
	}
	for (i = 0; i < N; i++)
		if (where[i] == ISSUED) {
			ck_assert_int_eq(iosched_complete(rig.s, &rig.rq[i], rig.now), 0);
			freed(&rig.rq[i]);
		}
	run_dry();
	ck_assert_uint_eq(iosched_inflight(rig.s), 0);
	ck_assert_int_eq(iosched_destroy(rig.s), 0);
}

START_TEST(random_operations_keep_the_law)
{
	random_run((uint64_t)_i, _i % 4 != 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cfq life");
	TCase *tc = tcase_create("life");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, the_exit_of_the_awaited_ends_the_wait);
	tcase_add_test(tc, a_context_that_exits_with_requests_queued_is_served);
	tcase_add_test(tc, a_context_that_exits_with_requests_in_flight_is_completed);
	tcase_add_test(tc, cancelling_the_last_request_leaves_nothing_behind);
	tcase_add_test(tc, cancelling_what_the_active_queue_has_left_lets_others_go_on);
	tcase_add_test(tc, cancelling_during_the_wait_keeps_the_wait_finite);
	tcase_add_test(tc, a_wait_ends_though_idling_is_turned_off_meanwhile);
	tcase_add_test(tc, a_requeued_request_goes_first_and_counts_as_in_flight);
	tcase_add_test(tc, a_request_that_moves_in_with_an_old_arrival_is_expired);
	tcase_add_test(tc, a_clock_that_starts_at_zero_works);
	tcase_add_test(tc, an_exhausted_pool_falls_back_to_a_shared_queue);
	tcase_add_test(tc, drain_gives_everything_back);
	tcase_add_loop_test(tc, random_operations_keep_the_law, 100, 230);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
