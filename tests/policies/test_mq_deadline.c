/* SPDX-License-Identifier: MIT */
/*
 * mq-deadline: what a reader of its page should be able to rely on, and the corners
 * that no decision trace shows.
 */
#include "policies/stress.h"

#define NONE 0, 0
#define RT IOSCHED_REALTIME, 0
#define BE IOSCHED_BEST_EFFORT, 5
#define BE0 IOSCHED_BEST_EFFORT, 1
#define IDLE IOSCHED_IDLE, 0

static struct iosched_request at(enum iosched_op op, uint64_t kib, uint8_t prio_class,
				 uint8_t prio_level)
{
	struct iosched_request rq = request(op, kib * KIB, 4 * KIB);

	rq.prio_class = prio_class;
	rq.prio_level = prio_level;
	return rq;
}

START_TEST(the_first_batch_is_of_writes)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request r = at(IOSCHED_READ, 0, NONE), w = at(IOSCHED_WRITE, 800, NONE);

	iosched_insert(s, &r, 1);
	iosched_insert(s, &w, 1);
	ck_assert_ptr_eq(serve(s, 1), &w);
	ck_assert_ptr_eq(serve(s, 1), &r);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_request_that_arrives_ahead_of_the_head_is_served_in_this_sweep)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request a = at(IOSCHED_READ, 40, NONE), b = at(IOSCHED_READ, 100, NONE);
	struct iosched_request c = at(IOSCHED_READ, 50, NONE);

	iosched_insert(s, &a, 1);
	iosched_insert(s, &b, 1);
	ck_assert_ptr_eq(serve(s, 1), &a);
	iosched_insert(s, &c, 2);
	ck_assert_ptr_eq(serve(s, 2), &c);
	ck_assert_ptr_eq(serve(s, 2), &b);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_direction_resumes_where_it_stopped)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request r[3], w = at(IOSCHED_WRITE, 0, NONE);
	unsigned i;

	ck_assert_int_eq(iosched_tunable_set(s, "fifo_batch", 1), 0);
	ck_assert_int_eq(iosched_tunable_set(s, "writes_starved", 0), 0);
	r[0] = at(IOSCHED_READ, 500, NONE);
	r[1] = at(IOSCHED_READ, 100, NONE); /* older, but behind */
	r[2] = at(IOSCHED_READ, 600, NONE);
	for (i = 0; i < 3; i++)
		iosched_insert(s, &r[i], 1);
	ck_assert_ptr_eq(serve(s, 1), &r[1]); /* from offset 0 on */
	ck_assert_ptr_eq(serve(s, 1), &r[0]);
	iosched_insert(s, &r[1], 1);
	iosched_insert(s, &w, 1);
	ck_assert_ptr_eq(serve(s, 1), &w);
	ck_assert_ptr_eq(serve(s, 1), &r[2]); /* r[1] is 400 KiB behind */
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(two_batches_of_reads_pass_a_waiting_write_but_not_a_third)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request r[8], w = at(IOSCHED_WRITE, 0, NONE);
	unsigned i, order = 0;

	ck_assert_int_eq(iosched_tunable_set(s, "fifo_batch", 2), 0);
	for (i = 0; i < 8; i++) {
		r[i] = at(IOSCHED_READ, i * 16, NONE);
		iosched_insert(s, &r[i], 1);
	}
	ck_assert_ptr_eq(serve(s, 1), &r[0]); /* a batch of reads has begun */
	iosched_insert(s, &w, 1);
	while (serve(s, 1) != &w)
		order++;
	ck_assert_uint_eq(order, 1 + 2 * 2);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_real_time_request_in_flight_holds_best_effort_back)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request rt = at(IOSCHED_READ, 0, RT), be = at(IOSCHED_READ, 100, NONE);

	iosched_insert(s, &rt, 1);
	iosched_insert(s, &be, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &rt);
	ck_assert_ptr_null(iosched_dispatch(s, 1));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_INFLIGHT);
	iosched_complete(s, &rt, 2);
	ck_assert_ptr_eq(serve(s, 2), &be);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(after_prio_aging_expire_a_lower_class_goes_first)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request rt[2], idle = at(IOSCHED_READ, 100, IDLE);

	rt[0] = at(IOSCHED_READ, 0, RT);
	rt[1] = at(IOSCHED_READ, 900, RT);
	iosched_insert(s, &idle, 5 * MS);
	iosched_insert(s, &rt[0], 5 * MS);
	iosched_insert(s, &rt[1], 5 * MS);
	ck_assert_ptr_eq(iosched_dispatch(s, 10005 * MS - 1), &rt[0]);
	ck_assert_ptr_eq(iosched_dispatch(s, 10005 * MS), &idle); /* exactly as old is old enough */
	iosched_complete(s, &rt[0], 10005 * MS);
	iosched_complete(s, &idle, 10005 * MS);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_shorter_expiry_set_later_does_not_hold_anything_back)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request a = at(IOSCHED_READ, 0, NONE);

	iosched_insert(s, &a, 5 * MS);
	ck_assert_int_eq(iosched_tunable_set(s, "read_expire_ns", 0), 0);
	ck_assert_int_eq(iosched_tunable_set(s, "prio_aging_expire_ns", 0), 0);
	ck_assert_ptr_eq(serve(s, 5 * MS), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_changed_expiry_is_that_of_later_requests)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request far = at(IOSCHED_READ, 900, NONE), near = at(IOSCHED_READ, 8, NONE);

	ck_assert_int_eq(iosched_tunable_set(s, "read_expire_ns", 10 * MS), 0);
	iosched_insert(s, &far, 5 * MS);
	iosched_insert(s, &near, 5 * MS);
	ck_assert_ptr_eq(serve(s, 15 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(expiry_counts_whole_milliseconds)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request far = at(IOSCHED_READ, 900, NONE), near = at(IOSCHED_READ, 8, NONE);

	iosched_insert(s, &far, 10 * MS + 999999);
	iosched_insert(s, &near, 11 * MS);
	/* 500 ms later by the tick, though not by the nanosecond. */
	ck_assert_ptr_eq(serve(s, 510 * MS), &far);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(only_equal_priorities_merge)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request rq[5];
	unsigned i;

	rq[0] = at(IOSCHED_READ, 0, NONE);
	rq[1] = at(IOSCHED_READ, 4, BE);  /* none is best effort 4: one level 1..8 */
	rq[2] = at(IOSCHED_READ, 8, BE0); /* another level */
	rq[3] = at(IOSCHED_READ, 12, RT);
	rq[4] = at(IOSCHED_READ, 16, RT);
	for (i = 0; i < 5; i++)
		iosched_insert(s, &rq[i], 1);
	ck_assert_uint_eq(iosched_queued(s), 3);
	ck_assert_uint_eq(rq[0].span_length, 8 * KIB);
	ck_assert_uint_eq(rq[2].span_length, 4 * KIB);
	ck_assert_uint_eq(rq[3].span_length, 8 * KIB);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_gap_that_closes_does_not_join_two_priorities)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request low = at(IOSCHED_READ, 0, NONE), gap = at(IOSCHED_READ, 4, NONE);
	struct iosched_request high = at(IOSCHED_READ, 8, BE0);

	iosched_insert(s, &low, 1);
	iosched_insert(s, &high, 1);
	iosched_insert(s, &gap, 1);
	ck_assert_uint_eq(low.span_length, 8 * KIB);
	ck_assert_uint_eq(iosched_queued(s), 2);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_request_coalesced_away_no_longer_holds_lower_classes_back)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request rt[3], be = at(IOSCHED_READ, 500, NONE);
	unsigned i;

	rt[0] = at(IOSCHED_READ, 0, RT);
	rt[1] = at(IOSCHED_READ, 8, RT);
	rt[2] = at(IOSCHED_READ, 4, RT);
	for (i = 0; i < 3; i++)
		iosched_insert(s, &rt[i], 1);
	iosched_insert(s, &be, 1);
	ck_assert_uint_eq(iosched_queued(s), 2);
	ck_assert_ptr_eq(serve(s, 1), &rt[0]);
	ck_assert_ptr_eq(serve(s, 1), &be);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(cancelled_and_requeued_requests_no_longer_hold_lower_classes_back)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request rt[2], be = at(IOSCHED_READ, 500, NONE);

	rt[0] = at(IOSCHED_READ, 0, RT);
	rt[1] = at(IOSCHED_READ, 100, RT);
	iosched_insert(s, &rt[0], 1);
	iosched_insert(s, &rt[1], 1);
	iosched_insert(s, &be, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &rt[0]);
	ck_assert_int_eq(iosched_cancel(s, &rt[1], 1), 0);
	ck_assert_ptr_null(iosched_dispatch(s, 1));
	ck_assert_int_eq(iosched_requeue(s, &rt[0], 2), 0);
	ck_assert_int_eq(iosched_cancel(s, &rt[0], 2), 0);
	ck_assert_ptr_eq(serve(s, 2), &be);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_queued_request_keeps_the_class_its_context_had)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_context_params p;
	struct iosched_request a = at(IOSCHED_READ, 0, NONE), b = at(IOSCHED_READ, 100, NONE);

	iosched_context_params_init(&p, sizeof(p));
	p.prio_class = IOSCHED_IDLE;
	ck_assert_int_eq(iosched_context_set(s, 7, &p, 1), 0);
	a.context = 7;
	iosched_insert(s, &a, 1);
	iosched_insert(s, &b, 1);
	p.prio_class = IOSCHED_REALTIME;
	ck_assert_int_eq(iosched_context_set(s, 7, &p, 1), 0);
	ck_assert_ptr_eq(serve(s, 2), &b);
	ck_assert_ptr_eq(serve(s, 2), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(reprioritize_moves_a_queued_request_to_its_class)
{
	struct iosched *s = queue_for("mq-deadline");
	struct iosched_request a = at(IOSCHED_READ, 0, NONE), b = at(IOSCHED_READ, 100, NONE);

	iosched_insert(s, &a, 1);
	iosched_insert(s, &b, 1);
	ck_assert_int_eq(iosched_reprioritize(s, &b, IOSCHED_REALTIME, 0, 2), 0);
	ck_assert_ptr_eq(serve(s, 3), &b);
	ck_assert_ptr_eq(serve(s, 3), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(after_a_size_refusal_an_older_request_that_ends_there_takes_it)
{
	struct iosched_params p = params_for("mq-deadline");
	struct iosched *s;
	struct iosched_request small = at(IOSCHED_READ, 12, NONE), n = at(IOSCHED_READ, 16, NONE);
	struct iosched_request large = request(IOSCHED_READ, 0, 16 * KIB);

	p.max_merge_bytes = 16 * KIB;
	s = queue_with(&p);
	iosched_insert(s, &small, 1);
	iosched_insert(s, &large, 1);
	iosched_insert(s, &n, 1);
	ck_assert_uint_eq(small.span_length, 8 * KIB);
	ck_assert_ptr_eq(small.merged, &n);
	end_queue(s, NULL, 0);
}
END_TEST

/* The chain of such joins asks for priorities as they are now, which a context may have changed
 * since one of the requests was queued: it then joins two classes. */
START_TEST(a_join_across_classes_leaves_both_classes_in_order)
{
	struct iosched_params p = params_for("mq-deadline");
	struct iosched_context_params rt;
	struct iosched *s;
	struct iosched_request a = at(IOSCHED_READ, 64, NONE), m = at(IOSCHED_READ, 68, NONE);
	struct iosched_request n = at(IOSCHED_READ, 72, RT), other = at(IOSCHED_READ, 800, NONE);
	struct iosched_request large = request(IOSCHED_READ, 56 * KIB, 16 * KIB);

	p.max_merge_bytes = 16 * KIB;
	s = queue_with(&p);
	iosched_context_params_init(&rt, sizeof(rt));
	rt.prio_class = IOSCHED_REALTIME;
	iosched_context_set(s, 2, &rt, 1);
	m.context = 2;
	large.prio_class = IOSCHED_REALTIME;
	iosched_insert(s, &other, 1); /* is tried first, and touches nothing */
	iosched_insert(s, &m, 1);
	iosched_insert(s, &a, 2 * MS);
	iosched_insert(s, &large, 2 * MS);
	rt.prio_class = IOSCHED_BEST_EFFORT;
	iosched_context_set(s, 2, &rt, 2 * MS);
	iosched_insert(s, &n, 2 * MS);
	ck_assert_uint_eq(iosched_queued(s), 3);
	ck_assert_uint_eq(a.span_length, 12 * KIB);
	ck_assert_ptr_eq(serve(s, 3 * MS), &large);
	ck_assert_ptr_eq(serve(s, 3 * MS), &a);
	ck_assert_ptr_eq(serve(s, 3 * MS), &other);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(requests_in_flight_from_another_policy_hold_nothing_back)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rt = at(IOSCHED_READ, 0, RT), be = at(IOSCHED_READ, 100, NONE);
	struct iosched_request idle = at(IOSCHED_READ, 300, IDLE);

	iosched_insert(s, &rt, 1);
	iosched_insert(s, &idle, 1);
	iosched_insert(s, &be, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &rt);
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("mq-deadline"), 2), 0);
	ck_assert_ptr_eq(serve(s, 2), &be);
	ck_assert_ptr_eq(serve(s, 2), &idle);
	iosched_complete(s, &rt, 3);
	end_queue(s, NULL, 0);
}
END_TEST

static const char *last_rule;

static void hear(void *user, const struct iosched_event *event)
{
	(void)user;
	if (event->type == IOSCHED_EVENT_RULE)
		last_rule = event->rule;
}

START_TEST(it_tells_why_a_lower_class_waits)
{
	struct iosched_params p = params_for("mq-deadline");
	struct iosched_request rt = at(IOSCHED_READ, 0, RT), be = at(IOSCHED_READ, 100, NONE);
	struct iosched *s;

	p.event = hear;
	s = queue_with(&p);
	iosched_insert(s, &rt, 1);
	iosched_insert(s, &be, 1);
	iosched_dispatch(s, 1);
	ck_assert_ptr_null(last_rule);
	iosched_dispatch(s, 1);
	ck_assert_str_eq(last_rule, "a class above in flight holds back the others");
	iosched_complete(s, &rt, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(whatever_is_called_nothing_is_lost_and_nothing_hangs)
{
	uint64_t seed;

	for (seed = 1; seed <= 20; seed++)
		stress_policy("mq-deadline", seed);
}
END_TEST

MAIN_OF("mq-deadline", the_first_batch_is_of_writes,
	a_request_that_arrives_ahead_of_the_head_is_served_in_this_sweep,
	a_direction_resumes_where_it_stopped,
	two_batches_of_reads_pass_a_waiting_write_but_not_a_third,
	a_real_time_request_in_flight_holds_best_effort_back,
	after_prio_aging_expire_a_lower_class_goes_first,
	a_shorter_expiry_set_later_does_not_hold_anything_back,
	a_changed_expiry_is_that_of_later_requests, expiry_counts_whole_milliseconds,
	only_equal_priorities_merge, a_gap_that_closes_does_not_join_two_priorities,
	a_request_coalesced_away_no_longer_holds_lower_classes_back,
	cancelled_and_requeued_requests_no_longer_hold_lower_classes_back,
	a_queued_request_keeps_the_class_its_context_had,
	reprioritize_moves_a_queued_request_to_its_class,
	after_a_size_refusal_an_older_request_that_ends_there_takes_it,
	a_join_across_classes_leaves_both_classes_in_order,
	requests_in_flight_from_another_policy_hold_nothing_back, it_tells_why_a_lower_class_waits,
	whatever_is_called_nothing_is_lost_and_nothing_hangs)
