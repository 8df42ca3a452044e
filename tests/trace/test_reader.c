/* SPDX-License-Identifier: MIT */
/* What all formats share: options, finding the format, order, selection, errors. */
#include "support.h"

#define N "# iosched-trace 1\n"

START_TEST(options_out_of_range_are_refused)
{
	struct iosched_trace *t = (struct iosched_trace *)1;
	struct feed feed = {.bytes = N, .size = strlen(N)};
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_FORMATS);

	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	ck_assert_ptr_null(t);
	o = options_of(IOSCHED_TRACE_AUTO);
	o.window = 0;
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	o.window = (1u << 20) + 1;
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	o = options_of(IOSCHED_TRACE_AUTO);
	o.spc_block_bytes = 0;
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	o = options_of(IOSCHED_TRACE_AUTO);
	o.select = 2;
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	o = options_of(IOSCHED_TRACE_AUTO);
	o.wait = 2;
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
}
END_TEST

START_TEST(each_format_is_known_by_its_lines)
{
	detected_as(N, IOSCHED_TRACE_NATIVE);
	detected_as("  8,52   0        1     0.000000000   276  D  DS 983947432 + 64 [k]\n",
		    IOSCHED_TRACE_BLKPARSE);
	detected_as("Input file x added\n\n8,0 1 1 0.0 1 Q R 0 + 8 [a]", IOSCHED_TRACE_BLKPARSE);
	detected_as("fio version 2 iolog\r\n", IOSCHED_TRACE_FIO_V2);
	detected_as("fio version 3 iolog\n", IOSCHED_TRACE_FIO_V3);
	detected_as("0,20941264,8192,W,0.000000", IOSCHED_TRACE_SPC);
	detected_as("128166372003061629,hm,1,Read,383496192,32768,413\n", IOSCHED_TRACE_MSR);
	detected_as("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
		    IOSCHED_TRACE_MSR);
	detected_as("13.191135	30	0	5	1\n", IOSCHED_TRACE_DISKSIM);
	detected_as("938513000 4 264719034 16 0\n", IOSCHED_TRACE_MQSIM);
	detected_as("R Hit   17317516   4  13661.00000  26658.00000\n", IOSCHED_TRACE_VALIDATE);
	detected_as("TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n", IOSCHED_TRACE_BIOSNOOP);
	detected_as("Tracing block I/O. Ctrl-C to end.\nCOMM PID TYPE DEV BLOCK BYTES LATms\n",
		    IOSCHED_TRACE_BIOSNOOP);
	detected_as("89966527996712 4253 nfsd 680 8 W 6 0 b5e9\n", IOSCHED_TRACE_FIU);
}
END_TEST

static void opens_with(const char *text, int err, const char *error)
{
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_AUTO);
	struct iosched_trace *t = open_bytes(text, strlen(text), &o, err);

	ends_with(t, err, error);
}

START_TEST(what_is_no_trace_is_refused_with_a_reason)
{
	opens_with("", -EBADMSG, "t:1: the file is empty");
	opens_with("hello\n", -EBADMSG, "t:1: not a trace of a format we know");
	opens_with("$$TR_IOREC-1.3\n", -ENOTSUP,
		   "t:1: this is an HP SRT trace; convert it to text first (srtSplit or DiskSim's "
		   "tools)");
	opens_with("Device r/s\n", -ENOTSUP,
		   "t:1: this is iostat's output; it has no requests in it");
	opens_with("simtime,devno,blkno,blkcnt\n", -ENOTSUP,
		   "t:1: this is DiskSim's output trace; replay the trace it was made from");
}
END_TEST

START_TEST(a_file_that_cannot_be_opened_says_why)
{
	struct iosched_trace *t;

	ck_assert_int_eq(iosched_trace_open(&t, "/nonexistent/x", NULL), -ENOENT);
	ends_with(t, -ENOENT, "/nonexistent/x: No such file or directory");
	ck_assert_int_eq(iosched_trace_open(&t, "/", NULL), -EISDIR);
	ends_with(t, -EISDIR, "/:1: Is a directory");
}
END_TEST

static int64_t read_fails(void *user, void *buffer, size_t size)
{
	struct feed *feed = user;
	int64_t n = feed_read(feed, buffer, size);

	return n > 0 ? n : -ETIMEDOUT;
}

START_TEST(an_error_of_reading_comes_after_what_was_read)
{
	static const char text[] = N "5 1 R - 0 512\n";
	struct feed feed = {.bytes = text, .size = strlen(text)};
	struct iosched_trace *t;

	ck_assert_int_eq(iosched_trace_open_read(&t, read_fails, &feed, "t", NULL), 0);
	next_record(t);
	ends_with(t, -ETIMEDOUT, "t:2: Connection timed out");
}
END_TEST

static int64_t read_lies(void *user, void *buffer, size_t size)
{
	(void)user;
	(void)buffer;
	return (int64_t)size + 1;
}

START_TEST(a_callback_that_claims_too_much_is_an_error)
{
	struct iosched_trace *t;

	ck_assert_int_eq(iosched_trace_open_read(&t, read_lies, NULL, "t", NULL), -EIO);
	iosched_trace_close(t);
}
END_TEST

START_TEST(records_come_in_order_of_time)
{
	struct iosched_trace *t =
		open_text(N "30 1 R - 0 1\n10 2 R - 0 1\n20 3 R - 0 1\n10 4 R - 0 1\n", 0);

	ck_assert_uint_eq(next_record(t).context, 2);
	ck_assert_uint_eq(next_record(t).context, 4);
	ck_assert_uint_eq(next_record(t).context, 3);
	ck_assert_uint_eq(next_record(t).context, 1);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(a_record_too_late_for_the_window_is_marked_and_counted)
{
	static const char text[] = N "30 1 R - 0 1\n40 2 R - 0 1\n10 3 R - 0 1\n50 4 R - 0 1\n";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_NATIVE);
	struct iosched_trace_record rec;
	struct iosched_trace *t;

	o.window = 1;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).flags, 0);
	ck_assert_uint_eq(next_record(t).context, 2);
	rec = next_record(t);
	ck_assert_uint_eq(rec.time, 10);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_LATE);
	ck_assert_uint_eq(next_record(t).flags, 0);
	ck_assert_uint_eq(stats_of(t).late, 1);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(times_can_start_at_zero)
{
	static const char text[] = N "30 1 R - 0 1\n40 2 R - 0 1\n";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_NATIVE);
	struct iosched_trace *t;

	o.from_zero = 1;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).time, 0);
	ck_assert_uint_eq(next_record(t).time, 10);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(an_error_ends_the_trace_after_all_before_it)
{
	struct iosched_trace *t = open_text(N "30 1 R - 0 1\nbad\n40 2 R - 0 1\n", 0);

	ck_assert_uint_eq(next_record(t).context, 1);
	ends_with(t, -EBADMSG, "t:3: time: \"bad\" is not a number");
}
END_TEST

START_TEST(bad_lines_can_be_skipped_and_are_counted)
{
	static const char text[] = N "30 1 R - 0 1\nbad\n40 2 R - 0\n50 3 W - 0 1";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_NATIVE);
	struct iosched_trace *t;

	o.skip_bad = 1;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).context, 1);
	ck_assert_uint_eq(next_record(t).position, 5);
	ck_assert_uint_eq(stats_of(t).skipped, 2);
	ck_assert_uint_eq(stats_of(t).records, 2);
	ck_assert_uint_eq(stats_of(t).ignored, 1);
	ck_assert_uint_eq(stats_of(t).bytes, strlen(text));
	ends_with(t, 0, "t:3: time: \"bad\" is not a number");
}
END_TEST

/* The contexts of what is selected for replay, as one number of decimal digits. */
static unsigned selected(const char *text)
{
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_NATIVE);
	struct iosched_trace *t;
	struct iosched_trace_record rec;
	unsigned contexts = 0;

	o.select = IOSCHED_TRACE_SELECT_ARRIVALS;
	t = open_bytes(text, strlen(text), &o, 0);
	while (iosched_trace_next(t, &rec) == 1)
		contexts = contexts * 10 + (unsigned)rec.context;
	ck_assert_str_eq(iosched_trace_error(t), "");
	iosched_trace_close(t);
	return contexts;
}

START_TEST(arrivals_are_q_if_there_is_one_else_d_else_c)
{
	ck_assert_uint_eq(selected(N
				   "1 1 R - 0 1 event=C\n2 2 R - 0 1 event=D\n"
				   "3 3 R - 0 1 event=Q\n4 4 R - 0 1 event=D\n5 5 R - 0 1 event=Q"),
			  35);
	ck_assert_uint_eq(selected(N "1 1 R - 0 1 event=C\n2 2 R - 0 1 event=D\n"), 2);
	ck_assert_uint_eq(selected(N "1 1 R - 0 1 event=C\n2 2 R - 0 1 event=G\n"), 1);
	ck_assert_uint_eq(selected(N "1 1 R - 0 1\n2 2 W - 0 1\n"), 12);
}
END_TEST

START_TEST(what_cannot_be_replayed_is_not_selected)
{
	ck_assert_uint_eq(selected(N "1 1 R - 0 0\n2 2 N - 0 1\n3 3 R C 0 1\n4 4 F - 0 0\n"
				     "5 5 W P 0 0\n6 6 D - 0 1\n"),
			  456);
	/* A Q of nothing does not make the Qs the arrivals. */
	ck_assert_uint_eq(selected(N "1 1 N - 0 0 event=Q\n2 2 R - 0 1 event=D\n"), 2);
}
END_TEST

START_TEST(one_device_can_be_chosen)
{
	static const char text[] = N "1 1 R - 0 1 dev=7\n2 2 R - 0 1 dev=8\n3 3 R - 0 1 dev=7\n";
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_NATIVE);
	struct iosched_trace *t;

	o.one_device = 1;
	o.device = 7;
	t = open_bytes(text, strlen(text), &o, 0);
	ck_assert_uint_eq(next_record(t).context, 1);
	ck_assert_uint_eq(next_record(t).context, 3);
	ck_assert_uint_eq(stats_of(t).unselected, 1);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(a_record_becomes_a_request)
{
	struct iosched_trace *t =
		open_text(N "1 9 W SMA 4096 512 rt.3\n2 1 W P 77 0\n3 1 R C 0 1", 0);
	struct iosched_trace_record rec = next_record(t);
	struct iosched_request rq;

	ck_assert_int_eq(iosched_trace_to_request(&rec, &rq), 0);
	ck_assert_uint_eq(rq.op, IOSCHED_WRITE);
	ck_assert_uint_eq(rq.offset, 4096);
	ck_assert_uint_eq(rq.length, 512);
	ck_assert_uint_eq(rq.context, 9);
	ck_assert_uint_eq(rq.flags, IOSCHED_RQ_SYNC | IOSCHED_RQ_META);
	ck_assert_uint_eq(rq.prio_class, IOSCHED_REALTIME);
	ck_assert_uint_eq(rq.prio_level, 4);
	rec = next_record(t);
	ck_assert_int_eq(iosched_trace_to_request(&rec, &rq), 0);
	ck_assert_uint_eq(rq.op, IOSCHED_FLUSH);
	ck_assert_uint_eq(rq.offset, 0);
	rec = next_record(t);
	ck_assert_int_eq(iosched_trace_to_request(&rec, &rq), -EINVAL);
	ends_with(t, 0, "");
}
END_TEST

START_TEST(formats_and_events_have_names)
{
	for (int i = 0; i < IOSCHED_TRACE_FORMATS; i++) {
		enum iosched_trace_format format = (enum iosched_trace_format)i;

		ck_assert_int_eq(iosched_trace_format_find(iosched_trace_format_name(format)), i);
		ck_assert(i == 0 || iosched_trace_format_summary(format) != NULL);
	}
	ck_assert_int_eq(iosched_trace_format_find("iosnoop"), IOSCHED_TRACE_BIOSNOOP);
	ck_assert_int_eq(iosched_trace_format_find("x"), IOSCHED_TRACE_FORMATS);
	ck_assert_ptr_null(iosched_trace_format_name(IOSCHED_TRACE_FORMATS));
	ck_assert_ptr_null(iosched_trace_event_name(IOSCHED_TRACE_EVENTS));
	ck_assert_str_eq(iosched_trace_event_name(IOSCHED_TRACE_ISSUE), "D");
}
END_TEST

RUN("reader", options_out_of_range_are_refused, each_format_is_known_by_its_lines,
    what_is_no_trace_is_refused_with_a_reason, a_file_that_cannot_be_opened_says_why,
    an_error_of_reading_comes_after_what_was_read, a_callback_that_claims_too_much_is_an_error,
    records_come_in_order_of_time, a_record_too_late_for_the_window_is_marked_and_counted,
    times_can_start_at_zero, an_error_ends_the_trace_after_all_before_it,
    bad_lines_can_be_skipped_and_are_counted, arrivals_are_q_if_there_is_one_else_d_else_c,
    what_cannot_be_replayed_is_not_selected, one_device_can_be_chosen, a_record_becomes_a_request,
    formats_and_events_have_names)
