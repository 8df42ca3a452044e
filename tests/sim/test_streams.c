/* SPDX-License-Identifier: MIT */
/* Streams: when they ask, for what, and where. */
#include "run_rig.h"

START_TEST(a_closed_loop_waits_for_the_answer_and_thinks)
{
	s[0].think_ns = 3 * MS;
	run();
	ck_assert_uint_eq(all()->requests, 250);
	ck_assert_uint_eq(all()->milli_iops, 250000);
	ck_assert_uint_eq(all()->total.max, MS);
	ck_assert_uint_eq(all()->wait.max, 0);
	ck_assert_uint_eq(r->empty_ns, 750 * MS);
	ck_assert_uint_eq(r->held_ns, 0);
}
END_TEST

START_TEST(depth_is_what_is_kept_outstanding)
{
	c.max_merge_bytes = 0;
	s[0].depth = 4;
	run();
	ck_assert_uint_eq(all()->requests, 1000);
	ck_assert_uint_eq(all()->total.p50, 4 * MS);
	ck_assert_uint_eq(r->device.media_ns, r->device.commands * MS);
}
END_TEST

START_TEST(random_waits_have_their_mean)
{
	c.length_ns = 100 * SEC;
	s[0].think = IOSCHED_SIM_EXPONENTIAL;
	s[0].think_ns = 4 * MS;
	run();
	ck_assert_uint_ge(all()->requests, 19400);
	ck_assert_uint_le(all()->requests, 20600);
	s[0].think = IOSCHED_SIM_UNIFORM;
	s[0].think_spread_ns = 4 * MS;
	run();
	ck_assert_uint_ge(all()->requests, 19600);
	ck_assert_uint_le(all()->requests, 20400);
}
END_TEST

START_TEST(an_open_loop_does_not_wait)
{
	s[0].open_loop = 1;
	s[0].think_ns = MS / 2;
	s[0].pattern = IOSCHED_SIM_RANDOM;
	s[0].max_requests = 100;
	c.length_ns = IOSCHED_NEVER;
	run();
	ck_assert_uint_eq(r->completed, 100);
	ck_assert_uint_eq(r->end, 100 * MS);
	ck_assert_uint_gt(all()->total.max, 30 * MS);
}
END_TEST

START_TEST(the_mix_of_reads_and_writes_is_as_asked)
{
	s[0].read_permyriad = 7000;
	c.length_ns = 20 * SEC;
	run();
	ck_assert_uint_gt(row(1, IOSCHED_READ)->requests, 13500);
	ck_assert_uint_lt(row(1, IOSCHED_READ)->requests, 14500);
	ck_assert_uint_eq(row(1, IOSCHED_READ)->requests + row(1, IOSCHED_WRITE)->requests,
			  row(1, IOSCHED_SIM_ALL_OPS)->requests);
}
END_TEST

START_TEST(sequential_goes_on_where_it_was_and_wraps)
{
	s[0].region_offset = 8192;
	s[0].region_length = 4 * 4096 + 100;
	look_on();
	run();
	for (unsigned i = 0; i < seen.count; i++)
		ck_assert_uint_eq(seen.inserted[i], 8192 + i % 4 * 4096);
}
END_TEST

START_TEST(random_stays_aligned_in_its_region_and_reaches_all_of_it)
{
	bool hit[16] = {false};

	s[0].pattern = IOSCHED_SIM_RANDOM;
	s[0].region_offset = 1000;
	s[0].region_length = 16 * 512 + 3584;
	s[0].align_bytes = 512;
	look_on();
	run();
	for (unsigned i = 0; i < seen.count; i++) {
		uint64_t at = seen.inserted[i] - 1000;

		ck_assert_uint_eq(at % 512, 0);
		ck_assert_uint_lt(at / 512, 16);
		hit[at / 512] = true;
	}
	for (unsigned i = 0; i < 16; i++)
		ck_assert(hit[i]);
}
END_TEST

START_TEST(streams_of_one_cursor_take_turns_on_one_position)
{
	c.stream_count = 3;
	for (unsigned i = 0; i < 3; i++) {
		s[i].cursor = 5;
		s[i].think_ns = MS / 3 * i;
	}
	look_on();
	run();
	ck_assert_uint_gt(seen.count, 900);
	for (unsigned i = 0; i < seen.count; i++)
		ck_assert_uint_eq(seen.inserted[i], i * 4096);
}
END_TEST

START_TEST(a_flush_comes_after_its_writes_and_before_the_next)
{
	s[0].read_permyriad = 0;
	s[0].depth = 4;
	s[0].flush_every = 10;
	s[0].think_ns = MS / 10;
	look_on();
	run();
	ck_assert_uint_eq(seen.flushes_with_writes, 0);
	ck_assert_uint_gt(row(1, IOSCHED_FLUSH)->requests, 50);
	for (unsigned i = 0, writes = 0; i < seen.count; i++) {
		if (seen.op[i] == IOSCHED_FLUSH) {
			/* those that were under way when the tenth was written come on top */
			ck_assert_uint_ge(writes, 10);
			ck_assert_uint_le(writes, 13);
			writes = 0;
		} else {
			writes++;
		}
	}
}
END_TEST

START_TEST(a_refill_mark_makes_bursts)
{
	unsigned bursts = 1;

	s[0].depth = 32;
	s[0].refill = 16;
	look_on();
	run();
	for (unsigned i = 1; i < seen.count; i++)
		bursts += seen.at[i] != seen.at[i - 1];
	/* 32 first, then 16 at a time; the device does 1000 in the second */
	ck_assert_uint_eq(seen.count, 32 + (bursts - 1) * 16);
	ck_assert_uint_ge(bursts, 62);
}
END_TEST

START_TEST(streams_start_and_stop_when_told)
{
	s[0].start_ns = 200 * MS;
	s[0].stop_ns = 700 * MS;
	look_on();
	run();
	ck_assert_uint_eq(seen.at[0], 200 * MS);
	ck_assert_uint_eq(seen.count, 500);
	ck_assert_uint_eq(r->end, 700 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("streams");
	TCase *t;

	t = tcase_create("streams");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_closed_loop_waits_for_the_answer_and_thinks);
	tcase_add_test(t, depth_is_what_is_kept_outstanding);
	tcase_add_test(t, random_waits_have_their_mean);
	tcase_add_test(t, an_open_loop_does_not_wait);
	tcase_add_test(t, the_mix_of_reads_and_writes_is_as_asked);
	tcase_add_test(t, sequential_goes_on_where_it_was_and_wraps);
	tcase_add_test(t, random_stays_aligned_in_its_region_and_reaches_all_of_it);
	tcase_add_test(t, streams_of_one_cursor_take_turns_on_one_position);
	tcase_add_test(t, a_flush_comes_after_its_writes_and_before_the_next);
	tcase_add_test(t, a_refill_mark_makes_bursts);
	tcase_add_test(t, streams_start_and_stop_when_told);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
