/* SPDX-License-Identifier: MIT */
/*
 * stats: what is counted, and what is told as it happens.
 */
#include <string.h>
#include "support/support.h"

START_TEST(counters_follow_the_requests)
{
	struct iosched_params p = params_for("deadline");
	struct iosched_request rq[5];
	struct iosched_stats st;
	struct iosched *s;
	unsigned i;

	p.measure = 1;
	s = queue_with(&p);
	for (i = 0; i < 4; i++) {
		rq[i] = request(i < 3 ? IOSCHED_READ : IOSCHED_WRITE, i < 2 ? i * 512 : i * 8192,
				512);
		iosched_insert(s, &rq[i], 1);
	}
	rq[4] = request(IOSCHED_READ, 99 * 8192, 512);
	iosched_insert(s, &rq[4], 1);
	iosched_cancel(s, &rq[4], 1);
	ck_assert_ptr_eq(iosched_dispatch(s, 10), &rq[0]);
	iosched_requeue(s, &rq[0], 11);
	while (serve(s, 20) != NULL)
		;
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.inserted, 5);
	ck_assert_uint_eq(st.dispatched, 4);
	ck_assert_uint_eq(st.completed, 4);
	ck_assert_uint_eq(st.cancelled, 1);
	ck_assert_uint_eq(st.requeued, 1);
	ck_assert_uint_eq(st.back_merges, 1);
	ck_assert_uint_eq(st.read_bytes, 3 * 512);
	ck_assert_uint_eq(st.write_bytes, 512);
	ck_assert_uint_eq(st.seeks, 3); /* back to 0 after the requeue, to 2 and to 3 */
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(quantiles_are_within_a_bucket_of_the_truth)
{
	struct iosched_params p = params_for("noop");
	struct iosched *s;
	uint64_t i, got;

	p.measure = 1;
	s = queue_with(&p);
	for (i = 1; i <= 1000; i++) {
		struct iosched_request rq = request(IOSCHED_READ, 0, 512);

		iosched_insert(s, &rq, i * 10000 * 1000);
		iosched_dispatch(s, i * 10000 * 1000 + i * 1000); /* waits 1..1000 us */
		iosched_complete(s, &rq, i * 10000 * 1000 + i * 1000 + 500);
	}
	got = iosched_latency_quantile(s, IOSCHED_LATENCY_WAIT, 5000);
	ck_assert_uint_ge(got, 500000);
	ck_assert_uint_le(got, 500000 + 500000 / 31);
	got = iosched_latency_quantile(s, IOSCHED_LATENCY_WAIT, 9990);
	ck_assert_uint_ge(got, 999000);
	ck_assert_uint_le(got, 999000 + 999000 / 31);
	ck_assert_uint_eq(iosched_latency_quantile(s, IOSCHED_LATENCY_DEVICE, 0),
			  iosched_latency_quantile(s, IOSCHED_LATENCY_DEVICE, 10000));
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(each_bucket_ends_where_the_next_begins)
{
	unsigned i;

	for (i = 1; i < IOSCHED_HISTOGRAM_BUCKETS; i++)
		ck_assert_uint_gt(iosched_histogram_edge(i), iosched_histogram_edge(i - 1));
	ck_assert_uint_eq(iosched_histogram_edge(IOSCHED_HISTOGRAM_BUCKETS - 1),
			  (UINT64_C(1) << 42) - 1);
}
END_TEST

static char told[400];

static void tell(void *user, const struct iosched_event *e)
{
	static const char *const name[] = {"insert ",	"back ",     "front ",	 "join ",
					   "dispatch ", "complete ", "requeue ", "cancel ",
					   "switch ",	"hold ",     "rule "};

	(void)user;
	strcat(told, name[e->type]);
}

START_TEST(every_step_is_told_once_in_order)
{
	struct iosched_params p = params_for("deadline");
	struct iosched_request rq[5];
	struct iosched *s;

	p.event = tell;
	s = queue_with(&p);
	told[0] = '\0';
	rq[0] = request(IOSCHED_READ, 0, 512);
	rq[1] = request(IOSCHED_READ, 1024, 512);
	rq[2] = request(IOSCHED_READ, 512, 512);
	rq[3] = request(IOSCHED_READ, 8192, 512);
	iosched_insert(s, &rq[0], 1);
	iosched_insert(s, &rq[1], 1);
	iosched_insert(s, &rq[2], 1);
	iosched_insert(s, &rq[3], 1);
	iosched_cancel(s, &rq[3], 1);
	iosched_dispatch(s, 2);
	iosched_requeue(s, &rq[0], 3);
	iosched_switch(s, iosched_policy_find("noop"), 3);
	serve(s, 4);
	iosched_dispatch(s, 5);
	ck_assert_str_eq(told, "insert insert back join insert cancel dispatch requeue switch "
			       "dispatch complete ");
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(an_old_callers_shorter_struct_is_filled_as_far_as_it_goes)
{
	struct iosched *s = queue_for("noop");
	struct iosched_stats st;
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);

	memset(&st, 0xff, sizeof(st));
	iosched_insert(s, &rq, 1);
	iosched_stats_get(s, &st, offsetof(struct iosched_stats, dispatched));
	ck_assert_uint_eq(st.inserted, 1);
	ck_assert_uint_eq(st.dispatched, UINT64_MAX);
	end_queue(s, NULL, 0);
}
END_TEST

MAIN_OF("stats", counters_follow_the_requests, quantiles_are_within_a_bucket_of_the_truth,
	each_bucket_ends_where_the_next_begins, every_step_is_told_once_in_order,
	an_old_callers_shorter_struct_is_filled_as_far_as_it_goes)
