/* SPDX-License-Identifier: MIT */
/* uring_setup: an engine comes and goes. */
#define _GNU_SOURCE
#include "uring_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void refused(void *user, struct iosched_request *rq, int error)
{
	(void)user;
	uring_give_back(io_of(rq), error);
}

/* The kernel's newer ways first: they want one thread that is the ring's only user. */
static int make_ring(struct engine *e)
{
	static const unsigned flags[] = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
					 0};
	unsigned entries = 2 * e->window + 16, i;
	int error = -EINVAL;

	for (i = 0; i < 2 && error == -EINVAL; i++)
		error = io_uring_queue_init(entries, &e->ring, flags[i]);
	return error;
}

/* Both save the kernel work per request, and both may be refused (RLIMIT_MEMLOCK). */
static void register_all(struct engine *e, const struct engine_params *p)
{
	struct iovec pool = {p->pool, p->pool_size};

	if (e->disk != NULL) {
		snprintf(e->features, sizeof(e->features), "emulated %.60s", p->disk);
		return;
	}
	e->fixed_file = io_uring_register_files(&e->ring, &e->fd, 1) == 0;
	e->fixed_buffer = p->pool != NULL && io_uring_register_buffers(&e->ring, &pool, 1) == 0;
	snprintf(e->features, sizeof(e->features), "%s, %s file, %s buffers",
		 e->direct ? "O_DIRECT" : "page cache", e->fixed_file ? "registered" : "plain",
		 e->fixed_buffer ? "registered" : "plain");
}

int uring_open_ring(struct engine *e)
{
	int error = make_ring(e);

	if (error == 0)
		register_all(e, e->params);
	return error;
}

const char *engine_features(const struct engine *e)
{
	return e->features;
}

/* tmpfs and some others know no O_DIRECT. */
static int open_file(struct engine *e, const char *path, bool buffered)
{
	e->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (buffered ? 0 : O_DIRECT), 0666);
	e->direct = e->fd >= 0 && !buffered;
	if (e->fd < 0 && errno == EINVAL)
		e->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	return e->fd < 0 ? -errno : 0;
}

static int make_queue(struct engine *e, const struct engine_params *p)
{
	struct iosched_front_params fp;
	struct iosched_params qp;
	int error;

	iosched_front_params_init(&fp, sizeof(fp));
	fp.capacity = p->capacity;
	fp.refused = refused;
	error = iosched_front_create(&e->front, &fp);
	if (error != 0 || p->policy == NULL)
		return error;
	iosched_params_init(&qp, sizeof(qp));
	qp.policy = p->policy;
	qp.now = uring_now();
	qp.max_inflight = p->window;
	qp.max_merge_bytes = p->merge_bytes;
	qp.expected_queued = p->capacity;
	if (e->disk != NULL)
		iosched_sim_disk_describe(e->disk, &qp);
	return iosched_create(&e->queue, &qp);
}

static int make_slots(struct engine *e, unsigned merge_bytes)
{
	unsigned buffers = merge_bytes / ENGINE_BLOCK, i;

	e->slots = calloc(e->window, sizeof(*e->slots));
	e->iov = calloc((size_t)e->window * buffers, sizeof(*e->iov));
	if (e->slots == NULL || e->iov == NULL)
		return -ENOMEM;
	for (i = 0; i < e->window; i++) {
		e->slots[i].iov = e->iov + (size_t)i * buffers;
		e->slots[i].next_free = e->free_slots;
		e->free_slots = &e->slots[i];
	}
	return 0;
}

static int free_engine(struct engine *e)
{
	int error = iosched_destroy(e->queue);

	if (iosched_front_destroy(e->front) != 0)
		error = -EBUSY;
	iosched_sim_disk_close(e->disk);
	if (e->wake_fd >= 0)
		close(e->wake_fd);
	if (e->fd >= 0)
		close(e->fd);
	pthread_mutex_destroy(&e->cancel_lock);
	sem_destroy(&e->opened);
	free(e->iov);
	free(e->slots);
	free(e);
	return error;
}

int engine_open(struct engine **out, const struct engine_params *p)
{
	struct engine *e = calloc(1, sizeof(*e));
	int error;

	if (e == NULL)
		return -ENOMEM;
	e->window = p->window;
	e->end = &e->first;
	e->armed = IOSCHED_NEVER;
	e->fd = -1;
	e->params = p;
	pthread_mutex_init(&e->cancel_lock, NULL);
	sem_init(&e->opened, 0, 0);
	e->wake_fd = eventfd(0, EFD_CLOEXEC);
	if (e->wake_fd < 0)
		error = -errno;
	else
		error = p->disk != NULL ? uring_emulated_open(e, p)
					: open_file(e, p->path, p->buffered);
	if (error == 0)
		error = make_queue(e, p);
	if (error == 0)
		error = make_slots(e, p->merge_bytes);
	if (error == 0)
		error = -pthread_create(&e->dispatcher, NULL, uring_dispatcher, e);
	if (error != 0)
		goto free_engine;
	while (sem_wait(&e->opened) != 0)
		;
	error = e->error;
	if (error != 0)
		goto join;
	*out = e;
	return 0;
join:
	pthread_join(e->dispatcher, NULL);
free_engine:
	free_engine(e);
	return error;
}

void engine_abandon(struct engine *e)
{
	iosched_front_close(e->front);
	atomic_store(&e->abandoned, true);
	uring_wake(e);
}

int engine_close(struct engine *e)
{
	iosched_front_close(e->front);
	atomic_store(&e->closing, true);
	uring_wake(e);
	pthread_join(e->dispatcher, NULL);
	return free_engine(e);
}
