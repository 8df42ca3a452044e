/* SPDX-License-Identifier: MIT */
/*
 * life: the road of a request from insert to complete, and the ways off it.
 */
#include <errno.h>
#include "support/support.h"

START_TEST(noop_serves_in_order_of_arrival)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq[3];
	int i;

	for (i = 0; i < 3; i++) {
		rq[i] = request(IOSCHED_READ, (uint64_t)(3 - i) * 8192, 512);
		ck_assert_int_eq(iosched_insert(s, &rq[i], (iosched_time)i), 0);
	}
	for (i = 0; i < 3; i++)
		ck_assert_ptr_eq(serve(s, 10), &rq[i]);
	ck_assert_ptr_null(iosched_dispatch(s, 10));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_EMPTY);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(deadline_serves_16_reads_16_reads_16_writes)
{
	/* 40 + 40 in rising order, nothing expires: R16 R16 W16 R8 W16 W8. */
	static const char want[] =
		"RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRWWWWWWWWWWWWWWWWRRRRRRRRWWWWWWWW"
		"WWWWWWWWWWWWWWWW";
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[80];
	unsigned i;

	for (i = 0; i < 80; i++) {
		rq[i] = request(i < 40 ? IOSCHED_READ : IOSCHED_WRITE, (uint64_t)i * 8192, 512);
		ck_assert_int_eq(iosched_insert(s, &rq[i], 1), 0);
	}
	for (i = 0; i < 80; i++)
		ck_assert_int_eq(serve(s, 2)->op == IOSCHED_READ ? 'R' : 'W', want[i]);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(deadline_passes_over_what_arrives_behind_its_sweep)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request a = request(IOSCHED_READ, 40 * KIB, 512);
	struct iosched_request c = request(IOSCHED_READ, 100 * KIB, 512);
	struct iosched_request b = request(IOSCHED_READ, 50 * KIB, 512);

	iosched_insert(s, &a, 1);
	iosched_insert(s, &c, 1);
	ck_assert_ptr_eq(serve(s, 2), &a);
	iosched_insert(s, &b, 3);
	ck_assert_ptr_eq(serve(s, 4), &c);
	ck_assert_ptr_eq(serve(s, 5), &b);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(the_device_window_holds_dispatch_back)
{
	struct iosched_params p = params_for("noop");
	struct iosched_request a = request(IOSCHED_READ, 0, 512);
	struct iosched_request b = request(IOSCHED_READ, 8192, 512);
	struct iosched *s;

	p.max_inflight = 1;
	s = queue_with(&p);
	iosched_insert(s, &a, 1);
	iosched_insert(s, &b, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &a);
	ck_assert_ptr_null(iosched_dispatch(s, 1));
	ck_assert_int_eq(iosched_hold_reason(s), IOSCHED_HOLD_WINDOW);
	ck_assert_uint_eq(iosched_inflight(s), 1);
	iosched_complete(s, &a, 2);
	ck_assert_ptr_eq(serve(s, 2), &b);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_requeued_request_is_the_next_one_dispatched)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request a = request(IOSCHED_WRITE, 0, 512);
	struct iosched_request b = request(IOSCHED_READ, 8192, 512);
	struct iosched_request *out;

	iosched_insert(s, &a, 1);
	out = iosched_dispatch(s, 1);
	iosched_insert(s, &b, 2);
	ck_assert_int_eq(iosched_requeue(s, out, 3), 0);
	ck_assert_uint_eq(iosched_inflight(s), 0);
	ck_assert_uint_eq(iosched_queued(s), 2);
	ck_assert_ptr_eq(serve(s, 3), &a);
	ck_assert_ptr_eq(serve(s, 3), &b);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_requeued_request_can_be_cancelled)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request a = request(IOSCHED_WRITE, 0, 512);

	iosched_insert(s, &a, 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &a);
	ck_assert_int_eq(iosched_requeue(s, &a, 2), 0);
	ck_assert_int_eq(iosched_cancel(s, &a, 3), 0);
	ck_assert_int_eq(iosched_insert(s, &a, 4), 0);
	ck_assert_ptr_eq(serve(s, 5), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_head_request_overtakes_all_and_a_flush_the_policy)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request a = request(IOSCHED_READ, 0, 512);
	struct iosched_request flush = request(IOSCHED_FLUSH, 0, 0);
	struct iosched_request head = request(IOSCHED_WRITE, 512, 512);

	head.flags = IOSCHED_RQ_HEAD;
	iosched_insert(s, &a, 1);
	iosched_insert(s, &flush, 1);
	iosched_insert(s, &head, 1);
	ck_assert_ptr_eq(serve(s, 2), &head);
	ck_assert_ptr_eq(serve(s, 2), &flush);
	ck_assert_ptr_eq(serve(s, 2), &a);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(cancel_takes_a_queued_request_back)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[3];
	int i;

	for (i = 0; i < 3; i++) {
		rq[i] = request(IOSCHED_READ, (uint64_t)i * 8192, 512);
		iosched_insert(s, &rq[i], 1);
	}
	ck_assert_ptr_eq(serve(s, 2), &rq[0]);
	ck_assert_int_eq(iosched_cancel(s, &rq[1], 3), 0); /* where the sweep would go on */
	ck_assert_int_eq(iosched_cancel(s, &rq[1], 3), -EINVAL);
	ck_assert_ptr_eq(serve(s, 4), &rq[2]);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(drain_gives_every_request_back_alone)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[6], flush = request(IOSCHED_FLUSH, 0, 0);
	struct iosched_request *out;
	unsigned i, n = 0, seen = 0;

	for (i = 0; i < 6; i++) {
		/* 0, 1, 2 become one; 3, 4, 5 stay apart. */
		rq[i] = request(IOSCHED_READ, i < 3 ? i * 512 : i * 8192, 512);
		rq[i].user = &rq[i];
		iosched_insert(s, &rq[i], 1);
	}
	iosched_insert(s, &flush, 1);
	while ((out = iosched_drain(s, 2)) != NULL) {
		n++;
		if (out != &flush)
			seen |= 1u << (out - rq);
		ck_assert_ptr_null(out->merged);
		ck_assert_uint_eq(out->span_length, out->length);
		ck_assert_uint_eq(out->span_offset, out->offset);
	}
	ck_assert_uint_eq(n, 7);
	ck_assert_uint_eq(seen, 0x3f);
	ck_assert_int_eq(iosched_insert(s, &rq[1], 3), 0);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(an_earlier_time_counts_as_the_last_one)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request a = request(IOSCHED_READ, 0, 512);
	struct iosched_stats st;

	ck_assert_int_eq(iosched_timer(s, 1000), -EAGAIN);
	iosched_insert(s, &a, 10);
	ck_assert_uint_eq(a.inserted, 1000);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.time_went_back, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(reprioritize_keeps_the_arrival_and_the_place)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq[3];
	int i;

	for (i = 0; i < 3; i++) {
		rq[i] = request(IOSCHED_READ, (uint64_t)i * 8192, 512);
		iosched_insert(s, &rq[i], (iosched_time)(i + 1));
	}
	ck_assert_int_eq(iosched_reprioritize(s, &rq[1], IOSCHED_REALTIME, 1, 9), 0);
	ck_assert_uint_eq(rq[1].prio_class, IOSCHED_REALTIME);
	ck_assert_uint_eq(rq[1].inserted, 2);
	for (i = 0; i < 3; i++)
		ck_assert_ptr_eq(serve(s, 10), &rq[i]);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(dispatch_many_stops_where_dispatch_does)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq[3], *out[8];
	int i;

	for (i = 0; i < 3; i++) {
		rq[i] = request(IOSCHED_READ, (uint64_t)i * 8192, 512);
		iosched_insert(s, &rq[i], 1);
	}
	ck_assert_uint_eq(iosched_dispatch_many(s, out, 2, 1), 2);
	ck_assert_uint_eq(iosched_dispatch_many(s, out + 2, 6, 1), 1);
	end_queue(s, out, 3);
}
END_TEST

START_TEST(two_queues_do_not_touch)
{
	struct iosched *a = queue_for("noop"), *b = queue_for("deadline");
	struct iosched_request x = request(IOSCHED_READ, 0, 512);
	struct iosched_request y = request(IOSCHED_READ, 512, 512);

	iosched_insert(a, &x, 1);
	iosched_insert(b, &y, 1);
	ck_assert_ptr_null(x.merged);
	ck_assert_ptr_eq(serve(b, 1), &y);
	ck_assert_ptr_null(serve(b, 1));
	ck_assert_ptr_eq(serve(a, 1), &x);
	end_queue(a, NULL, 0);
	end_queue(b, NULL, 0);
}
END_TEST

MAIN_OF("life", noop_serves_in_order_of_arrival, deadline_serves_16_reads_16_reads_16_writes,
	deadline_passes_over_what_arrives_behind_its_sweep, the_device_window_holds_dispatch_back,
	a_requeued_request_is_the_next_one_dispatched, a_requeued_request_can_be_cancelled,
	a_head_request_overtakes_all_and_a_flush_the_policy, cancel_takes_a_queued_request_back,
	drain_gives_every_request_back_alone, an_earlier_time_counts_as_the_last_one,
	reprioritize_keeps_the_arrival_and_the_place, dispatch_many_stops_where_dispatch_does,
	two_queues_do_not_touch)
