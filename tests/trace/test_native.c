/* SPDX-License-Identifier: MIT */
/* Our own text. */
#include "support.h"

#define N "# iosched-trace 1\n"

START_TEST(six_columns_make_a_request)
{
	struct iosched_trace *t = open_text(N "1500 9 D SMIFHNAPB 4096 512\n", 0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 1500, IOSCHED_DISCARD, 4096, 512);
	ck_assert_uint_eq(rec.context, 9);
	ck_assert_uint_eq(rec.flags, IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_NOIDLE |
					     IOSCHED_RQ_FUA | IOSCHED_RQ_HEAD | IOSCHED_RQ_NOMERGE |
					     IOSCHED_TRACE_READAHEAD | IOSCHED_TRACE_PREFLUSH |
					     IOSCHED_TRACE_BARRIER);
	ck_assert_uint_eq(rec.position, 2);
	ck_assert(iosched_trace_timed(t));
	ends_with(t, 0, "");
}
END_TEST

START_TEST(further_columns_are_optional)
{
	struct iosched_trace *t = open_text(
		N "1 1 R - 0 1 idle.7 dev=8388660 event=D lat=9 cpu=3 err=-5 proc=a%20b file=x%25 "
		  "new=thing\n2 1 N C 0 1 be.- err=5\n",
		0);
	struct iosched_trace_record rec = next_record(t);

	ck_assert_uint_eq(rec.prio_class, IOSCHED_IDLE);
	ck_assert_uint_eq(rec.prio_level, 8);
	ck_assert_uint_eq(rec.device, 8388660);
	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_ISSUE);
	ck_assert_uint_eq(rec.latency, 9);
	ck_assert_uint_eq(rec.cpu, 3);
	ck_assert_int_eq(rec.error, -5);
	ck_assert_str_eq(rec.process, "a b");
	ck_assert_str_eq(rec.file, "x%");
	rec = next_record(t);
	ck_assert_uint_eq(rec.op, IOSCHED_TRACE_OP_NONE);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_PASSTHROUGH);
	ck_assert_int_eq(rec.error, 5);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(wrong_lines_are_named)
{
	refuses(IOSCHED_TRACE_NATIVE, "1 1 R - 0 1\n",
		"t:1: no \"# iosched-trace 1\" before the first request");
	refuses(IOSCHED_TRACE_NATIVE, N "x 1 R - 0 1\n", "t:2: time: \"x\" is not a number");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1\n", "t:2: op is missing");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 X - 0 1\n", "t:2: op: \"X\" is none of R, W, F, D, N");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R x 0 1\n", "t:2: flags: \"x\" has an unknown letter");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 0\n", "t:2: length is missing");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 18446744073709551615 1\n",
		"t:2: offset + length is over 64 bits");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 0 1 rt.8\n",
		"t:2: priority: \"rt.8\" is not be, rt or idle, a point, and 0..7 or -");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 0 1 event=Z\n", "t:2: event: \"Z\" is unknown");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 0 1 proc=%0\n",
		"t:2: name: \"%0\" is too long or has a wrong %XX");
	refuses(IOSCHED_TRACE_NATIVE, N "1 1 R - 0 1 err=-2147483648\n",
		"t:2: err: \"2147483648\" is too large");
}
END_TEST

START_TEST(another_version_is_refused)
{
	struct iosched_trace *t = open_text("# iosched-trace 2\n1 1 R - 0 1\n", 0);

	ends_with(t, -ENOTSUP, "t:1: only version 1 of iosched-trace can be read");
}
END_TEST

RUN("native", six_columns_make_a_request, further_columns_are_optional, wrong_lines_are_named,
    another_version_is_refused)
