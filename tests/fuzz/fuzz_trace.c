/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace: any bytes, read as a trace.
 *
 * Built with FUZZ_FORMAT="name" it reads that format; without, all of them (for replaying the
 * corpus). It aborts when a reader breaks what trace.h says: an end that does not stay, an
 * error without a sentence, a record out of order without its mark, an extent that overflows, more
 * records than bytes, or a record that is another one after writing it as native text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/trace.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(claim)                                                                           \
	do {                                                                                  \
		if (!(claim)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
			abort();                                                              \
		}                                                                             \
	} while (0)

struct feed {
	const uint8_t *bytes;
	size_t size, at, chunk;
};

static int64_t feed_read(void *user, void *buffer, size_t size)
{
	struct feed *feed = user;
	size_t n = feed->size - feed->at;

	if (n > size)
		n = size;
	if (n > feed->chunk)
		n = feed->chunk;
	if (n > 0)
		memcpy(buffer, feed->bytes + feed->at, n);
	feed->at += n;
	return (int64_t)n;
}

static bool names_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void must_be_equal(const struct iosched_trace_record *a,
			  const struct iosched_trace_record *b)
{
	MUST(a->time == b->time && a->offset == b->offset && a->length == b->length);
	MUST(a->context == b->context && a->latency == b->latency && a->device == b->device);
	MUST(((a->flags ^ b->flags) & ~(uint32_t)IOSCHED_TRACE_LATE) == 0);
	MUST(a->cpu == b->cpu && a->error == b->error && a->op == b->op && a->event == b->event);
	MUST(a->prio_class == b->prio_class && a->prio_level == b->prio_level);
	MUST(names_equal(a->file, b->file) && strcmp(a->process, b->process) == 0);
}

/* Writes the record as native text, reads it, compares. */
static void must_survive_writing(const struct iosched_trace_record *rec)
{
	static char text[4096];
	FILE *file = fmemopen(text, sizeof(text), "w+");
	struct iosched_trace_writer *w;
	struct iosched_trace_record again;
	struct iosched_trace_options o;
	struct iosched_trace *t;

	iosched_trace_options_init(&o, sizeof(o));
	o.window = 1;
	MUST(file != NULL);
	MUST(iosched_trace_writer_open(&w, file, NULL) == 0);
	MUST(iosched_trace_write(w, rec) == 0);
	MUST(iosched_trace_writer_close(w) == 0);
	rewind(file);
	MUST(iosched_trace_open_file(&t, file, "again", &o) == 0);
	MUST(iosched_trace_next(t, &again) == 1);
	must_be_equal(rec, &again);
	iosched_trace_close(t);
	fclose(file);
}

static void read_to_the_end(struct iosched_trace *t, size_t size)
{
	struct iosched_trace_record rec;
	iosched_time last = 0;
	size_t n = 0;
	int got;

	while ((got = iosched_trace_next(t, &rec)) == 1) {
		MUST(rec.time >= last || (rec.flags & IOSCHED_TRACE_LATE) != 0);
		MUST(rec.offset <= UINT64_MAX - rec.length);
		if (rec.time > last)
			last = rec.time;
		if (n < 16)
			must_survive_writing(&rec);
		MUST(++n <= size);
	}
	MUST(got <= 0);
	MUST(iosched_trace_next(t, &rec) == got);
	MUST(got == 0 || iosched_trace_error(t)[0] != '\0');
}

static void read_as(enum iosched_trace_format format, uint8_t how, const uint8_t *data, size_t size)
{
	struct feed feed = {data, size, 0, (how & 1) != 0 ? 3 : SIZE_MAX};
	struct iosched_trace_options o;
	struct iosched_trace *t;

	iosched_trace_options_init(&o, sizeof(o));
	o.format = (uint32_t)format;
	o.skip_bad = (how & 2) != 0;
	o.select = (how & 4) != 0 ? IOSCHED_TRACE_SELECT_ARRIVALS : IOSCHED_TRACE_SELECT_ALL;
	o.from_zero = (how & 8) != 0;
	o.window = (how & 16) != 0 ? 1 : 8;
	MUST(iosched_trace_open_read(&t, feed_read, &feed, "fuzz", &o) != -EINVAL);
	if (t == NULL)
		return;
	read_to_the_end(t, size);
	MUST(!o.skip_bad || iosched_trace_next(t, &(struct iosched_trace_record){0}) != -EBADMSG ||
	     format == IOSCHED_TRACE_AUTO);
	iosched_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_FORMAT
	/* The last byte says how; the rest is the trace, as it stands in the corpus. */
	uint8_t how = size > 0 ? data[size - 1] : 0;

	read_as(iosched_trace_format_find(FUZZ_FORMAT), how, data, size);
#else
	for (int i = 0; i < IOSCHED_TRACE_FORMATS; i++)
		for (unsigned how = 0; how < 32; how++)
			read_as((enum iosched_trace_format)i, (uint8_t)how, data, size);
#endif
	return 0;
}
