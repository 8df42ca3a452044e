/* SPDX-License-Identifier: MIT */
#include "sim/engine.h"

#include <errno.h>
#include <string.h>

#include "sim/rng.h"
#include "support.h"

static struct ios_sim_engine e;
static unsigned fired[4096];
static iosched_time fired_at[4096];
static unsigned fired_count;

struct marker {
	struct ios_sim_event event;
	unsigned id;
};

static void note(void *owner)
{
	struct marker *m = owner;

	fired[fired_count] = m->id;
	fired_at[fired_count++] = e.now;
}

static void at(struct marker *m, unsigned id, iosched_time when)
{
	m->id = id;
	if (m->event.fire == NULL)
		ios_sim_event_init(&m->event, note, m);
	ios_sim_schedule(&e, &m->event, when);
}

static void setup(void)
{
	ios_sim_engine_init(&e);
	fired_count = 0;
}

static void teardown(void)
{
	ios_sim_engine_fini(&e);
}

START_TEST(events_of_one_instant_fire_in_the_order_they_were_scheduled)
{
	struct marker m[5] = {0};

	at(&m[0], 0, 20);
	at(&m[1], 1, 10);
	at(&m[2], 2, 10);
	at(&m[3], 3, 20);
	at(&m[4], 4, 10);
	ck_assert_int_eq(ios_sim_engine_run(&e), 0);
	ck_assert_uint_eq(fired[0], 1);
	ck_assert_uint_eq(fired[1], 2);
	ck_assert_uint_eq(fired[2], 4);
	ck_assert_uint_eq(fired[3], 0);
	ck_assert_uint_eq(fired[4], 3);
	ck_assert_uint_eq(e.now, 20);
}
END_TEST

START_TEST(a_cancelled_event_does_not_fire_and_may_be_scheduled_again)
{
	struct marker m[3] = {0};

	at(&m[0], 0, 10);
	at(&m[1], 1, 20);
	at(&m[2], 2, 30);
	ios_sim_cancel(&e, &m[1].event);
	ios_sim_cancel(&e, &m[1].event);
	ck_assert(!ios_sim_event_pending(&m[1].event));
	at(&m[1], 1, 40);
	ios_sim_engine_run(&e);
	ck_assert_uint_eq(fired_count, 3);
	ck_assert_uint_eq(fired[2], 1);
	ck_assert_uint_eq(fired_at[2], 40);
}
END_TEST

START_TEST(scheduling_a_pending_event_moves_it)
{
	struct marker m[2] = {0};

	at(&m[0], 0, 10);
	at(&m[1], 1, 20);
	at(&m[0], 0, 30);
	ios_sim_engine_run(&e);
	ck_assert_uint_eq(fired_count, 2);
	ck_assert_uint_eq(fired[0], 1);
	ck_assert_uint_eq(fired_at[1], 30);
}
END_TEST

static void schedule_in_the_past(void *owner)
{
	at(owner, 1, 5);
}

START_TEST(an_event_scheduled_in_the_past_fires_now)
{
	struct marker past = {0};
	struct ios_sim_event first;

	ios_sim_event_init(&first, schedule_in_the_past, &past);
	ios_sim_schedule(&e, &first, 10);
	ios_sim_engine_run(&e);
	ck_assert_uint_eq(fired_at[0], 10);
}
END_TEST

static void stop(void *owner)
{
	(void)owner;
	ios_sim_stop(&e, 1);
	ios_sim_stop(&e, 2);
}

START_TEST(stop_ends_the_run_with_the_first_reason_and_keeps_what_is_pending)
{
	struct marker later = {0};
	struct ios_sim_event now;

	ios_sim_event_init(&now, stop, NULL);
	ios_sim_schedule(&e, &now, 10);
	at(&later, 0, 20);
	ck_assert_int_eq(ios_sim_engine_run(&e), 1);
	ck_assert_uint_eq(fired_count, 0);
	ck_assert(ios_sim_event_pending(&later.event));
}
END_TEST

static void again(void *owner)
{
	struct ios_sim_event *ev = owner;

	ios_sim_schedule(&e, ev, e.now);
}

START_TEST(time_that_stands_still_ends_the_run)
{
	struct ios_sim_event ev;

	ios_sim_event_init(&ev, again, &ev);
	ios_sim_schedule(&e, &ev, 10);
	e.fired_now = IOS_SIM_INSTANT_EVENTS - 1000;
	e.now = 10;
	ck_assert_int_eq(ios_sim_engine_run(&e), -ELOOP);
}
END_TEST

/* Random schedules, cancels and moves against a plain search for the least. */
START_TEST(the_heap_offers_what_a_linear_search_would_find)
{
	enum { N = 300 };
	static struct marker m[N];
	bool pending[N] = {false};
	struct ios_sim_rng r;

	memset(m, 0, sizeof(m));
	ios_sim_rng_init(&r, 7, 0);
	for (unsigned step = 0; step < 5000; step++) {
		unsigned i = (unsigned)ios_sim_rng_below(&r, N);

		if (pending[i] && ios_sim_rng_below(&r, 3) == 0)
			ios_sim_cancel(&e, &m[i].event);
		else
			at(&m[i], i, ios_sim_rng_below(&r, 50));
		pending[i] = ios_sim_event_pending(&m[i].event);
	}
	for (;;) {
		unsigned best = N;

		for (unsigned i = 0; i < N; i++)
			if (pending[i] && (best == N || m[i].event.when < m[best].event.when ||
					   (m[i].event.when == m[best].event.when &&
					    m[i].event.sequence < m[best].event.sequence)))
				best = i;
		if (best == N)
			break;
		pending[best] = false;
		ck_assert_ptr_eq(e.heap[0].event, &m[best].event);
		ios_sim_cancel(&e, &m[best].event);
	}
	ck_assert_uint_eq(e.count, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim engine");
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, events_of_one_instant_fire_in_the_order_they_were_scheduled);
	tcase_add_test(t, a_cancelled_event_does_not_fire_and_may_be_scheduled_again);
	tcase_add_test(t, scheduling_a_pending_event_moves_it);
	tcase_add_test(t, an_event_scheduled_in_the_past_fires_now);
	tcase_add_test(t, stop_ends_the_run_with_the_first_reason_and_keeps_what_is_pending);
	tcase_add_test(t, time_that_stands_still_ends_the_run);
	tcase_add_test(t, the_heap_offers_what_a_linear_search_would_find);
	suite_add_tcase(s, t);
	return run_suite(s);
}
