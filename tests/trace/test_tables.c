/* SPDX-License-Identifier: MIT */
/* The formats that are plain tables: SPC, MSR, DiskSim, MQSim, validate, FIU. */
#include "support.h"

START_TEST(spc_has_blocks_bytes_and_seconds)
{
	struct iosched_trace *t = open_text("0,20941264,8192,W,0.551706\n"
					    "1, 7, 0, r, 1234.567890123456, more, fields\n",
					    0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 551706000, IOSCHED_WRITE, 20941264ull * 512, 8192);
	ck_assert_uint_eq(rec.context, 1);
	rec = next_record(t);
	is_request(&rec, 1234567890123, IOSCHED_READ, 7 * 512, 0);
	ck_assert_uint_eq(rec.device, 1);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(spc_blocks_can_be_other_than_512)
{
	static const char text[] = "0,3,4096,R,0\n";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_SPC);
	struct iosched_trace *t;

	o.spc_block_bytes = 4096;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).offset, 3 * 4096);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(spc_lines_that_are_wrong_are_named)
{
	refuses(IOSCHED_TRACE_SPC, "0,1,512,R,2 448003\n",
		"t:1: time: \"2 448003\" is not a number");
	refuses(IOSCHED_TRACE_SPC, "-1,1,512,R,2\n", "t:1: asu: \"-1\" is not a number");
	refuses(IOSCHED_TRACE_SPC, "0,1,512,X,2\n", "t:1: operation: \"X\" is neither R nor W");
	refuses(IOSCHED_TRACE_SPC, "0,1,512,R\n", "t:1: time is missing");
	refuses(IOSCHED_TRACE_SPC, "0,18446744073709551615,512,R,0\n",
		"t:1: lba: \"18446744073709551615\" is too large");
}
END_TEST

START_TEST(msr_ticks_become_unix_nanoseconds)
{
	struct iosched_trace *t =
		open_text("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
			  "128166372003061629,hm,1,Read,383496192,32768,413\n"
			  "116444736000000001,hm,0,Write,0,4096,7\n",
			  0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 100, IOSCHED_WRITE, 0, 4096);
	rec = next_record(t);
	/* 2007-02-22 17:00:00.3 UTC */
	is_request(&rec, 1172163600306162900, IOSCHED_READ, 383496192, 32768);
	ck_assert_uint_eq(rec.latency, 41300);
	ck_assert_uint_eq(rec.device, 1);
	ck_assert_uint_eq(rec.context, 2);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(msr_lines_that_are_wrong_are_named)
{
	refuses(IOSCHED_TRACE_MSR, "116444735999999999,hm,0,Write,0,4096,7\n",
		"t:1: timestamp: \"116444735999999999\" is before 1970");
	refuses(IOSCHED_TRACE_MSR, "18446744073709551615,hm,0,Write,0,4096,7\n",
		"t:1: timestamp: \"18446744073709551615\" is too large");
	refuses(IOSCHED_TRACE_MSR, "128166372003061629,hm,0,Trim,0,4096,7\n",
		"t:1: type: \"Trim\" is neither Read nor Write");
	refuses(IOSCHED_TRACE_MSR, "128166372003061629,hm,0,Read,0,4096\n",
		"t:1: response time is missing");
}
END_TEST

START_TEST(disksim_has_milliseconds_and_reads_are_odd)
{
	struct iosched_trace *t = open_text("13.191135	30	0	5	1\n"
					    "14.5 3 8192 16 A\n",
					    0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 13191135, IOSCHED_READ, 0, 5 * 512);
	ck_assert_uint_eq(rec.device, 30);
	rec = next_record(t);
	is_request(&rec, 14500000, IOSCHED_WRITE, 8192 * 512, 16 * 512);
	ends_with(t, 0, "");
	refuses(IOSCHED_TRACE_DISKSIM, "1.5 3 8192 16\n", "t:1: flags is missing");
	refuses(IOSCHED_TRACE_DISKSIM, "1.5 3 8192 16 g\n",
		"t:1: flags: \"g\" is not a hexadecimal number");
}
END_TEST

START_TEST(mqsim_has_nanoseconds)
{
	struct iosched_trace *t = open_text("938513000 15 264719034 16 0\n938513001 0 0 1 1\n", 0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 938513000, IOSCHED_WRITE, 264719034ull * 512, 8192);
	ck_assert_uint_eq(rec.context, 16);
	rec = next_record(t);
	is_request(&rec, 938513001, IOSCHED_READ, 0, 512);
	ends_with(t, 0, "");
	refuses(IOSCHED_TRACE_MQSIM, "1 3 8192 16 2\n", "t:1: type: \"2\" is neither 0 nor 1");
	refuses(IOSCHED_TRACE_MQSIM, "1.5 3 8192 16 1\n", "t:1: time: \"1.5\" is not a number");
	refuses(IOSCHED_TRACE_MQSIM, "1 3 8192 16 1 x\n",
		"t:1: sixth column: \"x\" is one too many");
}
END_TEST

START_TEST(validate_sums_service_and_pause)
{
	struct iosched_trace *t = open_text("R Hit   17317516   4  13661.00000  26658.00000\n"
					    "W Miss 8 16 502.125 20392.0\nR Hit 0 1 1 1\n",
					    0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 0, IOSCHED_READ, 17317516ull * 512, 2048);
	ck_assert_uint_eq(rec.latency, 13661000);
	rec = next_record(t);
	is_request(&rec, 40319000, IOSCHED_WRITE, 4096, 8192);
	ck_assert_uint_eq(rec.latency, 502125);
	ck_assert_uint_eq(next_record(t).time, 61213125);
	ck_assert(!iosched_trace_timed(t));
	ends_with(t, 0, "");
	refuses(IOSCHED_TRACE_VALIDATE,
		"R Hit 0 1 18446744073709000 1\nR Hit 0 1 18446744073709000 1",
		"t:2: the sum of times is over 64 bits");
}
END_TEST

START_TEST(fiu_has_processes_and_devices)
{
	struct iosched_trace *t = open_text("89966528039628 1 kjournald 688 16 R 8 52 57db\n"
					    "89966528039620 4253 nfsd 680 8 W 6 0 b5e9\n",
					    0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 89966528039620, IOSCHED_WRITE, 680 * 512, 4096);
	ck_assert_str_eq(rec.process, "nfsd");
	ck_assert_uint_eq(rec.context, 4253);
	rec = next_record(t);
	ck_assert_uint_eq(rec.device, 8u << 20 | 52);
	ends_with(t, 0, "");
	refuses(IOSCHED_TRACE_FIU, "1 1 x 0 8 R 8 0\n", "t:1: hash is missing");
	refuses(IOSCHED_TRACE_FIU, "1 1 x 0 8 R 4096 0 h\n",
		"t:1: device: \"4096\" has a number too large");
}
END_TEST

RUN("tables", spc_has_blocks_bytes_and_seconds, spc_blocks_can_be_other_than_512,
    spc_lines_that_are_wrong_are_named, msr_ticks_become_unix_nanoseconds,
    msr_lines_that_are_wrong_are_named, disksim_has_milliseconds_and_reads_are_odd,
    mqsim_has_nanoseconds, validate_sums_service_and_pause, fiu_has_processes_and_devices)
