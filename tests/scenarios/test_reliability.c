/* SPDX-License-Identifier: MIT */
/*
 * What hung, crashed or lost requests in the field, with every policy there is.
 *
 * A host of 64 requests does things by chance; from outside the queue it is known of each request
 * who has it. All time is virtual.
 */
#include <errno.h>
#include <string.h>

#include "support/support.h"

#define SLOTS 64

enum owner { HOST, QUEUE, DEVICE };

static struct iosched *s;
static struct iosched_request rq[SLOTS];
static enum owner owner[SLOTS];
static iosched_time now;
static uint64_t dice;

static uint64_t chance(uint64_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (dice >> 11) % n;
}

/* --- The host --- */

static void begin(const struct iosched_policy *policy, uint32_t contexts)
{
	struct iosched_params p = params_for("noop");

	p.policy = policy;
	p.max_contexts = contexts;
	p.max_inflight = 8;
	p.audit = 1;
	s = queue_with(&p);
	memset(rq, 0, sizeof(rq));
	memset(owner, 0, sizeof(owner));
	now = 1000 * MS;
	dice = 88172645463325252u;
}

static unsigned count(enum owner o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		n += owner[i] == o;
	return n;
}

/* A slot of that owner by chance, or SLOTS. */
static unsigned any(enum owner o)
{
	unsigned n = count(o);
	unsigned skip = n > 0 ? (unsigned)chance(n) : 0;

	for (unsigned i = 0; n > 0 && i < SLOTS; i++)
		if (owner[i] == o && skip-- == 0)
			return i;
	return SLOTS;
}

static void submit(unsigned contexts)
{
	unsigned i = any(HOST);

	if (i == SLOTS)
		return;
	/* near each other, so that they overlap, touch and merge */
	rq[i] = request(chance(3) == 0 ? IOSCHED_WRITE : IOSCHED_READ, chance(256) * 4096,
			4096 * (1 + chance(4)));
	rq[i].context = 1 + chance(contexts);
	rq[i].flags = chance(4) == 0 ? IOSCHED_RQ_SYNC : 0;
	rq[i].prio_class = (uint8_t)chance(3);
	ck_assert_int_eq(iosched_insert(s, &rq[i], now), 0);
	owner[i] = QUEUE;
}

/* The request and all it absorbed change hands. */
static void hand(struct iosched_request *r, enum owner from, enum owner to)
{
	for (struct iosched_request *m = r->merged; m != NULL;) {
		struct iosched_request *next = iosched_merged_next(m);

		ck_assert_int_eq(owner[m - rq], from);
		owner[m - rq] = to;
		m = next;
	}
	ck_assert_int_eq(owner[r - rq], from);
	owner[r - rq] = to;
}

/* Nothing queued is forgotten: it comes now, at a wake-up, or after a completion. */
static bool dispatch(void)
{
	struct iosched_request *r = iosched_dispatch(s, now);

	if (r != NULL) {
		hand(r, QUEUE, DEVICE);
		return true;
	}
	if (count(QUEUE) > 0 && count(DEVICE) == 0) {
		ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
		ck_assert_uint_gt(iosched_next_wakeup(s), now); /* or the host would spin */
	}
	return false;
}

/* Those that stand for themselves, not absorbed by another. */
static struct iosched_request *issued(void)
{
	unsigned absorbed[SLOTS] = {0};
	unsigned skip, n = 0;

	for (unsigned i = 0; i < SLOTS; i++) {
		if (owner[i] != DEVICE)
			continue;
		for (struct iosched_request *m = rq[i].merged; m != NULL;
		     m = iosched_merged_next(m))
			absorbed[m - rq] = 1;
	}
	for (unsigned i = 0; i < SLOTS; i++)
		n += owner[i] == DEVICE && !absorbed[i];
	skip = n > 0 ? (unsigned)chance(n) : 0;
	for (unsigned i = 0; i < SLOTS; i++)
		if (owner[i] == DEVICE && !absorbed[i] && skip-- == 0)
			return &rq[i];
	return NULL;
}

static void complete(void)
{
	struct iosched_request *r = issued();

	if (r == NULL)
		return;
	hand(r, DEVICE, HOST);
	ck_assert_int_eq(iosched_complete(s, r, now), 0);
}

static void requeue(void)
{
	struct iosched_request *r = issued();

	if (r == NULL)
		return;
	hand(r, DEVICE, QUEUE);
	ck_assert_int_eq(iosched_requeue(s, r, now), 0);
}

/* Serve until nothing is left; time passes to the next wake-up. */
static void settle(void)
{
	for (unsigned steps = 0; count(QUEUE) + count(DEVICE) > 0; steps++) {
		ck_assert_uint_lt(steps, 100000);
		if (dispatch())
			continue;
		if (count(DEVICE) > 0)
			complete();
		else
			now = iosched_next_wakeup(s);
	}
}

static void end(void)
{
	struct iosched_stats st;

	settle();
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_uint_eq(iosched_inflight(s), 0);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.inserted, st.completed + st.cancelled);
	ck_assert_int_eq(iosched_destroy(s), 0);
}

static void live(unsigned steps, unsigned contexts)
{
	while (steps-- > 0) {
		switch (chance(8)) {
		case 0:
		case 1:
		case 2:
			submit(contexts);
			break;
		case 3:
		case 4:
			dispatch();
			break;
		case 5:
			complete();
			break;
		case 6:
			requeue();
			break;
		default:
			now += chance(3 * MS);
		}
	}
}

/* Policies that do not ask who asked know no contexts. */
static void exited(uint64_t context)
{
	int err = iosched_context_exit(s, context, now);

	ck_assert(err == 0 || err == -ENOENT);
}

#define EACH_POLICY(p) for (unsigned i_ = 0; ((p) = iosched_policy_at(i_)) != NULL; i_++)

/* --- What went wrong --- */

/* The elevator was changed once a second under load; requests were lost, and one crashed. */
START_TEST(policies_change_ten_thousand_times_under_load)
{
	begin(iosched_policy_find("noop"), 16);
	for (unsigned i = 0; i < 10000; i++) {
		unsigned n = 0;

		while (iosched_policy_at(n) != NULL)
			n++;
		live(6, 8);
		ck_assert_int_eq(iosched_switch(s, iosched_policy_at((unsigned)chance(n)), now), 0);
	}
	end();
}
END_TEST

/* Accounts that did not come back to zero when the queue went, after requeues. */
START_TEST(accounts_are_even_when_the_queue_ends)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 16);
		live(4000, 8);
		end();
	}
}
END_TEST

/* The queue that all share when there is no room for another was reused while still in use. */
START_TEST(more_contexts_than_there_is_room_for_lose_nothing)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 2);
		live(4000, 40);
		end();
	}
}
END_TEST

/* Owners that exit while their queue is awaited, in service, or has requests. */
START_TEST(contexts_exit_at_any_time)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 8);
		for (unsigned i = 0; i < 1000; i++) {
			live(5, 12);
			exited(1 + chance(12));
		}
		end();
	}
}
END_TEST

/* A reader that a policy would wait for asks twenty times, the last time @at. */
static void near_reader(uint64_t context, uint64_t at)
{
	for (unsigned i = 0; i < 20; i++) {
		rq[0] = request(IOSCHED_READ, at + i * 4096, 4096);
		rq[0].context = context;
		ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
		while (serve(s, now) == NULL)
			now = iosched_next_wakeup(s);
		now += MS / 10;
	}
}

/* A disk stood idle for processes that were dead. anticipatory waits, for others may take over near
 * there, until it has learnt that nobody does. */
START_TEST(contexts_that_have_gone_are_soon_waited_for_no_more)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 64);
		for (unsigned i = 0; i < 20; i++) {
			bool waits;

			near_reader(10 + i, i << 20);
			rq[1] = request(IOSCHED_READ, (uint64_t)1 << 40, 4096);
			rq[1].context = 2;
			ck_assert_int_eq(iosched_insert(s, &rq[1], now), 0);
			exited(10 + i);
			waits = serve(s, now) == NULL;
			ck_assert_msg(!waits || (i < 10 && strcmp(iosched_policy_name(p),
								  "anticipatory") == 0),
				      "%s waits in round %u", iosched_policy_name(p), i);
			while (iosched_queued(s) > 0)
				if (serve(s, now) == NULL)
					now = iosched_next_wakeup(s);
			now += 50 * MS;
		}
		ck_assert_int_eq(iosched_destroy(s), 0);
	}
}
END_TEST

/* A request the driver had seen and refused grew by a merge; it wrote what it had mapped before. */
START_TEST(a_refused_request_does_not_grow)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 8);
		rq[0] = request(IOSCHED_WRITE, 8192, 4096);
		rq[1] = request(IOSCHED_WRITE, 12288, 4096);
		rq[2] = request(IOSCHED_WRITE, 4096, 4096);
		rq[0].context = rq[1].context = rq[2].context = 1;
		ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
		ck_assert_ptr_eq(iosched_dispatch(s, now), &rq[0]);
		ck_assert_int_eq(iosched_requeue(s, &rq[0], now), 0);
		ck_assert_int_eq(iosched_insert(s, &rq[1], now), 0);
		ck_assert_int_eq(iosched_insert(s, &rq[2], now), 0);
		for (unsigned done = 0; done < 2;) {
			struct iosched_request *r = serve(s, now);

			if (r == NULL) {
				now = iosched_next_wakeup(s);
				continue;
			}
			if (r == &rq[0]) {
				ck_assert_uint_eq(r->span_offset, 8192);
				ck_assert_uint_eq(r->span_length, 4096);
				ck_assert_ptr_null(r->merged);
			}
			done++;
			if (iosched_queued(s) == 0)
				break;
		}
		while (iosched_queued(s) > 0)
			if (serve(s, now) == NULL)
				now = iosched_next_wakeup(s);
		ck_assert_int_eq(iosched_destroy(s), 0);
	}
}
END_TEST

/* A FLUSH that was refused and came back crashed what had never prepared it. */
START_TEST(a_refused_flush_comes_back)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 8);
		rq[0] = request(IOSCHED_FLUSH, 0, 0);
		ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
		for (unsigned i = 0; i < 5; i++) {
			ck_assert_ptr_eq(iosched_dispatch(s, now), &rq[0]);
			ck_assert_int_eq(iosched_requeue(s, &rq[0], now), 0);
		}
		ck_assert_ptr_eq(serve(s, now), &rq[0]);
		ck_assert_int_eq(iosched_destroy(s), 0);
	}
}
END_TEST

/* What may differ in two requests that touch; `only` policies go by it, NULL: all. */
static const struct {
	uint32_t flags;
	uint8_t op, prio_class;
	const char *only;
} kinds[] = {
	{0, IOSCHED_WRITE, IOSCHED_REALTIME, "mq-deadline"},
	{0, IOSCHED_WRITE, IOSCHED_IDLE, "mq-deadline"},
	{IOSCHED_RQ_SYNC, IOSCHED_WRITE, 0, "cfq"},
	{IOSCHED_RQ_SYNC, IOSCHED_WRITE, 0, "cfq-2.6.32"},
	{IOSCHED_RQ_FUA, IOSCHED_WRITE, 0, NULL},
	{IOSCHED_RQ_NOMERGE, IOSCHED_WRITE, 0, NULL},
	{0, IOSCHED_READ, 0, NULL},
	{0, IOSCHED_DISCARD, 0, NULL},
};

/* Errors of read-ahead failed plain reads it had been merged with: only like joins like. */
START_TEST(requests_of_different_kinds_do_not_merge)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct iosched_stats st;

			if (kinds[i].only != NULL &&
			    strcmp(iosched_policy_name(p), kinds[i].only) != 0)
				continue;
			begin(p, 8);
			rq[0] = request(IOSCHED_WRITE, 0, 4096);
			rq[1] = request((enum iosched_op)kinds[i].op, 4096, 4096);
			rq[1].flags = kinds[i].flags;
			rq[1].prio_class = kinds[i].prio_class;
			rq[0].context = rq[1].context = 1;
			owner[0] = owner[1] = QUEUE;
			ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
			ck_assert_int_eq(iosched_insert(s, &rq[1], now), 0);
			iosched_stats_get(s, &st, sizeof(st));
			ck_assert_msg(st.back_merges == 0, "%s merged kind %u",
				      iosched_policy_name(p), i);
			end();
		}
	}
}
END_TEST

/* Idle machines locked up: hours without a request, then a single one. */
START_TEST(one_request_after_hours_of_nothing)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 8);
		for (unsigned day = 0; day < 10; day++) {
			unsigned waits = 0;

			now += 24 * 3600 * 1000 * MS;
			rq[0] = request(IOSCHED_READ, day * 8192, 4096);
			rq[0].context = 1 + day % 3;
			ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
			while (serve(s, now) == NULL) {
				now = iosched_next_wakeup(s);
				ck_assert_uint_lt(++waits, 10);
			}
		}
		ck_assert_int_eq(iosched_destroy(s), 0);
	}
}
END_TEST

/* "Run now" was folded into a run that had been put off: the awaited request waited for the timer.
 */
START_TEST(the_awaited_request_ends_the_wait)
{
	const struct iosched_policy *p;
	unsigned waited = 0;

	EACH_POLICY(p)
	{
		begin(p, 8);
		near_reader(1, 0);
		rq[1] = request(IOSCHED_READ, 1 << 30, 4096);
		rq[1].context = 2;
		ck_assert_int_eq(iosched_insert(s, &rq[1], now), 0);
		rq[2] = request(IOSCHED_READ, 20 * 4096, 4096);
		rq[2].context = 1;
		if (iosched_dispatch(s, now) != &rq[1]) { /* it waits for context 1 */
			ck_assert_int_eq(iosched_insert(s, &rq[2], now), 0);
			ck_assert_ptr_eq(serve(s, now), &rq[2]);
			waited++;
		} else {
			ck_assert_int_eq(iosched_complete(s, &rq[1], now), 0);
		}
		while (iosched_queued(s) > 0)
			if (serve(s, now) == NULL)
				now = iosched_next_wakeup(s);
		ck_assert_int_eq(iosched_destroy(s), 0);
	}
	ck_assert_uint_ge(waited, 3); /* anticipatory and both cfq */
}
END_TEST

/* Completion inside the driver's submit: the next dispatch must find all as it should be. */
START_TEST(a_device_that_is_done_at_once_is_served_on)
{
	const struct iosched_policy *p;

	EACH_POLICY(p)
	{
		begin(p, 8);
		for (unsigned i = 0; i < 2000; i++) {
			submit(6);
			if (dispatch())
				complete();
			now += chance(MS / 4);
		}
		end();
	}
}
END_TEST

/* The order of a fifo was that of a time which merging changes: a merged request keeps the place of
 * the elder. */
START_TEST(a_merged_request_expires_with_its_elder)
{
	struct iosched *q = queue_for("deadline");
	struct iosched_request r[4];

	r[0] = request(IOSCHED_READ, 512 * KIB, 4096);	      /* first, far from the sweep */
	r[1] = request(IOSCHED_READ, 0, 4096);		      /* 100 ms later */
	r[2] = request(IOSCHED_READ, 512 * KIB + 4096, 4096); /* 200 ms later, joins the first */
	r[3] = request(IOSCHED_READ, 256 * KIB, 4096);
	iosched_insert(q, &r[0], 1 * MS);
	iosched_insert(q, &r[1], 100 * MS);
	iosched_insert(q, &r[2], 200 * MS);
	iosched_insert(q, &r[3], 201 * MS);
	ck_assert_ptr_eq(r[0].merged, &r[2]);
	/* 500 ms after the first: it alone is overdue, and goes before those at lower offsets */
	ck_assert_ptr_eq(serve(q, 502 * MS), &r[0]);
	end_queue(q, NULL, 0);
}
END_TEST

/* Weights that a policy does not know were accepted in silence. */
START_TEST(a_policy_without_weights_says_so)
{
	static const char *const names[] = {"noop", "deadline", "mq-deadline"};

	for (unsigned i = 0; i < 3; i++) {
		struct iosched *q = queue_for(names[i]);
		struct iosched_context_params c;

		iosched_context_params_init(&c, sizeof(c));
		c.weight = 500;
		ck_assert_int_eq(iosched_context_set(q, 1, &c, 0), -EOPNOTSUPP);
		ck_assert_int_eq(iosched_destroy(q), 0);
	}
}
END_TEST

/* A store's fsyncs by their time, as its own histogram had them: done within 1, 2, 4 ... ms. */
START_TEST(the_recorder_has_the_tail_that_was_recorded)
{
	static const unsigned within[] = {637196, 710850, 730239, 743796,
					  752192, 757535, 759625, 760202};
	struct iosched_params p = params_for("noop");
	uint64_t p99;

	p.audit = 0;
	p.measure = 1;
	s = queue_with(&p);
	now = 0;
	for (unsigned bin = 0, done = 0; bin < 8; bin++) /* a tenth of them, at the bins' ends */
		for (; done < within[bin] / 10; done++) {
			rq[0] = request(IOSCHED_FLUSH, 0, 0);
			ck_assert_int_eq(iosched_insert(s, &rq[0], now), 0);
			ck_assert_ptr_eq(iosched_dispatch(s, now), &rq[0]);
			now += MS << bin;
			ck_assert_int_eq(iosched_complete(s, &rq[0], now), 0);
		}
	p99 = iosched_latency_quantile(s, IOSCHED_LATENCY_TOTAL, 9900);
	ck_assert_uint_gt(p99, 16 * MS);
	ck_assert_uint_le(p99, 33 * MS); /* 32 and a bucket's width */
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

MAIN_OF("reliability", policies_change_ten_thousand_times_under_load,
	accounts_are_even_when_the_queue_ends, more_contexts_than_there_is_room_for_lose_nothing,
	contexts_exit_at_any_time, contexts_that_have_gone_are_soon_waited_for_no_more,
	a_refused_request_does_not_grow, a_refused_flush_comes_back,
	requests_of_different_kinds_do_not_merge, one_request_after_hours_of_nothing,
	the_awaited_request_ends_the_wait, a_device_that_is_done_at_once_is_served_on,
	a_merged_request_expires_with_its_elder, a_policy_without_weights_says_so,
	the_recorder_has_the_tail_that_was_recorded)
