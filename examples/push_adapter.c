/* SPDX-License-Identifier: MIT */
/*
 * push_adapter: an event loop over push.c, one thread that sleeps in poll(). The device is
 * a few threads that take requests from one pipe and put answers into another; replace them by your
 * own. Eight streams write their blocks, flush, read them back and compare.
 *
 *     push_adapter FILE [--policy NAME | --bypass] [--seconds S] [--apart] [--fail-after BYTES]
 *
 * --apart leaves a gap after every block, so that nothing merges; --fail-after is a test hook:
 * the device answers -EIO for all that lies behind that offset.
 */
#define _GNU_SOURCE
#include "push.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096u
#define WORKERS 2
#define WINDOW 8u /* less than the pointers a pipe holds: writing to it never blocks */
#define STREAMS 8u
#define BLOCKS 32u

/* A block of a stream: written, flushed, read back, compared, again. */
struct block {
	struct iosched_request rq;
	char *data;
	struct stream *stream;
	struct block *next; /* --bypass */
};

struct stream {
	struct block block[BLOCKS + 1]; /* the last one is the flush */
	unsigned id, outstanding;
	enum { WRITING, FLUSHING, READING, STOPPED } step;
	uint64_t round;
};

/* What a device thread says. */
struct answer {
	struct iosched_request *rq;
	int error;
};

struct host {
	struct push push;
	bool bypass, stop, apart;
	int fd, to_device[2], to_host[2];
	uint64_t fail_after; /* test hook: offsets from here on give EIO; 0 = none */
	struct block *first, **end;
	unsigned inflight;
	pthread_t worker[WORKERS];
	struct stream stream[STREAMS];
	unsigned running;
	uint64_t done, errors;
	char *file; /* all blocks, as they lie in the file */
};

static struct block *block_of(struct iosched_request *rq)
{
	return (struct block *)(void *)((char *)rq - offsetof(struct block, rq));
}

static int move(const struct host *h, const struct iosched_request *rq)
{
	char *at = h->file + rq->span_offset;
	uint64_t done = 0;

	if (h->fail_after != 0 && rq->span_offset + rq->span_length > h->fail_after)
		return -EIO;
	while (done < rq->span_length) {
		off_t offset = (off_t)(rq->span_offset + done);
		size_t left = (size_t)(rq->span_length - done);
		ssize_t n = rq->op == IOSCHED_READ ? pread(h->fd, at + done, left, offset)
						   : pwrite(h->fd, at + done, left, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		done += (uint64_t)n;
	}
	return 0;
}

static void *device(void *arg)
{
	struct host *h = arg;
	struct answer a;

	memset(&a, 0, sizeof(a)); /* its padding goes through a pipe too */
	while (read(h->to_device[0], &a.rq, sizeof(a.rq)) == (ssize_t)sizeof(a.rq)) {
		if (a.rq->op == IOSCHED_FLUSH)
			a.error = fdatasync(h->fd) == 0 ? 0 : -errno;
		else
			a.error = move(h, a.rq);
		if (write(h->to_host[1], &a, sizeof(a)) != (ssize_t)sizeof(a))
			break;
	}
	return NULL;
}

static void issue(void *user, struct iosched_request *rq)
{
	struct host *h = user;

	h->inflight++;
	if (write(h->to_device[1], &rq, sizeof(rq)) != (ssize_t)sizeof(rq))
		abort(); /* a pipe with room for 8000 of them and 8 in it */
}

static void bypass_pump(struct host *h)
{
	while (h->first != NULL && h->inflight < WINDOW) {
		struct block *b = h->first;

		h->first = b->next;
		if (h->first == NULL)
			h->end = &h->first;
		b->rq.span_offset = b->rq.offset;
		b->rq.span_length = b->rq.length;
		b->rq.merged = NULL;
		issue(h, &b->rq);
	}
}

static void submit(struct host *h, struct block *b)
{
	int error;

	b->stream->outstanding++;
	if (h->bypass) {
		b->next = NULL;
		*h->end = b;
		h->end = &b->next;
		bypass_pump(h);
		return;
	}
	error = push_submit(&h->push, &b->rq);
	if (error != 0) {
		fprintf(stderr, "push_adapter: insert: %s\n", strerror(-error));
		b->stream->outstanding--;
		h->errors++;
	}
}

/* Start a step; blocks in a bad order: 13 walks through 32 in steps prime to it. */
static void begin(struct host *h, struct stream *s)
{
	unsigned i, k;

	if (s->step == FLUSHING) {
		submit(h, &s->block[BLOCKS]);
		return;
	}
	for (i = 0, k = 0; i < BLOCKS; i++, k = (k + 13) % BLOCKS) {
		struct block *b = &s->block[k];
		uint64_t stamp[2] = {b->rq.offset, s->round};

		b->rq.op = s->step == WRITING ? IOSCHED_WRITE : IOSCHED_READ;
		b->rq.flags = s->step == WRITING ? IOSCHED_RQ_SYNC : 0;
		if (s->step == WRITING)
			memcpy(b->data, stamp, sizeof(stamp));
		else
			memset(b->data, 0, sizeof(stamp));
		submit(h, b);
	}
}

static void verify(struct host *h, const struct stream *s)
{
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		uint64_t stamp[2] = {s->block[i].rq.offset, s->round};

		if (memcmp(s->block[i].data, stamp, sizeof(stamp)) != 0) {
			fprintf(stderr, "push_adapter: block at %llu is not what was written\n",
				(unsigned long long)s->block[i].rq.offset);
			h->errors++;
		}
	}
}

/* All requests of a step are back: the next one, or the end. */
static void advance(struct host *h, struct stream *s)
{
	if (s->step == READING && h->errors == 0)
		verify(h, s);
	if (h->errors != 0 || (h->stop && s->step == READING)) {
		s->step = STOPPED;
		h->running--;
		return;
	}
	s->round += s->step == READING;
	s->step = s->step == READING ? WRITING : s->step + 1;
	begin(h, s);
}

static void finish(struct host *h, struct iosched_request *rq, int error)
{
	struct stream *s = block_of(rq)->stream;

	h->done++;
	if (error != 0 && h->errors++ == 0)
		fprintf(stderr, "push_adapter: request at %llu: %s\n",
			(unsigned long long)rq->offset, strerror(-error));
	if (--s->outstanding == 0)
		advance(h, s);
}

/* The chain is read before any of its requests can be inserted again. */
static void completed(struct host *h, const struct answer *a)
{
	struct iosched_request *list[1 + STREAMS * BLOCKS], *m;
	unsigned n = 0, i;

	h->inflight--;
	if (!h->bypass && push_done(&h->push, a->rq) != 0)
		abort(); /* the device answered twice */
	list[n++] = a->rq;
	for (m = a->rq->merged; m != NULL; m = iosched_merged_next(m))
		list[n++] = m;
	for (i = 0; i < n; i++)
		finish(h, list[i], a->error);
	if (h->bypass)
		bypass_pump(h);
	else
		push_pump(&h->push);
}

/* [eventloop] */
static void event_loop(struct host *h, iosched_time end)
{
	struct pollfd p[2] = {{h->to_host[0], POLLIN, 0}, {h->push.timer, POLLIN, 0}};
	struct answer a[64];

	while (h->running != 0 || h->inflight != 0) {
		if (poll(p, h->bypass ? 1 : 2, 1000) < 0 && errno != EINTR)
			abort();
		if (p[0].revents & POLLIN) {
			ssize_t n = read(h->to_host[0], a, sizeof(a)), i;

			for (i = 0; i < n / (ssize_t)sizeof(a[0]); i++)
				completed(h, &a[i]);
		}
		if (p[1].revents & POLLIN)
			push_timer(&h->push);
		h->stop = push_now() >= end;
	}
}
/* [/eventloop] */

static void make_streams(struct host *h)
{
	unsigned s, b;

	for (s = 0; s < STREAMS; s++) {
		struct stream *st = &h->stream[s];

		st->id = s;
		st->round = 1;
		for (b = 0; b <= BLOCKS; b++) {
			struct block *k = &st->block[b];

			k->stream = st;
			k->rq.context = s + 1;
			k->rq.op = IOSCHED_FLUSH;
			if (b == BLOCKS)
				continue;
			k->rq.offset = ((uint64_t)s * BLOCKS + b) * BLOCK * (h->apart ? 2 : 1);
			k->rq.length = BLOCK;
			k->data = h->file + k->rq.offset;
		}
	}
}

static int host_open(struct host *h, const char *path, const struct iosched_policy *policy)
{
	struct iosched_params params;
	unsigned i;
	int error = 0;

	h->end = &h->first;
	h->file = calloc(STREAMS * BLOCKS * 2, BLOCK);
	h->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (h->file == NULL || h->fd < 0 || pipe2(h->to_device, O_CLOEXEC) != 0 ||
	    pipe2(h->to_host, O_CLOEXEC) != 0)
		return errno != 0 ? -errno : -ENOMEM;
	make_streams(h);
	iosched_params_init(&params, sizeof(params));
	params.policy = policy;
	params.max_inflight = WINDOW;
	params.max_merge_bytes = 64 * 1024;
	params.expected_queued = STREAMS * BLOCKS;
	if (!h->bypass)
		error = push_init(&h->push, &params, issue, h);
	for (i = 0; i < WORKERS && error == 0; i++)
		error = -pthread_create(&h->worker[i], NULL, device, h);
	return error;
}

static int host_close(struct host *h)
{
	unsigned i;
	int error;

	close(h->to_device[1]); /* end of file: the device threads leave */
	for (i = 0; i < WORKERS; i++)
		pthread_join(h->worker[i], NULL);
	error = h->bypass ? 0 : push_fini(&h->push);
	close(h->to_device[0]);
	close(h->to_host[0]);
	close(h->to_host[1]);
	close(h->fd);
	free(h->file);
	return error;
}

static int run(struct host *h, double seconds)
{
	iosched_time start = push_now();
	unsigned s;
	int error;

	h->running = STREAMS;
	for (s = 0; s < STREAMS; s++)
		begin(h, &h->stream[s]);
	event_loop(h, start + (iosched_time)(seconds * 1e9));
	printf("%llu requests, %llu errors, %.0f requests/s, %.2f us of CPU each\n",
	       (unsigned long long)h->done, (unsigned long long)h->errors,
	       (double)h->done * 1e9 / (double)(push_now() - start),
	       (double)clock() * 1e6 / CLOCKS_PER_SEC / (double)h->done);
	error = host_close(h);
	if (error != 0)
		fprintf(stderr, "push_adapter: requests were left in the queue\n");
	return error != 0 || h->errors != 0;
}

static const struct option options[] = {
	{"policy", required_argument, NULL, 'p'},     {"bypass", no_argument, NULL, 'b'},
	{"seconds", required_argument, NULL, 's'},    {"apart", no_argument, NULL, 'a'},
	{"fail-after", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	static struct host h;
	const struct iosched_policy *policy = iosched_policy_find("deadline");
	double seconds = 1;
	int option, error;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'p':
			policy = iosched_policy_find(optarg);
			break;
		case 'b':
			h.bypass = true;
			break;
		case 's':
			seconds = strtod(optarg, NULL);
			break;
		case 'a':
			h.apart = true;
			break;
		case 'f':
			h.fail_after = strtoull(optarg, NULL, 10);
			break;
		default:
			policy = NULL;
		}
	if (policy == NULL || optind != argc - 1 || !(seconds > 0)) {
		fprintf(stderr, "usage: push_adapter FILE [--policy NAME | --bypass] "
				"[--seconds S] [--apart] [--fail-after BYTES]\n");
		return 2;
	}
	error = host_open(&h, argv[optind], policy);
	if (error != 0) {
		fprintf(stderr, "push_adapter: %s: %s\n", argv[optind], strerror(-error));
		return 1;
	}
	return run(&h, seconds);
}
