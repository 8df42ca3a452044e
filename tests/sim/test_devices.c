/* SPDX-License-Identifier: MIT */
/* The two simple devices, and what every device does. */
#include <stdio.h>

#include "support.h"

static struct bench b;

START_TEST(null_takes_no_time_and_ends_commands_in_order)
{
	bench_open(&b, "preset = null\n");
	for (unsigned i = 0; i < 10; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 4096, 1);
	ck_assert_uint_eq(b.done, 0); /* never from within submit */
	bench_settle(&b);
	ck_assert_uint_eq(b.engine.now, 0);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(b.order[i], i);
	ck_assert_uint_eq(b.ledger.total, 0);
	bench_close(&b);
}
END_TEST

START_TEST(fixed_serves_as_many_at_once_as_it_has_channels)
{
	bench_open(&b, "model = fixed\nlatency = 1ms\nchannels = 4\n");
	for (unsigned i = 0; i < 10; i++)
		bench_give(&b, IOSCHED_READ, i * 4096, 4096, 1);
	bench_settle(&b);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(b.commands[i].done_at, (i / 4 + 1) * MS);
	bench_close(&b);
}
END_TEST

START_TEST(fixed_adds_the_time_of_the_bytes)
{
	bench_open(&b, "model = fixed\nlatency = 1ms\nrate = 100MB/s\n");
	bench_give(&b, IOSCHED_READ, 0, 1000000, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.engine.now, 11 * MS);
	bench_close(&b);
}
END_TEST

START_TEST(fixed_books_channel_time_to_the_owner)
{
	bench_open(&b, "model = fixed\nlatency = 1ms\nchannels = 2\n");
	bench_give(&b, IOSCHED_READ, 0, 4096, 1);
	bench_give(&b, IOSCHED_WRITE, 0, 4096, 2);
	bench_give(&b, IOSCHED_WRITE, 0, 4096, 2);
	bench_settle(&b);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 1), MS);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 2), 2 * MS);
	ck_assert_uint_eq(b.device->stats.media_ns, 3 * MS);
	bench_close(&b);
}
END_TEST

static void flush_ended(struct ios_sim_command *cmd, int error)
{
	ck_assert_int_eq(error, 0);
	*(bool *)cmd->user = true;
}

/* As a policy's own: it has no owner, and what it has written is paid by who wrote it. */
START_TEST(every_device_serves_a_flush_of_nobody_s)
{
	const struct iosched_sim_preset *p;
	char text[80];

	for (unsigned n = 0; (p = iosched_sim_preset_at(n)) != NULL; n++) {
		bool ended = false;
		struct ios_sim_command flush = {
			.op = IOSCHED_FLUSH, .done = flush_ended, .user = &ended};

		snprintf(text, sizeof(text), "preset = %s\n", p->name);
		bench_open(&b, text);
		bench_give(&b, IOSCHED_WRITE, 0, 4096, 7);
		bench_until(&b, MS);
		ck_assert_int_eq(ios_sim_device_submit(b.device, &flush), 0);
		ck_assert_int_eq(ios_sim_engine_run(&b.engine), 0);
		ck_assert_msg(ended, "%s", p->name);
		if (b.device->rotational)
			ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 7), b.ledger.total);
		bench_close(&b);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim devices");
	TCase *t = tcase_create("devices");

	tcase_add_test(t, null_takes_no_time_and_ends_commands_in_order);
	tcase_add_test(t, fixed_serves_as_many_at_once_as_it_has_channels);
	tcase_add_test(t, fixed_adds_the_time_of_the_bytes);
	tcase_add_test(t, fixed_books_channel_time_to_the_owner);
	tcase_add_test(t, every_device_serves_a_flush_of_nobody_s);
	suite_add_tcase(s, t);
	return run_suite(s);
}
