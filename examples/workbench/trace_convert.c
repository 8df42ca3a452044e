/* SPDX-License-Identifier: MIT */
/*
 * trace convert: a trace of any format as our own text, or as fio's.
 *
 * Native text keeps every record. fio's logs know requests only: they get the arrivals.
 */
#include <errno.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "progress.h"
#include "source.h"

static int open_input(struct wb_source *s, const struct wb_options *o)
{
	struct iosched_trace_options options;

	iosched_trace_options_init(&options, sizeof(options));
	options.format = o->format;
	options.skip_bad = o->skip_bad;
	if (o->to != IOSCHED_TRACE_NATIVE) {
		options.select = IOSCHED_TRACE_SELECT_ARRIVALS;
		options.from_zero = 1;
	}
	return wb_source_open(s, o->operands[0], &options);
}

static int copy_records(struct wb_source *s, struct iosched_trace_writer *w)
{
	struct iosched_trace_record rec;
	struct wb_progress progress;
	uint64_t n = 0;
	int code;
	int got;

	wb_progress_begin(&progress, "converting", 0);
	while ((code = wb_source_next(s, &rec, &got)) == WB_OK && got == 1) {
		int err = iosched_trace_write(w, &rec);

		if (err == -EIO)
			break; /* of the stream; it says so when it is closed */
		if (err != 0) {
			code = wb_fail("%s:%llu: cannot be written: %s", s->path,
				       (unsigned long long)rec.position, strerror(-err));
			break;
		}
		wb_progress_at(&progress, ++n);
	}
	wb_progress_end(&progress);
	return code;
}

static int convert(struct wb_source *s, const struct wb_options *o, FILE *file)
{
	struct iosched_trace_writer_options options;
	struct iosched_trace_writer *w;
	int code;
	int err;

	iosched_trace_writer_options_init(&options, sizeof(options));
	options.format = o->to;
	err = iosched_trace_writer_open(&w, file, &options);
	if (err != 0)
		return wb_fail("%s: cannot be begun: %s", o->operands[1], strerror(-err));
	code = copy_records(s, w);
	err = iosched_trace_writer_close(w);
	if (code == WB_OK && err != 0)
		code = wb_fail("%s: could not be written: %s", o->operands[1], strerror(-err));
	return code;
}

static int run(const struct wb_options *o)
{
	struct wb_source s;
	struct wb_output out = {0};
	int code = open_input(&s, o);

	if (code == WB_OK)
		code = wb_output_open(&out, o->operands[1]);
	if (code == WB_OK)
		code = wb_output_close(&out, convert(&s, o, out.file));
	wb_source_close(&s);
	return code;
}

const struct wb_verb wb_verb_trace_convert = {
	.name = "trace convert",
	.operands = "IN OUT",
	.least = 2,
	.most = 2,
	.summary = "write a trace in another format",
	.help = "IN is read as by `iosched replay`. OUT appears when all is written, or not at "
		"all; \"-\"\n"
		"is standard output. native keeps every record; fio2 and fio3 (fio --read_iolog) "
		"get\n"
		"the arrivals, with times from 0 in microseconds.\n",
	.options = WB_BIT(FORMAT) | WB_BIT(SKIP_BAD) | WB_BIT(TO),
	.run = run,
};
