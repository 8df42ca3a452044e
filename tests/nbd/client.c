/* SPDX-License-Identifier: MIT */
/* clang-format off: its lines are a table */
/*
 * A real NBD client, by libnbd, that keeps many requests in flight and checks every byte.
 *
 *   client verify URI             write blocks in random order, 64 at a time, read them back
 *   client bad URI OFFSET LENGTH  read all, 64 at a time: only this part may fail, and it must
 *   client some URI               read all, 64 at a time: some may fail and some must; all
 *                                 answered
 *   client flood MS N URI         random reads over N connections; meant to be killed
 *   client race MS URI URI        random reads on both at once; prints the bytes of each
 *   client rate ROUNDS URI URI    reads on each in turn; prints 1000 * second / first
 *   client names N SOCKET         a read from each of N exports, one after the other
 *   client crowd N SOCKET         N exports at once: N - 1 get in, and the last is told why not;
 * once one has left there is room
 *
 * Exit code 0 if all was as claimed.
 */
/* clang-format on */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libnbd.h>

#define BLOCK 4096u
#define DEPTH 64u
#define MAX_BLOCKS 65536u

struct client;

struct slot {
	struct client *client;
	uint32_t block;
	bool busy;
	unsigned char data[BLOCK];
};

struct client {
	struct nbd_handle *nbd;
	uint64_t done, failed;
	uint32_t blocks;
	unsigned flying;
	uint64_t random;
	uint64_t bad_first, bad_end; /* blocks that must fail */
	bool verify, writing, wrong, any_may_fail;
	struct slot slots[DEPTH];
};

static void die(const char *what)
{
	fprintf(stderr, "client: %s: %s\n", what, nbd_get_error());
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(struct client *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

static struct client *connect_to(const char *uri)
{
	struct client *c = calloc(1, sizeof(*c));
	int64_t size;

	if (c == NULL)
		exit(1);
	c->nbd = nbd_create();
	if (c->nbd == NULL || nbd_connect_uri(c->nbd, uri) != 0)
		die(uri);
	size = nbd_get_size(c->nbd);
	c->blocks = size / BLOCK > MAX_BLOCKS ? MAX_BLOCKS : (uint32_t)(size / BLOCK);
	c->random = 88172645463325252u;
	for (unsigned i = 0; i < DEPTH; i++)
		c->slots[i].client = c;
	return c;
}

static void leave(struct client *c)
{
	nbd_shutdown(c->nbd, 0);
	nbd_close(c->nbd);
	free(c);
}

/* What block @n holds: its number, all over. */
static void pattern(unsigned char *data, uint32_t n)
{
	for (unsigned i = 0; i < BLOCK; i += 4)
		memcpy(data + i, &(uint32_t){n * 2654435761u + i}, 4);
}

static void judge(struct client *c, const struct slot *s, int error)
{
	bool bad = s->block >= c->bad_first && s->block < c->bad_end;
	unsigned char want[BLOCK];

	if ((error != 0) != bad && !c->any_may_fail) {
		fprintf(stderr, "client: block %u: %s\n", s->block,
			error != 0 ? strerror(error) : "no error");
		c->wrong = true;
	}
	pattern(want, s->block);
	if (error == 0 && c->verify && !c->writing && memcmp(want, s->data, BLOCK) != 0) {
		fprintf(stderr, "client: block %u holds something else\n", s->block);
		c->wrong = true;
	}
}

static int completed(void *user, int *error)
{
	struct slot *s = user;
	struct client *c = s->client;

	if (!s->busy) {
		fprintf(stderr, "client: block %u was answered twice\n", s->block);
		c->wrong = true;
	}
	s->busy = false;
	c->flying--;
	c->done++;
	c->failed += *error != 0;
	judge(c, s, *error);
	return 1;
}

static void start(struct client *c, struct slot *s, uint32_t block)
{
	nbd_completion_callback callback = {.callback = completed, .user_data = s};
	uint64_t offset = (uint64_t)block * BLOCK;
	int64_t cookie;

	s->block = block;
	s->busy = true;
	c->flying++;
	if (c->writing)
		pattern(s->data, block);
	cookie = c->writing ? nbd_aio_pwrite(c->nbd, s->data, BLOCK, offset, callback, 0)
			    : nbd_aio_pread(c->nbd, s->data, BLOCK, offset, callback, 0);
	if (cookie == -1)
		die("a request cannot be sent");
}

static void wait_for_something(struct client *c, int ms)
{
	if (nbd_poll(c->nbd, ms) == -1)
		die("the connection is lost");
}

static struct slot *free_slot(struct client *c, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		if (!c->slots[i].busy)
			return &c->slots[i];
	return NULL;
}

/* Every block once, in an order that jumps about but has neighbours in flight together. */
static void all_blocks(struct client *c, bool writing)
{
	uint32_t n = c->blocks, sent = 0;

	c->writing = writing;
	while (sent < n || c->flying > 0) {
		struct slot *s = sent < n ? free_slot(c, DEPTH) : NULL;

		if (s == NULL) {
			wait_for_something(c, -1);
			continue;
		}
		start(c, s, (sent ^ 21u) < n ? sent ^ 21u : sent);
		sent++;
	}
}

static int verify(const char *uri)
{
	struct client *c = connect_to(uri);
	bool wrong;

	c->blocks &= ~31u; /* the order above is one to one then */
	all_blocks(c, true);
	if (nbd_flush(c->nbd, 0) != 0)
		die("flush");
	c->verify = true;
	all_blocks(c, false);
	wrong = c->wrong || c->done != 2 * (uint64_t)c->blocks || c->failed != 0;
	printf("verified %u blocks\n", c->blocks);
	leave(c);
	return wrong;
}

static int bad(const char *uri, const char *offset, const char *length)
{
	struct client *c = connect_to(uri);
	uint64_t first = strtoull(offset, NULL, 0), bytes = strtoull(length, NULL, 0);
	bool wrong;

	c->blocks &= ~31u;
	c->bad_first = first / BLOCK;
	c->bad_end = (first + bytes + BLOCK - 1) / BLOCK;
	all_blocks(c, false);
	wrong = c->wrong || c->done != c->blocks || c->failed != c->bad_end - c->bad_first;
	printf("failed %" PRIu64 " of %" PRIu64 " blocks\n", c->failed, c->done);
	leave(c);
	return wrong;
}

static int some(const char *uri)
{
	struct client *c = connect_to(uri);
	bool wrong;

	c->blocks &= ~31u;
	c->any_may_fail = true;
	all_blocks(c, false);
	wrong = c->wrong || c->done != c->blocks || c->failed == 0 || c->failed == c->done;
	printf("failed %" PRIu64 " of %" PRIu64 " blocks\n", c->failed, c->done);
	leave(c);
	return wrong;
}

static void fill_up(struct client *c, unsigned depth)
{
	struct slot *s;

	while ((s = free_slot(c, depth)) != NULL)
		start(c, s, (uint32_t)(next_random(c) % c->blocks));
}

static void run_dry(struct client *c)
{
	while (c->flying > 0)
		wait_for_something(c, -1);
}

#define MAX_CONNECTIONS 32

static int flood(const char *ms, const char *connections, const char *uri)
{
	struct client *c[MAX_CONNECTIONS];
	unsigned n = (unsigned)strtoul(connections, NULL, 0);
	uint64_t end = now_ns() + strtoull(ms, NULL, 0) * 1000000u;

	if (n < 1 || n > MAX_CONNECTIONS)
		return 1;
	for (unsigned i = 0; i < n; i++) {
		c[i] = connect_to(uri);
		c[i]->random += i;
	}
	while (now_ns() < end) {
		for (unsigned i = 0; i < n; i++) {
			fill_up(c[i], DEPTH);
			wait_for_something(c[i], 1);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		run_dry(c[i]);
		leave(c[i]);
	}
	return 0;
}

static int race(const char *ms, const char *one, const char *two)
{
	struct client *c[2] = {connect_to(one), connect_to(two)};
	uint64_t end = now_ns() + strtoull(ms, NULL, 0) * 1000000u;
	uint64_t done[2];

	c[1]->random += 12345;
	while (now_ns() < end) {
		for (int i = 0; i < 2; i++) {
			fill_up(c[i], 8);
			wait_for_something(c[i], 1);
		}
	}
	done[0] = c[0]->done;
	done[1] = c[1]->done;
	printf("%" PRIu64 " %" PRIu64 "\n", done[0] * BLOCK, done[1] * BLOCK);
	for (int i = 0; i < 2; i++) {
		run_dry(c[i]);
		leave(c[i]);
	}
	return done[0] == 0 || done[1] == 0;
}

/* Requests a second, over 50 ms. */
static double rate_once(struct client *c)
{
	uint64_t begin = now_ns(), before = c->done, t;

	do {
		fill_up(c, 32);
		wait_for_something(c, -1);
		t = now_ns() - begin;
	} while (t < 50000000u);
	run_dry(c);
	return (double)(c->done - before) * 1e9 / (double)(now_ns() - begin);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Other programs only ever take away from a rate: the upper quartile is the one least touched. */
static double undisturbed(double *rates, unsigned n)
{
	qsort(rates, n, sizeof(*rates), by_size);
	return rates[n * 3 / 4];
}

static int rate(const char *rounds, const char *one, const char *two)
{
	struct client *c[2] = {connect_to(one), connect_to(two)};
	unsigned n = (unsigned)strtoul(rounds, NULL, 0);
	double rates[2][100], r[2];

	if (n < 1 || n > 100)
		return 1;
	for (unsigned i = 0; i < n; i++) {
		rates[i % 2][i] = rate_once(c[i % 2]);
		rates[1 - i % 2][i] = rate_once(c[1 - i % 2]);
	}
	for (int i = 0; i < 2; i++) {
		r[i] = undisturbed(rates[i], n);
		leave(c[i]);
	}
	printf("%.0f (%.0f and %.0f requests/s)\n", r[1] / r[0] * 1000, r[0], r[1]);
	return 0;
}

static struct nbd_handle *visit(const char *socket, unsigned i)
{
	struct nbd_handle *nbd = nbd_create();
	char name[32], data[512];

	snprintf(name, sizeof(name), "export-%u", i);
	if (nbd == NULL || nbd_set_export_name(nbd, name) != 0)
		die("names");
	if (nbd_connect_unix(nbd, socket) == 0 && nbd_pread(nbd, data, sizeof(data), 0, 0) == 0)
		return nbd;
	nbd_close(nbd);
	return NULL;
}

static int names(const char *n, const char *socket)
{
	for (unsigned i = 0; i < strtoul(n, NULL, 10); i++) {
		struct nbd_handle *nbd = visit(socket, i);

		if (nbd == NULL)
			die("an export");
		nbd_shutdown(nbd, 0);
		nbd_close(nbd);
	}
	return 0;
}

static int crowd(const char *n, const char *socket)
{
	unsigned all = (unsigned)strtoul(n, NULL, 10), i;
	struct nbd_handle **nbd = calloc(all, sizeof(struct nbd_handle *));
	int bad = 0;

	if (nbd == NULL)
		return 1;
	for (i = 0; i < all - 1; i++)
		if ((nbd[i] = visit(socket, i)) == NULL)
			die("one of the crowd");
	bad = visit(socket, all - 1) != NULL;
	nbd_shutdown(nbd[0], 0);
	nbd_close(nbd[0]);
	nbd[0] = NULL;
	for (i = 0; i < 100 && nbd[0] == NULL; i++) { /* it may be noticed later */
		nbd[0] = visit(socket, all);
		usleep(10000);
	}
	bad |= nbd[0] == NULL;
	for (i = 0; i < all - 1; i++)
		nbd_close(nbd[i]);
	free(nbd);
	return bad;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "names") == 0)
		return names(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "crowd") == 0)
		return crowd(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "verify") == 0)
		return verify(argv[2]);
	if (argc == 5 && strcmp(argv[1], "bad") == 0)
		return bad(argv[2], argv[3], argv[4]);
	if (argc == 3 && strcmp(argv[1], "some") == 0)
		return some(argv[2]);
	if (argc == 5 && strcmp(argv[1], "flood") == 0)
		return flood(argv[2], argv[3], argv[4]);
	if (argc == 5 && strcmp(argv[1], "race") == 0)
		return race(argv[2], argv[3], argv[4]);
	if (argc == 5 && strcmp(argv[1], "rate") == 0)
		return rate(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: client verify|bad|some|flood|race|rate ...\n");
	return 2;
}
