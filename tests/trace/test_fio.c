/* SPDX-License-Identifier: MIT */
/* fio's iolog, read. */
#include "support.h"

#define V2 "fio version 2 iolog\n"
#define V3 "fio version 3 iolog\n"
#define OPEN2 V2 "/a add\n/a open\n"
#define OPEN3 V3 "1 /a add\n2 /a open\n"

START_TEST(version_2_has_actions_and_waits)
{
	struct iosched_trace *t = open_text(OPEN2 "/a read 512 4096\n/a wait 1500 0\n/a sync\n"
						  "/a datasync 0 0\n/a wait 250\n/b add\n/b open\n"
						  "/b trim 0 2147483648\n/a close\n/b close",
					    0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 0, IOSCHED_READ, 512, 4096);
	ck_assert_str_eq(rec.file, "/a");
	ck_assert_uint_eq(rec.context, 1);
	rec = next_record(t);
	is_request(&rec, 1500000, IOSCHED_FLUSH, 0, 0);
	rec = next_record(t);
	is_request(&rec, 1500000, IOSCHED_FLUSH, 0, 0);
	rec = next_record(t);
	is_request(&rec, 1750000, IOSCHED_DISCARD, 0, 2147483648u);
	ck_assert_str_eq(rec.file, "/b");
	ck_assert_uint_eq(rec.device, 1);
	ck_assert(!iosched_trace_timed(t));
	ck_assert_uint_eq(stats_of(t).ignored, 9);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(waits_can_be_milliseconds_since_the_start)
{
	static const char text[] = OPEN2 "/a wait 3 0\n/a read 0 1\n/a wait 5 0\n/a read 0 1\n";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_FIO_V2);
	struct iosched_trace *t;

	o.wait = IOSCHED_TRACE_WAIT_START_MS;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).time, 3000000);
	ck_assert_uint_eq(next_record(t).time, 5000000);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(version_3_has_microseconds)
{
	struct iosched_trace *t = open_text(OPEN3 "10 /a write 0 4096\n11 /a sync\n", 0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 10000, IOSCHED_WRITE, 0, 4096);
	ck_assert_uint_eq(next_record(t).time, 11000);
	ck_assert(iosched_trace_timed(t));
	ends_with(t, 0, "");
}
END_TEST

START_TEST(version_1_must_be_asked_for)
{
	struct iosched_trace *t = open_text("0, 4096, 512\n1,0,4096\n", IOSCHED_TRACE_FIO_V1);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 0, IOSCHED_READ, 4096, 512);
	rec = next_record(t);
	is_request(&rec, 0, IOSCHED_WRITE, 0, 4096);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(lengths_fio_would_cut_are_counted)
{
	struct iosched_trace *t =
		open_text(OPEN2 "/a trim 0 4294967295\n/a trim 0 4294967296\n", 0);

	next_record(t);
	ck_assert_uint_eq(next_record(t).length, 4294967296u);
	ck_assert_uint_eq(stats_of(t).oversized, 1);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(files_must_be_added_and_open)
{
	refuses(IOSCHED_TRACE_FIO_V2, V2 "/a open\n",
		"t:2: file: \"/a\" is opened and was not added");
	refuses(IOSCHED_TRACE_FIO_V2, V2 "/a add\n/a read 0 1\n", "t:3: file: \"/a\" is not open");
	refuses(IOSCHED_TRACE_FIO_V2, OPEN2 "/a close\n/a read 0 1\n",
		"t:5: file: \"/a\" is not open");
}
END_TEST

START_TEST(wrong_lines_are_named)
{
	refuses(IOSCHED_TRACE_FIO_V2, "/a add\n",
		"t:1: the first line is not \"fio version 2 iolog\"");
	refuses(IOSCHED_TRACE_FIO_V3, V2, "t:1: the first line is not \"fio version 3 iolog\"");
	refuses(IOSCHED_TRACE_FIO_V2, V2 "/a\n", "t:2: action is missing");
	refuses(IOSCHED_TRACE_FIO_V2, OPEN2 "/a erase 0 1\n",
		"t:4: action: \"erase\" is unknown in this version");
	refuses(IOSCHED_TRACE_FIO_V2, OPEN2 "/a read 0\n", "t:4: length is missing");
	refuses(IOSCHED_TRACE_FIO_V2, OPEN2 "/a wait x 0\n", "t:4: wait: \"x\" is not a number");
	refuses(IOSCHED_TRACE_FIO_V2, OPEN2 "/a wait 18446744073709551615 0\n",
		"t:4: time: \"18446744073709551615\" is too large");
	refuses(IOSCHED_TRACE_FIO_V3, OPEN3 "3 /a wait 5 0\n",
		"t:4: action: \"wait\" is unknown in this version");
	refuses(IOSCHED_TRACE_FIO_V3, OPEN3 "18446744073709551615 /a sync\n",
		"t:4: time: \"18446744073709551615\" is too large");
	refuses(IOSCHED_TRACE_FIO_V1, "2, 0, 1\n", "t:1: rw: \"2\" is neither 0 nor 1");
}
END_TEST

RUN("fio", version_2_has_actions_and_waits, waits_can_be_milliseconds_since_the_start,
    version_3_has_microseconds, version_1_must_be_asked_for, lengths_fio_would_cut_are_counted,
    files_must_be_added_and_open, wrong_lines_are_named)
