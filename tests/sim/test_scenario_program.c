/* SPDX-License-Identifier: MIT */
/* Scenarios with programs: what a line becomes, what is refused and how, what can be measured. */
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

static enum iosched_sim_state state(unsigned i)
{
	struct iosched_sim_verdict v;

	ck_assert_int_eq(iosched_sim_scenario_check(s, i, results, &v), 0);
	return v.state;
}

static const struct iosched_sim_config *config(unsigned i)
{
	struct iosched_sim_case c;

	ck_assert_int_eq(iosched_sim_scenario_case(s, i, &c), 0);
	return c.config;
}

#define BASE "device hdd\nhost plugged\nlength 1s\npolicy noop\n"
#define SMALL "program sysbench files=1 file_bytes=1MiB threads=3\n"

START_TEST(every_word_of_a_program_arrives_in_the_config)
{
	const struct iosched_sim_program *p;

	load(BASE "stream a x2 read\n"
		  "program sysbench as files threads=3\n  files=1 class idle level 6 weight 200\n"
		  "  group g group-weight 300\n");
	ck_assert_int_eq(config(0)->block_layer, IOSCHED_SIM_PLUGGED);
	ck_assert_uint_eq(config(0)->program_count, 1);
	p = &config(0)->programs[0];
	ck_assert_str_eq(p->name, "sysbench");
	ck_assert_str_eq(p->label, "files");
	ck_assert_uint_eq(p->setting_count, 2);
	ck_assert_str_eq(p->settings[1].name, "files");
	ck_assert_str_eq(p->settings[1].value, "1");
	ck_assert_uint_eq(p->first_context, 3);
	ck_assert_uint_eq(p->prio_class, IOSCHED_IDLE);
	ck_assert_uint_eq(p->prio_level, 7);
	ck_assert_uint_eq(p->weight, 200);
	ck_assert_uint_eq(p->group, 1);
	ck_assert_uint_eq(p->group_weight, 300);
}
END_TEST

START_TEST(every_program_there_is_can_be_named)
{
	const char *name;

	for (unsigned i = 0; (name = iosched_sim_program_at(i, NULL)) != NULL; i++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "device raid10\nlength 10ms\npolicy noop\nprogram %s\n", name);
		run(text);
		ck_assert_str_eq(results[0]->programs[0].name, name);
	}
}
END_TEST

START_TEST(a_policy_line_may_change_a_program_or_leave_it_out)
{
	load("device hdd\nlength 1s\n"
	     "program sysbench threads=3\nprogram pgbench\n"
	     "policy noop\npolicy noop with sysbench threads=5 files=2 as five\n"
	     "policy noop without sysbench with pgbench clients=2 as alone\n");
	ck_assert_uint_eq(config(0)->programs[0].setting_count, 1);
	ck_assert_uint_eq(config(1)->program_count, 2);
	ck_assert_uint_eq(config(1)->programs[0].setting_count, 3);
	ck_assert_str_eq(config(1)->programs[0].settings[1].value, "5");
	ck_assert_uint_eq(config(1)->programs[1].setting_count, 0);
	ck_assert_uint_eq(config(2)->program_count, 1);
	ck_assert_str_eq(config(2)->programs[0].settings[0].value, "2");
	ck_assert_uint_eq(config(2)->programs[0].first_context,
			  config(0)->programs[1].first_context);
}
END_TEST

START_TEST(what_a_program_gets_done_is_measured)
{
	/* 64 blocks of 16 KiB, each read once whatever thread reads it. */
	run(BASE SMALL "program pgbench as database clients=2\n"
		       "expect requests(sysbench) noop >= 8\n"
		       "expect delivered(sysbench) noop > 100 KB/s\n"
		       "expect operations(database) noop > 10\n"
		       "expect mean_sync(database) noop < 5ms\n"
		       "expect share(database) noop > 50%\n"
		       "expect max_total(database:write) noop < 100ms\n"
		       "expect requests(database.2:read) noop > 5\n"
		       "expect requests(database.1:read) noop < 1000\n"
		       "expect mean_sync(sysbench) noop < 5ms\n");
	for (unsigned i = 0; i < 8; i++)
		ck_assert_msg(state(i) == IOSCHED_SIM_HOLDS, "expectation %u", i);
	ck_assert_int_eq(state(8), IOSCHED_SIM_FAILS); /* it syncs nothing */
	ck_assert_uint_eq(results[0]->programs[0].bytes, MIB);
	ck_assert_uint_eq(results[0]->programs[0].first_context, 1);
}
END_TEST

START_TEST(processes_that_a_policy_line_adds_are_measured_too)
{
	run(BASE "program sysbench threads=1\npolicy noop with sysbench threads=4 as four\n"
		 "expect throughput(sysbench) four >= 0.9 * noop\n"
		 "expect throughput(sysbench.1) four < 0.9 * noop\n");
	ck_assert_int_eq(state(0), IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(state(1), IOSCHED_SIM_HOLDS);
}
END_TEST

START_TEST(processes_have_the_programs_name_class_and_weight)
{
	const struct iosched_sim_row *row;

	run("device hdd\nlength 1s\npolicy fair-deadline\npolicy noop\n"
	    "program sysbench as files threads=2 weight 300 class idle\n");
	row = iosched_sim_result_row(results[0], 2, IOSCHED_SIM_ALL_OPS);
	ck_assert_str_eq(row->name, "files.2");
	ck_assert_uint_eq(row->weight, 300);
}
END_TEST

START_TEST(an_idle_program_gives_way)
{
	run("device hdd\nhost plugged\nlength 5s\npolicy cfq\npolicy noop\n"
	    "program pgbench as database clients=2\nprogram bonnie-read as backup class idle\n"
	    "  offset=100GB\n"
	    "expect operations(database) cfq > 1.1 * noop\n"
	    "expect delivered(backup) cfq < 0.1 * noop\n");
	ck_assert_int_eq(state(0), IOSCHED_SIM_HOLDS);
	ck_assert_int_eq(state(1), IOSCHED_SIM_HOLDS);
}
END_TEST

START_TEST(a_refusal_names_line_and_likeness)
{
	refused(BASE "program sysbanch\n", -ENOENT,
		"test:5: \"sysbanch\" is not a program; did you mean \"sysbench\"?");
	refused(BASE "program sysbench\n  thraeds=3\n", -ENOENT,
		"test:5: \"thraeds\" is not a parameter of the program; did you mean \"threads\"?");
	refused(BASE "program sysbench threads 3\n", -EINVAL,
		"test:5: \"threads\" is not a word about programs: as, class, level, weight, "
		"group, "
		"group-weight, parameter=value");
	refused(BASE "program sysbench threads=many\n", -EINVAL,
		"test:5: program sysbench: threads: \"many\" is not a value in plain digits");
	refused(BASE "program sysbench threads=0\n", -ERANGE,
		"test:5: program sysbench: threads: 0 is outside 1..1024");
	refused(BASE "program bonnie-read offset=400GB\n", -ERANGE,
		"test:5: program bonnie-read: its file does not fit on the device");
	refused(BASE "program sysbench weight 3000\n", -ERANGE,
		"test:5: weight: 3000 is outside 1..1000");
	refused(BASE "program sysbench group g\n  group-weight 0\n", -ERANGE,
		"test:6: group-weight: 0 is outside 1..1000");
	refused(BASE "program sysbench group-weight 50\n", -EINVAL,
		"test:5: program sysbench has a group-weight and no group");
	refused(BASE "program pgbench:clients=4\n", -ENOENT,
		"test:5: \"pgbench:clients=4\" is not a program; with blanks: program pgbench "
		"clients=4");
	refused(BASE SMALL SMALL, -EINVAL, "test:6: a second stream or program \"sysbench\"");
	refused(BASE SMALL "policy deadline with sysbench files=9999 as x\n", -ERANGE,
		"test:6: program sysbench: files: 9999 is outside 1..4096");
	refused(BASE SMALL "policy deadline with sysbanch files=9\n", -EINVAL,
		"test:6: \"sysbanch\" is not a program; did you mean \"sysbench\"?");
	refused(BASE SMALL "stream a read\npolicy deadline with a files=9\n", -EINVAL,
		"test:7: a is a stream: only programs have parameters that a policy line can "
		"change");
	refused(BASE SMALL "stream a read after sysbench\n", -EINVAL,
		"test:6: stream a cannot wait for a program");
	refused(BASE SMALL "expect operations noop > 3\n", -EINVAL,
		"test:6: operations is of a program, as a whole");
	refused(BASE SMALL "expect iops(sysbench.4) noop > 3\n", -EINVAL,
		"test:6: program sysbench has no process 4");
	refused("device hdd\nlength 1s\npolicy noop\n", -EINVAL,
		"test:3: there is no stream and no program");
	refused(BASE SMALL "policy noop without sysbench as x\n", -EINVAL,
		"test:1: policy x has no stream or program left");
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("scenario_program");
	TCase *t = tcase_create("scenario_program");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, every_word_of_a_program_arrives_in_the_config);
	tcase_add_test(t, every_program_there_is_can_be_named);
	tcase_add_test(t, a_policy_line_may_change_a_program_or_leave_it_out);
	tcase_add_test(t, what_a_program_gets_done_is_measured);
	tcase_add_test(t, processes_that_a_policy_line_adds_are_measured_too);
	tcase_add_test(t, processes_have_the_programs_name_class_and_weight);
	tcase_add_test(t, an_idle_program_gives_way);
	tcase_add_test(t, a_refusal_names_line_and_likeness);
	suite_add_tcase(all, t);
	return all;
}

int main(void)
{
	return run_suite(suite());
}
