/* SPDX-License-Identifier: MIT */
/* clang-format off: its lines are a table */
/*
 * An NFS client, by libnfs, that reads one file from its start with several READs on the road, as a
 * kernel's read-ahead does.
 *
 *   load read MS WINDOW SIZE URL         prints bytes a second
 *   load rate ROUNDS WINDOW SIZE URL URL reads by both in turn; prints 1000 * second / first
 *   load verify WINDOW SIZE URL FILE     the whole file, compared
 *   load some WINDOW SIZE URL FILE       the same, but some READs must fail, with EIO, and some not
 *   load names URL                       makes, renames, cuts and removes files in a folder
 *   load full URL                        writes into a folder until its disk is full
 */
/* clang-format on */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

#define MAX_WINDOW 64

struct reader {
	struct nfs_context *nfs;
	struct nfsfh *file;
	uint64_t size, next, bytes;
	uint32_t chunk;
	unsigned window, flying;
	bool once, failed, tolerant;
	uint64_t good, bad;
	int compare; /* file descriptor, or -1 */
};

struct flight {
	struct reader *reader;
	uint64_t offset;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void compare(struct reader *r, uint64_t offset, const void *data, size_t n)
{
	char *mine = malloc(n + 1);

	if (mine == NULL || pread(r->compare, mine, n, (off_t)offset) != (ssize_t)n ||
	    memcmp(mine, data, n) != 0) {
		fprintf(stderr, "load: something else at %" PRIu64 "\n", offset);
		r->failed = true;
	}
	free(mine);
}

static void arrived(int status, struct nfs_context *nfs, void *data, void *user)
{
	struct flight *f = user;
	struct reader *r = f->reader;

	/* libnfs tells why a READ failed in words only. */
	bool eio =
		status == -EIO || (status == -EFAULT && strstr(nfs_get_error(nfs), "NFS3ERR_IO"));

	r->flying--;
	r->good += status > 0;
	r->bad += eio;
	if (eio && r->tolerant) {
		free(f);
		return;
	}
	if (status <= 0) {
		fprintf(stderr, "load: read at %" PRIu64 ": %d, %s\n", f->offset, status,
			nfs_get_error(nfs));
		r->failed = true;
	} else {
		r->bytes += (uint64_t)status;
		if (r->compare >= 0)
			compare(r, f->offset, data, (size_t)status);
	}
	free(f);
}

static void send_more(struct reader *r)
{
	while (!r->failed && r->flying < r->window && !(r->once && r->next >= r->size)) {
		struct flight *f = malloc(sizeof(*f));
		uint64_t left;

		if (r->next >= r->size)
			r->next = 0;
		left = r->size - r->next;
		*f = (struct flight){r, r->next};
		if (nfs_pread_async(r->nfs, r->file, r->next, left < r->chunk ? left : r->chunk,
				    arrived, f) != 0) {
			free(f);
			r->failed = true;
			return;
		}
		r->flying++;
		r->next += r->chunk;
	}
}

static void step(struct reader *r)
{
	struct pollfd p = {nfs_get_fd(r->nfs), (short)nfs_which_events(r->nfs), 0};

	if (poll(&p, 1, 10000) <= 0 || nfs_service(r->nfs, p.revents) < 0) {
		fprintf(stderr, "load: the server is gone: %s\n", nfs_get_error(r->nfs));
		r->failed = true;
	}
}

static void land(struct reader *r)
{
	while (r->flying > 0 && !r->failed)
		step(r);
}

static struct reader *open_url(const char *url, const char *window, const char *chunk)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct nfs_stat_64 st;
	struct nfs_url *u;

	if (r == NULL)
		exit(1);
	r->compare = -1;
	r->window = (unsigned)strtoul(window, NULL, 10) % (MAX_WINDOW + 1);
	r->chunk = (uint32_t)strtoul(chunk, NULL, 10);
	r->nfs = nfs_init_context();
	u = nfs_parse_url_full(r->nfs, url);
	if (u == NULL || nfs_mount(r->nfs, u->server, u->path) != 0 ||
	    nfs_open(r->nfs, u->file, O_RDONLY, &r->file) != 0 ||
	    nfs_fstat64(r->nfs, r->file, &st) != 0) {
		fprintf(stderr, "load: %s: %s\n", url, nfs_get_error(r->nfs));
		exit(1);
	}
	r->size = st.nfs_size;
	nfs_destroy_url(u);
	return r;
}

static bool leave(struct reader *r)
{
	bool failed = r->failed;

	land(r);
	if (!failed)
		nfs_close(r->nfs, r->file);
	nfs_destroy_context(r->nfs);
	free(r);
	return failed;
}

/* Bytes a second for so long; what is on the road at the end is not counted. */
static double read_for(struct reader *r, uint64_t ns)
{
	uint64_t begin = now_ns(), before = r->bytes, t;
	double rate;

	do {
		send_more(r);
		step(r);
		t = now_ns() - begin;
	} while (t < ns && !r->failed);
	rate = (double)(r->bytes - before) * 1e9 / (double)t;
	land(r);
	return rate;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int rate(unsigned rounds, struct reader *one, struct reader *two)
{
	struct reader *r[2] = {one, two};
	double rates[2][100];
	bool failed;

	if (rounds < 1 || rounds > 100)
		return 1;
	for (unsigned i = 0; i < rounds; i++) {
		rates[i % 2][i] = read_for(r[i % 2], 50000000);
		rates[1 - i % 2][i] = read_for(r[1 - i % 2], 50000000);
	}
	for (int i = 0; i < 2; i++)
		qsort(rates[i], rounds, sizeof(double), by_size);
	/* Other programs only take away: the upper quartile is touched least. */
	printf("%.0f (%.0f and %.0f MB/s)\n",
	       1000 * rates[1][rounds * 3 / 4] / rates[0][rounds * 3 / 4],
	       rates[0][rounds * 3 / 4] / 1e6, rates[1][rounds * 3 / 4] / 1e6);
	failed = leave(one);
	return leave(two) || failed;
}

static int verify(struct reader *r, const char *path, bool tolerant)
{
	uint64_t reads = (r->size + r->chunk - 1) / r->chunk;
	bool whole;

	r->once = true;
	r->tolerant = tolerant;
	r->compare = open(path, O_RDONLY | O_CLOEXEC);
	do {
		send_more(r);
		if (r->flying > 0)
			step(r);
	} while (!r->failed && (r->flying > 0 || r->next < r->size));
	whole = r->compare >= 0 && r->good + r->bad == reads && (r->bad != 0) == tolerant &&
		(tolerant ? r->good != 0 : r->bytes == r->size);
	close(r->compare);
	return leave(r) || !whole;
}

static struct nfs_context *mount_url(const char *url)
{
	struct nfs_context *nfs = nfs_init_context();
	struct nfs_url *u = nfs_parse_url_dir(nfs, url);

	if (u == NULL || nfs_mount(nfs, u->server, u->path) != 0) {
		fprintf(stderr, "load: %s: %s\n", url, nfs_get_error(nfs));
		exit(1);
	}
	nfs_destroy_url(u);
	return nfs;
}

#define HOLDS(claim)                                                                           \
	do {                                                                                   \
		if (!(claim)) {                                                                \
			fprintf(stderr, "load: not so: %s: %s\n", #claim, nfs_get_error(nfs)); \
			return 1;                                                              \
		}                                                                              \
	} while (0)

/* What ordinary clients do to folders, and what must not be done. */
static int names(const char *url)
{
	struct nfs_context *nfs = mount_url(url);
	struct nfsfh *file;
	struct nfs_stat_64 st;
	char got[16];

	HOLDS(nfs_mkdir(nfs, "/d") == 0);
	HOLDS(nfs_mkdir(nfs, "/d") == -EEXIST);
	HOLDS(nfs_creat(nfs, "/d/a", 0644, &file) == 0);
	HOLDS(nfs_pwrite(nfs, file, 0, 10, "0123456789") == 10);
	HOLDS(nfs_rename(nfs, "/d/a", "/d/b") == 0);
	HOLDS(nfs_stat64(nfs, "/d/a", &st) == -ENOENT);
	HOLDS(nfs_pwrite(nfs, file, 10, 2, "ab") == 2); /* the open file is the same */
	HOLDS(nfs_rename(nfs, "/d/b", "/d/a") == 0 && nfs_rename(nfs, "/d/a", "/b") == 0);
	HOLDS(nfs_pread(nfs, file, 0, 12, got) == 12 && memcmp(got, "0123456789ab", 12) == 0);
	HOLDS(nfs_ftruncate(nfs, file, 5) == 0 && nfs_fstat64(nfs, file, &st) == 0);
	HOLDS(st.nfs_size == 5);
	HOLDS(nfs_close(nfs, file) == 0);
	HOLDS(nfs_truncate(nfs, "/b", 3) == 0 && nfs_stat64(nfs, "/b", &st) == 0);
	HOLDS(st.nfs_size == 3);
	HOLDS(nfs_chmod(nfs, "/b", 0600) == 0 && nfs_stat64(nfs, "/b", &st) == 0);
	HOLDS((st.nfs_mode & 0777) == 0600);
	HOLDS(nfs_rename(nfs, "/d", "/e") == 0 && nfs_rename(nfs, "/b", "/e/b") == 0);
	HOLDS(nfs_rmdir(nfs, "/e") == -ENOTEMPTY);
	HOLDS(nfs_unlink(nfs, "/e/b") == 0);
	HOLDS(nfs_unlink(nfs, "/e/b") == -ENOENT);
	HOLDS(nfs_unlink(nfs, "/e") != 0);
	HOLDS(nfs_rmdir(nfs, "/e") == 0);
	HOLDS(nfs_rmdir(nfs, "/e") == -ENOENT);
	nfs_destroy_context(nfs);
	return 0;
}

struct writer {
	bool answered, full;
	int n;
};

/* The synchronous call loses the words, and libnfs tells why a WRITE failed in words only. */
static void written(int status, struct nfs_context *nfs, void *data, void *user)
{
	struct writer *w = user;

	(void)data;
	w->answered = true;
	w->n = status;
	w->full = status == -ENOSPC ||
		  (status < 0 && strstr(nfs_get_error(nfs), "NFS3ERR_NOSPC") != NULL);
}

static int write_piece(struct nfs_context *nfs, struct nfsfh *file, uint64_t at, struct writer *w)
{
	static char data[65536];

	*w = (struct writer){.n = -EIO};
	if (nfs_pwrite_async(nfs, file, at, sizeof(data), data, written, w) != 0)
		return -EIO;
	while (!w->answered) {
		struct pollfd p = {nfs_get_fd(nfs), (short)nfs_which_events(nfs), 0};

		if (poll(&p, 1, 10000) <= 0 || nfs_service(nfs, p.revents) < 0)
			return -EIO;
	}
	return w->n;
}

/* Writes until the disk is full, and is told that it is. */
static int full(const char *url)
{
	struct nfs_context *nfs = mount_url(url);
	struct nfsfh *file;
	struct writer w;
	uint64_t at = 0;
	int n;

	HOLDS(nfs_creat(nfs, "/big", 0644, &file) == 0);
	while ((n = write_piece(nfs, file, at, &w)) > 0)
		at += (uint64_t)n;
	HOLDS(w.full);
	HOLDS(at > 0);
	(void)nfs_close(nfs, file);
	HOLDS(nfs_unlink(nfs, "/big") == 0);
	nfs_destroy_context(nfs);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "full") == 0)
		return full(argv[2]);
	if (argc == 3 && strcmp(argv[1], "names") == 0)
		return names(argv[2]);
	if (argc == 6 && strcmp(argv[1], "read") == 0) {
		struct reader *r = open_url(argv[5], argv[3], argv[4]);

		printf("%.0f\n", read_for(r, strtoull(argv[2], NULL, 10) * 1000000));
		return leave(r);
	}
	if (argc == 7 && strcmp(argv[1], "rate") == 0)
		return rate((unsigned)strtoul(argv[2], NULL, 10),
			    open_url(argv[5], argv[3], argv[4]),
			    open_url(argv[6], argv[3], argv[4]));
	if (argc == 6 && strcmp(argv[1], "verify") == 0)
		return verify(open_url(argv[4], argv[2], argv[3]), argv[5], false);
	if (argc == 6 && strcmp(argv[1], "some") == 0)
		return verify(open_url(argv[4], argv[2], argv[3]), argv[5], true);
	fprintf(stderr, "usage: load read|rate|verify|some|names ...\n");
	return 2;
}
