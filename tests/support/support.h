/* SPDX-License-Identifier: MIT */
/*
 * support: what the unit tests of the core share: a queue in one line, a request in one
 * line, a suite in one line.
 */
#ifndef IOS_TESTS_SUPPORT_H
#define IOS_TESTS_SUPPORT_H

#include <check.h>
#include <stdlib.h>
#include <iosched/policy.h>

#define MS UINT64_C(1000000)
#define KIB UINT64_C(1024)

/* Defaults with this policy, audited after every call. */
static inline struct iosched_params params_for(const char *policy)
{
	struct iosched_params p;

	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find(policy);
	ck_assert_ptr_nonnull(p.policy);
	p.audit = 1;
	return p;
}

static inline struct iosched *queue_with(const struct iosched_params *p)
{
	struct iosched *s = NULL;

	ck_assert_int_eq(iosched_create(&s, p), 0);
	return s;
}

static inline struct iosched *queue_for(const char *policy)
{
	struct iosched_params p = params_for(policy);

	return queue_with(&p);
}

static inline struct iosched_request request(enum iosched_op op, uint64_t offset, uint64_t length)
{
	struct iosched_request rq = {.offset = offset, .length = length, .op = (uint8_t)op};

	return rq;
}

/* Take what is queued back, end what is in flight, and the queue with it. */
static inline void end_queue(struct iosched *s, struct iosched_request **inflight, unsigned n)
{
	unsigned i;

	while (iosched_drain(s, 0) != NULL)
		;
	for (i = 0; i < n; i++)
		ck_assert_int_eq(iosched_complete(s, inflight[i], 0), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}

/* Dispatch and complete one. */
static inline struct iosched_request *serve(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq = iosched_dispatch(s, now);

	if (rq != NULL)
		ck_assert_int_eq(iosched_complete(s, rq, now), 0);
	return rq;
}

static inline int run_suite(Suite *suite)
{
	SRunner *r = srunner_create(suite);
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* One suite of one case out of a list of tests. */
#define MAIN_OF(name, ...)                                             \
	int main(void)                                                 \
	{                                                              \
		const TTest *const tests[] = {__VA_ARGS__};            \
		Suite *suite = suite_create(name);                     \
		TCase *tc = tcase_create(name);                        \
		size_t i;                                              \
                                                                       \
		for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) \
			tcase_add_test(tc, tests[i]);                  \
		suite_add_tcase(suite, tc);                            \
		return run_suite(suite);                               \
	}

#endif
