/* SPDX-License-Identifier: MIT */
/*
 * Traces of other people, where they are: in $IOSCHED_TRACES, or beside the source tree.
 * What is in them was counted by other means.
 */
#include "support.h"

#include <sys/stat.h>

static const char *folder(void)
{
	const char *given = getenv("IOSCHED_TRACES");

	return given != NULL ? given : BESIDE;
}

static char *path_of(const char *name)
{
	static char path[2][600];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder(), name);
	return path[turn];
}

struct tally {
	uint64_t records, reads, writes, flushes, discards;
	iosched_time first, last;
	uint64_t devices; /* bit per device number below 64 */
};

static struct iosched_trace *open_real(const char *name, enum iosched_trace_format expected)
{
	struct iosched_trace *t;
	int err = iosched_trace_open(&t, path_of(name), NULL);

	ck_assert_msg(err == 0, "%s", iosched_trace_error(t));
	ck_assert_int_eq(iosched_trace_format(t), expected);
	return t;
}

static struct tally tally_of(const char *name, enum iosched_trace_format format, uint64_t late)
{
	struct iosched_trace *t = open_real(name, format);
	struct iosched_trace_record rec;
	struct tally tally = {0};
	int got;

	while ((got = iosched_trace_next(t, &rec)) == 1) {
		if (tally.records++ == 0)
			tally.first = rec.time;
		tally.last = rec.time;
		tally.reads += rec.op == IOSCHED_READ;
		tally.writes += rec.op == IOSCHED_WRITE;
		tally.flushes += rec.op == IOSCHED_FLUSH;
		tally.discards += rec.op == IOSCHED_DISCARD;
		if (rec.device < 64)
			tally.devices |= 1ull << rec.device;
	}
	ck_assert_msg(got == 0, "%s", iosched_trace_error(t));
	ck_assert_uint_eq(stats_of(t).late, late);
	iosched_trace_close(t);
	return tally;
}

static void counts(const struct tally *t, uint64_t records, uint64_t reads, uint64_t writes)
{
	ck_assert_uint_eq(t->records, records);
	ck_assert_uint_eq(t->reads, reads);
	ck_assert_uint_eq(t->writes, writes);
}

START_TEST(the_binary_set_equals_what_blkparse_printed_of_it)
{
	struct iosched_trace *binary = open_real("blktrace-bin/keks", IOSCHED_TRACE_BLKTRACE);
	struct iosched_trace *text = open_real("blkparse-golden-keks.txt", IOSCHED_TRACE_BLKPARSE);
	struct iosched_trace_record b, x;
	iosched_time zero = 0;
	uint64_t n = 0, issues = 0;

	while (iosched_trace_next(text, &x) == 1) {
		char letters[2][IOSCHED_TRACE_RWBS_SIZE];

		ck_assert_int_eq(iosched_trace_next(binary, &b), 1);
		if (n++ == 0)
			zero = b.time;
		ck_assert_uint_eq(b.time - zero, x.time);
		ck_assert_uint_eq(b.cpu, x.cpu);
		ck_assert_uint_eq(b.event, x.event);
		ck_assert_uint_eq(b.offset, x.offset);
		ck_assert_uint_eq(b.length, x.length);
		ck_assert_uint_eq(b.device, x.device);
		ck_assert_uint_eq(b.context, x.context);
		iosched_trace_rwbs(&b, letters[0]);
		iosched_trace_rwbs(&x, letters[1]);
		ck_assert_str_eq(letters[0], letters[1]);
		if (b.event == IOSCHED_TRACE_ISSUE && b.process[0] != '\0')
			ck_assert_str_eq(b.process, x.process);
		issues += b.event == IOSCHED_TRACE_ISSUE;
	}
	ck_assert_str_eq(iosched_trace_error(text), "");
	ck_assert_uint_eq(n, 2398);
	ck_assert_uint_eq(issues, 1192);
	ck_assert_uint_eq(stats_of(binary).ignored, 191);
	ends_with(binary, 0, "");
	iosched_trace_close(text);
}
END_TEST

START_TEST(rows_of_a_whole_life_are_read)
{
	struct tally t = tally_of("blkparse-full-lifecycle-rows.txt", IOSCHED_TRACE_BLKPARSE, 0);

	counts(&t, 12, 0, 10);
}
END_TEST

START_TEST(completions_of_a_ram_disk_come_sorted)
{
	struct tally t = tally_of("blkparse-leveldb.txt", IOSCHED_TRACE_BLKPARSE, 0);

	counts(&t, 840, 0, 840);
}
END_TEST

START_TEST(fio_logs_are_read)
{
	struct tally t = tally_of("fio-v3-t0038.iolog", IOSCHED_TRACE_FIO_V3, 0);

	counts(&t, 20, 0, 10);
	ck_assert_uint_eq(t.discards, 10);
	ck_assert_uint_eq(t.first, 10736000);
	t = tally_of("fio-v2-mapping-type-write.iolog", IOSCHED_TRACE_FIO_V2, 0);
	counts(&t, 1536, 0, 1536);
}
END_TEST

START_TEST(simulator_traces_are_read)
{
	struct tally t = tally_of("mqsim-tpcc-small.trace", IOSCHED_TRACE_MQSIM, 0);

	counts(&t, 6999, 4381, 2618);
	ck_assert_uint_eq(t.devices, 0xffff);
	ck_assert_uint_eq(t.first, 938513000);
	ck_assert_uint_eq(t.last, 1075002000);
	t = tally_of("ssdsim-example.trace", IOSCHED_TRACE_DISKSIM, 0);
	counts(&t, 999, 235, 764);
	ck_assert_uint_eq(t.first, 1151274000);
	ck_assert_uint_eq(t.last, 2216393000);
	t = tally_of("disksim-ascii-head5000.trace", IOSCHED_TRACE_DISKSIM, 0);
	counts(&t, 5000, 3966, 1034);
	t = tally_of("disksim-validate-ibm18es-head3000.trace", IOSCHED_TRACE_VALIDATE, 0);
	counts(&t, 3000, 1924, 1076);
	t = tally_of("disksim-validate-hp_c2490a-head2000.trace", IOSCHED_TRACE_VALIDATE, 0);
	counts(&t, 2000, 1368, 632);
}
END_TEST

START_TEST(content_traces_are_read)
{
	struct tally t = tally_of("fiu-mail.replay.0", IOSCHED_TRACE_FIU, 0);

	counts(&t, 122, 107, 15);
	t = tally_of("fiu-homes-head200.replay", IOSCHED_TRACE_FIU, 0);
	ck_assert_uint_eq(t.records, 200);
}
END_TEST

START_TEST(snoop_rows_are_read)
{
	struct tally t = tally_of("bcc-biosnoop-rows.txt", IOSCHED_TRACE_BIOSNOOP, 0);

	/* 23 lines, 2 of them headers; 103, 8 of them headers. */
	counts(&t, 21, 0, 21);
	t = tally_of("perftools-iosnoop-rows.txt", IOSCHED_TRACE_BIOSNOOP, 0);
	ck_assert_uint_eq(t.records, 95);
}
END_TEST

static void refused(const char *name, int err)
{
	struct iosched_trace *t;

	ck_assert_int_eq(iosched_trace_open(&t, path_of(name), NULL), err);
	ck_assert_str_ne(iosched_trace_error(t), "");
	iosched_trace_close(t);
}

START_TEST(files_that_are_no_traces_are_refused)
{
	refused("fio-lat-log-head3000.log", -EBADMSG);
	refused("disksim-outtrace-atlas10k-head3000.csv", -ENOTSUP);
	refused("disksim-atlas10k.seek", -EBADMSG);
	refused("disksim-atlas10k.diskspecs", -EBADMSG);
}
END_TEST

/* The last 200 bytes of each file, cut at every one of them. */
static void cut_at_the_end(const char *name, enum iosched_trace_format format)
{
	size_t size;
	char *bytes = file_bytes(path_of(name), &size);

	ck_assert_ptr_nonnull(bytes);
	for (size_t n = size > 200 ? size - 200 : 0; n < size; n++) {
		struct iosched_trace_options o = options_of(format);
		struct feed feed = {.bytes = bytes, .size = n};
		struct iosched_trace_record rec;
		struct iosched_trace *t;
		int got;

		ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, &feed, name, &o), 0);
		while ((got = iosched_trace_next(t, &rec)) == 1)
			;
		ck_assert(got == 0 || got == -EBADMSG);
		ck_assert_int_eq(got != 0, iosched_trace_error(t)[0] != '\0');
		iosched_trace_close(t);
	}
	free(bytes);
}

START_TEST(real_files_cut_off_end_with_a_reason)
{
	cut_at_the_end("blktrace-bin/keks.blktrace.0", IOSCHED_TRACE_BLKTRACE);
	cut_at_the_end("blkparse-golden-keks.txt", IOSCHED_TRACE_BLKPARSE);
	cut_at_the_end("fio-v2-mapping-type-write.iolog", IOSCHED_TRACE_FIO_V2);
	cut_at_the_end("fio-v3-t0038.iolog", IOSCHED_TRACE_FIO_V3);
	cut_at_the_end("mqsim-tpcc-small.trace", IOSCHED_TRACE_MQSIM);
	cut_at_the_end("ssdsim-example.trace", IOSCHED_TRACE_DISKSIM);
	cut_at_the_end("disksim-validate-ibm18es-head3000.trace", IOSCHED_TRACE_VALIDATE);
	cut_at_the_end("fiu-mail.replay.0", IOSCHED_TRACE_FIU);
	cut_at_the_end("bcc-biosnoop-rows.txt", IOSCHED_TRACE_BIOSNOOP);
	cut_at_the_end("perftools-iosnoop-rows.txt", IOSCHED_TRACE_BIOSNOOP);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		the_binary_set_equals_what_blkparse_printed_of_it,
		rows_of_a_whole_life_are_read,
		completions_of_a_ram_disk_come_sorted,
		fio_logs_are_read,
		simulator_traces_are_read,
		content_traces_are_read,
		snoop_rows_are_read,
		files_that_are_no_traces_are_refused,
		real_files_cut_off_end_with_a_reason,
	};
	struct stat st;

	if (stat(folder(), &st) != 0) {
		printf("no traces in %s (set IOSCHED_TRACES)\n", folder());
		return 77;
	}
	return run_cases("real", tests, sizeof(tests) / sizeof(tests[0]));
}
