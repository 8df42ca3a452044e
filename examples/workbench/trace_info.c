/* SPDX-License-Identifier: MIT */
/* trace info: what a trace is and what is in it. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "options.h"
#include "progress.h"
#include "source.h"
#include "table.h"
#include "tally.h"
#include "units.h"

/* Contexts listed; those with most bytes. */
#define TOP_CONTEXTS 10

static const char *const op_names[WB_OPS] = {"read", "write", "flush", "discard", "other"};

static const char *event_words(unsigned event)
{
	static const char *const words[IOSCHED_TRACE_EVENTS] = {
		[IOSCHED_TRACE_REQUEST] = "requests",
		[IOSCHED_TRACE_QUEUE] = "arrivals",
		[IOSCHED_TRACE_BACK_MERGE] = "back merges",
		[IOSCHED_TRACE_FRONT_MERGE] = "front merges",
		[IOSCHED_TRACE_GET] = "requests got",
		[IOSCHED_TRACE_SLEEP] = "waits for a request",
		[IOSCHED_TRACE_REQUEUE] = "requeues",
		[IOSCHED_TRACE_ISSUE] = "issues to the device",
		[IOSCHED_TRACE_COMPLETE] = "completions",
		[IOSCHED_TRACE_PLUG] = "plugs",
		[IOSCHED_TRACE_UNPLUG] = "unplugs",
		[IOSCHED_TRACE_UNPLUG_TIMER] = "unplugs by timer",
		[IOSCHED_TRACE_INSERT] = "inserts into the scheduler",
		[IOSCHED_TRACE_SPLIT] = "splits",
		[IOSCHED_TRACE_BOUNCE] = "bounces",
		[IOSCHED_TRACE_REMAP] = "remaps",
		[IOSCHED_TRACE_ABORT] = "aborts",
		[IOSCHED_TRACE_DRIVER] = "driver data",
	};

	return words[event] != NULL ? words[event] : "";
}

static int by_bytes(const void *a, const void *b)
{
	const struct wb_name *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->requests != y->requests)
		return x->requests < y->requests ? 1 : -1;
	return x->context > y->context ? 1 : -1;
}

/* A copy in order of bytes; the caller frees it. */
static struct wb_name *sorted_names(const struct wb_names *n)
{
	struct wb_name *names = malloc((n->count + 1) * sizeof(*names));

	if (names != NULL) {
		memcpy(names, n->names, n->count * sizeof(*names));
		qsort(names, n->count, sizeof(*names), by_bytes);
	}
	return names;
}

/* --- As text --- */

static int print_kinds(const struct wb_tally *t)
{
	static const struct wb_column columns[] = {
		{NULL, "record", true}, {NULL, "number", false}, {NULL, "what", true}};
	struct wb_table table;

	wb_table_init(&table, columns, 3);
	for (unsigned i = 0; i < IOSCHED_TRACE_EVENTS; i++) {
		if (t->kinds[i].records == 0)
			continue;
		wb_table_add(&table, "%s", iosched_trace_event_name((enum iosched_trace_event)i));
		wb_table_add(&table, "%llu", (unsigned long long)t->kinds[i].records);
		wb_table_add(&table, "%s", event_words(i));
	}
	return wb_table_print(&table, 2);
}

static int print_ops(const struct wb_kind_tally *k)
{
	static const struct wb_column columns[] = {{NULL, "operation", true},
						   {NULL, "number", false},
						   {NULL, "bytes", false},
						   {NULL, "mean size", false}};
	struct wb_table table;
	char text[WB_TEXT_SIZE];

	wb_table_init(&table, columns, 4);
	for (unsigned i = 0; i < WB_OPS; i++) {
		if (k->ops[i] == 0)
			continue;
		wb_table_add(&table, "%s", op_names[i]);
		wb_table_add(&table, "%llu", (unsigned long long)k->ops[i]);
		wb_table_add(&table, "%s", wb_size_text(text, k->bytes[i]));
		wb_table_add(&table, "%s", wb_size_text(text, k->bytes[i] / k->ops[i]));
	}
	return wb_table_print(&table, 2);
}

static int print_sizes(const struct wb_kind_tally *k)
{
	static const struct wb_column columns[] = {{NULL, "size below", false},
						   {NULL, "number", false}};
	struct wb_table table;
	char text[WB_TEXT_SIZE];

	wb_table_init(&table, columns, 2);
	for (unsigned i = 0; i < WB_SIZES; i++) {
		if (k->sizes[i] == 0)
			continue;
		if (i == 0)
			wb_table_add(&table, "(nothing)");
		else
			wb_table_add(&table, "%s",
				     i == WB_SIZES - 1 ? "16 EiB"
						       : wb_size_text(text, UINT64_C(1) << i));
		wb_table_add(&table, "%llu", (unsigned long long)k->sizes[i]);
	}
	return wb_table_print(&table, 2);
}

static int print_contexts(const struct wb_kind_tally *k)
{
	static const struct wb_column columns[] = {{NULL, "context", true},
						   {NULL, "process", true},
						   {NULL, "number", false},
						   {NULL, "bytes", false}};
	struct wb_name *names = sorted_names(&k->names);
	struct wb_table table;
	char text[WB_TEXT_SIZE];
	int code;

	if (names == NULL)
		return wb_fail("out of memory");
	wb_table_init(&table, columns, 4);
	for (size_t i = 0; i < k->names.count && i < TOP_CONTEXTS; i++) {
		wb_table_add(&table, "%llu", (unsigned long long)names[i].context);
		wb_table_add(&table, "%s", names[i].process);
		wb_table_add(&table, "%llu", (unsigned long long)names[i].requests);
		wb_table_add(&table, "%s", wb_size_text(text, names[i].bytes));
	}
	free(names);
	code = wb_table_print(&table, 2);
	if (k->names.count > TOP_CONTEXTS)
		printf("  and %zu more contexts\n", k->names.count - TOP_CONTEXTS);
	return code;
}

static void print_devices(const struct wb_tally *t)
{
	const unsigned room = sizeof(t->devices) / sizeof(t->devices[0]);

	fputs("devices:", stdout);
	for (unsigned i = 0; i < t->device_count && i < room; i++)
		printf(" %u:%u", t->devices[i] >> 20, t->devices[i] & 0xfffff);
	puts(t->device_count > room ? " and more" : "");
}

static int print_tally(const struct wb_source *s, const struct wb_tally *t)
{
	enum iosched_trace_format format = iosched_trace_format(s->trace);
	enum iosched_trace_event event;
	const struct wb_kind_tally *k = wb_tally_arrivals(t, &event);
	char end[WB_TEXT_SIZE];
	int code;

	printf("%s: %s (%s)\n", s->path, iosched_trace_format_name(format),
	       iosched_trace_format_summary(format));
	printf("records: %llu over %.6f s\n", (unsigned long long)t->records,
	       (double)(t->last - t->first) / 1e9);
	code = print_kinds(t);
	if (k == NULL) {
		puts("no request that could be replayed\n");
		return code;
	}
	print_devices(t);
	printf("a replay takes the %s (%s), which end at %s:\n", event_words(event),
	       iosched_trace_event_name(event), wb_size_text(end, k->end));
	if (code == WB_OK)
		code = print_ops(k);
	if (code == WB_OK)
		code = print_sizes(k);
	if (code == WB_OK)
		code = print_contexts(k);
	putchar('\n');
	return code;
}

/* --- As JSON --- */

static struct wb_json *kinds_json(const struct wb_tally *t)
{
	struct wb_json *out = wb_json_object();

	for (unsigned i = 0; i < IOSCHED_TRACE_EVENTS; i++)
		if (t->kinds[i].records != 0)
			wb_json_set_number(out,
					   iosched_trace_event_name((enum iosched_trace_event)i),
					   t->kinds[i].records);
	return out;
}

static struct wb_json *ops_json(const struct wb_kind_tally *k)
{
	struct wb_json *out = wb_json_object();

	for (unsigned i = 0; i < WB_OPS; i++) {
		struct wb_json *op;

		if (k->ops[i] == 0)
			continue;
		op = wb_json_object();
		wb_json_set_number(op, "requests", k->ops[i]);
		wb_json_set_number(op, "bytes", k->bytes[i]);
		wb_json_set(out, op_names[i], op);
	}
	return out;
}

static struct wb_json *contexts_json(const struct wb_kind_tally *k)
{
	struct wb_json *out = wb_json_array();

	for (size_t i = 0; i < k->names.count; i++) {
		const struct wb_name *name = &k->names.names[i];
		struct wb_json *one = wb_json_object();

		wb_json_set_number(one, "context", name->context);
		wb_json_set_text(one, "process", name->process);
		wb_json_set_number(one, "requests", name->requests);
		wb_json_set_number(one, "bytes", name->bytes);
		wb_json_append(out, one);
	}
	return out;
}

static struct wb_json *tally_json(const struct wb_source *s, const struct wb_tally *t)
{
	struct wb_json *out = wb_json_object();
	enum iosched_trace_event event;
	const struct wb_kind_tally *k = wb_tally_arrivals(t, &event);

	wb_json_set_text(out, "trace", s->path);
	wb_json_set_text(out, "format", iosched_trace_format_name(iosched_trace_format(s->trace)));
	wb_json_set_number(out, "records", t->records);
	wb_json_set_number(out, "span_ns", t->last - t->first);
	wb_json_set(out, "kinds", kinds_json(t));
	if (k != NULL) {
		wb_json_set_text(out, "arrivals", iosched_trace_event_name(event));
		wb_json_set_number(out, "end", k->end);
		wb_json_set(out, "ops", ops_json(k));
		wb_json_set(out, "contexts", contexts_json(k));
	}
	return out;
}

/* --- The verb --- */

static int count_all(struct wb_source *s, struct wb_tally *t)
{
	struct iosched_trace_record rec;
	struct wb_progress progress;
	int code;
	int got;

	wb_progress_begin(&progress, "reading", 0);
	while ((code = wb_source_next(s, &rec, &got)) == WB_OK && got == 1) {
		if (!wb_tally_add(t, &rec)) {
			code = wb_fail("out of memory");
			break;
		}
		wb_progress_at(&progress, t->records);
	}
	wb_progress_end(&progress);
	return code;
}

static int info_of(const struct wb_options *o, const char *path, struct wb_json *all)
{
	struct iosched_trace_options options;
	struct wb_source s;
	struct wb_tally *t = calloc(1, sizeof(*t));
	int code;

	if (t == NULL)
		return wb_fail("out of memory");
	iosched_trace_options_init(&options, sizeof(options));
	options.format = o->format;
	options.skip_bad = o->skip_bad;
	code = wb_source_open(&s, path, &options);
	if (code == WB_OK)
		code = count_all(&s, t);
	if (code == WB_OK && o->json)
		wb_json_append(all, tally_json(&s, t));
	else if (code == WB_OK)
		code = print_tally(&s, t);
	wb_source_close(&s);
	wb_tally_fini(t);
	free(t);
	return code;
}

static int run(const struct wb_options *o)
{
	struct wb_json *all;
	int code = WB_OK;

	if (o->json && !wb_json_available())
		return WB_FAILED;
	all = o->json ? wb_json_array() : NULL;
	for (unsigned i = 0; code == WB_OK && i < o->operand_count; i++)
		code = info_of(o, o->operands[i], all);
	if (!o->json)
		return code;
	if (code == WB_OK)
		return wb_json_print(all);
	wb_json_free(all);
	return code;
}

const struct wb_verb wb_verb_trace_info = {
	.name = "trace info",
	.operands = "FILE...",
	.least = 1,
	.most = UINT32_MAX,
	.summary = "say what traces are and what is in them",
	.help = "Format, records of each kind, span of time, operations, sizes and contexts. "
		"`--format x`\n"
		"with a name there is none such lists the formats. Binary traces of several CPUs\n"
		"(NAME.blktrace.0, .1, ...) are read together as NAME.\n",
	.options = WB_BIT(FORMAT) | WB_BIT(SKIP_BAD) | WB_BIT(JSON),
	.run = run,
};
