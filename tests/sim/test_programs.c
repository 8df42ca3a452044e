/* SPDX-License-Identifier: MIT */
/* Programs and the plugging block layer, by whole runs. */
#include <errno.h>
#include <iosched/sim.h>
#include <string.h>

#include "support.h"

static struct iosched_sim_config c;
static struct iosched_sim_program p;
static struct iosched_sim_setting settings[8];
static struct iosched_sim_stream s;
static struct iosched_sim_result *r;
static struct iosched_sim_error why;

static void setup(void)
{
	iosched_sim_config_init(&c, sizeof(c));
	p = (struct iosched_sim_program){.settings = settings, .first_context = 1};
	c.programs = &p;
	c.program_count = 1;
	c.length_ns = 2 * SEC;
	c.block_layer = IOSCHED_SIM_PLUGGED;
	c.audit = 1;
	r = NULL;
}

static void teardown(void)
{
	iosched_sim_result_free(r);
}

static void set(const char *name, const char *value)
{
	settings[p.setting_count++] = (struct iosched_sim_setting){name, value};
}

static void run(const char *program)
{
	p.name = program;
	iosched_sim_result_free(r);
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
}

static void refused(const char *program, int err, const char *sentence)
{
	p.name = program;
	ck_assert_int_eq(iosched_sim_run(&c, &r, &why), err);
	ck_assert_str_eq(why.text, sentence);
	ck_assert_ptr_null(r);
}

/* --- Programs --- */

START_TEST(every_program_runs_under_every_policy_and_ends_in_order)
{
	const struct iosched_policy *policy;
	const char *name;

	c.device = "raid10"; /* room for bonnie's file */
	c.length_ns = SEC / 10;
	for (unsigned i = 0; (name = iosched_sim_program_at(i, NULL)) != NULL; i++) {
		for (unsigned k = 0; (policy = iosched_policy_at(k)) != NULL; k++) {
			c.policy = policy;
			run(name);
			ck_assert_str_eq(r->programs[0].name, name);
			ck_assert_uint_eq(r->submitted, r->completed + r->returned);
		}
	}
}
END_TEST

START_TEST(a_program_that_is_done_ends_the_run)
{
	set("files", "1");
	set("file_bytes", "1MiB");
	c.length_ns = 100 * SEC;
	run("sysbench");
	ck_assert_uint_eq(r->programs[0].bytes, MIB);
	ck_assert_uint_eq(r->programs[0].operations, 64);
	ck_assert_uint_lt(r->end, SEC);
}
END_TEST

START_TEST(a_page_is_read_once_however_many_threads_want_it)
{
	set("files", "1");
	set("file_bytes", "8MiB");
	set("threads", "7");
	c.length_ns = 100 * SEC;
	run("sysbench");
	ck_assert_uint_eq(iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_READ)->bytes,
			  8 * MIB);
}
END_TEST

/* 2048 pages: twelve in the inode, 1024 and 1012 in two blocks. */
START_TEST(blocks_that_say_where_pages_lie_are_read_once_and_before_them)
{
	set("files", "1");
	set("file_bytes", "8MiB");
	set("threads", "7");
	set("map_pages", "1024");
	c.length_ns = 100 * SEC;
	run("sysbench");
	ck_assert_uint_eq(r->programs[0].bytes, 8 * MIB);
	ck_assert_uint_eq(iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_READ)->bytes,
			  8 * MIB + 8 * KIB);
	ck_assert_uint_lt(r->end, SEC); /* they lie in the way */
}
END_TEST

START_TEST(files_and_the_blocks_of_theirs_must_fit)
{
	set("files", "1");
	set("file_bytes", "250059350016"); /* the whole disk */
	run("sysbench");
	set("map_pages", "1024");
	refused("sysbench", -ERANGE, "program 1 (sysbench): its files do not fit on the device");
}
END_TEST

START_TEST(a_database_waits_for_its_log)
{
	run("pgbench");
	ck_assert_uint_gt(r->programs[0].operations, 0);
	ck_assert_uint_gt(r->programs[0].syncs, 0);
	ck_assert_uint_le(r->programs[0].syncs, r->programs[0].operations + 8);
}
END_TEST

START_TEST(with_barriers_each_log_write_is_followed_by_a_flush)
{
	set("barrier", "on");
	run("pgbench");
	ck_assert_uint_ge(r->device.flushes, r->programs[0].syncs);
}
END_TEST

static uint64_t written(void)
{
	return iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_WRITE)->bytes;
}

/* The first file is made before the first commit, and in two seconds no second is needed. */
START_TEST(a_new_file_of_the_log_is_filled_before_it_is_written)
{
	uint64_t log;

	set("clients", "1");
	run("pgbench");
	log = written();
	set("segment_bytes", "16MiB");
	run("pgbench");
	ck_assert_uint_ge(written(), 16 * MIB);
	ck_assert_uint_le(written(), 16 * MIB + log);
	ck_assert_uint_gt(r->programs[0].syncs, 0);
}
END_TEST

START_TEST(pages_that_a_database_changes_are_written_back_in_bursts)
{
	set("clients", "2");
	set("changed_permille", "1000");
	set("flush_ns", "500ms");
	run("pgbench");
	/* the log in the clients' names, the pages in the flusher's */
	ck_assert_uint_gt(iosched_sim_result_row(r, 1, IOSCHED_WRITE)->requests, 20);
	ck_assert_uint_gt(iosched_sim_result_row(r, 3, IOSCHED_WRITE)->requests, 20);
	ck_assert_ptr_null(iosched_sim_result_row(r, 3, IOSCHED_READ));
}
END_TEST

START_TEST(what_is_rewritten_has_been_read)
{
	uint64_t read, back;

	c.device = "raid10";
	run("bonnie-rewrite");
	read = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_READ)->bytes;
	back = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_WRITE)->bytes;
	ck_assert_uint_gt(back, 0);
	ck_assert_uint_le(back, read);
}
END_TEST

START_TEST(warm_up_is_not_scored)
{
	uint64_t whole;

	run("sysbench");
	whole = r->programs[0].bytes;
	c.warmup_ns = SEC;
	run("sysbench");
	ck_assert_uint_lt(r->programs[0].bytes, whole * 6 / 10);
	ck_assert_uint_le(r->programs[0].elapsed_ns, SEC);
}
END_TEST

START_TEST(one_config_is_one_run)
{
	uint64_t digest;

	c.policy = iosched_policy_find("cfq-2.6.32");
	run("dump");
	digest = r->digest;
	run("dump");
	ck_assert_uint_eq(r->digest, digest);
	c.seed = 2;
	run("dump");
	ck_assert_uint_ne(r->digest, digest);
}
END_TEST

START_TEST(parameters_are_described)
{
	struct iosched_sim_param param;
	unsigned n = 0;

	while (iosched_sim_program_param_at("nfs", n, &param) == 0) {
		ck_assert_uint_le(param.min, param.initial);
		ck_assert_uint_le(param.initial, param.max);
		n++;
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_int_eq(iosched_sim_program_param_at("nfs", n, &param), -ERANGE);
	ck_assert_int_eq(iosched_sim_program_param_at("nosuch", 0, &param), -ENOENT);
}
END_TEST

START_TEST(mistakes_get_a_sentence)
{
	refused("nosuch", -ENOENT, "there is no program \"nosuch\"");
	refused(NULL, -ENOENT, "there is no program \"\"");
	set("thread", "3");
	refused("sysbench", -ENOENT, "program 1 (sysbench): there is no parameter \"thread\"");
	settings[0] = (struct iosched_sim_setting){"threads", "0"};
	refused("sysbench", -ERANGE, "program 1 (sysbench): threads: 0 is outside 1..1024");
	settings[0] = (struct iosched_sim_setting){"files", "4096"};
	refused("sysbench", -ERANGE, "program 1 (sysbench): its files do not fit on the device");
	settings[0] = (struct iosched_sim_setting){"file_bytes", "1TB"};
	refused("nfs", -ERANGE, "program 1 (nfs): its file does not fit on the device");
	refused("bonnie-read", -ERANGE,
		"program 1 (bonnie-read): its file does not fit on the device");
	settings[0] = (struct iosched_sim_setting){"buffer_messages", "1"};
	refused("nfs", -ERANGE, "program 1 (nfs): its send buffer never lets a reply in");
	settings[0] = (struct iosched_sim_setting){"dirty_limit", "20MB"};
	refused("bonnie-write", -ERANGE,
		"program 1 (bonnie-write): dirty_low, dirty_high and dirty_limit do not rise, or "
		"not by dirty_chunk");
	settings[0] = (struct iosched_sim_setting){"record_bytes", "1MiB"};
	settings[1] = (struct iosched_sim_setting){"clients", "1024"};
	p.setting_count = 2;
	refused("pgbench", -ERANGE,
		"program 1 (pgbench): its log is shorter than one group commit");
	p.setting_count = 0;
	c.length_ns = IOSCHED_NEVER;
	refused("pgbench", -EINVAL, "program 1 (pgbench) never ends, and neither does the run");
	p.first_context = UINT64_MAX;
	refused("dump", -EINVAL, "program 1 (dump) has context numbers that are reserved");
	c.block_layer = 2;
	refused("sysbench", -EINVAL, "there is no such block layer");
}
END_TEST

/* --- The plug --- */

static void stream(uint32_t depth, uint64_t requests)
{
	iosched_sim_stream_init(&s, sizeof(s));
	s.pattern = IOSCHED_SIM_RANDOM;
	s.depth = depth;
	s.refill = 0;
	s.max_requests = requests;
	c.programs = NULL;
	c.program_count = 0;
	c.streams = &s;
	c.stream_count = 1;
	c.device = "fixed"; /* 1 ms, one at a time */
	p.name = NULL;
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
}

START_TEST(a_request_alone_stays_in_the_plug_for_three_milliseconds)
{
	stream(1, 1);
	ck_assert_uint_eq(r->end, 4 * MS);
}
END_TEST

START_TEST(four_requests_pull_the_plug)
{
	stream(4, 4);
	ck_assert_uint_eq(r->end, 4 * MS);
	ck_assert_uint_eq(r->held_ns, 0);
}
END_TEST

START_TEST(three_requests_do_not)
{
	stream(3, 3);
	ck_assert_uint_eq(r->end, 6 * MS);
	ck_assert_uint_eq(r->held_ns, 3 * MS);
}
END_TEST

START_TEST(an_eager_host_has_no_plug)
{
	c.block_layer = IOSCHED_SIM_EAGER;
	stream(1, 1);
	ck_assert_uint_eq(r->end, MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("programs");
	TCase *programs = tcase_create("programs");
	TCase *plug = tcase_create("plug");

	tcase_set_timeout(programs, 120);
	tcase_add_checked_fixture(programs, setup, teardown);
	tcase_add_test(programs, every_program_runs_under_every_policy_and_ends_in_order);
	tcase_add_test(programs, a_program_that_is_done_ends_the_run);
	tcase_add_test(programs, a_page_is_read_once_however_many_threads_want_it);
	tcase_add_test(programs, a_database_waits_for_its_log);
	tcase_add_test(programs, blocks_that_say_where_pages_lie_are_read_once_and_before_them);
	tcase_add_test(programs, files_and_the_blocks_of_theirs_must_fit);
	tcase_add_test(programs, a_new_file_of_the_log_is_filled_before_it_is_written);
	tcase_add_test(programs, pages_that_a_database_changes_are_written_back_in_bursts);
	tcase_add_test(programs, with_barriers_each_log_write_is_followed_by_a_flush);
	tcase_add_test(programs, what_is_rewritten_has_been_read);
	tcase_add_test(programs, warm_up_is_not_scored);
	tcase_add_test(programs, one_config_is_one_run);
	tcase_add_test(programs, parameters_are_described);
	tcase_add_test(programs, mistakes_get_a_sentence);
	suite_add_tcase(suite, programs);
	tcase_add_checked_fixture(plug, setup, teardown);
	tcase_add_test(plug, a_request_alone_stays_in_the_plug_for_three_milliseconds);
	tcase_add_test(plug, four_requests_pull_the_plug);
	tcase_add_test(plug, three_requests_do_not);
	tcase_add_test(plug, an_eager_host_has_no_plug);
	suite_add_tcase(suite, plug);
	return run_suite(suite);
}
