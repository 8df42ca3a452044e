/* SPDX-License-Identifier: MIT */
/*
 * errors: every errno the header documents, and that nothing changed by it.
 */
#include <errno.h>
#include "support/support.h"

START_TEST(insert_refuses_an_empty_extent)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, 0, 0);

	ck_assert_int_eq(iosched_insert(s, &rq, 1), -EINVAL);
	ck_assert_uint_eq(iosched_queued(s), 0);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(insert_refuses_an_overflowing_extent)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, UINT64_MAX - 10, 20);

	ck_assert_int_eq(iosched_insert(s, &rq, 1), -EINVAL);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(insert_refuses_unknown_op_class_level_flag_and_a_flush_with_extent)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request bad[5];
	int i;

	for (i = 0; i < 5; i++)
		bad[i] = request(IOSCHED_READ, 0, 512);
	bad[0].op = 4;
	bad[1].prio_class = 3;
	bad[2].prio_level = 9;
	bad[3].flags = IOSCHED_RQ_INTERNAL;
	bad[4].op = IOSCHED_FLUSH;
	for (i = 0; i < 5; i++)
		ck_assert_int_eq(iosched_insert(s, &bad[i], 1), -EINVAL);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(insert_refuses_a_request_that_is_already_in)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);
	struct iosched_request *out;

	ck_assert_int_eq(iosched_insert(s, &rq, 1), 0);
	ck_assert_int_eq(iosched_insert(s, &rq, 1), -EBUSY);
	out = iosched_dispatch(s, 2);
	ck_assert_ptr_eq(out, &rq);
	ck_assert_int_eq(iosched_insert(s, &rq, 3), -EBUSY);
	end_queue(s, &out, 1);
}
END_TEST

START_TEST(insert_refuses_everything_while_quiesced)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);

	iosched_quiesce(s, true);
	ck_assert_int_eq(iosched_insert(s, &rq, 1), -ESHUTDOWN);
	iosched_quiesce(s, false);
	ck_assert_int_eq(iosched_insert(s, &rq, 1), 0);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(complete_requeue_and_cancel_refuse_what_is_not_theirs)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);
	struct iosched_request *out;

	ck_assert_int_eq(iosched_complete(s, &rq, 1), -EINVAL);
	ck_assert_int_eq(iosched_requeue(s, &rq, 1), -EINVAL);
	ck_assert_int_eq(iosched_cancel(s, &rq, 1), -EINVAL);
	ck_assert_int_eq(iosched_reprioritize(s, &rq, IOSCHED_IDLE, 0, 1), -EINVAL);
	ck_assert_int_eq(iosched_insert(s, &rq, 1), 0);
	ck_assert_int_eq(iosched_complete(s, &rq, 1), -EINVAL);
	ck_assert_int_eq(iosched_requeue(s, &rq, 1), -EINVAL);
	out = iosched_dispatch(s, 2);
	ck_assert_int_eq(iosched_cancel(s, &rq, 2), -EINPROGRESS);
	ck_assert_int_eq(iosched_reprioritize(s, &rq, IOSCHED_IDLE, 0, 2), -EINPROGRESS);
	end_queue(s, &out, 1);
}
END_TEST

/* A host of several devices that mixes up its queues. Requests that a policy does not see (FLUSH)
 * and those of an earlier policy are known as well. */
START_TEST(a_request_of_another_queue_is_refused_and_both_stay_as_they_were)
{
	const char *name[] = {"noop", "deadline", "mq-deadline", "cfq", "fair-deadline"};
	unsigned i;

	for (i = 0; i < 5; i++) {
		struct iosched *s = queue_for(name[i]), *other = queue_for(name[i]);
		struct iosched_request queued = request(IOSCHED_READ, 1 << 20, 512);
		struct iosched_request rqs[] = {request(IOSCHED_READ, 0, 512),
						request(IOSCHED_FLUSH, 0, 0)};
		struct iosched_request *out[2];
		unsigned k;

		ck_assert_int_eq(iosched_insert(s, &rqs[0], 1), 0);
		ck_assert_int_eq(iosched_insert(s, &rqs[1], 1), 0);
		ck_assert_uint_eq(iosched_dispatch_many(s, out, 2, 2), 2);
		ck_assert_int_eq(iosched_insert(s, &queued, 2), 0);
		ck_assert_int_eq(iosched_cancel(other, &queued, 3), -EINVAL);
		ck_assert_int_eq(iosched_reprioritize(other, &queued, IOSCHED_IDLE, 0, 3), -EINVAL);
		ck_assert_int_eq(iosched_switch(s, iosched_policy_find("noop"), 4), 0);
		ck_assert_int_eq(iosched_switch(s, iosched_policy_find(name[i]), 4), 0);
		for (k = 0; k < 2; k++) {
			ck_assert_int_eq(iosched_complete(other, out[k], 5), -EINVAL);
			ck_assert_int_eq(iosched_requeue(other, out[k], 5), -EINVAL);
		}
		ck_assert_uint_eq(iosched_inflight(other), 0);
		ck_assert_uint_eq(iosched_queued(other), 0);
		ck_assert_uint_eq(iosched_inflight(s), 2);
		ck_assert_int_eq(iosched_cancel(s, &queued, 6), 0);
		end_queue(s, out, 2);
		end_queue(other, NULL, 0);
	}
}
END_TEST

START_TEST(reprioritize_refuses_a_class_or_level_out_of_range)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);

	ck_assert_int_eq(iosched_insert(s, &rq, 1), 0);
	ck_assert_int_eq(iosched_reprioritize(s, &rq, (enum iosched_class)3, 0, 1), -EINVAL);
	ck_assert_int_eq(iosched_reprioritize(s, &rq, IOSCHED_IDLE, 9, 1), -EINVAL);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(absorbed_and_absorbing_requests_cannot_be_cancelled)
{
	struct iosched *s = queue_for("deadline");
	struct iosched_request a = request(IOSCHED_READ, 0, 512);
	struct iosched_request b = request(IOSCHED_READ, 512, 512);

	ck_assert_int_eq(iosched_insert(s, &a, 1), 0);
	ck_assert_int_eq(iosched_insert(s, &b, 1), 0);
	ck_assert_ptr_eq(a.merged, &b);
	ck_assert_int_eq(iosched_cancel(s, &a, 2), -EINPROGRESS);
	ck_assert_int_eq(iosched_cancel(s, &b, 2), -EINPROGRESS);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(destroy_refuses_while_requests_are_queued_or_in_flight)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);

	ck_assert_int_eq(iosched_insert(s, &rq, 1), 0);
	ck_assert_int_eq(iosched_destroy(s), -EBUSY);
	ck_assert_ptr_eq(iosched_dispatch(s, 1), &rq);
	ck_assert_int_eq(iosched_destroy(s), -EBUSY);
	ck_assert_int_eq(iosched_complete(s, &rq, 1), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
	ck_assert_int_eq(iosched_destroy(NULL), 0);
}
END_TEST

static int create_with(const struct iosched_params *p)
{
	struct iosched *s = NULL;
	int error = iosched_create(&s, p);

	if (error == 0)
		iosched_destroy(s);
	else
		ck_assert_ptr_null(s);
	return error;
}

START_TEST(create_refuses_parameters_out_of_range)
{
	struct iosched_params p, good = params_for("noop");

#define REFUSED(member, value)                              \
	do {                                                \
		p = good;                                   \
		p.member = value;                           \
		ck_assert_int_eq(create_with(&p), -EINVAL); \
	} while (0)
	REFUSED(max_contexts, 0);
	REFUSED(max_contexts, (1u << 24) + 1);
	REFUSED(max_groups, 65537);
	REFUSED(expected_queued, 0);
	REFUSED(expected_queued, (1u << 26) + 1);
	REFUSED(rotational, 2);
	REFUSED(write_cache, 2);
	REFUSED(can_flush, 2);
	REFUSED(array, 2);
	REFUSED(parallel, 3);
	REFUSED(manual_timer, 2);
	REFUSED(audit, 2);
	REFUSED(measure, 2);
	REFUSED(reserved1, 1);
	REFUSED(size, 8);
	REFUSED(policy, iosched_policy_find("defline"));
#undef REFUSED
	p = good;
	p.alloc = (void *(*)(void *, size_t))(uintptr_t)1;
	ck_assert_int_eq(create_with(&p), -EINVAL);
	ck_assert_int_eq(create_with(&good), 0);
}
END_TEST

START_TEST(create_and_switch_refuse_a_policy_table_with_a_hole)
{
	struct iosched_policy table = *iosched_policy_find("noop");
	struct iosched_params p = params_for("noop");
	struct iosched *s = queue_with(&p);

	table.dispatch = NULL;
	p.policy = &table;
	ck_assert_int_eq(create_with(&p), -EINVAL);
	ck_assert_int_eq(iosched_switch(s, &table, 1), -EINVAL);
	ck_assert_int_eq(iosched_switch(s, NULL, 1), -EINVAL);
	table = *iosched_policy_find("noop");
	table.size--;
	ck_assert_int_eq(create_with(&p), -EINVAL);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_tunable_is_unknown_or_another_policys_or_out_of_range)
{
	struct iosched *s = queue_for("deadline");
	struct iosched *n = queue_for("noop");
	uint64_t value;

	ck_assert_int_eq(iosched_tunable_set(s, "no_such_thing", 1), -ENOENT);
	ck_assert_int_eq(iosched_tunable_get(s, "no_such_thing", &value), -ENOENT);
	ck_assert_int_eq(iosched_tunable_set(n, "fifo_batch", 1), -EOPNOTSUPP);
	ck_assert_int_eq(iosched_tunable_get(n, "fifo_batch", &value), -EOPNOTSUPP);
	ck_assert_int_eq(iosched_tunable_set(s, "front_merges", 2), -ERANGE);
	ck_assert_int_eq(iosched_tunable_get(s, "front_merges", &value), 0);
	ck_assert_uint_eq(value, 1);
	ck_assert_int_eq(iosched_tunable_set(s, "front_merges", 0), 0);
	ck_assert_int_eq(iosched_tunable_get(s, "front_merges", &value), 0);
	ck_assert_uint_eq(value, 0);
	end_queue(s, NULL, 0);
	end_queue(n, NULL, 0);
}
END_TEST

START_TEST(context_set_refuses_what_makes_no_sense)
{
	struct iosched *s = queue_for("noop");
	struct iosched_context_params p;

	iosched_context_params_init(&p, sizeof(p));
	ck_assert_int_eq(iosched_context_set(s, 0, &p, 1), -EINVAL);
	p.weight = 0;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), -EINVAL);
	p.weight = 1001;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), -EINVAL);
	p.weight = 200;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), -EOPNOTSUPP);
	p.weight = 100;
	p.group = 7;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), -EOPNOTSUPP);
	p.group = 0;
	p.prio_class = 3;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), -EINVAL);
	p.prio_class = IOSCHED_IDLE;
	ck_assert_int_eq(iosched_context_set(s, 1, &p, 1), 0);
	end_queue(s, NULL, 0);
}
END_TEST

/* A weight in a struct that was only zeroed must not be taken for none. */
START_TEST(params_that_were_not_initialised_are_refused)
{
	struct iosched *s = queue_for("fair-deadline");
	struct iosched_context_params context = {.weight = 300};
	struct iosched_group_params group = {.weight = 300};

	ck_assert_int_eq(iosched_context_set(s, 1, &context, 1), -EINVAL);
	ck_assert_int_eq(iosched_group_set(s, 1, &group, 1), -EINVAL);
	ck_assert_int_eq(iosched_context_exit(s, 1, 1), -ENOENT);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(context_exit_of_a_stranger_is_refused)
{
	struct iosched *s = queue_for("noop");

	ck_assert_int_eq(iosched_context_exit(s, 0, 1), -ENOENT);
	ck_assert_int_eq(iosched_context_exit(s, 5, 1), -ENOENT);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(groups_are_refused_by_a_policy_without_shares)
{
	struct iosched *s = queue_for("noop");
	struct iosched_group_params p;

	iosched_group_params_init(&p, sizeof(p));
	ck_assert_int_eq(iosched_group_set(s, 0, &p, 1), -EINVAL);
	ck_assert_int_eq(iosched_group_set(s, 1, &p, 1), -EOPNOTSUPP);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(timer_says_when_nothing_is_due)
{
	struct iosched *s = queue_for("noop");

	ck_assert_int_eq(iosched_timer(s, 1), -EAGAIN);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(insert_many_stops_at_the_first_that_is_refused)
{
	struct iosched *s = queue_for("noop");
	struct iosched_request a = request(IOSCHED_READ, 0, 512);
	struct iosched_request bad = request(IOSCHED_READ, 0, 0);
	struct iosched_request c = request(IOSCHED_READ, 8192, 512);
	struct iosched_request *list[] = {&a, &bad, &c};

	ck_assert_int_eq(iosched_insert_many(s, list, 3, 1), 1);
	ck_assert_int_eq(iosched_insert_many(s, list + 1, 2, 1), -EINVAL);
	ck_assert_uint_eq(iosched_queued(s), 1);
	end_queue(s, NULL, 0);
}
END_TEST

MAIN_OF("errors", insert_refuses_an_empty_extent, insert_refuses_an_overflowing_extent,
	insert_refuses_unknown_op_class_level_flag_and_a_flush_with_extent,
	insert_refuses_a_request_that_is_already_in, insert_refuses_everything_while_quiesced,
	complete_requeue_and_cancel_refuse_what_is_not_theirs,
	a_request_of_another_queue_is_refused_and_both_stay_as_they_were,
	reprioritize_refuses_a_class_or_level_out_of_range,
	absorbed_and_absorbing_requests_cannot_be_cancelled,
	destroy_refuses_while_requests_are_queued_or_in_flight,
	create_refuses_parameters_out_of_range, create_and_switch_refuse_a_policy_table_with_a_hole,
	a_tunable_is_unknown_or_another_policys_or_out_of_range,
	context_set_refuses_what_makes_no_sense, params_that_were_not_initialised_are_refused,
	context_exit_of_a_stranger_is_refused, groups_are_refused_by_a_policy_without_shares,
	timer_says_when_nothing_is_due, insert_many_stops_at_the_first_that_is_refused)
