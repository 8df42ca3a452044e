/* SPDX-License-Identifier: MIT */
#include "explain_log.h"

#include <stdarg.h>
#include <stdio.h>

#include <iosched/sim.h>

#include "units.h"

static void __attribute__((format(printf, 3, 4)))
line(struct wb_log *l, iosched_time now, const char *format, ...)
{
	va_list args;

	if (now < l->from)
		return;
	if (l->limit == 0) {
		l->left_out++;
		return;
	}
	if (l->limit != UINT64_MAX)
		l->limit--;
	printf("%14.6f ms  ", (double)now / 1e6);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

#define REQUEST_SIZE 128

/* "#17 read 16 KiB at sector 4096"; a trace counts sectors of 512 bytes. */
static const char *request_text(char out[REQUEST_SIZE], const struct iosched_request *rq)
{
	static const char *const ops[] = {"read", "write", "flush", "discard"};
	unsigned long long number = iosched_sim_request_number(rq);
	char size[WB_TEXT_SIZE];

	if (rq->op == IOSCHED_FLUSH)
		snprintf(out, REQUEST_SIZE,
			 number != 0 ? "#%llu flush" : "flush of the policy's own", number);
	else
		snprintf(out, REQUEST_SIZE, "#%llu %s%s %s at %s %llu", number,
			 rq->op == IOSCHED_WRITE && iosched_request_is_sync(rq) ? "sync " : "",
			 ops[rq->op & 3], wb_size_text(size, rq->span_length),
			 rq->span_offset % 512 == 0 ? "sector" : "byte",
			 (unsigned long long)(rq->span_offset % 512 == 0 ? rq->span_offset / 512
									 : rq->span_offset));
	return out;
}

static unsigned merged_count(const struct iosched_request *rq)
{
	unsigned n = 0;

	for (const struct iosched_request *m = rq->merged; m != NULL; m = iosched_merged_next(m))
		n++;
	return n;
}

static const char *seek_text(char out[WB_TEXT_SIZE * 2], const struct wb_log *l,
			     const struct iosched_request *rq)
{
	char size[WB_TEXT_SIZE];

	if (rq->span_length == 0)
		return "";
	if (rq->span_offset == l->head_end)
		return ", goes on where the last one ended";
	if (rq->span_offset > l->head_end)
		snprintf(out, WB_TEXT_SIZE * 2, ", %s ahead",
			 wb_size_text(size, rq->span_offset - l->head_end));
	else
		snprintf(out, WB_TEXT_SIZE * 2, ", %s back",
			 wb_size_text(size, l->head_end - rq->span_offset));
	return out;
}

static void say_dispatch(struct wb_log *l, const struct iosched_event *e, uint64_t idle_ns)
{
	const struct iosched_request *rq = e->rq;
	unsigned merged = merged_count(rq);
	char request[REQUEST_SIZE], who[WB_CONTEXT_SIZE], seek[WB_TEXT_SIZE * 2];
	char tail[96] = "";
	int n = 0;

	if (merged > 0)
		n = snprintf(tail, sizeof(tail), ", %u merged into it", merged);
	if (idle_ns > 0)
		snprintf(tail + n, sizeof(tail) - (size_t)n,
			 "; the device had been held idle for %.3f ms", (double)idle_ns / 1e6);
	line(l, e->now, "%s: dispatch %s, waited %.3f ms%s%s",
	     wb_context_text(who, l->names, rq->context), request_text(request, rq),
	     (double)(e->now - rq->inserted) / 1e6, seek_text(seek, l, rq), tail);
	if (rq->span_length != 0)
		l->head_end = rq->span_offset + rq->span_length;
}

static void say_rule(struct wb_log *l, const struct iosched_event *e)
{
	char who[WB_CONTEXT_SIZE], other[WB_CONTEXT_SIZE];
	char gains[WB_CONTEXT_SIZE + 8] = "";
	char until[48] = "";

	if (e->other_context != 0)
		snprintf(gains, sizeof(gains), " -> %s",
			 wb_context_text(other, l->names, e->other_context));
	if (e->until != IOSCHED_NEVER)
		snprintf(until, sizeof(until), ", until %.6f ms", (double)e->until / 1e6);
	line(l, e->now, "%s: %s%s%s",
	     e->context != 0 ? wb_context_text(who, l->names, e->context) : "policy", e->rule,
	     gains, until);
}

static void say_hold(struct wb_log *l, const struct wb_holds *h, const struct iosched_event *e)
{
	char until[48] = "";

	if (e->until != IOSCHED_NEVER)
		snprintf(until, sizeof(until), " until %.6f ms", (double)e->until / 1e6);
	line(l, e->now, "%s: nothing is issued%s (%s%s%llu queued, %u in flight)",
	     h->inflight == 0 ? "device idle" : "held back", until, wb_hold_text(e->hold), "; ",
	     (unsigned long long)h->queued, h->inflight);
}

static void say_step(struct wb_log *l, const struct iosched_event *e, const char *what)
{
	char request[REQUEST_SIZE], who[WB_CONTEXT_SIZE];
	char other[32] = "";

	if (!l->all)
		return;
	if (e->other != NULL)
		snprintf(other, sizeof(other), " #%llu",
			 (unsigned long long)iosched_sim_request_number(e->other));
	line(l, e->now, "%s: %s %s%s", wb_context_text(who, l->names, e->rq->context),
	     request_text(request, e->rq), what, other);
}

void wb_log_event(struct wb_log *l, const struct wb_holds *h, const struct iosched_event *e,
		  bool news, uint64_t idle_ns)
{
	switch (e->type) {
	case IOSCHED_EVENT_INSERT:
		say_step(l, e, "arrives");
		break;
	case IOSCHED_EVENT_BACK_MERGE:
		say_step(l, e, "arrives and is appended to");
		break;
	case IOSCHED_EVENT_FRONT_MERGE:
		say_step(l, e, "arrives and is put before");
		break;
	case IOSCHED_EVENT_COALESCE:
		say_step(l, e, "is absorbed by");
		break;
	case IOSCHED_EVENT_COMPLETE:
		say_step(l, e, "is done");
		break;
	case IOSCHED_EVENT_REQUEUE:
		say_step(l, e, "comes back from the device, which is full");
		break;
	case IOSCHED_EVENT_CANCEL:
		say_step(l, e, "is taken back");
		break;
	case IOSCHED_EVENT_DISPATCH:
		say_dispatch(l, e, idle_ns);
		break;
	case IOSCHED_EVENT_RULE:
		say_rule(l, e);
		break;
	case IOSCHED_EVENT_HOLD:
		if (news)
			say_hold(l, h, e);
		break;
	case IOSCHED_EVENT_SWITCH:
		break;
	}
}
