/* SPDX-License-Identifier: MIT */
/*
 * hello: the whole loop of a host, in one thread. Reads blocks of a file, asked for in a
 * bad order, in the order the policy likes, and prints that order.
 *
 *     hello FILE [POLICY]
 *
 * Adjacent requests were merged: what is issued is the span, and the requests it absorbed
 * are done with it. All blocks lie in one buffer as they do in the file, so a span needs no iovec.
 */
#define _POSIX_C_SOURCE 200809L
#include <iosched/iosched.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096u
#define REQUESTS 64u

static iosched_time now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

/* Into its own place in the file's buffer. A read that ends early is asked again, the end of the
 * file is -ENODATA.
 */
static int read_fully(int fd, char *file, uint64_t length, uint64_t offset)
{
	while (length != 0) {
		ssize_t n = pread(fd, file + offset, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENODATA;
		offset += (uint64_t)n;
		length -= (uint64_t)n;
	}
	return 0;
}

static int sleep_until(iosched_time when)
{
	struct timespec t = {(time_t)(when / 1000000000u), (long)(when % 1000000000u)};

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void report(const struct iosched_request *rq, int error)
{
	const struct iosched_request *m;
	unsigned requests = 1;

	for (m = rq->merged; m != NULL; m = iosched_merged_next(m))
		requests++;
	printf("%10llu +%-7llu %2u request%s%s\n", (unsigned long long)rq->span_offset,
	       (unsigned long long)rq->span_length, requests, requests == 1 ? "" : "s ",
	       error == 0 ? "" : strerror(-error));
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "hello: %s: %s\n", what, strerror(-error));
	return 1;
}

/* [loop] */
static int run(int fd, char *buffer, struct iosched_request *rqs, unsigned n,
	       const struct iosched_policy *policy)
{
	struct iosched_params params;
	struct iosched_request *rq;
	struct iosched *queue;
	int error, first_error = 0;

	iosched_params_init(&params, sizeof(params));
	params.policy = policy;
	params.max_inflight = 1; /* one arm: this thread */
	if ((error = iosched_create(&queue, &params)) != 0)
		return error;
	for (unsigned i = 0; i < n; i++)
		if ((error = iosched_insert(queue, &rqs[i], now_ns())) != 0)
			first_error = error; /* refused; it is still ours */
	while (iosched_queued(queue) != 0) {
		rq = iosched_dispatch(queue, now_ns());
		if (rq == NULL) { /* the policy waits for something better */
			sleep_until(iosched_next_wakeup(queue));
			continue;
		}
		error = read_fully(fd, buffer, rq->span_length, rq->span_offset);
		report(rq, error);
		first_error = first_error != 0 ? first_error : error;
		iosched_complete(queue, rq, now_ns());
	}
	return iosched_destroy(queue) != 0 ? -EBUSY : first_error;
}
/* [/loop] */

/* Blocks in a bad order: steps of 29 through the file, modulo its size, so that some are
 * neighbours. */
static void ask(struct iosched_request *rqs, unsigned n, uint64_t blocks)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		memset(&rqs[i], 0, sizeof(rqs[i]));
		rqs[i].offset = i * 29u % blocks * BLOCK;
		rqs[i].length = BLOCK;
		rqs[i].op = IOSCHED_READ;
	}
}

int main(int argc, char **argv)
{
	const struct iosched_policy *policy = iosched_policy_find(argc > 2 ? argv[2] : "deadline");
	struct iosched_request rqs[REQUESTS];
	struct stat st;
	char *buffer;
	int fd, error;

	if (argc < 2 || argc > 3 || policy == NULL) {
		fprintf(stderr, "usage: hello FILE [POLICY]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return fail(argv[1], -errno);
	if (st.st_size < BLOCK)
		return fail(argv[1], -ENODATA);
	buffer = malloc((size_t)st.st_size);
	if (buffer == NULL)
		return fail(argv[1], -ENOMEM);
	ask(rqs, REQUESTS, (uint64_t)st.st_size / BLOCK);
	error = run(fd, buffer, rqs, REQUESTS, policy);
	free(buffer);
	close(fd);
	return error == 0 ? 0 : fail(argv[1], error);
}
