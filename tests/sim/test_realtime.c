/* SPDX-License-Identifier: MIT */
/*
 * A simulated disk in real time. The machine may be busy, so nothing here asserts a time, only
 * ratios of times measured side by side, and what must be true whatever the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <iosched/sim.h>

#include "support.h"

#define BLOCK 4096u
#define GIB (UINT64_C(1) << 30)

/* One command and who waits for it. */
struct order {
	struct iosched_sim_disk_io io;
	struct iovec iov;
	sem_t done;
	int error;
	int calls;
};

static struct iosched_sim_disk *disk;

static struct iosched_sim_disk_params params(const char *device)
{
	struct iosched_sim_disk_params p;

	iosched_sim_disk_params_init(&p, sizeof(p));
	p.device = device;
	return p;
}

static void open_disk(const struct iosched_sim_disk_params *p)
{
	struct iosched_sim_error why;

	ck_assert_msg(iosched_sim_disk_open(&disk, p, &why) == 0, "%s", why.text);
}

static void ended(struct iosched_sim_disk_io *io, int error)
{
	struct order *o = io->user;

	o->error = error;
	o->calls++;
	sem_post(&o->done);
}

static void prepare(struct order *o, enum iosched_op op, uint64_t offset, void *data, size_t length)
{
	memset(o, 0, sizeof(*o));
	sem_init(&o->done, 0, 0);
	o->iov = (struct iovec){data, length};
	o->io.op = (uint8_t)op;
	o->io.offset = offset;
	o->io.length = length;
	o->io.iov = data != NULL ? &o->iov : NULL;
	o->io.iov_count = data != NULL;
	o->io.done = ended;
	o->io.user = o;
}

static int wait_for(struct order *o)
{
	while (sem_wait(&o->done) != 0)
		ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(o->calls, 1);
	return o->error;
}

static int run(enum iosched_op op, uint64_t offset, void *data, size_t length)
{
	struct order o;

	prepare(&o, op, offset, data, length);
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), 0);
	return wait_for(&o);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_reads_once(unsigned n, uint64_t step)
{
	uint64_t begin = now_ns();

	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(run(IOSCHED_READ, i * step % (100 * GIB), NULL, BLOCK), 0);
	return now_ns() - begin;
}

/* How long @n reads take, @step bytes apart, one after the other: the best of three, since a
 * busy machine only ever adds. */
static uint64_t time_reads(unsigned n, uint64_t step)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t t = time_reads_once(n, step);

		best = t < best ? t : best;
	}
	return best;
}

START_TEST(what_was_written_is_read_back)
{
	struct iosched_sim_disk_params p = params("null");
	char in[BLOCK], out[BLOCK];

	open_disk(&p);
	memset(in, 'x', sizeof(in));
	ck_assert_int_eq(run(IOSCHED_WRITE, 7 * BLOCK, in, BLOCK), 0);
	ck_assert_int_eq(run(IOSCHED_FLUSH, 0, NULL, 0), 0);
	ck_assert_int_eq(run(IOSCHED_READ, 7 * BLOCK, out, BLOCK), 0);
	ck_assert_mem_eq(in, out, BLOCK);
	ck_assert_int_eq(run(IOSCHED_DISCARD, 0, NULL, 16 * BLOCK), 0);
	iosched_sim_disk_close(disk);
}
END_TEST

START_TEST(a_file_keeps_the_data_and_is_made_long_enough)
{
	char path[] = "realtime-XXXXXX";
	struct iosched_sim_disk_params p = params("null");
	struct stat st;
	char in[BLOCK], out[BLOCK];

	close(mkstemp(path));
	p.path = path;
	p.length = 64 * BLOCK;
	open_disk(&p);
	memset(in, 'y', sizeof(in));
	ck_assert_int_eq(run(IOSCHED_WRITE, 63 * BLOCK, in, BLOCK), 0);
	iosched_sim_disk_close(disk);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, 64 * BLOCK);
	p.length = 0;
	open_disk(&p);
	ck_assert_uint_eq(iosched_sim_disk_length(disk), 64 * BLOCK);
	ck_assert_int_eq(run(IOSCHED_READ, 63 * BLOCK, out, BLOCK), 0);
	ck_assert_mem_eq(in, out, BLOCK);
	iosched_sim_disk_close(disk);
	unlink(path);
}
END_TEST

START_TEST(several_buffers_are_one_command)
{
	struct iosched_sim_disk_params p = params("null");
	static char data[100][16];
	char out[sizeof(data)];
	struct iovec iov[100];
	struct order o;

	open_disk(&p);
	for (unsigned i = 0; i < 100; i++) {
		memset(data[i], 'a' + (int)(i % 26), sizeof(data[i]));
		iov[i] = (struct iovec){data[i], sizeof(data[i])};
	}
	prepare(&o, IOSCHED_WRITE, 3, data, sizeof(data));
	o.io.iov = iov;
	o.io.iov_count = 100;
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), 0);
	ck_assert_int_eq(wait_for(&o), 0);
	ck_assert_uint_eq(o.io.moved, sizeof(data));
	ck_assert_int_eq(run(IOSCHED_READ, 3, out, sizeof(out)), 0);
	ck_assert_mem_eq(data, out, sizeof(out));
	iosched_sim_disk_close(disk);
}
END_TEST

START_TEST(far_reads_take_longer_than_near_ones)
{
	struct iosched_sim_disk_params p = params("hdd");
	uint64_t near, far;

	p.time_permille = 200;
	open_disk(&p);
	near = time_reads(40, BLOCK);
	far = time_reads(40, 37 * GIB + 5 * BLOCK);
	iosched_sim_disk_close(disk);
	ck_assert_msg(far > 4 * near, "far %llu ns, near %llu ns", (unsigned long long)far,
		      (unsigned long long)near);
}
END_TEST

START_TEST(half_the_scale_is_twice_as_fast)
{
	struct iosched_sim_disk_params p = params("fixed");
	uint64_t whole, half;

	p.time_permille = 4000;
	open_disk(&p);
	whole = time_reads(60, BLOCK);
	iosched_sim_disk_close(disk);
	p.time_permille = 2000;
	open_disk(&p);
	half = time_reads(60, BLOCK);
	iosched_sim_disk_close(disk);
	ck_assert_msg(whole > half * 13 / 10, "whole %llu ns, half %llu ns",
		      (unsigned long long)whole, (unsigned long long)half);
	/* Never faster than the drive: 60 commands of 1 ms at 4 and 2 times their length. */
	ck_assert_uint_ge(whole, UINT64_C(240000000));
	ck_assert_uint_ge(half, UINT64_C(120000000));
}
END_TEST

START_TEST(more_than_the_depth_wait_their_turn)
{
	struct iosched_sim_disk_params p = params("hdd");
	static struct order o[200];
	struct iosched_sim_device_stats stats;

	p.time_permille = 10;
	open_disk(&p);
	for (unsigned i = 0; i < 200; i++) {
		prepare(&o[i], IOSCHED_READ, i * UINT64_C(7919) * BLOCK, NULL, BLOCK);
		ck_assert_int_eq(iosched_sim_disk_submit(disk, &o[i].io), 0);
	}
	for (unsigned i = 0; i < 200; i++)
		ck_assert_int_eq(wait_for(&o[i]), 0);
	iosched_sim_disk_stats(disk, &stats);
	ck_assert_uint_eq(stats.commands, 200);
	iosched_sim_disk_close(disk);
}
END_TEST

START_TEST(time_is_booked_to_the_owner)
{
	struct iosched_sim_disk_params p = params("fixed");
	static struct order o[30];

	p.time_permille = 100;
	open_disk(&p);
	for (unsigned i = 0; i < 30; i++) {
		prepare(&o[i], IOSCHED_READ, i * BLOCK, NULL, BLOCK);
		o[i].io.owner = i % 3 == 0 ? 1 : 2;
		ck_assert_int_eq(iosched_sim_disk_submit(disk, &o[i].io), 0);
	}
	for (unsigned i = 0; i < 30; i++)
		ck_assert_int_eq(wait_for(&o[i]), 0);
	ck_assert_uint_eq(iosched_sim_disk_owner_ns(disk, 2),
			  2 * iosched_sim_disk_owner_ns(disk, 1));
	ck_assert_uint_eq(iosched_sim_disk_owner_ns(disk, 3), 0);
	iosched_sim_disk_close(disk);
}
END_TEST

/* Submitting from many threads. */
#define EACH 500

static void *submitter(void *arg)
{
	uint64_t first = *(uint64_t *)arg;
	uint64_t value[2];

	for (uint64_t i = 0; i < EACH; i++) {
		value[0] = first + i;
		ck_assert_int_eq(run(IOSCHED_WRITE, (first + i) * 8, &value[0], 8), 0);
		ck_assert_int_eq(run(IOSCHED_READ, (first + i) * 8, &value[1], 8), 0);
		ck_assert_uint_eq(value[0], value[1]);
	}
	return NULL;
}

START_TEST(any_thread_may_submit)
{
	struct iosched_sim_disk_params p = params("null");
	pthread_t threads[4];
	uint64_t first[4];

	open_disk(&p);
	for (unsigned i = 0; i < 4; i++) {
		first[i] = i * EACH;
		ck_assert_int_eq(pthread_create(&threads[i], NULL, submitter, &first[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	iosched_sim_disk_close(disk);
}
END_TEST

static void again(struct iosched_sim_disk_io *io, int error)
{
	struct order *o = io->user;

	o->error = error;
	if (++o->calls < 100)
		ck_assert_int_eq(iosched_sim_disk_submit(disk, io), 0);
}

START_TEST(done_may_submit_and_close_waits_for_all)
{
	struct iosched_sim_disk_params p = params("fixed");
	struct order o;

	p.time_permille = 50;
	open_disk(&p);
	prepare(&o, IOSCHED_READ, 0, NULL, BLOCK);
	o.io.done = again;
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), 0);
	iosched_sim_disk_close(disk);
	ck_assert_int_eq(o.calls, 100);
	ck_assert_int_eq(o.error, 0);
}
END_TEST

static int bad_sector(void *user, const struct iosched_sim_disk_io *io, uint64_t *limit)
{
	uint64_t bad = *(const uint64_t *)user;

	if (bad < io->offset || bad >= io->offset + io->length)
		return 0;
	if (io->op == IOSCHED_WRITE)
		return -EIO;
	*limit = bad - io->offset;
	return 0;
}

START_TEST(a_fault_ends_a_command_with_its_error_or_short)
{
	struct iosched_sim_disk_params p = params("null");
	uint64_t bad = 10 * BLOCK;
	char data[2 * BLOCK];
	struct order o;

	p.fault = bad_sector;
	p.user = &bad;
	open_disk(&p);
	memset(data, 'z', sizeof(data));
	ck_assert_int_eq(run(IOSCHED_WRITE, 8 * BLOCK, data, sizeof(data)), 0);
	ck_assert_int_eq(run(IOSCHED_WRITE, 9 * BLOCK, data, sizeof(data)), -EIO);
	prepare(&o, IOSCHED_READ, 9 * BLOCK, data, sizeof(data));
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), 0);
	ck_assert_int_eq(wait_for(&o), 0);
	ck_assert_uint_eq(o.io.moved, BLOCK);
	iosched_sim_disk_close(disk);
}
END_TEST

START_TEST(a_bad_command_is_refused)
{
	struct iosched_sim_disk_params p = params("null");
	char data[BLOCK];
	struct order o;

	p.length = 16 * BLOCK;
	open_disk(&p);
	prepare(&o, IOSCHED_READ, 16 * BLOCK, data, BLOCK);
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -ERANGE);
	prepare(&o, IOSCHED_READ, UINT64_MAX - 1, data, BLOCK);
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -ERANGE);
	prepare(&o, IOSCHED_READ, 0, NULL, 0);
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -EINVAL);
	prepare(&o, IOSCHED_READ, 0, data, BLOCK);
	o.io.length = BLOCK + 1;
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -EINVAL);
	prepare(&o, IOSCHED_READ, 0, data, BLOCK);
	o.io.op = 17;
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -EINVAL);
	prepare(&o, IOSCHED_READ, 0, data, BLOCK);
	o.io.done = NULL;
	ck_assert_int_eq(iosched_sim_disk_submit(disk, &o.io), -EINVAL);
	iosched_sim_disk_close(disk);
}
END_TEST

static void refused(const struct iosched_sim_disk_params *p, int err)
{
	struct iosched_sim_error why;

	ck_assert_int_eq(iosched_sim_disk_open(&disk, p, &why), err);
	ck_assert_ptr_null(disk);
	ck_assert_str_ne(why.text, "");
}

START_TEST(a_bad_disk_is_refused_with_a_sentence)
{
	struct iosched_sim_disk_params p = params("floppy");
	struct iosched_sim_setting rpm = {"rpm", "never"};

	refused(&p, -ENOENT);
	p = params("null");
	p.time_permille = 0;
	refused(&p, -ERANGE);
	p = params("null");
	p.path = "no/such/folder/disk";
	refused(&p, -ENOENT);
	p = params("hdd");
	p.length = UINT64_C(1) << 60;
	refused(&p, -ERANGE);
	p = params("hdd");
	p.overrides = &rpm;
	p.override_count = 1;
	refused(&p, -EINVAL);
	p = params("hdd");
	p.size--;
	refused(&p, -EINVAL);
	iosched_sim_disk_close(NULL);
}
END_TEST

START_TEST(a_queue_is_told_what_the_disk_is)
{
	struct iosched_sim_disk_params p = params("hdd");
	struct iosched_params queue;

	open_disk(&p);
	iosched_params_init(&queue, sizeof(queue));
	iosched_sim_disk_describe(disk, &queue);
	ck_assert_uint_eq(queue.max_inflight, 31);
	ck_assert_uint_eq(queue.device_depth, 31);
	ck_assert_uint_eq(queue.rotational, 1);
	iosched_sim_disk_close(disk);
	p = params("null");
	open_disk(&p);
	iosched_sim_disk_describe(disk, &queue);
	ck_assert_uint_eq(queue.max_inflight, 31);
	ck_assert_uint_eq(queue.rotational, 0);
	iosched_sim_disk_close(disk);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("realtime");
	TCase *c = tcase_create("disk");

	tcase_set_timeout(c, 30);
	tcase_add_test(c, what_was_written_is_read_back);
	tcase_add_test(c, a_file_keeps_the_data_and_is_made_long_enough);
	tcase_add_test(c, several_buffers_are_one_command);
	tcase_add_test(c, far_reads_take_longer_than_near_ones);
	tcase_add_test(c, half_the_scale_is_twice_as_fast);
	tcase_add_test(c, more_than_the_depth_wait_their_turn);
	tcase_add_test(c, time_is_booked_to_the_owner);
	tcase_add_test(c, any_thread_may_submit);
	tcase_add_test(c, done_may_submit_and_close_waits_for_all);
	tcase_add_test(c, a_fault_ends_a_command_with_its_error_or_short);
	tcase_add_test(c, a_bad_command_is_refused);
	tcase_add_test(c, a_bad_disk_is_refused_with_a_sentence);
	tcase_add_test(c, a_queue_is_told_what_the_disk_is);
	suite_add_tcase(s, c);
	return run_suite(s);
}
