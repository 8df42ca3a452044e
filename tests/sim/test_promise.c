/* SPDX-License-Identifier: MIT */
/*
 * Promises must be seen to be broken: a policy that calls itself fair-deadline and breaks them,
 * each in one way, under the simulator.
 */
#include "sim/promise.h"

#include <errno.h>
#include <iosched/policy.h>
#include <string.h>

#include "support.h"

#define QUEUE 4096

enum fault {
	SOUND,	    /* oldest first */
	STARVES,    /* context 2 goes when nothing else is queued */
	RESTS,	    /* one at a time, however long others wait */
	HOLDS_LONG, /* the arm, for longer than it may */
	HOLDS_AGAIN,
	HOLDS_FOR_NOBODY,
	FLUSHES, /* whenever it can */
	REVERSES /* youngest first */
};

/* Requests in order of arrival. */
struct faulty {
	struct iosched_policy_env *env;
	struct iosched_request *queue[QUEUE];
	unsigned count, calls;
	iosched_time held_until;
	uint64_t fault, sync_expire, async_expire, hold;
};

#define NUMBER(name, member, initial)                                                           \
	{                                                                                       \
		name, IOSCHED_UNIT_NS, 0, UINT64_MAX, initial, offsetof(struct faulty, member), \
			name                                                                    \
	}

static const struct iosched_tunable tunables[] = {
	NUMBER("fault", fault, SOUND),
	NUMBER("be_sync_expire_ns", sync_expire, 500 * MS),
	NUMBER("be_async_expire_ns", async_expire, 5000 * MS),
	NUMBER("hold_stream_ns", hold, 8 * MS),
	{0},
};

static int faulty_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct faulty *f = self;

	(void)pool;
	(void)now;
	f->env = env;
	return 0;
}

static void faulty_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct faulty *f = self;

	(void)now;
	f->queue[f->count++] = rq;
}

static struct iosched_request *take(struct faulty *f, unsigned i)
{
	struct iosched_request *rq = f->queue[i];

	memmove(&f->queue[i], &f->queue[i + 1], (f->count - i - 1) * sizeof(f->queue[0]));
	f->count--;
	return rq;
}

static struct iosched_request *wait(struct iosched_pause *pause, enum iosched_hold reason,
				    iosched_time until)
{
	pause->reason = reason;
	pause->until = until;
	return NULL;
}

static struct iosched_request *hold(struct faulty *f, iosched_time now, iosched_time until,
				    struct iosched_pause *pause)
{
	f->held_until = until;
	iosched_tell(f->env, now, "the arm is held", 7, 0, until);
	return wait(pause, IOSCHED_HOLD_IDLING, until);
}

static struct iosched_request *hold_for_nothing(struct faulty *f, iosched_time now,
						struct iosched_pause *pause)
{
	if (f->held_until == 0)
		return hold(f, now, now + MS, pause);
	if (now < f->held_until)
		return wait(pause, IOSCHED_HOLD_IDLING, f->held_until);
	iosched_tell(f->env, now, "held for nothing", 7, 0, IOSCHED_NEVER);
	f->held_until = 0;
	return take(f, 0);
}

static struct iosched_request *anyone_but_2(struct faulty *f)
{
	for (unsigned i = 0; i < f->count; i++)
		if (f->queue[i]->context != 2)
			return take(f, i);
	return take(f, 0);
}

static struct iosched_request *faulty_dispatch(void *self, iosched_time now,
					       struct iosched_pause *pause)
{
	struct faulty *f = self;

	if (f->count == 0)
		return wait(pause, IOSCHED_HOLD_EMPTY, IOSCHED_NEVER);
	switch ((enum fault)f->fault) {
	case SOUND:
		break;
	case STARVES:
		return anyone_but_2(f);
	case RESTS:
		if (f->env->inflight != 0)
			return wait(pause, IOSCHED_HOLD_INFLIGHT, IOSCHED_NEVER);
		break;
	case HOLDS_LONG:
		return now < f->held_until ? wait(pause, IOSCHED_HOLD_IDLING, f->held_until)
					   : hold(f, now, now + 9 * MS, pause);
	case HOLDS_AGAIN:
		return hold_for_nothing(f, now, pause);
	case HOLDS_FOR_NOBODY:
		if (f->calls++ == 0)
			return take(f, 0);
		iosched_tell(f->env, now, "the arm is held", f->queue[0]->context, 0, now + MS);
		return wait(pause, IOSCHED_HOLD_IDLING, now + MS);
	case FLUSHES:
		if (f->env->flush != NULL)
			return f->env->flush;
		break;
	case REVERSES:
		return take(f, f->count - 1);
	}
	return take(f, 0);
}

static void faulty_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct faulty *f = self;

	(void)now;
	for (unsigned i = 0; i < f->count; i++)
		if (f->queue[i] == rq) {
			take(f, i);
			return;
		}
}

static struct iosched_request *faulty_drain(void *self)
{
	struct faulty *f = self;

	return f->count == 0 ? NULL : take(f, 0);
}

static const struct iosched_policy policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_GROUPS,
	.name = "fair-deadline",
	.summary = "another that claims the name",
	.self_size = sizeof(struct faulty),
	.tunables = tunables,
	.init = faulty_init,
	.insert = faulty_insert,
	.dispatch = faulty_dispatch,
	.remove = faulty_remove,
	.drain = faulty_drain,
};

/* Some readers on a disk that takes 1 ms for each; a test changes what it needs. */
static struct iosched_sim_stream streams[64];
static struct iosched_sim_config c;
static struct iosched_sim_error why;

static void setup(void)
{
	iosched_sim_config_init(&c, sizeof(c));
	c.policy = &policy;
	c.device = "fixed";
	c.device_text = "";
	c.length_ns = 3 * SEC;
	c.max_merge_bytes = 0;
	c.streams = streams;
	c.stream_count = 0;
}

static struct iosched_sim_stream *reader(uint32_t depth)
{
	struct iosched_sim_stream *s = &streams[c.stream_count++];

	iosched_sim_stream_init(s, sizeof(*s));
	s->context = c.stream_count;
	s->pattern = IOSCHED_SIM_RANDOM;
	s->depth = depth;
	return s;
}

static struct iosched_sim_stream *writer(uint32_t depth)
{
	struct iosched_sim_stream *s = reader(depth);

	s->read_permyriad = 0;
	return s;
}

static int run(enum fault fault)
{
	struct iosched_sim_tunable t = {"fault", fault};
	struct iosched_sim_result *r = NULL;
	int err;

	c.tunables = &t;
	c.tunable_count = 1;
	err = iosched_sim_run(&c, &r, &why);
	iosched_sim_result_free(r);
	return err;
}

static void is_caught(enum fault fault, const char *part)
{
	ck_assert_msg(run(fault) == -EPROTO, "not seen: %s", why.text);
	ck_assert_msg(strstr(why.text, part) != NULL, "%s", why.text);
}

static void passes(enum fault fault)
{
	ck_assert_msg(run(fault) == 0, "%s", why.text);
}

START_TEST(who_serves_the_oldest_first_keeps_all_promises)
{
	reader(40);
	writer(40);
	passes(SOUND);
}
END_TEST

START_TEST(a_reader_that_is_overtaken_after_its_deadline_is_seen)
{
	reader(40);
	reader(1);
	is_caught(STARVES, "11 requests were sent since context 2's sync requests");
}
END_TEST

START_TEST(the_more_may_be_due_the_more_may_overtake)
{
	for (int i = 0; i < 10; i++)
		reader(10);
	is_caught(STARVES, "21 requests were sent since context 2's sync requests");
}
END_TEST

START_TEST(writeback_that_is_overtaken_after_its_deadline_is_seen)
{
	c.device_text = "preset = hdd\n";
	c.length_ns = 10 * SEC;
	reader(40);
	writer(3);
	is_caught(STARVES, "41 requests were sent since context 2's async requests");
}
END_TEST

START_TEST(a_context_in_a_group_has_only_its_tenants_promises)
{
	reader(40);
	reader(1)->group = 3;
	passes(STARVES);
}
END_TEST

START_TEST(longer_deadlines_are_asked_for)
{
	struct iosched_policy patient = policy;
	struct iosched_tunable longer[5];

	memcpy(longer, tunables, sizeof(longer));
	longer[1].initial = 4 * SEC;
	patient.tunables = longer;
	c.policy = &patient;
	reader(40);
	reader(1);
	passes(STARVES);
}
END_TEST

START_TEST(none_with_room_though_someone_is_due_is_seen)
{
	c.device_text = "latency = 100ms\n";
	for (int i = 0; i < 10; i++)
		reader(1);
	is_caught(RESTS, "there is room, and dispatch returns none (B1)");
}
END_TEST

START_TEST(none_with_room_is_fine_while_nobody_is_due)
{
	c.device_text = "latency = 100ms\n";
	reader(1);
	reader(1);
	passes(RESTS);
}
END_TEST

START_TEST(a_hold_that_is_too_long_is_seen)
{
	reader(1);
	is_caught(HOLDS_LONG, "too long (B4)");
}
END_TEST

START_TEST(a_seventh_hold_for_nothing_is_seen)
{
	reader(1);
	is_caught(HOLDS_AGAIN, "context 7 after 6 holds that were for nothing (B4)");
}
END_TEST

START_TEST(a_hold_while_nobody_else_waits_is_seen)
{
	reader(2);
	is_caught(HOLDS_FOR_NOBODY, "nobody else waits (B4)");
}
END_TEST

static void on_a_disk_with_a_cache(void)
{
	c.device = "hdd";
	c.device_text = NULL;
}

START_TEST(a_flush_though_no_writeback_was_sent_is_seen)
{
	on_a_disk_with_a_cache();
	reader(4);
	is_caught(FLUSHES, "4 sync requests wait, and of async ones 0 were sent");
}
END_TEST

START_TEST(a_flush_though_no_reader_waits_is_seen)
{
	on_a_disk_with_a_cache();
	writer(4);
	is_caught(FLUSHES, "0 sync requests wait");
}
END_TEST

START_TEST(a_reader_whose_requests_are_reordered_on_flash_is_seen)
{
	c.device = "ssd";
	c.device_text = NULL;
	c.max_inflight = 2;
	reader(8)->max_requests = 40; /* the first to come go last */
	is_caught(REVERSES, "is sent after its later one");
}
END_TEST

START_TEST(on_a_disk_the_order_of_a_readers_requests_is_free)
{
	c.device_text = "preset = hdd\n";
	reader(8)->max_requests = 40;
	passes(REVERSES);
}
END_TEST

START_TEST(who_has_another_name_has_promised_nothing)
{
	struct iosched_policy other = policy;

	other.name = "other";
	c.policy = &other;
	reader(40);
	reader(1);
	passes(STARVES);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim promise");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, who_serves_the_oldest_first_keeps_all_promises);
	tcase_add_test(t, a_reader_that_is_overtaken_after_its_deadline_is_seen);
	tcase_add_test(t, the_more_may_be_due_the_more_may_overtake);
	tcase_add_test(t, writeback_that_is_overtaken_after_its_deadline_is_seen);
	tcase_add_test(t, a_context_in_a_group_has_only_its_tenants_promises);
	tcase_add_test(t, longer_deadlines_are_asked_for);
	tcase_add_test(t, none_with_room_though_someone_is_due_is_seen);
	tcase_add_test(t, none_with_room_is_fine_while_nobody_is_due);
	tcase_add_test(t, a_hold_that_is_too_long_is_seen);
	tcase_add_test(t, a_seventh_hold_for_nothing_is_seen);
	tcase_add_test(t, a_hold_while_nobody_else_waits_is_seen);
	tcase_add_test(t, a_flush_though_no_writeback_was_sent_is_seen);
	tcase_add_test(t, a_flush_though_no_reader_waits_is_seen);
	tcase_add_test(t, a_reader_whose_requests_are_reordered_on_flash_is_seen);
	tcase_add_test(t, on_a_disk_the_order_of_a_readers_requests_is_free);
	tcase_add_test(t, who_has_another_name_has_promised_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
