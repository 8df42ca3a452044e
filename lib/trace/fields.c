/* SPDX-License-Identifier: MIT */
/*
 * fields: one field of a line into one member of a record, with the complaint if it cannot be.
 * All of them return 0 or -EBADMSG (names: also -E2BIG, -ENOMEM).
 */
#include "trace/reader.h"

#include <stdarg.h>

int ios_trace_fail(struct iosched_trace *t, const struct ios_trace_input *in, int err,
		   const char *format, ...)
{
	bool binary = t->format != NULL && t->format->fetch != NULL;
	va_list args;
	int n;

	/* With skip_bad the first complaint stays, unless this one ends the trace. */
	if (t->error[0] != '\0' && t->options.skip_bad && err == -EBADMSG)
		return err;
	/* A long path may not push the complaint out. */
	n = snprintf(t->error, sizeof(t->error),
		     binary ? "%.300s: record %llu: " : "%.300s:%llu: ", in->name,
		     (unsigned long long)in->position);
	va_start(args, format);
	if (n > 0 && (size_t)n < sizeof(t->error))
		vsnprintf(t->error + n, sizeof(t->error) - (size_t)n, format, args);
	va_end(args);
	return err;
}

/* At most 40 characters, control characters and bytes beyond ASCII as '?'. */
static void printable(struct ios_span word, char *out)
{
	size_t n = ios_span_length(word);
	size_t shown = n > 40 ? 40 : n;

	for (size_t i = 0; i < shown; i++)
		out[i] = word.at[i] < ' ' || word.at[i] > '~' ? '?' : word.at[i];
	memcpy(out + shown, n > shown ? "..." : "", n > shown ? 4 : 1);
}

int ios_trace_bad(struct iosched_trace *t, const char *what, struct ios_span word,
		  const char *complaint)
{
	char shown[44];

	printable(word, shown);
	if (ios_span_empty(word))
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG, "%s is missing", what);
	return ios_trace_fail(t, &t->inputs[0], -EBADMSG, "%s: \"%s\" %s", what, shown, complaint);
}

static int number_bad(struct iosched_trace *t, const char *what, struct ios_span word, int err)
{
	return ios_trace_bad(t, what, word, err == -ERANGE ? "is too large" : "is not a number");
}

int ios_trace_u64(struct iosched_trace *t, const char *what, struct ios_span word, uint64_t *out)
{
	int err = ios_number_u64(word, out);

	return err == 0 ? 0 : number_bad(t, what, word, err);
}

int ios_trace_u32(struct iosched_trace *t, const char *what, struct ios_span word, uint32_t *out)
{
	uint64_t value;
	int err = ios_number_u64(word, &value);

	if (err == 0 && value > UINT32_MAX)
		err = -ERANGE;
	if (err != 0)
		return number_bad(t, what, word, err);
	*out = (uint32_t)value;
	return 0;
}

int ios_trace_decimal(struct iosched_trace *t, const char *what, struct ios_span word,
		      unsigned scale, uint64_t *out)
{
	int err = ios_number_decimal(word, scale, out);

	return err == 0 ? 0 : number_bad(t, what, word, err);
}

int ios_trace_bytes(struct iosched_trace *t, uint64_t offset, uint64_t length,
		    struct iosched_trace_record *rec)
{
	if (offset > UINT64_MAX - length)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
				      "offset + length is over 64 bits");
	rec->offset = offset;
	rec->length = length;
	return 0;
}

int ios_trace_sectors(struct iosched_trace *t, uint64_t sector, uint64_t count,
		      struct iosched_trace_record *rec)
{
	if (sector > UINT64_MAX / 512 || count > UINT64_MAX / 512)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
				      "sector %llu + %llu is over 64 bits of bytes",
				      (unsigned long long)sector, (unsigned long long)count);
	return ios_trace_bytes(t, sector * 512, count * 512, rec);
}

int ios_trace_read_or_write(struct iosched_trace *t, struct ios_span word,
			    struct iosched_trace_record *rec)
{
	if (ios_span_is_nocase(word, "r"))
		rec->op = IOSCHED_READ;
	else if (ios_span_is_nocase(word, "w"))
		rec->op = IOSCHED_WRITE;
	else
		return ios_trace_bad(t, "operation", word, "is neither R nor W");
	return 0;
}

int ios_trace_file(struct iosched_trace *t, struct ios_span name, struct iosched_trace_record *rec)
{
	uint32_t index = 0;
	int err = ios_trace_names_get(&t->names, name, &index);

	if (err == -EINVAL)
		return ios_trace_bad(t, "name", name, "is longer than 255 bytes");
	if (err != 0)
		return ios_trace_fail(t, &t->inputs[0], err,
				      err == -E2BIG ? "more than 65536 different names"
						    : "out of memory");
	rec->file = t->names.list[index].text;
	rec->device = index;
	return 0;
}

void ios_trace_process(struct ios_span name, struct iosched_trace_record *rec)
{
	size_t n = ios_span_length(name);

	if (n >= sizeof(rec->process))
		n = sizeof(rec->process) - 1;
	if (n > 0)
		memcpy(rec->process, name.at, n);
	rec->process[n] = '\0';
}

void ios_trace_context_is_device(struct iosched_trace_record *rec)
{
	/* + 1: context 0 is nobody in particular. */
	rec->context = (uint64_t)rec->device + 1;
}
