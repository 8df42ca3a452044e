/* SPDX-License-Identifier: MIT */
/*
 * nbdkit-iosched-disk-plugin: a disk of the simulator, in real time, as an NBD server.
 *
 * Every request takes as long as the simulated drive needs for it. All exports are the same
 * disk; their names say whose time it is, and `stats` tells how much each had.
 *
 * Each of nbdkit's threads submits its request and sleeps until the disk's thread answers.
 */
#define _GNU_SOURCE
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <iosched/sim.h>

#include "identity.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL
#define MAX_SETTINGS 32
#define MAX_OWNERS 64

struct owner {
	uint64_t id;
	char name[64];
};

static struct iosched_sim_disk *disk;
static struct iosched_sim_disk_params params;
static struct iosched_sim_setting overrides[MAX_SETTINGS];
static char *path, *stats_path;
static uint64_t bad_offset, bad_length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the owners */
static struct owner owners[MAX_OWNERS];
static unsigned owner_count;

/* --- Configuration --- */

static void disk_load(void)
{
	iosched_sim_disk_params_init(&params, sizeof(params));
	params.overrides = overrides;
}

static int wrong(const char *key, const char *value, const char *what)
{
	nbdkit_error("%s=%s: %s", key, value, what);
	return -1;
}

static int take_setting(const char *value)
{
	const char *colon = strchr(value, ':');

	if (colon == NULL)
		return wrong("set", value, "not of the form NAME:VALUE");
	if (params.override_count == MAX_SETTINGS)
		return wrong("set", value, "too many");
	overrides[params.override_count].name =
		nbdkit_strndup_intern(value, (size_t)(colon - value));
	overrides[params.override_count].value = colon + 1;
	return overrides[params.override_count++].name != NULL ? 0 : -1;
}

static int take_size(const char *value, uint64_t *out)
{
	int64_t n = nbdkit_parse_size(value);

	*out = (uint64_t)n;
	return n < 0 ? -1 : 0;
}

static int take_bad(const char *value)
{
	char *at = strdup(value);
	char *colon = at != NULL ? strchr(at, ':') : NULL;
	int error = -1;

	if (colon != NULL) {
		*colon = '\0';
		error = take_size(at, &bad_offset) != 0 ? -1 : take_size(colon + 1, &bad_length);
	} else {
		wrong("bad", value, "not of the form OFFSET:LENGTH");
	}
	free(at);
	return error;
}

static int take_path(char **out, const char *value)
{
	free(*out);
	*out = nbdkit_absolute_path(value);
	return *out != NULL ? 0 : -1;
}

static int disk_config(const char *key, const char *value)
{
	if (strcmp(key, "device") == 0)
		params.device = value;
	else if (strcmp(key, "set") == 0)
		return take_setting(value);
	else if (strcmp(key, "size") == 0)
		return take_size(value, &params.length);
	else if (strcmp(key, "file") == 0)
		return take_path(&path, value);
	else if (strcmp(key, "stats") == 0)
		return take_path(&stats_path, value);
	else if (strcmp(key, "time-permille") == 0)
		return nbdkit_parse_unsigned(key, value, &params.time_permille);
	else if (strcmp(key, "bad") == 0)
		return take_bad(value);
	else
		return wrong(key, value, "there is no such parameter");
	return 0;
}

/* A drive with a hole in it: a command that touches the hole fails. */
static int fault(void *user, const struct iosched_sim_disk_io *io, uint64_t *limit)
{
	(void)user;
	(void)limit;
	return io->offset < bad_offset + bad_length && bad_offset < io->offset + io->length ? -EIO
											    : 0;
}

static int open_disk(void)
{
	struct iosched_sim_error why;

	params.path = path;
	params.fault = bad_length != 0 ? fault : NULL;
	if (iosched_sim_disk_open(&disk, &params, &why) == 0)
		return 0;
	nbdkit_error("%s", why.text);
	return -1;
}

/* Opened twice: here, so that mistakes are seen on the terminal, and again after the fork
 * that takes its thread away. */
static int disk_get_ready(void)
{
	int error = open_disk();

	iosched_sim_disk_close(disk);
	disk = NULL;
	return error;
}

static int disk_after_fork(void)
{
	return open_disk();
}

/* --- The end --- */

static void write_stats(FILE *f)
{
	struct iosched_sim_device_stats s;

	iosched_sim_disk_stats(disk, &s);
	fprintf(f, "commands %llu\nmedia_ns %llu\nseeks %llu\n", (unsigned long long)s.commands,
		(unsigned long long)s.media_ns, (unsigned long long)s.seeks);
	for (unsigned i = 0; i < owner_count; i++)
		fprintf(f, "owner %s device_ns %llu\n", owners[i].name,
			(unsigned long long)iosched_sim_disk_owner_ns(disk, owners[i].id));
}

static void disk_unload(void)
{
	FILE *f = disk != NULL && stats_path != NULL ? fopen(stats_path, "w") : NULL;

	if (f != NULL) {
		write_stats(f);
		fclose(f);
	}
	iosched_sim_disk_close(disk);
	free(path);
	free(stats_path);
}

/* --- Connections --- */

/* Whose time is booked: once there are too many names, nobody's in particular. */
static uint64_t remember(uint64_t id, const char *name)
{
	unsigned i = 0;

	pthread_mutex_lock(&lock);
	while (i < owner_count && owners[i].id != id)
		i++;
	if (i == owner_count && i < MAX_OWNERS) {
		owners[i].id = id;
		snprintf(owners[i].name, sizeof(owners[i].name), "%.63s", name);
		owner_count++;
	}
	if (i == MAX_OWNERS)
		id = 0;
	pthread_mutex_unlock(&lock);
	return id;
}

static void *disk_handle(int readonly)
{
	const char *name = nbdkit_export_name();
	uint64_t *owner = malloc(sizeof(*owner));

	(void)readonly;
	if (owner == NULL) {
		nbdkit_error("out of memory");
		return NULL;
	}
	name = name != NULL ? name : "";
	*owner = remember(identity_hash(name), name);
	return owner;
}

static void disk_handle_close(void *handle)
{
	free(handle);
}

static int64_t disk_size(void *handle)
{
	(void)handle;
	return (int64_t)iosched_sim_disk_length(disk);
}

static int yes(void *handle)
{
	(void)handle;
	return 1;
}

static int fua_native(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

/* --- Requests --- */

struct wait {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool over;
	int error;
};

static void ended(struct iosched_sim_disk_io *io, int error)
{
	struct wait *w = io->user;

	pthread_mutex_lock(&w->lock);
	w->error = error == 0 && io->moved != io->length ? -EIO : error;
	w->over = true;
	pthread_cond_signal(&w->ended);
	pthread_mutex_unlock(&w->lock);
}

static int run(uint64_t owner, enum iosched_op op, void *buf, uint32_t count, uint64_t offset,
	       uint32_t flags)
{
	struct wait w = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
	struct iovec iov = {buf, count};
	struct iosched_sim_disk_io io = {
		.offset = offset,
		.length = count,
		.owner = owner,
		.op = (uint8_t)op,
		.fua = (flags & NBDKIT_FLAG_FUA) != 0,
		.iov = buf != NULL ? &iov : NULL,
		.iov_count = buf != NULL,
		.done = ended,
		.user = &w,
	};
	int error = iosched_sim_disk_submit(disk, &io);

	if (error == 0) {
		pthread_mutex_lock(&w.lock);
		while (!w.over)
			pthread_cond_wait(&w.ended, &w.lock);
		pthread_mutex_unlock(&w.lock);
		error = w.error;
	}
	pthread_cond_destroy(&w.ended);
	pthread_mutex_destroy(&w.lock);
	if (error == 0)
		return 0;
	nbdkit_error("the disk: %s", strerror(-error));
	nbdkit_set_error(-error);
	return -1;
}

static int disk_pread(void *handle, void *buf, uint32_t count, uint64_t offset, uint32_t flags)
{
	return run(*(uint64_t *)handle, IOSCHED_READ, buf, count, offset, flags);
}

static int disk_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset,
		       uint32_t flags)
{
	union {
		const void *in;
		void *out;
	} data = {buf}; /* an iovec of a write is only read */

	return run(*(uint64_t *)handle, IOSCHED_WRITE, data.out, count, offset, flags);
}

static int disk_flush(void *handle, uint32_t flags)
{
	return run(*(uint64_t *)handle, IOSCHED_FLUSH, NULL, 0, 0, flags);
}

static int disk_trim(void *handle, uint32_t count, uint64_t offset, uint32_t flags)
{
	return run(*(uint64_t *)handle, IOSCHED_DISCARD, NULL, count, offset, flags);
}

static struct nbdkit_plugin plugin = {
	.name = "iosched-disk",
	.longname = "nbdkit emulated disk plugin",
	.description = "a disk of libiosched's simulator, in real time",
	.load = disk_load,
	.unload = disk_unload,
	.config = disk_config,
	.config_help = "device=NAME         preset or model (default hdd)\n"
		       "set=NAME:VALUE      a parameter of the device\n"
		       "size=SIZE           bytes (default the file's, or the device's)\n"
		       "file=FILE           holds the data (default memory)\n"
		       "time-permille=N     1000 = as the drive, 100 = ten times faster\n"
		       "bad=OFFSET:LENGTH   this part answers with an error\n"
		       "stats=FILE          write what the drive did there at the end",
	.get_ready = disk_get_ready,
	.after_fork = disk_after_fork,
	.open = disk_handle,
	.close = disk_handle_close,
	.get_size = disk_size,
	.can_multi_conn = yes,
	.can_fua = fua_native,
	.is_rotational = yes,
	.pread = disk_pread,
	.pwrite = disk_pwrite,
	.flush = disk_flush,
	.trim = disk_trim,
};

struct nbdkit_plugin *plugin_init(void);
NBDKIT_REGISTER_PLUGIN(plugin)
