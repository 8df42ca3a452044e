/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sim/realtime.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/param.h"

/* Buffers handed to the kernel at a time, well below its own limit. */
#define PART 64

static int fail(struct iosched_sim_error *why, int err, const char *what, const char *path)
{
	return ios_sim_fail(why, err, "%s: %s: %s", path, what, strerror(-err));
}

/* How many bytes the medium has, and a file that has as many. */
static int size_file(struct ios_sim_media *m, const char *name, uint64_t capacity,
		     struct iosched_sim_error *why)
{
	struct stat st;

	if (fstat(m->fd, &st) != 0)
		return fail(why, -errno, "cannot be looked at", name);
	if (m->length == 0)
		m->length = st.st_size != 0 ? (uint64_t)st.st_size : capacity;
	if (m->length > capacity)
		return ios_sim_fail(why, -ERANGE, "%s: %llu bytes are more than the device's %llu",
				    name, (unsigned long long)m->length,
				    (unsigned long long)capacity);
	if (m->length > (uint64_t)st.st_size && ftruncate(m->fd, (off_t)m->length) != 0)
		return fail(why, -errno, "cannot be made longer", name);
	return 0;
}

int ios_sim_media_open(struct ios_sim_media *m, const char *path, uint64_t length,
		       uint64_t capacity, struct iosched_sim_error *why)
{
	const char *name = path != NULL ? path : "memory";
	int err;

	m->named = path != NULL;
	m->length = length;
	m->fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)
			     : memfd_create("iosched-disk", MFD_CLOEXEC);
	if (m->fd < 0)
		return fail(why, -errno, "cannot be opened", name);
	err = size_file(m, name, capacity, why);
	if (err != 0)
		close(m->fd);
	return err;
}

void ios_sim_media_close(struct ios_sim_media *m)
{
	close(m->fd);
}

/* The part of @iov that begins @skip bytes in and holds at most @limit. Returns its buffers. */
static unsigned cut(struct iovec *part, const struct iovec *iov, unsigned count, uint64_t skip,
		    uint64_t limit)
{
	unsigned n = 0;

	for (unsigned i = 0; i < count && n < PART && limit > 0; i++) {
		uint64_t length = iov[i].iov_len;

		if (skip >= length) {
			skip -= length;
			continue;
		}
		length -= skip;
		if (length > limit)
			length = limit;
		if (length == 0)
			continue;
		part[n].iov_base = (char *)iov[i].iov_base + skip;
		part[n++].iov_len = (size_t)length;
		limit -= length;
		skip = 0;
	}
	return n;
}

static int transfer(const struct ios_sim_media *m, struct iosched_sim_disk_io *io, uint64_t limit)
{
	struct iovec part[PART];

	while (io->moved < limit) {
		unsigned n = cut(part, io->iov, io->iov_count, io->moved, limit - io->moved);
		off_t at = (off_t)(io->offset + io->moved);
		ssize_t got = io->op == IOSCHED_READ ? preadv(m->fd, part, (int)n, at)
						     : pwritev(m->fd, part, (int)n, at);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EIO; /* someone made the file shorter */
		if (got > 0)
			io->moved += (uint64_t)got;
	}
	return 0;
}

/* The content is no longer needed; that the file cannot forget it is no error. */
static void forget(const struct ios_sim_media *m, const struct iosched_sim_disk_io *io)
{
	(void)fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)io->offset,
			(off_t)io->length);
}

int ios_sim_media_move(const struct ios_sim_media *m, struct iosched_sim_disk_io *io,
		       uint64_t limit)
{
	if (io->op == IOSCHED_FLUSH)
		return m->named && fdatasync(m->fd) != 0 ? -errno : 0;
	if (io->op == IOSCHED_DISCARD && limit == io->length && io->iov == NULL)
		forget(m, io);
	if (io->op <= IOSCHED_WRITE && io->iov_count != 0)
		return transfer(m, io, limit);
	io->moved = limit;
	return 0;
}
