/* SPDX-License-Identifier: MIT */
/* Devices before devices: a network, and faults. */
#include <errno.h>

#include "support.h"

static struct bench b;

#define FIXED "member = fixed\nmember.latency = 1ms\nmember.channels = 64\nmember.depth = 64\n"
#define NET "model = net\njitter = 0\nlatency = 2ms\n" FIXED
#define FAULT "model = fault\n" FIXED

static void close_bench(void)
{
	bench_close(&b);
}

/* --- The network --- */

START_TEST(a_command_travels_there_and_back)
{
	bench_open(&b, NET "rate = 1000GB/s\n");
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 0, 4096) / 1000, 5000);
	ck_assert_uint_eq(b.ledger.total, MS); /* the way is nobody's device time */
}
END_TEST

START_TEST(bytes_go_one_command_after_the_other)
{
	bench_open(&b, NET "rate = 4096KB/s\n"); /* a millisecond for 4 KiB */
	for (unsigned i = 0; i < 4; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 4096, 1);
	bench_settle(&b);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(b.commands[i].done_at / 1000, 5000 + (i + 1) * 1000);
}
END_TEST

START_TEST(jitter_has_its_mean_and_an_ordered_wire_keeps_the_order)
{
	uint64_t sum = 0;

	bench_open(&b, NET "jitter = 1ms\nmember.latency = 0\nrate = 1000GB/s\n");
	for (unsigned i = 0; i < 300; i++)
		sum += bench_time(&b, IOSCHED_READ, 0, 512);
	ck_assert_double_eq_tol((double)sum / 300 / MS, 6, .25);
	for (unsigned i = 0; i < 60; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 512, 1);
	bench_settle(&b);
	for (unsigned i = 0; i < 60; i++)
		ck_assert_uint_eq(b.order[300 + i], 300 + i);
}
END_TEST

START_TEST(without_order_answers_overtake)
{
	unsigned overtaken = 0;

	bench_open(&b, NET "jitter = 1ms\nordered = off\nrate = 1000GB/s\n");
	for (unsigned i = 0; i < 60; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 512, 1);
	bench_settle(&b);
	for (unsigned i = 1; i < 60; i++)
		overtaken += b.order[i] < b.order[i - 1];
	ck_assert_uint_gt(overtaken, 5);
}
END_TEST

START_TEST(no_more_go_into_the_device_than_it_takes)
{
	bench_open(&b, NET "rate = 1000GB/s\ndepth = 64\nmember.depth = 2\n");
	for (unsigned i = 0; i < 6; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 4096, 1);
	bench_settle(&b);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_uint_eq(b.commands[i].done_at / 1000, 5000 + i / 2 * 1000);
}
END_TEST

/* --- Faults --- */

START_TEST(without_faults_nothing_is_different)
{
	bench_open(&b, FAULT);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 0, 4096) / 1000, 1000);
	ck_assert_uint_eq(b.device->depth, 64);
}
END_TEST

START_TEST(reads_fail_as_often_as_asked_after_their_retries)
{
	bench_open(&b, FAULT "read_errors = 250000\nerror_time = 9ms\n");
	b.may_fail = true;
	for (unsigned i = 0; i < 200; i++) {
		uint64_t ns = bench_time(&b, IOSCHED_READ, 0, 4096);

		ck_assert_uint_eq(ns / 1000, b.commands[i].error != 0 ? 10000 : 1000);
		if (b.commands[i].error != 0)
			ck_assert_int_eq(b.commands[i].error, -EIO);
		ck_assert_uint_eq(bench_time(&b, IOSCHED_WRITE, 0, 4096) / 1000, 1000);
		i++;
	}
	ck_assert_uint_ge(b.failed, 12);
	ck_assert_uint_le(b.failed, 38);
	ck_assert_uint_eq(b.device->stats.errors, b.failed);
	ck_assert_uint_eq(b.ledger.total, 200 * MS + b.failed * 9 * MS); /* retries are paid */
}
END_TEST

START_TEST(others_wait_for_the_retries)
{
	bench_open(&b, FAULT "bad_offset = 1MiB\nbad_length = 4KiB\nerror_time = 50ms\n");
	b.may_fail = true;
	bench_give(&b, IOSCHED_WRITE, MIB, 4096, 1);
	bench_until(&b, 2 * MS);
	bench_give(&b, IOSCHED_READ, 0, 4096, 2);
	bench_settle(&b);
	ck_assert_int_eq(b.commands[0].error, -EIO);
	ck_assert_uint_eq(b.commands[0].done_at / 1000, 51000);
	ck_assert_int_eq(b.commands[1].error, 0);
	ck_assert_uint_eq(b.commands[1].done_at / 1000, 52000);
}
END_TEST

START_TEST(the_slow_region_is_slow_and_nothing_else)
{
	bench_open(&b, FAULT "slow_offset = 1MiB\nslow_length = 1MiB\nslow_time = 30ms\n");
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 1020 * KIB, 4096) / 1000, 1000);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 1020 * KIB, 8192) / 1000, 31000);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 2 * MIB - 512, 4096) / 1000, 31000);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 2 * MIB, 4096) / 1000, 1000);
}
END_TEST

START_TEST(a_command_that_is_never_served_times_out)
{
	bench_open(&b, FAULT "timeouts = 1000000\ntimeout = 5s\n");
	b.may_fail = true;
	bench_give(&b, IOSCHED_READ, 0, 4096, 1);
	bench_settle(&b);
	ck_assert_int_eq(b.commands[0].error, -ETIMEDOUT);
	ck_assert_uint_eq(b.engine.now, 5 * SEC);
	ck_assert_uint_eq(b.ledger.total, 0);
}
END_TEST

START_TEST(a_dead_device_fails_all_what_is_inside_too)
{
	bench_open(&b, FAULT "dead_after = 10ms\n");
	b.may_fail = true;
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 0, 4096) / 1000, 1000);
	ck_assert_int_eq(b.commands[0].error, 0);
	bench_until(&b, 10 * MS - MS / 2);
	bench_give(&b, IOSCHED_WRITE, 0, 4096, 1);
	bench_until(&b, 20 * MS);
	bench_give(&b, IOSCHED_FLUSH, 0, 0, 1);
	bench_settle(&b);
	ck_assert_int_eq(b.commands[1].error, -ENODEV);
	ck_assert_int_eq(b.commands[2].error, -ENODEV);
	ck_assert_uint_eq(b.commands[2].done_at, 20 * MS + MS / 10);
}
END_TEST

START_TEST(errors_come_through_a_network)
{
	bench_open(&b, "model = net\nmember = fault\nmember.member = fixed\nmember.write_errors = "
		       "1000000\nmember.error_time = 0\n");
	b.may_fail = true;
	bench_give(&b, IOSCHED_WRITE, 0, 4096, 1);
	bench_settle(&b);
	ck_assert_int_eq(b.commands[0].error, -EIO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim net and fault");
	TCase *t = tcase_create("devices before devices");

	tcase_add_checked_fixture(t, NULL, close_bench);
	tcase_add_test(t, a_command_travels_there_and_back);
	tcase_add_test(t, bytes_go_one_command_after_the_other);
	tcase_add_test(t, jitter_has_its_mean_and_an_ordered_wire_keeps_the_order);
	tcase_add_test(t, without_order_answers_overtake);
	tcase_add_test(t, no_more_go_into_the_device_than_it_takes);
	tcase_add_test(t, without_faults_nothing_is_different);
	tcase_add_test(t, reads_fail_as_often_as_asked_after_their_retries);
	tcase_add_test(t, others_wait_for_the_retries);
	tcase_add_test(t, the_slow_region_is_slow_and_nothing_else);
	tcase_add_test(t, a_command_that_is_never_served_times_out);
	tcase_add_test(t, a_dead_device_fails_all_what_is_inside_too);
	tcase_add_test(t, errors_come_through_a_network);
	suite_add_tcase(s, t);
	return run_suite(s);
}
