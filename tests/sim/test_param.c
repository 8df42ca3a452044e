/* SPDX-License-Identifier: MIT */
/* param and preset: device text, units, names, errors. */
#include "sim/param.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static uint64_t parsed(enum ios_sim_unit unit, const char *text)
{
	uint64_t out = 0;

	ck_assert_msg(ios_sim_param_parse(unit, text, &out) == 0, "%s", text);
	return out;
}

static void refused(enum ios_sim_unit unit, const char *text)
{
	uint64_t out;

	ck_assert_msg(ios_sim_param_parse(unit, text, &out) == -EINVAL, "%s", text);
}

START_TEST(values_carry_units)
{
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_NS, "8.5ms"), 8500000);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_NS, "60 us"), 60000);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_NS, "1.5s"), 1500000000);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_NS, "17"), 17);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BYTES, "64KiB"), 65536);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BYTES, "250GB"), 250 * GB);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BYTES, "3sectors"), 1536);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BYTES, "0.5MiB"), 524288);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_RATE, "80MB/s"), 80000000);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BOOL, "on"), 1);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BOOL, "off"), 0);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_BOOL, "1"), 1);
	ck_assert_uint_eq(parsed(IOS_SIM_UNIT_NONE, "18446744073709551615"), UINT64_MAX);
}
END_TEST

START_TEST(what_is_no_value_is_refused)
{
	refused(IOS_SIM_UNIT_NS, "8.5MB");
	refused(IOS_SIM_UNIT_NS, "-1ms");
	refused(IOS_SIM_UNIT_NS, "");
	refused(IOS_SIM_UNIT_NS, "ms");
	refused(IOS_SIM_UNIT_NS, "1.ms");
	refused(IOS_SIM_UNIT_NS, ".5ms");
	refused(IOS_SIM_UNIT_NS, "1.0000000001s");
	refused(IOS_SIM_UNIT_NS, "99999999999999s");
	refused(IOS_SIM_UNIT_NONE, "18446744073709551616");
	refused(IOS_SIM_UNIT_NONE, "10ms");
	refused(IOS_SIM_UNIT_BYTES, "99999999TiB");
	refused(IOS_SIM_UNIT_BOOL, "yes");
	refused(IOS_SIM_UNIT_RATE, "80MB");
}
END_TEST

START_TEST(lines_have_comments_blanks_and_numbers)
{
	const char *text = "# a disk\n\n  rpm = 7200 # fast\r\n\tdepth=31";
	struct ios_sim_line line = {0};
	struct iosched_sim_error why;

	ck_assert_int_eq(ios_sim_param_line(&text, &line, &why), 1);
	ck_assert_str_eq(line.name, "rpm");
	ck_assert_str_eq(line.value, "7200");
	ck_assert_uint_eq(line.number, 3);
	ck_assert_int_eq(ios_sim_param_line(&text, &line, &why), 1);
	ck_assert_str_eq(line.name, "depth");
	ck_assert_str_eq(line.value, "31");
	ck_assert_int_eq(ios_sim_param_line(&text, &line, &why), 0);
}
END_TEST

static struct ios_sim_engine engine;
static struct ios_sim_ledger ledger;

static int make(const char *name, const char *text, struct ios_sim_device **out,
		struct iosched_sim_error *why)
{
	struct ios_sim_device_choice c = {.name = name, .text = text, .text_name = "disk.conf"};

	return ios_sim_device_create(out, &c, &engine, &ledger, why);
}

static void fails(const char *text, int err, const char *sentence)
{
	struct ios_sim_device *d = NULL;
	struct iosched_sim_error why = {""};

	ck_assert_int_eq(make("hdd", text, &d, &why), err);
	ck_assert_str_eq(why.text, sentence);
}

START_TEST(errors_name_file_line_and_fault)
{
	fails("rpm = 7200\n\nrpn = 3\n", -ENOENT,
	      "disk.conf:3: the device has no parameter \"rpn\"");
	fails("rpm 7200\n", -EINVAL, "disk.conf:1: not a \"name = value\" line");
	fails("= 7200\n", -EINVAL, "disk.conf:1: not a \"name = value\" line");
	fails("overhead = 3KiB", -EINVAL, "disk.conf:1: overhead: \"3KiB\" is not a value in ns");
	fails("rpm = fast", -EINVAL, "disk.conf:1: rpm: \"fast\" is not a value in plain digits");
	fails("rpm = 7", -ERANGE, "disk.conf:1: rpm: 7 is outside 100..100000");
	fails("model = tape\n", -ENOENT, "disk.conf:1: there is no device model \"tape\"");
	fails("preset = x\n", -ENOENT, "disk.conf:1: there is no device \"x\"");
	fails("rate_outer = 1MB/s", -EINVAL, "rate_inner is above rate_outer");
	fails("seek_full = 1ms", -EINVAL,
	      "seek_track, seek_average and seek_full are not in rising order");
}
END_TEST

START_TEST(text_changes_what_the_preset_says_and_may_replace_it)
{
	struct ios_sim_device *d;
	struct iosched_sim_error why;

	ck_assert_int_eq(make("hdd", "depth = 4", &d, &why), 0);
	ck_assert_uint_eq(d->depth, 4);
	ck_assert_str_eq(d->model->name, "hdd");
	ck_assert(d->write_cache);
	ios_sim_device_destroy(d);
	ck_assert_int_eq(make("hdd", "depth = 4\npreset = hdd-15k\n", &d, &why), 0);
	ck_assert_uint_eq(d->depth, 32);
	ck_assert(!d->write_cache);
	ios_sim_device_destroy(d);
	ck_assert_int_eq(make("hdd", "model = fixed\nchannels = 8\n", &d, &why), 0);
	ck_assert_str_eq(d->model->name, "fixed");
	ck_assert_uint_eq(d->parallel, IOSCHED_PARALLEL_YES);
	ios_sim_device_destroy(d);
}
END_TEST

START_TEST(overrides_go_over_the_text)
{
	struct iosched_sim_setting o[] = {{"depth", "7"}, {"write_cache", "0"}};
	struct ios_sim_device_choice c = {
		.name = "hdd", .text = "depth = 4", .overrides = o, .override_count = 2};
	struct ios_sim_device *d;
	struct iosched_sim_error why;

	ck_assert_int_eq(ios_sim_device_create(&d, &c, &engine, &ledger, &why), 0);
	ck_assert_uint_eq(d->depth, 7);
	ck_assert(!d->write_cache);
	ios_sim_device_destroy(d);
}
END_TEST

START_TEST(every_preset_makes_a_device_of_its_model)
{
	const struct iosched_sim_preset *p;
	unsigned n = 0;

	for (; (p = iosched_sim_preset_at(n)) != NULL; n++) {
		struct ios_sim_device *d;
		struct iosched_sim_error why = {""};

		ck_assert_msg(make(p->name, NULL, &d, &why) == 0, "%s", why.text);
		ck_assert_str_eq(d->model->name, p->model);
		ck_assert_uint_gt(d->capacity, 0);
		ck_assert_uint_gt(d->depth, 0);
		ios_sim_device_destroy(d);
	}
	ck_assert_uint_ge(n, 5);
}
END_TEST

START_TEST(parameters_can_be_listed_with_the_preset_s_values)
{
	struct iosched_sim_param p;
	bool seen = false;
	unsigned i = 0;

	for (; iosched_sim_param_at("hdd-15k", i, &p) == 0; i++) {
		ck_assert_ptr_nonnull(p.doc);
		ck_assert(p.initial >= p.min && p.initial <= p.max);
		if (strcmp(p.name, "rpm") == 0) {
			seen = true;
			ck_assert_uint_eq(p.initial, 15000);
		}
	}
	ck_assert(seen);
	ck_assert_int_eq(iosched_sim_param_at("hdd-15k", i, &p), -ERANGE);
	ck_assert_int_eq(iosched_sim_param_at("none", 0, &p), -ENOENT);
}
END_TEST

/* The text of a file in tests/devices; the caller frees it. */
static char *read_file(const char *name)
{
	char path[512];
	char *text = calloc(1, 16384);
	const char *dir = getenv("srcdir");
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/devices/%s", dir != NULL ? dir : ".", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_uint_gt(fread(text, 1, 16383, f), 0);
	fclose(f);
	return text;
}

START_TEST(the_device_files_are_read)
{
	static const char *const files[] = {"sata-250g.conf", "sas-15k.conf", "two-channels.conf"};

	for (unsigned i = 0; i < 3; i++) {
		char *text = read_file(files[i]);
		struct ios_sim_device *d;
		struct iosched_sim_error why = {""};

		ck_assert_msg(make("null", text, &d, &why) == 0, "%s", why.text);
		ck_assert_str_ne(d->model->name, "null");
		ios_sim_device_destroy(d);
		free(text);
	}
}
END_TEST

/* What a device does under a load that touches all of it. */
static uint64_t digest_of(const char *device, const char *text)
{
	struct iosched_sim_stream s[2];
	struct iosched_sim_config c;
	struct iosched_sim_result *r;
	struct iosched_sim_error why;
	uint64_t digest;

	iosched_sim_stream_init(&s[0], sizeof(s[0]));
	s[0].depth = 40;
	s[0].read_permyriad = 6000;
	s[0].pattern = IOSCHED_SIM_RANDOM;
	s[0].max_requests = 3000;
	s[1] = s[0];
	s[1].context = 2;
	s[1].depth = 2;
	s[1].request_bytes = 128 * KIB;
	s[1].read_permyriad = 9000;
	s[1].pattern = IOSCHED_SIM_SEQUENTIAL;
	iosched_sim_config_init(&c, sizeof(c));
	c.device = device;
	c.device_text = text;
	c.streams = s;
	c.stream_count = 2;
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s: %s", device, why.text);
	digest = r->digest;
	iosched_sim_result_free(r);
	return digest;
}

START_TEST(every_preset_is_written_out_in_a_file_of_its_name)
{
	const struct iosched_sim_preset *p;

	for (unsigned n = 0; (p = iosched_sim_preset_at(n)) != NULL; n++) {
		char name[80];
		char *text;

		snprintf(name, sizeof(name), "%s.conf", p->name);
		text = read_file(name);
		ck_assert_msg(digest_of(p->name, NULL) == digest_of("null", text), "%s", name);
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim param");
	TCase *t = tcase_create("param");

	tcase_add_test(t, values_carry_units);
	tcase_add_test(t, what_is_no_value_is_refused);
	tcase_add_test(t, lines_have_comments_blanks_and_numbers);
	tcase_add_test(t, errors_name_file_line_and_fault);
	tcase_add_test(t, text_changes_what_the_preset_says_and_may_replace_it);
	tcase_add_test(t, overrides_go_over_the_text);
	tcase_add_test(t, every_preset_makes_a_device_of_its_model);
	tcase_add_test(t, parameters_can_be_listed_with_the_preset_s_values);
	tcase_add_test(t, the_device_files_are_read);
	tcase_add_test(t, every_preset_is_written_out_in_a_file_of_its_name);
	suite_add_tcase(s, t);
	return run_suite(s);
}
