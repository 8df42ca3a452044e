/* SPDX-License-Identifier: MIT */
/* Lines, words and numbers of text traces. */
#include "support.h"

#include "trace/text.h"

static uint64_t decimal(const char *text, unsigned scale)
{
	uint64_t value;

	ck_assert_int_eq(ios_number_decimal(ios_span_of(text), scale, &value), 0);
	return value;
}

START_TEST(decimal_seconds_become_nanoseconds_exactly)
{
	ck_assert_uint_eq(decimal("0.000000001", 9), 1);
	ck_assert_uint_eq(decimal("5982800.302061", 9), 5982800302061000u);
	ck_assert_uint_eq(decimal("12", 9), 12000000000u);
	ck_assert_uint_eq(decimal(".5", 3), 500);
	ck_assert_uint_eq(decimal("5.", 3), 5000);
	ck_assert_uint_eq(decimal("18446744073.709551615", 9), UINT64_MAX);
}
END_TEST

START_TEST(digits_below_a_nanosecond_are_cut)
{
	ck_assert_uint_eq(decimal("1.9999999999999", 9), 1999999999);
}
END_TEST

START_TEST(what_is_not_a_decimal_is_refused)
{
	static const char *const bad[] = {"", ".", "-1", "+1", "1e3", "1.2.3", "1,5", "0x1", " 1"};
	uint64_t value = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(ios_number_decimal(ios_span_of(bad[i]), 9, &value) == -EINVAL, "%s",
			      bad[i]);
	ck_assert_int_eq(ios_number_decimal(ios_span_of("18446744073.709551616"), 9, &value),
			 -ERANGE);
	ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(whole_numbers_reach_64_bits_and_no_further)
{
	uint64_t value;

	ck_assert_int_eq(ios_number_u64(ios_span_of("18446744073709551615"), &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(ios_number_u64(ios_span_of("18446744073709551616"), &value), -ERANGE);
	ck_assert_int_eq(ios_number_u64(ios_span_of("99999999999999999999x"), &value), -EINVAL);
	ck_assert_int_eq(ios_number_hex(ios_span_of("0xFfffffffffffffff"), &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(ios_number_hex(ios_span_of("10000000000000000"), &value), -ERANGE);
	ck_assert_int_eq(ios_number_hex(ios_span_of("0x"), &value), -EINVAL);
}
END_TEST

START_TEST(device_numbers_are_major_and_minor)
{
	uint32_t device;

	ck_assert_int_eq(ios_number_device(ios_span_of("8,52"), &device), 0);
	ck_assert_uint_eq(device, 0x00800034);
	ck_assert_int_eq(ios_number_device(ios_span_of("8"), &device), -EINVAL);
	ck_assert_int_eq(ios_number_device(ios_span_of("4096,0"), &device), -ERANGE);
	ck_assert_int_eq(ios_number_device(ios_span_of("1,1048576"), &device), -ERANGE);
}
END_TEST

START_TEST(words_come_from_both_ends)
{
	struct ios_span text = ios_span_of("  a \t bc  d "), word;

	ck_assert(ios_text_word(&text, &word) && ios_span_is(word, "a"));
	ck_assert(ios_text_last_word(&text, &word) && ios_span_is(word, "d"));
	ck_assert(ios_text_last_word(&text, &word) && ios_span_is(word, "bc"));
	ck_assert(!ios_text_last_word(&text, &word));
	ck_assert(!ios_text_word(&text, &word));
}
END_TEST

START_TEST(comma_fields_are_trimmed_and_may_be_empty)
{
	struct ios_span text = ios_span_of(" 1 ,, x y\t,"), field;

	ck_assert(ios_text_comma(&text, &field) && ios_span_is(field, "1"));
	ck_assert(ios_text_comma(&text, &field) && ios_span_empty(field));
	ck_assert(ios_text_comma(&text, &field) && ios_span_is(field, "x y"));
	ck_assert(!ios_text_comma(&text, &field));
}
END_TEST

static struct ios_trace_input input_of(struct feed *feed)
{
	struct ios_trace_input in;

	ck_assert_int_eq(ios_trace_input_init(&in, "t", feed_read, feed), 0);
	return in;
}

START_TEST(lines_end_in_lf_or_crlf_or_with_the_file)
{
	struct feed feed = {.bytes = "one\r\n\ntwo\r\r\nlast", .size = 16, .chunk = 1};
	struct ios_trace_input in = input_of(&feed);
	struct ios_span line;
	const char *why;

	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_is(line, "one"));
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_empty(line));
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_is(line, "two\r"));
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_is(line, "last"));
	ck_assert_uint_eq(in.position, 4);
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 0);
	ios_trace_input_fini(&in);
}
END_TEST

/* @n letters, a line end, "ok". */
static int long_line(size_t n, size_t chunk, uint64_t *taken)
{
	char *text = malloc(n + 3);
	struct feed feed = {.bytes = text, .size = n + 3, .chunk = chunk};
	struct ios_trace_input in = input_of(&feed);
	struct ios_span line;
	const char *why;
	int got;

	memset(text, 'x', n);
	memcpy(text + n, "\nok", 3);
	got = ios_trace_line(&in, &line, &why);
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_is(line, "ok"));
	ck_assert_uint_eq(in.position, 2);
	*taken = ios_trace_input_bytes(&in);
	ios_trace_input_fini(&in);
	free(text);
	return got;
}

START_TEST(a_line_too_long_is_passed_over_as_one)
{
	uint64_t taken;

	ck_assert_int_eq(long_line(65535, 0, &taken), 1);
	ck_assert_int_eq(long_line(65535, 1000, &taken), 1);
	ck_assert_int_eq(long_line(65536, 0, &taken), -EBADMSG);
	ck_assert_int_eq(long_line(1 << 20, 0, &taken), -EBADMSG);
	ck_assert_uint_eq(taken, (1 << 20) + 3);
	ck_assert_int_eq(long_line(1 << 20, 4096, &taken), -EBADMSG);
	ck_assert_uint_eq(taken, (1 << 20) + 3);
}
END_TEST

START_TEST(a_line_with_a_nul_is_refused)
{
	struct feed feed = {.bytes = "a\0b\nok\n", .size = 7};
	struct ios_trace_input in = input_of(&feed);
	struct ios_span line;
	const char *why;

	ck_assert_int_eq(ios_trace_line(&in, &line, &why), -EBADMSG);
	ck_assert_str_eq(why, "the line has a NUL byte in it");
	ck_assert_int_eq(ios_trace_line(&in, &line, &why), 1);
	ck_assert(ios_span_is(line, "ok"));
	ios_trace_input_fini(&in);
}
END_TEST

RUN("text", decimal_seconds_become_nanoseconds_exactly, digits_below_a_nanosecond_are_cut,
    what_is_not_a_decimal_is_refused, whole_numbers_reach_64_bits_and_no_further,
    device_numbers_are_major_and_minor, words_come_from_both_ends,
    comma_fields_are_trimmed_and_may_be_empty, lines_end_in_lf_or_crlf_or_with_the_file,
    a_line_too_long_is_passed_over_as_one, a_line_with_a_nul_is_refused)
