/* SPDX-License-Identifier: MIT */
/* The kernel's binary records. */
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

/* Categories as they stand in the upper half of `action`. */
#define C_READ (1u << 16)
#define C_WRITE (1u << 17)
#define C_FLUSH (1u << 18)
#define C_SYNC (1u << 19)
#define C_PC (1u << 25)
#define C_NOTIFY (1u << 26)
#define C_AHEAD (1u << 27)
#define C_META (1u << 28)
#define C_DISCARD (1u << 29)
#define C_FUA (1u << 31)

struct bin {
	char bytes[200000];
	size_t size;
	bool big;
	uint32_t magic, cpu, sequence;
};

static void put(struct bin *b, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		b->bytes[b->size++] =
			(char)(unsigned char)(value >> 8 * (b->big ? n - 1 - i : i) & 0xff);
}

static void put_record(struct bin *b, uint64_t time, uint64_t sector, uint32_t bytes,
		       uint32_t action, const char *pdu, size_t pdu_bytes)
{
	put(b, b->magic, 4);
	put(b, ++b->sequence, 4);
	put(b, time, 8);
	put(b, sector, 8);
	put(b, bytes, 4);
	put(b, action, 4);
	put(b, 4711, 4);
	put(b, 0x00800034, 4);
	put(b, b->cpu, 4);
	put(b, 5, 2);
	put(b, pdu_bytes, 2);
	if (pdu_bytes > 0)
		memcpy(b->bytes + b->size, pdu, pdu_bytes);
	b->size += pdu_bytes;
}

static struct bin *make(bool big)
{
	struct bin *b = calloc(1, sizeof(*b));

	ck_assert_ptr_nonnull(b);
	b->big = big;
	b->magic = 0x65617407;
	return b;
}

static struct iosched_trace *open_bin(const struct bin *b, bool skip)
{
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_AUTO);

	o.skip_bad = skip;
	return open_bytes(b->bytes, b->size, &o, 0);
}

static void reads_both(bool big)
{
	struct bin *b = make(big);
	struct iosched_trace *t;
	struct iosched_trace_record rec;

	put_record(b, 1, 0, 0, C_NOTIFY | 0, "db writer\0garb\xff", 16);
	put_record(b, 1000, 2048, 4096, C_READ | C_AHEAD | C_META | 1, "", 0);
	put_record(b, 2000, 4096, 8192, C_WRITE | C_FLUSH | C_FUA | C_SYNC | 7, "", 0);
	t = open_bin(b, false);
	ck_assert_int_eq(iosched_trace_format(t), IOSCHED_TRACE_BLKTRACE);
	rec = next_record(t);
	is_request(&rec, 1000, IOSCHED_READ, 2048 * 512, 4096);
	ck_assert_uint_eq(rec.device, 0x00800034);
	ck_assert_uint_eq(rec.context, 4711);
	ck_assert_uint_eq(rec.event, IOSCHED_TRACE_QUEUE);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_READAHEAD | IOSCHED_RQ_META);
	ck_assert_str_eq(rec.process, "db writer");
	ck_assert_uint_eq(rec.position, 2);
	ck_assert_int_eq(rec.error, 5);
	rec = next_record(t);
	is_request(&rec, 2000, IOSCHED_WRITE, 4096 * 512, 8192);
	ck_assert_uint_eq(rec.flags, IOSCHED_TRACE_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_SYNC);
	ck_assert_uint_eq(stats_of(t).bytes, b->size);
	ck_assert_uint_eq(stats_of(t).ignored, 1);
	ends_with(t, 0, "");
	free(b);
}

START_TEST(both_byte_orders_read_alike)
{
	reads_both(false);
	reads_both(true);
}
END_TEST

START_TEST(flushes_discards_and_raw_commands_are_told_apart)
{
	struct bin *b = make(false);
	struct iosched_trace *t;
	struct iosched_trace_record rec;

	put_record(b, 1, 0, 0, C_READ | C_FLUSH | 7, "", 0);
	put_record(b, 2, 8192, 2147483648u, C_WRITE | C_DISCARD | 7, "", 0);
	put_record(b, 3, 0, 36, C_READ | C_PC | 7, "0123456789abcdef", 16);
	put_record(b, 4, 0, 0, C_READ | C_SYNC | 8, "", 0);
	t = open_bin(b, false);
	rec = next_record(t);
	is_request(&rec, 1, IOSCHED_FLUSH, 0, 0);
	ck_assert_uint_eq(rec.flags, 0);
	rec = next_record(t);
	is_request(&rec, 2, IOSCHED_DISCARD, 8192 * 512, 2147483648u);
	ck_assert_uint_eq(next_record(t).flags, IOSCHED_TRACE_PASSTHROUGH);
	rec = next_record(t);
	is_request(&rec, 4, IOSCHED_TRACE_OP_NONE, 0, 0);
	ends_with(t, 0, "");
	free(b);
}
END_TEST

START_TEST(unknown_events_are_passed_over_with_their_payload)
{
	static const char payload[65535] = {0x07, 0x74, 0x61, 0x65};
	struct bin *b = make(false);
	struct iosched_trace *t;

	put_record(b, 1, 8, 512, C_WRITE | 99, payload, sizeof(payload));
	put_record(b, 1, 8, 512, C_WRITE | 0x8001, payload, 12);
	put_record(b, 2, 8, 512, C_WRITE | 1, payload, sizeof(payload));
	t = open_bin(b, false);
	ck_assert_uint_eq(next_record(t).time, 2);
	ck_assert_uint_eq(stats_of(t).ignored, 2);
	ends_with(t, 0, "");
	free(b);
}
END_TEST

START_TEST(version_8_is_refused_by_name)
{
	struct bin *b = make(false);

	b->magic = 0x65617408;
	put_record(b, 1, 8, 512, C_WRITE | 1, "", 0);
	ends_with(open_bin(b, true), -ENOTSUP,
		  "t: record 1: version 8 of the binary format; only 7 can be read");
	free(b);
}
END_TEST

START_TEST(a_flipped_magic_stops_or_is_skipped)
{
	struct bin *b = make(false);
	struct iosched_trace *t;

	put_record(b, 1, 8, 512, C_WRITE | 1, "", 0);
	put_record(b, 2, 8, 512, C_WRITE | 1, "odd", 3);
	put_record(b, 3, 8, 512, C_WRITE | 1, "", 0);
	b->bytes[50] ^= 0x10;
	t = open_bin(b, false);
	ck_assert_uint_eq(next_record(t).time, 1);
	ends_with(t, -EBADMSG, "t: record 2: no blktrace record here: it begins with 07747165");
	t = open_bin(b, true);
	ck_assert_uint_eq(next_record(t).time, 1);
	ck_assert_uint_eq(next_record(t).time, 3);
	ck_assert_uint_eq(stats_of(t).skipped, 1);
	ends_with(t, 0, "t: record 2: no blktrace record here: it begins with 07747165");
	free(b);
}
END_TEST

START_TEST(a_cut_off_record_is_reported_wherever_it_is_cut)
{
	struct bin *b = make(true);

	put_record(b, 1, 8, 512, C_WRITE | 1, "", 0);
	put_record(b, 2, 8, 512, C_WRITE | 1, "payload", 7);
	for (size_t cut = 49; cut < 48 + 55; cut++) {
		struct iosched_trace *t;

		b->size = cut;
		t = open_bin(b, false);
		ck_assert_uint_eq(next_record(t).time, 1);
		ends_with(t, -EBADMSG, "t: record 2: the file ends inside this record");
	}
	b->size = 48;
	{
		struct iosched_trace *t = open_bin(b, false);

		next_record(t);
		ends_with(t, 0, "");
	}
	free(b);
}
END_TEST

START_TEST(sectors_near_2_to_64_are_refused)
{
	struct bin *b = make(false);

	put_record(b, 1, UINT64_MAX, 512, C_WRITE | 1, "", 0);
	ends_with(open_bin(b, false), -EBADMSG,
		  "t: record 1: sector 18446744073709551615 is over 64 bits of bytes");
	b->size = 0;
	put_record(b, 1, UINT64_MAX / 512, 1024, C_WRITE | 1, "", 0);
	ends_with(open_bin(b, false), -EBADMSG,
		  "t: record 1: sector 36028797018963967 is over 64 bits of bytes");
	free(b);
}
END_TEST

static void write_file(const char *folder, const char *name, const struct bin *b)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(b->bytes, 1, b->size, file), b->size);
	ck_assert_int_eq(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	ck_assert_int_eq(unlink(path), 0);
}

/* Opens the set by @name and checks the order of its @count records. */
static void set_is_merged(const char *folder, const char *name, uint64_t count)
{
	char path[300];
	struct iosched_trace *t;
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_AUTO);

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	/* No window: the merge alone has to put them in order. */
	o.window = 1;
	ck_assert_int_eq(iosched_trace_open(&t, path, &o), 0);
	for (uint64_t i = 1; i <= count; i++) {
		struct iosched_trace_record rec = next_record(t);

		/* 0 of CPU 10, 1 of CPU 2, 1 of CPU 10, 2 of CPU 2, ... */
		ck_assert_uint_eq(rec.time, i / 2);
		ck_assert_uint_eq(rec.cpu, i % 2 == 0 || i == count ? 2 : 10);
	}
	ends_with(t, 0, "");
}

START_TEST(files_of_several_cpus_are_merged)
{
	char folder[] = "trace-set-XXXXXX";
	struct bin *two = make(false), *ten = make(true), *none = make(false);

	ck_assert_ptr_nonnull(mkdtemp(folder));
	two->cpu = 2;
	ten->cpu = 10;
	/* CPU 10: 0 1 2 ...; CPU 2: 1 2 3 ... */
	for (uint64_t i = 0; i < 100; i++) {
		put_record(ten, i, 8, 512, C_WRITE | 1, "", 0);
		put_record(two, i + 1, 8, 512, C_WRITE | 1, "x", 1);
	}
	write_file(folder, "x.blktrace.10", ten);
	write_file(folder, "x.blktrace.2", two);
	write_file(folder, "x.blktrace.3", none);
	write_file(folder, "x.blktrace.2.gz", none);
	set_is_merged(folder, "x", 200);
	set_is_merged(folder, "x.blktrace", 200);
	remove_file(folder, "x.blktrace.10");
	remove_file(folder, "x.blktrace.2");
	remove_file(folder, "x.blktrace.3");
	remove_file(folder, "x.blktrace.2.gz");
	ck_assert_int_eq(rmdir(folder), 0);
	free(two);
	free(ten);
	free(none);
}
END_TEST

RUN("blktrace", both_byte_orders_read_alike, flushes_discards_and_raw_commands_are_told_apart,
    unknown_events_are_passed_over_with_their_payload, version_8_is_refused_by_name,
    a_flipped_magic_stops_or_is_skipped, a_cut_off_record_is_reported_wherever_it_is_cut,
    sectors_near_2_to_64_are_refused, files_of_several_cpus_are_merged)
