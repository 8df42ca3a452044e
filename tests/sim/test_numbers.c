/* SPDX-License-Identifier: MIT */
/* arith, rng, histogram, map, ledger, digest: the small parts. */
#include <math.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/digest.h"
#include "sim/histogram.h"
#include "sim/ledger.h"
#include "sim/map.h"
#include "sim/rng.h"
#include "support.h"

START_TEST(muldiv_is_exact_beyond_64_bits)
{
	ck_assert_uint_eq(ios_sim_muldiv(7, 6, 4), 10);
	ck_assert_uint_eq(ios_sim_muldiv(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(ios_sim_muldiv(UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 60),
			  UINT64_C(1) << 20);
}
END_TEST

START_TEST(isqrt_is_the_floor_of_the_root)
{
	for (uint64_t r = 0; r < 2000; r++) {
		ck_assert_uint_eq(ios_sim_isqrt(r * r), r);
		ck_assert_uint_eq(ios_sim_isqrt(r * r + 2 * r), r);
	}
	ck_assert_uint_eq(ios_sim_isqrt(UINT64_MAX), UINT32_MAX);
}
END_TEST

START_TEST(generators_of_one_seed_agree_and_of_two_streams_do_not)
{
	struct ios_sim_rng a, b, c;
	unsigned same = 0;

	ios_sim_rng_init(&a, 1, 0);
	ios_sim_rng_init(&b, 1, 0);
	ios_sim_rng_init(&c, 1, 1);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t x = ios_sim_rng_next(&a);

		ck_assert_uint_eq(x, ios_sim_rng_next(&b));
		same += x == ios_sim_rng_next(&c);
	}
	ck_assert_uint_eq(same, 0);
}
END_TEST

START_TEST(seed_zero_works)
{
	struct ios_sim_rng r;

	ios_sim_rng_init(&r, 0, 0);
	ck_assert_uint_ne(ios_sim_rng_next(&r), ios_sim_rng_next(&r));
}
END_TEST

START_TEST(below_covers_its_range_evenly)
{
	struct ios_sim_rng r;
	unsigned hits[10] = {0};

	ios_sim_rng_init(&r, 3, 0);
	for (unsigned i = 0; i < 100000; i++)
		hits[ios_sim_rng_below(&r, 10)]++;
	/* 10000 each, standard deviation 95: five of those. */
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_lt(abs((int)hits[i] - 10000), 475);
}
END_TEST

START_TEST(exponential_has_its_mean_median_and_tail)
{
	enum { N = 200000, MEAN = 1000000 };
	struct ios_sim_rng r;
	double sum = 0;
	unsigned below_median = 0;
	unsigned beyond_five = 0;

	ios_sim_rng_init(&r, 5, 0);
	for (unsigned i = 0; i < N; i++) {
		uint64_t x = ios_sim_rng_exponential(&r, MEAN);

		sum += (double)x;
		below_median += (double)x < log(2) * MEAN;
		beyond_five += x > UINT64_C(5) * MEAN;
	}
	ck_assert_double_eq_tol(sum / N, MEAN, 0.01 * MEAN);
	ck_assert_double_eq_tol((double)below_median / N, 0.5, 0.006);
	ck_assert_double_eq_tol((double)beyond_five / N, exp(-5), 0.001);
	ck_assert_uint_eq(ios_sim_rng_exponential(&r, 0), 0);
}
END_TEST

START_TEST(bucket_edges_enclose_their_values_within_a_32nd)
{
	for (uint64_t v = 1; v < (UINT64_C(1) << 41); v = v + v / 37 + 1) {
		unsigned b = ios_sim_bucket_of(v);
		uint64_t edge = ios_sim_bucket_edge(b);

		ck_assert_uint_ge(edge, v);
		ck_assert_uint_le(edge - v, v / 32);
		ck_assert_uint_lt(ios_sim_bucket_edge(b - 1), v);
	}
	ck_assert_uint_eq(ios_sim_bucket_of(UINT64_MAX), IOS_SIM_BUCKETS - 1);
}
END_TEST

START_TEST(bucket_edges_are_those_of_the_queue_s_own_histograms)
{
	for (unsigned i = 0; i < IOS_SIM_BUCKETS - 1; i++)
		ck_assert_uint_eq(ios_sim_bucket_edge(i), iosched_histogram_edge(i));
}
END_TEST

START_TEST(quantiles_are_of_the_sorted_values)
{
	static struct ios_sim_histogram h;

	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 5000), 0);
	for (uint64_t v = 1; v <= 60; v++)
		ios_sim_histogram_add(&h, v);
	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 5000), 30);
	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 9000), 54);
	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 10000), 60);
	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 0), 1);
	ios_sim_histogram_add(&h, 1000003);
	ck_assert_uint_eq(ios_sim_histogram_quantile(&h, 10000), 1000003);
}
END_TEST

START_TEST(joined_histograms_count_as_one)
{
	static struct ios_sim_histogram a, b, both;

	for (uint64_t v = 1; v < 100000; v = v * 3 / 2 + 1) {
		ios_sim_histogram_add(v % 2 ? &a : &b, v);
		ios_sim_histogram_add(&both, v);
	}
	ios_sim_histogram_join(&a, &b);
	ck_assert_mem_eq(&a, &both, sizeof(a));
}
END_TEST

START_TEST(a_map_numbers_keys_in_order_of_first_use)
{
	struct ios_sim_map m;

	ios_sim_map_init(&m);
	ck_assert_uint_eq(ios_sim_map_find(&m, 5), IOS_SIM_MAP_NONE);
	for (uint32_t i = 0; i < 5000; i++)
		ck_assert_uint_eq(ios_sim_map_get(&m, (uint64_t)i << 40 | 7), i);
	for (uint32_t i = 0; i < 5000; i++)
		ck_assert_uint_eq(ios_sim_map_get(&m, (uint64_t)i << 40 | 7), i);
	ck_assert_uint_eq(ios_sim_map_find(&m, 7), 0);
	ck_assert_uint_eq(ios_sim_map_find(&m, 8), IOS_SIM_MAP_NONE);
	ck_assert_uint_eq(m.count, 5000);
	ios_sim_map_fini(&m);
}
END_TEST

START_TEST(the_ledger_splits_by_bytes_and_loses_no_nanosecond)
{
	struct ios_sim_piece c = {200, 100, 30, NULL};
	struct ios_sim_piece b = {100, 100, 20, &c};
	struct ios_sim_piece a = {0, 100, 10, &b};
	struct ios_sim_ledger l;

	ios_sim_ledger_init(&l);
	ios_sim_ledger_book_extent(&l, &a, 0, 300, 1000);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 10), 333);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 20), 333);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 30), 334);
	ck_assert_uint_eq(l.total, 1000);
	/* a part of the command: half of b and all of c */
	ios_sim_ledger_reset(&l);
	ios_sim_ledger_book_extent(&l, &a, 150, 150, 300);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 10), 0);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 20), 100);
	ck_assert_uint_eq(ios_sim_ledger_of(&l, 30), 200);
	l.closed = true;
	ios_sim_ledger_book(&l, 30, 5);
	ck_assert_uint_eq(l.total, 300);
	ios_sim_ledger_fini(&l);
}
END_TEST

START_TEST(a_digest_depends_on_every_word_and_on_their_order)
{
	uint64_t a = ios_sim_digest_add(ios_sim_digest_add(IOS_SIM_DIGEST_START, 1), 2);
	uint64_t b = ios_sim_digest_add(ios_sim_digest_add(IOS_SIM_DIGEST_START, 2), 1);
	uint64_t c = ios_sim_digest_add(IOS_SIM_DIGEST_START, 1);

	ck_assert_uint_ne(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert_uint_ne(ios_sim_digest_add(a, 0), a);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim numbers");
	TCase *t = tcase_create("numbers");

	tcase_add_test(t, muldiv_is_exact_beyond_64_bits);
	tcase_add_test(t, isqrt_is_the_floor_of_the_root);
	tcase_add_test(t, generators_of_one_seed_agree_and_of_two_streams_do_not);
	tcase_add_test(t, seed_zero_works);
	tcase_add_test(t, below_covers_its_range_evenly);
	tcase_add_test(t, exponential_has_its_mean_median_and_tail);
	tcase_add_test(t, bucket_edges_enclose_their_values_within_a_32nd);
	tcase_add_test(t, bucket_edges_are_those_of_the_queue_s_own_histograms);
	tcase_add_test(t, quantiles_are_of_the_sorted_values);
	tcase_add_test(t, joined_histograms_count_as_one);
	tcase_add_test(t, a_map_numbers_keys_in_order_of_first_use);
	tcase_add_test(t, the_ledger_splits_by_bytes_and_loses_no_nanosecond);
	tcase_add_test(t, a_digest_depends_on_every_word_and_on_their_order);
	suite_add_tcase(s, t);
	return run_suite(s);
}
