/* SPDX-License-Identifier: MIT */
/* Writing, and reading back what was written. */
#include "support.h"

#include <dirent.h>

static struct iosched_trace_writer_options writing(enum iosched_trace_format format)
{
	struct iosched_trace_writer_options o;

	iosched_trace_writer_options_init(&o, sizeof(o));
	o.format = (uint32_t)format;
	return o;
}

/* Writes @count records into memory; the caller frees. */
static char *written(const struct iosched_trace_writer_options *o,
		     const struct iosched_trace_record *recs, size_t count)
{
	struct iosched_trace_writer *w;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(iosched_trace_writer_open(&w, file, o), 0);
	for (size_t i = 0; i < count; i++)
		ck_assert_int_eq(iosched_trace_write(w, &recs[i]), 0);
	ck_assert_int_eq(iosched_trace_writer_close(w), 0);
	ck_assert_int_eq(fclose(file), 0);
	return text;
}

static struct iosched_trace_record request(uint64_t time, uint8_t op, uint64_t offset,
					   uint64_t length, const char *file)
{
	return (struct iosched_trace_record){
		.time = time, .op = op, .offset = offset, .length = length, .file = file};
}

START_TEST(native_text_keeps_every_member)
{
	struct iosched_trace_record rec = {
		.time = UINT64_MAX,
		.offset = UINT64_MAX - 5,
		.length = 5,
		.context = UINT64_MAX,
		.latency = UINT64_MAX,
		.device = UINT32_MAX,
		.flags = 0xf003f,
		.cpu = UINT32_MAX,
		.error = -INT32_MAX,
		.op = IOSCHED_TRACE_OP_NONE,
		.event = IOSCHED_TRACE_DRIVER,
		.prio_class = IOSCHED_IDLE,
		.prio_level = 8,
		.file = "/a file%\xff",
		.process = "kworker/0:1\t[\x7f",
	};
	struct iosched_trace_writer_options o = writing(IOSCHED_TRACE_NATIVE);
	char *text = written(&o, &rec, 1);
	struct iosched_trace *t = open_text(text, IOSCHED_TRACE_AUTO);
	struct iosched_trace_record again = next_record(t);

	ck_assert_msg(records_equal(&rec, &again), "%s", text);
	ends_with(t, 0, "");
	free(text);
}
END_TEST

START_TEST(fio_version_2_gets_waits)
{
	struct iosched_trace_record recs[] = {
		request(1500, IOSCHED_READ, 0, 4096, "/a"),
		request(2500999, IOSCHED_WRITE, 4096, 512, "/b"),
		request(2500999, IOSCHED_FLUSH, 0, 0, "/a"),
		request(4000000, IOSCHED_DISCARD, 0, 2147483648u, "/a"),
	};
	struct iosched_trace_writer_options o = writing(IOSCHED_TRACE_FIO_V2);
	char *text = written(&o, recs, 4);

	ck_assert_str_eq(text, "fio version 2 iolog\n/a add\n/a open\n/a wait 1 0\n/a read 0 4096\n"
			       "/b add\n/b open\n/b wait 2499 0\n/b write 4096 512\n/a sync 0 0\n"
			       "/a wait 1500 0\n/a trim 0 2147483648\n/a close\n/b close\n");
	free(text);
	o.wait = IOSCHED_TRACE_WAIT_START_MS;
	text = written(&o, recs, 4);
	ck_assert_str_eq(text, "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n"
			       "/b add\n/b open\n/b wait 2 0\n/b write 4096 512\n/a sync 0 0\n"
			       "/a wait 4 0\n/a trim 0 2147483648\n/a close\n/b close\n");
	free(text);
}
END_TEST

START_TEST(fio_version_3_gets_microseconds)
{
	struct iosched_trace_record recs[] = {
		request(1500, IOSCHED_READ, 0, 4096, NULL),
		request(2500999, IOSCHED_WRITE, 4096, 512, NULL),
	};
	struct iosched_trace_writer_options o = writing(IOSCHED_TRACE_FIO_V3);
	char *text;

	recs[1].device = 8u << 20 | 52;
	text = written(&o, recs, 2);
	ck_assert_str_eq(
		text, "fio version 3 iolog\n1 dev-0-0 add\n1 dev-0-0 open\n1 dev-0-0 read 0 4096\n"
		      "2500 dev-8-52 add\n2500 dev-8-52 open\n2500 dev-8-52 write 4096 512\n"
		      "2500 dev-0-0 close\n2500 dev-8-52 close\n");
	free(text);
	o.file = "/dev/null";
	text = written(&o, recs, 1);
	ck_assert_str_eq(text, "fio version 3 iolog\n1 /dev/null add\n1 /dev/null open\n"
			       "1 /dev/null read 0 4096\n1 /dev/null close\n");
	free(text);
}
END_TEST

START_TEST(what_fio_cannot_say_is_refused_and_leaves_the_trace_whole)
{
	struct iosched_trace_record good = request(5000, IOSCHED_READ, 0, 1, "/a"), bad = good;
	struct iosched_trace_writer_options o = writing(IOSCHED_TRACE_FIO_V2);
	struct iosched_trace_writer *w;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(iosched_trace_writer_open(&w, file, &o), 0);
	ck_assert_int_eq(iosched_trace_write(w, &good), 0);
	bad.file = "/a b";
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good;
	bad.length = 0;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good;
	bad.op = IOSCHED_TRACE_OP_NONE;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good;
	bad.time = 0;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	ck_assert_int_eq(iosched_trace_writer_close(w), 0);
	fclose(file);
	ck_assert_str_eq(text, "fio version 2 iolog\n/a add\n/a open\n/a wait 5 0\n/a read 0 1\n"
			       "/a close\n");
	free(text);
}
END_TEST

START_TEST(writer_options_are_checked)
{
	struct iosched_trace_writer_options o = writing(IOSCHED_TRACE_BLKPARSE);
	struct iosched_trace_writer *w = NULL;

	ck_assert_int_eq(iosched_trace_writer_open(&w, stdout, &o), -EINVAL);
	o = writing(IOSCHED_TRACE_FIO_V3);
	o.file = "a b";
	ck_assert_int_eq(iosched_trace_writer_open(&w, stdout, &o), -EINVAL);
	ck_assert_ptr_null(w);
}
END_TEST

START_TEST(a_record_out_of_range_is_refused)
{
	struct iosched_trace_record good = request(0, IOSCHED_READ, 0, 1, NULL), bad;
	struct iosched_trace_writer *w;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(iosched_trace_writer_open(&w, file, NULL), 0);
	bad = good, bad.op = 17;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good, bad.event = IOSCHED_TRACE_EVENTS;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good, bad.prio_class = 3;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good, bad.prio_level = 9;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good, bad.offset = UINT64_MAX;
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good, bad.file = "";
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	bad = good;
	memset(bad.process, 'x', sizeof(bad.process));
	ck_assert_int_eq(iosched_trace_write(w, &bad), -EINVAL);
	ck_assert_int_eq(iosched_trace_writer_close(w), 0);
	fclose(file);
	free(text);
}
END_TEST

START_TEST(a_full_disk_is_reported)
{
	struct iosched_trace_record rec = request(0, IOSCHED_READ, 0, 1, NULL);
	FILE *file = fopen("/dev/full", "w");
	struct iosched_trace_writer *w;
	int err = 0;

	if (file == NULL)
		return;
	ck_assert_int_eq(iosched_trace_writer_open(&w, file, NULL), 0);
	for (int i = 0; i < 100000 && err == 0; i++)
		err = iosched_trace_write(w, &rec);
	ck_assert_int_eq(err, -EIO);
	ck_assert_int_eq(iosched_trace_writer_close(w), -EIO);
	fclose(file);
}
END_TEST

#define MAX_RECORDS 10000

static size_t read_all(struct iosched_trace *t, struct iosched_trace_record *recs)
{
	size_t n = 0;

	while (n < MAX_RECORDS && iosched_trace_next(t, &recs[n]) == 1)
		n++;
	ck_assert_str_eq(iosched_trace_error(t), "");
	return n;
}

/* What fio's formats keep of a request, in the unit of their times. */
static void same_request(const struct iosched_trace_record *a, const struct iosched_trace_record *b)
{
	struct iosched_request x, y;

	ck_assert_int_eq(iosched_trace_to_request(a, &x), 0);
	ck_assert_int_eq(iosched_trace_to_request(b, &y), 0);
	ck_assert_uint_eq(a->time / 1000, b->time / 1000);
	ck_assert_uint_eq(x.op, y.op);
	ck_assert_uint_eq(x.offset, y.offset);
	ck_assert_uint_eq(x.length, y.length);
}

static void round_trip(const char *path, enum iosched_trace_format from,
		       enum iosched_trace_format by)
{
	struct iosched_trace_options in = options_of(from);
	struct iosched_trace_writer_options out = writing(by);
	struct iosched_trace_record *recs = calloc(MAX_RECORDS, sizeof(*recs));
	struct iosched_trace_record *again = calloc(MAX_RECORDS, sizeof(*recs));
	struct iosched_trace *t, *u;
	size_t n;
	char *text;

	in.select = by == IOSCHED_TRACE_NATIVE ? IOSCHED_TRACE_SELECT_ALL
					       : IOSCHED_TRACE_SELECT_ARRIVALS;
	in.from_zero = by != IOSCHED_TRACE_NATIVE;
	ck_assert_int_eq(iosched_trace_open(&t, path, &in), 0);
	n = read_all(t, recs);
	ck_assert_uint_gt(n, 0);
	text = written(&out, recs, n);
	u = open_text(text, IOSCHED_TRACE_AUTO);
	ck_assert_uint_eq(read_all(u, again), n);
	for (size_t i = 0; i < n; i++) {
		if (by == IOSCHED_TRACE_NATIVE)
			ck_assert(records_equal(&recs[i], &again[i]));
		else
			same_request(&recs[i], &again[i]);
	}
	iosched_trace_close(t);
	iosched_trace_close(u);
	free(text);
	free(recs);
	free(again);
}

/* "trace_fio_v2" -> fio-v2 */
static enum iosched_trace_format format_of(const char *folder)
{
	char name[40];

	snprintf(name, sizeof(name), "%s", folder + strlen("trace_"));
	for (char *p = name; *p != '\0'; p++)
		if (*p == '_')
			*p = '-';
	return iosched_trace_format_find(name);
}

static unsigned samples(const char *folder, void (*visit)(const char *, enum iosched_trace_format))
{
	char path[600];
	struct dirent *entry;
	DIR *dir;
	unsigned n = 0;

	snprintf(path, sizeof(path), "%s/%s", CORPUS, folder);
	dir = opendir(path);
	ck_assert_msg(dir != NULL, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", CORPUS, folder, entry->d_name);
		visit(path, format_of(folder));
		n++;
	}
	closedir(dir);
	return n;
}

static void all_round_trips(const char *path, enum iosched_trace_format format)
{
	round_trip(path, format, IOSCHED_TRACE_NATIVE);
	round_trip(path, format, IOSCHED_TRACE_FIO_V2);
	round_trip(path, format, IOSCHED_TRACE_FIO_V3);
}

START_TEST(what_was_read_of_any_format_is_written_and_read_again)
{
	static const char *const folders[] = {"trace_biosnoop", "trace_blkparse", "trace_blktrace",
					      "trace_disksim",	"trace_fio_v1",	  "trace_fio_v2",
					      "trace_fio_v3",	"trace_fiu",	  "trace_mqsim",
					      "trace_msr",	"trace_native",	  "trace_spc",
					      "trace_validate"};

	/* One folder of samples for each format. */
	ck_assert_uint_eq(sizeof(folders) / sizeof(folders[0]), IOSCHED_TRACE_FORMATS - 1);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		ck_assert_uint_gt(samples(folders[i], all_round_trips), 0);
}
END_TEST

RUN("writer", native_text_keeps_every_member, fio_version_2_gets_waits,
    fio_version_3_gets_microseconds, what_fio_cannot_say_is_refused_and_leaves_the_trace_whole,
    writer_options_are_checked, a_record_out_of_range_is_refused, a_full_disk_is_reported,
    what_was_read_of_any_format_is_written_and_read_again)
