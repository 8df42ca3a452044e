/* SPDX-License-Identifier: MIT */
/* Replays: records at their times, or as fast as the device takes them. */
#include "run_rig.h"

static struct source {
	struct iosched_sim_record records[64];
	unsigned count;
	unsigned next;
	int error; /* at the end */
} source;

static int next_record(void *user, struct iosched_sim_record *out)
{
	struct source *from = user;

	if (from->next == from->count)
		return from->error;
	*out = from->records[from->next++];
	return 1;
}

static struct iosched_sim_replay replay;

static void add(uint64_t time_ns, uint64_t offset, uint64_t length, uint64_t context)
{
	source.records[source.count++] = (struct iosched_sim_record){
		.time_ns = time_ns, .offset = offset, .length = length, .context = context};
}

static void replay_setup(void)
{
	setup();
	memset(&source, 0, sizeof(source));
	iosched_sim_replay_init(&replay, sizeof(replay));
	replay.next = next_record;
	replay.user = &source;
	c.stream_count = 0;
	c.replays = &replay;
	c.replay_count = 1;
	c.length_ns = IOSCHED_NEVER;
	look_on();
}

START_TEST(records_come_at_their_scaled_times)
{
	for (unsigned i = 0; i < 10; i++)
		add(5 * SEC + i * 10 * MS, i * GB, 4096, 3);
	run();
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(seen.at[i], i * 10 * MS);
	memset(&seen, 0, sizeof(seen));
	source.next = 0;
	replay.time_permille = 250;
	replay.start_ns = SEC;
	run();
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(seen.at[i], SEC + i * 5 * MS / 2);
	ck_assert_uint_eq(row(3, IOSCHED_READ)->requests, 10);
}
END_TEST

START_TEST(records_of_one_instant_are_queued_before_the_first_is_issued)
{
	c.max_merge_bytes = MIB;
	for (unsigned i = 0; i < 10; i++)
		add(0, i * 4096, 4096, i % 3);
	run();
	ck_assert_uint_eq(r->completed, 10);
	ck_assert_uint_eq(r->device.commands, 1);
	ck_assert_uint_eq(all()->merged, 9);
	ck_assert_uint_eq(all()->bytes, 40960);
	/* the device's millisecond is shared by bytes: 4, 3 and 3 of 10 requests */
	ck_assert_uint_eq(row(0, IOSCHED_SIM_ALL_OPS)->device_ns, 4 * MS / 10);
	ck_assert_uint_eq(row(2, IOSCHED_SIM_ALL_OPS)->device_ns, 3 * MS / 10);
}
END_TEST

START_TEST(at_most_max_outstanding_are_with_the_host)
{
	for (unsigned i = 0; i < 20; i++)
		add(i, i * GB, 4096, 1);
	replay.time_permille = 0;
	replay.max_outstanding = 2;
	run();
	ck_assert_uint_eq(r->completed, 20);
	ck_assert_uint_eq(all()->total.max, 2 * MS);
}
END_TEST

START_TEST(odd_records_are_counted)
{
	add(10 * MS, 0, 4096, 1);
	add(5 * MS, GB, 4096, 1); /* earlier */
	add(20 * MS, GB, 0, 1);	  /* nothing to do */
	add(30 * MS, UINT64_C(1) << 50, 4096, 1);
	source.records[source.count++] =
		(struct iosched_sim_record){.time_ns = 40 * MS, .op = IOSCHED_FLUSH};
	replay.fold = 1;
	run();
	ck_assert_uint_eq(r->completed, 4);
	ck_assert_uint_eq(r->unordered_records, 1);
	ck_assert_uint_eq(r->skipped_records, 1);
	ck_assert_uint_eq(r->folded_records, 1);
	ck_assert_uint_eq(row(0, IOSCHED_FLUSH)->requests, 1);
}
END_TEST

START_TEST(bad_records_end_the_run_with_their_number)
{
	c.event = NULL;
	add(0, 0, 4096, 1);
	add(1, UINT64_C(1) << 50, 4096, 1);
	refused(-ERANGE, "replay 1, record 2 reaches past the end of the device");
	source.next = 0;
	source.records[1].offset = 0;
	source.records[1].op = 9;
	refused(-EINVAL, "replay 1, record 2 has an op, class or level out of range");
	source.next = 0;
	source.records[1].op = 0;
	source.error = -EIO;
	refused(-EIO, "replay 1, record 3 could not be read");
	source.next = 0;
	source.error = 0;
	source.records[1].flags = 1u << 31;
	refused(-EINVAL, "the queue refuses a request of context 1: Invalid argument");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replays");
	TCase *t;

	t = tcase_create("replays");
	tcase_add_checked_fixture(t, replay_setup, teardown);
	tcase_add_test(t, records_come_at_their_scaled_times);
	tcase_add_test(t, records_of_one_instant_are_queued_before_the_first_is_issued);
	tcase_add_test(t, at_most_max_outstanding_are_with_the_host);
	tcase_add_test(t, odd_records_are_counted);
	tcase_add_test(t, bad_records_end_the_run_with_their_number);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
