/* SPDX-License-Identifier: MIT */
/* Figures of whole devices: what is known of them from elsewhere, and what must be true of every
 * one. */
#include <iosched/sim.h>

#include "support.h"

static struct iosched_sim_stream s[3];
static struct iosched_sim_config c;
static struct iosched_sim_result *r;

static void setup(void)
{
	iosched_sim_config_init(&c, sizeof(c));
	c.streams = s;
	c.stream_count = 1;
	for (unsigned i = 0; i < 3; i++) {
		iosched_sim_stream_init(&s[i], sizeof(s[i]));
		s[i].context = i + 1;
	}
	r = NULL;
}

static void teardown(void)
{
	iosched_sim_result_free(r);
}

static void run(void)
{
	struct iosched_sim_error why;

	iosched_sim_result_free(r);
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s: %s", c.device, why.text);
}

static double iops(void)
{
	return (double)r->rows[0].milli_iops / 1000;
}

/* --- What is known from elsewhere --- */

/* An earlier, independent model of the disk: random reads of 4 KiB a second by depth. At depth 1
 * the equations leave this one no choice but 78.8 over the whole disk; see docs/simulator.md. */
START_TEST(random_reads_of_the_sata_disk_come_within_6_percent)
{
	static const struct {
		uint32_t depth;
		double rate;
	} known[] = {{1, 83}, {4, 110}, {8, 134}, {16, 163}, {31, 187}};

	c.device = "hdd";
	c.length_ns = 60 * SEC;
	s[0].pattern = IOSCHED_SIM_RANDOM;
	for (unsigned i = 0; i < 5; i++) {
		s[0].depth = known[i].depth;
		run();
		ck_assert_double_eq_tol(iops(), known[i].rate, .06 * known[i].rate);
	}
}
END_TEST

/* One reader of 128 KiB at each device's outer rate; what the preset is named for. */
START_TEST(a_sequential_reader_gets_the_rate_of_the_medium)
{
	static const struct {
		const char *device;
		double rate;
	} known[] = {{"hdd", 80e6},	 {"hdd-110", 110e6}, {"hdd-128", 128e6}, {"hdd-5400", 80e6},
		     {"hdd-10k", 125e6}, {"hdd-4200", 40e6}, {"raid0-2", 220e6}};

	s[0].request_bytes = 128 * KIB;
	s[0].region_length = GB;
	s[0].depth = 2; /* one to be read, one to wait */
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		c.device = known[i].device;
		run();
		ck_assert_msg((double)r->rows[0].bytes_per_s > .97 * known[i].rate &&
				      (double)r->rows[0].bytes_per_s < 1.01 * known[i].rate,
			      "%s: %llu", c.device, (unsigned long long)r->rows[0].bytes_per_s);
	}
}
END_TEST

/* --- What must be true of every one --- */

/* Three owners: random in both directions, sequential reads, sequential writes with fsync; they
 * meet in one region, so that requests of different owners merge. */
static void mixed_load(void)
{
	c.stream_count = 3;
	c.length_ns = IOSCHED_NEVER;
	s[0].pattern = IOSCHED_SIM_RANDOM;
	s[0].read_permyriad = 5000;
	s[0].depth = 16;
	s[0].max_requests = 1500;
	s[1].request_bytes = 64 * KIB;
	s[1].depth = 4;
	s[1].max_requests = 500;
	s[2] = s[1];
	s[2].context = 3;
	s[2].read_permyriad = 0;
	s[2].flush_every = 10;
	for (unsigned i = 0; i < 3; i++)
		s[i].region_length = 100 * MIB;
}

START_TEST(every_nanosecond_of_every_device_is_booked_to_an_owner)
{
	const struct iosched_sim_preset *p;

	mixed_load();
	for (unsigned n = 0; (p = iosched_sim_preset_at(n)) != NULL; n++) {
		uint64_t booked = 0;

		c.device = p->name;
		run();
		for (uint64_t owner = 1; owner <= 3; owner++)
			booked += iosched_sim_result_row(r, owner, IOSCHED_SIM_ALL_OPS)->device_ns;
		ck_assert_msg(booked == r->device.media_ns, "%s: %llu of %llu", p->name,
			      (unsigned long long)booked, (unsigned long long)r->device.media_ns);
		ck_assert_uint_eq(r->completed, r->submitted);
	}
}
END_TEST

START_TEST(every_device_does_the_same_twice)
{
	const struct iosched_sim_preset *p;

	mixed_load();
	for (unsigned n = 0; (p = iosched_sim_preset_at(n)) != NULL; n++) {
		uint64_t digest;

		c.device = p->name;
		run();
		digest = r->digest;
		run();
		ck_assert_msg(r->digest == digest, "%s", p->name);
	}
}
END_TEST

/* Shares follow what the medium did, not what was asked for: on the stripe the random reader's
 * 4 KiB cost far more than its share of the bytes. */
START_TEST(shares_are_of_the_time_of_the_disks)
{
	c.device = "raid0-2-wt";
	c.stream_count = 2;
	s[0].request_bytes = 128 * KIB;
	s[0].region_length = 10 * GB;
	s[1].pattern = IOSCHED_SIM_RANDOM;
	run();
	ck_assert_uint_gt(iosched_sim_result_row(r, 1, IOSCHED_SIM_ALL_OPS)->bytes,
			  20 * iosched_sim_result_row(r, 2, IOSCHED_SIM_ALL_OPS)->bytes);
	ck_assert_uint_gt(iosched_sim_result_row(r, 2, IOSCHED_SIM_ALL_OPS)->device_share_ppm,
			  200000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim figures");
	TCase *t = tcase_create("figures");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, random_reads_of_the_sata_disk_come_within_6_percent);
	tcase_add_test(t, a_sequential_reader_gets_the_rate_of_the_medium);
	tcase_add_test(t, every_nanosecond_of_every_device_is_booked_to_an_owner);
	tcase_add_test(t, every_device_does_the_same_twice);
	tcase_add_test(t, shares_are_of_the_time_of_the_disks);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
