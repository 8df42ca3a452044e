/* SPDX-License-Identifier: MIT */
/*
 * cfq-2.6.32: processes and their queues, shared, split, left behind and scarce; and what no
 * decision trace has: cancelling and an empty pool.
 */
#include "cfq26_rig.h"

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
	Suite *all = suite_create("cfq-2.6.32 queues");
	TCase *tests;

	tests = tcase_create("cooperators");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_queue_that_goes_on_at_the_head_takes_over_without_idling);
	tcase_add_test(tests, close_cooperators_0_idles_though_the_next_request_is_there);
	tcase_add_test(tests, queue_merging_0_only_hands_over);
	tcase_add_test(tests, cooperators_share_one_queue_from_the_next_request_on);
	tcase_add_test(tests, a_shared_queue_that_is_seeky_for_a_second_is_split);
	tcase_add_test(tests, a_split_leaves_each_process_an_own_queue);
	tcase_add_test(tests, the_fewer_processes_go_where_the_more_are);
	suite_add_tcase(all, tests);
	tests = tcase_create("alias");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_second_request_for_one_start_sends_the_first_on_its_way);
	tcase_add_test(tests, an_alias_can_be_cancelled_while_it_waits);
	suite_add_tcase(all, tests);
	tests = tcase_create("cancel, exit");
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_last_request_of_the_queue_whose_turn_it_is_can_be_cancelled);
	tcase_add_test(tests, cancelling_what_others_waited_for_asks_for_a_dispatch);
	tcase_add_test(tests, a_requeued_request_can_be_cancelled);
	tcase_add_test(tests, nobody_is_waited_for_who_is_gone);
	tcase_add_test(tests, requests_of_one_who_is_gone_are_still_served);
	tcase_add_test(tests, a_queued_request_of_one_who_is_gone_can_change_its_priority);
	tcase_add_test(tests, one_of_two_who_share_a_queue_can_go);
	suite_add_tcase(all, tests);
	tests = tcase_create("empty pool");
	tcase_add_checked_fixture(tests, setup_cramped, teardown);
	tcase_add_test(tests, without_a_queue_in_the_pool_processes_share_the_fallback);
	tcase_add_test(tests, the_fallback_never_merges_into_another_queue);
	tcase_add_test(tests, the_fallback_is_left_when_a_queue_is_free_again);
	suite_add_tcase(all, tests);
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
