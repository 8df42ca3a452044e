/* SPDX-License-Identifier: MIT */
/*
 * cfq-2.6.32 one rule at a time. That all of them together are the kernel's is what
 * the decision traces show; here each can be read, and what no trace has: cancelling, switches
 * for older kernels, an empty pool, progress whatever happens.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/policy.h>
#include "policies/policies.h"
#include "policies/cfq_2_6/cfq26.h"

#define MS UINT64_C(1000000)
#define SECTOR 512u
#define FAR 50000000u /* sectors from one place to another that is not close */
#define MAX_REQUESTS 512u
#define MAX_RULES 4096u

static struct iosched *s;
static struct iosched_request pool[MAX_REQUESTS];
static unsigned used;
static iosched_time t;
static unsigned kicks;
static const char *rules[MAX_RULES];
static unsigned n_rules;

static void on_kick(void *user, enum iosched_kick kind)
{
	(void)user;
	kicks |= (unsigned)kind;
}

static void on_event(void *user, const struct iosched_event *e)
{
	(void)user;
	if (e->type == IOSCHED_EVENT_RULE && n_rules < MAX_RULES)
		rules[n_rules++] = e->rule;
}

static bool told(const char *start)
{
	unsigned i;

	for (i = 0; i < n_rules; i++)
		if (strncmp(rules[i], start, strlen(start)) == 0)
			return true;
	return false;
}

static void open_queue(const struct iosched_policy *policy, uint32_t max_contexts)
{
	struct iosched_params p;

	iosched_params_init(&p, sizeof(p));
	p.policy = policy;
	p.now = t = 10000 * MS;
	p.max_contexts = max_contexts;
	p.audit = 1;
	p.kick = on_kick;
	p.event = on_event;
	ck_assert_int_eq(iosched_create(&s, &p), 0);
	memset(pool, 0, sizeof(pool));
	used = n_rules = kicks = 0;
}

static void setup(void)
{
	open_queue(&ios_cfq26_policy, 16);
}

static void teardown(void)
{
	unsigned i;

	while (iosched_drain(s, t) != NULL)
		;
	for (i = 0; i < MAX_REQUESTS; i++)
		iosched_complete(s, &pool[i], t);
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}

static struct iosched_request *put(uint64_t context, enum iosched_op op, uint64_t sector,
				   unsigned sectors, uint32_t flags)
{
	struct iosched_request *rq = &pool[used++];

	ck_assert_uint_lt(used, MAX_REQUESTS);
	rq->context = context;
	rq->op = (uint8_t)op;
	rq->offset = sector * SECTOR;
	rq->length = (uint64_t)sectors * SECTOR;
	rq->flags |= flags;
	kicks = 0;
	ck_assert_int_eq(iosched_insert(s, rq, t), 0);
	return rq;
}

static struct iosched_request *put_read(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_READ, sector, 16, 0);
}

static struct iosched_request *put_write(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_WRITE, sector, 16, 0);
}

static struct iosched_request *put_class(uint64_t context, enum iosched_class prio_class,
					 unsigned level, uint64_t sector)
{
	pool[used].prio_class = (uint8_t)prio_class;
	pool[used].prio_level = (uint8_t)(level + 1);
	return put_read(context, sector);
}

static struct iosched_request *next(void)
{
	return iosched_dispatch(s, t);
}

/* Nothing is handed out now, for this reason. */
static void expect_hold(enum iosched_hold reason)
{
	ck_assert_ptr_null(next());
	ck_assert_int_eq(iosched_hold_reason(s), reason);
}

static void done(struct iosched_request *rq, unsigned ms)
{
	t += ms * MS;
	kicks = 0;
	ck_assert_int_eq(iosched_complete(s, rq, t), 0);
}

static void set(const char *name, uint64_t value)
{
	ck_assert_int_eq(iosched_tunable_set(s, name, value), 0);
}

/* A read of this context, from insert to completion 1 ms later. */
static void read_through(uint64_t context, uint64_t sector)
{
	struct iosched_request *rq = put_read(context, sector);

	ck_assert_ptr_eq(next(), rq);
	done(rq, 1);
}

/* `context` has read at `sector` and is waited for; another one, far off, wants the device. */
static struct iosched_request *idle_for(uint64_t context, uint64_t sector, uint64_t other)
{
	struct iosched_request *rq = put_read(context, sector), *rival;

	ck_assert_ptr_eq(next(), rq);
	rival = put_read(other, sector + FAR);
	done(rq, 1);
	expect_hold(IOSCHED_HOLD_IDLING);
	return rival;
}

/* ---- slices ---- */

/* Two readers that always have a next request, 1 ms each: how many the second is given in one turn.
 */
static unsigned turn_of(unsigned level)
{
	uint64_t place[3] = {0, 0, 4 * (uint64_t)FAR};
	unsigned turn = 0, longest = 0, i;

	put_class(1, IOSCHED_BEST_EFFORT, 4, place[1]);
	put_class(2, IOSCHED_BEST_EFFORT, level, place[2]);
	for (i = 0; i < 1500; i++) {
		struct iosched_request *rq = next();
		uint64_t context;

		ck_assert_ptr_nonnull(rq);
		context = rq->context;
		done(rq, 1);
		turn = context == 2 ? turn + 1 : 0;
		longest = turn > longest ? turn : longest;
		rq->offset = (place[context] += 16) * SECTOR;
		ck_assert_int_eq(iosched_insert(s, rq, t), 0);
	}
	return longest;
}

/* The seek to the first is free: it starts the clock when it completes. */
START_TEST(a_slice_lasts_100_ms_at_level_4_after_the_first_completion)
{
	ck_assert_uint_eq(turn_of(4), 101);
}
END_TEST

START_TEST(a_slice_lasts_180_ms_at_level_0)
{
	ck_assert_uint_eq(turn_of(0), 181);
}
END_TEST

START_TEST(a_slice_lasts_40_ms_at_level_7)
{
	ck_assert_uint_eq(turn_of(7), 41);
}
END_TEST

START_TEST(an_async_slice_ends_after_16_requests_at_level_4)
{
	struct iosched_request *rq;
	unsigned i, writes = 0;

	set("low_latency", 0);
	for (i = 0; i < 40; i++)
		put_write(1, 1000 * (uint64_t)i);
	for (i = 0; i < 40; i++) {
		pool[used].prio_level = 1;
		put_write(2, FAR + 1000 * (uint64_t)i);
	}
	while ((rq = next()) != NULL && rq->context == 1) {
		done(rq, 0);
		writes++;
	}
	ck_assert_ptr_nonnull(rq);
	ck_assert_uint_eq(writes, 16);
	ck_assert(told("its requests for this slice are used up"));
}
END_TEST

START_TEST(the_oldest_goes_first_when_expired_but_is_looked_at_once_per_slice)
{
	struct iosched_request *old, *rq;

	old = put_read(1, FAR);
	put_read(1, 100); /* nearer to the head, which is at 0 */
	put_read(1, 200);
	t += 124 * MS;
	ck_assert_ptr_eq(rq = next(), &pool[1]);
	t += 1 * MS; /* expired now, but this slice has looked */
	ck_assert_ptr_eq(next(), &pool[2]);
	done(rq, 0);
	ck_assert_ptr_eq(next(), old);
	ck_assert(!told("its oldest"));
}
END_TEST

START_TEST(an_expired_request_is_the_first_of_the_next_slice)
{
	struct iosched_request *old = put_read(1, FAR);

	put_read(1, 100);
	t += 125 * MS;
	ck_assert_ptr_eq(next(), old);
	ck_assert(told("its oldest request has expired"));
}
END_TEST

/* ---- idling ---- */

START_TEST(a_reader_that_ran_dry_is_waited_for_8_ms_and_then_loses_its_turn)
{
	struct iosched_request *rival = idle_for(1, 1000, 2);

	ck_assert(told("idling"));
	ck_assert_uint_eq(iosched_next_wakeup(s), t + 8 * MS);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), rival);
	ck_assert(told("idled in vain"));
}
END_TEST

START_TEST(a_reader_that_comes_back_in_time_goes_before_those_who_waited)
{
	struct iosched_request *again;

	idle_for(1, 1000, 2);
	t += 7 * MS;
	again = put_read(1, 1016);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert_ptr_eq(next(), again);
}
END_TEST

START_TEST(a_slow_thinker_is_not_waited_for)
{
	struct iosched_request *rq, *rival;
	unsigned i;

	for (i = 0; i < 5; i++) {
		read_through(1, 1000 + 16 * i);
		t += 20 * MS;
	}
	ck_assert_ptr_eq(next(), NULL);
	rq = put_read(1, 2000);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(slice_idle_0_never_waits)
{
	struct iosched_request *rq, *rival;

	set("slice_idle_ns", 0);
	rq = put_read(1, 1000);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(an_fsync_like_write_is_not_waited_after)
{
	struct iosched_request *rq, *rival;

	rq = put(1, IOSCHED_WRITE, 1000, 16, IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	done(rq, 1);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

/* ---- async ---- */

START_TEST(async_waits_until_no_sync_request_is_in_flight)
{
	struct iosched_request *rq = put_read(1, 1000), *write;

	ck_assert_ptr_eq(next(), rq);
	write = put_write(2, FAR);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	ck_assert(told("async waits"));
	done(rq, 1);
	ck_assert_ptr_eq(next(), write);
}
END_TEST

START_TEST(async_is_let_in_one_by_one_after_a_sync_completion)
{
	read_through(1, 1000);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	put_write(2, FAR);
	put_write(2, FAR + 1000);
	put_write(2, FAR + 2000);
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	t += 199 * MS;
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	t += 1 * MS;
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
}
END_TEST

START_TEST(low_latency_0_lets_async_in_at_once)
{
	set("low_latency", 0);
	read_through(1, 1000);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	put_write(2, FAR);
	put_write(2, FAR + 1000);
	ck_assert_ptr_nonnull(next());
	ck_assert_ptr_nonnull(next());
}
END_TEST

START_TEST(a_queue_has_its_quantum_in_flight_and_four_times_as_much_alone)
{
	unsigned i, n = 0;

	for (i = 0; i < 30; i++)
		put_read(1, 1000 * (uint64_t)i);
	while (next() != NULL)
		n++;
	ck_assert_uint_eq(n, 16);
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_INFLIGHT);
	put_read(2, FAR);
	for (i = 0; i < 13; i++) {
		done(&pool[i], 0);
		if (i < 12)
			expect_hold(IOSCHED_HOLD_INFLIGHT);
	}
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
}
END_TEST

/* ---- preemption ---- */

START_TEST(sync_takes_the_turn_from_async)
{
	struct iosched_request *read;

	put_write(1, 1000);
	put_write(1, 5000);
	ck_assert_ptr_nonnull(next());
	read = put_read(2, FAR);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert(told("preempted: sync"));
	done(&pool[0], 1);
	ck_assert_ptr_eq(next(), read);
}
END_TEST

START_TEST(realtime_takes_the_turn_from_best_effort)
{
	struct iosched_request *first;

	put_read(1, 1000);
	put_read(1, 5000);
	ck_assert_ptr_nonnull(next());
	first = put_class(2, IOSCHED_REALTIME, 4, FAR);
	ck_assert(told("preempted: realtime"));
	ck_assert_ptr_eq(next(), first);
}
END_TEST

START_TEST(metadata_takes_the_turn_from_a_queue_that_has_none)
{
	struct iosched_request *meta;

	put_read(1, 1000);
	put_read(1, 5000);
	ck_assert_ptr_nonnull(next());
	meta = put(2, IOSCHED_READ, FAR, 16, IOSCHED_RQ_META);
	ck_assert(told("preempted: metadata"));
	ck_assert_ptr_eq(next(), meta);
}
END_TEST

START_TEST(a_request_close_to_the_head_ends_the_wait_for_another)
{
	struct iosched_request *near;

	idle_for(1, 1000, 2);
	near = put_read(3, 1016 + 8192); /* 8192 sectors from the end of the last */
	ck_assert(told("preempted: the request is close"));
	ck_assert_ptr_eq(next(), near);
}
END_TEST

START_TEST(a_request_one_sector_further_does_not)
{
	idle_for(1, 1000, 2);
	put_read(3, 1016 + 8193);
	ck_assert(!told("preempted"));
	expect_hold(IOSCHED_HOLD_IDLING);
}
END_TEST

START_TEST(the_idle_class_is_served_one_by_one_when_nobody_else_wants)
{
	put_class(1, IOSCHED_IDLE, 0, 1000);
	put_class(1, IOSCHED_IDLE, 0, 3000);
	ck_assert_ptr_eq(next(), &pool[0]);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	put_read(2, FAR);
	ck_assert(told("preempted: it is of the idle class"));
	done(&pool[0], 1);
	ck_assert_ptr_eq(next(), &pool[2]);
}
END_TEST

/* ---- cooperators ---- */

/* 1 has read at 1000 and 2 wants what follows; 2 came when 1 was not yet waited for. */
static struct iosched_request *interleave(void)
{
	struct iosched_request *rq = put_read(1, 1000), *other;

	ck_assert_ptr_eq(next(), rq);
	other = put_read(2, 1016);
	done(rq, 1);
	return other;
}

START_TEST(a_queue_that_goes_on_at_the_head_takes_over_without_idling)
{
	struct iosched_request *other = interleave();

	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
	ck_assert_ptr_eq(next(), other);
	ck_assert(told("close cooperator: it goes on"));
	ck_assert(told("close cooperators: their queues"));
}
END_TEST

START_TEST(close_cooperators_0_idles_though_the_next_request_is_there)
{
	set("close_cooperators", 0);
	interleave();
	expect_hold(IOSCHED_HOLD_IDLING);
}
END_TEST

START_TEST(queue_merging_0_only_hands_over)
{
	struct iosched_request *other;

	set("queue_merging", 0);
	other = interleave();
	ck_assert_ptr_eq(next(), other);
	ck_assert(told("close cooperator: it goes on"));
	ck_assert(!told("close cooperators: their queues"));
}
END_TEST

/* 1 and 2 share a queue; nothing is queued. */
static void merge_1_and_2(void)
{
	struct iosched_request *other = interleave();

	ck_assert_ptr_eq(next(), other);
	done(other, 1);
	n_rules = 0;
	read_through(1, 1032);
	ck_assert(told("merged"));
}

START_TEST(cooperators_share_one_queue_from_the_next_request_on)
{
	struct iosched_request *a, *b, *rival;

	merge_1_and_2();
	rival = put_read(3, FAR);
	a = put_read(1, 1048);
	b = put_read(2, 1064); /* the same queue, so it even merges */
	ck_assert_ptr_eq(next(), a);
	ck_assert_ptr_eq(a->merged, b);
	done(a, 1);
	b = put_read(2, 1080);
	ck_assert_ptr_eq(next(), b);
	done(b, 1);
	expect_hold(IOSCHED_HOLD_IDLING);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(a_shared_queue_that_is_seeky_for_a_second_is_split)
{
	unsigned i;

	merge_1_and_2();
	for (i = 0; i < 40 && !told("split"); i++) {
		read_through(1 + i % 2, (uint64_t)FAR * (i % 7));
		t += 50 * MS;
	}
	ck_assert(told("split"));
	ck_assert_uint_ge(i, 20); /* 51 ms each */
}
END_TEST

START_TEST(a_split_leaves_each_process_an_own_queue)
{
	unsigned i;

	merge_1_and_2();
	for (i = 0; i < 60; i++) {
		read_through(1 + i % 2, (uint64_t)FAR * (i % 7));
		t += 50 * MS;
	}
	put_read(1, 1000);
	put_read(2, 1016);
	ck_assert_uint_eq(iosched_queued(s), 2); /* in one queue they would have merged */
}
END_TEST

START_TEST(the_fewer_processes_go_where_the_more_are)
{
	struct iosched_request *a, *b;

	merge_1_and_2();
	a = put_read(9, FAR); /* takes a turn, so that the wait for the shared queue is forgotten */
	t += 8 * MS;
	ck_assert_ptr_eq(next(), a);
	done(a, 1);
	a = put_read(1, 1048);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), a);
	b = put_read(3, 1064); /* goes on where the shared queue ended: it is the one to move */
	done(a, 1);
	ck_assert_ptr_eq(next(), b);
	done(b, 1);
	n_rules = 0;
	read_through(2, 1080);
	ck_assert(!told("merged"));
	read_through(3, 1096);
	ck_assert(told("merged"));
}
END_TEST

/* ---- alias ---- */

START_TEST(a_second_request_for_one_start_sends_the_first_on_its_way)
{
	struct iosched_request *first, *second;

	put_read(1, 10);
	first = put_read(1, 1000);
	second = put(1, IOSCHED_READ, 1000, 8, 0);
	ck_assert(told("alias"));
	put_read(1, 1016); /* right behind the first, which takes no more */
	ck_assert_ptr_null(first->merged);
	ck_assert_uint_eq(iosched_queued(s), 4);
	ck_assert_ptr_eq(next(), first);
	ck_assert_ptr_ne(next(), NULL);
	ck_assert_ptr_null(second->merged);
}
END_TEST

START_TEST(an_alias_can_be_cancelled_while_it_waits)
{
	struct iosched_request *first = put_read(1, 1000), *second = put_read(1, 1000);

	ck_assert_int_eq(iosched_cancel(s, first, t), 0);
	ck_assert_ptr_eq(next(), second);
	done(second, 1);
	ck_assert_uint_eq(iosched_queued(s), 0);
}
END_TEST

/* ---- older kernels ---- */

/* 1 is waited for and a small request of it comes, with nobody else there. */
static struct iosched_request *small_arrival(unsigned sectors)
{
	read_through(1, 1000);
	return put(1, IOSCHED_READ, 1016, sectors, 0);
}

START_TEST(kernel_2_6_32_leaves_a_small_awaited_request_to_the_plug)
{
	iosched_time armed;

	small_arrival(8);
	armed = iosched_next_wakeup(s);
	ck_assert_uint_eq(kicks, 0);
	ck_assert_uint_eq(armed, t + 8 * MS);
	t = armed; /* nobody unplugged: the timer does */
	ck_assert_int_eq(iosched_timer(s, t), 0);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_DEFERRED);
	ck_assert_ptr_nonnull(next());
}
END_TEST

START_TEST(kernel_2_6_32_starts_a_large_awaited_request_at_once)
{
	small_arrival(9);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
}
END_TEST

START_TEST(kernel_2_6_29_starts_every_awaited_request_at_once)
{
	set("idle_arrival", 1);
	small_arrival(8);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_NOW);
}
END_TEST

START_TEST(kernel_2_6_30_rc1_leaves_even_a_large_one_to_the_plug_with_others_waiting)
{
	set("idle_arrival", 0);
	idle_for(1, 1000, 2);
	put(1, IOSCHED_READ, 1016, 64, 0);
	ck_assert_uint_eq(kicks, 0);
	ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
}
END_TEST

/* A seeky reader, on a device that is taken to queue commands until measured. */
static struct iosched_request *seek_about(void)
{
	struct iosched_request *rq, *rival;
	unsigned i;

	for (i = 0; i < 6; i++)
		read_through(1, (uint64_t)FAR * (i % 3));
	rq = put_read(1, 5 * (uint64_t)FAR);
	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, 9 * (uint64_t)FAR);
	done(rq, 1);
	return rival;
}

START_TEST(seeky_readers_are_waited_for_2_ms_only)
{
	struct iosched_request *rival = seek_about();

	expect_hold(IOSCHED_HOLD_IDLING);
	ck_assert_uint_eq(iosched_next_wakeup(s), t + 2 * MS);
	t += 2 * MS;
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(seeky_readers_are_not_waited_for_with_low_latency_0_and_a_device_that_queues)
{
	struct iosched_request *rival;

	set("low_latency", 0);
	rival = seek_about();
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

/* ---- cancel, exit ---- */

START_TEST(the_last_request_of_the_queue_whose_turn_it_is_can_be_cancelled)
{
	struct iosched_request *second, *rival;

	put_read(1, 1000);
	second = put_read(1, 5000);
	ck_assert_ptr_eq(next(), &pool[0]);
	rival = put_read(2, FAR);
	ck_assert_int_eq(iosched_cancel(s, second, t), 0);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	done(&pool[0], 1);
	expect_hold(IOSCHED_HOLD_IDLING);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(cancelling_what_others_waited_for_asks_for_a_dispatch)
{
	struct iosched_request *rival = idle_for(1, 1000, 2), *awaited;

	awaited = put_read(1, 1016); /* ended the wait: the timer is off */
	kicks = 0;
	ck_assert_int_eq(iosched_cancel(s, awaited, t), 0);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_DEFERRED);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(a_requeued_request_can_be_cancelled)
{
	struct iosched_request *rq = put_read(1, 1000), *rival;

	ck_assert_ptr_eq(next(), rq);
	rival = put_read(2, FAR);
	ck_assert_int_eq(iosched_requeue(s, rq, t), 0);
	ck_assert_int_eq(iosched_cancel(s, rq, t), 0);
	t += 8 * MS;
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(nobody_is_waited_for_who_is_gone)
{
	struct iosched_request *rival = idle_for(1, 1000, 2);

	kicks = 0;
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	ck_assert_uint_eq(kicks, IOSCHED_KICK_DEFERRED);
	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
	ck_assert_ptr_eq(next(), rival);
}
END_TEST

START_TEST(requests_of_one_who_is_gone_are_still_served)
{
	struct iosched_request *a = put_read(1, 1000), *b = put_read(1, 5000), *again;

	ck_assert_ptr_eq(next(), a);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	ck_assert_ptr_eq(next(), b);
	again = put_read(1, 9000); /* a new process of that number */
	done(a, 1);
	done(b, 1);
	ck_assert_ptr_eq(next(), again);
	done(again, 1);
}
END_TEST

START_TEST(a_queued_request_of_one_who_is_gone_can_change_its_priority)
{
	struct iosched_request *a = put_read(1, 1000);

	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	ck_assert_int_eq(iosched_reprioritize(s, a, IOSCHED_REALTIME, 1, t), 0);
	ck_assert_ptr_eq(next(), a);
	done(a, 1);
}
END_TEST

START_TEST(one_of_two_who_share_a_queue_can_go)
{
	struct iosched_request *rq;

	merge_1_and_2();
	rq = put_read(1, 1048);
	ck_assert_ptr_eq(next(), rq);
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	done(rq, 1);
	read_through(2, 1064);
	ck_assert_int_eq(iosched_context_exit(s, 2, t), 0);
}
END_TEST

/* ---- an empty pool ---- */

static struct iosched_policy cramped;

/* As the policy's own, but with room for two sync queues. */
static int cramped_init(void *self, struct iosched_policy_env *env, void *memory, iosched_time now)
{
	struct cfq26 *c = self;
	struct iosched_list_link *third;
	int error = ios_cfq26_policy.init(self, env, memory, now);

	third = c->pool.next->next->next;
	c->pool.prev = third->prev;
	third->prev->next = &c->pool;
	return error;
}

static void setup_cramped(void)
{
	cramped = ios_cfq26_policy;
	cramped.init = cramped_init;
	open_queue(&cramped, 16);
}

START_TEST(without_a_queue_in_the_pool_processes_share_the_fallback)
{
	struct iosched_request *rq;
	unsigned i, served = 0;

	for (i = 1; i <= 6; i++)
		put_read(i, FAR * (uint64_t)i);
	while ((rq = next()) != NULL || iosched_next_wakeup(s) != IOSCHED_NEVER) {
		if (rq == NULL) {
			t = iosched_next_wakeup(s);
			continue;
		}
		done(rq, 1);
		served++;
	}
	ck_assert_uint_eq(served, 6);
}
END_TEST

START_TEST(the_fallback_never_merges_into_another_queue)
{
	struct iosched_request *a, *b;

	put_read(1, FAR);
	put_read(2, 2 * (uint64_t)FAR);
	put_read(4, 500000);
	a = put_read(3, 1000);
	b = put_read(4, 1016); /* the same queue: it can merge */
	ck_assert_ptr_eq(a->merged, b);
	while (iosched_queued(s) != 0) {
		struct iosched_request *rq = next();

		if (rq == NULL)
			t = iosched_next_wakeup(s);
		else
			done(rq, 1);
		ck_assert(!told("close cooperators: their queues"));
	}
}
END_TEST

START_TEST(the_fallback_is_left_when_a_queue_is_free_again)
{
	struct iosched_request *a, *b;

	put_read(1, FAR);
	put_read(2, 2 * (uint64_t)FAR);
	put_read(3, 3 * (uint64_t)FAR);
	put_read(4, 4 * (uint64_t)FAR);
	while (iosched_drain(s, t) != NULL)
		;
	ck_assert_int_eq(iosched_context_exit(s, 1, t), 0);
	a = put_read(3, 1000);
	b = put_read(4, 1016);
	ck_assert_ptr_null(a->merged); /* 3 has its own queue now, 4 the fallback */
	ck_assert_ptr_eq(next(), a);
	ck_assert_ptr_null(b->merged);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("cfq-2.6.32");
	TCase *rules_case = tcase_create("rules");
	TCase *cramped_case = tcase_create("empty pool");

	tcase_add_checked_fixture(rules_case, setup, teardown);
	tcase_add_test(rules_case, a_slice_lasts_100_ms_at_level_4_after_the_first_completion);
	tcase_add_test(rules_case, a_slice_lasts_180_ms_at_level_0);
	tcase_add_test(rules_case, a_slice_lasts_40_ms_at_level_7);
	tcase_add_test(rules_case, an_async_slice_ends_after_16_requests_at_level_4);
	tcase_add_test(rules_case,
		       the_oldest_goes_first_when_expired_but_is_looked_at_once_per_slice);
	tcase_add_test(rules_case, an_expired_request_is_the_first_of_the_next_slice);
	tcase_add_test(rules_case,
		       a_reader_that_ran_dry_is_waited_for_8_ms_and_then_loses_its_turn);
	tcase_add_test(rules_case, a_reader_that_comes_back_in_time_goes_before_those_who_waited);
	tcase_add_test(rules_case, a_slow_thinker_is_not_waited_for);
	tcase_add_test(rules_case, slice_idle_0_never_waits);
	tcase_add_test(rules_case, an_fsync_like_write_is_not_waited_after);
	tcase_add_test(rules_case, async_waits_until_no_sync_request_is_in_flight);
	tcase_add_test(rules_case, async_is_let_in_one_by_one_after_a_sync_completion);
	tcase_add_test(rules_case, low_latency_0_lets_async_in_at_once);
	tcase_add_test(rules_case, a_queue_has_its_quantum_in_flight_and_four_times_as_much_alone);
	tcase_add_test(rules_case, sync_takes_the_turn_from_async);
	tcase_add_test(rules_case, realtime_takes_the_turn_from_best_effort);
	tcase_add_test(rules_case, metadata_takes_the_turn_from_a_queue_that_has_none);
	tcase_add_test(rules_case, a_request_close_to_the_head_ends_the_wait_for_another);
	tcase_add_test(rules_case, a_request_one_sector_further_does_not);
	tcase_add_test(rules_case, the_idle_class_is_served_one_by_one_when_nobody_else_wants);
	tcase_add_test(rules_case, a_queue_that_goes_on_at_the_head_takes_over_without_idling);
	tcase_add_test(rules_case, close_cooperators_0_idles_though_the_next_request_is_there);
	tcase_add_test(rules_case, queue_merging_0_only_hands_over);
	tcase_add_test(rules_case, cooperators_share_one_queue_from_the_next_request_on);
	tcase_add_test(rules_case, a_shared_queue_that_is_seeky_for_a_second_is_split);
	tcase_add_test(rules_case, a_split_leaves_each_process_an_own_queue);
	tcase_add_test(rules_case, the_fewer_processes_go_where_the_more_are);
	tcase_add_test(rules_case, a_second_request_for_one_start_sends_the_first_on_its_way);
	tcase_add_test(rules_case, an_alias_can_be_cancelled_while_it_waits);
	tcase_add_test(rules_case, kernel_2_6_32_leaves_a_small_awaited_request_to_the_plug);
	tcase_add_test(rules_case, kernel_2_6_32_starts_a_large_awaited_request_at_once);
	tcase_add_test(rules_case, kernel_2_6_29_starts_every_awaited_request_at_once);
	tcase_add_test(rules_case,
		       kernel_2_6_30_rc1_leaves_even_a_large_one_to_the_plug_with_others_waiting);
	tcase_add_test(rules_case, seeky_readers_are_waited_for_2_ms_only);
	tcase_add_test(
		rules_case,
		seeky_readers_are_not_waited_for_with_low_latency_0_and_a_device_that_queues);
	tcase_add_test(rules_case, the_last_request_of_the_queue_whose_turn_it_is_can_be_cancelled);
	tcase_add_test(rules_case, cancelling_what_others_waited_for_asks_for_a_dispatch);
	tcase_add_test(rules_case, a_requeued_request_can_be_cancelled);
	tcase_add_test(rules_case, nobody_is_waited_for_who_is_gone);
	tcase_add_test(rules_case, requests_of_one_who_is_gone_are_still_served);
	tcase_add_test(rules_case, a_queued_request_of_one_who_is_gone_can_change_its_priority);
	tcase_add_test(rules_case, one_of_two_who_share_a_queue_can_go);
	suite_add_tcase(all, rules_case);
	tcase_add_checked_fixture(cramped_case, setup_cramped, teardown);
	tcase_add_test(cramped_case, without_a_queue_in_the_pool_processes_share_the_fallback);
	tcase_add_test(cramped_case, the_fallback_never_merges_into_another_queue);
	tcase_add_test(cramped_case, the_fallback_is_left_when_a_queue_is_free_again);
	suite_add_tcase(all, cramped_case);
	return all;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
