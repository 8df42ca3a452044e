/* SPDX-License-Identifier: MIT */
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "source.h"
#include "units.h"

static bool make_room(struct wb_workload *w)
{
	size_t room = w->room == 0 ? 4096 : w->room * 2;
	struct iosched_sim_record *records;

	if (w->count < w->room)
		return true;
	records = reallocarray(w->records, room, sizeof(*records));
	if (records == NULL)
		return false;
	w->records = records;
	w->room = room;
	return true;
}

static int add(struct wb_workload *w, const struct iosched_trace_record *rec)
{
	struct iosched_request rq;

	if (iosched_trace_to_request(rec, &rq) != 0)
		return WB_OK; /* not selected by the reader, so this does not happen */
	if (!make_room(w) || !wb_names_count(&w->names, rec))
		return wb_fail("%s: too long for the memory there is", w->path);
	w->records[w->count++] = (struct iosched_sim_record){
		.time_ns = rec->time,
		.offset = rq.offset,
		.length = rq.length,
		.context = rq.context,
		.flags = rq.flags,
		.op = rq.op,
		.prio_class = rq.prio_class,
		.prio_level = rq.prio_level,
	};
	w->bytes += rq.length;
	w->reads += rq.op == IOSCHED_READ;
	if (rec->time > w->span_ns)
		w->span_ns = rec->time;
	return WB_OK;
}

static int read_all(struct wb_workload *w, struct wb_source *s)
{
	struct iosched_trace_record rec;
	struct wb_progress progress;
	int code;
	int got;

	wb_progress_begin(&progress, "reading", 0);
	while ((code = wb_source_next(s, &rec, &got)) == WB_OK && got == 1) {
		code = add(w, &rec);
		if (code != WB_OK)
			break;
		wb_progress_at(&progress, w->count);
	}
	wb_progress_end(&progress);
	return code;
}

static void note_skipped(struct wb_workload *w, const struct wb_source *s)
{
	struct iosched_trace_stats stats = {.size = sizeof(stats)};

	iosched_trace_stats_get(s->trace, &stats, sizeof(stats));
	w->skipped = stats.skipped;
	if (stats.skipped > 0)
		wb_complain("%s: %llu malformed lines passed over, the first: %s", w->path,
			    (unsigned long long)stats.skipped, iosched_trace_error(s->trace));
}

int wb_workload_load(struct wb_workload *w, const struct wb_options *o, const char *path)
{
	struct iosched_trace_options options;
	struct wb_source s;
	int code;

	*w = (struct wb_workload){.path = path};
	iosched_trace_options_init(&options, sizeof(options));
	options.format = o->format;
	options.skip_bad = o->skip_bad;
	options.select = IOSCHED_TRACE_SELECT_ARRIVALS;
	options.from_zero = 1;
	code = wb_source_open(&s, path, &options);
	if (code == WB_OK)
		code = read_all(w, &s);
	if (code == WB_OK) {
		note_skipped(w, &s);
		w->format = iosched_trace_format(s.trace);
		w->timed = iosched_trace_timed(s.trace);
		if (w->count == 0)
			code = wb_fail("%s: holds no request that could be replayed", path);
	}
	wb_source_close(&s);
	return code;
}

void wb_workload_fini(struct wb_workload *w)
{
	free(w->records);
	wb_names_fini(&w->names);
	*w = (struct wb_workload){0};
}

void wb_workload_print(const struct wb_workload *w, const struct wb_options *o)
{
	char bytes[WB_TEXT_SIZE];

	printf("%s: %zu requests (%zu%% reads) of %zu context%s, %s, ", w->path, w->count,
	       (size_t)(w->reads * 100 / w->count), w->names.count, w->names.count == 1 ? "" : "s",
	       wb_size_text(bytes, w->bytes));
	if (o->closed != 0)
		printf("%u kept outstanding", o->closed);
	else if (!w->timed)
		printf("one after the other (the trace has no times of arrival)");
	else
		printf("arriving over %.3f s",
		       (double)w->span_ns * (double)o->scale_permille / 1e12);
	printf("; device %s", o->device_spec);
	if (o->window != 0)
		printf(", at most %u at once", o->window);
	putchar('\n');
}
