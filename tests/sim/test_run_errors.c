/* SPDX-License-Identifier: MIT */
/* Runs that are refused, and devices that fail in the middle of one. */
#include "run_rig.h"

/* --- Errors --- */

START_TEST(what_is_wrong_with_a_config_is_said)
{
	c.stream_count = 0;
	refused(-EINVAL, "there is no load");
	c.stream_count = 1;
	c.device = "flux capacitor";
	refused(-ENOENT, "there is no device \"flux capacitor\"");
	c.device = "fixed";
	c.length_ns = IOSCHED_NEVER;
	refused(-EINVAL, "stream 1 never ends, and neither does the run");
	c.length_ns = SEC;
	c.warmup_ns = SEC;
	refused(-EINVAL, "the warm-up is not shorter than the run");
	c.warmup_ns = 0;
	c.max_meters = 0;
	refused(-EINVAL, "max_meters is outside 1..65536");
	c.max_meters = 1;
	c.size = 8;
	refused(-EINVAL, "the config was not initialised by iosched_sim_config_init()");
}
END_TEST

START_TEST(what_is_wrong_with_a_stream_is_said)
{
	s[0].depth = 0;
	refused(-EINVAL, "stream 1 has a depth outside 1..2^20");
	s[0].depth = 2;
	s[0].refill = 2;
	refused(-EINVAL, "stream 1 has a refill mark that is not below its depth");
	s[0].refill = UINT32_MAX;
	s[0].region_offset = UINT64_C(1) << 41;
	refused(-ERANGE, "stream 1 begins past the end of the device (1099511627776 bytes)");
	s[0].region_offset = 0;
	s[0].region_length = 100;
	refused(-ERANGE, "stream 1 has a request size outside 1..its region (1099511627776 bytes)");
	s[0].region_length = 0;
	s[0].think = IOSCHED_SIM_UNIFORM;
	s[0].think_spread_ns = 1;
	refused(-EINVAL, "stream 1 has waits spread wider than their mean");
	s[0].think = IOSCHED_SIM_FIXED;
	s[0].open_loop = 1;
	refused(-EINVAL, "stream 1 is an open loop, so the time between arrivals cannot be 0");
	s[0].open_loop = 0;
	s[0].size = 1;
	refused(-EINVAL, "stream 1 was not initialised by iosched_sim_stream_init()");
}
END_TEST

START_TEST(a_stream_that_nothing_slows_down_is_refused)
{
	c.device = "null";
	refused(-EINVAL, "stream 1 never waits, nor does the device: give it max_requests");
	s[0].max_requests = 1000;
	run();
	ck_assert_uint_eq(r->completed, 1000);
	ck_assert_uint_eq(r->end, 0);
}
END_TEST

START_TEST(tunables_are_set_or_refused)
{
	struct iosched_sim_tunable t = {"read_expire_ns", 1};

	c.policy = iosched_policy_find("noop");
	c.tunables = &t;
	c.tunable_count = 1;
	refused(-EOPNOTSUPP, "policy noop has no tunable \"read_expire_ns\"");
	t.name = "nonsense";
	refused(-ENOENT, "policy noop has no tunable \"nonsense\"");
	c.policy = iosched_policy_find("deadline");
	t.name = "read_expire_ns";
	t.value = UINT64_MAX;
	refused(-ERANGE, "tunable read_expire_ns: 18446744073709551615 is out of range");
	t.value = MS;
	run();
}
END_TEST

START_TEST(weights_that_the_policy_lacks_are_refused_unless_optional)
{
	c.policy = iosched_policy_find("noop");
	s[0].weight = 500;
	refused(-EOPNOTSUPP, "weight or group of stream 1: the policy knows none");
	c.weights_optional = 1;
	run();
	ck_assert_uint_eq(row(1, IOSCHED_SIM_ALL_OPS)->weight, 500);
	c.policy = iosched_policy_find("fair-deadline");
	s[0].weight = 3000;
	refused(-EINVAL, "weight or group of stream 1: a weight above 1000, or context 0");
}
END_TEST

/* --- Errors of the device --- */

START_TEST(failed_requests_are_counted_and_lost_to_nobody)
{
	c.device = "fault";
	c.device_text = "member = fixed\nread_errors = 100000\nerror_time = 1ms\n";
	c.max_merge_bytes = 0;
	c.interval_ns = SEC / 10;
	c.length_ns = 10 * SEC;
	s[0].read_permyriad = 5000;
	run();
	ck_assert_uint_eq(r->submitted, r->completed + r->returned);
	ck_assert_uint_ge(r->failed, 350); /* one read in ten, of some 4500 */
	ck_assert_uint_le(r->failed, 600);
	ck_assert_uint_eq(r->failed, r->device.errors);
	ck_assert_uint_eq(all()->failed, r->failed);
	ck_assert_uint_eq(row(1, IOSCHED_READ)->failed, r->failed);
	ck_assert_uint_eq(row(1, IOSCHED_WRITE)->failed, 0);
	ck_assert_uint_eq(all()->bytes, (all()->requests - r->failed) * 4096);
	ck_assert_uint_eq(all()->total.max, 2 * MS);
}
END_TEST

START_TEST(a_request_and_all_it_absorbed_fail_together)
{
	c.device = "fault";
	c.device_text = "member = fixed\nbad_length = 1GiB\nerror_time = 0\n";
	c.length_ns = IOSCHED_NEVER;
	s[0].depth = 16;
	s[0].max_requests = 64;
	run();
	ck_assert_uint_gt(all()->merged, 30);
	ck_assert_uint_eq(r->failed, 64);
	ck_assert_uint_eq(all()->failed, 64);
	ck_assert_uint_eq(all()->bytes, 0);
}
END_TEST

START_TEST(streams_go_on_when_the_device_is_dead)
{
	uint64_t alive;

	c.length_ns = SEC;
	run();
	alive = r->digest;
	c.device = "fault";
	c.device_text = "member = fixed\ndead_after = 2s\n";
	run();
	ck_assert_uint_eq(r->digest, alive); /* a fault that does not happen changes nothing */
	c.device_text = "member = fixed\ndead_after = 500ms\n";
	run();
	ck_assert_uint_eq(r->failed, 5001); /* one in 100 us, and the one inside */
	ck_assert_uint_ne(r->digest, alive);
	ck_assert_uint_eq(r->submitted, r->completed + r->returned);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run errors");
	TCase *t;

	t = tcase_create("refused");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_wrong_with_a_config_is_said);
	tcase_add_test(t, what_is_wrong_with_a_stream_is_said);
	tcase_add_test(t, a_stream_that_nothing_slows_down_is_refused);
	tcase_add_test(t, tunables_are_set_or_refused);
	tcase_add_test(t, weights_that_the_policy_lacks_are_refused_unless_optional);
	suite_add_tcase(suite, t);
	t = tcase_create("device");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, failed_requests_are_counted_and_lost_to_nobody);
	tcase_add_test(t, a_request_and_all_it_absorbed_fail_together);
	tcase_add_test(t, streams_go_on_when_the_device_is_dead);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
