/* SPDX-License-Identifier: MIT */
/*
 * The same traps for every format: each sample is cut at every byte, has every byte
 * replaced, gets CR LF, NULs and a line of 1 MiB. A reader must end, with a sentence if with an
 * error, and may not lose what came before.
 */
#include "support.h"

#include <dirent.h>

struct outcome {
	size_t records;
	int result;
	uint64_t skipped;
};

/* Reads all of it; checks what holds of any input. */
static struct outcome drain(const char *bytes, size_t size, enum iosched_trace_format format,
			    bool skip)
{
	struct iosched_trace_options o = options_of(format);
	struct feed feed = {.bytes = bytes, .size = size};
	struct iosched_trace_record rec;
	struct outcome outcome = {0, 1, 0};
	struct iosched_trace *t;
	iosched_time last = 0;

	o.skip_bad = skip;
	o.window = 16;
	ck_assert_int_ne(iosched_trace_open_read(&t, feed_read, &feed, "t", &o), -EINVAL);
	while ((outcome.result = iosched_trace_next(t, &rec)) == 1) {
		ck_assert(rec.time >= last || (rec.flags & IOSCHED_TRACE_LATE) != 0);
		ck_assert_uint_le(rec.offset, UINT64_MAX - rec.length);
		last = rec.time;
		/* No format has records of less than one byte. */
		ck_assert_uint_le(++outcome.records, size);
	}
	outcome.skipped = stats_of(t).skipped;
	ck_assert_int_eq(outcome.result != 0 || outcome.skipped != 0,
			 iosched_trace_error(t)[0] != '\0');
	ck_assert(outcome.result == 0 || strncmp(iosched_trace_error(t), "t:", 2) == 0);
	/* Skipping needs to know what format to skip in. */
	ck_assert(!skip || outcome.result != -EBADMSG || format == IOSCHED_TRACE_AUTO);
	if (outcome.result == 0)
		ck_assert_uint_le(stats_of(t).bytes, size);
	iosched_trace_close(t);
	return outcome;
}

typedef void trap(const char *bytes, size_t size, enum iosched_trace_format format);

static void spring(trap *set, const char *folder, enum iosched_trace_format format)
{
	char path[600];
	struct dirent *entry;
	DIR *dir;
	unsigned n = 0;

	snprintf(path, sizeof(path), "%s/%s", CORPUS, folder);
	dir = opendir(path);
	ck_assert_msg(dir != NULL, "%s", path);
	while ((entry = readdir(dir)) != NULL) {
		size_t size;
		char *bytes;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", CORPUS, folder, entry->d_name);
		bytes = file_bytes(path, &size);
		ck_assert_ptr_nonnull(bytes);
		set(bytes, size, format);
		free(bytes);
		n++;
	}
	closedir(dir);
	ck_assert_uint_gt(n, 0);
}

static void spring_all(trap *set)
{
	for (int i = 1; i < IOSCHED_TRACE_FORMATS; i++) {
		enum iosched_trace_format format = (enum iosched_trace_format)i;
		char folder[60];

		snprintf(folder, sizeof(folder), "trace_%s", iosched_trace_format_name(format));
		for (char *p = folder; *p != '\0'; p++)
			if (*p == '-')
				*p = '_';
		spring(set, folder, format);
	}
}

static void is_sound(const char *bytes, size_t size, enum iosched_trace_format format)
{
	struct outcome outcome = drain(bytes, size, format, false);

	ck_assert_int_eq(outcome.result, 0);
	ck_assert_uint_gt(outcome.records, 0);
}

START_TEST(the_samples_are_sound)
{
	spring_all(is_sound);
}
END_TEST

static void cut(const char *bytes, size_t size, enum iosched_trace_format format)
{
	size_t whole = drain(bytes, size, format, false).records;
	size_t last = 0;

	for (size_t n = 0; n <= size; n++) {
		struct outcome outcome = drain(bytes, n, format, false);

		/* More of the file never gives fewer records. */
		ck_assert_uint_ge(outcome.records + 1, last);
		ck_assert_uint_le(outcome.records, whole);
		last = outcome.records;
		drain(bytes, n, format, true);
		drain(bytes, n, IOSCHED_TRACE_AUTO, true);
	}
	ck_assert_uint_eq(last, whole);
}

START_TEST(a_trace_cut_off_anywhere_ends_with_a_reason)
{
	spring_all(cut);
}
END_TEST

static void spoil(const char *bytes, size_t size, enum iosched_trace_format format)
{
	static const unsigned char others[] = {0, ' ', '\n', '9', '-', 0xff};
	char *copy = malloc(size);

	memcpy(copy, bytes, size);
	for (size_t i = 0; i < size; i++) {
		for (size_t j = 0; j < sizeof(others); j++) {
			copy[i] = (char)others[j];
			drain(copy, size, format, false);
			drain(copy, size, format, true);
		}
		copy[i] = (char)(unsigned char)((unsigned char)bytes[i] ^ 0x10);
		drain(copy, size, IOSCHED_TRACE_AUTO, true);
		copy[i] = bytes[i];
	}
	free(copy);
}

START_TEST(any_byte_may_be_wrong)
{
	spring_all(spoil);
}
END_TEST

static void crlf(const char *bytes, size_t size, enum iosched_trace_format format)
{
	char *copy = malloc(2 * size);
	size_t n = 0;
	struct outcome unix_ends = drain(bytes, size, format, false), outcome;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			copy[n++] = '\r';
		copy[n++] = bytes[i];
	}
	if (format != IOSCHED_TRACE_BLKTRACE) {
		outcome = drain(copy, n, format, false);
		ck_assert_int_eq(outcome.result, 0);
		ck_assert_uint_eq(outcome.records, unix_ends.records);
	}
	free(copy);
}

START_TEST(lines_may_end_in_crlf)
{
	spring_all(crlf);
}
END_TEST

static void long_line(const char *bytes, size_t size, enum iosched_trace_format format)
{
	const size_t mib = 1 << 20;
	const char *newline = memchr(bytes, '\n', size);
	size_t head = newline != NULL ? (size_t)(newline - bytes) + 1 : 0;
	char *copy;
	struct outcome outcome;

	if (format == IOSCHED_TRACE_BLKTRACE || newline == NULL)
		return;
	copy = malloc(size + mib);
	memcpy(copy, bytes, head);
	memset(copy + head, '7', mib);
	copy[head + mib - 1] = '\n';
	memcpy(copy + head + mib, bytes + head, size - head);
	outcome = drain(copy, size + mib, format, false);
	ck_assert_int_eq(outcome.result, -EBADMSG);
	outcome = drain(copy, size + mib, format, true);
	ck_assert_int_eq(outcome.result, 0);
	ck_assert_uint_eq(outcome.skipped, 1);
	ck_assert_uint_eq(outcome.records, drain(bytes, size, format, true).records);
	free(copy);
}

START_TEST(a_line_of_1_mib_costs_that_line_only)
{
	spring_all(long_line);
}
END_TEST

static void forced(const char *bytes, size_t size, enum iosched_trace_format format)
{
	for (int i = 1; i < IOSCHED_TRACE_FORMATS; i++)
		if (i != (int)format)
			drain(bytes, size, (enum iosched_trace_format)i, true);
}

START_TEST(a_wrong_format_can_be_forced)
{
	spring_all(forced);
}
END_TEST

RUN("traps", the_samples_are_sound, a_trace_cut_off_anywhere_ends_with_a_reason,
    any_byte_may_be_wrong, lines_may_end_in_crlf, a_line_of_1_mib_costs_that_line_only,
    a_wrong_format_can_be_forced)
