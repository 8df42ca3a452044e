/* SPDX-License-Identifier: MIT */
/* report_json: a set of runs as JSON: everything the simulator measured. */
#include "report.h"

static struct wb_json *latency_json(const struct iosched_sim_latency *l)
{
	struct wb_json *out = wb_json_object();

	wb_json_set_number(out, "mean_ns", l->mean);
	wb_json_set_number(out, "p50_ns", l->p50);
	wb_json_set_number(out, "p90_ns", l->p90);
	wb_json_set_number(out, "p99_ns", l->p99);
	wb_json_set_number(out, "p999_ns", l->p999);
	wb_json_set_number(out, "max_ns", l->max);
	return out;
}

static const char *op_name(uint8_t op)
{
	static const char *const names[] = {"read", "write", "flush", "discard"};

	return op < sizeof(names) / sizeof(names[0]) ? names[op] : "all";
}

static struct wb_json *row_json(const struct wb_workload *w, const struct iosched_sim_row *row)
{
	const struct wb_name *name = wb_names_find(&w->names, row->context);
	struct wb_json *out = wb_json_object();

	/* Those for all contexts, and for those past the meter's limit, have none: null. */
	wb_json_set_number(out, "context", row->context);
	wb_json_set_text(out, "name",
			 name != NULL && name->process[0] != '\0' ? name->process : row->name);
	wb_json_set_text(out, "op", op_name(row->op));
	wb_json_set_number(out, "requests", row->requests);
	wb_json_set_number(out, "bytes", row->bytes);
	wb_json_set_number(out, "merged", row->merged);
	wb_json_set_number(out, "failed", row->failed);
	wb_json_set_number(out, "bytes_per_s", row->bytes_per_s);
	wb_json_set_number(out, "milli_iops", row->milli_iops);
	wb_json_set_number(out, "device_ns", row->device_ns);
	wb_json_set_number(out, "device_share_ppm", row->device_share_ppm);
	wb_json_set(out, "wait", latency_json(&row->wait));
	wb_json_set(out, "device", latency_json(&row->device));
	wb_json_set(out, "total", latency_json(&row->total));
	return out;
}

static struct wb_json *device_json(const struct iosched_sim_device_stats *d)
{
	struct wb_json *out = wb_json_object();

	wb_json_set_number(out, "commands", d->commands);
	wb_json_set_number(out, "media_ops", d->media_ops);
	wb_json_set_number(out, "media_ns", d->media_ns);
	wb_json_set_number(out, "position_ns", d->position_ns);
	wb_json_set_number(out, "transfer_ns", d->transfer_ns);
	wb_json_set_number(out, "seeks", d->seeks);
	wb_json_set_number(out, "seek_bytes", d->seek_bytes);
	wb_json_set_number(out, "read_hits", d->read_hits);
	wb_json_set_number(out, "cached_writes", d->cached_writes);
	wb_json_set_number(out, "destages", d->destages);
	wb_json_set_number(out, "flushes", d->flushes);
	wb_json_set_number(out, "errors", d->errors);
	return out;
}

static struct wb_json *queue_json(const struct iosched_sim_result *r)
{
	struct wb_json *out = wb_json_object();

	wb_json_set_number(out, "inserted", r->stats.inserted);
	wb_json_set_number(out, "dispatched", r->stats.dispatched);
	wb_json_set_number(out, "completed", r->stats.completed);
	wb_json_set_number(out, "cancelled", r->stats.cancelled);
	wb_json_set_number(out, "requeued", r->stats.requeued);
	wb_json_set_number(out, "back_merges", r->stats.back_merges);
	wb_json_set_number(out, "front_merges", r->stats.front_merges);
	wb_json_set_number(out, "coalesced", r->stats.coalesced);
	wb_json_set_number(out, "context_overflow", r->stats.context_overflow);
	wb_json_set_number(out, "internal_flushes", r->stats.internal_flushes);
	return out;
}

static struct wb_json *ratios_json(const struct wb_run *run, const struct wb_run *base)
{
	const struct iosched_sim_row *a = wb_run_all(run);
	const struct iosched_sim_row *b = wb_run_all(base);
	struct wb_json *out = wb_json_object();

	wb_json_set_text(out, "policy", iosched_policy_name(base->policy));
	if (b->bytes_per_s != 0)
		wb_json_set_real(out, "bytes_per_s",
				 (double)a->bytes_per_s / (double)b->bytes_per_s);
	if (b->total.p50 != 0)
		wb_json_set_real(out, "total_p50", (double)a->total.p50 / (double)b->total.p50);
	if (b->total.p99 != 0)
		wb_json_set_real(out, "total_p99", (double)a->total.p99 / (double)b->total.p99);
	return out;
}

static struct wb_json *programs_json(const struct iosched_sim_result *r)
{
	struct wb_json *out = wb_json_array();

	for (unsigned i = 0; i < r->program_count; i++) {
		const struct iosched_sim_program_result *p = &r->programs[i];
		struct wb_json *one = wb_json_object();

		wb_json_set_text(one, "program", p->name);
		wb_json_set_number(one, "first_context", p->first_context);
		wb_json_set_number(one, "operations", p->operations);
		wb_json_set_number(one, "bytes", p->bytes);
		wb_json_set_number(one, "elapsed_ns", p->elapsed_ns);
		wb_json_set_number(one, "syncs", p->syncs);
		wb_json_set_number(one, "sync_ns", p->sync_ns);
		wb_json_append(out, one);
	}
	return out;
}

struct wb_json *wb_report_run_json(const struct wb_runs *set, const struct wb_run *run)
{
	const struct iosched_sim_result *r = run->result;
	struct wb_json *out = wb_json_object();
	struct wb_json *rows = wb_json_array();

	for (unsigned i = 0; i < r->row_count; i++)
		wb_json_append(rows, row_json(set->w, &r->rows[i]));
	wb_json_set_text(out, "policy", iosched_policy_name(run->policy));
	if (run->label != NULL)
		wb_json_set_text(out, "label", run->label);
	wb_json_set_hex(out, "digest", r->digest);
	wb_json_set_number(out, "end_ns", r->end);
	wb_json_set_number(out, "submitted", r->submitted);
	wb_json_set_number(out, "completed", r->completed);
	wb_json_set_number(out, "failed", r->failed);
	wb_json_set_number(out, "folded_records", r->folded_records);
	wb_json_set_number(out, "unordered_records", r->unordered_records);
	wb_json_set_number(out, "seeks", r->seeks);
	wb_json_set_number(out, "seek_bytes", r->seek_bytes);
	wb_json_set_number(out, "held_ns", r->held_ns);
	wb_json_set_number(out, "empty_ns", r->empty_ns);
	wb_json_set_real(out, "jain", r->jain);
	wb_json_set(out, "queue", queue_json(r));
	wb_json_set(out, "device", device_json(&r->device));
	wb_json_set(out, "rows", rows);
	if (r->program_count > 0)
		wb_json_set(out, "programs", programs_json(r));
	return out;
}

struct wb_json *wb_report_json(const struct wb_runs *r, int base)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *runs = wb_json_array();

	for (unsigned i = 0; i < r->count; i++) {
		struct wb_json *run = wb_report_run_json(r, &r->runs[i]);

		if (base >= 0)
			wb_json_set(run, "against", ratios_json(&r->runs[i], &r->runs[base]));
		wb_json_append(runs, run);
	}
	wb_json_set_text(out, "trace", r->w->path);
	wb_json_set_text(out, "format", iosched_trace_format_name(r->w->format));
	wb_json_set_number(out, "requests", r->w->count);
	wb_json_set_number(out, "contexts", r->w->names.count);
	wb_json_set_number(out, "bytes", r->w->bytes);
	wb_json_set_number(out, "span_ns", r->w->span_ns);
	wb_json_set_number(out, "skipped_lines", r->w->skipped);
	wb_json_set_text(out, "device", r->o->device_spec);
	wb_json_set_number(out, "scale_permille", r->o->closed != 0 ? 0 : r->o->scale_permille);
	wb_json_set_number(out, "closed", r->o->closed);
	wb_json_set_number(out, "window", r->o->window);
	wb_json_set_number(out, "seed", r->o->seed);
	wb_json_set(out, "runs", runs);
	return out;
}
