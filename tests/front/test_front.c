/* SPDX-License-Identifier: MIT */
/* The front by one thread: what it takes, refuses, gives back, and when it asks for a wake-up. */
#include <iosched/front.h>

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#define SLOTS 8

static struct iosched_front *front;
static struct iosched *queue;
static struct iosched_request rq[3 * SLOTS];
static struct iosched_request *got[3 * SLOTS];
static struct iosched_request *refused_rq;
static int refused_error;

static void on_refused(void *user, struct iosched_request *r, int error)
{
	ck_assert_ptr_eq(user, &refused_rq);
	refused_rq = r;
	refused_error = error;
}

static void make_front(bool with_refused)
{
	struct iosched_front_params p;

	iosched_front_params_init(&p, sizeof(p));
	p.capacity = SLOTS;
	p.refused = with_refused ? on_refused : NULL;
	p.user = &refused_rq;
	ck_assert_int_eq(iosched_front_create(&front, &p), 0);
}

static void setup(void)
{
	struct iosched_params p;
	unsigned i;

	make_front(true);
	iosched_params_init(&p, sizeof(p));
	p.max_merge_bytes = 0;
	ck_assert_int_eq(iosched_create(&queue, &p), 0);
	for (i = 0; i < 3 * SLOTS; i++)
		rq[i] = (struct iosched_request){.offset = i * 4096, .length = 4096};
}

static void teardown(void)
{
	while (iosched_front_take(front, got, SLOTS) != 0)
		;
	while (iosched_drain(queue, 0) != NULL)
		;
	ck_assert_int_eq(iosched_front_destroy(front), 0);
	ck_assert_int_eq(iosched_destroy(queue), 0);
}

static void fill(unsigned from, unsigned n)
{
	unsigned i;

	for (i = from; i < from + n; i++)
		ck_assert_int_eq(iosched_front_submit(front, &rq[i]), 0);
}

START_TEST(requests_come_out_in_the_order_they_went_in)
{
	unsigned i, round;

	for (round = 0; round < 5; round++) { /* past the end of the ring */
		fill(0, 6);
		ck_assert_uint_eq(iosched_front_take(front, got, 2 * SLOTS), 6);
		for (i = 0; i < 6; i++)
			ck_assert_ptr_eq(got[i], &rq[i]);
	}
}
END_TEST

START_TEST(a_full_ring_answers_eagain_and_leaves_the_request_to_its_owner)
{
	fill(0, SLOTS);
	ck_assert_int_eq(iosched_front_submit(front, &rq[SLOTS]), -EAGAIN);
	ck_assert_uint_eq(iosched_front_pending(front), SLOTS);
	ck_assert_uint_eq(iosched_front_take(front, got, 1), 1);
	fill(SLOTS, 1);
	ck_assert_uint_eq(iosched_front_take(front, got, 3 * SLOTS), SLOTS);
	ck_assert_ptr_eq(got[SLOTS - 1], &rq[SLOTS]);
}
END_TEST

START_TEST(a_batch_takes_what_room_there_is)
{
	struct iosched_request *all[3 * SLOTS];
	bool wake;
	unsigned i;

	for (i = 0; i < 3 * SLOTS; i++)
		all[i] = &rq[i];
	fill(0, 3);
	ck_assert_int_eq(iosched_front_submit_many(front, all + 3, SLOTS, &wake), SLOTS - 3);
	ck_assert(!wake);
	ck_assert_int_eq(iosched_front_submit_many(front, all + SLOTS, 1, &wake), -EAGAIN);
	ck_assert_uint_eq(iosched_front_take(front, got, 3 * SLOTS), SLOTS);
	for (i = 0; i < SLOTS; i++)
		ck_assert_ptr_eq(got[i], &rq[i]);
}
END_TEST

START_TEST(drain_inserts_into_the_queue_and_stamps_the_arrival)
{
	fill(0, 5);
	ck_assert_int_eq(iosched_front_drain(front, queue, 3, 70), 3);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 80), 2);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 90), 0);
	ck_assert_uint_eq(iosched_queued(queue), 5);
	ck_assert_uint_eq(rq[2].inserted, 70);
	ck_assert_uint_eq(rq[3].inserted, 80);
}
END_TEST

START_TEST(a_request_the_queue_refuses_goes_back_to_the_host_and_the_rest_goes_on)
{
	rq[1].length = 0;
	fill(0, 4);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 0), 4);
	ck_assert_ptr_eq(refused_rq, &rq[1]);
	ck_assert_int_eq(refused_error, -EINVAL);
	ck_assert_uint_eq(iosched_queued(queue), 3);
}
END_TEST

START_TEST(without_a_refused_function_drain_stops_at_the_refusal_and_loses_nothing)
{
	ck_assert_int_eq(iosched_front_destroy(front), 0);
	make_front(false);
	rq[2].length = 0;
	fill(0, 4);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 0), 2);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 0), -EINVAL);
	ck_assert_uint_eq(iosched_front_take(front, got, 1), 1);
	ck_assert_ptr_eq(got[0], &rq[2]);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 0), 1);
}
END_TEST

START_TEST(a_quiesced_queue_refuses_through_the_front_too)
{
	fill(0, 1);
	iosched_quiesce(queue, true);
	ck_assert_int_eq(iosched_front_drain(front, queue, 64, 0), 1);
	ck_assert_int_eq(refused_error, -ESHUTDOWN);
}
END_TEST

START_TEST(one_submit_after_sleep_is_told_to_wake_the_dispatcher)
{
	ck_assert_int_eq(iosched_front_submit(front, &rq[0]), 0);
	ck_assert_uint_eq(iosched_front_take(front, got, 1), 1);
	ck_assert_int_eq(iosched_front_sleep(front), 0);
	ck_assert_int_eq(iosched_front_submit(front, &rq[0]), 1);
	ck_assert_int_eq(iosched_front_submit(front, &rq[1]), 0);
}
END_TEST

START_TEST(sleep_is_refused_when_something_has_come)
{
	fill(0, 1);
	ck_assert_int_eq(iosched_front_sleep(front), -EAGAIN);
	fill(1, 1);
}
END_TEST

START_TEST(a_dispatcher_that_woke_by_itself_costs_nobody_a_wake_up)
{
	ck_assert_int_eq(iosched_front_sleep(front), 0);
	iosched_front_awake(front);
	ck_assert_int_eq(iosched_front_submit(front, &rq[0]), 0);
}
END_TEST

START_TEST(a_closed_front_lets_nothing_in_and_everything_out)
{
	fill(0, 3);
	iosched_front_close(front);
	ck_assert_int_eq(iosched_front_submit(front, &rq[3]), -ESHUTDOWN);
	ck_assert_int_eq(iosched_front_destroy(front), -EBUSY);
	ck_assert_uint_eq(iosched_front_pending(front), 3);
	ck_assert_uint_eq(iosched_front_take(front, got, SLOTS), 3);
	ck_assert_uint_eq(iosched_front_pending(front), 0);
}
END_TEST

START_TEST(parameters_out_of_range_are_refused)
{
	struct iosched_front_params p;
	struct iosched_front *f = NULL;

	iosched_front_params_init(&p, sizeof(p));
	p.capacity = 1;
	ck_assert_int_eq(iosched_front_create(&f, &p), -EINVAL);
	p.capacity = (1u << 24) + 1;
	ck_assert_int_eq(iosched_front_create(&f, &p), -EINVAL);
	iosched_front_params_init(&p, sizeof(p));
	p.alloc = (void *(*)(void *, size_t))(void (*)(void))abort;
	ck_assert_int_eq(iosched_front_create(&f, &p), -EINVAL);
	iosched_front_params_init(&p, sizeof(p));
	p.size = 4;
	ck_assert_int_eq(iosched_front_create(&f, &p), -EINVAL);
	ck_assert_ptr_null(f);
	ck_assert_int_eq(iosched_front_destroy(NULL), 0);
}
END_TEST

static int live;

static void *counting_alloc(void *user, size_t size)
{
	if (*(int *)user != 0)
		return NULL;
	live++;
	return malloc(size);
}

static void counting_release(void *user, void *memory)
{
	(void)user;
	live--;
	free(memory);
}

START_TEST(memory_comes_from_the_host_and_goes_back)
{
	struct iosched_front_params p;
	struct iosched_front *f = NULL;
	int fail = 1;

	iosched_front_params_init(&p, sizeof(p));
	p.alloc = counting_alloc;
	p.release = counting_release;
	p.user = &fail;
	ck_assert_int_eq(iosched_front_create(&f, &p), -ENOMEM);
	fail = 0;
	ck_assert_int_eq(iosched_front_create(&f, &p), 0);
	ck_assert_int_eq(live, 1);
	ck_assert_int_eq(iosched_front_destroy(f), 0);
	ck_assert_int_eq(live, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("front");
	TCase *t = tcase_create("one thread");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, requests_come_out_in_the_order_they_went_in);
	tcase_add_test(t, a_full_ring_answers_eagain_and_leaves_the_request_to_its_owner);
	tcase_add_test(t, a_batch_takes_what_room_there_is);
	tcase_add_test(t, drain_inserts_into_the_queue_and_stamps_the_arrival);
	tcase_add_test(t, a_request_the_queue_refuses_goes_back_to_the_host_and_the_rest_goes_on);
	tcase_add_test(t, without_a_refused_function_drain_stops_at_the_refusal_and_loses_nothing);
	tcase_add_test(t, a_quiesced_queue_refuses_through_the_front_too);
	tcase_add_test(t, one_submit_after_sleep_is_told_to_wake_the_dispatcher);
	tcase_add_test(t, sleep_is_refused_when_something_has_come);
	tcase_add_test(t, a_dispatcher_that_woke_by_itself_costs_nobody_a_wake_up);
	tcase_add_test(t, a_closed_front_lets_nothing_in_and_everything_out);
	tcase_add_test(t, parameters_out_of_range_are_refused);
	tcase_add_test(t, memory_comes_from_the_host_and_goes_back);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
