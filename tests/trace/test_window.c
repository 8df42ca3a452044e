/* SPDX-License-Identifier: MIT */
/* The window that sorts, and the table of names. */
#include "support.h"

#include "trace/names.h"
#include "trace/window.h"

static void push(struct ios_trace_window *w, iosched_time time, uint64_t position)
{
	struct iosched_trace_record *rec = ios_trace_window_slot(w);

	memset(rec, 0, sizeof(*rec));
	rec->time = time;
	rec->position = position;
	ios_trace_window_push(w);
}

START_TEST(records_leave_in_order_of_time_and_equal_ones_in_order_of_arrival)
{
	static const iosched_time times[] = {5, 3, 5, 1, 3, 9, 0, 5};
	static const uint64_t order[] = {6, 3, 1, 4, 0, 2, 7, 5};
	struct ios_trace_window w;

	ck_assert_int_eq(ios_trace_window_init(&w, 8), 0);
	for (uint64_t i = 0; i < 8; i++)
		push(&w, times[i], i);
	for (int i = 0; i < 8; i++)
		ck_assert_uint_eq(ios_trace_window_take(&w)->position, order[i]);
	ck_assert_ptr_null(ios_trace_window_take(&w));
	ios_trace_window_fini(&w);
}
END_TEST

START_TEST(any_shuffle_within_the_window_is_sorted)
{
	struct ios_trace_window w;
	uint64_t seed = 1;
	iosched_time last = 0;
	uint32_t taken = 0;

	/* Each time is at most 30 places from where it belongs. */
	ck_assert_int_eq(ios_trace_window_init(&w, 64), 0);
	for (uint64_t i = 0; i < 10000; i++) {
		const struct iosched_trace_record *rec;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		push(&w, i * 10 + (seed >> 33) % 300, i);
		if (w.count < w.capacity)
			continue;
		rec = ios_trace_window_take(&w);
		ck_assert_uint_ge(rec->time, last);
		last = rec->time;
		taken++;
	}
	ck_assert_uint_eq(taken + w.count, 10000);
	ios_trace_window_fini(&w);
}
END_TEST

START_TEST(a_window_of_one_keeps_the_order_of_the_file)
{
	struct ios_trace_window w;

	ck_assert_int_eq(ios_trace_window_init(&w, 1), 0);
	for (uint64_t i = 0; i < 5; i++) {
		push(&w, 100 - i, i);
		ck_assert_uint_eq(ios_trace_window_take(&w)->position, i);
	}
	ios_trace_window_fini(&w);
}
END_TEST

START_TEST(a_name_is_kept_once)
{
	struct ios_trace_names names = {0};
	uint32_t a, b, c;

	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of("/a"), &a), 0);
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of("/b"), &b), 0);
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of("/a"), &c), 0);
	ck_assert_uint_eq(a, c);
	ck_assert_uint_ne(a, b);
	ck_assert_str_eq(names.list[b].text, "/b");
	ios_trace_names_fini(&names);
}
END_TEST

START_TEST(the_table_of_names_is_bounded)
{
	struct ios_trace_names names = {0};
	char text[300];
	uint32_t index;

	for (uint32_t i = 0; i < IOS_TRACE_NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "f%u", i);
		ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of(text), &index), 0);
		ck_assert_uint_eq(index, i);
	}
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of("one more"), &index), -E2BIG);
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of("f65535"), &index), 0);
	ck_assert_uint_eq(index, 65535);
	memset(text, 'x', 256);
	text[256] = '\0';
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of(text), &index), -EINVAL);
	ck_assert_int_eq(ios_trace_names_get(&names, ios_span_of(""), &index), -EINVAL);
	ios_trace_names_fini(&names);
}
END_TEST

RUN("window", records_leave_in_order_of_time_and_equal_ones_in_order_of_arrival,
    any_shuffle_within_the_window_is_sorted, a_window_of_one_keeps_the_order_of_the_file,
    a_name_is_kept_once, the_table_of_names_is_bounded)
