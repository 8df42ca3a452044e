/* SPDX-License-Identifier: MIT */
/* support: see support.h. */
#include "support.h"

int64_t feed_read(void *user, void *buffer, size_t size)
{
	struct feed *feed = user;
	size_t n = feed->size - feed->at;

	if (n > size)
		n = size;
	if (feed->chunk != 0 && n > feed->chunk)
		n = feed->chunk;
	if (n > 0)
		memcpy(buffer, feed->bytes + feed->at, n);
	feed->at += n;
	return (int64_t)n;
}

struct iosched_trace_options options_of(enum iosched_trace_format format)
{
	struct iosched_trace_options o;

	iosched_trace_options_init(&o, sizeof(o));
	o.format = (uint32_t)format;
	return o;
}

struct iosched_trace *open_bytes(const char *bytes, size_t size,
				 const struct iosched_trace_options *o, int expect)
{
	/* One reader at a time reads from memory in a test, unless it made its own feed. */
	static struct feed feeds[8];
	static unsigned turn;
	struct feed *feed = &feeds[turn++ % 8];
	struct iosched_trace *t;

	*feed = (struct feed){.bytes = bytes, .size = size, .chunk = 7};
	ck_assert_int_eq(iosched_trace_open_read(&t, feed_read, feed, "t", o), expect);
	return t;
}

struct iosched_trace *open_text(const char *text, enum iosched_trace_format format)
{
	struct iosched_trace_options o = options_of(format);

	return open_bytes(text, strlen(text), &o, 0);
}

struct iosched_trace_record next_record(struct iosched_trace *t)
{
	struct iosched_trace_record rec;
	int got = iosched_trace_next(t, &rec);

	ck_assert_msg(got == 1, "next: %d %s", got, iosched_trace_error(t));
	return rec;
}

void ends_with(struct iosched_trace *t, int result, const char *error)
{
	struct iosched_trace_record rec;

	ck_assert_int_eq(iosched_trace_next(t, &rec), result);
	ck_assert_int_eq(iosched_trace_next(t, &rec), result);
	ck_assert_str_eq(iosched_trace_error(t), error);
	iosched_trace_close(t);
}

void detected_as(const char *text, enum iosched_trace_format format)
{
	struct iosched_trace *t = open_text(text, IOSCHED_TRACE_AUTO);

	ck_assert_int_eq(iosched_trace_format(t), format);
	iosched_trace_close(t);
}

struct iosched_trace_stats stats_of(const struct iosched_trace *t)
{
	struct iosched_trace_stats stats;

	iosched_trace_stats_get(t, &stats, sizeof(stats));
	return stats;
}

void refuses(enum iosched_trace_format format, const char *text, const char *error)
{
	struct iosched_trace *t = open_text(text, format);
	struct iosched_trace_record rec;
	int got;

	do {
		got = iosched_trace_next(t, &rec);
	} while (got == 1);
	ck_assert_int_eq(got, -EBADMSG);
	ck_assert_str_eq(iosched_trace_error(t), error);
	iosched_trace_close(t);
}

void is_request(const struct iosched_trace_record *rec, uint64_t time, uint8_t op, uint64_t offset,
		uint64_t length)
{
	ck_assert_uint_eq(rec->time, time);
	ck_assert_uint_eq(rec->op, op);
	ck_assert_uint_eq(rec->offset, offset);
	ck_assert_uint_eq(rec->length, length);
}

char *file_bytes(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes;
	long n;

	if (file == NULL)
		return NULL;
	ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
	n = ftell(file);
	ck_assert_int_ge(n, 0);
	rewind(file);
	bytes = malloc((size_t)n + 1);
	ck_assert_ptr_nonnull(bytes);
	*size = fread(bytes, 1, (size_t)n, file);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

static bool names_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool records_equal(const struct iosched_trace_record *a, const struct iosched_trace_record *b)
{
	return a->time == b->time && a->offset == b->offset && a->length == b->length &&
	       a->context == b->context && a->latency == b->latency && a->device == b->device &&
	       ((a->flags ^ b->flags) & ~(uint32_t)IOSCHED_TRACE_LATE) == 0 && a->cpu == b->cpu &&
	       a->error == b->error && a->op == b->op && a->event == b->event &&
	       a->prio_class == b->prio_class && a->prio_level == b->prio_level &&
	       names_equal(a->file, b->file) && strcmp(a->process, b->process) == 0;
}

int run_cases(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *cases = tcase_create(name);
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < count; i++)
		tcase_add_test(cases, tests[i]);
	/* Every position of every sample is tried in one test; sanitizers make it slow. */
	tcase_set_timeout(cases, 120);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
