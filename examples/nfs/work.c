/* SPDX-License-Identifier: MIT */
/*
 * work: N threads that each serve one job at a time, as the kernel's nfsd does.
 *
 * What the queue takes for "who asks" is an option. By worker is what a server gets that lets
 * its threads be seen: a client's sequential file then looks like N random readers. By
 * file (and client) is what is really sequential.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "nfs.h"

/* A job in a worker. */
struct task {
	struct job *job;
	int fd;
};

/* --- The disk --- */

struct passing {
	sem_t answered;
	int error;
};

static void disk_answered(struct iosched_sim_disk_io *io, int error)
{
	struct passing *p = io->user;

	p->error = error;
	sem_post(&p->answered);
}

/* A drive that fails now and then. Called by the disk's thread alone. */
static int fail_some(void *user, const struct iosched_sim_disk_io *io, uint64_t *limit)
{
	static unsigned commands;

	(void)user;
	(void)io;
	(void)limit;
	return ++commands % server.options.fail_every == 0 ? -EIO : 0;
}

/* Where a file lies on the emulated disk: 1 GiB apart, in order of first use. */
#define DISK_STRIDE (UINT64_C(1) << 30)

/* Let as much time pass as the drive needs. The data is the real file's. */
static int spend_time(const struct job *j, uint8_t op, uint64_t offset, uint64_t length)
{
	struct iosched_sim_disk_io io = {
		.op = op, .length = length, .owner = j->connection->client};
	uint64_t room = iosched_sim_disk_length(server.disk) - length;
	struct passing p = {.error = 0};
	int error;

	if (op != IOSCHED_FLUSH)
		io.offset = (j->node->index * DISK_STRIDE + offset) % room;
	io.done = disk_answered;
	io.user = &p;
	sem_init(&p.answered, 0, 0);
	error = iosched_sim_disk_submit(server.disk, &io);
	while (error == 0 && sem_wait(&p.answered) != 0)
		continue;
	sem_destroy(&p.answered);
	return error != 0 ? error : p.error;
}

static int move(int fd, uint8_t op, char *data, uint64_t length, uint64_t offset)
{
	while (length > 0) {
		ssize_t n = op == IOSCHED_READ ? pread(fd, data, length, (off_t)offset)
					       : pwrite(fd, data, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0) { /* the file has become shorter: it reads as zeros */
			memset(data, 0, length);
			break;
		}
		data += n;
		length -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* The gate lets it go: its own extent, or one with its neighbours' in the same file. */
static int perform(struct ticket *t, uint64_t offset, uint64_t length, void *buffer)
{
	struct task *task = t->user;
	uint64_t at = offset % NFS_FILE_STRIDE;
	int error = server.disk != NULL ? spend_time(task->job, t->rq.op, at, length) : 0;

	if (error == 0 && t->rq.op != IOSCHED_FLUSH)
		error = move(task->fd, t->rq.op, buffer, length, at);
	if (error == 0 && (t->rq.op == IOSCHED_FLUSH || (t->rq.flags & IOSCHED_RQ_FUA) != 0))
		error = fdatasync(task->fd) == 0 ? 0 : -errno;
	return error;
}

/* --- Who asks --- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	return (h ^ h >> 31) | 1; /* 0 would be nobody */
}

/* [context] */
static uint64_t context_of(const struct job *j, unsigned worker)
{
	switch (server.options.context) {
	case BY_WORKER:
		return worker + 1;
	case BY_CLIENT:
		return mix(j->connection->client, 0);
	default:
		return mix(j->connection->client, j->node->index + 1);
	}
}
/* [/context] */

/* Contexts whose group is known to be set; a collision only sets it again. */
static uint64_t grouped[1024];

static void set_group(uint64_t context, uint32_t uid)
{
	struct iosched_group_params g;
	struct iosched_context_params c;
	uint64_t *known = &grouped[context % 1024];

	pthread_mutex_lock(&server.gate.lock);
	if (*known != context) {
		*known = context;
		iosched_group_params_init(&g, sizeof(g));
		iosched_context_params_init(&c, sizeof(c));
		c.group = (uint64_t)uid + 1;
		/* With no room for one more group or context it is served without. */
		if (iosched_group_set(server.gate.queue, c.group, &g, gate_now()) == 0)
			iosched_context_set(server.gate.queue, context, &c, gate_now());
	}
	pthread_mutex_unlock(&server.gate.lock);
}

void nfsd_work_client_gone(uint64_t client)
{
	uint64_t context = mix(client, 0);

	if (!server.scheduled || server.options.context != BY_CLIENT)
		return;
	pthread_mutex_lock(&server.gate.lock);
	if (grouped[context % 1024] == context)
		grouped[context % 1024] = 0;
	iosched_context_exit(server.gate.queue, context, gate_now());
	pthread_mutex_unlock(&server.gate.lock);
}

/* --- A job --- */

static void schedule(struct task *task, unsigned worker)
{
	struct job *j = task->job;
	struct ticket t = {.buffer = j->data, .perform = perform, .user = task};

	t.rq.op = j->op;
	t.rq.length = j->op == IOSCHED_FLUSH ? 0 : j->count;
	if (j->op != IOSCHED_FLUSH)
		t.rq.offset = j->node->index * NFS_FILE_STRIDE + j->offset;
	t.rq.context = context_of(j, worker);
	if (j->op == IOSCHED_WRITE && j->stable)
		t.rq.flags = IOSCHED_RQ_SYNC | IOSCHED_RQ_FUA;
	if (!server.scheduled) {
		j->error = perform(&t, t.rq.offset, t.rq.length, j->data);
		return;
	}
	if (server.options.by_uid)
		set_group(t.rq.context, j->uid);
	j->error = gate_pass(&server.gate, &t);
}

/* A read ends where the file does. */
static void clip(struct job *j, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;
	uint64_t left = j->offset < size ? size - j->offset : 0;

	if (j->op != IOSCHED_READ)
		return;
	if (j->count >= left)
		j->count = (uint32_t)left;
	j->eof = j->count == left;
}

static void serve(struct job *j, unsigned worker)
{
	struct task task = {.job = j};
	struct stat st;
	int flags = j->op == IOSCHED_WRITE ? O_WRONLY : O_RDONLY;

	task.fd = files_open_data(&server.files, j->node, flags, &st);
	if (task.fd < 0) {
		j->error = task.fd;
		return;
	}
	clip(j, &st);
	if (j->count > 0 || j->op == IOSCHED_FLUSH)
		schedule(&task, worker);
	j->has_after = fstat(task.fd, &j->after) == 0;
	close(task.fd);
}

/* --- The threads --- */

static struct job *take_waiting(void)
{
	struct job *j = server.waiting;

	if (j != NULL && (server.waiting = j->next) == NULL)
		server.waiting_end = &server.waiting;
	return j;
}

static void *worker(void *arg)
{
	unsigned number = *(unsigned *)arg;
	struct job *j;

	free(arg);
	pthread_mutex_lock(&server.lock);
	for (;;) {
		while ((j = take_waiting()) == NULL && !server.closing)
			pthread_cond_wait(&server.work, &server.lock);
		if (j == NULL)
			break;
		pthread_mutex_unlock(&server.lock);
		serve(j, number);
		pthread_mutex_lock(&server.lock);
		j->next = server.done;
		server.done = j;
		eventfd_write(server.event, 1);
	}
	pthread_mutex_unlock(&server.lock);
	return NULL;
}

void nfsd_work_give(struct job *j)
{
	pthread_mutex_lock(&server.lock);
	j->next = NULL;
	*server.waiting_end = j;
	server.waiting_end = &j->next;
	server.taken++;
	pthread_cond_signal(&server.work);
	pthread_mutex_unlock(&server.lock);
}

struct job *nfsd_work_back(void)
{
	struct job *list = NULL, *j;
	eventfd_t n;

	eventfd_read(server.event, &n);
	pthread_mutex_lock(&server.lock);
	while ((j = server.done) != NULL) { /* first done, first answered */
		server.done = j->next;
		j->next = list;
		list = j;
		server.answered++;
	}
	pthread_mutex_unlock(&server.lock);
	return list;
}

/* --- Life --- */

static int start_disk(void)
{
	struct iosched_sim_disk_params p;
	struct iosched_sim_error why;
	int error;

	if (server.options.device == NULL)
		return 0;
	iosched_sim_disk_params_init(&p, sizeof(p));
	p.device = server.options.device;
	p.time_permille = server.options.time_permille;
	p.fault = server.options.fail_every != 0 ? fail_some : NULL;
	error = iosched_sim_disk_open(&server.disk, &p, &why);
	if (error != 0)
		fprintf(stderr, "nfs_server: %s\n", why.text);
	return error;
}

static int start_gate(void)
{
	struct iosched_group_params g;
	struct iosched_params p;
	int error;

	if (server.options.policy == NULL)
		return 0;
	iosched_params_init(&p, sizeof(p));
	p.policy = server.options.policy;
	p.max_inflight = server.options.depth;
	if (server.disk != NULL)
		iosched_sim_disk_describe(server.disk, &p);
	error = gate_init(&server.gate, &p);
	iosched_group_params_init(&g, sizeof(g));
	server.scheduled = error == 0;
	if (error == 0 && server.options.by_uid)
		error = iosched_group_set(server.gate.queue, 1, &g, gate_now());
	if (error == 0)
		error = gate_start(&server.gate);
	if (error != 0)
		fprintf(stderr, "nfs_server: policy %s: %s\n", iosched_policy_name(p.policy),
			error == -EOPNOTSUPP ? "it has no groups" : strerror(-error));
	return error;
}

static int start_thread(unsigned number)
{
	unsigned *arg = malloc(sizeof(*arg));
	int error;

	if (arg == NULL)
		return -ENOMEM;
	*arg = number;
	error = pthread_create(&server.threads[number], NULL, worker, arg);
	if (error != 0)
		free(arg);
	return -error;
}

int nfsd_work_start(void)
{
	int error = 0;

	pthread_mutex_init(&server.lock, NULL);
	pthread_cond_init(&server.work, NULL);
	server.waiting_end = &server.waiting;
	server.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server.event < 0)
		return -errno;
	error = start_disk();
	if (error == 0)
		error = start_gate();
	if (error != 0)
		return error;
	server.threads = calloc(server.options.workers, sizeof(*server.threads));
	if (server.threads == NULL)
		return -ENOMEM;
	while (error == 0 && server.thread_count < server.options.workers) {
		error = start_thread(server.thread_count);
		server.thread_count += error == 0;
	}
	return error;
}

void nfsd_work_stop(void)
{
	pthread_mutex_lock(&server.lock);
	server.closing = true;
	pthread_cond_broadcast(&server.work);
	pthread_mutex_unlock(&server.lock);
	for (unsigned i = 0; i < server.thread_count; i++)
		pthread_join(server.threads[i], NULL);
	free(server.threads);
	if (server.scheduled && gate_fini(&server.gate) != 0)
		fprintf(stderr, "nfs_server: requests were left in the queue\n");
	iosched_sim_disk_close(server.disk);
}
