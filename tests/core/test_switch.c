/* SPDX-License-Identifier: MIT */
/*
 * switch: another policy takes over under load; nothing is lost and arrival
 * times stay.
 */
#include "support/support.h"

START_TEST(queued_requests_move_in_order_of_arrival)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[8];
	unsigned i;

	for (i = 0; i < 8; i++) {
		rq[i] = request(i % 2 ? IOSCHED_READ : IOSCHED_WRITE, (8 - i) * 8192, 512);
		iosched_insert(s, &rq[i], i + 1);
	}
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("noop"), 100), 0);
	for (i = 0; i < 8; i++) {
		ck_assert_uint_eq(rq[i].inserted, i + 1);
		ck_assert_ptr_eq(serve(s, 101), &rq[i]);
	}
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(requests_in_flight_and_requeued_end_under_the_new_policy)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		rq[i] = request(IOSCHED_READ, i * 8192, 512);
		iosched_insert(s, &rq[i], 1);
	}
	ck_assert_ptr_eq(iosched_dispatch(s, 2), &rq[0]);
	ck_assert_ptr_eq(iosched_dispatch(s, 2), &rq[1]);
	iosched_requeue(s, &rq[1], 3);
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("noop"), 4), 0);
	ck_assert_int_eq(iosched_complete(s, &rq[0], 5), 0);
	ck_assert_ptr_eq(serve(s, 5), &rq[1]);
	ck_assert_ptr_eq(serve(s, 5), &rq[2]);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_merged_chain_moves_as_one_and_merging_goes_on)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq[3];
	unsigned i;

	for (i = 0; i < 3; i++)
		rq[i] = request(IOSCHED_READ, i * 512, 512);
	iosched_insert(s, &rq[0], 1);
	iosched_insert(s, &rq[1], 1);
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("noop"), 2), 0);
	iosched_insert(s, &rq[2], 3);
	ck_assert_uint_eq(iosched_queued(s), 1);
	ck_assert_uint_eq(rq[0].span_length, 3 * 512);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(any_policy_takes_over_from_any_other_and_nothing_is_lost)
{
	const struct iosched_policy *from, *to;
	unsigned i, k;

	for (i = 0; (from = iosched_policy_at(i)) != NULL; i++) {
		for (k = 0; (to = iosched_policy_at(k)) != NULL; k++) {
			struct iosched *s = queue_for(iosched_policy_name(from));
			struct iosched_request rq[40];
			iosched_time now = 1000 * MS;
			unsigned n, served = 0;

			for (n = 0; n < 40; n++) {
				rq[n] = request(n % 3 ? IOSCHED_READ : IOSCHED_WRITE,
						(n * 7919u % 97) * 4096, 4096);
				rq[n].context = 1 + n % 4;
				rq[n].flags = n % 5 ? 0 : IOSCHED_RQ_SYNC;
				rq[n].prio_class = n % 7 == 0 ? IOSCHED_IDLE : 0;
				ck_assert_int_eq(iosched_insert(s, &rq[n], now), 0);
				if (n == 20) { /* some in flight, perhaps idling */
					struct iosched_request *a = iosched_dispatch(s, now);

					ck_assert_ptr_nonnull(a);
					now += MS;
					iosched_complete(s, a, now);
				}
			}
			ck_assert_int_eq(iosched_switch(s, to, now), 0);
			while (iosched_queued(s) != 0 && served < 200) {
				if (serve(s, now) == NULL) {
					ck_assert_uint_ne(iosched_next_wakeup(s), IOSCHED_NEVER);
					now = iosched_next_wakeup(s);
					iosched_timer(s, now);
				}
				served++;
			}
			ck_assert_uint_eq(iosched_queued(s), 0);
			end_queue(s, NULL, 0);
		}
	}
}
END_TEST

MAIN_OF("switch", queued_requests_move_in_order_of_arrival,
	requests_in_flight_and_requeued_end_under_the_new_policy,
	a_merged_chain_moves_as_one_and_merging_goes_on,
	any_policy_takes_over_from_any_other_and_nothing_is_lost)
