/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "workbench.h"

#define BLOCK 4096u  /* what O_DIRECT wants of address, offset and length, at most */
#define SAMPLES 2048 /* latencies a thread keeps, the latest ones: enough for a median */

/* --- opening --- */

/* Some filesystems take the flag and refuse the read. */
static bool reads_direct(int fd)
{
	void *block = aligned_alloc(BLOCK, BLOCK);
	bool read = block != NULL && pread(fd, block, BLOCK, 0) == BLOCK;

	free(block);
	return read;
}

static int open_file(struct wb_probe *p, int flags)
{
	p->fd = open(p->path, flags | O_DIRECT);
	p->direct = p->fd >= 0 && reads_direct(p->fd);
	if (p->direct)
		return WB_OK;
	wb_probe_close(p);
	p->fd = open(p->path, flags);
	if (p->fd < 0)
		return wb_fail("%s: %s", p->path, strerror(errno));
	return WB_OK;
}

static int look(struct wb_probe *p, const struct stat *st)
{
	off_t end = lseek(p->fd, 0, SEEK_END);

	if (end < 0)
		return wb_fail("%s: %s", p->path, strerror(errno));
	p->size = (uint64_t)end / BLOCK * BLOCK;
	if ((uint64_t)end < WB_PROBE_LEAST)
		return wb_fail("%s: too small to measure: %lld bytes, and 16 MiB are the least",
			       p->path, (long long)end);
	p->block = S_ISBLK(st->st_mode);
	p->device = p->block ? st->st_rdev : st->st_dev;
	p->holes = !p->block && (uint64_t)st->st_blocks * 512 < p->size;
	return WB_OK;
}

int wb_probe_open(struct wb_probe *p, const char *path, bool write)
{
	int flags = (write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	struct stat st;
	int code;

	*p = (struct wb_probe){.path = path, .fd = -1};
	/* Before it is opened: to open a pipe or a tape may wait or wind. */
	if (stat(path, &st) != 0)
		return wb_fail("%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return wb_fail("%s: is a directory; name a file in it or its block device", path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return wb_fail("%s: neither a file nor a block device", path);
	/* The kernel then refuses a device that is mounted or otherwise in use. */
	if (write && S_ISBLK(st.st_mode))
		flags |= O_EXCL;
	code = open_file(p, flags);
	return code == WB_OK ? look(p, &st) : code;
}

void wb_probe_close(struct wb_probe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* --- one load --- */

struct shared {
	const struct wb_probe *p;
	const struct wb_load *load;
	uint64_t end_ns;
	_Atomic uint64_t cursor; /* requests of a sequential load handed out */
	_Atomic int error;
};

struct worker {
	struct shared *shared;
	pthread_t thread;
	char *buffer;
	uint64_t random; /* state of xorshift64; not 0 */
	uint64_t requests, sum_ns;
	uint64_t *samples; /* its part of all threads' */
	bool started;
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t draw(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

static uint64_t next_offset(struct worker *w)
{
	struct shared *s = w->shared;
	uint64_t places = s->p->size / s->load->bytes;

	if (s->load->random)
		return draw(w) % places * s->load->bytes;
	return atomic_fetch_add(&s->cursor, 1) % places * s->load->bytes;
}

static bool transfer(struct worker *w)
{
	const struct wb_load *load = w->shared->load;
	off_t offset = (off_t)next_offset(w);
	ssize_t got;

	if (load->write)
		got = pwrite(w->shared->p->fd, w->buffer, load->bytes, offset);
	else
		got = pread(w->shared->p->fd, w->buffer, load->bytes, offset);
	if (got == (ssize_t)load->bytes)
		return true;
	/* Short: somebody cut the file. */
	atomic_store(&w->shared->error, got < 0 ? errno : EIO);
	return false;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t now = clock_ns();

	while (now < w->shared->end_ns && atomic_load(&w->shared->error) == 0 && transfer(w)) {
		uint64_t done = clock_ns();

		w->samples[w->requests++ % SAMPLES] = done - now;
		w->sum_ns += done - now;
		now = done;
	}
	return NULL;
}

static bool start(struct worker *w, struct shared *s, uint64_t seed)
{
	w->shared = s;
	w->random = seed | 1;
	w->buffer = aligned_alloc(BLOCK, s->load->bytes);
	if (w->buffer == NULL)
		return false;
	/* Devices that compress or skip zeros would look too fast. */
	for (uint32_t i = 0; i < s->load->bytes; i++)
		w->buffer[i] = (char)draw(w);
	w->started = pthread_create(&w->thread, NULL, work, w) == 0;
	return w->started;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of all threads: one alone may have had little of the processor. Moves the samples. */
static double median(const struct worker *workers, uint32_t count)
{
	uint64_t *all = workers[0].samples;
	size_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t done = workers[i].requests;
		size_t kept = done < SAMPLES ? (size_t)done : SAMPLES;

		memmove(all + total, workers[i].samples, kept * sizeof(*all));
		total += kept;
	}
	qsort(all, total, sizeof(*all), by_value);
	return total > 0 ? (double)all[total / 2] : 0;
}

static void sum_up(struct worker *workers, const struct wb_load *load, uint64_t took,
		   struct wb_rate *out)
{
	uint64_t sum_ns = 0;

	*out = (struct wb_rate){0};
	for (uint32_t i = 0; i < load->depth; i++) {
		out->requests += workers[i].requests;
		sum_ns += workers[i].sum_ns;
	}
	out->per_s = (double)out->requests * 1e9 / (double)took;
	out->bytes_per_s = out->per_s * load->bytes;
	if (out->requests > 0)
		out->mean_ns = (double)sum_ns / (double)out->requests;
	out->median_ns = median(workers, load->depth);
}

int wb_probe_run(const struct wb_probe *p, const struct wb_load *load, uint64_t ns,
		 struct wb_rate *out)
{
	struct worker workers[WB_PROBE_DEPTH] = {{0}};
	struct shared s = {.p = p, .load = load};
	uint64_t *samples = calloc((size_t)load->depth * SAMPLES, sizeof(*samples));
	uint64_t began;
	int error = 0;

	if (samples == NULL)
		return wb_fail("%s: %s", p->path, strerror(ENOMEM));
	/* Without O_DIRECT, at least what earlier loads left is dropped. */
	if (!p->direct)
		posix_fadvise(p->fd, 0, 0, POSIX_FADV_DONTNEED);
	began = clock_ns();
	s.end_ns = began + ns;
	for (uint32_t i = 0; i < load->depth; i++)
		workers[i].samples = samples + (size_t)i * SAMPLES;
	for (uint32_t i = 0; i < load->depth && error == 0; i++)
		if (!start(&workers[i], &s, began * (i + 1)))
			error = ENOMEM;
	if (error != 0)
		atomic_store(&s.error, error);
	for (uint32_t i = 0; i < load->depth; i++)
		if (workers[i].started)
			pthread_join(workers[i].thread, NULL);
	/* Without O_DIRECT what was written lies in memory until this. */
	if (load->write && fdatasync(p->fd) != 0)
		atomic_store(&s.error, errno);
	sum_up(workers, load, clock_ns() - began, out);
	for (uint32_t i = 0; i < load->depth; i++)
		free(workers[i].buffer);
	free(samples);
	error = atomic_load(&s.error);
	if (error != 0)
		return wb_fail("%s: %s: %s", p->path, load->name, strerror(error));
	if (out->requests == 0)
		return wb_fail("%s: %s: nothing was done in time; give it more --seconds", p->path,
			       load->name);
	return WB_OK;
}
