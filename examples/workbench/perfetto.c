/* SPDX-License-Identifier: MIT */
#include "perfetto.h"

#include <iosched/sim.h>

#include "units.h"

/* Process numbers: the device, then the contexts in order of appearance. 0 is Linux's idle
 * task to Perfetto. */
#define DEVICE_PID 1
#define FIRST_PID 2
#define STATE_TID 1
#define RULE_TID 2

/* States of the device's track; from STATE_HELD on, held for the reason of that number. */
enum { STATE_NONE = -1, STATE_EMPTY = 0, STATE_BUSY = 1, STATE_HELD = 2 };

static void put_text(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f) /* names of processes are any bytes */
			putc('?', f);
		else
			putc(c, f);
	}
	putc('"', f);
}

/* Opens an event; the caller ends it with close_event(). Times are microseconds. */
static void open_event(struct wb_perfetto *p, const char *phase, unsigned long long pid,
		       iosched_time ts)
{
	fputs(p->any ? ",\n" : "\n", p->file);
	p->any = true;
	fprintf(p->file, "{\"ph\":\"%s\",\"pid\":%llu,\"ts\":%llu.%03u", phase, pid,
		(unsigned long long)(ts / 1000), (unsigned)(ts % 1000));
}

static void put_name(struct wb_perfetto *p, const char *name)
{
	fputs(",\"name\":", p->file);
	put_text(p->file, name);
}

static void close_event(struct wb_perfetto *p)
{
	putc('}', p->file);
}

static void name_process(struct wb_perfetto *p, unsigned long long pid, const char *name)
{
	open_event(p, "M", pid, 0);
	put_name(p, "process_name");
	fputs(",\"args\":{\"name\":", p->file);
	put_text(p->file, name);
	fputs("}", p->file);
	close_event(p);
	open_event(p, "M", pid, 0);
	put_name(p, "process_sort_index");
	fprintf(p->file, ",\"args\":{\"sort_index\":%llu}", pid);
	close_event(p);
}

static void name_thread(struct wb_perfetto *p, int tid, const char *name)
{
	open_event(p, "M", DEVICE_PID, 0);
	put_name(p, "thread_name");
	fprintf(p->file, ",\"tid\":%d,\"args\":{\"name\":", tid);
	put_text(p->file, name);
	fputs("}", p->file);
	close_event(p);
}

void wb_perfetto_begin(struct wb_perfetto *p, FILE *file, const struct wb_names *names,
		       const char *policy)
{
	char text[WB_CONTEXT_SIZE];

	*p = (struct wb_perfetto){.file = file, .names = names, .state = STATE_NONE};
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"policy\":", file);
	put_text(file, policy);
	fputs("},\"traceEvents\":[", file);
	name_process(p, DEVICE_PID, "device");
	name_thread(p, STATE_TID, "busy or held back");
	name_thread(p, RULE_TID, "rules of the policy");
	for (size_t i = 0; i < names->count; i++)
		name_process(p, FIRST_PID + i,
			     wb_context_text(text, names, names->names[i].context));
}

/* --- The device's track --- */

static int state_of(const struct wb_holds *h)
{
	if (h->inflight > 0)
		return STATE_BUSY;
	if (h->holding)
		return STATE_HELD + (int)h->reason;
	return STATE_EMPTY;
}

static void put_counter(struct wb_perfetto *p, const char *name, uint64_t value)
{
	open_event(p, "C", DEVICE_PID, p->now);
	put_name(p, name);
	fprintf(p->file, ",\"args\":{\"requests\":%llu}", (unsigned long long)value);
	close_event(p);
}

static void end_slice(struct wb_perfetto *p)
{
	if (p->state == STATE_NONE || p->state == STATE_EMPTY)
		return;
	open_event(p, "E", DEVICE_PID, p->now);
	fprintf(p->file, ",\"tid\":%d", STATE_TID);
	close_event(p);
}

static void begin_slice(struct wb_perfetto *p, const struct wb_holds *h, int state)
{
	char text[WB_REASON_SIZE];

	if (state == STATE_EMPTY)
		return;
	open_event(p, "B", DEVICE_PID, p->now);
	put_name(p, state == STATE_BUSY ? "busy"
					: wb_reason_text(text, &h->reasons[state - STATE_HELD]));
	fprintf(p->file, ",\"tid\":%d", STATE_TID);
	if (state >= STATE_HELD)
		fputs(",\"cname\":\"terrible\"", p->file);
	close_event(p);
}

/* What is different since it was last written. States that lasted no time are not. */
static void settle(struct wb_perfetto *p, const struct wb_holds *h)
{
	int state = state_of(h);

	if (state != p->state) {
		end_slice(p);
		begin_slice(p, h, state);
		p->state = state;
	}
	if (h->queued != p->queued)
		put_counter(p, "queued", h->queued);
	if (h->inflight != p->inflight)
		put_counter(p, "in flight", h->inflight);
	p->queued = h->queued;
	p->inflight = h->inflight;
}

static void advance(struct wb_perfetto *p, const struct wb_holds *h, iosched_time now)
{
	if (now <= p->now)
		return;
	settle(p, h);
	p->now = now;
}

/* --- The contexts' tracks --- */

static void put_step(struct wb_perfetto *p, const char *phase, const struct iosched_request *rq,
		     const char *name)
{
	const struct wb_name *who = wb_names_find(p->names, rq->context);

	if (who == NULL || iosched_sim_request_number(rq) == 0)
		return; /* the policy's own FLUSH */
	open_event(p, phase, FIRST_PID + (unsigned long long)(who - p->names->names), p->now);
	put_name(p, name);
	fprintf(p->file, ",\"cat\":\"request\",\"id\":%llu,\"tid\":1",
		(unsigned long long)iosched_sim_request_number(rq));
}

static const char *title_of(char out[WB_TEXT_SIZE * 2], const struct iosched_request *rq)
{
	static const char *const ops[] = {"read", "write", "flush", "discard"};
	char size[WB_TEXT_SIZE];

	snprintf(out, WB_TEXT_SIZE * 2, "%s %s", ops[rq->op & 3], wb_size_text(size, rq->length));
	return out;
}

static bool put_simple(struct wb_perfetto *p, const char *phase, const struct iosched_request *rq,
		       const char *name)
{
	if (iosched_sim_request_number(rq) == 0)
		return false;
	put_step(p, phase, rq, name);
	close_event(p);
	return true;
}

static void begin_request(struct wb_perfetto *p, const struct iosched_request *rq)
{
	char title[WB_TEXT_SIZE * 2];

	if (iosched_sim_request_number(rq) == 0)
		return;
	put_step(p, "b", rq, title_of(title, rq));
	fprintf(p->file, ",\"args\":{\"offset\":%llu,\"length\":%llu}",
		(unsigned long long)rq->offset, (unsigned long long)rq->length);
	close_event(p);
	put_simple(p, "b", rq, "queued");
}

static void end_request(struct wb_perfetto *p, const struct iosched_request *rq)
{
	char title[WB_TEXT_SIZE * 2];

	if (put_simple(p, "e", rq, "in device"))
		put_simple(p, "e", rq, title_of(title, rq));
}

static void move(struct wb_perfetto *p, const struct iosched_request *rq, const char *from,
		 const char *to)
{
	put_simple(p, "e", rq, from);
	put_simple(p, "b", rq, to);
}

/* Absorbed requests go the way of the one that absorbed them. */
static void move_all(struct wb_perfetto *p, const struct iosched_request *rq, const char *from,
		     const char *to)
{
	move(p, rq, from, to);
	for (const struct iosched_request *m = rq->merged; m != NULL; m = iosched_merged_next(m))
		move(p, m, from, to);
}

static void end_all(struct wb_perfetto *p, const struct iosched_request *rq)
{
	end_request(p, rq);
	for (const struct iosched_request *m = rq->merged; m != NULL; m = iosched_merged_next(m))
		end_request(p, m);
}

static void put_rule(struct wb_perfetto *p, const struct iosched_event *e)
{
	char text[WB_CONTEXT_SIZE];

	open_event(p, "i", DEVICE_PID, p->now);
	put_name(p, e->rule);
	fprintf(p->file, ",\"tid\":%d,\"s\":\"t\",\"args\":{", RULE_TID);
	if (e->context != 0) {
		fputs("\"context\":", p->file);
		put_text(p->file, wb_context_text(text, p->names, e->context));
	}
	if (e->other_context != 0) {
		fputs(e->context != 0 ? ",\"other\":" : "\"other\":", p->file);
		put_text(p->file, wb_context_text(text, p->names, e->other_context));
	}
	fputs("}", p->file);
	close_event(p);
}

void wb_perfetto_event(struct wb_perfetto *p, const struct wb_holds *h,
		       const struct iosched_event *e)
{
	advance(p, h, e->now);
	switch (e->type) {
	case IOSCHED_EVENT_INSERT:
	case IOSCHED_EVENT_BACK_MERGE:
	case IOSCHED_EVENT_FRONT_MERGE:
		begin_request(p, e->rq);
		break;
	case IOSCHED_EVENT_DISPATCH:
		move_all(p, e->rq, "queued", "in device");
		break;
	case IOSCHED_EVENT_REQUEUE:
		move_all(p, e->rq, "in device", "queued");
		break;
	case IOSCHED_EVENT_COMPLETE:
		end_all(p, e->rq);
		break;
	case IOSCHED_EVENT_RULE:
		put_rule(p, e);
		break;
	case IOSCHED_EVENT_COALESCE: /* if it waited, its wait goes on in the other */
		if (!wb_holds_waits(h, e->rq))
			begin_request(p, e->rq);
		break;
	case IOSCHED_EVENT_CANCEL:
	case IOSCHED_EVENT_SWITCH:
	case IOSCHED_EVENT_HOLD:
		break;
	}
}

void wb_perfetto_end(struct wb_perfetto *p, const struct wb_holds *h)
{
	advance(p, h, h->now);
	settle(p, h);
	end_slice(p);
	fputs("\n]}\n", p->file);
}
