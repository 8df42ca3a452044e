/* SPDX-License-Identifier: MIT */
/* The text of blkparse. */
#include "support.h"

#define LINE(tail) "  8,16   1        1     0.000000500  4711  " tail "\n"

static struct iosched_trace_record only(const char *text)
{
	struct iosched_trace *t = open_text(text, IOSCHED_TRACE_BLKPARSE);
	struct iosched_trace_record rec = next_record(t);

	ends_with(t, 0, "");
	return rec;
}

START_TEST(a_queue_line_has_everything)
{
	struct iosched_trace_record rec = only(LINE("Q RAM 2048 + 8 [db writer/0:1 [x]]"));

	is_request(&rec, 500, IOSCHED_READ, 2048 * 512, 4096);
	ck_assert_uint_eq(rec.device, 8u << 20 | 16);
	ck_assert_uint_eq(rec.cpu, 1);
	ck_assert_uint_eq(rec.context, 4711);
	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_QUEUE);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_READAHEAD | IOSCHED_RQ_META);
	ck_assert_str_eq(rec.process, "db writer/0:1 [x]");
}
END_TEST

START_TEST(completions_carry_their_error)
{
	ck_assert_int_eq(only(LINE("C W 8 + 8 [0]")).error, 0);
	ck_assert_int_eq(only(LINE("C W 8 + 8 [5]")).error, 5);
	ck_assert_int_eq(only(LINE("C W 8 + 8 [-5]")).error, -5);
	/* blkparse -t */
	ck_assert_int_eq(only(LINE("C W 8 + 8 (  12345) [7]")).error, 7);
}
END_TEST

START_TEST(flushes_need_no_sector)
{
	struct iosched_trace_record rec = only(LINE("D  FN [kworker/1:1H]"));

	is_request(&rec, 500, IOSCHED_FLUSH, 0, 0);
	ck_assert_str_eq(rec.process, "kworker/1:1H");
	rec = only(LINE("C FN 0 [0]"));
	is_request(&rec, 500, IOSCHED_FLUSH, 0, 0);
	rec = only(LINE("C NS 0 [0]"));
	is_request(&rec, 500, IOSCHED_TRACE_OP_NONE, 0, 0);
	rec = only(LINE("Q FWFSM 8 + 8 [x]"));
	is_request(&rec, 500, IOSCHED_WRITE, 4096, 4096);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_SYNC |
					     IOSCHED_RQ_META);
}
END_TEST

START_TEST(plugs_remaps_splits_and_raw_commands_are_read)
{
	struct iosched_trace_record rec = only(LINE("P   N [x]"));

	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_PLUG);
	ck_assert_uint_eq(only(LINE("U   N [x] 1")).event, IOSCHED_TRACE_UNPLUG);
	ck_assert_uint_eq(only(LINE("UT  N [x] 1")).event, IOSCHED_TRACE_UNPLUG_TIMER);
	rec = only(LINE("A  WS 5000 + 8 <- (253,2) 904"));
	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_REMAP);
	ck_assert_uint_eq(rec.offset, 5000 * 512);
	rec = only(LINE("X   W 6000 / 6128 [db]"));
	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_SPLIT);
	ck_assert_uint_eq(rec.offset, 6000 * 512);
	rec = only(LINE("D   N 36 (12 00 00 00 24 00 ..) [scan]"));
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_PASSTHROUGH);
	ck_assert_uint_eq(rec.length, 36);
}
END_TEST

START_TEST(discards_of_2_gib_fit)
{
	struct iosched_trace_record rec = only(LINE("D DS 8192 + 4194304 [fstrim]"));

	is_request(&rec, 500, IOSCHED_DISCARD, 8192 * 512, 2147483648u);
}
END_TEST

START_TEST(messages_are_ignored_and_the_summary_ends_the_trace)
{
	struct iosched_trace *t = open_text(
		LINE("m   N cfq4711S put_queue")
			LINE("Q R 8 + 8 [a]") "CPU0 (keks):\n Reads Queued:           1,        "
					      "4KiB\nnonsense\n",
		IOSCHED_TRACE_BLKPARSE);

	next_record(t);
	ck_assert_uint_eq(stats_of(t).ignored, 1);
	ends_with(t, 0, "");
	t = open_text(LINE("Q R 8 + 8 [a]") "Total (sda):\nnonsense\n", IOSCHED_TRACE_BLKPARSE);
	next_record(t);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(wrong_lines_are_named)
{
	const enum iosched_trace_format f = IOSCHED_TRACE_BLKPARSE;

	refuses(f, "8 1 1 0.0 1 Q R 8 + 8 [a]\n", "t:1: device: \"8\" is not major,minor");
	refuses(f, "8,0 1 1 0,5 1 Q R 8 + 8 [a]\n", "t:1: time: \"0,5\" is not a number");
	refuses(f, LINE("Y R 8 + 8 [a]"), "t:1: action: \"Y\" is unknown");
	refuses(f, LINE("- R 8 + 8 [a]"), "t:1: action: \"-\" is unknown");
	refuses(f, LINE("Q r 8 + 8 [a]"), "t:1: rwbs: \"r\" is not letters like WS");
	refuses(f, LINE("Q R x + 8 [a]"), "t:1: sector: \"x\" is not a number");
	refuses(f, LINE("Q R 8 - 8 [a]"), "t:1: extent: \"-\" should be + and a count of sectors");
	refuses(f, LINE("Q R 8 + [a]"), "t:1: count of sectors is missing");
	refuses(f, LINE("Q R 8 + 8 [a"), "t:1: end of line: \" 8 + 8 [a\" has no [name]");
	refuses(f, LINE("Q R 18446744073709551615 + 8 [a]"),
		"t:1: sector 18446744073709551615 + 8 is over 64 bits of bytes");
	refuses(f, LINE("Q R 36028797018963967 + 8 [a]"), "t:1: offset + length is over 64 bits");
}
END_TEST

static const char *rwbs_again(const char *letters)
{
	static char out[IOSCHED_TRACE_RWBS_SIZE];
	char line[200];
	struct iosched_trace_record rec;

	snprintf(line, sizeof(line), "8,0 1 1 0.0 1 D %s 8 + 8 [a]\n", letters);
	rec = only(line);
	iosched_trace_rwbs(&rec, out);
	return out;
}

START_TEST(rwbs_letters_come_back)
{
	static const char *const all[] = {"R",	"W",  "WS", "WSM", "DS",  "FN",	     "NS",
					  "RM", "RA", "N",  "D",   "WFS", "FWFASMB", "FR"};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ck_assert_str_eq(rwbs_again(all[i]), all[i]);
	ck_assert_str_eq(rwbs_again("F"), "FN");
	ck_assert_str_eq(rwbs_again("FF"), "FNF");
	ck_assert_str_eq(rwbs_again("VS"), "NS");
	ck_assert_str_eq(rwbs_again("DE"), "D");
}
END_TEST

RUN("blkparse", a_queue_line_has_everything, completions_carry_their_error, flushes_need_no_sector,
    plugs_remaps_splits_and_raw_commands_are_read, discards_of_2_gib_fit,
    messages_are_ignored_and_the_summary_ends_the_trace, wrong_lines_are_named,
    rwbs_letters_come_back)
