/* SPDX-License-Identifier: MIT */
/*
 * threaded_queue: a pool of threads doing pread, pwrite and fdatasync in the order a policy gives.
 *
 * State: one mutex guards the queue. Workers do the I/O outside it. A worker with nothing to do
 * sleeps on `work`, until next_wakeup at most.
 *
 * Rule: whoever leaves the queue with a request while more are queued wakes one other worker;
 * whoever is told "nothing now" sleeps until next_wakeup. So there is always someone who
 * asks again in time.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct disk {
	int fd;
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct iosched *queue; /* NULL: first come, first served, by hand (--bypass) */
	struct io *first, **end;
	bool closing;
	unsigned n_workers;
	pthread_t *workers;
};

static struct io *io_of(struct iosched_request *rq)
{
	return (struct io *)(void *)((char *)rq - offsetof(struct io, rq));
}

/* [iovec] */
/* The span in file order: own extent and the absorbed ones, each with its own buffer. */
static unsigned span_iovec(struct iosched_request *rq, struct iovec *iov, unsigned max)
{
	struct iosched_request *m = rq->merged;
	bool own = false;
	unsigned n = 0;

	while ((m != NULL || !own) && n < max) {
		struct iosched_request *next = m;

		if (!own && (m == NULL || rq->offset < m->offset)) {
			next = rq;
			own = true;
		} else {
			m = iosched_merged_next(m);
		}
		iov[n].iov_base = io_of(next)->buffer;
		iov[n++].iov_len = next->length;
	}
	return n;
}
/* [/iovec] */

static ssize_t transfer(int fd, uint8_t op, struct iovec *iov, int n, uint64_t offset)
{
	return op == IOSCHED_READ ? preadv(fd, iov, n, (off_t)offset)
				  : pwritev(fd, iov, n, (off_t)offset);
}

/* The whole span, whatever the kernel does in one go. @return bytes done; *error says why not all
 */
static uint64_t move_span(int fd, struct iosched_request *rq, int *error)
{
	struct iovec iov[IOV_MAX], *v = iov;
	unsigned n = span_iovec(rq, iov, IOV_MAX);
	uint64_t done = 0;

	while (n != 0) {
		ssize_t got = transfer(fd, rq->op, v, (int)n, rq->span_offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			*error = got < 0 ? -errno : rq->op == IOSCHED_READ ? -ENODATA : -EIO;
			break;
		}
		for (done += (uint64_t)got; n != 0 && (size_t)got >= v->iov_len; v++, n--)
			got -= (ssize_t)v->iov_len;
		if (n != 0) {
			v->iov_base = (char *)v->iov_base + got;
			v->iov_len -= (size_t)got;
		}
	}
	return done;
}

static uint64_t perform(int fd, struct iosched_request *rq, int *error)
{
	*error = 0;
	switch (rq->op) {
	case IOSCHED_READ:
	case IOSCHED_WRITE:
		return move_span(fd, rq, error);
	case IOSCHED_FLUSH:
		*error = fdatasync(fd) == 0 ? 0 : -errno;
		return 0;
	default:
		*error = -EOPNOTSUPP;
		return 0;
	}
}

/* What lay wholly in the part that was done succeeded; the rest has the error. */
static struct io *settle(struct iosched_request *rq, uint64_t end, int error, struct io *list)
{
	struct io *io = io_of(rq);

	io->error = error != 0 && (rq->length == 0 || rq->offset + rq->length > end) ? error : 0;
	io->next = list;
	return io;
}

/* [complete] */
/* Back from the device: the request and all it absorbed are their clients' again.
 * Reads the chain before anybody can reuse it; tells the clients without the lock. */
static void finish(struct disk *d, struct iosched_request *rq, uint64_t done, int error,
		   iosched_time now)
{
	uint64_t end = rq->span_offset + done;
	struct iosched_request *m, *next;
	struct io *list;

	if (d->queue != NULL)
		iosched_complete(d->queue, rq, now);
	list = settle(rq, end, error, NULL);
	for (m = rq->merged; m != NULL; m = next) {
		next = iosched_merged_next(m);
		list = settle(m, end, error, list);
	}
	pthread_mutex_unlock(&d->lock);
	while (list != NULL) {
		struct io *io = list;

		list = io->next;
		io->done(io);
	}
	pthread_mutex_lock(&d->lock);
}
/* [/complete] */

static bool queued(const struct disk *d)
{
	return d->queue != NULL ? iosched_queued(d->queue) != 0 : d->first != NULL;
}

static struct iosched_request *next_request(struct disk *d, iosched_time now)
{
	struct io *io = d->first;

	if (d->queue != NULL)
		return iosched_dispatch(d->queue, now);
	if (io == NULL)
		return NULL;
	d->first = io->next;
	if (d->first == NULL)
		d->end = &d->first;
	io->rq.span_offset = io->rq.offset;
	io->rq.span_length = io->rq.length;
	io->rq.merged = NULL;
	return &io->rq;
}

/* [worker] */
static void sleep_for_work(struct disk *d)
{
	iosched_time until = d->queue != NULL ? iosched_next_wakeup(d->queue) : IOSCHED_NEVER;
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	if (until == IOSCHED_NEVER)
		pthread_cond_wait(&d->work, &d->lock);
	else
		pthread_cond_timedwait(&d->work, &d->lock, &t); /* CLOCK_MONOTONIC, as load_now() */
}

/* The clock is read outside the lock: a queue takes a time a little old as its own latest. */
static void *worker(void *arg)
{
	struct disk *d = arg;
	struct iosched_request *rq;
	iosched_time now = load_now();
	uint64_t done;
	int error;

	pthread_mutex_lock(&d->lock);
	while (!d->closing || queued(d)) {
		rq = next_request(d, now);
		if (rq == NULL) {
			sleep_for_work(d);
			now = load_now();
			continue;
		}
		if (queued(d))
			pthread_cond_signal(&d->work);
		pthread_mutex_unlock(&d->lock);
		done = perform(d->fd, rq, &error);
		now = load_now();
		pthread_mutex_lock(&d->lock);
		finish(d, rq, done, error, now);
	}
	pthread_cond_broadcast(&d->work); /* the others may leave too */
	pthread_mutex_unlock(&d->lock);
	return NULL;
}
/* [/worker] */

static int disk_submit(void *engine, struct io *io)
{
	struct disk *d = engine;
	iosched_time now = load_now();
	int error = 0;

	pthread_mutex_lock(&d->lock);
	if (d->closing) {
		error = -ESHUTDOWN;
	} else if (d->queue != NULL) {
		error = iosched_insert(d->queue, &io->rq, now);
	} else {
		io->next = NULL;
		*d->end = io;
		d->end = &io->next;
	}
	if (error == 0)
		pthread_cond_signal(&d->work);
	pthread_mutex_unlock(&d->lock);
	return error;
}

/* [abandon] */
/* Everything not yet with the device goes back unissued. */
static void give_up_queued(struct disk *d)
{
	struct iosched_request *rq;

	pthread_mutex_lock(&d->lock);
	d->closing = true;
	while ((rq = d->queue != NULL ? iosched_drain(d->queue, load_now()) : next_request(d, 0)) !=
	       NULL) {
		struct io *io = io_of(rq);

		io->error = -ECANCELED;
		pthread_mutex_unlock(&d->lock);
		io->done(io);
		pthread_mutex_lock(&d->lock);
	}
	pthread_mutex_unlock(&d->lock);
}
/* [/abandon] */

/* What is queued is done first; to have it back undone, give_up_queued() before. */
static int disk_close(struct disk *d)
{
	unsigned i;
	int error;

	pthread_mutex_lock(&d->lock);
	d->closing = true;
	pthread_cond_broadcast(&d->work);
	pthread_mutex_unlock(&d->lock);
	for (i = 0; i < d->n_workers; i++)
		pthread_join(d->workers[i], NULL);
	error = iosched_destroy(d->queue);
	pthread_cond_destroy(&d->work);
	pthread_mutex_destroy(&d->lock);
	free(d->workers);
	close(d->fd);
	return error;
}

static int start_workers(struct disk *d, unsigned n)
{
	pthread_condattr_t attr;
	int error = 0;

	pthread_mutex_init(&d->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->work, &attr);
	pthread_condattr_destroy(&attr);
	d->end = &d->first;
	d->workers = calloc(n, sizeof(*d->workers));
	if (d->workers == NULL)
		return -ENOMEM;
	while (error == 0 && d->n_workers < n) {
		error = -pthread_create(&d->workers[d->n_workers], NULL, worker, d);
		d->n_workers += error == 0;
	}
	return error;
}

static int disk_open(struct disk *d, const struct load *load)
{
	struct iosched_params params;
	int error = 0;

	memset(d, 0, sizeof(*d));
	d->fd = open(load->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (d->fd < 0)
		return -errno;
	iosched_params_init(&params, sizeof(params));
	params.policy = load->policy;
	params.max_inflight = load->threads; /* a worker waits for each anyway */
	params.max_merge_bytes = 128 * 1024;
	params.expected_queued = load->clients * load->depth; /* a hash that stays in the cache */
	if (load->policy != NULL)
		error = iosched_create(&d->queue, &params);
	if (error == 0)
		return start_workers(d, load->threads);
	close(d->fd);
	return error;
}

int main(int argc, char **argv)
{
	struct load load = {.program = "threaded_queue", .submit = disk_submit};
	struct disk disk;
	int error = load_options(&load, argc, argv), code;

	if (error != 0)
		return error;
	if (load.recover != NULL) {
		code = load_recover(&load);
		free(load.pool);
		return code;
	}
	load.engine = &disk;
	error = disk_open(&disk, &load);
	if (error == 0)
		error = load_start(&load);
	if (error != 0) {
		fprintf(stderr, "threaded_queue: %s: %s\n", load.path, strerror(-error));
		return 1;
	}
	load_run(&load);
	if (load.abandon)
		give_up_queued(&disk);
	code = load_wait(&load);
	error = disk_close(&disk);
	load_free(&load);
	if (error != 0)
		fprintf(stderr, "threaded_queue: requests were left in the queue\n");
	return error != 0 ? 1 : code;
}
