/* SPDX-License-Identifier: MIT */
/*
 * uring_demo: the program around uring_engine.c.
 *
 *     uring_engine FILE [options]           clients that write, flush, read back and compare
 *     uring_engine FILE --demo [options]    a database's day: a log that commits, a compaction,
 *                                           point reads, under each policy in turn
 *
 * FILE may be a block device: what is on it is overwritten.
 */
#define _GNU_SOURCE
#include "load.h"
#include "uring_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1024u * 1024)
#define LOG_BYTES (16 * (uint64_t)MIB)
#define PART_BYTES (32 * (uint64_t)MIB) /* what a compaction reads; as much again it writes */
#define COMPACTIONS 2u			/* as many as RocksDB has by default */
#define DATA_BYTES (2 * COMPACTIONS * PART_BYTES)
#define MAX_SAMPLES 400000u
#define MAX_DEPTH 16u
#define BUFFERS (2 * MIB) /* of a stream */

/* One actor: asks for `depth` at a time and waits for all of them; every period_ms, or at once. */
struct stream {
	const char *name;
	uint64_t context;
	unsigned depth, period_ms;
	uint32_t length;
	uint64_t start;			 /* of its part of the file */
	void (*round)(struct stream *s); /* one unit of its work */
	struct engine *engine;
	atomic_bool *stop, *count; /* the beginning is not counted */
	struct io io[MAX_DEPTH];
	sem_t back;
	pthread_t thread;
	uint64_t position, random, bytes;
	uint64_t *sample; /* ns a round took */
	unsigned samples;
	int error;
};

static void came_back(struct io *io)
{
	struct stream *s = io->owner;

	sem_post(&s->back);
}

static void set(struct stream *s, unsigned i, uint8_t op, uint64_t offset, uint32_t flags)
{
	struct io *io = &s->io[i];

	io->rq.op = op;
	io->rq.offset = op == IOSCHED_FLUSH ? 0 : offset;
	io->rq.length = op == IOSCHED_FLUSH ? 0 : s->length;
	io->rq.flags = flags;
	io->rq.context = s->context;
}

/* The first n, all at once. */
static void put(struct stream *s, unsigned n)
{
	struct io *ios[MAX_DEPTH];
	unsigned i;
	int taken = 0;

	for (i = 0; i < n; i++)
		ios[i] = &s->io[i];
	for (i = 0; i < n && (taken >= 0 || taken == -EAGAIN); i += taken > 0 ? (unsigned)taken : 0)
		if ((taken = engine_submit_many(s->engine, ios + i, n - i)) == -EAGAIN)
			load_sleep(50e-6);
	for (; i < n; i++) {
		ios[i]->error = taken;
		sem_post(&s->back);
	}
}

static void wait_for(struct stream *s, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		while (sem_wait(&s->back) != 0)
			;
	for (i = 0; i < n; i++) {
		if (s->io[i].error != 0 && s->error == 0)
			s->error = s->io[i].error;
		if (atomic_load(s->count))
			s->bytes += s->io[i].rq.length;
	}
}

/* A commit: a record at the end of the log, then a flush. Someone waits for both. */
static void commit(struct stream *s)
{
	set(s, 0, IOSCHED_WRITE, s->position % LOG_BYTES, IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE);
	put(s, 1);
	wait_for(s, 1);
	set(s, 0, IOSCHED_FLUSH, 0, 0);
	put(s, 1);
	wait_for(s, 1);
	s->position += s->length;
}

/* Compaction: a stretch is read and written out elsewhere; nobody waits for the writes. */
static void compact(struct stream *s)
{
	uint64_t from = s->start + s->position % PART_BYTES;
	unsigned i;

	for (i = 0; i < s->depth; i++)
		set(s, i, IOSCHED_READ, from + i * s->length, 0);
	put(s, s->depth);
	wait_for(s, s->depth);
	for (i = 0; i < s->depth; i++)
		set(s, i, IOSCHED_WRITE, PART_BYTES + from + i * s->length, 0);
	put(s, s->depth);
	wait_for(s, s->depth);
	s->position += (uint64_t)s->depth * s->length;
}

static void point_read(struct stream *s)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u;
	set(s, 0, IOSCHED_READ, LOG_BYTES + (s->random >> 33) % (DATA_BYTES / 4096) * 4096, 0);
	put(s, 1);
	wait_for(s, 1);
}

/* The next multiple of the period. Who is late starts at once, and is not hurried after that. */
static void sleep_until(iosched_time *next, unsigned period_ms)
{
	iosched_time now = load_now();

	*next += (iosched_time)period_ms * 1000000u;
	if (*next > now)
		load_sleep((double)(*next - now) * 1e-9);
	else
		*next = now;
}

static void *stream_main(void *arg)
{
	struct stream *s = arg;

	iosched_time start = load_now(), next = start;

	while (!atomic_load(s->stop) && s->error == 0) {
		start = load_now();

		s->round(s);
		if (atomic_load(s->count) && s->samples < MAX_SAMPLES)
			s->sample[s->samples++] = load_now() - start;
		sleep_until(&next, s->period_ms);
	}
	return NULL;
}

/* Each is a context of its own: the policy can tell them apart. What people wait for leaves a disk
 * time to spare; the compactions take all there is. */
#define COMPACTION(context_, start_)                                             \
	{                                                                        \
		.name = "compaction", .context = (context_), .depth = MAX_DEPTH, \
		.length = 128 * 1024, .start = (start_), .round = compact        \
	}
#define POINT_READS(context_)                                                             \
	{                                                                                 \
		.name = "point reads", .context = (context_), .depth = 1, .length = 4096, \
		.period_ms = 400, .round = point_read                                     \
	}
static const struct stream cast[] = {
	{.name = "log commits",
	 .context = 1,
	 .depth = 1,
	 .length = 8192,
	 .period_ms = 200,
	 .round = commit},
	COMPACTION(2, LOG_BYTES),
	COMPACTION(3, LOG_BYTES + 2 * PART_BYTES),
	POINT_READS(4),
	POINT_READS(5),
};
#define CAST (sizeof(cast) / sizeof(cast[0]))

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double quantile_us(const struct stream *s, double q)
{
	return s->samples == 0 ? 0 : (double)s->sample[(unsigned)(q * (s->samples - 1))] * 1e-3;
}

static void print(struct stream *s, const char *policy, double seconds)
{
	qsort(s->sample, s->samples, sizeof(*s->sample), ascending);
	printf("%-14s %-12s %9.1f/s %8.1f MB/s   p50 %9.1f  p99 %9.1f  p99.9 %9.1f us%s%s\n",
	       policy, s->name, (double)s->samples / seconds, (double)s->bytes * 1e-6 / seconds,
	       quantile_us(s, 0.5), quantile_us(s, 0.99), quantile_us(s, 0.999),
	       s->error != 0 ? "  " : "", s->error != 0 ? strerror(-s->error) : "");
	fflush(stdout);
}

static int stream_start(struct stream *s, struct engine *e, char *buffers)
{
	unsigned i;

	s->engine = e;
	s->random = s->context;
	s->sample = malloc(MAX_SAMPLES * sizeof(*s->sample));
	if (s->sample == NULL)
		return -ENOMEM;
	sem_init(&s->back, 0, 0);
	for (i = 0; i < s->depth; i++) {
		s->io[i].buffer = buffers + (size_t)i * s->length;
		s->io[i].done = came_back;
		s->io[i].owner = s;
	}
	return -pthread_create(&s->thread, NULL, stream_main, s);
}

/* A policy learns the disk first. */
static void count_for(atomic_bool *count, double seconds)
{
	load_sleep(seconds / 4);
	atomic_store(count, true);
	load_sleep(seconds);
	atomic_store(count, false);
}

static int play(struct engine *e, const char *policy, const struct load *load, char *pool)
{
	static struct stream stream[CAST];
	atomic_bool stop = false, count = false;
	uint64_t bytes = 0;
	unsigned i, started;
	int error = 0;

	memcpy(stream, cast, sizeof(cast));
	for (started = 0; started < CAST && error == 0; started++) {
		stream[started].stop = &stop;
		stream[started].count = &count;
		error = stream_start(&stream[started], e, pool + (size_t)started * BUFFERS);
	}
	if (error != 0)
		started--;
	else
		count_for(&count, load->seconds);
	atomic_store(&stop, true);
	for (i = 0; i < started; i++)
		pthread_join(stream[i].thread, NULL);
	for (i = 0; i < started; i++) {
		print(&stream[i], policy, load->seconds);
		bytes += stream[i].bytes;
		if (error == 0)
			error = stream[i].error;
		sem_destroy(&stream[i].back);
	}
	printf("%-14s all %32.1f MB/s\n", policy, (double)bytes * 1e-6 / load->seconds);
	for (i = 0; i < CAST; i++)
		free(stream[i].sample);
	return error;
}

/* All of it written once: reads of holes cost nothing and would prove nothing. */
static int lay_out(const char *path)
{
	uint64_t size = LOG_BYTES + DATA_BYTES, at;
	char *megabyte = malloc(MIB);
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), error = 0;

	if (fd < 0 || megabyte == NULL || fstat(fd, &st) != 0) {
		error = errno != 0 ? -errno : -ENOMEM;
	} else if (!S_ISBLK(st.st_mode) && (uint64_t)st.st_size < size) {
		memset(megabyte, 0x5a, MIB);
		for (at = 0; at < size && error == 0; at += MIB)
			if (pwrite(fd, megabyte, MIB, (off_t)at) != (ssize_t)MIB)
				error = errno != 0 ? -errno : -ENOSPC;
		if (error == 0 && fsync(fd) != 0)
			error = -errno;
	}
	free(megabyte);
	if (fd >= 0)
		close(fd);
	return error;
}

/* @merge_bytes: a disk with an arm wants long requests, a client of an SSD short waits. */
static int open_engine(struct engine **e, const struct load *load,
		       const struct iosched_policy *policy, unsigned merge_bytes, char *pool,
		       size_t pool_size)
{
	struct engine_params p = {
		.path = load->path,
		.disk = load->disk,
		.buffered = load->buffered,
		.policy = policy,
		.window = load->window,
		.capacity = 4096,
		.merge_bytes = merge_bytes,
		.pool = pool,
		.pool_size = pool_size,
	};

	return engine_open(e, &p);
}

static int demo_one(const struct load *load, const struct iosched_policy *policy, char *pool,
		    bool first)
{
	const char *name = policy == NULL ? "(bypass)" : iosched_policy_name(policy);
	struct engine *e;
	int error = open_engine(&e, load, policy, 2 * MIB, pool, CAST * BUFFERS), closed;

	if (error != 0)
		return error;
	if (first)
		printf("%s: %s, window %u\n", load->path, engine_features(e), load->window);
	error = play(e, name, load, pool);
	closed = engine_close(e);
	return error != 0 ? error : closed;
}

/* Without --policy, all there are, and none. */
static int demo(const struct load *load, const struct iosched_policy *only)
{
	char *pool = aligned_alloc(ENGINE_BLOCK, CAST * BUFFERS);
	const struct iosched_policy *policy;
	unsigned i;
	int error;

	if (pool == NULL)
		return -ENOMEM;
	memset(pool, 0, CAST * BUFFERS);
	error = load->disk != NULL ? 0 : lay_out(load->path);
	if (only != NULL && error == 0)
		error = demo_one(load, only, pool, true);
	if (only == NULL && error == 0)
		error = demo_one(load, NULL, pool, true);
	for (i = 0; only == NULL && error == 0 && (policy = iosched_policy_at(i)) != NULL; i++)
		error = demo_one(load, policy, pool, false);
	free(pool);
	return error;
}

static int complain(const struct load *load, int error)
{
	fprintf(stderr, "uring_engine: %s: %s\n", load->path, strerror(-error));
	return 1;
}

static int clients(struct load *load)
{
	struct engine *e;
	int error = open_engine(&e, load, load->policy, 128 * 1024, load->pool, load->pool_size),
	    code;

	if (error != 0) {
		free(load->pool);
		return complain(load, error);
	}
	fprintf(stderr, "uring_engine: %s\n", engine_features(e));
	load->engine = e;
	error = load_start(load);
	if (error != 0) {
		complain(load, error);
		exit(1); /* some clients may run */
	}
	load_run(load);
	if (load->abandon)
		engine_abandon(e);
	atomic_store(&load->stop, true);
	code = load_wait(load);
	error = engine_close(e);
	load_free(load);
	if (error != 0)
		return complain(load, error);
	return code;
}

int main(int argc, char **argv)
{
	struct load load = {
		.program = "uring_engine",
		.command = "[--demo] [--disk DEVICE[,SETTING=VALUE]...]",
		.disks = true,
		.submit = engine_submit,
		.cancel = engine_cancel,
	};
	int error = load_options(&load, argc, argv);

	if (error != 0)
		return error;
	if (load.recover == NULL && !load.command_given)
		return clients(&load);
	error = load.recover != NULL ? load_recover(&load)
				     : demo(&load, load.policy_given ? load.policy : NULL);
	free(load.pool);
	return error < 0 ? complain(&load, error) : error;
}
