/* SPDX-License-Identifier: MIT */
#include "sim/promise.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FLOWS 2000 /* beyond about a thousand contexts, some are forgotten by the queue */
#define HOLDS_FOR_NOTHING 6
#define CYCLE_SYNC 8 /* of the ten dispatches of a cycle, so many are for expired sync requests */
#define CYCLE 10
#define TENTH_NS UINT64_C(100000000)
#define SLICE_NS UINT64_C(125000000) /* how exactly the policy knows the age of what it sent */

enum kind { ASYNC, SYNC };

struct ios_sim_promised {
	uint64_t context;
	uint8_t kind;
	uint8_t exempt;
	uint8_t mixed;	    /* of several classes: two flows of the policy, or more */
	uint8_t unordered;  /* merged: the order of arrival says nothing */
	uint8_t seen;	    /* it has had requests */
	uint8_t slowest;    /* enum iosched_class: of its requests, the one that may wait longest */
	uint64_t queued;    /* requests */
	iosched_time since; /* it has waited since then; while queued > 0 */
	iosched_time last_inserted; /* of the requests that were sent, the latest */
	iosched_time completed;
	uint32_t inflight;
	uint64_t overtaken; /* requests sent since it was due */
	uint64_t rivals;    /* most that may have been due before it, meanwhile */
	uint32_t in_vain;   /* holds for nothing, since it came soon enough once */
};

struct ios_sim_sent {
	iosched_time when;
	uint32_t count;
};

__attribute__((format(printf, 2, 3))) static void broken(struct ios_sim_promise *p,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->broken, sizeof(p->broken), format, args);
	va_end(args);
	p->on = false;
}

/* --- what the policy was told --- */

static void longest(const struct iosched *queue, const char *name, uint64_t *most)
{
	uint64_t value = 0;

	if (iosched_tunable_get(queue, name, &value) == 0 && value > *most)
		*most = value;
}

void ios_sim_promise_tuned(struct ios_sim_promise *p, const struct iosched *queue)
{
	static const char *const names[3][2] = {
		[IOSCHED_BEST_EFFORT] = {"be_async_expire_ns", "be_sync_expire_ns"},
		[IOSCHED_REALTIME] = {"rt_async_expire_ns", "rt_sync_expire_ns"},
		[IOSCHED_IDLE] = {"idle_async_expire_ns", "idle_sync_expire_ns"},
	};
	uint64_t guard = 0;

	for (unsigned c = 0; c < 3; c++) {
		longest(queue, names[c][ASYNC], &p->async_expire[c]);
		longest(queue, names[c][SYNC], &p->sync_expire[c]);
	}
	longest(queue, "hold_stream_ns", &p->hold_most);
	longest(queue, "hold_pool_ns", &p->hold_most);
	if (iosched_tunable_get(queue, "guard_ns", &guard) == 0 && guard != 0 &&
	    guard < p->guard_least)
		p->guard_least = guard;
}

static bool is_ours(const struct iosched *queue)
{
	return strcmp(iosched_policy_name(iosched_policy_of(queue)), "fair-deadline") == 0;
}

void ios_sim_promise_init(struct ios_sim_promise *p, const struct iosched *queue,
			  uint8_t rotational)
{
	*p = (struct ios_sim_promise){
		.on = is_ours(queue), .rotational = rotational, .guard_least = UINT64_MAX};
	p->floor = IOSCHED_NEVER;
	ios_sim_map_init(&p->map);
	ios_sim_promise_tuned(p, queue);
}

void ios_sim_promise_fini(struct ios_sim_promise *p)
{
	ios_sim_map_fini(&p->map);
	free(p->flows);
	free(p->sent);
	p->flows = NULL;
	p->sent = NULL;
}

/* --- flows --- */

static bool grow_flows(struct ios_sim_promise *p)
{
	uint32_t room = p->room == 0 ? 64 : 2 * p->room;
	struct ios_sim_promised *more = realloc(p->flows, room * sizeof(*more));

	if (more == NULL)
		return false;
	memset(more + p->room, 0, (room - p->room) * sizeof(*more));
	p->flows = more;
	p->room = room;
	return true;
}

/* NULL: too many, or no memory; then nothing is promised any more. */
static struct ios_sim_promised *flow_of(struct ios_sim_promise *p, uint64_t context, enum kind kind)
{
	uint32_t known = p->map.count, i = ios_sim_map_get(&p->map, context << 1 | kind);

	if (i == IOS_SIM_MAP_NONE || i >= MOST_FLOWS || (i >= p->room && !grow_flows(p))) {
		p->on = false;
		return NULL;
	}
	if (i == known) {
		p->flows[i].context = context;
		p->flows[i].kind = (uint8_t)kind;
	}
	return &p->flows[i];
}

static enum kind kind_of(const struct iosched_request *rq)
{
	return iosched_request_is_sync(rq) ? SYNC : ASYNC;
}

static bool passes_by(const struct iosched_request *rq)
{
	return rq->op == IOSCHED_FLUSH || (rq->flags & IOSCHED_RQ_HEAD) != 0;
}

void ios_sim_promise_exempt(struct ios_sim_promise *p, uint64_t context)
{
	for (int kind = ASYNC; p->on && kind <= SYNC; kind++) {
		struct ios_sim_promised *f = flow_of(p, context, (enum kind)kind);

		if (f != NULL)
			f->exempt = 1;
	}
}

void ios_sim_promise_reclassed(struct ios_sim_promise *p)
{
	p->hidden = true;
	for (uint32_t i = 0; i < p->map.count && i < p->room; i++) {
		p->flows[i].mixed = 1;
		p->flows[i].slowest = IOSCHED_IDLE;
	}
}

static iosched_time due_of(const struct ios_sim_promise *p, const struct ios_sim_promised *f)
{
	const uint64_t *expire = f->kind == SYNC ? p->sync_expire : p->async_expire;

	return f->since + expire[f->slowest];
}

/* It waits from now on, or again. */
static void waits_since(struct ios_sim_promise *p, struct ios_sim_promised *f, iosched_time when)
{
	f->since = when;
	f->overtaken = 0;
	f->rivals = 0;
	if (due_of(p, f) < p->floor)
		p->floor = due_of(p, f);
}

/* Tunables may make any class the one that waits longest. */
static bool waits_longer(const struct ios_sim_promise *p, unsigned cls, unsigned than)
{
	return p->sync_expire[cls] > p->sync_expire[than] ||
	       p->async_expire[cls] > p->async_expire[than];
}

static void classify(struct ios_sim_promise *p, struct ios_sim_promised *f, uint8_t cls)
{
	f->mixed = f->mixed || p->hidden || (f->seen && f->slowest != cls);
	if (p->hidden)
		f->slowest = IOSCHED_IDLE;
	else if (!f->seen || waits_longer(p, cls, f->slowest))
		f->slowest = cls;
	f->seen = 1;
}

static void enqueued(struct ios_sim_promise *p, const struct iosched_request *rq, iosched_time now)
{
	struct ios_sim_promised *f = flow_of(p, rq->context, kind_of(rq));

	if (f == NULL)
		return;
	if (f->queued == 0 && f->inflight == 0 && now - f->completed <= p->hold_most)
		f->in_vain = 0; /* so soon that a hold would have been worth it */
	classify(p, f, rq->prio_class);
	p->queued[f->kind]++;
	if (p->queued[ASYNC] > p->async_most)
		p->async_most = p->queued[ASYNC];
	if (f->queued++ != 0)
		return;
	p->waiting[f->kind]++;
	waits_since(p, f, now);
}

/* One of its requests is no longer queued. */
static struct ios_sim_promised *left(struct ios_sim_promise *p, const struct iosched_request *rq,
				     iosched_time now)
{
	struct ios_sim_promised *f = flow_of(p, rq->context, kind_of(rq));

	if (f == NULL || f->queued == 0) {
		p->on = false; /* it was reclassed, or queued before we watched */
		return NULL;
	}
	p->queued[f->kind]--;
	if (--f->queued == 0)
		p->waiting[f->kind]--;
	waits_since(p, f, now);
	return f;
}

/* --- what is with the device --- */

static bool note_sent(struct ios_sim_promise *p, iosched_time when)
{
	uint32_t n = p->sent_end - p->sent_first;

	if (n != 0 && p->sent[p->sent_end - 1].when == when) {
		p->sent[p->sent_end - 1].count++;
		return true;
	}
	if (p->sent_end == p->sent_room && p->sent_first > p->sent_room / 2) {
		memmove(p->sent, p->sent + p->sent_first, n * sizeof(*p->sent));
		p->sent_first = 0;
		p->sent_end = n;
	} else if (p->sent_end == p->sent_room) {
		uint32_t room = p->sent_room == 0 ? 64 : 2 * p->sent_room;
		struct ios_sim_sent *more = realloc(p->sent, room * sizeof(*more));

		if (more == NULL)
			return false;
		p->sent = more;
		p->sent_room = room;
	}
	p->sent[p->sent_end++] = (struct ios_sim_sent){when, 1};
	return true;
}

static void note_back(struct ios_sim_promise *p, iosched_time when)
{
	uint32_t from = p->sent_first, to = p->sent_end;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (p->sent[middle].when < when)
			from = middle + 1;
		else
			to = middle;
	}
	if (from < p->sent_end && p->sent[from].when == when && p->sent[from].count > 0)
		p->sent[from].count--;
	while (p->sent_first < p->sent_end && p->sent[p->sent_first].count == 0)
		p->sent_first++;
}

/* The drive starves a request: then nothing is sent until it is done. */
static bool guarded(const struct ios_sim_promise *p, iosched_time now)
{
	if (p->sent_first == p->sent_end || p->guard_least == UINT64_MAX)
		return p->ages_unknown && p->bypass > 0;
	return p->ages_unknown || now - p->sent[p->sent_first].when + SLICE_NS >= p->guard_least;
}

/* --- B1 --- */

/* On flash writeback waits for its own while readers are about. */
static bool may_be_refused(const struct ios_sim_promise *p, const struct ios_sim_promised *f)
{
	return f->exempt || (f->kind == ASYNC && !p->rotational);
}

static uint64_t overtakers_most(const struct ios_sim_promised *f)
{
	if (f->kind == ASYNC)
		return CYCLE * (f->rivals + 1);
	return (f->rivals + 1 + CYCLE_SYNC - 1) / CYCLE_SYNC * CYCLE;
}

/* Something was sent, or nothing was though it could have been. */
static void look_at_due(struct ios_sim_promise *p, iosched_time now, bool sent)
{
	iosched_time floor = IOSCHED_NEVER;

	for (uint32_t i = 0; i < p->map.count; i++) {
		struct ios_sim_promised *f = &p->flows[i];
		iosched_time due = due_of(p, f);
		uint64_t rivals = f->kind == SYNC ? p->waiting[SYNC] : p->queued[ASYNC];

		if (f->queued == 0 || may_be_refused(p, f))
			continue;
		floor = due < floor ? due : floor;
		if (due >= now)
			continue;
		f->rivals = rivals > f->rivals ? rivals : f->rivals;
		if (!sent)
			broken(p,
			       "context %llu's %s requests have waited since %llu ns and are due, "
			       "there is room, and dispatch returns none (B1)",
			       (unsigned long long)f->context, f->kind == SYNC ? "sync" : "async",
			       (unsigned long long)f->since);
		else if (++f->overtaken > overtakers_most(f))
			broken(p,
			       "%llu requests were sent since context %llu's %s requests, waiting "
			       "since %llu ns, were due (B1)",
			       (unsigned long long)f->overtaken, (unsigned long long)f->context,
			       f->kind == SYNC ? "sync" : "async", (unsigned long long)f->since);
		if (!p->on)
			return;
	}
	p->floor = floor;
}

/* How many had been sent by then, or by the next tenth of a second. */
static uint64_t dispatches_by(const struct ios_sim_promise *p, iosched_time when)
{
	uint64_t tenth = when / TENTH_NS + 1;

	if (tenth + IOS_SIM_PROMISE_MARKS <= p->tenth)
		tenth = p->tenth - IOS_SIM_PROMISE_MARKS + 1;
	return tenth >= p->tenth ? p->dispatches : p->passed[tenth % IOS_SIM_PROMISE_MARKS];
}

static void count_dispatch(struct ios_sim_promise *p, iosched_time now)
{
	for (uint64_t tenth = now / TENTH_NS; p->tenth < tenth;) {
		if (tenth - p->tenth > IOS_SIM_PROMISE_MARKS)
			p->tenth = tenth - IOS_SIM_PROMISE_MARKS;
		p->passed[++p->tenth % IOS_SIM_PROMISE_MARKS] = p->dispatches;
	}
	p->dispatches++;
}

/* Writeback that goes now, or never: did it have to wait for so long? */
static void check_age(struct ios_sim_promise *p, const struct ios_sim_promised *f,
		      const struct iosched_request *rq, iosched_time now)
{
	iosched_time due = rq->inserted + p->async_expire[f->slowest];
	uint64_t passed, most = CYCLE * (p->async_most + 1);

	if (f->kind != ASYNC || may_be_refused(p, f) || due >= now)
		return;
	passed = p->dispatches - dispatches_by(p, due);
	if (passed > most)
		broken(p,
		       "%llu requests were sent since an async one of context %llu, inserted at "
		       "%llu ns, was due; of such, no more than %llu were ever queued (B1)",
		       (unsigned long long)passed, (unsigned long long)f->context,
		       (unsigned long long)rq->inserted, (unsigned long long)p->async_most);
}

/* --- events --- */

static void check_order(struct ios_sim_promise *p, struct ios_sim_promised *f,
			const struct iosched_request *rq)
{
	if (p->rotational || f->kind == ASYNC || f->mixed || f->unordered || rq->deadline != 0)
		return;
	if (rq->inserted < f->last_inserted)
		broken(p,
		       "context %llu's request of %llu ns is sent after its later one of %llu ns",
		       (unsigned long long)rq->context, (unsigned long long)rq->inserted,
		       (unsigned long long)f->last_inserted);
	f->last_inserted = rq->inserted;
}

/* One within an async visit and one at its end may follow each other. */
static void own_flush(struct ios_sim_promise *p)
{
	if (p->queued[SYNC] == 0 || p->async_since + p->async_before == 0)
		broken(p,
		       "the policy sends a FLUSH though %llu sync requests wait, and of async ones "
		       "%llu were sent or done since its last but one (I8)",
		       (unsigned long long)p->queued[SYNC],
		       (unsigned long long)(p->async_since + p->async_before));
	p->async_before = p->async_since;
	p->async_since = 0;
}

static void dispatched(struct ios_sim_promise *p, const struct iosched_request *rq,
		       iosched_time now)
{
	struct ios_sim_promised *f;

	if (!note_sent(p, now))
		p->on = false;
	if (p->bypass > 0) {
		p->bypass--;
		return;
	}
	if (rq->flags & IOSCHED_RQ_INTERNAL) {
		own_flush(p);
		return;
	}
	f = left(p, rq, now);
	if (f == NULL)
		return;
	f->inflight++;
	p->async_since += f->kind == ASYNC;
	count_dispatch(p, now);
	check_order(p, f, rq);
	if (p->on)
		check_age(p, f, rq, now);
	if (p->on && now > p->floor)
		look_at_due(p, now, true);
}

static void completed(struct ios_sim_promise *p, const struct iosched_request *rq, iosched_time now)
{
	struct ios_sim_promised *f;

	note_back(p, rq->dispatched);
	if (rq->flags & IOSCHED_RQ_INTERNAL || passes_by(rq))
		return;
	f = flow_of(p, rq->context, kind_of(rq));
	if (f == NULL)
		return;
	f->completed = now;
	p->async_since += f->kind == ASYNC;
	f->inflight -= f->inflight > 0;
}

/* What is left of the flow may have come later than what it has waited for. */
static void absorbed(struct ios_sim_promise *p, const struct iosched_request *rq, iosched_time now)
{
	struct ios_sim_promised *f = left(p, rq, now);

	if (f != NULL)
		f->unordered = 1;
}

/* To the policy it is with the device still, since it was sent first. */
static void requeued(struct ios_sim_promise *p, const struct iosched_request *rq)
{
	note_back(p, rq->dispatched);
	p->bypass++;
	p->ages_unknown = true;
}

static void cancelled(struct ios_sim_promise *p, const struct iosched_request *rq, iosched_time now)
{
	struct ios_sim_promised *f = NULL;

	if (p->bypass > 0)
		p->on = false; /* was it one of those? */
	else
		f = left(p, rq, now);
	if (f != NULL)
		check_age(p, f, rq, now);
}

static void held(struct ios_sim_promise *p, const struct iosched_event *e)
{
	struct ios_sim_promised *f = flow_of(p, e->context, SYNC);

	if (f == NULL)
		return;
	if (e->until - e->now > p->hold_most)
		broken(p, "the arm is held for context %llu until %llu ns, too long (B4)",
		       (unsigned long long)e->context, (unsigned long long)e->until);
	else if (p->queued[SYNC] + p->queued[ASYNC] == f->queued && !f->mixed)
		broken(p, "the arm is held for context %llu, and nobody else waits (B4)",
		       (unsigned long long)e->context);
	else if (f->in_vain >= HOLDS_FOR_NOTHING && !p->uncounted && !f->mixed)
		broken(p,
		       "the arm is held for context %llu after %u holds that were for nothing (B4)",
		       (unsigned long long)e->context, f->in_vain);
}

static void rule(struct ios_sim_promise *p, const struct iosched_event *e)
{
	struct ios_sim_promised *f;

	if (strcmp(e->rule, "the arm is held") == 0) {
		held(p, e);
	} else if (strcmp(e->rule, "held for nothing") == 0) {
		f = flow_of(p, e->context, SYNC);
		if (f != NULL)
			f->in_vain++;
	} else if (strncmp(e->rule, "two streams", 11) == 0 ||
		   strcmp(e->rule, "rides along") == 0) {
		p->uncounted = true;
	}
}

void ios_sim_promise_event(struct ios_sim_promise *p, const struct iosched_event *e)
{
	if (!p->on)
		return;
	switch (e->type) {
	case IOSCHED_EVENT_INSERT:
		if (passes_by(e->rq))
			p->bypass++;
		else
			enqueued(p, e->rq, e->now);
		break;
	case IOSCHED_EVENT_BACK_MERGE:
	case IOSCHED_EVENT_FRONT_MERGE:
		break; /* it never was queued */
	case IOSCHED_EVENT_COALESCE:
		absorbed(p, e->rq, e->now);
		break;
	case IOSCHED_EVENT_DISPATCH:
		dispatched(p, e->rq, e->now);
		break;
	case IOSCHED_EVENT_COMPLETE:
		completed(p, e->rq, e->now);
		break;
	case IOSCHED_EVENT_REQUEUE:
		requeued(p, e->rq);
		break;
	case IOSCHED_EVENT_CANCEL:
		cancelled(p, e->rq, e->now);
		break;
	case IOSCHED_EVENT_SWITCH:
		p->on = false; /* another policy keeps other promises */
		break;
	case IOSCHED_EVENT_HOLD:
		if (e->now > p->floor && !guarded(p, e->now))
			look_at_due(p, e->now, false);
		break;
	case IOSCHED_EVENT_RULE:
		rule(p, e);
		break;
	}
}
