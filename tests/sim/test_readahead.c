/* SPDX-License-Identifier: MIT */
/* Read-ahead: which window is read when. Pages of 4 KiB, windows of 32 at most. */
#include "sim/readahead.h"

#include "support.h"

#define MAX 32

static struct ios_sim_readahead ra;

static void setup(void)
{
	ra = (struct ios_sim_readahead){0};
}

static struct ios_sim_window missing(uint64_t at, uint64_t want)
{
	return ios_sim_readahead_missing(&ra, at, want, MAX);
}

static struct ios_sim_window marked(uint64_t at, uint64_t want, uint64_t hole)
{
	return ios_sim_readahead_marked(&ra, at, want, MAX, hole);
}

#define ck_window(w, first_, pages_, mark_)           \
	do {                                          \
		struct ios_sim_window got = (w);      \
		ck_assert_uint_eq(got.first, first_); \
		ck_assert_uint_eq(got.pages, pages_); \
		ck_assert_uint_eq(got.mark, mark_);   \
	} while (0)

START_TEST(a_small_first_read_is_made_four_times_as_large)
{
	ck_window(missing(0, 1), 0, 4, 1);
}
END_TEST

START_TEST(a_middling_first_read_is_doubled)
{
	ck_window(missing(0, 4), 0, 8, 4);
}
END_TEST

START_TEST(a_read_larger_than_the_window_fills_it_and_is_marked_at_its_start)
{
	ck_window(missing(0, 100), 0, 32, 0);
}
END_TEST

START_TEST(windows_double_up_to_the_largest)
{
	missing(0, 4);
	ck_window(marked(4, 4, 8), 8, 16, 8);
	ck_window(marked(8, 4, 24), 24, 32, 24);
	ck_window(marked(24, 4, 56), 56, 32, 56);
}
END_TEST

START_TEST(a_read_elsewhere_is_random_and_reads_itself_only)
{
	missing(0, 4);
	ra.previous = 3;
	ck_window(missing(1000, 2), 1000, 2, UINT64_MAX);
	ck_window(marked(4, 4, 8), 8, 16, 8); /* the state was left alone */
}
END_TEST

START_TEST(a_read_right_behind_the_last_one_is_sequential_wherever_that_was)
{
	ra.previous = 999;
	ck_window(missing(1000, 4), 1000, 8, 1004);
}
END_TEST

START_TEST(a_mark_out_of_place_reads_on_from_the_next_hole)
{
	ck_window(marked(100, 4, 110), 110, 28, 110);
}
END_TEST

START_TEST(a_mark_with_no_hole_near_reads_nothing)
{
	ck_window(marked(100, 4, 133), 100, 0, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("readahead");
	TCase *t = tcase_create("windows");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_small_first_read_is_made_four_times_as_large);
	tcase_add_test(t, a_middling_first_read_is_doubled);
	tcase_add_test(t, a_read_larger_than_the_window_fills_it_and_is_marked_at_its_start);
	tcase_add_test(t, windows_double_up_to_the_largest);
	tcase_add_test(t, a_read_elsewhere_is_random_and_reads_itself_only);
	tcase_add_test(t, a_read_right_behind_the_last_one_is_sequential_wherever_that_was);
	tcase_add_test(t, a_mark_out_of_place_reads_on_from_the_next_hole);
	tcase_add_test(t, a_mark_with_no_hole_near_reads_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
