/* SPDX-License-Identifier: MIT */
/* Arrays: where bytes lie, what the controller keeps, who pays; and the rates of one that is
 * known from elsewhere. */
#include <iosched/sim.h>
#include <stdio.h>

#include "sim/raid_ahead.h"
#include "sim/rng.h"
#include "support.h"

static struct bench b;

/* Members of a constant millisecond, no controller to speak of. */
#define PLAIN                                                                                 \
	"model = raid\noverhead = 0\nlink_rate = 1000GB/s\nwrite_cache = 0\nahead_ring = 0\n" \
	"member = fixed\nmember.capacity = 1GiB\nmember.latency = 1ms\n"
#define STRIPE PLAIN "disks = 4\nmirrors = 1\n"
#define MIRROR PLAIN "disks = 4\nmirrors = 2\n"

static void close_bench(void)
{
	bench_close(&b);
}

static uint64_t media_ops(void)
{
	struct iosched_sim_device_stats s;

	ios_sim_device_stats(b.device, &s);
	ck_assert_uint_eq(s.media_ns, b.ledger.total);
	return s.media_ops;
}

START_TEST(a_stripe_has_the_size_of_all_and_a_mirror_of_one)
{
	bench_open(&b, STRIPE);
	ck_assert_uint_eq(b.device->capacity, 4096 * MIB);
	bench_close(&b);
	bench_open(&b, MIRROR);
	ck_assert_uint_eq(b.device->capacity, 2048 * MIB);
}
END_TEST

START_TEST(chunks_go_round_the_columns)
{
	bench_open(&b, STRIPE);
	for (unsigned i = 0; i < 4; i++)
		bench_give(&b, IOSCHED_READ, i * 64 * KIB, 4096, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.engine.now / 1000, 1000); /* all at once */
	bench_give(&b, IOSCHED_READ, 0, 4096, 1);
	bench_give(&b, IOSCHED_READ, 4 * 64 * KIB, 4096, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.engine.now / 1000, 3000); /* both on the first disk */
}
END_TEST

START_TEST(a_long_read_is_one_operation_on_each_disk)
{
	bench_open(&b, STRIPE);
	ck_assert_uint_eq(bench_time(&b, IOSCHED_READ, 32 * KIB, 1024 * KIB) / 10000, 100);
	ck_assert_uint_eq(media_ops(), 4);
}
END_TEST

START_TEST(a_mirror_reads_from_one_and_writes_to_both)
{
	bench_open(&b, MIRROR);
	bench_time(&b, IOSCHED_READ, 0, 4096);
	ck_assert_uint_eq(media_ops(), 1);
	bench_time(&b, IOSCHED_WRITE, 0, 4096);
	ck_assert_uint_eq(media_ops(), 3);
	bench_give(&b, IOSCHED_READ, 0, 4096, 1);
	bench_give(&b, IOSCHED_READ, 4096, 4096, 1);
	bench_settle(&b);
	ck_assert_uint_lt(b.engine.now, 3 * MS + MS / 2); /* one from each */
}
END_TEST

START_TEST(every_owner_pays_for_his_bytes_on_every_disk)
{
	struct ios_sim_piece second = {64 * KIB, 192 * KIB, 2, NULL};
	struct ios_sim_piece first = {0, 64 * KIB, 1, &second};

	bench_open(&b, MIRROR);
	/* Chunks 0 (owner 1) and 2 lie on column 0, chunks 1 and 3 on column 1. */
	b.commands[0].piece = first;
	bench_give(&b, IOSCHED_WRITE, 0, 256 * KIB, 1);
	bench_settle(&b);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 1), MS);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 2), 3 * MS);
}
END_TEST

START_TEST(a_cached_write_is_done_at_once_and_destaged_for_its_owner)
{
	bench_open(&b, MIRROR "write_cache = 1MiB\n");
	ck_assert(b.device->array);
	ck_assert(!b.device->write_cache); /* it survives a power cut */
	ck_assert_uint_lt(bench_time(&b, IOSCHED_WRITE, 0, 64 * KIB), MS);
	bench_settle(&b);
	ck_assert_uint_eq(media_ops(), 2);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 1), 2 * MS);
}
END_TEST

START_TEST(a_write_without_room_waits_for_a_destage)
{
	bench_open(&b, MIRROR "write_cache = 128KiB\n");
	for (unsigned i = 0; i < 3; i++)
		bench_give(&b, IOSCHED_WRITE, i * 2 * 64 * KIB, 64 * KIB, 1);
	bench_settle(&b);
	ck_assert_uint_lt(b.commands[1].done_at, MS);
	ck_assert_uint_eq(b.commands[2].done_at / 1000, 1000);
}
END_TEST

START_TEST(neighbours_in_the_cache_are_destaged_together)
{
	bench_open(&b, MIRROR "write_cache = 16MiB\ndestage_ops = 1\n");
	for (unsigned i = 0; i < 64; i++)
		bench_give(&b, IOSCHED_WRITE, i * 4096, 4096, 1);
	bench_settle(&b);
	/* The first write of each column alone, the rest of it behind: 2 x 2 x 2 copies. */
	ck_assert_uint_le(media_ops(), 12);
}
END_TEST

START_TEST(a_flush_goes_to_the_disks_only_without_a_cache_of_the_controller)
{
	bench_open(&b, MIRROR "write_cache = 1MiB\nflush_time = 50us\n");
	ck_assert_uint_lt(bench_time(&b, IOSCHED_FLUSH, 0, 0), MS);
	ck_assert_uint_eq(media_ops(), 0);
	bench_close(&b);
	bench_open(&b, MIRROR);
	bench_time(&b, IOSCHED_FLUSH, 0, 0);
	ck_assert_uint_eq(media_ops(), 4);
}
END_TEST

START_TEST(sequential_reads_are_read_ahead_and_paid_by_the_reader)
{
	bench_open(&b, MIRROR "ahead_ring = 256\nahead_chunks = 8\n");
	for (unsigned i = 0; i < 3; i++)
		bench_time(&b, IOSCHED_READ, i * 64 * KIB, 64 * KIB);
	bench_settle(&b);
	ck_assert_uint_eq(media_ops(), 11);
	ck_assert_uint_eq(ios_sim_ledger_of(&b.ledger, 1), 11 * MS);
	ck_assert_uint_lt(bench_time(&b, IOSCHED_READ, 3 * 64 * KIB, 256 * KIB), MS);
}
END_TEST

START_TEST(a_reader_waits_for_a_chunk_that_is_coming)
{
	bench_open(&b, MIRROR "ahead_ring = 256\nahead_chunks = 1\n");
	bench_time(&b, IOSCHED_READ, 0, 64 * KIB);
	bench_time(&b, IOSCHED_READ, 64 * KIB, 64 * KIB);
	bench_give(&b, IOSCHED_READ, 128 * KIB, 64 * KIB, 1); /* has the next one read ahead */
	bench_give(&b, IOSCHED_READ, 192 * KIB, 4096, 1);
	bench_settle(&b);
	ck_assert_uint_eq(b.commands[3].done_at / 1000, b.commands[2].done_at / 1000);
	ck_assert_uint_le(media_ops(), 5); /* the last one has read ahead once more */
}
END_TEST

START_TEST(what_is_overwritten_is_not_read_from_the_read_ahead)
{
	bench_open(&b, MIRROR "ahead_ring = 256\nahead_chunks = 8\n");
	for (unsigned i = 0; i < 3; i++)
		bench_time(&b, IOSCHED_READ, i * 64 * KIB, 64 * KIB);
	bench_settle(&b);
	bench_time(&b, IOSCHED_WRITE, 5 * 64 * KIB, 4096);
	ck_assert_uint_ge(bench_time(&b, IOSCHED_READ, 5 * 64 * KIB, 4096), MS);
}
END_TEST

START_TEST(the_ring_forgets_the_oldest_chunk)
{
	struct ios_sim_ahead a = {.chunk_bytes = 65536,
				  .chunks = 1000,
				  .depth = 4,
				  .hits_wanted = 1,
				  .stream_count = 2,
				  .slot_count = 4};
	struct ios_sim_slot *slot;

	bench_open(&b, "preset = null\n");
	ck_assert_int_eq(ios_sim_ahead_init(&a), 0);
	for (uint64_t c = 0; c < 4; c++) {
		slot = ios_sim_ahead_reserve(&a, c * 4); /* all in one chain */
		ck_assert_ptr_nonnull(slot);
		ck_assert_ptr_null(ios_sim_ahead_arrived(&a, slot, false));
	}
	ck_assert_ptr_nonnull(ios_sim_ahead_find(&a, 0));
	slot = ios_sim_ahead_reserve(&a, 99);
	ck_assert_ptr_nonnull(slot);
	ck_assert_ptr_null(ios_sim_ahead_find(&a, 0));
	ck_assert_ptr_nonnull(ios_sim_ahead_find(&a, 4));
	ck_assert_ptr_null(ios_sim_ahead_reserve(&a, 99)); /* it has one */
	ios_sim_ahead_forget(&a, 0, 1000);
	ck_assert_ptr_null(ios_sim_ahead_find(&a, 99));
	ck_assert_ptr_null(ios_sim_ahead_find(&a, 4));
	ios_sim_ahead_fini(&a);
}
END_TEST

START_TEST(a_read_that_fails_on_one_mirror_is_read_from_the_other)
{
	struct iosched_sim_device_stats s;

	bench_open(&b,
		   MIRROR "member = fault\nmember.member = fixed\nmember.member.capacity = 1GiB\n"
			  "member.read_errors = 200000\nmember.error_time = 1ms\n");
	b.may_fail = true;
	for (unsigned i = 0; i < 200; i++)
		bench_time(&b, IOSCHED_READ, i * MIB, 4096);
	ios_sim_device_stats(b.device, &s);
	/* One in five fails on a disk, one in 25 on both. */
	ck_assert_uint_ge(s.errors, 20);
	ck_assert_uint_le(b.failed, 20);
	ck_assert_uint_ge(b.failed, 1);
}
END_TEST

START_TEST(a_lone_mirror_is_enough_for_a_write)
{
	bench_open(&b,
		   MIRROR "member = fault\nmember.member = fixed\nmember.member.capacity = 1GiB\n"
			  "member.write_errors = 200000\nmember.error_time = 1ms\n");
	b.may_fail = true;
	for (unsigned i = 0; i < 200; i++)
		bench_time(&b, IOSCHED_WRITE, i * MIB, 4096);
	ck_assert_uint_le(b.failed, 20);
	ck_assert_uint_ge(b.failed, 1);
}
END_TEST

START_TEST(arrays_of_nonsense_are_refused)
{
	struct iosched_sim_error why = {""};
	struct ios_sim_device_choice c = {
		.name = "raid10", .text = "disks = 5\n", .text_name = "t"};
	struct ios_sim_device *d;

	bench_open(&b, "preset = null\n");
	ck_assert_int_lt(ios_sim_device_create(&d, &c, &b.engine, &b.ledger, &why), 0);
	ck_assert_str_eq(why.text, "disks is not a multiple of mirrors");
	c.text = "member = null\nmember.capacity = 4KiB\n";
	ck_assert_int_lt(ios_sim_device_create(&d, &c, &b.engine, &b.ledger, &why), 0);
	ck_assert_str_eq(why.text, "a disk is smaller than a chunk");
	c.text = "member.member = hdd\n";
	ck_assert_int_lt(ios_sim_device_create(&d, &c, &b.engine, &b.ledger, &why), 0);
	ck_assert_str_eq(why.text, "t:1: the device has no parameter \"member\"");
	c.text = "member.member.rpm = 7200\n";
	ck_assert_int_lt(ios_sim_device_create(&d, &c, &b.engine, &b.ledger, &why), 0);
	ck_assert_str_eq(why.text, "t:1: member.rpm: a device \"hdd\" has no members");
}
END_TEST

/* --- Anything at all --- */

static uint64_t below(struct ios_sim_rng *g, uint64_t n)
{
	return ios_sim_rng_below(g, n);
}

/* An array of random shape, with members that may fail. */
static void open_random_array(struct ios_sim_rng *g)
{
	static const char *const members[] = {
		"member = fixed\nmember.capacity = 64MiB\nmember.latency = 1ms\nmember.depth = 2\n",
		"member = hdd\nmember.capacity = 1GB\n",
		"member = hdd-10k\nmember.capacity = 1GB\n",
		"member = ssd\nmember.capacity = 64MiB\nmember.collect_bytes = 1MiB\n",
		"member = fault\nmember.member = fixed\nmember.member.capacity = 64MiB\n"
		"member.read_errors = 50000\nmember.write_errors = 50000\nmember.error_time = "
		"1ms\n",
	};
	unsigned mirrors = 1 + (unsigned)below(g, 3);
	char text[512];

	snprintf(text, sizeof(text),
		 "model = raid\n%smirrors = %u\ndisks = %u\nchunk = %uKiB\nwrite_cache = %uKiB\n"
		 "ahead_ring = %u\nahead_chunks = %u\nahead_hits = 1\ndestage_size = %uKiB\n",
		 members[below(g, 5)], mirrors, mirrors * (1 + (unsigned)below(g, 4)),
		 4u << below(g, 5), (unsigned)below(g, 3) * 300, (unsigned)below(g, 3) * 8,
		 (unsigned)below(g, 20), 4u << below(g, 8));
	bench_open(&b, text);
	b.may_fail = true;
}

static void give_anything(struct ios_sim_rng *g)
{
	static const enum iosched_op ops[] = {IOSCHED_READ,  IOSCHED_READ,  IOSCHED_READ,
					      IOSCHED_WRITE, IOSCHED_WRITE, IOSCHED_DISCARD,
					      IOSCHED_FLUSH};
	enum iosched_op op = ops[below(g, 7)];
	uint64_t length = below(g, 4) == 0 ? 1 + below(g, MIB) : 512 * (1 + below(g, 64));
	uint64_t offset = 512 * below(g, 40000);

	if (op == IOSCHED_FLUSH)
		offset = length = 0;
	b.commands[b.used].cmd.fua = op == IOSCHED_WRITE && below(g, 8) == 0;
	bench_give(&b, op, offset, length, 1 + below(g, 3));
}

START_TEST(whatever_comes_ends_and_is_booked)
{
	struct ios_sim_rng g;

	ios_sim_rng_init(&g, 7, (uint64_t)_i);
	open_random_array(&g);
	for (unsigned i = 0; i < 400; i++) {
		if (below(&g, 3) == 0)
			bench_until(&b, b.engine.now + below(&g, 20 * MS));
		give_anything(&g);
	}
	bench_settle(&b);
	media_ops();
}
END_TEST

/* --- The array of the bonnie++ report, beside an earlier, independent model of it --- */

/* The report's file: 258376 MiB. */
#define FILE_BYTES (UINT64_C(258376) * MIB)

static double rate_of(uint32_t depth, uint32_t bytes, uint32_t reads, bool random)
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
	s.region_length = FILE_BYTES;
	s.pattern = random ? IOSCHED_SIM_RANDOM : IOSCHED_SIM_SEQUENTIAL;
	iosched_sim_config_init(&c, sizeof(c));
	c.device = "raid10";
	c.length_ns = 20 * SEC;
	c.warmup_ns = 2 * SEC; /* the write cache is full by then */
	c.streams = &s;
	c.stream_count = 1;
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
	rate = (double)r->rows[0].milli_iops / 1000;
	iosched_sim_result_free(r);
	return rate;
}

START_TEST(random_reads_of_the_array_come_within_5_percent)
{
	ck_assert_double_eq_tol(rate_of(1, 4096, 10000, true), 331, .05 * 331);
	ck_assert_double_eq_tol(rate_of(31, 4096, 10000, true), 4190, .05 * 4190);
}
END_TEST

START_TEST(random_writes_of_the_array_come_within_5_percent)
{
	ck_assert_double_eq_tol(rate_of(31, 4096, 0, true), 1914, .05 * 1914);
}
END_TEST

START_TEST(one_sequential_reader_gets_the_rate_of_six_disks)
{
	/* 6 x 162 MB/s; the report has 1.0 GB/s for noop and deadline. */
	ck_assert_double_eq_tol(rate_of(1, 131072, 10000, false) * 131072, 972e6, .03 * 972e6);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim raid");
	TCase *t = tcase_create("model");
	TCase *figures = tcase_create("figures");

	tcase_add_checked_fixture(t, NULL, close_bench);
	tcase_add_test(t, a_stripe_has_the_size_of_all_and_a_mirror_of_one);
	tcase_add_test(t, chunks_go_round_the_columns);
	tcase_add_test(t, a_long_read_is_one_operation_on_each_disk);
	tcase_add_test(t, a_mirror_reads_from_one_and_writes_to_both);
	tcase_add_test(t, every_owner_pays_for_his_bytes_on_every_disk);
	tcase_add_test(t, a_cached_write_is_done_at_once_and_destaged_for_its_owner);
	tcase_add_test(t, a_write_without_room_waits_for_a_destage);
	tcase_add_test(t, neighbours_in_the_cache_are_destaged_together);
	tcase_add_test(t, a_flush_goes_to_the_disks_only_without_a_cache_of_the_controller);
	tcase_add_test(t, sequential_reads_are_read_ahead_and_paid_by_the_reader);
	tcase_add_test(t, a_reader_waits_for_a_chunk_that_is_coming);
	tcase_add_test(t, what_is_overwritten_is_not_read_from_the_read_ahead);
	tcase_add_test(t, the_ring_forgets_the_oldest_chunk);
	tcase_add_test(t, a_read_that_fails_on_one_mirror_is_read_from_the_other);
	tcase_add_test(t, a_lone_mirror_is_enough_for_a_write);
	tcase_add_test(t, arrays_of_nonsense_are_refused);
	tcase_add_loop_test(t, whatever_comes_ends_and_is_booked, 0, 60);
	suite_add_tcase(s, t);
	tcase_set_timeout(figures, 60);
	tcase_add_test(figures, random_reads_of_the_array_come_within_5_percent);
	tcase_add_test(figures, random_writes_of_the_array_come_within_5_percent);
	tcase_add_test(figures, one_sequential_reader_gets_the_rate_of_six_disks);
	suite_add_tcase(s, figures);
	return run_suite(s);
}
