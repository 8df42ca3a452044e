/* SPDX-License-Identifier: MIT */
/* Scenarios: what a text becomes, what is refused and how, and when an expectation holds. */
#include <errno.h>
#include <iosched/sim.h>
#include <stdio.h>
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

START_TEST(a_share_above_the_whole_is_refused)
{
	refused(BASE "stream a read\nexpect share(a) noop <= 35\n", -ERANGE,
		"test:5: \"35\" is 3500 %, and the most it can be is 100 %; did you mean 35%?");
	refused(BASE "stream a read\nexpect share(a) noop <= 1.5\n", -ERANGE,
		"test:5: \"1.5\" is 150 %, and the most it can be is 100 %; did you mean 1.5%?");
	refused(BASE "stream a read\nexpect jain noop >= 120 %\n", -ERANGE,
		"test:5: \"120%\" is 120 %, and the most it can be is 100 %");
	refused(BASE "stream a read\nexpect share(a) noop <= 3 * 40%\n", -ERANGE,
		"test:5: the product is more than 100 %, the most it can be");
	refused(BASE "stream a read\nexpect iops noop = 500 within 5\n", -ERANGE,
		"test:5: \"5\" is 500 %, and the most it can be is 100 %; did you mean 5%?");
	refused(BASE "stream a mixed 70\n", -ERANGE,
		"test:4: \"70\" is 7000 %, and the most it can be is 100 %; did you mean 70%?");
}
END_TEST

START_TEST(a_number_of_another_kind_is_named_with_the_kind_that_is_wanted)
{
	refused(BASE "stream a read\nexpect max_wait noop < 3 MB/s\n", -EINVAL,
		"test:5: \"3MB/s\" is a rate, where a time is wanted: ns, us, ms or s");
	refused(BASE "stream a read\nexpect throughput noop < 3MB\n", -EINVAL,
		"test:5: \"3MB\" is a size, where a rate is wanted: B/s, KB/s, MB/s, GB/s, KiB/s "
		"... GiB/s");
	refused(BASE "stream a read\nexpect throughput noop > 80\n", -EINVAL,
		"test:5: \"80\" has no unit: write 80MB/s or so");
	refused(BASE "stream a read\nexpect requests noop > 10/s\n", -EINVAL,
		"test:5: \"10/s\" is a number a second, where a plain number is wanted");
	refused(BASE "stream a read\nexpect share(a) noop > 10/s\n", -EINVAL,
		"test:5: \"10/s\" is a number a second, where a share is wanted: 35% or 0.35");
	refused(BASE "stream a read\nexpect iops noop > 10 ms\n", -EINVAL,
		"test:5: \"10ms\" is a time, where a number a second is wanted: 20/s");
	refused(BASE "stream a read depth 4 KiB\n", -EINVAL,
		"test:4: \"4KiB\" is a size, where a plain number is wanted");
	refused(BASE "stream a read rate 20\n", -EINVAL,
		"test:4: \"20\" is not a rate such as 20/s");
	refused(BASE "stream a read in 0..2 GiB\n", -EINVAL,
		"test:4: \"0..2\" is not a region such as 0..2GiB or 50%..100% (without blanks)");
}
END_TEST

START_TEST(a_number_out_of_range_is_refused_in_its_line)
{
	refused(BASE "stream a read\n  weight 3000\n  size 4KiB\n", -ERANGE,
		"test:5: weight: 3000 is outside 1..1000");
	refused(BASE "stream a read weight 0\n", -ERANGE, "test:4: weight: 0 is outside 1..1000");
	refused(BASE "stream a read group g group-weight 1001\n", -ERANGE,
		"test:4: group-weight: 1001 is outside 1..1000");
	refused(BASE "stream a read group-weight 100\n", -EINVAL,
		"test:4: stream a has a group-weight and no group");
	refused(BASE "stream a read\n  level 8\n  size 4KiB\n", -ERANGE,
		"test:5: level: 8 is outside 0..7");
	refused(BASE "stream a read depth 0\n", -ERANGE, "test:4: depth: 0 is outside 1..1048576");
	refused(BASE "stream a read burst 1048577\n", -ERANGE,
		"test:4: burst: 1048577 is outside 1..1048576");
	refused(BASE "stream a read refill 4294967295\n", -ERANGE,
		"test:4: refill: 4294967295 is outside 0..1048575");
	refused(BASE "stream a read count 0\n", -ERANGE,
		"test:4: count: 0 is outside 1..18446744073709551615");
	refused(BASE "stream a write fsync 4294967296\n", -ERANGE,
		"test:4: fsync: 4294967296 is outside 1..4294967295");
	refused(BASE "stream a read rate 2000000000/s\n", -ERANGE,
		"test:4: the rate is outside 0.000001/s..1000000000/s");
	refused(BASE "stream a read\nhost window 4294967296\n", -ERANGE,
		"test:5: window: 4294967296 is outside 0..4294967295");
	refused(BASE "stream a read\npolicy deadline window 4294967296\n", -ERANGE,
		"test:5: window: 4294967296 is outside 0..4294967295");
	refused("stream a read\npolicy noop\nlength 18446744073709551615ns\n", -ERANGE,
		"test:3: the run is longer than two years");
	refused("device null\nlength 1s\npolicy noop\nstream a read\n", -EINVAL,
		"test:4: stream a never waits, nor does the device: give it think or count");
}
END_TEST

/* As @count lines "stream sN read group gN", on a device of policies with groups. */
static const char *grouped(unsigned count)
{
	static char text[8192];
	size_t n = (size_t)sprintf(text, "device fixed\nlength 10ms\npolicy cfq\n");

	for (unsigned i = 0; i < count; i++)
		n += (size_t)sprintf(text + n, "stream s%u read group g%u\n", i, i);
	return text;
}

START_TEST(what_a_queue_has_room_for_is_read_and_no_more)
{
	run(grouped(64));
	teardown();
	refused(grouped(65), -E2BIG, "test:68: more than 64 groups");
	run("device fixed\nlength 10ms\npolicy fair-deadline\nstream a x1024 read weight 200\n");
	teardown();
	refused(BASE "stream a x1000 read weight 200\nstream b x25 read weight 200\n", -E2BIG,
		"test:5: more than 1024 contexts have a weight or group");
}
END_TEST

START_TEST(a_word_that_would_undo_another_is_refused)
{
	refused(BASE "stream a read write\n", -EINVAL,
		"test:4: stream a: \"read\" and \"write\" exclude each other");
	refused(BASE "stream a write mixed 50%\n", -EINVAL,
		"test:4: stream a: \"write\" and \"mixed\" exclude each other");
	refused(BASE "stream a read random\n  sequential\n", -EINVAL,
		"test:5: stream a: \"random\" and \"sequential\" exclude each other");
	refused(BASE "stream a read burst 4 depth 8\n", -EINVAL,
		"test:4: stream a: \"burst\" and \"depth\" exclude each other");
	refused(BASE "stream a read rate 5/s think 1ms\n", -EINVAL,
		"test:4: stream a: \"rate\" and \"think\" exclude each other");
	refused(BASE "stream a read size 4KiB size 8KiB\n", -EINVAL,
		"test:4: stream a: a second \"size\"");
	refused(BASE "stream a read\nlength 2s\n", -EINVAL,
		"test:5: a second \"length\": the first is in line 2");
	refused(BASE "stream a read\ndevice hdd\n", -EINVAL,
		"test:5: a second \"device\": the first is in line 1");
}
END_TEST

START_TEST(settings_that_are_glued_to_a_name_are_shown_apart)
{
	refused("device hdd:rpm=1\n", -ENOENT,
		"test:1: \"hdd:rpm=1\" is not a device; with blanks: device hdd rpm=1");
	refused("device hdd:rpm=7200,depth=4\n", -ENOENT,
		"test:1: \"hdd:rpm=7200,depth=4\" is not a device; with blanks: device hdd "
		"rpm=7200 depth=4");
	refused("stream a read\npolicy deadline:fifo_batch=3\n", -ENOENT,
		"test:2: \"deadline:fifo_batch=3\" is not a policy in this build; with blanks: "
		"policy deadline fifo_batch=3");
}
END_TEST

START_TEST(an_equality_says_what_stands_where_its_tolerance_is_wanted)
{
	refused(BASE "stream a read\nexpect iops noop = 3 about 4%\n", -EINVAL,
		"test:5: \"about\" stands where = needs a tolerance: within 5%");
	refused(BASE "stream a read\nexpect iops noop = 50 % within 4%\n", -EINVAL,
		"test:5: \"50%\" is a share, where a number a second is wanted: 20/s");
	refused(BASE "stream a read\nexpect iops noop >= 2*noop\n", -EINVAL,
		"test:5: \"2*noop\": a * wants blanks around it, as in 0.95 * noop");
}
END_TEST

/* A file of @size bytes of comment. */
static void write_long(const char *path, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	for (size_t i = 0; i < size; i++)
		fputc('#', file);
	ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_text_that_is_too_long_is_refused_with_the_limit)
{
	const char *text = "device file test_scenario_long.conf\nstream a read\npolicy noop\n";
	FILE *file = fopen("test_scenario_names.scn", "w");
	static char big[MIB + 1];

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	write_long("test_scenario_long.scn", MIB + 1);
	write_long("test_scenario_long.conf", MIB + 1);
	ck_assert_int_eq(iosched_sim_scenario_load(&s, "test_scenario_long.scn", &why), -E2BIG);
	ck_assert_str_eq(why.text,
			 "test_scenario_long.scn: longer than 1 MiB, the most that is read");
	ck_assert_int_eq(iosched_sim_scenario_load(&s, "test_scenario_names.scn", &why), -E2BIG);
	ck_assert_str_eq(why.text, "test_scenario_names.scn:1: test_scenario_long.conf: longer "
				   "than 1 MiB, the most that "
				   "is read");
	memset(big, '#', sizeof(big));
	ck_assert_int_eq(iosched_sim_scenario_parse(&s, big, sizeof(big), "test", &why), -E2BIG);
	ck_assert_str_eq(why.text, "test: longer than 1 MiB, the most that is read");
	write_long("test_scenario_long.scn", MIB);
	ck_assert_int_eq(iosched_sim_scenario_load(&s, "test_scenario_long.scn", &why), -EINVAL);
	ck_assert_str_eq(why.text, "test_scenario_long.scn:1: there is no stream and no program");
	remove("test_scenario_long.scn");
	remove("test_scenario_long.conf");
	remove("test_scenario_names.scn");
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

START_TEST(a_unit_may_stand_apart_and_a_rate_per_second_be_written_out)
{
	run(KNOWN "expect share(a) noop = 50 % within 4 %\nexpect share(a) noop = 0.5 within 0.04\n"
		  "expect share(a) noop <= 10 %\nexpect iops(a) noop <= 500/s\n"
		  "expect iops(a) noop < 500 /s\nexpect iops(a) noop >= 50 % * iops\n");
	ck_assert_int_eq(verdict(0).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(1).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(2).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(3).state, IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(verdict(4).state, IOSCHED_SIM_FAILS);
	ck_assert_int_eq(verdict(5).state, IOSCHED_SIM_HOLDS);
	load(BASE "stream a mixed 70 % rate 20 /s\n");
	ck_assert_uint_eq(config(0)->streams[0].read_permyriad, 7000);
	ck_assert_uint_eq(config(0)->streams[0].think_ns, 50 * MS);
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
	tcase_add_test(t, a_share_above_the_whole_is_refused);
	tcase_add_test(t, a_number_of_another_kind_is_named_with_the_kind_that_is_wanted);
	tcase_add_test(t, a_number_out_of_range_is_refused_in_its_line);
	tcase_add_test(t, what_a_queue_has_room_for_is_read_and_no_more);
	tcase_add_test(t, a_word_that_would_undo_another_is_refused);
	tcase_add_test(t, settings_that_are_glued_to_a_name_are_shown_apart);
	tcase_add_test(t, an_equality_says_what_stands_where_its_tolerance_is_wanted);
	tcase_add_test(t, a_text_that_is_too_long_is_refused_with_the_limit);
	tcase_add_test(t, a_policy_that_is_not_there_is_said_to_be_missing);
	tcase_add_test(t, a_text_from_memory_opens_no_file);
	tcase_add_test(t, bytes_that_are_no_text_are_refused);
	tcase_add_test(t, bounds_hold_to_the_unit);
	tcase_add_test(t, ratios_hold_or_fail);
	tcase_add_test(t, a_unit_may_stand_apart_and_a_rate_per_second_be_written_out);
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
