/* SPDX-License-Identifier: MIT */
/*
 * flush: the one request nobody inserted. A policy of two lines hands it out whenever it may.
 */
#include <errno.h>
#include "support/support.h"

struct flusher {
	struct iosched_policy_env *env;
	unsigned ended;
};

static struct flusher *last; /* the policy that runs; tests look into it */

static int flusher_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	(void)pool, (void)now;
	last = self;
	last->env = env;
	return 0;
}

static void flusher_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)self, (void)rq, (void)now;
	ck_abort_msg("nothing is inserted in these tests");
}

static struct iosched_request *flusher_dispatch(void *self, iosched_time now,
						struct iosched_pause *pause)
{
	struct flusher *f = self;

	(void)now;
	pause->reason = IOSCHED_HOLD_EMPTY;
	return f->env->flush;
}

static void flusher_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct flusher *f = self;

	(void)now;
	ck_assert_int_eq(rq->op, IOSCHED_FLUSH);
	f->ended++;
}

static void flusher_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)self, (void)rq, (void)now;
}

static struct iosched_request *flusher_drain(void *self)
{
	(void)self;
	return NULL;
}

static const struct iosched_policy flusher = {
	.size = sizeof(struct iosched_policy),
	.name = "flusher",
	.self_size = sizeof(struct flusher),
	.init = flusher_init,
	.insert = flusher_insert,
	.dispatch = flusher_dispatch,
	.complete = flusher_complete,
	.remove = flusher_remove,
	.drain = flusher_drain,
};

static struct iosched *flushing_queue(uint8_t can_flush)
{
	struct iosched_params p = params_for("noop");

	p.policy = &flusher;
	p.can_flush = can_flush;
	p.measure = 1;
	return queue_with(&p);
}

START_TEST(nobody_flushes_unless_the_host_can)
{
	struct iosched *s = flushing_queue(0);

	ck_assert_ptr_null(iosched_dispatch(s, 1));
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

START_TEST(a_flush_of_the_policys_is_marked_counted_apart_and_told_to_it)
{
	struct iosched *s = flushing_queue(1);
	struct iosched_request *rq = iosched_dispatch(s, 1);
	struct iosched_stats st;

	ck_assert_int_eq(rq->op, IOSCHED_FLUSH);
	ck_assert_uint_eq(rq->flags, IOSCHED_RQ_INTERNAL);
	ck_assert_ptr_null(rq->user);
	ck_assert_uint_eq(iosched_inflight(s), 1);
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_ptr_null(iosched_dispatch(s, 2));
	ck_assert_int_eq(iosched_complete(s, rq, 3), 0);
	ck_assert_uint_eq(last->ended, 1);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.dispatched, 0);
	ck_assert_uint_eq(st.completed, 0);
	ck_assert_uint_eq(st.internal_flushes, 1);
	ck_assert_uint_eq(iosched_latency_quantile(s, IOSCHED_LATENCY_DEVICE, 10000), 0);
	ck_assert_int_eq(iosched_complete(s, rq, 3), -EINVAL);
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

START_TEST(a_queue_with_its_own_flush_out_is_busy)
{
	struct iosched *s = flushing_queue(1);
	struct iosched_request *rq = iosched_dispatch(s, 1);
	struct iosched_stats st;

	ck_assert_int_eq(iosched_destroy(s), -EBUSY);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.dispatched, 0);
	ck_assert_ptr_null(iosched_drain(s, 2));
	ck_assert_int_eq(iosched_complete(s, rq, 3), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

START_TEST(the_flush_counts_against_the_window)
{
	struct iosched_params p = params_for("noop");
	struct iosched *s;
	struct iosched_request *rq;

	p.policy = &flusher;
	p.can_flush = 1;
	p.max_inflight = 1;
	s = queue_with(&p);
	rq = iosched_dispatch(s, 1);
	ck_assert_ptr_null(iosched_dispatch(s, 1));
	ck_assert_int_eq(iosched_complete(s, rq, 1), 0);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), rq);
	ck_assert_int_eq(iosched_complete(s, rq, 1), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

/* The memory of the policy that sent it is gone by then. */
START_TEST(a_flush_outlives_the_policy_that_sent_it)
{
	struct iosched *s = flushing_queue(1);
	struct iosched_request *rq = iosched_dispatch(s, 1);

	ck_assert_int_eq(iosched_switch(s, _i == 0 ? iosched_policy_find("noop") : &flusher, 2), 0);
	ck_assert_ptr_null(iosched_dispatch(s, 2)); /* the new one may not send it twice */
	ck_assert_int_eq(iosched_destroy(s), -EBUSY);
	ck_assert_int_eq(iosched_complete(s, rq, 3), 0);
	ck_assert_uint_eq(_i == 0 ? 0 : last->ended, 0);
	ck_assert_uint_eq(iosched_inflight(s), 0);
	if (_i == 1) {
		ck_assert_ptr_eq(iosched_dispatch(s, 4), rq);
		ck_assert_int_eq(iosched_complete(s, rq, 4), 0);
	}
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

START_TEST(a_requeued_flush_goes_out_again_first)
{
	struct iosched *s = flushing_queue(1);
	struct iosched_request *rq = iosched_dispatch(s, 1);
	struct iosched_stats st;

	ck_assert_int_eq(iosched_requeue(s, rq, 2), 0);
	ck_assert_uint_eq(iosched_queued(s), 1);
	ck_assert_int_eq(iosched_cancel(s, rq, 2), -EINVAL); /* not the host's to take */
	ck_assert_ptr_eq(iosched_dispatch(s, 3), rq);
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_int_eq(iosched_complete(s, rq, 4), 0);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.requeued, 0);
	ck_assert_uint_eq(st.dispatched, 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

START_TEST(drain_ends_a_requeued_flush_and_does_not_hand_it_over)
{
	struct iosched *s = flushing_queue(1);
	struct iosched_request *rq = iosched_dispatch(s, 1);

	ck_assert_int_eq(iosched_requeue(s, rq, 2), 0);
	ck_assert_ptr_null(iosched_drain(s, 3));
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_uint_eq(last->ended, 1);
	ck_assert_int_eq(iosched_destroy(s), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flush");
	TCase *c = tcase_create("all");

	tcase_add_test(c, nobody_flushes_unless_the_host_can);
	tcase_add_test(c, a_flush_of_the_policys_is_marked_counted_apart_and_told_to_it);
	tcase_add_test(c, a_queue_with_its_own_flush_out_is_busy);
	tcase_add_test(c, the_flush_counts_against_the_window);
	tcase_add_loop_test(c, a_flush_outlives_the_policy_that_sent_it, 0, 2);
	tcase_add_test(c, a_requeued_flush_goes_out_again_first);
	tcase_add_test(c, drain_ends_a_requeued_flush_and_does_not_hand_it_over);
	suite_add_tcase(s, c);
	return run_suite(s);
}
