/* SPDX-License-Identifier: MIT */
/*
 * writer: traces out; native text here, fio's in write_fio.c.
 *
 * State: the stream, the first error of it (which stays), and fio's table of files.
 */
#include "trace/writer.h"

#include <inttypes.h>
#include <stdlib.h>

void iosched_trace_writer_options_init(struct iosched_trace_writer_options *o, size_t size)
{
	struct iosched_trace_writer_options defaults = {
		.size = size,
		.format = IOSCHED_TRACE_NATIVE,
	};

	memset(o, 0, size);
	memcpy(o, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

static bool options_valid(const struct iosched_trace_writer_options *o)
{
	return (o->format == IOSCHED_TRACE_NATIVE || o->format == IOSCHED_TRACE_FIO_V2 ||
		o->format == IOSCHED_TRACE_FIO_V3) &&
	       o->wait <= IOSCHED_TRACE_WAIT_START_MS &&
	       (o->file == NULL || ios_fio_name_valid(o->file));
}

static int take_options(struct iosched_trace_writer *w,
			const struct iosched_trace_writer_options *o)
{
	iosched_trace_writer_options_init(&w->options, sizeof(w->options));
	if (o != NULL)
		memcpy(&w->options, o, o->size < sizeof(w->options) ? o->size : sizeof(w->options));
	if (!options_valid(&w->options))
		return -EINVAL;
	if (w->options.file != NULL) {
		w->file = strdup(w->options.file);
		if (w->file == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void header(struct iosched_trace_writer *w)
{
	if (w->options.format == IOSCHED_TRACE_NATIVE)
		fputs("# iosched-trace 1\n"
		      "# time_ns context op flags offset length [class.level] [key=value ...]\n",
		      w->out);
	else
		fprintf(w->out, "fio version %c iolog\n",
			w->options.format == IOSCHED_TRACE_FIO_V2 ? '2' : '3');
}

int ios_trace_writer_status(struct iosched_trace_writer *w)
{
	if (ferror(w->out))
		w->failed = true;
	return w->failed ? -EIO : 0;
}

int iosched_trace_writer_open(struct iosched_trace_writer **out, FILE *file,
			      const struct iosched_trace_writer_options *o)
{
	struct iosched_trace_writer *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (w == NULL)
		return err;
	w->out = file;
	err = take_options(w, o);
	if (err == 0) {
		header(w);
		err = ios_trace_writer_status(w);
	}
	if (err != 0) {
		free(w->file);
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

static void put_flags(FILE *out, uint32_t flags)
{
	bool any = false;

	for (const struct ios_native_flag *f = ios_native_flags; f->letter != '\0'; f++) {
		if ((flags & f->flag) != 0) {
			putc(f->letter, out);
			any = true;
		}
	}
	if (!any)
		putc('-', out);
}

static void put_name(FILE *out, const char *key, const char *name)
{
	fprintf(out, " %s=", key);
	for (const char *p = name; *p != '\0'; p++) {
		if (*p <= ' ' || *p > '~' || *p == '%')
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*p);
		else
			putc(*p, out);
	}
}

static void put_options(FILE *out, const struct iosched_trace_record *rec)
{
	if (rec->prio_class != 0 || rec->prio_level != 0)
		fprintf(out, " %s.%c", ios_native_classes[rec->prio_class],
			rec->prio_level == 0 ? '-' : '0' + rec->prio_level - 1);
	if (rec->device != 0)
		fprintf(out, " dev=%" PRIu32, rec->device);
	if (rec->event != IOSCHED_TRACE_REQUEST)
		fprintf(out, " event=%s",
			iosched_trace_event_name((enum iosched_trace_event)rec->event));
	if (rec->latency != 0)
		fprintf(out, " lat=%" PRIu64, rec->latency);
	if (rec->cpu != 0)
		fprintf(out, " cpu=%" PRIu32, rec->cpu);
	if (rec->error != 0)
		fprintf(out, " err=%" PRId32, rec->error);
	if (rec->process[0] != '\0')
		put_name(out, "proc", rec->process);
	if (rec->file != NULL)
		put_name(out, "file", rec->file);
}

/* Members a caller may have filled itself. */
static bool native_valid(const struct iosched_trace_record *rec)
{
	return (rec->op <= IOSCHED_DISCARD || rec->op == IOSCHED_TRACE_OP_NONE) &&
	       rec->event < IOSCHED_TRACE_EVENTS && rec->prio_class <= IOSCHED_IDLE &&
	       rec->prio_level <= 8 && rec->offset <= UINT64_MAX - rec->length &&
	       rec->error > INT32_MIN && memchr(rec->process, '\0', sizeof(rec->process)) != NULL &&
	       (rec->file == NULL ||
		(rec->file[0] != '\0' && strlen(rec->file) <= IOS_TRACE_NAME_MAX));
}

static int write_native(struct iosched_trace_writer *w, const struct iosched_trace_record *rec)
{
	if (!native_valid(rec))
		return -EINVAL;
	fprintf(w->out, "%" PRIu64 " %" PRIu64 " %c ", rec->time, rec->context,
		rec->op == IOSCHED_TRACE_OP_NONE ? 'N' : IOS_NATIVE_OPS[rec->op]);
	put_flags(w->out, rec->flags);
	fprintf(w->out, " %" PRIu64 " %" PRIu64, rec->offset, rec->length);
	put_options(w->out, rec);
	putc('\n', w->out);
	return ios_trace_writer_status(w);
}

int iosched_trace_write(struct iosched_trace_writer *w, const struct iosched_trace_record *rec)
{
	if (w->failed)
		return -EIO;
	return w->options.format == IOSCHED_TRACE_NATIVE ? write_native(w, rec)
							 : ios_fio_write(w, rec);
}

int iosched_trace_writer_close(struct iosched_trace_writer *w)
{
	int err;

	if (w == NULL)
		return 0;
	if (w->options.format != IOSCHED_TRACE_NATIVE)
		ios_fio_end(w);
	if (fflush(w->out) != 0)
		w->failed = true;
	err = ios_trace_writer_status(w);
	ios_trace_names_fini(&w->names);
	free(w->file);
	free(w);
	return err;
}
