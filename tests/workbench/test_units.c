/* SPDX-License-Identifier: MIT */
/* Numbers with units, as the workbench reads and prints them. */
#include <check.h>
#include <stdlib.h>

/* The program is no library: its file is compiled into this test. */
#include "workbench/units.h"

static uint64_t value_of(const char *text, enum iosched_unit unit)
{
	uint64_t n = 0;

	ck_assert_msg(wb_parse_value(text, unit, &n), "\"%s\" is refused", text);
	return n;
}

static void refuses(const char *text, enum iosched_unit unit)
{
	uint64_t n;

	ck_assert_msg(!wb_parse_value(text, unit, &n), "\"%s\" is taken", text);
}

START_TEST(a_plain_number_is_in_the_unit_itself)
{
	ck_assert_uint_eq(value_of("6", IOSCHED_UNIT_NS), 6);
	ck_assert_uint_eq(value_of("18446744073709551615", IOSCHED_UNIT_NONE), UINT64_MAX);
	ck_assert_uint_eq(value_of("1", IOSCHED_UNIT_BOOL), 1);
}
END_TEST

START_TEST(suffixes_multiply_also_fractions)
{
	ck_assert_uint_eq(value_of("6ms", IOSCHED_UNIT_NS), 6000000);
	ck_assert_uint_eq(value_of("1.5s", IOSCHED_UNIT_NS), 1500000000);
	ck_assert_uint_eq(value_of("0.25 us", IOSCHED_UNIT_NS), 250);
	ck_assert_uint_eq(value_of("64KiB", IOSCHED_UNIT_BYTES), 65536);
	ck_assert_uint_eq(value_of("1.5KiB", IOSCHED_UNIT_BYTES), 1536);
	ck_assert_uint_eq(value_of("1.5GiB", IOSCHED_UNIT_BYTES), UINT64_C(3) << 29);
	ck_assert_uint_eq(value_of("on", IOSCHED_UNIT_BOOL), 1);
	ck_assert_uint_eq(value_of("off", IOSCHED_UNIT_BOOL), 0);
}
END_TEST

START_TEST(what_is_no_value_is_refused)
{
	refuses("", IOSCHED_UNIT_NS);
	refuses("-1", IOSCHED_UNIT_NS);
	refuses("6KiB", IOSCHED_UNIT_NS);
	refuses("6ms", IOSCHED_UNIT_NONE);
	refuses("1.", IOSCHED_UNIT_NS);
	refuses("1.5", IOSCHED_UNIT_NS);
	refuses("1.2345ms", IOSCHED_UNIT_NS);
	refuses("1.99999999999999999999ms", IOSCHED_UNIT_NS);
	refuses("1ms ", IOSCHED_UNIT_NS);
	refuses("18446744073709551616", IOSCHED_UNIT_NONE);
	refuses("18446744074s", IOSCHED_UNIT_NS);
	refuses("16777216TiB", IOSCHED_UNIT_BYTES);
	refuses("yes", IOSCHED_UNIT_BOOL);
}
END_TEST

START_TEST(factors_have_three_decimals)
{
	uint64_t n;

	ck_assert(wb_parse_permille("0.25", &n));
	ck_assert_uint_eq(n, 250);
	ck_assert(wb_parse_permille("2", &n));
	ck_assert_uint_eq(n, 2000);
	ck_assert(!wb_parse_permille("0.0001", &n));
	ck_assert(!wb_parse_permille("1x", &n));
	ck_assert(!wb_parse_permille("18446744073709551", &n) || n % 1000 == 0);
	ck_assert(!wb_parse_permille("18446744073709552", &n));
}
END_TEST

START_TEST(values_are_printed_exactly_in_the_largest_unit)
{
	char text[WB_TEXT_SIZE];

	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_NS, 6000000), "6 ms");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_NS, 6000001), "6000001 ns");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_BYTES, 524288), "512 KiB");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_NONE, 16), "16");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_NS, 0), "0");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_BOOL, 1), "on");
	ck_assert_str_eq(wb_value_text(text, IOSCHED_UNIT_NS, UINT64_MAX), "no limit");
}
END_TEST

START_TEST(measures_are_printed_with_three_digits)
{
	char text[WB_TEXT_SIZE];

	ck_assert_str_eq(wb_ms_text(text, 123456), "0.123");
	ck_assert_str_eq(wb_ms_text(text, 999600), "1.00");
	ck_assert_str_eq(wb_ms_text(text, 9994000), "9.99");
	ck_assert_str_eq(wb_ms_text(text, 9996000), "10.0");
	ck_assert_str_eq(wb_ms_text(text, 99960000), "100");
	ck_assert_str_eq(wb_ms_text(text, 3834000000), "3834");
	ck_assert_str_eq(wb_ms_text(text, 0), "0");
	ck_assert_str_eq(wb_size_text(text, 512), "512 B");
	ck_assert_str_eq(wb_size_text(text, 16384), "16 KiB");
	ck_assert_str_eq(wb_size_text(text, 1536), "1.5 KiB");
	ck_assert_str_eq(wb_size_text(text, UINT64_C(3) << 29), "1.5 GiB");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("workbench units");
	TCase *c = tcase_create("units");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(c, a_plain_number_is_in_the_unit_itself);
	tcase_add_test(c, suffixes_multiply_also_fractions);
	tcase_add_test(c, what_is_no_value_is_refused);
	tcase_add_test(c, factors_have_three_decimals);
	tcase_add_test(c, values_are_printed_exactly_in_the_largest_unit);
	tcase_add_test(c, measures_are_printed_with_three_digits);
	suite_add_tcase(suite, c);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
