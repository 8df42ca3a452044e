/* SPDX-License-Identifier: MIT */
/* Flash: channels, link, collection, open units; and the rates the presets are named for. */
#include <iosched/sim.h>

#include "support.h"

static struct bench b;

/* One channel, 100 us a read and 300 us a write beside the bytes, which cost nothing to speak of.
 */
#define PLAIN                                                                                    \
	"model = ssd\nchannels = 1\nread_latency = 100us\nwrite_latency = 300us\noverhead = 0\n" \
	"read_rate = 100GB/s\nwrite_rate = 100GB/s\nlink_rate = 1000GB/s\n"

static void close_bench(void)
{
	bench_close(&b);
}

START_TEST(a_channel_serves_one_piece_after_the_other)
{
	bench_open(&b, PLAIN "interleave = 512\n");
	for (unsigned i = 0; i < 4; i++)
		bench_give(&b, IOSCHED_READ, i * 512, 512, 1);
	bench_settle(&b);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(b.commands[i].done_at / 1000, (i + 1) * 100);
}
END_TEST

START_TEST(the_pieces_of_a_command_are_served_at_once_where_channels_allow)
{
	bench_open(&b, PLAIN "channels = 4\nhashed = off\ninterleave = 4KiB\n");
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 0, 16 * KIB) / 1000, 100);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 0, 32 * KIB) / 1000, 200);
}
END_TEST

START_TEST(a_write_is_as_dear_as_it_is_said_to_be)
{
	bench_open(&b, PLAIN);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_WRITE, 0, 4096) / 1000, 300);
}
END_TEST

START_TEST(the_link_is_shared_by_all)
{
	bench_open(&b, PLAIN "channels = 64\nlink_rate = 4096KB/s\n");
	for (unsigned i = 0; i < 8; i++)
		bench_give(&b, IOSCHED_READ, i * MIB, 4096, 1);
	bench_settle(&b);
	/* The bytes of one take a millisecond; only the first one's wait for the flash. */
	ck_assert_uint_ge(b.engine.now, 8 * MS + MS / 10);
	ck_assert_uint_lt(b.engine.now, 9 * MS);
}
END_TEST

START_TEST(channel_time_is_booked_to_the_owner)
{
	bench_open(&b, PLAIN "interleave = 4KiB\n");
	bench_give(&b, IOSCHED_READ, 0, 8 * KIB, 1);
	bench_give(&b, IOSCHED_WRITE, MIB, 4 * KIB, 2);
	bench_settle(&b);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 1) / 1000, 200);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 2) / 1000, 300);
	ck_assert_uint_eq(b.ledger.total, b.device->stats.media_ns);
}
END_TEST

START_TEST(collection_by_bytes_stops_all_and_is_paid_by_the_writer)
{
	bench_open(&b, PLAIN "channels = 8\ncollect_bytes = 64KiB\ncollect_time = 20ms\n");
	for (unsigned i = 0; i < 15; i++)
		ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, i * 4096, 4096), MS);
	bench_give(&b, IOSCHED_WRITE, MIB, 4096, 2); /* the sixteenth */
	bench_until(&b, b.engine.now + MS / 100);
	ck_assert_uint_gt(bench_time(&b, IOSCHED_READ, 0, 4096), 19 * MS);
	ck_assert_uint_ge(ios_sim_ledger_of(&b.ledger, 2), 20 * MS);
}
END_TEST

START_TEST(collection_by_time_stops_all_and_is_paid_by_nobody)
{
	uint64_t longest = 0;
	unsigned stopped = 0;

	bench_open(&b, PLAIN "collect_every = 100ms\ncollect_time = 20ms\n");
	for (unsigned i = 0; i < 400; i++) {
		uint64_t ns;

		bench_until(&b, (i + 1) * MS);
		if (b.engine.now > (i + 1) * MS)
			continue;
		ns = bench_time(&b, IOSCHED_READ, 0, 4096);
		longest = ns > longest ? ns : longest;
		stopped += ns > MS;
	}
	ck_assert_uint_eq(stopped, 4);
	ck_assert_uint_gt(longest, 18 * MS);
	ck_assert_uint_lt(ios_sim_ledger_of(&b.ledger, 1), 400 * MS / 8);
}
END_TEST

START_TEST(a_write_outside_an_open_unit_costs_the_penalty)
{
	bench_open(&b, "preset = sd\n");
	bench_time(&b, IOSCHED_WRITE, 0, 4096);
	ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, 4096, 4096), MS);
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 64 * MIB, 4096), 8 * MS);
	ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, 8192, 4096), MS); /* still open */
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 128 * MIB, 4096), 8 * MS);
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 64 * MIB + 4096, 4096), 8 * MS);
}
END_TEST

START_TEST(a_flush_waits_for_what_was_written_before_it)
{
	unsigned flush;

	bench_open(&b, PLAIN "channels = 8\nflush_time = 1ms\n");
	bench_give(&b, IOSCHED_WRITE, 0, 4096, 1);
	bench_until(&b, MS / 100);
	flush = bench_give(&b, IOSCHED_FLUSH, 0, 0, 1);
	bench_settle(&b);
	ck_assert_uint_ge(b.commands[flush].done_at, b.commands[0].done_at + MS);
}
END_TEST

/* --- What the presets are named for --- */

static double rate_of(const char *device, uint32_t depth, uint32_t bytes, uint32_t reads,
		      bool random)
{
	struct iosched_sim_stream s;
	struct iosched_sim_config c;
	struct iosched_sim_result *r;
	struct iosched_sim_error why;
	double rate;

	iosched_sim_stream_init(&s, sizeof(s));
	s.depth = depth;
	s.request_bytes = bytes;
	s.read_permyriad = reads;
	s.pattern = random ? IOSCHED_SIM_RANDOM : IOSCHED_SIM_SEQUENTIAL;
	iosched_sim_config_init(&c, sizeof(c));
	c.device = device;
	c.length_ns = SEC;
	c.max_merge_bytes = 0;
	c.streams = &s;
	c.stream_count = 1;
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
	rate = (double)r->rows[0].milli_iops / 1000;
	iosched_sim_result_free(r);
	return rate;
}

START_TEST(the_nvme_preset_takes_80_us_and_900_000_commands_a_second)
{
	ck_assert_double_eq_tol(1e6 / rate_of("nvme", 1, 4096, 10000, true), 80, 1);
	ck_assert_double_eq_tol(rate_of("nvme", 256, 4096, 10000, true), 900e3, 9e3);
	ck_assert_double_eq_tol(rate_of("nvme", 64, 131072, 10000, false) * 131072, 6e9, .03 * 6e9);
}
END_TEST

START_TEST(the_emmc_preset_reads_62_and_writes_6_2_mb_a_second)
{
	ck_assert_double_eq_tol(rate_of("emmc", 8, 131072, 10000, false) * 131072, 62e6, 1e6);
	ck_assert_double_eq_tol(rate_of("emmc", 8, 131072, 0, false) * 131072, 6.2e6, .2e6);
	ck_assert_double_eq_tol(1e9 / rate_of("emmc", 1, 4096, 10000, true), 342e3, 5e3);
	ck_assert_double_eq_tol(rate_of("emmc", 8, 4096, 10000, true), 6600, 600);
}
END_TEST

START_TEST(the_sata_ssds_fill_their_links)
{
	ck_assert_double_eq_tol(rate_of("ssd", 32, 131072, 10000, false) * 131072, 280e6, 6e6);
	ck_assert_double_eq_tol(rate_of("ssd-500", 32, 131072, 10000, false) * 131072, 500e6, 5e6);
	ck_assert_double_eq_tol(1e9 / rate_of("ssd-500", 1, 4096, 10000, true), 75e3, 1e3);
	ck_assert_double_eq_tol(1e9 / rate_of("ssd-500", 1, 4096, 0, true), 60e3, 1e3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim ssd");
	TCase *t = tcase_create("model");
	TCase *presets = tcase_create("presets");

	tcase_add_checked_fixture(t, NULL, close_bench);
	tcase_add_test(t, a_channel_serves_one_piece_after_the_other);
	tcase_add_test(t, the_pieces_of_a_command_are_served_at_once_where_channels_allow);
	tcase_add_test(t, a_write_is_as_dear_as_it_is_said_to_be);
	tcase_add_test(t, the_link_is_shared_by_all);
	tcase_add_test(t, channel_time_is_booked_to_the_owner);
	tcase_add_test(t, collection_by_bytes_stops_all_and_is_paid_by_the_writer);
	tcase_add_test(t, collection_by_time_stops_all_and_is_paid_by_nobody);
	tcase_add_test(t, a_write_outside_an_open_unit_costs_the_penalty);
	tcase_add_test(t, a_flush_waits_for_what_was_written_before_it);
	suite_add_tcase(s, t);
	tcase_add_test(presets, the_nvme_preset_takes_80_us_and_900_000_commands_a_second);
	tcase_add_test(presets, the_emmc_preset_reads_62_and_writes_6_2_mb_a_second);
	tcase_add_test(presets, the_sata_ssds_fill_their_links);
	suite_add_tcase(s, presets);
	return run_suite(s);
}
