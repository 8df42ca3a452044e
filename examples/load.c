/* SPDX-License-Identifier: MIT */
/* load: see load.h. */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* At both ends of a block: a torn write shows. */
struct stamp {
	uint64_t block, round;
};

iosched_time load_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

void load_sleep(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

static uint64_t block_of(const struct load *load, unsigned client, unsigned i)
{
	return ((uint64_t)client * load->depth + i) * load->stride;
}

static void put_stamp(struct io *io, uint64_t round)
{
	struct stamp s = {io->rq.offset / LOAD_BLOCK, round};

	memcpy(io->buffer, &s, sizeof(s));
	memcpy(io->buffer + LOAD_BLOCK - sizeof(s), &s, sizeof(s));
}

/* @return the round, or UINT64_MAX: not a block that was written whole */
static uint64_t get_stamp(const char *buffer, uint64_t block)
{
	struct stamp a, b;

	memcpy(&a, buffer, sizeof(a));
	memcpy(&b, buffer + LOAD_BLOCK - sizeof(b), sizeof(b));
	return a.block == block && b.block == block && a.round == b.round ? a.round : UINT64_MAX;
}

/* The last one out finds the client waiting, or about to: until then nobody takes the lock. */
static void one_less(struct load_client *c)
{
	if (atomic_fetch_sub(&c->outstanding, 1) != 1)
		return;
	pthread_mutex_lock(&c->lock);
	c->all_back = true;
	pthread_cond_signal(&c->idle);
	pthread_mutex_unlock(&c->lock);
}

static void client_done(struct io *io)
{
	one_less(io->owner);
}

static void wait_all(struct load_client *c)
{
	one_less(c); /* its own */
	pthread_mutex_lock(&c->lock);
	while (!c->all_back)
		pthread_cond_wait(&c->idle, &c->lock);
	c->all_back = false;
	pthread_mutex_unlock(&c->lock);
	atomic_store(&c->outstanding, 1);
}

static int submit(struct load_client *c, struct io *io)
{
	int error;

	io->error = 0;
	atomic_fetch_add(&c->outstanding, 1);
	while ((error = c->load->submit(c->load->engine, io)) == -EAGAIN)
		sched_yield();
	if (error != 0) {
		io->error = error;
		client_done(io);
	}
	return error;
}

static void complain(struct load_client *c, const struct io *io)
{
	static const char *const verb[] = {"read", "write", "flush", "discard"};

	if (io->error == -ECANCELED || io->error == -ESHUTDOWN) {
		c->cancelled++;
		c->stopped |= io->error == -ESHUTDOWN || !c->load->cancels;
		return;
	}
	if (c->errors++ < 3)
		fprintf(stderr, "%s: %s of %llu bytes at %llu: %s\n", c->load->program,
			verb[io->rq.op], (unsigned long long)io->rq.length,
			(unsigned long long)io->rq.offset, strerror(-io->error));
}

static void collect(struct load_client *c, struct io *first, unsigned n)
{
	unsigned i;

	wait_all(c);
	for (i = 0; i < n; i++)
		if (first[i].error != 0)
			complain(c, &first[i]);
		else
			c->requests++;
}

/* Every block of the area once: 7919 is prime and larger than any depth allowed, so steps of it
 * come to every block. */
static void all_blocks(struct load_client *c, uint8_t op, uint64_t round)
{
	unsigned i, k = 0;

	for (i = 0; i < c->load->depth; i++, k = (k + 7919) % c->load->depth) {
		struct io *io = &c->ios[k];

		io->rq.op = op;
		io->rq.flags = op == IOSCHED_WRITE ? IOSCHED_RQ_SYNC : 0;
		if (op == IOSCHED_WRITE)
			put_stamp(io, round);
		else
			memset(io->buffer, 0xff, sizeof(struct stamp));
		if (submit(c, io) != 0)
			for (i++; i < c->load->depth; i++) /* the rest was not even tried */
				c->ios[k = (k + 7919) % c->load->depth].error = -ESHUTDOWN;
		else if (c->load->cancels && op == IOSCHED_READ && i % 4 == 0)
			(void)c->load->cancel(c->load->engine, io);
	}
	collect(c, c->ios, c->load->depth);
}

/* A flush covers what was complete when it was submitted: wait_all() came before. */
static void flush(struct load_client *c, uint64_t round)
{
	struct io *io = &c->ios[c->load->depth];

	(void)submit(c, io);
	collect(c, io, 1);
	if (c->load->journal && io->error == 0 && c->errors == 0 && !c->stopped) {
		printf("%u %llu\n", c->id, (unsigned long long)round);
		fflush(stdout);
	}
}

static void verify(struct load_client *c, uint64_t round)
{
	unsigned i;

	for (i = 0; i < c->load->depth; i++) {
		const struct io *io = &c->ios[i];

		if (io->error == 0 && get_stamp(io->buffer, io->rq.offset / LOAD_BLOCK) != round) {
			fprintf(stderr, "%s: block %llu is not what was written\n",
				c->load->program, (unsigned long long)(io->rq.offset / LOAD_BLOCK));
			c->errors++;
		}
	}
}

static void *client_main(void *arg)
{
	struct load_client *c = arg;
	uint64_t round, written = 0;

	for (round = 1; !atomic_load(&c->load->stop) && c->errors == 0 && !c->stopped; round++) {
		if (round == 1 || !c->load->reads_only) {
			written = round;
			all_blocks(c, IOSCHED_WRITE, round);
			flush(c, round);
		}
		if (c->errors == 0 && !c->stopped) {
			all_blocks(c, IOSCHED_READ, 0);
			verify(c, written);
		}
	}
	atomic_fetch_sub(&c->load->running, 1);
	return NULL;
}

static int client_init(struct load *load, unsigned id)
{
	struct load_client *c = &load->client[id];
	unsigned i;

	c->load = load;
	c->id = id;
	c->ios = calloc(load->depth + 1, sizeof(*c->ios));
	if (c->ios == NULL)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->idle, NULL);
	atomic_init(&c->outstanding, 1);
	for (i = 0; i <= load->depth; i++) {
		struct io *io = &c->ios[i];

		io->done = client_done;
		io->owner = c;
		io->rq.context = id + 1;
		if (i == load->depth) {
			io->rq.op = IOSCHED_FLUSH;
			continue;
		}
		io->rq.offset = block_of(load, id, i) * LOAD_BLOCK;
		io->rq.length = LOAD_BLOCK;
		io->buffer = load->pool + ((size_t)id * load->depth + i) * LOAD_BLOCK;
	}
	return 0;
}

int load_start(struct load *load)
{
	unsigned i;
	int error = 0;

	load->client = calloc(load->clients, sizeof(*load->client));
	if (load->client == NULL)
		return -ENOMEM;
	load->started = load_now();
	atomic_store(&load->running, load->clients);
	for (i = 0; i < load->clients && error == 0; i++) {
		error = client_init(load, i);
		if (error == 0)
			error = -pthread_create(&load->client[i].thread, NULL, client_main,
						&load->client[i]);
	}
	return error;
}

void load_run(struct load *load)
{
	iosched_time end = load->started + (iosched_time)(load->seconds * 1e9), now;

	while (atomic_load(&load->running) != 0 && (now = load_now()) < end)
		load_sleep(end - now < 10000000 ? (double)(end - now) * 1e-9 : 0.01);
}

int load_wait(struct load *load)
{
	uint64_t requests = 0, errors = 0, cancelled = 0;
	double elapsed, cpu;
	unsigned i;

	atomic_store(&load->stop, true);
	for (i = 0; i < load->clients; i++) {
		struct load_client *c = &load->client[i];

		pthread_join(c->thread, NULL);
		requests += c->requests;
		errors += c->errors;
		cancelled += c->cancelled;
	}
	elapsed = (double)(load_now() - load->started) * 1e-9;
	cpu = (double)clock() / CLOCKS_PER_SEC;
	fprintf(load->journal ? stderr : stdout,
		"%llu requests, %llu errors, %llu cancelled, %.0f requests/s, %.2f us of CPU "
		"each\n",
		(unsigned long long)requests, (unsigned long long)errors,
		(unsigned long long)cancelled, (double)requests / elapsed,
		cpu * 1e6 / (double)(requests != 0 ? requests : 1));
	return errors == 0 ? 0 : 1;
}

void load_free(struct load *load)
{
	unsigned i;

	for (i = 0; load->client != NULL && i < load->clients; i++)
		free(load->client[i].ios);
	free(load->client);
	free(load->pool);
}

/* Every block of `client` must carry `round` or a later one. */
static int recovered(const struct load *load, int fd, unsigned client, uint64_t round)
{
	char buffer[LOAD_BLOCK];
	unsigned i;

	for (i = 0; i < load->depth; i++) {
		uint64_t block = block_of(load, client, i);
		uint64_t found = UINT64_MAX;

		if (pread(fd, buffer, LOAD_BLOCK, (off_t)(block * LOAD_BLOCK)) ==
		    (ssize_t)LOAD_BLOCK)
			found = get_stamp(buffer, block);
		if (found == UINT64_MAX || found < round) {
			fprintf(stderr, "%s: block %llu: round %llu was flushed and is not there\n",
				load->program, (unsigned long long)block,
				(unsigned long long)round);
			return 1;
		}
	}
	return 0;
}

int load_recover(const struct load *load)
{
	FILE *journal = fopen(load->recover, "r");
	int fd = open(load->path, O_RDONLY | O_CLOEXEC), failed = 0;
	uint64_t *last = calloc(load->clients, sizeof(*last)), rounds = 0;
	unsigned long long round;
	unsigned client;

	if (journal == NULL || fd < 0 || last == NULL) {
		fprintf(stderr, "%s: cannot read %s and %s: %s\n", load->program, load->path,
			load->recover, strerror(errno));
		failed = 1;
	}
	while (!failed && fscanf(journal, "%u %llu", &client, &round) == 2)
		if (client < load->clients)
			last[client] = round;
	for (client = 0; client < load->clients && !failed; client++) {
		rounds += last[client];
		failed = last[client] != 0 && recovered(load, fd, client, last[client]);
	}
	if (!failed)
		printf("%llu flushed rounds, all there\n", (unsigned long long)rounds);
	if (journal != NULL)
		fclose(journal);
	if (fd >= 0)
		close(fd);
	free(last);
	return failed;
}

static int usage(const struct load *load)
{
	unsigned i;

	fprintf(stderr,
		"usage: %s FILE [--policy NAME | --bypass] [--clients N] [--depth N] [--stride N]\n"
		"       [--window N] [--threads N] [--seconds S] [--reads] [--journal] "
		"[--abandon]\n"
		"       [--cancels] [--recover JOURNAL]%s%s\npolicies:",
		load->program, load->command == NULL ? "" : " ",
		load->command == NULL ? "" : load->command);
	for (i = 0; iosched_policy_at(i) != NULL; i++)
		fprintf(stderr, " %s", iosched_policy_name(iosched_policy_at(i)));
	fprintf(stderr, "\n");
	return 2;
}

static const struct option options[] = {
	{"policy", required_argument, NULL, 'p'},
	{"bypass", no_argument, NULL, 'b'},
	{"clients", required_argument, NULL, 'c'},
	{"depth", required_argument, NULL, 'd'},
	{"stride", required_argument, NULL, 's'},
	{"window", required_argument, NULL, 'w'},
	{"threads", required_argument, NULL, 't'},
	{"seconds", required_argument, NULL, 'S'},
	{"reads", no_argument, NULL, 'r'},
	{"journal", no_argument, NULL, 'j'},
	{"abandon", no_argument, NULL, 'a'},
	{"recover", required_argument, NULL, 'R'},
	{"cancels", no_argument, NULL, 'C'},
	{"demo", no_argument, NULL, 'D'},
	{"disk", required_argument, NULL, 'e'},
	{"buffered", no_argument, NULL, 'B'},
	{NULL, 0, NULL, 0},
};

/* A number from 1 to max, or 0. */
static unsigned number(unsigned max)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	return *end != '\0' || end == optarg || n > max ? 0 : (unsigned)n;
}

/* @return false: not an option of ours, or a value out of range */
static bool take_option(struct load *load, int option)
{
	switch (option) {
	case 'p':
		load->policy_given = true;
		return (load->policy = iosched_policy_find(optarg)) != NULL;
	case 'b':
		load->policy = NULL;
		return true;
	case 'c':
		return (load->clients = number(256)) != 0;
	case 'd':
		return (load->depth = number(7918)) != 0;
	case 's':
		return (load->stride = number(1024)) != 0;
	case 'w':
		return (load->window = number(4096)) != 0;
	case 't':
		return (load->threads = number(64)) != 0;
	case 'S':
		return (load->seconds = strtod(optarg, NULL)) > 0;
	case 'r':
		return load->reads_only = true;
	case 'j':
		return load->journal = true;
	case 'a':
		return load->abandon = true;
	case 'C':
		return load->cancels = load->cancel != NULL;
	case 'R':
		load->recover = optarg;
		return true;
	case 'e':
		load->disk = optarg;
		return load->disks;
	case 'B':
		return load->buffered = true;
	case 'D':
		return load->command_given = load->command != NULL;
	default:
		return false;
	}
}

int load_options(struct load *load, int argc, char **argv)
{
	int option;

	load->policy = iosched_policy_find("deadline");
	load->clients = 4;
	load->depth = 32;
	load->stride = 1;
	load->window = 8;
	load->threads = 4;
	load->seconds = 1;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_option(load, option))
			return usage(load);
	if (optind != argc - 1)
		return usage(load);
	load->path = argv[optind];
	load->pool_size = (size_t)load->clients * load->depth * LOAD_BLOCK;
	load->pool = aligned_alloc(LOAD_BLOCK, load->pool_size);
	if (load->pool == NULL) {
		fprintf(stderr, "%s: %s\n", load->program, strerror(ENOMEM));
		return 1;
	}
	memset(load->pool, 0, load->pool_size);
	return 0;
}
