/* SPDX-License-Identifier: MIT */
/* biosnoop and iosnoop. */
#include "support.h"

#define BCC "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n"
#define BCC_QUEUED "TIME(s) COMM PID DISK T SECTOR BYTES QUE(ms) LAT(ms)\n"
#define IOSNOOP "COMM             PID    TYPE DEV      BLOCK        BYTES     LATms\n"
#define IOSNOOP_TIMES                                                                              \
	"STARTs         ENDs           COMM             PID    TYPE DEV      BLOCK        BYTES  " \
	"   LATms\n"

START_TEST(arrival_is_completion_less_latency)
{
	struct iosched_trace *t = open_text(
		BCC "0.000004    supervise      1950   xvda1   W 13092560   4096       0.74\n"
		    "2.003931    xfsaild/md0    456    xvdb    R 62901513   512        0.25\n",
		0);
	struct iosched_trace_record rec = next_record(t);

	/* Moved on by the first latency, or it would be before 0. */
	is_request(&rec, 4000, IOSCHED_WRITE, 13092560ull * 512, 4096);
	ck_assert_uint_eq(rec.latency, 740000);
	ck_assert_str_eq(rec.file, "xvda1");
	ck_assert_str_eq(rec.process, "supervise");
	ck_assert_uint_eq(rec.context, 1950);
	rec = next_record(t);
	is_request(&rec, 2003931000 + 740000 - 250000, IOSCHED_READ, 62901513ull * 512, 512);
	ck_assert_uint_eq(rec.device, 1);
	ck_assert(iosched_trace_timed(t));
	ends_with(t, 0, "");
}
END_TEST

START_TEST(time_in_the_queue_comes_before_the_latency)
{
	struct iosched_trace *t = open_text(BCC_QUEUED "1.0 a 1 sda R 8 512 0.50 0.25\n", 0);
	struct iosched_trace_record rec = next_record(t);

	ck_assert_uint_eq(rec.time, 1000000000);
	ck_assert_uint_eq(rec.latency, 250000);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(what_arrived_before_zero_is_at_zero)
{
	struct iosched_trace *t = open_text(BCC "0.0 a 1 sda R 8 512 1.0\n"
						"0.000001 b 2 sda R 8 512 5.0\n",
					    0);

	ck_assert_uint_eq(next_record(t).time, 0);
	ck_assert_uint_eq(next_record(t).time, 0);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(command_names_may_have_blanks)
{
	struct iosched_trace *t = open_text(BCC "0.1 my own tool 1950 sda WS 8 512 0.5\n", 0);
	struct iosched_trace_record rec = next_record(t);

	ck_assert_str_eq(rec.process, "my own tool");
	ck_assert_uint_eq(rec.context, 1950);
	ck_assert_uint_eq(rec.flags, IOSCHED_RQ_SYNC);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(iosnoop_has_times_if_its_header_says_so)
{
	struct iosched_trace *t = open_text(
		"Tracing block I/O. Ctrl-C to end.\n" IOSNOOP
		"tar              14794  RM   202,1    8457608      4096       "
		"7.53\n[...]\n" IOSNOOP_TIMES "5982800.302061 5982800.302679 flush:1-9 1809  "
		" W    202,1    17039600     4096   0.62\n"
		"Ending tracing...\n",
		0);
	struct iosched_trace_record rec = next_record(t);

	is_request(&rec, 0, IOSCHED_READ, 8457608ull * 512, 4096);
	ck_assert_uint_eq(rec.device, 202u << 20 | 1);
	ck_assert_uint_eq(rec.flags, IOSCHED_RQ_META);
	ck_assert_uint_eq(rec.latency, 7530000);
	rec = next_record(t);
	is_request(&rec, 5982800302061000, IOSCHED_WRITE, 17039600ull * 512, 4096);
	ck_assert_str_eq(rec.process, "flush:1-9");
	ends_with(t, 0, "");
}
END_TEST

START_TEST(without_start_times_a_trace_is_untimed)
{
	struct iosched_trace *t = open_text(IOSNOOP "a 1 R 8,0 8 512 1.0\n", 0);

	next_record(t);
	ck_assert(!iosched_trace_timed(t));
	ends_with(t, 0, "");
}
END_TEST

START_TEST(columns_without_extents_are_refused)
{
	struct iosched_trace *t =
		open_text("TIME(ms) DISK COMM PID LAT(ms)\n611 nvme0n1 bash 4179 10\n", 0);

	ends_with(t, -ENOTSUP, "t:1: rows without type, sector and bytes cannot be replayed");
}
END_TEST

START_TEST(wrong_rows_are_named)
{
	refuses(IOSCHED_TRACE_BIOSNOOP, "0.1 a 1 sda R 8 512 0.5\n",
		"t:1: no header before the first row");
	refuses(IOSCHED_TRACE_BIOSNOOP, BCC "0.1 1950 sda R 8 512 0.5\n",
		"t:2: the row has fewer columns than the header");
	refuses(IOSCHED_TRACE_BIOSNOOP, BCC "0.1 a 1950 sda r 8 512 0.5\n",
		"t:2: type: \"r\" is not letters like WS");
	refuses(IOSCHED_TRACE_BIOSNOOP, BCC "0.1 a 1950 sda R 8 512 x\n",
		"t:2: LAT: \"x\" is not a number");
	refuses(IOSCHED_TRACE_BIOSNOOP, IOSNOOP "a 1 R sda 8 512 1.0\n",
		"t:2: DEV: \"sda\" is not major,minor");
	refuses(IOSCHED_TRACE_BIOSNOOP, BCC "0.1 a 1 sda R 18446744073709551615 512 1\n",
		"t:2: sector 18446744073709551615 + 0 is over 64 bits of bytes");
}
END_TEST

RUN("biosnoop", arrival_is_completion_less_latency, time_in_the_queue_comes_before_the_latency,
    what_arrived_before_zero_is_at_zero, command_names_may_have_blanks,
    iosnoop_has_times_if_its_header_says_so, without_start_times_a_trace_is_untimed,
    columns_without_extents_are_refused, wrong_rows_are_named)
