/* SPDX-License-Identifier: MIT */
/*
 * The kit against policies with one fault each: it must find every one, and say the right sentence.
 * They are one small first-come-first-served policy with a switch for the fault.
 */
#include <iosched/policy_check.h>

#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum fault {
	SOUND,
	LOSES,
	RETURNS_TWICE,
	SAYS_EMPTY,
	HANGS,
	WAITS_FOREVER,
	NEWEST_FIRST,
	READS_ALWAYS_FIRST,
	FORGETS_TO_REMOVE,
	DRAINS_HALF,
	KEEPS_ABSORBED,
	BAD_NEIGHBOUR,
	NOT_A_POLICYS_REASON,
	FAILS_AUDIT,
	THROWS_DICE,
};

struct fifo {
	struct iosched_list_link head;
	struct iosched_request *last; /* dispatched last */
	uint64_t n;
	uint64_t unused_count;
};

static enum fault fault;
static unsigned dice; /* outlives a queue: what a policy must not have */

static struct iosched_request *at(struct iosched_list_link *l)
{
	return (struct iosched_request *)(void *)((char *)l -
						  offsetof(struct iosched_request, internal.fifo));
}

static void unlink_rq(struct iosched_request *rq)
{
	struct iosched_list_link *l = &rq->internal.fifo;

	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = l->next = l;
}

static int fifo_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct fifo *f = self;

	(void)env, (void)pool, (void)now;
	f->head.prev = f->head.next = &f->head;
	return 0;
}

static void fifo_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct fifo *f = self;
	struct iosched_list_link *l = &rq->internal.fifo, *before = &f->head;

	(void)now;
	f->n++;
	if (fault == LOSES && f->n % 40 == 0)
		return;
	if (fault == NEWEST_FIRST)
		before = f->head.next;
	if (fault == THROWS_DICE && dice++ % 7 == 0)
		before = f->head.next;
	if (fault == READS_ALWAYS_FIRST && rq->op == IOSCHED_READ)
		for (before = f->head.next; before != &f->head && at(before)->op == IOSCHED_READ;)
			before = before->next;
	l->next = before;
	l->prev = before->prev;
	l->prev->next = l;
	before->prev = l;
}

static struct iosched_request *fifo_dispatch(void *self, iosched_time now,
					     struct iosched_pause *pause)
{
	struct fifo *f = self;

	if (fault == RETURNS_TWICE && f->n > 30 && f->last != NULL)
		return f->last;
	if (f->head.next == &f->head || (fault == SAYS_EMPTY && f->n % 16 == 0)) {
		pause->reason = IOSCHED_HOLD_EMPTY;
		return NULL;
	}
	if ((fault == HANGS && f->n > 20) || fault == WAITS_FOREVER ||
	    (fault == NOT_A_POLICYS_REASON && f->n > 20)) {
		pause->reason =
			fault == NOT_A_POLICYS_REASON ? IOSCHED_HOLD_WINDOW : IOSCHED_HOLD_IDLING;
		pause->until = fault == HANGS ? IOSCHED_NEVER : now + 1000;
		return NULL;
	}
	f->last = at(f->head.next);
	unlink_rq(f->last);
	return f->last;
}

static struct iosched_request *fifo_neighbour(void *self, struct iosched_request *rq,
					      enum iosched_side side)
{
	struct fifo *f = self;
	struct iosched_list_link *l = &rq->internal.fifo;

	if (fault == BAD_NEIGHBOUR)
		return f->last;
	l = side == IOSCHED_SIDE_BACK ? l->next : l->prev;
	return l == &f->head ? NULL : at(l);
}

static void fifo_absorbed(void *self, struct iosched_request *survivor,
			  struct iosched_request *victim, iosched_time now)
{
	(void)self, (void)survivor, (void)now;
	if (fault != KEEPS_ABSORBED)
		unlink_rq(victim);
}

static void fifo_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)self, (void)now;
	if (fault != FORGETS_TO_REMOVE)
		unlink_rq(rq);
}

static struct iosched_request *fifo_drain(void *self)
{
	struct fifo *f = self;
	struct iosched_request *rq = at(f->head.next);

	if (f->head.next == &f->head || (fault == DRAINS_HALF && f->n++ % 16 == 0))
		return NULL;
	unlink_rq(rq);
	return rq;
}

static const char *fifo_audit(void *self)
{
	const struct fifo *f = self;

	return fault == FAILS_AUDIT && f->n > 50 ? "pigs fly" : NULL;
}

static const struct iosched_tunable tunables[] = {
	{"unused_count", IOSCHED_UNIT_NONE, 1, 9, 4, offsetof(struct fifo, unused_count),
	 "nothing"},
	{0},
};

static struct iosched_policy fifo = {
	.size = sizeof(struct iosched_policy),
	.name = "fifo",
	.summary = "first come, first served",
	.self_size = sizeof(struct fifo),
	.tunables = tunables,
	.init = fifo_init,
	.insert = fifo_insert,
	.dispatch = fifo_dispatch,
	.neighbour = fifo_neighbour,
	.absorbed = fifo_absorbed,
	.remove = fifo_remove,
	.drain = fifo_drain,
	.audit = fifo_audit,
};

static char why[300];

/* The first seed of a few that finds the fault. */
static int check_with(enum fault which)
{
	unsigned seed;
	int error = 0;

	fault = which;
	for (seed = 1; seed <= 10 && error == 0; seed++)
		error = iosched_policy_check(&fifo, seed, why, sizeof(why));
	return error;
}

static void finds(enum fault which, const char *sentence)
{
	ck_assert_int_eq(check_with(which), -EPROTO);
	ck_assert_msg(strstr(why, sentence) != NULL, "said: %s", why);
}

START_TEST(a_sound_policy_passes_and_no_reason_is_given)
{
	ck_assert_int_eq(check_with(SOUND), 0);
	ck_assert_str_eq(why, "");
}
END_TEST

START_TEST(a_lost_request_is_found)
{
	finds(LOSES, "requests are queued");
}
END_TEST

START_TEST(a_request_returned_twice_is_found)
{
	finds(RETURNS_TWICE, "dispatch returned a request that is not queued");
}
END_TEST

START_TEST(a_claim_to_be_empty_is_checked)
{
	finds(SAYS_EMPTY, "dispatch says EMPTY while");
}
END_TEST

START_TEST(a_wait_without_an_end_is_found)
{
	finds(HANGS, "the queue would hang");
}
END_TEST

START_TEST(waiting_again_and_again_is_found)
{
	finds(WAITS_FOREVER, "waits in a row");
}
END_TEST

START_TEST(an_equal_that_overtakes_is_found)
{
	finds(NEWEST_FIRST, "overtook an equal");
}
END_TEST

START_TEST(starvation_is_found)
{
	finds(READS_ALWAYS_FIRST, "a write starved for 60 s behind a stream of reads");
}
END_TEST

START_TEST(a_request_kept_after_cancel_is_found)
{
	finds(FORGETS_TO_REMOVE, "not queued");
}
END_TEST

START_TEST(a_drain_that_stops_early_is_found)
{
	finds(DRAINS_HALF, "drain says it is done while");
}
END_TEST

START_TEST(a_request_kept_after_a_merge_is_found)
{
	finds(KEEPS_ABSORBED, "not queued");
}
END_TEST

START_TEST(a_neighbour_that_is_not_queued_is_found)
{
	finds(BAD_NEIGHBOUR, "neighbour named a request that is not queued");
}
END_TEST

START_TEST(a_reason_that_is_the_cores_is_found)
{
	finds(NOT_A_POLICYS_REASON, "a reason that is not a policy's");
}
END_TEST

START_TEST(the_policys_own_audit_is_heard)
{
	finds(FAILS_AUDIT, "audit: not true that pigs fly");
}
END_TEST

START_TEST(a_policy_that_throws_dice_is_found)
{
	/* Order among equals breaks first unless the dice spare them: ask for either. */
	ck_assert_int_eq(check_with(THROWS_DICE), -EPROTO);
	ck_assert_msg(strstr(why, "different decisions") != NULL ||
			      strstr(why, "overtook an equal") != NULL,
		      "said: %s", why);
}
END_TEST

START_TEST(a_table_without_its_required_operations_is_refused)
{
	struct iosched_policy p = fifo;

	fault = SOUND;
	p.drain = NULL;
	ck_assert_int_eq(iosched_policy_check(&p, 1, why, sizeof(why)), -EINVAL);
	ck_assert_str_ne(why, "");
	ck_assert_int_eq(iosched_policy_check(NULL, 1, why, sizeof(why)), -EINVAL);
	ck_assert_int_eq(iosched_policy_check(&p, 1, NULL, 0), -EINVAL);
}
END_TEST

START_TEST(a_tunable_that_starts_outside_its_range_is_found)
{
	struct iosched_tunable t[2] = {tunables[0], {0}};
	struct iosched_policy p = fifo;

	t[0].initial = 10;
	p.tunables = t;
	ck_assert_int_eq(iosched_policy_check(&p, 1, why, sizeof(why)), -EPROTO);
	ck_assert_ptr_nonnull(strstr(why, "tunable unused_count"));
}
END_TEST

START_TEST(two_tunables_of_one_name_are_found)
{
	struct iosched_tunable t[3] = {tunables[0], tunables[0], {0}};
	struct iosched_policy p = fifo;

	p.tunables = t;
	ck_assert_int_eq(iosched_policy_check(&p, 1, why, sizeof(why)), -EPROTO);
	ck_assert_ptr_nonnull(strstr(why, "two tunables are called"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("policy_check");
	TCase *t = tcase_create("faults");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, t);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_sound_policy_passes_and_no_reason_is_given);
	tcase_add_test(t, a_lost_request_is_found);
	tcase_add_test(t, a_request_returned_twice_is_found);
	tcase_add_test(t, a_claim_to_be_empty_is_checked);
	tcase_add_test(t, a_wait_without_an_end_is_found);
	tcase_add_test(t, waiting_again_and_again_is_found);
	tcase_add_test(t, an_equal_that_overtakes_is_found);
	tcase_add_test(t, starvation_is_found);
	tcase_add_test(t, a_request_kept_after_cancel_is_found);
	tcase_add_test(t, a_drain_that_stops_early_is_found);
	tcase_add_test(t, a_request_kept_after_a_merge_is_found);
	tcase_add_test(t, a_neighbour_that_is_not_queued_is_found);
	tcase_add_test(t, a_reason_that_is_the_cores_is_found);
	tcase_add_test(t, the_policys_own_audit_is_heard);
	tcase_add_test(t, a_policy_that_throws_dice_is_found);
	tcase_add_test(t, a_table_without_its_required_operations_is_refused);
	tcase_add_test(t, a_tunable_that_starts_outside_its_range_is_found);
	tcase_add_test(t, two_tunables_of_one_name_are_found);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
