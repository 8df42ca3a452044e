/* SPDX-License-Identifier: MIT */
/*
 * memory: all of it at create and switch, through the host's allocator; its
 * failure at the n-th call, for every n, loses nothing.
 */
#include <errno.h>
#include "support/support.h"

struct account {
	unsigned calls, fail_at; /* 0: never */
	int live;
};

static void *count_alloc(void *user, size_t size)
{
	struct account *a = user;

	if (++a->calls == a->fail_at)
		return NULL;
	a->live++;
	return malloc(size);
}

static void count_release(void *user, void *memory)
{
	struct account *a = user;

	a->live--;
	free(memory);
}

static struct iosched_params counted(const char *policy, struct account *a)
{
	struct iosched_params p = params_for(policy);

	p.alloc = count_alloc;
	p.release = count_release;
	p.user = a;
	return p;
}

START_TEST(create_fails_clean_at_every_allocation)
{
	const struct iosched_policy *policy;
	unsigned i;

	for (i = 0; (policy = iosched_policy_at(i)) != NULL; i++) {
		unsigned n;

		for (n = 1;; n++) {
			struct account a = {0, n, 0};
			struct iosched_params p = counted(iosched_policy_name(policy), &a);
			struct iosched *s = NULL;
			int error = iosched_create(&s, &p);

			if (error == 0) {
				ck_assert_uint_lt(a.calls, n);
				iosched_destroy(s);
				ck_assert_int_eq(a.live, 0);
				break;
			}
			ck_assert_int_eq(error, -ENOMEM);
			ck_assert_int_eq(a.live, 0);
		}
		ck_assert_uint_gt(n, 1);
	}
}
END_TEST

START_TEST(nothing_is_allocated_after_create)
{
	const struct iosched_policy *policy;
	unsigned i, k;

	for (i = 0; (policy = iosched_policy_at(i)) != NULL; i++) {
		struct account a = {0, 0, 0};
		struct iosched_params p = counted(iosched_policy_name(policy), &a);
		struct iosched *s = queue_with(&p);
		struct iosched_request rq[64];
		unsigned after_create = a.calls;

		for (k = 0; k < 64; k++) {
			rq[k] = request(k % 3 ? IOSCHED_READ : IOSCHED_WRITE,
					(k * 7919u % 64) * 4096, 4096);
			rq[k].context = k % 9;
			ck_assert_int_eq(iosched_insert(s, &rq[k], k * MS), 0);
			serve(s, k * MS);
		}
		ck_assert_uint_eq(a.calls, after_create);
		end_queue(s, NULL, 0);
		ck_assert_int_eq(a.live, 0);
	}
}
END_TEST

START_TEST(a_switch_that_fails_leaves_the_old_policy_going)
{
	struct account a = {0, 0, 0};
	struct iosched_params p = counted("deadline", &a);
	struct iosched *s = queue_with(&p);
	struct iosched_request rq = request(IOSCHED_READ, 0, 512);

	iosched_tunable_set(s, "fifo_batch", 3);
	iosched_insert(s, &rq, 1);
	a.fail_at = a.calls + 1;
	ck_assert_int_eq(iosched_switch(s, iosched_policy_find("noop"), 2), -ENOMEM);
	ck_assert_str_eq(iosched_policy_name(iosched_policy_of(s)), "deadline");
	ck_assert_int_eq(iosched_tunable_set(s, "fifo_batch", 4), 0);
	ck_assert_ptr_eq(serve(s, 3), &rq);
	end_queue(s, NULL, 0);
	ck_assert_int_eq(a.live, 0);
}
END_TEST

MAIN_OF("memory", create_fails_clean_at_every_allocation, nothing_is_allocated_after_create,
	a_switch_that_fails_leaves_the_old_policy_going)
