/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline on the simulator's disks: who gets how much of the device, and how long
 * things wait. Every row is 20 s after 2 s of learning; shares are of true device time.
 */
#include <check.h>
#include <iosched/sim.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define GIB (UINT64_C(1) << 30)
#define STREAMS 80

static struct iosched_sim_config c;
static struct iosched_sim_stream s[STREAMS];
static struct iosched_sim_result *r;

static void setup(void)
{
	iosched_sim_config_init(&c, sizeof(c));
	c.policy = iosched_policy_find("fair-deadline");
	c.device = "hdd";
	c.streams = s;
	c.stream_count = 0;
	c.warmup_ns = 2 * SEC;
	c.length_ns = 22 * SEC;
	r = NULL;
}

static void teardown(void)
{
	iosched_sim_result_free(r);
}

static struct iosched_sim_stream *add(void)
{
	struct iosched_sim_stream *x = &s[c.stream_count++];

	iosched_sim_stream_init(x, sizeof(*x));
	x->context = c.stream_count;
	return x;
}

static struct iosched_sim_stream *scattered(uint32_t depth)
{
	struct iosched_sim_stream *x = add();

	x->pattern = IOSCHED_SIM_RANDOM;
	x->depth = depth;
	return x;
}

/* 128 KiB reads in its own 9 GiB, read ahead by two to four. */
static struct iosched_sim_stream *sequential(unsigned place)
{
	struct iosched_sim_stream *x = add();

	x->region_offset = place * 10 * GIB;
	x->region_length = 9 * GIB;
	x->request_bytes = 131072;
	x->depth = 4;
	x->refill = 2;
	return x;
}

static struct iosched_sim_stream *writeback(struct iosched_sim_stream *x)
{
	x->read_permyriad = 0;
	x->depth = 64;
	x->refill = UINT32_MAX;
	return x;
}

static struct iosched_sim_stream *log_writer(unsigned place)
{
	struct iosched_sim_stream *x = sequential(place);

	x->read_permyriad = 0;
	x->write_flags = IOSCHED_RQ_SYNC;
	x->request_bytes = 4096;
	x->depth = 1;
	x->refill = UINT32_MAX;
	x->think_ns = 100 * MS;
	return x;
}

static void run(void)
{
	struct iosched_sim_error why;

	iosched_sim_result_free(r);
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
}

static const struct iosched_sim_row *row(unsigned stream)
{
	const struct iosched_sim_row *found =
		iosched_sim_result_row(r, stream + 1, IOSCHED_SIM_ALL_OPS);

	ck_assert_ptr_nonnull(found);
	return found;
}

static void assert_share(unsigned stream, unsigned permille, unsigned tolerance)
{
	unsigned got = row(stream)->device_share_ppm / 1000;

	ck_assert_msg(got + tolerance >= permille && got <= permille + tolerance,
		      "stream %u has %u permille, not %u", stream, got, permille);
}

static uint64_t megabytes(unsigned stream)
{
	return row(stream)->bytes_per_s / 1000000;
}

static const uint32_t weights[4] = {100, 200, 300, 33};
static const unsigned first_share[4] = {500, 667, 750, 250};

START_TEST(streams_share_by_weight)
{
	sequential(1)->weight = weights[_i];
	sequential(15);
	run();
	assert_share(0, first_share[_i], 10);
	ck_assert_uint_gt(megabytes(0) + megabytes(1), 55);
}
END_TEST

START_TEST(a_stream_and_a_random_reader_share_by_weight)
{
	sequential(1)->weight = weights[_i];
	scattered(1);
	run();
	assert_share(0, first_share[_i], 10);
}
END_TEST

START_TEST(random_readers_share_by_weight)
{
	scattered(1)->weight = weights[_i];
	scattered(1);
	run();
	assert_share(0, first_share[_i], 20);
}
END_TEST

START_TEST(random_readers_of_different_places_have_half_each)
{
	scattered(1)->region_length = 45 * GIB;
	scattered(1)->region_offset = 140 * GIB;
	s[1].region_length = 45 * GIB;
	run();
	assert_share(0, 500, 15);
}
END_TEST

START_TEST(four_streams_have_a_quarter_each)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		sequential(1 + 5 * i);
	run();
	for (i = 0; i < 4; i++)
		assert_share(i, 250, 10);
}
END_TEST

static const char *const caches[2] = {"hdd", "hdd-110-wt"};

START_TEST(a_reader_and_scattered_writeback_have_half_each)
{
	c.device = caches[_i];
	sequential(1);
	writeback(scattered(64));
	run();
	assert_share(0, 500, 15);
}
END_TEST

/* With a cache the medium must not rest while that is filled. */
START_TEST(a_reader_and_streaming_writeback_share_by_weight)
{
	c.device = caches[_i % 2];
	sequential(1)->weight = weights[_i / 2];
	writeback(sequential(15));
	run();
	assert_share(0, first_share[_i / 2], 15);
}
END_TEST

/* Readers that take turns at one file are merged with each other: each pays for its bytes. */
START_TEST(cooperators_have_a_share_each)
{
	unsigned i;

	for (i = 0; i < 3; i++) {
		sequential(1)->cursor = 1;
		s[i].depth = 1;
		s[i].refill = UINT32_MAX;
		s[i].request_bytes = 32768;
	}
	scattered(1)->weight = weights[_i];
	run();
	for (i = 0; i < 3; i++)
		assert_share(i, 100000 / (300 + weights[_i]), 20);
	assert_share(3, weights[_i] * 1000 / (300 + weights[_i]), 20);
	ck_assert_uint_gt(megabytes(0) + megabytes(1) + megabytes(2), 30);
}
END_TEST

START_TEST(four_readers_and_streaming_writeback_have_a_fifth_each)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		sequential(1 + 5 * i);
	writeback(sequential(21));
	run();
	for (i = 0; i < 5; i++)
		assert_share(i, 200, 12);
}
END_TEST

/* The FLUSH that ends a writer's visit puts away the log's blocks as well: that is the log's. */
START_TEST(a_log_does_not_cost_the_writer_its_share)
{
	unsigned i;

	log_writer(20)->think_ns = 60 * MS;
	sequential(1);
	scattered(1);
	writeback(sequential(15));
	run();
	ck_assert_uint_lt(row(0)->total.p99, 10 * MS);
	for (i = 1; i < 4; i++)
		assert_share(i, (1000 - row(0)->device_share_ppm / 1000) / 3, 20);
}
END_TEST

/* A crowd within a tenth of the disk is served four times as fast as a read from afar: yet there is
 * one arm. */
START_TEST(a_stream_and_a_deep_reader_of_another_place_share_by_weight)
{
	struct iosched_sim_stream *deep;

	sequential(1)->weight = weights[_i];
	deep = scattered(16);
	deep->region_offset = 150 * GIB;
	deep->region_length = 25 * GIB;
	run();
	assert_share(0, first_share[_i], 15);
}
END_TEST

START_TEST(a_stream_and_scattered_writeback_elsewhere_share_by_weight)
{
	struct iosched_sim_stream *writer;

	c.device = "hdd-110-wt";
	sequential(1)->weight = weights[_i];
	writer = writeback(scattered(64));
	writer->region_offset = 150 * GIB;
	writer->region_length = 25 * GIB;
	run();
	assert_share(0, first_share[_i], 15);
}
END_TEST

START_TEST(depth_does_not_buy_a_share)
{
	scattered(1);
	scattered(16);
	run();
	assert_share(0, 500, 15);
}
END_TEST

START_TEST(a_deep_reader_among_sixteen_shallow_ones_has_a_seventeenth)
{
	unsigned i;

	scattered(16);
	for (i = 0; i < 16; i++)
		scattered(1);
	run();
	for (i = 0; i < 17; i++)
		assert_share(i, 59, 8);
}
END_TEST

START_TEST(a_tenant_with_64_contexts_has_no_more_than_one_with_one)
{
	unsigned i;

	for (i = 0; i < 65; i++)
		scattered(1)->group = i == 0 ? 1 : 2;
	run();
	assert_share(0, 500, 20);
}
END_TEST

/* Nor by what its many writers have waited for. */
START_TEST(a_tenant_with_64_writers_is_rescued_as_one)
{
	unsigned i;

	c.device = caches[_i];
	scattered(16)->group = 1;
	for (i = 0; i < 64; i++)
		writeback(scattered(16))->group = 2;
	run();
	ck_assert_uint_gt(row(0)->device_share_ppm, 400000);
}
END_TEST

START_TEST(an_fsync_writer_waits_milliseconds_among_all_loads)
{
	unsigned i;

	c.device = caches[_i];
	log_writer(20);
	sequential(1);
	scattered(1);
	writeback(sequential(15));
	run();
	ck_assert_uint_gt(row(0)->requests, _i == 0 ? 160 : 150);
	ck_assert_uint_lt(row(0)->total.p99, (_i == 0 ? 10 : 60) * MS);
	for (i = 1; i < 4; i++)
		ck_assert_uint_gt(row(i)->device_share_ppm, 200000);
}
END_TEST

START_TEST(waits_end_with_the_deadline_in_a_mix_of_sixteen)
{
	unsigned i;

	for (i = 0; i < 6; i++)
		sequential(1 + 2 * i);
	for (i = 0; i < 6; i++)
		scattered(1);
	writeback(sequential(15));
	writeback(scattered(64));
	log_writer(20);
	log_writer(22);
	run();
	for (i = 0; i < 16; i++)
		ck_assert_uint_lt(row(i)->wait.max, (i == 12 || i == 13 ? 5040 : 540) * MS);
}
END_TEST

START_TEST(real_time_beside_others_and_idle_without_them)
{
	struct iosched_sim_stream *rt = scattered(1), *idle;

	rt->prio_class = IOSCHED_REALTIME;
	rt->think_ns = 15 * MS;
	scattered(1);
	idle = scattered(1);
	idle->prio_class = IOSCHED_IDLE;
	run();
	ck_assert_uint_lt(row(0)->total.p99, 50 * MS);
	ck_assert_uint_lt(row(2)->requests, 5);
	ck_assert_uint_lt(row(2)->wait.max, 10100 * MS);
}
END_TEST

/* After the grace period the idle class has in the device what is short beside the pauses, and a
 * reader does not wait for a FLUSH on its behalf. */
START_TEST(the_idle_class_uses_long_pauses_and_does_not_fill_the_drive)
{
	struct iosched_sim_stream *idle;

	c.device = caches[_i];
	scattered(1)->think_ns = 60 * MS;
	idle = writeback(sequential(15));
	idle->prio_class = IOSCHED_IDLE;
	run();
	ck_assert_uint_lt(row(0)->total.p99, 40 * MS);
	ck_assert_uint_gt(megabytes(1), 4);
}
END_TEST

/* The default descriptor has scattered writes at half of what they cost on this array: a reader
 * that is slower than its half of the array would make it shows that, and writeback is let out
 * less. */
START_TEST(a_wrong_model_of_an_array_costs_readers_no_more_than_their_half)
{
	uint64_t alone, ours;

	c.device = "raid10";
	c.length_ns = 12 * SEC;
	scattered(1);
	run();
	alone = row(0)->requests;
	c.stream_count = 0;
	if (_i == 0)
		scattered(1);
	else
		sequential(1);
	writeback(scattered(64))->region_offset = 500 * GIB;
	run();
	if (_i == 0) {
		ck_assert_uint_gt(row(0)->requests, alone / 2);
		return;
	}
	ours = row(0)->bytes_per_s;
	c.policy = iosched_policy_find("noop");
	run();
	ck_assert_uint_gt(2 * ours, 3 * row(0)->bytes_per_s);
}
END_TEST

/* Not by how much of it is let out, but by how much of it is in the device at a time. */
START_TEST(writeback_on_flash_does_not_come_in_bursts)
{
	uint64_t alone;

	c.device = "ssd-500";
	c.warmup_ns = SEC / 2;
	c.length_ns = 3 * SEC;
	sequential(1);
	run();
	alone = row(0)->total.p99;
	writeback(sequential(15));
	run();
	ck_assert_uint_lt(row(0)->total.p99, 4 * alone);
	ck_assert_uint_gt(megabytes(0) + megabytes(1), 480);
}
END_TEST

/* One at a time would leave most channels idle. */
START_TEST(writeback_on_flash_beside_a_log_keeps_the_channels_busy)
{
	c.device = "ssd";
	c.warmup_ns = SEC / 2;
	c.length_ns = 3 * SEC;
	writeback(sequential(1));
	writeback(sequential(4));
	log_writer(7)->think_ns = 5 * MS;
	run();
	ck_assert_uint_gt(megabytes(0) + megabytes(1), 180); /* noop: 279 */
	ck_assert_uint_lt(row(2)->total.p99, 8 * MS);	     /* noop: 58 */
}
END_TEST

START_TEST(flash_is_not_slowed_down)
{
	uint64_t noop;
	unsigned i;

	c.device = "fixed";
	c.device_text = "channels = 8\nlatency = 100us\nrate = 500MB/s\n";
	c.length_ns = 3 * SEC;
	for (i = 0; i < 4; i++)
		scattered(8);
	c.policy = iosched_policy_find("noop");
	run();
	noop = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS)->requests;
	c.policy = iosched_policy_find("fair-deadline");
	run();
	ck_assert_uint_ge(
		iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS)->requests,
		noop * 97 / 100);
	for (i = 0; i < 4; i++)
		assert_share(i, 250, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fair-deadline shares");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, streams_share_by_weight, 0, 4);
	tcase_add_loop_test(t, a_stream_and_a_random_reader_share_by_weight, 0, 4);
	tcase_add_loop_test(t, random_readers_share_by_weight, 0, 4);
	tcase_add_test(t, random_readers_of_different_places_have_half_each);
	tcase_add_test(t, four_streams_have_a_quarter_each);
	tcase_add_loop_test(t, a_reader_and_scattered_writeback_have_half_each, 0, 2);
	tcase_add_loop_test(t, a_reader_and_streaming_writeback_share_by_weight, 0, 8);
	tcase_add_loop_test(t, cooperators_have_a_share_each, 0, 3);
	tcase_add_test(t, four_readers_and_streaming_writeback_have_a_fifth_each);
	tcase_add_test(t, a_log_does_not_cost_the_writer_its_share);
	tcase_add_loop_test(t, a_stream_and_a_deep_reader_of_another_place_share_by_weight, 0, 4);
	tcase_add_loop_test(t, a_stream_and_scattered_writeback_elsewhere_share_by_weight, 0, 4);
	tcase_add_test(t, depth_does_not_buy_a_share);
	tcase_add_test(t, a_deep_reader_among_sixteen_shallow_ones_has_a_seventeenth);
	tcase_add_test(t, a_tenant_with_64_contexts_has_no_more_than_one_with_one);
	tcase_add_loop_test(t, a_tenant_with_64_writers_is_rescued_as_one, 0, 2);
	tcase_add_loop_test(t, an_fsync_writer_waits_milliseconds_among_all_loads, 0, 2);
	tcase_add_test(t, waits_end_with_the_deadline_in_a_mix_of_sixteen);
	tcase_add_test(t, real_time_beside_others_and_idle_without_them);
	tcase_add_loop_test(t, the_idle_class_uses_long_pauses_and_does_not_fill_the_drive, 0, 2);
	tcase_add_loop_test(t, a_wrong_model_of_an_array_costs_readers_no_more_than_their_half, 0,
			    2);
	tcase_add_test(t, writeback_on_flash_does_not_come_in_bursts);
	tcase_add_test(t, writeback_on_flash_beside_a_log_keeps_the_channels_busy);
	tcase_add_test(t, flash_is_not_slowed_down);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
