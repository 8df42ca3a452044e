/* SPDX-License-Identifier: MIT */
/*
 * A stream: one process, client or thread that keeps asking in one way.
 *
 * A closed stream has `depth` tokens. A token is thinking (its event pending), waiting (on
 * `idle` for the refill mark, on `parked` for a FLUSH, on `blocked` for a completion of
 * another stream), with a request, or retired. The
 * stream is done when all are retired. An open stream has arrivals instead.
 *
 * Each stream draws from its own random numbers: the n-th request of a stream is the
 * same under every policy.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/load.h"
#include "sim/rng.h"

struct stream;

struct token {
	struct stream *stream;
	struct token *next; /* on idle or parked */
	struct ios_sim_event event;
	bool rested; /* it thought before it was parked */
};

struct stream {
	struct ios_sim_load load; /* first: the two are one pointer */
	struct iosched_sim_stream s;
	struct ios_sim_rng rng;
	struct ios_sim_cursor own;
	struct ios_sim_cursor *cursor;
	uint32_t meter;
	uint32_t outstanding;
	uint32_t retired;
	uint64_t submitted;
	uint64_t writes; /* since the last FLUSH */
	bool flush_due;
	bool arrivals_over;
	struct token *idle;
	struct token *parked;
	struct token *blocked; /* no credit */
	uint64_t credits;      /* completions of others not yet used */
	struct stream **followers;
	unsigned follower_count;
	struct ios_sim_event refill;
	struct ios_sim_event start;
	struct token *tokens;
};

static iosched_time now_of(const struct stream *st)
{
	return st->load.host->engine.now;
}

/* --- What the next request is --- */

static uint64_t next_sequential(struct ios_sim_cursor *c)
{
	uint64_t at = c->position;
	uint64_t next;

	if (at > c->region_length - c->request_bytes)
		at = 0;
	next = at + (c->stride_bytes != 0 ? c->stride_bytes : c->request_bytes);
	c->position = next;
	return c->region_offset + at;
}

static uint64_t next_random(struct stream *st)
{
	const struct ios_sim_cursor *c = st->cursor;
	uint64_t align = st->s.align_bytes != 0 ? st->s.align_bytes : c->request_bytes;
	uint64_t places = (c->region_length - c->request_bytes) / align + 1;

	return c->region_offset + ios_sim_rng_below(&st->rng, places) * align;
}

static bool next_is_read(struct stream *st)
{
	if (st->s.read_permyriad == 0 || st->s.read_permyriad == 10000)
		return st->s.read_permyriad != 0;
	return ios_sim_rng_below(&st->rng, 10000) < st->s.read_permyriad;
}

static uint64_t think(struct stream *st)
{
	const struct iosched_sim_stream *s = &st->s;

	switch (s->think) {
	case IOSCHED_SIM_EXPONENTIAL:
		return ios_sim_rng_exponential(&st->rng, s->think_ns);
	case IOSCHED_SIM_UNIFORM:
		return s->think_ns - s->think_spread_ns +
		       ios_sim_rng_below(&st->rng, 2 * s->think_spread_ns + 1);
	case IOSCHED_SIM_FIXED:
		break;
	}
	return s->think_ns;
}

/* --- Submitting --- */

static bool submit(struct stream *st, const struct ios_sim_want *want)
{
	st->outstanding++;
	if (ios_sim_host_submit(st->load.host, &st->load, want) == 0)
		return true;
	st->outstanding--;
	return false;
}

static struct ios_sim_want want_of(const struct stream *st, struct token *t)
{
	return (struct ios_sim_want){
		.context = st->s.context,
		.meter = st->meter,
		.prio_class = st->s.prio_class,
		.prio_level = st->s.prio_level,
		.token = t,
	};
}

static bool submit_flush(struct stream *st, struct token *t)
{
	struct ios_sim_want want = want_of(st, t);

	want.op = IOSCHED_FLUSH;
	return submit(st, &want);
}

static bool submit_next(struct stream *st, struct token *t)
{
	struct ios_sim_want want = want_of(st, t);
	bool read = next_is_read(st);

	want.op = read ? IOSCHED_READ : IOSCHED_WRITE;
	want.flags = read ? st->s.read_flags : st->s.write_flags;
	want.length = st->cursor->request_bytes;
	want.offset =
		st->s.pattern == IOSCHED_SIM_RANDOM ? next_random(st) : next_sequential(st->cursor);
	st->submitted++;
	if (!read && st->s.flush_every != 0 && ++st->writes >= st->s.flush_every)
		st->flush_due = true;
	return submit(st, &want);
}

static bool over(const struct stream *st)
{
	return now_of(st) >= st->s.stop_ns ||
	       (st->s.max_requests != 0 && st->submitted >= st->s.max_requests);
}

/* --- Closed loop --- */

static void retire(struct stream *st)
{
	if (++st->retired == st->s.depth)
		ios_sim_host_load_done(st->load.host);
}

/* The token has thought: its next request, the FLUSH that is due, or the end. */
static void go_on(struct stream *st, struct token *t)
{
	bool submitted;

	if (st->flush_due && st->outstanding > 0) {
		t->next = st->parked;
		st->parked = t;
		return;
	}
	if (!st->flush_due && over(st)) {
		retire(st);
		return;
	}
	if (!st->flush_due && st->s.after != 0 && st->credits == 0) {
		t->next = st->blocked;
		st->blocked = t;
		return;
	}
	if (!st->flush_due && st->s.after != 0)
		st->credits--;
	submitted = st->flush_due ? submit_flush(st, t) : submit_next(st, t);
	if (!submitted)
		retire(st);
}

static void token_fires(void *owner)
{
	struct token *t = owner;
	struct ios_sim_host *h = t->stream->load.host;

	ios_sim_host_enter(h);
	t->rested = true;
	go_on(t->stream, t);
	ios_sim_host_leave(h);
}

static void think_and_go_on(struct stream *st, struct token *t)
{
	uint64_t wait = think(st);

	if (wait == 0)
		go_on(st, t);
	else
		ios_sim_schedule(&st->load.host->engine, &t->event, now_of(st) + wait);
}

static void wake_parked(struct stream *st)
{
	struct token *t = st->parked;

	st->parked = NULL;
	while (t != NULL) {
		struct token *next = t->next;

		if (t->rested)
			go_on(st, t);
		else
			think_and_go_on(st, t);
		t = next;
	}
}

static void refill_fires(void *owner)
{
	struct stream *st = owner;
	struct token *t = st->idle;

	st->idle = NULL;
	ios_sim_host_enter(st->load.host);
	while (t != NULL) {
		struct token *next = t->next;

		go_on(st, t);
		t = next;
	}
	ios_sim_host_leave(st->load.host);
}

static bool waits_for_refill(const struct stream *st)
{
	return st->s.refill < st->s.depth - 1;
}

static void wait_for_refill(struct stream *st, struct token *t)
{
	t->next = st->idle;
	st->idle = t;
	if (st->outstanding <= st->s.refill && !ios_sim_event_pending(&st->refill))
		ios_sim_schedule(&st->load.host->engine, &st->refill, now_of(st) + think(st));
}

static void closed_completed(struct stream *st, struct token *t, uint8_t op)
{
	if (op == IOSCHED_FLUSH) {
		st->writes = 0;
		st->flush_due = false;
		wake_parked(st);
		think_and_go_on(st, t);
	} else if (st->flush_due) {
		t->rested = false;
		go_on(st, t); /* an fsync follows its write at once */
	} else if (waits_for_refill(st)) {
		wait_for_refill(st, t);
	} else {
		think_and_go_on(st, t);
	}
}

/* --- Open loop --- */

static void arrival_fires(void *owner)
{
	struct stream *st = owner;
	struct ios_sim_host *h = st->load.host;

	ios_sim_host_enter(h);
	st->arrivals_over = over(st) || !submit_next(st, NULL);
	if (!st->arrivals_over && st->flush_due) {
		st->flush_due = false;
		st->writes = 0;
		st->arrivals_over = !submit_flush(st, NULL);
	}
	if (st->arrivals_over)
		ios_sim_host_load_done(h);
	else
		ios_sim_schedule(&h->engine, &st->start, now_of(st) + think(st));
	ios_sim_host_leave(h);
}

/* --- As a load --- */

/* A completion of a stream that @st waits for. */
static void give_credit(struct stream *st)
{
	struct token *t = st->blocked;

	if (st->credits < st->s.depth)
		st->credits++;
	if (t == NULL)
		return;
	st->blocked = t->next;
	go_on(st, t);
}

static void stream_completed(struct ios_sim_load *load, void *token, uint8_t op)
{
	struct stream *st = (struct stream *)load;

	st->outstanding--;
	if (token != NULL)
		closed_completed(st, token, op);
	if (op == IOSCHED_FLUSH || st->s.flush_every == 0)
		for (unsigned i = 0; i < st->follower_count; i++)
			give_credit(st->followers[i]);
}

int ios_sim_stream_follow(struct ios_sim_load *follower, struct ios_sim_load *leader)
{
	struct stream *to = (struct stream *)leader;
	struct stream **all =
		realloc(to->followers, (to->follower_count + 1) * sizeof(struct stream *));

	if (all == NULL)
		return -ENOMEM;
	to->followers = all;
	all[to->follower_count++] = (struct stream *)follower;
	return 0;
}

static void start_fires(void *owner)
{
	struct stream *st = owner;

	ios_sim_host_enter(st->load.host);
	for (uint32_t i = 0; i < st->s.depth; i++)
		go_on(st, &st->tokens[i]);
	ios_sim_host_leave(st->load.host);
}

static void stream_start(struct ios_sim_load *load)
{
	struct stream *st = (struct stream *)load;

	ios_sim_event_init(&st->start, st->s.open_loop ? arrival_fires : start_fires, st);
	ios_sim_event_init(&st->refill, refill_fires, st);
	ios_sim_schedule(&load->host->engine, &st->start, st->s.start_ns);
}

static void stream_destroy(struct ios_sim_load *load)
{
	struct stream *st = (struct stream *)load;
	struct ios_sim_engine *e = &load->host->engine;

	ios_sim_cancel(e, &st->start);
	ios_sim_cancel(e, &st->refill);
	for (uint32_t i = 0; st->tokens != NULL && i < st->s.depth; i++)
		ios_sim_cancel(e, &st->tokens[i].event);
	free(st->tokens);
	free(st->followers);
	free(st);
}

static bool make_tokens(struct stream *st)
{
	if (st->s.open_loop)
		return true;
	st->tokens = calloc(st->s.depth, sizeof(*st->tokens));
	if (st->tokens == NULL)
		return false;
	for (uint32_t i = 0; i < st->s.depth; i++) {
		st->tokens[i].stream = st;
		ios_sim_event_init(&st->tokens[i].event, token_fires, &st->tokens[i]);
	}
	return true;
}

int ios_sim_stream_create(struct ios_sim_load **out, struct ios_sim_host *h,
			  const struct iosched_sim_stream *s, struct ios_sim_cursor *cursor,
			  uint64_t seed, unsigned index)
{
	struct stream *st = calloc(1, sizeof(*st));

	if (st == NULL)
		return -ENOMEM;
	st->load = (struct ios_sim_load){h, stream_start, stream_completed, stream_destroy};
	st->s = *s;
	st->own = (struct ios_sim_cursor){
		.region_offset = s->region_offset,
		.region_length = s->region_length != 0 ? s->region_length
						       : h->device->capacity - s->region_offset,
		.request_bytes = s->request_bytes,
		.stride_bytes = s->stride_bytes,
	};
	st->credits = s->ahead;
	st->cursor = cursor != NULL ? cursor : &st->own;
	if (cursor != NULL && cursor->request_bytes == 0) { /* the first of its streams */
		st->own.number = cursor->number;
		*cursor = st->own;
	}
	ios_sim_rng_init(&st->rng, seed, index);
	st->meter = ios_sim_meter_of(&h->meter, s->context);
	if (st->meter == UINT32_MAX || !make_tokens(st)) {
		free(st);
		return -ENOMEM;
	}
	ios_sim_meter_name(&h->meter, st->meter, s->name, s->weight);
	h->live_loads++;
	*out = &st->load;
	return 0;
}

/* --- Checking --- */

#define MAX_DEPTH (UINT32_C(1) << 20)

static const char *shape_fault(const struct iosched_sim_stream *s)
{
	if (s->size != sizeof(*s))
		return "was not initialised by iosched_sim_stream_init()";
	if (s->context >= IOSCHED_SIM_OTHER_CONTEXTS)
		return "has a context number that is reserved";
	if (s->pattern > IOSCHED_SIM_RANDOM)
		return "has an unknown pattern";
	if (s->pattern == IOSCHED_SIM_RANDOM && s->cursor != 0)
		return "shares a position, so it cannot be random";
	if (s->stride_bytes != 0 && s->pattern == IOSCHED_SIM_RANDOM)
		return "has a stride, so it cannot be random";
	if (s->stride_bytes > UINT64_C(1) << 56)
		return "has a stride above 2^56";
	if (s->after != 0 && s->open_loop)
		return "is an open loop, so it cannot wait for another stream";
	if (s->depth < 1 || s->depth > MAX_DEPTH)
		return "has a depth outside 1..2^20";
	if (s->refill != UINT32_MAX && s->refill >= s->depth)
		return "has a refill mark that is not below its depth";
	if (s->read_permyriad > 10000)
		return "has a share of reads above 10000";
	if (s->prio_class > IOSCHED_IDLE || s->prio_level > 8)
		return "has a class or level out of range";
	return NULL;
}

static const char *timing_fault(const struct iosched_sim_stream *s)
{
	if (s->think > IOSCHED_SIM_UNIFORM)
		return "has an unknown distribution of waits";
	if (s->think_ns > UINT64_C(1) << 56)
		return "waits for more than two years";
	if (s->think == IOSCHED_SIM_UNIFORM && s->think_spread_ns > s->think_ns)
		return "has waits spread wider than their mean";
	if (s->open_loop && s->think_ns == 0)
		return "is an open loop, so the time between arrivals cannot be 0";
	if (s->start_ns > s->stop_ns)
		return "stops before it starts";
	return NULL;
}

static const char *place_fault(const struct iosched_sim_stream *s, uint64_t capacity)
{
	uint64_t length = s->region_length;

	if (s->region_offset >= capacity)
		return "begins past the end of the device";
	if (length == 0)
		length = capacity - s->region_offset;
	if (length > capacity - s->region_offset)
		return "reaches past the end of the device";
	if (s->request_bytes < 1 || s->request_bytes > length)
		return "has a request size outside 1..its region";
	return NULL;
}

int ios_sim_stream_check(const struct iosched_sim_stream *s, uint64_t capacity, unsigned index,
			 struct iosched_sim_error *why)
{
	const char *fault = shape_fault(s);

	if (fault == NULL)
		fault = timing_fault(s);
	if (fault != NULL)
		return ios_sim_fail(why, -EINVAL, "stream %u %s", index + 1, fault);
	fault = place_fault(s, capacity);
	if (fault != NULL)
		return ios_sim_fail(why, -ERANGE, "stream %u %s (%llu bytes)", index + 1, fault,
				    (unsigned long long)capacity);
	return 0;
}
