/* SPDX-License-Identifier: MIT */
/* The spinning disk: geometry, read-ahead, write cache, and the drive made of them. */
#include <string.h>

#include "sim/hdd_cache.h"
#include "sim/hdd_geometry.h"
#include "sim/rng.h"
#include "support.h"

/* --- Geometry --- */

static struct ios_sim_geometry g;

#define CAPACITY UINT64_C(488397168)

static void disk_250g(void)
{
	struct ios_sim_geometry_params p = {
		.capacity_bytes = CAPACITY * 512,
		.rpm = 7200,
		.zones = 16,
		.rate_outer = 80000000,
		.rate_inner = 45000000,
		.seek_track_ns = MS,
		.seek_third_ns = 17 * MS / 2,
		.seek_full_ns = 18 * MS,
	};

	ck_assert_int_eq(ios_sim_geometry_init(&g, &p), 1);
}

START_TEST(seeks_take_what_the_three_points_of_the_curve_say)
{
	uint64_t track = g.per_track[0];

	ck_assert_uint_eq(ios_sim_seek_ns(&g, 1000, 1000), 0);
	ck_assert_uint_eq(ios_sim_seek_ns(&g, 0, 4 * track - 1), 0);
	ck_assert_uint_ge(ios_sim_seek_ns(&g, 0, 4 * track), MS);
	ck_assert_uint_lt(ios_sim_seek_ns(&g, 0, 4 * track), MS + MS / 10);
	ck_assert_uint_eq(ios_sim_seek_ns(&g, 0, CAPACITY / 3), 17 * MS / 2);
	ck_assert_uint_eq(ios_sim_seek_ns(&g, CAPACITY, 0), 18 * MS);
	/* x = 1/12: half of the way from t1 to tavg, as the root has it */
	ck_assert_uint_le(ios_sim_seek_ns(&g, 0, CAPACITY / 12) - (MS + 15 * MS / 4), 10);
	/* x = 2/3: half way from tavg to tfull */
	ck_assert_uint_le(ios_sim_seek_ns(&g, 0, CAPACITY / 3 * 2) - (17 * MS / 2 + 19 * MS / 4),
			  10);
}
END_TEST

START_TEST(a_longer_seek_never_takes_less)
{
	uint64_t last = 0;

	for (uint64_t d = 0; d < CAPACITY; d += CAPACITY / 5000) {
		uint64_t ns = ios_sim_seek_ns(&g, 0, d);

		ck_assert_uint_ge(ns, last);
		last = ns;
	}
}
END_TEST

START_TEST(transfer_goes_at_the_zone_s_rate)
{
	uint64_t outer = ios_sim_transfer_ns(&g, 0, 80000000 / 512);
	uint64_t inner = ios_sim_transfer_ns(&g, CAPACITY - 45000000 / 512, 45000000 / 512);

	ck_assert_double_eq_tol((double)outer, 1e9, 1e6);
	ck_assert_double_eq_tol((double)inner, 1e9, 1e6);
}
END_TEST

START_TEST(sectors_in_is_the_inverse_of_transfer)
{
	struct ios_sim_rng r;

	ios_sim_rng_init(&r, 1, 0);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t lba = ios_sim_rng_below(&r, CAPACITY - 100000000);
		uint64_t n = ios_sim_rng_below(&r, i % 2 ? 100000000 : 3000);
		uint64_t ns = ios_sim_transfer_ns(&g, lba, n);
		uint64_t back = ios_sim_sectors_in(&g, lba, ns);

		ck_assert_uint_le(n - back, 1);
	}
}
END_TEST

START_TEST(after_a_transfer_the_next_sector_comes_at_once)
{
	struct ios_sim_rng r;

	ios_sim_rng_init(&r, 2, 0);
	for (unsigned i = 0; i < 2000; i++) {
		uint64_t a = ios_sim_rng_below(&r, g.zone_sectors / 2);
		uint64_t n = 1 + ios_sim_rng_below(&r, 5000);
		uint64_t t = ios_sim_rng_below(&r, 100 * SEC);
		uint64_t start = t + ios_sim_position_ns(&g, a, a, t);
		uint64_t end = start + ios_sim_transfer_ns(&g, a, n);

		ck_assert_uint_le(ios_sim_position_ns(&g, a + n, a + n, end), 2);
	}
}
END_TEST

START_TEST(a_random_place_is_half_a_turn_away_on_average)
{
	struct ios_sim_rng r;
	uint64_t sum = 0;

	ios_sim_rng_init(&r, 3, 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t a = ios_sim_rng_below(&r, CAPACITY);
		uint64_t b = ios_sim_rng_below(&r, CAPACITY);
		uint64_t t = ios_sim_rng_below(&r, 1000 * SEC);

		sum += ios_sim_position_ns(&g, a, b, t) - ios_sim_seek_ns(&g, a, b);
	}
	ck_assert_double_eq_tol((double)sum / 20000, (double)g.revolution_ns / 2,
				(double)g.revolution_ns / 50);
}
END_TEST

START_TEST(a_head_switch_costs_what_it_is_set_to_and_less_than_half_a_track_nothing)
{
	g.switch_ns = MS / 2;
	ck_assert_uint_eq(ios_sim_seek_ns(&g, 0, g.per_track[0] / 2 - 1), 0);
	ck_assert_uint_eq(ios_sim_seek_ns(&g, 0, g.per_track[0]), MS / 2);
}
END_TEST

/* --- The dirty extents --- */

static struct ios_sim_cache cache;

static void write_dirty(uint64_t a, uint64_t b, uint64_t context, uint64_t epoch)
{
	struct ios_sim_piece p = {a * 512, (b - a) * 512, context, NULL};

	ios_sim_cache_write(&cache, a, b, &p, 0, epoch);
}

START_TEST(neighbours_of_one_owner_are_one_extent)
{
	ios_sim_cache_init(&cache, 100000);
	write_dirty(0, 8, 1, 0);
	write_dirty(8, 16, 1, 0);
	ck_assert_uint_eq(cache.count, 1);
	write_dirty(16, 24, 2, 0);
	write_dirty(24, 32, 2, 1);
	ck_assert_uint_eq(cache.count, 3);
	ck_assert_uint_eq(cache.dirty, 32);
	ck_assert(ios_sim_cache_holds(&cache, 0, 32));
	ck_assert(!ios_sim_cache_holds(&cache, 0, 33));
}
END_TEST

START_TEST(an_overwrite_takes_no_room_and_changes_the_owner)
{
	struct ios_sim_piece run[IOS_SIM_RUN_PIECES];
	uint64_t epoch;

	ios_sim_cache_init(&cache, 100000);
	write_dirty(0, 30, 1, 0);
	write_dirty(10, 20, 2, 3);
	ck_assert_uint_eq(cache.dirty, 30);
	ck_assert_uint_eq(cache.count, 3);
	ck_assert_uint_eq(ios_sim_cache_take(&cache, 0, 25, run, &epoch), 25);
	ck_assert_uint_eq(epoch, 0);
	ck_assert_uint_eq(run[0].length, 10 * 512);
	ck_assert_uint_eq(run[1].context, 2);
	ck_assert_uint_eq(run[1].length, 10 * 512);
	ck_assert_uint_eq(run[2].context, 1);
	ck_assert_uint_eq(run[2].length, 5 * 512);
	ck_assert_ptr_null(run[2].next);
	ck_assert_uint_eq(cache.dirty, 5);
	ck_assert_uint_eq(cache.busy, 25);
	ios_sim_cache_written(&cache, 25);
	ck_assert_uint_eq(cache.busy, 0);
}
END_TEST

enum { SECTORS = 600 };

/* Does the cache say of every sector what @owner says, and of their number? */
static bool agrees_with(const uint64_t owner[SECTORS])
{
	uint64_t dirty = 0;

	for (uint64_t i = 0; i < SECTORS; i++) {
		unsigned x = ios_sim_cache_at(&cache, i);
		bool in = x < cache.count && cache.order[x]->start <= i;

		if ((in ? cache.order[x]->context : 0) != owner[i])
			return false;
		dirty += owner[i] != 0;
	}
	return cache.dirty == dirty;
}

START_TEST(extents_say_of_every_sector_what_an_array_says)
{
	uint64_t owner[SECTORS] = {0};
	struct ios_sim_rng r;

	ios_sim_rng_init(&r, 11, 0);
	ios_sim_cache_init(&cache, SECTORS);
	for (unsigned step = 0; step < 4000; step++) {
		uint64_t a = ios_sim_rng_below(&r, SECTORS - 40);
		uint64_t b = a + 1 + ios_sim_rng_below(&r, 40);
		uint64_t who = 1 + ios_sim_rng_below(&r, 3);

		if (ios_sim_rng_below(&r, 4) == 0) {
			ios_sim_cache_drop(&cache, a, b);
			who = 0;
		} else {
			write_dirty(a, b, who, step / 1000);
		}
		for (uint64_t i = a; i < b; i++)
			owner[i] = who;
		ck_assert_msg(agrees_with(owner), "after step %u", step);
	}
}
END_TEST

/* --- The drive --- */

static struct bench b;

static void open_hdd(const char *text)
{
	char all[512] = "preset = hdd\n";

	strcat(all, text);
	bench_open(&b, all);
}

START_TEST(a_sequential_reader_is_served_at_the_media_rate)
{
	open_hdd("");
	for (unsigned i = 0; i < 400; i++)
		bench_time(&b, IOSCHED_READ, i * 64 * KIB, 64 * KIB);
	/* 25 MiB at 80 MB/s are 328 ms; a lost turn every time would be 3.3 s. */
	ck_assert_uint_lt(b.engine.now, 370 * MS);
	ck_assert_uint_gt(b.engine.now, 320 * MS);
	bench_close(&b);
}
END_TEST

START_TEST(data_read_ahead_is_served_from_the_buffer)
{
	open_hdd("");
	bench_time(&b, IOSCHED_READ, 0, 64 * KIB);
	bench_until(&b, b.engine.now + 20 * MS); /* reads 1 MiB on in 13 ms */
	ck_assert_uint_lt(bench_time(&b, IOSCHED_READ, 64 * KIB, 64 * KIB), MS);
	ck_assert_uint_lt(bench_time(&b, IOSCHED_READ, 900 * KIB, 64 * KIB), MS);
	ck_assert_uint_eq(b.device->stats.read_hits, 2);
	ck_assert_uint_gt(bench_time(&b, IOSCHED_READ, 100 * MIB, 64 * KIB), MS);
	ck_assert_uint_eq(b.device->stats.read_hits, 2);
	bench_close(&b);
}
END_TEST

START_TEST(hits_are_served_while_the_arm_is_busy_elsewhere)
{
	unsigned far, near;

	open_hdd("");
	bench_time(&b, IOSCHED_READ, 0, 64 * KIB);
	bench_until(&b, b.engine.now + 20 * MS);
	far = bench_give(&b, IOSCHED_READ, 200 * GB, 4 * KIB, 1);
	near = bench_give(&b, IOSCHED_READ, 64 * KIB, 4 * KIB, 2);
	bench_settle(&b);
	ck_assert_uint_lt(b.commands[near].done_at + 5 * MS, b.commands[far].done_at);
	bench_close(&b);
}
END_TEST

START_TEST(a_write_makes_read_data_stale)
{
	open_hdd("write_cache = 0\n");
	bench_time(&b, IOSCHED_READ, 0, 64 * KIB);
	bench_until(&b, b.engine.now + 20 * MS);
	bench_time(&b, IOSCHED_WRITE, 128 * KIB, 4 * KIB);
	bench_time(&b, IOSCHED_READ, 128 * KIB, 4 * KIB);
	ck_assert_uint_eq(b.device->stats.read_hits, 0);
	bench_close(&b);
}
END_TEST

START_TEST(of_two_queued_commands_the_nearer_goes_first_unless_served_in_order)
{
	open_hdd("");
	bench_give(&b, IOSCHED_READ, 0, 4 * KIB, 1);
	bench_give(&b, IOSCHED_READ, 200 * GB, 4 * KIB, 1);
	bench_give(&b, IOSCHED_READ, 1 * GB, 4 * KIB, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.order[1], 2);
	bench_close(&b);
	open_hdd("ncq_window = 1\n");
	bench_give(&b, IOSCHED_READ, 0, 4 * KIB, 1);
	bench_give(&b, IOSCHED_READ, 200 * GB, 4 * KIB, 1);
	bench_give(&b, IOSCHED_READ, 1 * GB, 4 * KIB, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.order[1], 1);
	bench_close(&b);
}
END_TEST

START_TEST(an_aged_command_goes_before_nearer_ones)
{
	unsigned old;
	iosched_time given;
	uint64_t at = 0;

	open_hdd("ncq_age = 100ms\n");
	bench_give(&b, IOSCHED_READ, 0, 4 * KIB, 1);
	old = bench_give(&b, IOSCHED_READ, 240 * GB, 4 * KIB, 1);
	given = b.engine.now;
	while (b.commands[old].done_at == IOSCHED_NEVER && at < 300) {
		/* always two near ones waiting */
		while (b.used - b.done < 4)
			bench_give(&b, IOSCHED_READ, ++at * 40 * MIB, 4 * KIB, 2);
		bench_until(&b, b.engine.now + MS);
	}
	ck_assert_uint_gt(b.commands[old].done_at, given + 100 * MS);
	ck_assert_uint_lt(b.commands[old].done_at, given + 150 * MS);
	bench_close(&b);
}
END_TEST

START_TEST(cached_writes_are_done_at_once_and_on_the_medium_later)
{
	open_hdd("");
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, i * GB, 8 * KIB), MS / 2);
	bench_settle(&b);
	ck_assert_uint_eq(b.device->stats.cached_writes, 100);
	ck_assert_uint_eq(b.device->stats.destages, 100);
	bench_close(&b);
}
END_TEST

START_TEST(with_one_engine_a_cached_write_waits_for_the_read_before_it)
{
	unsigned read;

	open_hdd("one_engine = on\n");
	read = bench_give(&b, IOSCHED_READ, 100 * GB, 4 * KIB, 1);
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 10 * GB, 8 * KIB), MS);
	ck_assert_uint_lt(b.commands[read].done_at, b.engine.now);
	bench_settle(&b);
	ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, 20 * GB, 8 * KIB), MS);
	bench_close(&b);
}
END_TEST

START_TEST(with_the_cache_off_or_fua_a_write_waits_for_the_medium)
{
	unsigned i;

	open_hdd("write_cache = 0\n");
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 200 * GB, 8 * KIB), 5 * MS);
	bench_close(&b);
	open_hdd("");
	i = b.used;
	b.commands[i].cmd.fua = true;
	ck_assert_uint_gt(bench_time(&b, IOSCHED_WRITE, 200 * GB, 8 * KIB), 5 * MS);
	ck_assert_uint_eq(b.device->stats.cached_writes, 0);
	bench_close(&b);
}
END_TEST

START_TEST(a_full_cache_makes_writes_wait_and_all_end)
{
	open_hdd("write_cache = 1MiB\ndepth = 64\n");
	for (unsigned i = 0; i < 64; i++)
		bench_give(&b, IOSCHED_WRITE, i * GB, 64 * KIB, 1);
	bench_until(&b, 20 * MS);
	ck_assert_uint_ge(b.done, 16);
	ck_assert_uint_lt(b.done, 30);
	bench_settle(&b);
	bench_close(&b);
}
END_TEST

START_TEST(flush_waits_for_what_was_dirty_and_not_for_what_comes_later)
{
	unsigned flush;

	open_hdd("");
	ck_assert_uint_lt(bench_time(&b, IOSCHED_FLUSH, 0, 0), MS);
	for (unsigned i = 0; i < 10; i++)
		bench_give(&b, IOSCHED_WRITE, (20 * i + 1) * GB, 8 * KIB, 1);
	flush = bench_give(&b, IOSCHED_FLUSH, 0, 0, 1);
	/* a log writer goes on appending, faster than the medium can follow */
	for (unsigned i = 0; b.commands[flush].done_at == IOSCHED_NEVER; i++) {
		ck_assert_uint_lt(i, 400);
		bench_give(&b, IOSCHED_WRITE, 240 * GB + i * 8 * KIB, 8 * KIB, 2);
		bench_until(&b, b.engine.now + MS);
	}
	ck_assert_uint_gt(b.commands[flush].done_at, 30 * MS);
	ck_assert_uint_lt(b.commands[flush].done_at, 200 * MS);
	ck_assert_uint_eq(b.device->stats.flushes, 2);
	bench_settle(&b);
	bench_close(&b);
}
END_TEST

START_TEST(a_flush_whose_data_is_discarded_ends_without_writing_it)
{
	unsigned flush;

	open_hdd("");
	bench_give(&b, IOSCHED_READ, 240 * GB, 4 * KIB, 1); /* keeps the arm busy */
	bench_time(&b, IOSCHED_WRITE, 10 * GB, 8 * KIB);
	flush = bench_give(&b, IOSCHED_FLUSH, 0, 0, 1);
	bench_give(&b, IOSCHED_DISCARD, 10 * GB, 8 * KIB, 1);
	bench_settle(&b);
	ck_assert_uint_ne(b.commands[flush].done_at, IOSCHED_NEVER);
	ck_assert_uint_eq(b.device->stats.destages, 0);
	bench_close(&b);
}
END_TEST

START_TEST(every_media_nanosecond_is_booked_to_the_owner_of_the_bytes)
{
	struct ios_sim_rng r;
	uint64_t sum = 0;

	open_hdd("");
	ios_sim_rng_init(&r, 4, 0);
	for (unsigned i = 0; i < 300; i++) {
		bench_give(&b, i % 3 == 0 ? IOSCHED_WRITE : IOSCHED_READ,
			   i % 2 ? i * 64 * KIB : ios_sim_rng_below(&r, 400000) * 512 * KIB,
			   64 * KIB, 1 + i % 3);
		bench_until(&b, b.engine.now + ios_sim_rng_below(&r, 30) * MS);
	}
	bench_settle(&b);
	for (uint64_t context = 1; context <= 3; context++) {
		ck_assert_uint_gt(ios_sim_ledger_of(&b.ledger, context), 0);
		sum += ios_sim_ledger_of(&b.ledger, context);
	}
	ck_assert_uint_eq(sum, b.device->stats.media_ns);
	ck_assert_uint_eq(sum, b.device->stats.position_ns + b.device->stats.transfer_ns);
	ck_assert_uint_lt(sum, b.engine.now);
	bench_close(&b);
}
END_TEST

START_TEST(a_destage_is_paid_by_the_writer_and_not_by_who_reads_meanwhile)
{
	open_hdd("");
	bench_give(&b, IOSCHED_WRITE, 100 * GB, 8 * KIB, 7);
	bench_settle(&b);
	ck_assert_uint_gt(ios_sim_ledger_of(&b.ledger, 7), MS);
	bench_close(&b);
}
END_TEST

START_TEST(overlapped_overhead_lets_queued_sequential_reads_stream_without_readahead)
{
	iosched_time apart;

	open_hdd("readahead = 0\nncq_window = 1\n");
	for (unsigned i = 0; i < 32; i++)
		bench_give(&b, IOSCHED_READ, i * 128 * KIB, 128 * KIB, 1);
	bench_settle(&b);
	apart = b.engine.now;
	bench_close(&b);
	open_hdd("readahead = 0\nncq_window = 1\noverhead_overlaps = on\n");
	for (unsigned i = 0; i < 32; i++)
		bench_give(&b, IOSCHED_READ, i * 128 * KIB, 128 * KIB, 1);
	bench_settle(&b);
	/* 4 MiB at 80 MB/s are 52 ms; each of 31 lost turns would be 8.3 ms more */
	ck_assert_uint_lt(b.engine.now, 70 * MS);
	ck_assert_uint_gt(apart, 250 * MS);
	bench_close(&b);
}
END_TEST

START_TEST(with_bus_waits_a_read_ends_when_it_has_crossed_the_interface)
{
	uint64_t off, on;

	bench_open(&b, "preset = hdd\nbus_rate = 1MB/s\nreadahead = 0\n");
	off = bench_time(&b, IOSCHED_READ, GB, 100000);
	bench_close(&b);
	bench_open(&b, "preset = hdd\nbus_rate = 1MB/s\nreadahead = 0\nbus_waits = on\n");
	on = bench_time(&b, IOSCHED_READ, GB, 100000);
	ck_assert_uint_lt(off, 30 * MS);
	/* 100 ms for the bytes, of which those of the medium's time have crossed meanwhile. */
	ck_assert_uint_ge(on, off + 98 * MS);
	ck_assert_uint_le(on, off + 101 * MS);
	bench_close(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim hdd");
	TCase *t = tcase_create("geometry");

	tcase_add_checked_fixture(t, disk_250g, NULL);
	tcase_add_test(t, with_bus_waits_a_read_ends_when_it_has_crossed_the_interface);
	tcase_add_test(t, seeks_take_what_the_three_points_of_the_curve_say);
	tcase_add_test(t, a_longer_seek_never_takes_less);
	tcase_add_test(t, transfer_goes_at_the_zone_s_rate);
	tcase_add_test(t, sectors_in_is_the_inverse_of_transfer);
	tcase_add_test(t, after_a_transfer_the_next_sector_comes_at_once);
	tcase_add_test(t, a_random_place_is_half_a_turn_away_on_average);
	tcase_add_test(t, a_head_switch_costs_what_it_is_set_to_and_less_than_half_a_track_nothing);
	suite_add_tcase(s, t);
	t = tcase_create("dirty extents");
	tcase_add_test(t, neighbours_of_one_owner_are_one_extent);
	tcase_add_test(t, an_overwrite_takes_no_room_and_changes_the_owner);
	tcase_add_test(t, extents_say_of_every_sector_what_an_array_says);
	suite_add_tcase(s, t);
	t = tcase_create("drive");
	tcase_add_test(t, a_sequential_reader_is_served_at_the_media_rate);
	tcase_add_test(t, data_read_ahead_is_served_from_the_buffer);
	tcase_add_test(t, hits_are_served_while_the_arm_is_busy_elsewhere);
	tcase_add_test(t, a_write_makes_read_data_stale);
	tcase_add_test(t, of_two_queued_commands_the_nearer_goes_first_unless_served_in_order);
	tcase_add_test(t, an_aged_command_goes_before_nearer_ones);
	tcase_add_test(t, cached_writes_are_done_at_once_and_on_the_medium_later);
	tcase_add_test(t, with_one_engine_a_cached_write_waits_for_the_read_before_it);
	tcase_add_test(t, with_the_cache_off_or_fua_a_write_waits_for_the_medium);
	tcase_add_test(t, a_full_cache_makes_writes_wait_and_all_end);
	tcase_add_test(t, flush_waits_for_what_was_dirty_and_not_for_what_comes_later);
	tcase_add_test(t, a_flush_whose_data_is_discarded_ends_without_writing_it);
	tcase_add_test(t, every_media_nanosecond_is_booked_to_the_owner_of_the_bytes);
	tcase_add_test(t, a_destage_is_paid_by_the_writer_and_not_by_who_reads_meanwhile);
	tcase_add_test(t,
		       overlapped_overhead_lets_queued_sequential_reads_stream_without_readahead);
	suite_add_tcase(s, t);
	return run_suite(s);
}
