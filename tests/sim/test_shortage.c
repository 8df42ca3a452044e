/* SPDX-License-Identifier: MIT */
/* A run whose n-th allocation fails, for every n until it succeeds: -ENOMEM, nothing left behind.
 */
#include <errno.h>
#include <stdlib.h>

#include "support.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static long countdown = -1; /* negative: no failures */

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

/* Devices that allocate as they are made, and as they go. */
static const char *const devices[] = {"hdd", "raid10-4", "raid0-2", "net-hdd", "fault-hdd"};

START_TEST(every_allocation_may_fail)
{
	struct iosched_sim_stream s[2];
	struct iosched_sim_config c;
	int err = -ENOMEM;
	long n = 0;

	iosched_sim_stream_init(&s[0], sizeof(s[0]));
	s[0].depth = 70;
	s[0].read_permyriad = 5000;
	s[0].pattern = IOSCHED_SIM_RANDOM;
	s[1] = s[0];
	s[1].context = 2;
	s[1].cursor = 1;
	s[1].pattern = IOSCHED_SIM_SEQUENTIAL;
	iosched_sim_config_init(&c, sizeof(c));
	c.device = devices[_i];
	c.length_ns = 200 * MS;
	c.interval_ns = 10 * MS;
	c.streams = s;
	c.stream_count = 2;
	for (; err == -ENOMEM; n++) {
		struct iosched_sim_result *r;
		struct iosched_sim_error why;

		countdown = n;
		err = iosched_sim_run(&c, &r, &why);
		countdown = -1;
		if (err == -ENOMEM) {
			ck_assert_ptr_null(r);
			ck_assert_str_ne(why.text, "");
		} else {
			ck_assert_int_eq(err, 0);
			ck_assert_uint_gt(r->completed, 0);
		}
		iosched_sim_result_free(r);
		ck_assert_int_lt(n, 1000);
	}
	ck_assert_int_gt(n, 20);
}
END_TEST

/* One run of @c for each allocation that fails; the last one succeeds. */
static long run_until_it_succeeds(const struct iosched_sim_config *c)
{
	int err = -ENOMEM;
	long n = 0;

	for (; err == -ENOMEM; n++) {
		struct iosched_sim_result *r;

		countdown = n;
		err = iosched_sim_run(c, &r, NULL);
		countdown = -1;
		ck_assert(err == 0 || err == -ENOMEM);
		ck_assert((r == NULL) == (err != 0));
		iosched_sim_result_free(r);
		ck_assert_int_lt(n, 1000);
	}
	return n;
}

START_TEST(every_allocation_of_a_program_may_fail)
{
	const char *name;

	for (unsigned i = 0; (name = iosched_sim_program_at(i, NULL)) != NULL; i++) {
		struct iosched_sim_program p = {.name = name, .first_context = 1};
		struct iosched_sim_config c;

		iosched_sim_config_init(&c, sizeof(c));
		c.device = "raid10-4";
		c.block_layer = IOSCHED_SIM_PLUGGED;
		c.length_ns = 30 * MS;
		c.programs = &p;
		c.program_count = 1;
		ck_assert_int_gt(run_until_it_succeeds(&c), 10);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim shortage");
	TCase *t = tcase_create("shortage");

	tcase_add_loop_test(t, every_allocation_may_fail, 0, sizeof(devices) / sizeof(devices[0]));
	tcase_add_test(t, every_allocation_of_a_program_may_fail);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return run_suite(s);
}
