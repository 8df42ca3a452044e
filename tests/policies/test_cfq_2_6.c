/* SPDX-License-Identifier: MIT */
/*
 * cfq-2.6.32 one rule at a time: whose turn it is, for how long, and who is waited for. That all
 * of the rules together are the kernel's is what the decision traces show; here each can be read.
 */
#include "cfq26_rig.h"

/* ---- slices ---- */

/* Two readers that always have a next request, 1 ms each: how many the second is given in one turn.
 */
static unsigned turn_of(unsigned level)
{
	uint64_t place[3] = {0, 0, 4 * (uint64_t)FAR};
	unsigned turn = 0, longest = 0, i;

	put_class(1, IOSCHED_BEST_EFFORT, 4, place[1]);
	put_class(2, IOSCHED_BEST_EFFORT, level, place[2]);
	for (i = 0; i < 1500; i++) {
		struct iosched_request *rq = next();
		uint64_t context;

		ck_assert_ptr_nonnull(rq);
		context = rq->context;
		done(rq, 1);
		turn = context == 2 ? turn + 1 : 0;
		longest = turn > longest ? turn : longest;
		rq->offset = (place[context] += 16) * SECTOR;
		ck_assert_int_eq(iosched_insert(s, rq, t), 0);
	}
	return longest;
}

/* The seek to the first is free: it starts the clock when it completes. */
START_TEST(a_slice_lasts_100_ms_at_level_4_after_the_first_completion)
{
	ck_assert_uint_eq(turn_of(4), 101);
}
END_TEST

START_TEST(a_slice_lasts_180_ms_at_level_0)
{
	ck_assert_uint_eq(turn_of(0), 181);
}
END_TEST

START_TEST(a_slice_lasts_40_ms_at_level_7)
{
	ck_assert_uint_eq(turn_of(7), 41);
}
END_TEST

START_TEST(an_async_slice_ends_after_16_requests_at_level_4)
{
	struct iosched_request *rq;
	unsigned i, writes = 0;

	set("low_latency", 0);
	for (i = 0; i < 40; i++)
		put_write(1, 1000 * (uint64_t)i);
	for (i = 0; i < 40; i++) {
		pool[used].prio_level = 1;
		put_write(2, FAR + 1000 * (uint64_t)i);
	}
	while ((rq = next()) != NULL && rq->context == 1) {
		done(rq, 0);
		writes++;
	}
	ck_assert_ptr_nonnull(rq);
	ck_assert_uint_eq(writes, 16);
	ck_assert(told("its requests for this slice are used up"));
}
END_TEST

START_TEST(the_oldest_goes_first_when_expired_but_is_looked_at_once_per_slice)
{
	struct iosched_request *old, *rq;

	old = put_read(1, FAR);
	put_read(1, 100); /* nearer to the head, which is at 0 */
	put_read(1, 200);
	t += 124 * MS;
	ck_assert_ptr_eq(rq = next(), &pool[1]);
	t += 1 * MS; /* expired now, but this slice has looked */
	ck_assert_ptr_eq(next(), &pool[2]);
	done(rq, 0);
	ck_assert_ptr_eq(next(), old);
	ck_assert(!told("its oldest"));
}
END_TEST

START_TEST(an_expired_request_is_the_first_of_the_next_slice)
{
	struct iosched_request *old = put_read(1, FAR);

	put_read(1, 100);
	t += 125 * MS;
	ck_assert_ptr_eq(next(), old);
	ck_assert(told("its oldest request has expired"));
}
END_TEST

/* ---- idling ---- */

START_TEST(a_reader_that_ran_dry_is_waited_for_8_ms_and_then_loses_its_turn)
{
	struct iosched_request *rival = idle_for(1, 1000, 2);

	ck_assert(told("idling"));
	ck_assert_uint_eq(iosched_next_wakeup(s), t + 8 * MS);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), rival);
	ck_assert(told("idled in vain"));
}
END_TEST

START_TEST(a_reader_that_comes_back_in_time_goes_before_those_who_waited)
{
	struct iosched_request *again;

	idle_for(1, 1000, 2);
	t += 7 * MS;
	again = put_read(1, 1016);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert_ptr_eq(next(), again);
}
END_TEST

START_TEST(a_slow_thinker_is_not_waited_for)
{
	struct iosched_request *rq, *rival;
	unsigned i;

	for (i = 0; i < 5; i++) {
		read_through(1, 1000 + 16 * i);
		t += 20 * MS;
	}
	ck_assert_ptr_eq(next(), NULL);
	rq = put_read(1, 2000);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(slice_idle_0_never_waits)
{
	struct iosched_request *rq, *rival;

	set("slice_idle_ns", 0);
	rq = put_read(1, 1000);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(an_fsync_like_write_is_not_waited_after)
{
	struct iosched_request *rq, *rival;

	rq = put(1, IOSCHED_WRITE, 1000, 16, IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

/* ---- async ---- */

START_TEST(async_waits_until_no_sync_request_is_in_flight)
{
	struct iosched_request *rq = put_read(1, 1000), *write;

	ck_assert_ptr_eq(next(), rq);
	write = put_write(2, FAR);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	ck_assert(told("async waits"));
	done(rq, 1);
	ck_assert_ptr_eq(next(), write);
}
END_TEST

START_TEST(async_is_let_in_one_by_one_after_a_sync_completion)
{
	read_through(1, 1000);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	put_write(2, FAR);
	put_write(2, FAR + 1000);
	put_write(2, FAR + 2000);
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	t += 199 * MS;
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	t += 1 * MS;
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
}
END_TEST

START_TEST(low_latency_0_lets_async_in_at_once)
{
	set("low_latency", 0);
	read_through(1, 1000);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	put_write(2, FAR);
	put_write(2, FAR + 1000);
	ck_assert_ptr_nonnull(next());
	ck_assert_ptr_nonnull(next());
}
END_TEST

START_TEST(a_queue_has_its_quantum_in_flight_and_four_times_as_much_alone)
{
	unsigned i, n = 0;

	for (i = 0; i < 30; i++)
		put_read(1, 1000 * (uint64_t)i);
	while (next() != NULL)
		n++;
	ck_assert_uint_eq(n, 16);
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_INFLIGHT);
	put_read(2, FAR);
	for (i = 0; i < 13; i++) {
		done(&pool[i], 0);
		if (i < 12)
			expect_hold(IOSCHED_HOLD_INFLIGHT);
	}
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
}
END_TEST

/* ---- preemption ---- */

START_TEST(sync_takes_the_turn_from_async)
{
	struct iosched_request *read;

	put_write(1, 1000);
	put_write(1, 5000);
	ck_assert_ptr_nonnull(next());
	read = put_read(2, FAR);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert(told("preempted: sync"));
	done(&pool[0], 1);
	ck_assert_ptr_eq(next(), read);
}
END_TEST

START_TEST(realtime_takes_the_turn_from_best_effort)
{
	struct iosched_request *first;

	put_read(1, 1000);
	put_read(1, 5000);
	ck_assert_ptr_nonnull(next());
	first = put_class(2, IOSCHED_REALTIME, 4, FAR);
	ck_assert(told("preempted: realtime"));
	ck_assert_ptr_eq(next(), first);
}
END_TEST

START_TEST(metadata_takes_the_turn_from_a_queue_that_has_none)
{
	struct iosched_request *meta;

	put_read(1, 1000);
	put_read(1, 5000);
	ck_assert_ptr_nonnull(next());
	meta = put(2, IOSCHED_READ, FAR, 16, IOSCHED_RQ_META);
	ck_assert(told("preempted: metadata"));
	ck_assert_ptr_eq(next(), meta);
}
END_TEST

START_TEST(a_request_close_to_the_head_ends_the_wait_for_another)
{
	struct iosched_request *near;

	idle_for(1, 1000, 2);
	near = put_read(3, 1016 + 8192); /* 8192 sectors from the end of the last */
	ck_assert(told("preempted: the request is close"));
	ck_assert_ptr_eq(next(), near);
}
END_TEST

START_TEST(a_request_one_sector_further_does_not)
{
	idle_for(1, 1000, 2);
	put_read(3, 1016 + 8193);
	ck_assert(!told("preempted"));
	expect_hold(IOSCHED_HOLD_IDLING);
}
END_TEST

START_TEST(the_idle_class_is_served_one_by_one_when_nobody_else_wants)
{
	put_class(1, IOSCHED_IDLE, 0, 1000);
	put_class(1, IOSCHED_IDLE, 0, 3000);
	ck_assert_ptr_eq(next(), &pool[0]);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	put_read(2, FAR);
	ck_assert(told("preempted: it is of the idle class"));
	done(&pool[0], 1);
	ck_assert_ptr_eq(next(), &pool[2]);
}
END_TEST

/* ---- older kernels ---- */

/* 1 is waited for and a small request of it comes, with nobody else there. */
static struct iosched_request *small_arrival(unsigned sectors)
{
	read_through(1, 1000);
	return put(1, IOSCHED_READ, 1016, sectors, 0);
}

START_TEST(kernel_2_6_32_leaves_a_small_awaited_request_to_the_plug)
{
	iosched_time armed;

	small_arrival(8);
	armed = iosched_next_wakeup(s);
	ck_assert_uint_eq(kicks, 0);
	ck_assert_uint_eq(armed, t + 8 * MS);
	t = armed; /* nobody unplugged: the timer does */
	ck_assert_int_eq(iosched_timer(s, t), 0);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_DEFERRED);
	ck_assert_ptr_nonnull(next());
}
END_TEST

START_TEST(kernel_2_6_32_starts_a_large_awaited_request_at_once)
{
	small_arrival(9);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
}
END_TEST

START_TEST(kernel_2_6_29_starts_every_awaited_request_at_once)
{
	set("idle_arrival", 1);
	small_arrival(8);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
}
END_TEST

START_TEST(kernel_2_6_30_rc1_leaves_even_a_large_one_to_the_plug_with_others_waiting)
{
	set("idle_arrival", 0);
	idle_for(1, 1000, 2);
	put(1, IOSCHED_READ, 1016, 64, 0);
	ck_assert_uint_eq(kicks, 0);
	ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
}
END_TEST

/* A seeky reader, on a device that is taken to queue commands until measured. */
static struct iosched_request *seek_about(void)
{
	struct iosched_request *rq, *rival;
	unsigned i;

	for (i = 0; i < 6; i++)
		read_through(1, (uint64_t)FAR * (i % 3));
	rq = put_read(1, 5 * (uint64_t)FAR);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, 9 * (uint64_t)FAR);
	done(rq, 1);
	return rival;
}

START_TEST(seeky_readers_are_waited_for_2_ms_only)
{
	struct iosched_request *rival = seek_about();

	expect_hold(IOSCHED_HOLD_IDLING);
	ck_assert_uint_eq(iosched_next_wakeup(s), t + 2 * MS);
	t += 2 * MS;
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(seeky_readers_are_not_waited_for_with_low_latency_0_and_a_device_that_queues)
{
	struct iosched_request *rival;

	set("low_latency", 0);
	rival = seek_about();
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("cfq-2.6.32");
	TCase *tests;

	tests = tcase_create("turns");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_slice_lasts_100_ms_at_level_4_after_the_first_completion);
	tcase_add_test(tests, a_slice_lasts_180_ms_at_level_0);
	tcase_add_test(tests, a_slice_lasts_40_ms_at_level_7);
	tcase_add_test(tests, an_async_slice_ends_after_16_requests_at_level_4);
	tcase_add_test(tests, the_oldest_goes_first_when_expired_but_is_looked_at_once_per_slice);
	tcase_add_test(tests, an_expired_request_is_the_first_of_the_next_slice);
	tcase_add_test(tests, a_reader_that_ran_dry_is_waited_for_8_ms_and_then_loses_its_turn);
	tcase_add_test(tests, a_reader_that_comes_back_in_time_goes_before_those_who_waited);
	tcase_add_test(tests, a_slow_thinker_is_not_waited_for);
	tcase_add_test(tests, slice_idle_0_never_waits);
	tcase_add_test(tests, an_fsync_like_write_is_not_waited_after);
	tcase_add_test(tests, async_waits_until_no_sync_request_is_in_flight);
	tcase_add_test(tests, async_is_let_in_one_by_one_after_a_sync_completion);
	tcase_add_test(tests, low_latency_0_lets_async_in_at_once);
	tcase_add_test(tests, a_queue_has_its_quantum_in_flight_and_four_times_as_much_alone);
	tcase_add_test(tests, sync_takes_the_turn_from_async);
	tcase_add_test(tests, realtime_takes_the_turn_from_best_effort);
	tcase_add_test(tests, metadata_takes_the_turn_from_a_queue_that_has_none);
	tcase_add_test(tests, a_request_close_to_the_head_ends_the_wait_for_another);
	tcase_add_test(tests, a_request_one_sector_further_does_not);
	tcase_add_test(tests, the_idle_class_is_served_one_by_one_when_nobody_else_wants);
	suite_add_tcase(all, tests);
	tests = tcase_create("older kernels");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, kernel_2_6_32_leaves_a_small_awaited_request_to_the_plug);
	tcase_add_test(tests, kernel_2_6_32_starts_a_large_awaited_request_at_once);
	tcase_add_test(tests, kernel_2_6_29_starts_every_awaited_request_at_once);
	tcase_add_test(tests,
		       kernel_2_6_30_rc1_leaves_even_a_large_one_to_the_plug_with_others_waiting);
	tcase_add_test(tests, seeky_readers_are_waited_for_2_ms_only);
	tcase_add_test(
		tests,
		seeky_readers_are_not_waited_for_with_low_latency_0_and_a_device_that_queues);
	suite_add_tcase(all, tests);
	return all;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
