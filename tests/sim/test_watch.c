/* SPDX-License-Identifier: MIT */
/* The watch must see what is wrong: policies that misbehave, each in one way. */
#include "sim/watch.h"

#include <errno.h>
#include <iosched/policy.h>
#include <string.h>

#include "support.h"

/* A first-in first-out policy with a fault. */
enum fault { FORGETS, SPINS, LIES_INFLIGHT, LIES_EMPTY_WINDOW, SOUND };

struct faulty {
	struct iosched_request *queue[1024];
	unsigned head;
	unsigned tail;
	uint64_t fault;
};

static const struct iosched_tunable faulty_tunables[] = {
	{"fault", IOSCHED_UNIT_NONE, 0, SOUND, SOUND, offsetof(struct faulty, fault), "which"},
	{0},
};

static int faulty_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	(void)self;
	(void)env;
	(void)pool;
	(void)now;
	return 0;
}

static void faulty_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct faulty *f = self;

	(void)now;
	f->queue[f->tail++ % 1024] = rq;
}

static struct iosched_request *take(struct faulty *f)
{
	return f->head == f->tail ? NULL : f->queue[f->head++ % 1024];
}

static struct iosched_request *faulty_dispatch(void *self, iosched_time now,
					       struct iosched_pause *pause)
{
	struct faulty *f = self;

	switch ((enum fault)f->fault) {
	case FORGETS:
		pause->reason = IOSCHED_HOLD_IDLING;
		pause->until = IOSCHED_NEVER;
		return NULL;
	case SPINS:
		pause->reason = IOSCHED_HOLD_THROTTLED;
		pause->until = now;
		return NULL;
	case LIES_INFLIGHT:
		pause->reason = IOSCHED_HOLD_INFLIGHT;
		pause->until = now + 1000;
		return NULL;
	case LIES_EMPTY_WINDOW:
		pause->reason = IOSCHED_HOLD_WINDOW;
		pause->until = now + 1000;
		return NULL;
	case SOUND:
		break;
	}
	pause->reason = IOSCHED_HOLD_EMPTY;
	return take(f);
}

static void faulty_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct faulty *f = self;
	unsigned i = f->head;

	(void)now;
	while (f->queue[i % 1024] != rq)
		i++;
	for (; i > f->head; i--)
		f->queue[i % 1024] = f->queue[(i - 1) % 1024];
	f->head++;
}

static struct iosched_request *faulty_drain(void *self)
{
	return take(self);
}

static const struct iosched_policy faulty_policy = {
	.size = sizeof(struct iosched_policy),
	.name = "faulty",
	.summary = "a policy with a fault",
	.self_size = sizeof(struct faulty),
	.tunables = faulty_tunables,
	.init = faulty_init,
	.insert = faulty_insert,
	.dispatch = faulty_dispatch,
	.remove = faulty_remove,
	.drain = faulty_drain,
};

static int run_with(enum fault fault, struct iosched_sim_error *why,
		    struct iosched_sim_result **out)
{
	struct iosched_sim_tunable t = {"fault", fault};
	struct iosched_sim_stream s;
	struct iosched_sim_config c;

	iosched_sim_stream_init(&s, sizeof(s));
	s.depth = 4;
	iosched_sim_config_init(&c, sizeof(c));
	c.policy = &faulty_policy;
	c.tunables = &t;
	c.tunable_count = 1;
	c.device = "fixed";
	c.length_ns = SEC;
	c.max_merge_bytes = 0;
	c.streams = &s;
	c.stream_count = 1;
	return iosched_sim_run(&c, out, why);
}

static void is_caught(enum fault fault, const char *part)
{
	struct iosched_sim_result *r = NULL;
	struct iosched_sim_error why;

	ck_assert_int_eq(run_with(fault, &why, &r), -EPROTO);
	ck_assert_msg(strstr(why.text, part) != NULL, "%s", why.text);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->submitted, 4);
	iosched_sim_result_free(r);
}

START_TEST(a_policy_without_a_fault_passes)
{
	struct iosched_sim_result *r;
	struct iosched_sim_error why;

	ck_assert_int_eq(run_with(SOUND, &why, &r), 0);
	ck_assert_str_eq(why.text, "");
	ck_assert_uint_eq(r->completed, 1003); /* 1000 in the second, then those in flight */
	iosched_sim_result_free(r);
}
END_TEST

START_TEST(a_policy_that_forgets_its_requests_is_caught)
{
	is_caught(FORGETS, "the queue is stuck");
}
END_TEST

START_TEST(a_policy_that_asks_for_the_same_moment_again_is_caught)
{
	is_caught(SPINS, "it would spin");
}
END_TEST

START_TEST(a_policy_that_waits_for_no_completion_is_caught)
{
	is_caught(LIES_INFLIGHT,
		  "\"waiting for a completion\", but 4 are queued, 0 of 32 in flight");
}
END_TEST

START_TEST(a_policy_that_blames_an_open_window_is_caught)
{
	is_caught(LIES_EMPTY_WINDOW, "\"window full\"");
}
END_TEST

/* --- The parts, by themselves --- */

static struct ios_sim_engine engine;
static struct ios_sim_watch watch;

static void setup(void)
{
	ios_sim_engine_init(&engine);
	watch = (struct ios_sim_watch){.engine = &engine};
}

START_TEST(a_request_dispatched_twice_is_caught)
{
	ck_assert(ios_sim_watch_place(&watch, 7, IOS_SIM_QUEUED, IOS_SIM_QUEUED, "dispatched"));
	ck_assert(!ios_sim_watch_place(&watch, 7, IOS_SIM_ISSUED, IOS_SIM_QUEUED, "dispatched"));
	ck_assert_str_eq(watch.violation.text,
			 "at 0 ns: request 7 was dispatched while with the device");
	ck_assert_int_eq(engine.stopped, -EPROTO);
}
END_TEST

START_TEST(the_first_violation_is_the_one_reported)
{
	ios_sim_watch_fail(&watch, "one");
	ios_sim_watch_fail(&watch, "two");
	ck_assert_str_eq(watch.violation.text, "at 0 ns: one");
}
END_TEST

static struct iosched_request part(uint64_t offset, uint64_t length, struct iosched_request *next)
{
	struct iosched_request rq = {.offset = offset, .length = length};

	rq.span_offset = offset;
	rq.span_length = length;
	rq.internal.next = next;
	return rq;
}

START_TEST(parts_that_cover_the_span_pass_and_a_gap_or_overlap_does_not)
{
	struct iosched_request c = part(30, 10, NULL);
	struct iosched_request a = part(10, 10, &c);
	struct iosched_request own = part(20, 10, NULL);

	own.merged = &a;
	own.span_offset = 10;
	own.span_length = 30;
	ck_assert(ios_sim_watch_span(&watch, &own, 1));
	c.offset = 31;
	ck_assert(!ios_sim_watch_span(&watch, &own, 1));
	watch.violation.text[0] = '\0';
	c.offset = 29;
	ck_assert(!ios_sim_watch_span(&watch, &own, 1));
	watch.violation.text[0] = '\0';
	c.offset = 30;
	own.span_length = 40;
	ck_assert(!ios_sim_watch_span(&watch, &own, 1));
}
END_TEST

START_TEST(a_flush_covers_its_empty_span)
{
	struct iosched_request flush = part(0, 0, NULL);

	ck_assert(ios_sim_watch_span(&watch, &flush, 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim watch");
	TCase *t = tcase_create("policies");

	tcase_add_test(t, a_policy_without_a_fault_passes);
	tcase_add_test(t, a_policy_that_forgets_its_requests_is_caught);
	tcase_add_test(t, a_policy_that_asks_for_the_same_moment_again_is_caught);
	tcase_add_test(t, a_policy_that_waits_for_no_completion_is_caught);
	tcase_add_test(t, a_policy_that_blames_an_open_window_is_caught);
	suite_add_tcase(s, t);
	t = tcase_create("parts");
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_request_dispatched_twice_is_caught);
	tcase_add_test(t, the_first_violation_is_the_one_reported);
	tcase_add_test(t, parts_that_cover_the_span_pass_and_a_gap_or_overlap_does_not);
	tcase_add_test(t, a_flush_covers_its_empty_span);
	suite_add_tcase(s, t);
	return run_suite(s);
}
