/* SPDX-License-Identifier: MIT */
/* Scenarios: what a text becomes, what is refused and how, and when an expectation holds. */
#include <errno.h>
#include <iosched/sim.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static struct iosched_sim_scenario *s;
static struct iosched_sim_result *results[16];
static struct iosched_sim_error why;

static void teardown(void)
{
	for (unsigned i = 0; i < 16; i++) {
		iosched_sim_result_free(results[i]);
		results[i] = NULL;
	}
	iosched_sim_scenario_free(s);
	s = NULL;
}

static void load(const char *text)
{
	teardown();
	ck_assert_msg(iosched_sim_scenario_parse(&s, text, strlen(text), "test", &why) == 0, "%s",
		      why.text);
}

static void run(const char *text)
{
	load(text);
	ck_assert_uint_le(iosched_sim_scenario_case_count(s), 16);
	ck_assert_msg(iosched_sim_scenario_run(s, results, &why) == 0, "%s", why.text);
}

static void refused(const char *text, int err, const char *sentence)
{
	ck_assert_int_eq(iosched_sim_scenario_parse(&s, text, strlen(text), "test", &why), err);
	ck_assert_ptr_null(s);
	ck_assert_str_eq(why.text, sentence);
}

static struct iosched_sim_verdict verdict(unsigned i)
{
	struct iosched_sim_verdict v;

	ck_assert_int_eq(iosched_sim_scenario_check(s, i, results, &v), 0);
	return v;
}

static const struct iosched_sim_config *config(unsigned i)
{
	struct iosched_sim_case c;

	ck_assert_int_eq(iosched_sim_scenario_case(s, i, &c), 0);
	return c.config;
}

static uint64_t requests_of(unsigned i, uint64_t context)
{
	const struct iosched_sim_row *row =
		iosched_sim_result_row(results[i], context, IOSCHED_SIM_ALL_OPS);

	return row != NULL ? row->requests : 0;
}

#define BASE "device fixed\nlength 1s\npolicy noop\n"

/* --- Texts --- */

START_TEST(every_word_of_a_stream_arrives_in_the_config)
{
	const struct iosched_sim_stream *a;

	load(BASE "stream a mixed 70% random size 8KiB align 4KiB in 1GiB..2GiB depth 8 refill 3\n"
		  "  think 1ms..3ms sync meta noidle fsync 5 group g weight 200 group-weight 300\n"
		  "  class idle level 6 start 100ms stop 900 ms count 77\n");
	a = &config(0)->streams[0];
	ck_assert_uint_eq(a->read_permyriad, 7000);
	ck_assert_int_eq(a->pattern, IOSCHED_SIM_RANDOM);
	ck_assert_uint_eq(a->request_bytes, 8 * KIB);
	ck_assert_uint_eq(a->align_bytes, 4 * KIB);
	ck_assert_uint_eq(a->region_offset, 1024 * MIB);
	ck_assert_uint_eq(a->region_length, 1024 * MIB);
	ck_assert_uint_eq(a->depth, 8);
	ck_assert_uint_eq(a->refill, 3);
	ck_assert_int_eq(a->think, IOSCHED_SIM_UNIFORM);
	ck_assert_uint_eq(a->think_ns, 2 * MS);
	ck_assert_uint_eq(a->think_spread_ns, MS);
	ck_assert_uint_eq(a->write_flags, IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_NOIDLE);
	ck_assert_uint_eq(a->flush_every, 5);
	ck_assert_uint_eq(a->group, 1);
	ck_assert_uint_eq(a->weight, 200);
	ck_assert_uint_eq(a->group_weight, 300);
	ck_assert_uint_eq(a->prio_class, IOSCHED_IDLE);
	ck_assert_uint_eq(a->prio_level, 7);
	ck_assert_uint_eq(a->start_ns, 100 * MS);
	ck_assert_uint_eq(a->stop_ns, 900 * MS);
	ck_assert_uint_eq(a->max_requests, 77);
}
END_TEST

START_TEST(copies_have_names_contexts_and_parts_of_the_region)
{
	const struct iosched_sim_stream *a;

	load(BASE "stream a x3 read split in 0..3MiB\nstream b x2 write one-context shared\n");
	a = config(0)->streams;
	ck_assert_uint_eq(config(0)->stream_count, 5);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(a[i].context, i + 1);
		ck_assert_uint_eq(a[i].region_offset, i * MIB);
		ck_assert_uint_eq(a[i].region_length, MIB);
	}
	ck_assert_str_eq(a[2].name, "a.3");
	ck_assert_uint_eq(a[3].context, a[4].context);
	ck_assert_uint_gt(a[3].cursor, 0);
	ck_assert_uint_eq(a[3].cursor, a[4].cursor);
}
END_TEST

START_TEST(statements_may_come_in_any_order)
{
	run("expect requests(a) noop >= 999\npolicy noop\nlength 1s\nstream a read\ndevice "
	    "fixed\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_HOLDS);
	ck_assert_uint_eq(verdict(0).line, 1);
}
END_TEST

START_TEST(every_policy_line_runs_with_every_seed)
{
	load(BASE "policy deadline read_expire_ns=20ms window 3 as fast\nseed 7 8\nstream a read\n"
		  "stream b read\npolicy deadline without b device latency=2ms as alone\n");
	ck_assert_uint_eq(iosched_sim_scenario_case_count(s), 6);
	ck_assert_uint_eq(config(3)->seed, 8);
	ck_assert_uint_eq(config(3)->max_inflight, 3);
	ck_assert_str_eq(config(3)->tunables[0].name, "read_expire_ns");
	ck_assert_uint_eq(config(3)->tunables[0].value, 20 * MS);
	ck_assert_uint_eq(config(4)->stream_count, 1);
	ck_assert_str_eq(config(4)->overrides[0].value, "2ms");
	ck_assert_uint_eq(config(2)->override_count, 0);
}
END_TEST

START_TEST(a_policy_can_be_added_once)
{
	load(BASE "seed 1 2\nstream a read\n");
	ck_assert_int_eq(iosched_sim_scenario_add_policy(s, iosched_policy_find("deadline")), 0);
	ck_assert_uint_eq(iosched_sim_scenario_case_count(s), 4);
	ck_assert_ptr_eq(config(3)->policy, iosched_policy_find("deadline"));
	ck_assert_int_eq(iosched_sim_scenario_add_policy(s, iosched_policy_find("deadline")),
			 -EEXIST);
}
END_TEST

START_TEST(a_refusal_names_line_and_likeness)
{
	refused("device hddd\n", -ENOENT,
		"test:1: \"hddd\" is not a device; did you mean \"hdd\"?");
	refused("# a line\nstream a\n  raed\n", -EINVAL,
		"test:3: \"raed\" is not a word about streams; did you mean \"read\"?");
	refused(BASE "stream a read\npolicy deadline fifo_bach=3 as x\n", -ENOENT,
		"test:5: \"fifo_bach\" is not a tunable of the policy; did you mean "
		"\"fifo_batch\"?");
	refused(BASE "stream reader read\nexpect iops(raeder) noop > 3\n", -EINVAL,
		"test:5: \"raeder\" is not a stream or program; did you mean \"reader\"?");
	refused(BASE "stream a read think 30\n", -EINVAL,
		"test:4: \"30\" has no unit: write 30ms or so");
	refused(BASE "stream a\n", -EINVAL,
		"test:4: stream a does not say whether it is to read, write or mixed");
	refused(BASE "stream a read after b\n", -EINVAL, "test:4: \"b\" is not a stream: a");
	refused(BASE "stream a read\npolicy noop\n", -EINVAL,
		"test:5: a second policy \"noop\": give it a label, `as NAME`");
	refused(BASE "stream a read\nexpect iops noop = 3\n", -EINVAL,
		"test:5: = needs a tolerance: within 5%");
}
END_TEST

START_TEST(a_policy_that_is_not_there_is_said_to_be_missing)
{
	const char *text = "stream a read\npolicy elevator-2050\n";

	ck_assert_int_eq(iosched_sim_scenario_parse(&s, text, strlen(text), "test", &why), -ENOENT);
	ck_assert_ptr_nonnull(strstr(
		why.text, "test:2: \"elevator-2050\" is not a policy in this build: noop, "));
}
END_TEST

START_TEST(a_text_from_memory_opens_no_file)
{
	refused("device file x.conf\n", -EINVAL,
		"test:1: a scenario that is no file cannot name another file");
}
END_TEST

START_TEST(bytes_that_are_no_text_are_refused)
{
	ck_assert_int_eq(iosched_sim_scenario_parse(&s, "a\0b", 3, "test", &why), -EINVAL);
	ck_assert_int_eq(iosched_sim_scenario_load(&s, "no-such.scn", &why), -ENOENT);
	ck_assert_str_eq(why.text, "no-such.scn: No such file or directory");
}
END_TEST

/* --- Expectations --- */

/* One request a ms: 1000 in a second, so all figures are known. */
#define KNOWN                                                                                \
	BASE "host window 1\nstream a read size 1000 in 0..1GB\nstream b read size 1000 in " \
	     "2GB..3GB\n"

START_TEST(bounds_hold_to_the_unit)
{
	run(KNOWN "expect throughput noop >= 999 KB/s\nexpect throughput noop >= 1001KB/s\n"
		  "expect iops(a) noop <= 500\nexpect iops(a) noop < 500\n"
		  "expect share(a) noop <= 50%\nexpect max_device noop <= 1ms\n"
		  "expect max_device noop < 1000us\nexpect idle noop <= 0\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(1).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(2).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(4).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(5).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(6).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(7).state, IOSCHED_SIM_HOLDS);
}
END_TEST

START_TEST(ratios_hold_or_fail)
{
	run(KNOWN
	    "policy noop device latency=2ms as slow\n"
	    "expect iops noop >= 1.99 * slow\nexpect iops noop >= 2.01 * slow\n"
	    "expect iops(a) each = iops(b) within 1%\nexpect iops slow = 0.5 * noop within 1%\n"
	    "expect order iops: noop > slow\nexpect order iops: slow > noop\n"
	    "expect iops slow = noop within 49%\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(1).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(2).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(3).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(4).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(5).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(6).state, IOSCHED_SIM_FAILS);
}
END_TEST

START_TEST(an_order_is_as_many_expectations_as_relations)
{
	load(KNOWN "policy deadline\npolicy mq-deadline\n"
		   "expect order iops: noop > deadline >= mq-deadline\n");
	ck_assert_uint_eq(iosched_sim_scenario_check_count(s), 2);
}
END_TEST

START_TEST(nothing_measured_is_no_good_latency)
{
	run(KNOWN "stream late read start 2s\nexpect p99_wait(late) noop <= 1s\n"
		  "expect max_total(a:flush) noop <= 1s\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_FAILS);
	ck_assert_str_eq(verdict(0).figures, "nothing was measured");
	ck_assert_int_eq(verdict(1).state, IOSCHED_SIM_FAILS);
}
END_TEST

START_TEST(runs_that_were_not_done_are_not_checked)
{
	load(KNOWN "policy deadline\nexpect iops noop > deadline\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_NOT_CHECKED);
}
END_TEST

START_TEST(one_bad_seed_fails_and_is_named)
{
	run("device fixed\nlength 1s\nseed 1 2\npolicy noop\nstream a read\n"
	    "expect requests noop < 5\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_FAILS);
	ck_assert_ptr_nonnull(strstr(verdict(0).figures, "seed 1"));
}
END_TEST

/* --- Streams that came with scenarios --- */

START_TEST(interleaved_copies_read_one_file_by_turns)
{
	const struct iosched_sim_stream *a;

	run(BASE "stream a x4 read interleaved size 4KiB in 0..1GiB\n");
	a = config(0)->streams;
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(a[i].region_offset, i * 4 * KIB);
		ck_assert_uint_eq(a[i].stride_bytes, 16 * KIB);
	}
	/* four of them in step are one sequential reader */
	ck_assert_uint_le(results[0]->seeks, 4);
	ck_assert_uint_ge(requests_of(0, 1), 249);
}
END_TEST

START_TEST(a_follower_asks_once_for_each_completion)
{
	run(BASE "stream leader read count 10 think 20ms\nstream follower read after leader\n");
	ck_assert_uint_eq(requests_of(0, 1), 10);
	ck_assert_uint_eq(requests_of(0, 2), 10);
}
END_TEST

START_TEST(a_pair_that_waits_for_each_other_takes_turns)
{
	run(BASE "stream writer write sync after journal ahead 1\n"
		 "stream journal write sync fsync 1 after writer\n");
	/* write, journal write, FLUSH: 3 ms a round */
	ck_assert_uint_ge(requests_of(0, 1), 332);
	ck_assert_uint_le(requests_of(0, 1), 334);
}
END_TEST

START_TEST(a_follower_without_a_leader_waits_for_ever)
{
	run(BASE "stream leader read start 2s\nstream follower read after leader\n");
	ck_assert_uint_eq(requests_of(0, 2), 0);
}
END_TEST

START_TEST(a_burst_with_fsync_thinks_as_a_whole)
{
	run(BASE "stream a write burst 16 fsync 16 think 100ms\n");
	/* 16 ms of writes, 1 ms of FLUSH, 100 ms: nine rounds begin, eight end with a FLUSH */
	ck_assert_uint_eq(requests_of(0, 1), 9 * 16 + 9);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("scenario");
	TCase *t = tcase_create("scenario");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, every_word_of_a_stream_arrives_in_the_config);
	tcase_add_test(t, copies_have_names_contexts_and_parts_of_the_region);
	tcase_add_test(t, statements_may_come_in_any_order);
	tcase_add_test(t, every_policy_line_runs_with_every_seed);
	tcase_add_test(t, a_policy_can_be_added_once);
	tcase_add_test(t, a_refusal_names_line_and_likeness);
	tcase_add_test(t, a_policy_that_is_not_there_is_said_to_be_missing);
	tcase_add_test(t, a_text_from_memory_opens_no_file);
	tcase_add_test(t, bytes_that_are_no_text_are_refused);
	tcase_add_test(t, bounds_hold_to_the_unit);
	tcase_add_test(t, ratios_hold_or_fail);
	tcase_add_test(t, an_order_is_as_many_expectations_as_relations);
	tcase_add_test(t, nothing_measured_is_no_good_latency);
	tcase_add_test(t, runs_that_were_not_done_are_not_checked);
	tcase_add_test(t, one_bad_seed_fails_and_is_named);
	tcase_add_test(t, interleaved_copies_read_one_file_by_turns);
	tcase_add_test(t, a_follower_asks_once_for_each_completion);
	tcase_add_test(t, a_pair_that_waits_for_each_other_takes_turns);
	tcase_add_test(t, a_follower_without_a_leader_waits_for_ever);
	tcase_add_test(t, a_burst_with_fsync_thinks_as_a_whole);
	suite_add_tcase(all, t);
	return all;
}

int main(void)
{
	return run_suite(suite());
}
