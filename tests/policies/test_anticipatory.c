/* SPDX-License-Identifier: MIT */
/*
 * anticipatory: what a reader of its page should be able to rely on, and the corners
 * that no decision trace shows.
 */
#include "policies/stress.h"

#define MIB (1024 * KIB)
#define FAR (2000 * MIB)

static unsigned kicks;
static const char *last_rule;

static void on_kick(void *user, enum iosched_kick kind)
{
	(void)user;
	ck_assert_int_eq(kind, IOSCHED_KICK_DEFERRED);
	kicks++;
}

static void on_event(void *user, const struct iosched_event *event)
{
	(void)user;
	if (event->type == IOSCHED_EVENT_RULE)
		last_rule = event->rule;
}

static struct iosched *make(uint32_t max_contexts)
{
	struct iosched_params p = params_for("anticipatory");

	p.now = 1000 * MS;
	p.kick = on_kick;
	p.event = on_event;
	p.max_contexts = max_contexts;
	return queue_with(&p);
}

static struct iosched_request read_by(uint64_t context, uint64_t offset)
{
	struct iosched_request rq = request(IOSCHED_READ, offset, 4 * KIB);

	rq.context = context;
	return rq;
}

static struct iosched_request write_by(uint64_t context, uint64_t offset)
{
	struct iosched_request rq = read_by(context, offset);

	rq.op = IOSCHED_WRITE;
	return rq;
}

/* A queue that waits since 1005 ms for context 1, which has read at `at`, though context 2 asks
 * for something far away. */
static struct iosched *waiting(uint64_t at, struct iosched_request *near,
			       struct iosched_request *far, uint32_t max_contexts)
{
	struct iosched *s = make(max_contexts);

	*near = read_by(1, at);
	*far = read_by(2, FAR);
	iosched_insert(s, near, 1000 * MS);
	iosched_insert(s, far, 1000 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 1000 * MS), near);
	iosched_complete(s, near, 1005 * MS);
	ck_assert_ptr_null(iosched_dispatch(s, 1005 * MS));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_IDLING);
	ck_assert_uint_eq(iosched_next_wakeup(s), 1011 * MS);
	kicks = 0;
	return s;
}

START_TEST(the_next_read_of_the_same_context_overtakes_the_far_one)
{
	struct iosched_request near, far, next = read_by(1, 8 * KIB);
	struct iosched *s = waiting(0, &near, &far, 64);

	ck_assert_str_eq(last_rule, "wait for its next request");
	iosched_insert(s, &next, 1007 * MS);
	ck_assert_str_eq(last_rule, "its request is here");
	ck_assert_uint_eq(kicks, 1);
	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
	ck_assert_ptr_eq(serve(s, 1007 * MS), &next);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(after_antic_expire_the_far_one_is_served)
{
	struct iosched_request near, far;
	struct iosched *s = waiting(0, &near, &far, 64);

	ck_assert_int_eq(iosched_timer(s, 1010 * MS), -EAGAIN);
	ck_assert_int_eq(iosched_timer(s, 1011 * MS), 0);
	ck_assert_uint_eq(kicks, 1);
	ck_assert_str_eq(last_rule, "it did not ask in time");
	ck_assert_ptr_eq(serve(s, 1011 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(the_wait_begins_when_the_awaited_read_completes)
{
	struct iosched *s = make(64);
	struct iosched_request near = read_by(1, 0), far = read_by(2, FAR);

	iosched_insert(s, &near, 1000 * MS);
	iosched_insert(s, &far, 1000 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 1000 * MS), &near);
	ck_assert_ptr_null(iosched_dispatch(s, 1000 * MS));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_INFLIGHT);
	ck_assert_uint_eq(iosched_next_wakeup(s), IOSCHED_NEVER);
	iosched_complete(s, &near, 1020 * MS);
	ck_assert_uint_eq(iosched_next_wakeup(s), 1026 * MS);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(close_is_4_mib_ahead_of_the_head_and_2_mib_behind)
{
	static const struct {
		uint64_t at;
		bool close;
	} asked[] = {{104 * MIB + 4 * KIB, true},
		     {104 * MIB + 8 * KIB, false},
		     {98 * MIB + 4 * KIB, true},
		     {98 * MIB, false}};
	unsigned i;

	for (i = 0; i < 4; i++) {
		struct iosched_request near, far, other = read_by(3, asked[i].at);
		struct iosched *s = waiting(100 * MIB, &near, &far, 64);

		iosched_insert(s, &other, 1005 * MS);
		ck_assert_uint_eq(kicks, asked[i].close);
		ck_assert_ptr_eq(serve(s, 1005 * MS), asked[i].close ? &other : NULL);
		end_queue(s, NULL, 0);
	}
}
END_TEST

START_TEST(what_counts_as_close_doubles_with_each_millisecond_waited)
{
	struct iosched_request near, far, other = read_by(3, 115 * MIB);
	struct iosched *s = waiting(100 * MIB, &near, &far, 64);

	iosched_insert(s, &other, 1007 * MS); /* 16 MiB by now */
	ck_assert_str_eq(last_rule, "a request near is here");
	ck_assert_ptr_eq(serve(s, 1007 * MS), &other);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_write_of_the_awaited_context_ends_the_wait)
{
	struct iosched_request near, far, fsync = write_by(1, 900 * MIB);
	struct iosched *s = waiting(0, &near, &far, 64);

	iosched_insert(s, &fsync, 1006 * MS);
	ck_assert_uint_eq(kicks, 1);
	ck_assert_ptr_nonnull(serve(s, 1006 * MS));
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_second_request_for_the_same_place_sends_the_first_at_once)
{
	struct iosched_request near, far, same = read_by(3, FAR);
	struct iosched *s = waiting(0, &near, &far, 64);

	iosched_insert(s, &same, 1006 * MS);
	ck_assert_uint_eq(kicks, 1);
	ck_assert_ptr_eq(serve(s, 1006 * MS), &far);
	ck_assert_uint_eq(iosched_queued(s), 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_context_that_thinks_for_too_long_is_not_waited_for)
{
	struct iosched *s = make(64);
	struct iosched_request mine = read_by(1, 0), far = read_by(2, FAR);
	iosched_time now = 1000 * MS;
	unsigned i;

	for (i = 0; i < 5; i++) {
		mine = read_by(1, i * 8 * KIB);
		iosched_insert(s, &mine, now);
		if (i == 4)
			iosched_insert(s, &far, now);
		ck_assert_ptr_eq(iosched_dispatch(s, now), &mine);
		iosched_complete(s, &mine, now + 1 * MS);
		now += 11 * MS;
	}
	ck_assert_ptr_eq(serve(s, now - 10 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

/* Each round one context reads once and exits, while context 2 always has work far away. */
START_TEST(that_contexts_exit_is_learnt_in_six_vain_waits)
{
	struct iosched *s = make(64);
	struct iosched_request work[8], once[12], *rq;
	iosched_time now = 1000 * MS;
	unsigned i, k, waits = 0;

	for (i = 0; i < 8; i++) {
		work[i] = read_by(2, FAR + i * 8 * KIB);
		iosched_insert(s, &work[i], now);
	}
	for (k = 0; k < 12; k++) {
		once[k] = read_by(100 + k, k * 64 * MIB);
		iosched_insert(s, &once[k], now);
		while ((rq = serve(s, now += MS)) != &once[k]) {
			ck_assert_ptr_nonnull(rq);
			iosched_insert(s, rq, now);
		}
		ck_assert_int_eq(iosched_context_exit(s, 100 + k, now), 0);
		rq = serve(s, now);
		if (rq == NULL) {
			waits++;
			now = iosched_next_wakeup(s);
			iosched_timer(s, now);
			rq = serve(s, now);
		}
		iosched_insert(s, rq, now);
	}
	ck_assert_uint_eq(waits, 6);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(between_reads_and_writes_the_device_drains)
{
	struct iosched *s = make(64);
	struct iosched_request r = read_by(1, 0), w = write_by(2, FAR);

	ck_assert_int_eq(iosched_tunable_set(s, "antic_expire_ns", 0), 0);
	kicks = 0;
	iosched_insert(s, &r, 1000 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 1000 * MS), &r);
	iosched_insert(s, &w, 1000 * MS);
	ck_assert_ptr_null(iosched_dispatch(s, 1000 * MS));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_INFLIGHT);
	iosched_complete(s, &r, 1005 * MS);
	ck_assert_uint_eq(kicks, 1);
	ck_assert_ptr_eq(serve(s, 1005 * MS), &w);
	end_queue(s, NULL, 0);
}
END_TEST

/* Serve until a write comes, then count writes until a read comes. */
static unsigned next_write_batch(struct iosched *s, iosched_time *now)
{
	unsigned writes = 0;

	for (;;) {
		struct iosched_request *rq = serve(s, *now += MS);

		ck_assert_ptr_nonnull(rq);
		rq->offset += 100 * MIB; /* asked again elsewhere */
		iosched_insert(s, rq, *now);
		if (rq->op == IOSCHED_WRITE)
			writes++;
		else if (writes != 0)
			return writes;
	}
}

START_TEST(a_write_batch_that_takes_a_fifth_of_its_time_may_be_twice_as_long)
{
	struct iosched *s = make(64);
	struct iosched_request r[8], w[8];
	iosched_time now = 1000 * MS;
	unsigned i;

	ck_assert_int_eq(iosched_tunable_set(s, "antic_expire_ns", 0), 0);
	for (i = 0; i < 8; i++) {
		r[i] = read_by(1, i * MIB);
		w[i] = write_by(2, (i + 50) * MIB);
		iosched_insert(s, &r[i], now);
		iosched_insert(s, &w[i], now);
	}
	/* 12 at first, but the first read finds its quota used up in no time (trace micro-asquota);
	 * 24 writes of 1 ms then take less than a third of 125 ms. */
	ck_assert_uint_eq(next_write_batch(s, &now), 24);
	ck_assert_uint_eq(next_write_batch(s, &now), 48);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_cancelled_alias_is_not_waited_for)
{
	struct iosched *s = make(64);
	struct iosched_request first = read_by(9, 0), a = read_by(1, FAR), b = read_by(2, FAR);
	struct iosched_request other = read_by(3, FAR / 2);

	iosched_insert(s, &first, 1000 * MS);
	ck_assert_ptr_eq(serve(s, 1000 * MS), &first);
	iosched_insert(s, &other, 2000 * MS);
	iosched_insert(s, &a, 2000 * MS);
	iosched_insert(s, &b, 2000 * MS); /* sends a, whose context is the one to wait for */
	ck_assert_int_eq(iosched_cancel(s, &a, 2000 * MS), 0);
	ck_assert_int_eq(iosched_cancel(s, &b, 2000 * MS), 0);
	ck_assert_ptr_eq(serve(s, 2000 * MS), &other);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_drain_ends_when_the_alias_that_prolonged_it_is_cancelled)
{
	struct iosched *s = make(64);
	struct iosched_request r = read_by(1, 0), w = write_by(2, FAR);
	struct iosched_request a = read_by(1, FAR), b = read_by(2, FAR);

	ck_assert_int_eq(iosched_tunable_set(s, "antic_expire_ns", 0), 0);
	iosched_insert(s, &r, 1000 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 1000 * MS), &r);
	iosched_insert(s, &w, 1000 * MS);
	ck_assert_ptr_null(iosched_dispatch(s, 1000 * MS));
	iosched_insert(s, &a, 1000 * MS);
	iosched_insert(s, &b, 1000 * MS);
	kicks = 0;
	iosched_complete(s, &r, 1005 * MS);
	ck_assert_uint_eq(kicks, 0);
	ck_assert_int_eq(iosched_cancel(s, &a, 1005 * MS), 0);
	ck_assert_uint_eq(kicks, 1);
	ck_assert_ptr_eq(serve(s, 1005 * MS), &w);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(an_alias_that_is_reprioritized_queues_again)
{
	struct iosched *s = make(64);
	struct iosched_request a = read_by(1, FAR), b = read_by(2, FAR);

	iosched_insert(s, &a, 1000 * MS);
	iosched_insert(s, &b, 1000 * MS);
	ck_assert_int_eq(iosched_reprioritize(s, &a, IOSCHED_REALTIME, 0, 1000 * MS), 0);
	ck_assert_ptr_eq(serve(s, 1000 * MS), &b);
	ck_assert_ptr_eq(serve(s, 1000 * MS), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(cancelling_the_awaited_request_once_requeued_starts_the_clock)
{
	struct iosched *s = make(64);
	struct iosched_request near = read_by(1, 0), far = read_by(2, FAR);

	iosched_insert(s, &near, 1000 * MS);
	iosched_insert(s, &far, 1000 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 1000 * MS), &near);
	ck_assert_ptr_null(iosched_dispatch(s, 1000 * MS));
	ck_assert_int_eq(iosched_requeue(s, &near, 1001 * MS), 0);
	ck_assert_int_eq(iosched_cancel(s, &near, 1001 * MS), 0);
	ck_assert_uint_eq(iosched_next_wakeup(s), 1007 * MS);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(turning_anticipation_off_while_waiting_still_ends_the_wait)
{
	struct iosched_request near, far;
	struct iosched *s = waiting(0, &near, &far, 64);

	ck_assert_int_eq(iosched_tunable_set(s, "antic_expire_ns", 0), 0);
	ck_assert_ptr_null(iosched_dispatch(s, 1006 * MS));
	ck_assert_uint_eq(iosched_next_wakeup(s), 1011 * MS);
	ck_assert_ptr_eq(serve(s, 1011 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(an_awaited_context_may_be_forgotten_and_its_place_reused)
{
	struct iosched_request near, far, third = read_by(3, FAR + 50 * MIB);
	struct iosched *s = waiting(0, &near, &far, 2);

	iosched_insert(s, &third, 1006 * MS); /* the only idle context is 1 */
	ck_assert_ptr_null(iosched_dispatch(s, 1006 * MS));
	ck_assert_int_eq(iosched_timer(s, 1011 * MS), 0);
	ck_assert_ptr_eq(serve(s, 1011 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(requests_that_move_in_expire_by_their_arrival)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request first = read_by(1, 0), old = read_by(1, FAR);
	struct iosched_request near = read_by(1, 8 * KIB);

	iosched_insert(s, &first, 0);
	iosched_insert(s, &old, 1 * MS);
	iosched_insert(s, &near, 2 * MS);
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("anticipatory"), 1000 * MS), 0);
	ck_assert_ptr_eq(serve(s, 1000 * MS), &first);
	ck_assert_ptr_eq(serve(s, 1125 * MS), &old); /* by arrival now it would not have expired */
	ck_assert_ptr_eq(serve(s, 1126 * MS), &near);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(requests_in_flight_from_another_policy_delay_nothing)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request out = write_by(1, 0), r = read_by(2, FAR);

	iosched_insert(s, &out, 1);
	iosched_insert(s, &r, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &out);
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("anticipatory"), 2), 0);
	ck_assert_ptr_eq(serve(s, 2), &r);
	ck_assert_int_eq(iosched_complete(s, &out, 3), 0);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(whatever_is_called_nothing_is_lost_and_nothing_hangs)
{
	uint64_t seed;

	for (seed = 1; seed <= 20; seed++)
		stress_policy("anticipatory", seed);
}
END_TEST

MAIN_OF("anticipatory", the_next_read_of_the_same_context_overtakes_the_far_one,
	after_antic_expire_the_far_one_is_served, the_wait_begins_when_the_awaited_read_completes,
	close_is_4_mib_ahead_of_the_head_and_2_mib_behind,
	what_counts_as_close_doubles_with_each_millisecond_waited,
	a_write_of_the_awaited_context_ends_the_wait,
	a_second_request_for_the_same_place_sends_the_first_at_once,
	a_context_that_thinks_for_too_long_is_not_waited_for,
	that_contexts_exit_is_learnt_in_six_vain_waits, between_reads_and_writes_the_device_drains,
	a_write_batch_that_takes_a_fifth_of_its_time_may_be_twice_as_long,
	a_cancelled_alias_is_not_waited_for,
	a_drain_ends_when_the_alias_that_prolonged_it_is_cancelled,
	an_alias_that_is_reprioritized_queues_again,
	cancelling_the_awaited_request_once_requeued_starts_the_clock,
	turning_anticipation_off_while_waiting_still_ends_the_wait,
	an_awaited_context_may_be_forgotten_and_its_place_reused,
	requests_that_move_in_expire_by_their_arrival,
	requests_in_flight_from_another_policy_delay_nothing,
	whatever_is_called_nothing_is_lost_and_nothing_hangs)
