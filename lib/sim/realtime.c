/* SPDX-License-Identifier: MIT */
/*
 * realtime: a simulated device on the wall clock.
 *
 * Submitters put commands on `arrivals`, stamped with the disk's clock, and wake the thread. The
 * thread alone runs the engine: it lets the virtual clock catch up with the wall's, gives
 * the device what has arrived, moves the data of what is done and calls `done`, without the
 * lock. Then it sleeps until the next event is due.
 *
 * A command is on one list: arrivals (stamped), waiting (arrived, the device is full), in a slot
 * (with the device), finished (data and callback to come).
 *
 * Rule: events run at their own virtual times however late the thread wakes, so the drive's
 * schedule never drifts; only the answer of the moment is late.
 */
#define _GNU_SOURCE
#include "sim/realtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>

#include "sim/arith.h"
#include "sim/device.h"

#define MAX_BUFFERS 1024
#define MAX_PERMILLE 1000000

struct list {
	struct iosched_sim_disk_io *head;
	struct iosched_sim_disk_io **end;
};

/* A command with the device. */
struct slot {
	struct ios_sim_command cmd; /* first: the two are one pointer */
	struct ios_sim_piece piece;
	struct iosched_sim_disk_io *io; /* NULL: free */
	struct slot *next_free;
};

struct iosched_sim_disk {
	struct ios_sim_engine engine;
	struct ios_sim_ledger ledger;
	struct ios_sim_device *device;
	struct ios_sim_media media;
	int (*fault)(void *user, const struct iosched_sim_disk_io *io, uint64_t *limit);
	void *fault_user;
	uint64_t permille;
	uint64_t origin; /* wall clock at virtual time 0 */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool closing;
	bool refused;	     /* the device said -EBUSY and not yet ready */
	bool asleep;	     /* the thread waits on `wake` */
	int broken;	     /* 0, or why the engine has stopped for good */
	uint64_t unfinished; /* commands whose `done` has not returned */
	struct list arrivals, waiting, finished;
	struct slot *slots;
	struct slot *free_slots;
};

static void append(struct list *l, struct iosched_sim_disk_io *io)
{
	io->internal.next = NULL;
	*l->end = io;
	l->end = &io->internal.next;
}

static struct iosched_sim_disk_io *take(struct list *l)
{
	struct iosched_sim_disk_io *io = l->head;

	if (io == NULL)
		return NULL;
	l->head = io->internal.next;
	if (l->head == NULL)
		l->end = &l->head;
	return io;
}

/* --- Clock --- */

static uint64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static iosched_time disk_now(const struct iosched_sim_disk *d)
{
	return ios_sim_muldiv(wall() - d->origin, 1000, d->permille);
}

/* The first wall time at which disk_now() is not before @when. */
static uint64_t wall_of(const struct iosched_sim_disk *d, iosched_time when)
{
	return d->origin + ios_sim_muldiv(when, d->permille, 1000) + 1;
}

/* --- The device's side --- */

static void finish(struct iosched_sim_disk *d, struct slot *s, int error)
{
	s->io->internal.error = error;
	append(&d->finished, s->io);
	s->io = NULL;
	s->next_free = d->free_slots;
	d->free_slots = s;
}

static void feed(struct iosched_sim_disk *d);

static void command_done(struct ios_sim_command *cmd, int error)
{
	struct iosched_sim_disk *d = cmd->user;

	d->refused = false;
	finish(d, (struct slot *)(void *)cmd, error);
	feed(d);
}

static void device_ready(void *user)
{
	struct iosched_sim_disk *d = user;

	d->refused = false;
	feed(d);
}

static void fill(struct slot *s, struct iosched_sim_disk *d, struct iosched_sim_disk_io *io)
{
	s->io = io;
	s->piece = (struct ios_sim_piece){io->offset, io->length, io->owner, NULL};
	s->cmd = (struct ios_sim_command){
		.offset = io->offset,
		.length = io->length,
		.op = io->op,
		.fua = io->fua != 0,
		.pieces = &s->piece,
		.done = command_done,
		.user = d,
	};
}

/* Give the device what waits, while it takes any. */
static void feed(struct iosched_sim_disk *d)
{
	while (d->waiting.head != NULL && d->free_slots != NULL && !d->refused) {
		struct slot *s = d->free_slots;

		fill(s, d, d->waiting.head);
		if (ios_sim_device_submit(d->device, &s->cmd) != 0) {
			s->io = NULL;
			d->refused = true;
			break;
		}
		d->free_slots = s->next_free;
		take(&d->waiting);
	}
}

/* --- The thread --- */

/* No memory for events: what is under way can only fail, and so does all that comes. */
static void give_up(struct iosched_sim_disk *d, int why)
{
	struct iosched_sim_disk_io *io;

	d->broken = why;
	for (uint32_t i = 0; i < d->device->depth; i++)
		if (d->slots[i].io != NULL)
			finish(d, &d->slots[i], why);
	while ((io = take(&d->waiting)) != NULL || (io = take(&d->arrivals)) != NULL) {
		io->internal.error = why;
		append(&d->finished, io);
	}
}

static void catch_up(struct iosched_sim_disk *d)
{
	iosched_time now = disk_now(d);
	struct iosched_sim_disk_io *io;
	int why = d->broken;

	while (why == 0 && (io = take(&d->arrivals)) != NULL) {
		append(&d->waiting, io);
		why = ios_sim_engine_run_until(&d->engine, io->internal.arrived);
		feed(d);
	}
	if (why == 0)
		why = ios_sim_engine_run_until(&d->engine, now);
	if (why != 0)
		give_up(d, why < 0 ? why : -EIO);
}

static void move_data(struct iosched_sim_disk *d, struct iosched_sim_disk_io *io)
{
	uint64_t limit = io->length;
	int error = io->internal.error;

	if (error == 0 && d->fault != NULL)
		error = d->fault(d->fault_user, io, &limit);
	if (error == 0)
		error = ios_sim_media_move(&d->media, io, limit < io->length ? limit : io->length);
	io->done(io, error);
}

/* Returns whether there was anything. */
static bool answer(struct iosched_sim_disk *d)
{
	struct iosched_sim_disk_io *io;
	bool any = d->finished.head != NULL;

	while ((io = take(&d->finished)) != NULL) {
		pthread_mutex_unlock(&d->lock);
		move_data(d, io);
		pthread_mutex_lock(&d->lock);
		d->unfinished--;
	}
	return any;
}

static void sleep_until_due(struct iosched_sim_disk *d)
{
	d->asleep = true;
	if (d->engine.count == 0 || d->broken != 0) {
		pthread_cond_wait(&d->wake, &d->lock);
	} else {
		uint64_t t = wall_of(d, d->engine.heap[0].when);
		struct timespec until = {(time_t)(t / NSEC_PER_SEC), (long)(t % NSEC_PER_SEC)};

		pthread_cond_timedwait(&d->wake, &d->lock, &until);
	}
	d->asleep = false;
}

static void *keep_time(void *arg)
{
	struct iosched_sim_disk *d = arg;

	/* By default the kernel may wake us 50 us late, to save power. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	pthread_mutex_lock(&d->lock);
	while (!d->closing || d->unfinished > 0) {
		catch_up(d);
		if (!answer(d) && d->arrivals.head == NULL)
			sleep_until_due(d);
	}
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* --- The submitters' side --- */

static bool buffers_fit(const struct iosched_sim_disk_io *io)
{
	uint64_t total = 0;

	if (io->iov_count == 0)
		return io->iov == NULL;
	if (io->iov == NULL || io->iov_count > MAX_BUFFERS || io->op > IOSCHED_WRITE)
		return false;
	for (unsigned i = 0; i < io->iov_count; i++)
		if (__builtin_add_overflow(total, (uint64_t)io->iov[i].iov_len, &total))
			return false;
	return total == io->length;
}

static int check_io(const struct iosched_sim_disk *d, const struct iosched_sim_disk_io *io)
{
	if (io->op > IOSCHED_DISCARD || io->done == NULL ||
	    (io->length == 0) != (io->op == IOSCHED_FLUSH) || !buffers_fit(io))
		return -EINVAL;
	if (io->offset > d->media.length || io->length > d->media.length - io->offset)
		return -ERANGE;
	return 0;
}

int iosched_sim_disk_submit(struct iosched_sim_disk *d, struct iosched_sim_disk_io *io)
{
	int err = check_io(d, io);

	if (err != 0)
		return err;
	io->moved = 0;
	io->internal.error = 0;
	pthread_mutex_lock(&d->lock);
	io->internal.arrived = disk_now(d);
	append(&d->arrivals, io);
	d->unfinished++;
	if (d->asleep)
		pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

uint64_t iosched_sim_disk_length(const struct iosched_sim_disk *d)
{
	return d->media.length;
}

void iosched_sim_disk_describe(const struct iosched_sim_disk *d, struct iosched_params *p)
{
	const struct ios_sim_device *device = d->device;

	p->rotational = device->rotational;
	p->write_cache = device->write_cache;
	p->array = device->array;
	p->parallel = device->parallel;
	p->device_depth = device->depth;
	if (p->max_inflight == 0)
		p->max_inflight = device->depth;
}

void iosched_sim_disk_stats(struct iosched_sim_disk *d, struct iosched_sim_device_stats *out)
{
	pthread_mutex_lock(&d->lock);
	*out = d->device->stats;
	pthread_mutex_unlock(&d->lock);
}

uint64_t iosched_sim_disk_owner_ns(struct iosched_sim_disk *d, uint64_t owner)
{
	uint64_t ns;

	pthread_mutex_lock(&d->lock);
	ns = ios_sim_ledger_of(&d->ledger, owner);
	pthread_mutex_unlock(&d->lock);
	return ns;
}

/* --- Life --- */

void iosched_sim_disk_params_init(struct iosched_sim_disk_params *p, size_t size)
{
	struct iosched_sim_disk_params ours = {
		.size = size,
		.device = "hdd",
		.time_permille = 1000,
	};

	memset(p, 0, size);
	memcpy(p, &ours, size < sizeof(ours) ? size : sizeof(ours));
}

static int make_slots(struct iosched_sim_disk *d)
{
	d->slots = calloc(d->device->depth, sizeof(*d->slots));
	if (d->slots == NULL)
		return -ENOMEM;
	for (uint32_t i = d->device->depth; i-- > 0;) {
		d->slots[i].next_free = d->free_slots;
		d->free_slots = &d->slots[i];
	}
	return 0;
}

static int start(struct iosched_sim_disk *d, struct iosched_sim_error *why)
{
	pthread_condattr_t attr;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&d->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&d->lock, NULL);
	d->origin = wall();
	err = pthread_create(&d->thread, NULL, keep_time, d);
	if (err != 0) {
		pthread_mutex_destroy(&d->lock);
		pthread_cond_destroy(&d->wake);
		return ios_sim_fail(why, -err, "no thread for the disk: %s", strerror(err));
	}
	return 0;
}

static void end_device(struct iosched_sim_disk *d)
{
	if (d->device != NULL)
		ios_sim_device_destroy(d->device);
	ios_sim_engine_fini(&d->engine);
	ios_sim_ledger_fini(&d->ledger);
	free(d->slots);
	free(d);
}

static int make_device(struct iosched_sim_disk *d, const struct iosched_sim_disk_params *p,
		       struct iosched_sim_error *why)
{
	struct ios_sim_device_choice choice = {
		.name = p->device,
		.text = p->device_text,
		.text_name = p->device_text_name,
		.overrides = p->overrides,
		.override_count = p->override_count,
	};
	int err = ios_sim_device_create(&d->device, &choice, &d->engine, &d->ledger, why);

	if (err != 0)
		return err;
	d->device->ready = device_ready;
	d->device->ready_user = d;
	return make_slots(d);
}

static struct iosched_sim_disk *make_disk(const struct iosched_sim_disk_params *p)
{
	struct iosched_sim_disk *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return NULL;
	ios_sim_engine_init(&d->engine);
	ios_sim_ledger_init(&d->ledger);
	d->permille = p->time_permille;
	d->fault = p->fault;
	d->fault_user = p->user;
	d->arrivals.end = &d->arrivals.head;
	d->waiting.end = &d->waiting.head;
	d->finished.end = &d->finished.head;
	return d;
}

static int check_params(const struct iosched_sim_disk_params *p, struct iosched_sim_error *why)
{
	if (p->size != sizeof(*p))
		return ios_sim_fail(
			why, -EINVAL,
			"the parameters were not initialised by iosched_sim_disk_params_init()");
	if (p->device == NULL)
		return ios_sim_fail(why, -EINVAL, "no device is named");
	if (p->time_permille < 1 || p->time_permille > MAX_PERMILLE)
		return ios_sim_fail(why, -ERANGE, "time_permille is outside 1..%d", MAX_PERMILLE);
	return 0;
}

int iosched_sim_disk_open(struct iosched_sim_disk **out, const struct iosched_sim_disk_params *p,
			  struct iosched_sim_error *why)
{
	struct iosched_sim_disk *d;
	int err;

	*out = NULL;
	ios_sim_fail(why, 0, "%s", "");
	err = check_params(p, why);
	if (err != 0)
		return err;
	d = make_disk(p);
	if (d == NULL)
		return ios_sim_fail(why, -ENOMEM, "out of memory");
	err = make_device(d, p, why);
	if (err != 0)
		goto no_device;
	err = ios_sim_media_open(&d->media, p->path, p->length, d->device->capacity, why);
	if (err != 0)
		goto no_device;
	err = start(d, why);
	if (err == 0) {
		*out = d;
		return 0;
	}
	ios_sim_media_close(&d->media);
no_device:
	if (err == -ENOMEM)
		ios_sim_fail(why, err, "out of memory");
	end_device(d);
	return err;
}

void iosched_sim_disk_close(struct iosched_sim_disk *d)
{
	if (d == NULL)
		return;
	pthread_mutex_lock(&d->lock);
	d->closing = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->wake);
	ios_sim_media_close(&d->media);
	end_device(d);
}
