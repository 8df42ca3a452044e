/* SPDX-License-Identifier: MIT */
/*
 * A client that means no good: random bytes, and real calls with bits, lengths and ends changed.
 *
 *   fuzz PORT SEED ROUNDS    exit code 0 if the server answers a NULL call after each round
 *
 * The real calls know a real handle, got by mounting, so that mutations reach behind the decoders.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define HANDLE 16u
#define ROOM 4096u
#define HEADER 68u /* bytes that begin() makes */

struct message {
	unsigned char bytes[ROOM];
	uint32_t length;
};

static uint64_t state;
static uint16_t port;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 33) % below;
}

static int dial(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval patience = {5, 0};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return fd;
}

/* --- Making calls --- */

static void put(struct message *m, uint32_t v)
{
	v = htonl(v);
	memcpy(m->bytes + m->length, &v, 4);
	m->length += 4;
}

static void put_opaque(struct message *m, const void *data, uint32_t n)
{
	put(m, n);
	memcpy(m->bytes + m->length, data, n);
	memset(m->bytes + m->length + n, 0, 4);
	m->length += (n + 3) & ~3u;
}

/* Record mark, RPC header, AUTH_UNIX. */
static void begin(struct message *m, uint32_t program, uint32_t procedure)
{
	m->length = 0;
	put(m, 0);
	put(m, rnd(UINT32_MAX));
	put(m, 0);
	put(m, 2);
	put(m, program);
	put(m, 3);
	put(m, procedure);
	put(m, 1);
	put(m, 24);
	put(m, 1);
	put_opaque(m, "me", 2);
	put(m, 1000);
	put(m, 1000);
	put(m, 0);
	put(m, 0);
	put(m, 0);
}

static void mark(struct message *m)
{
	uint32_t v = htonl(0x80000000u | (m->length - 4));

	memcpy(m->bytes, &v, 4);
}

static void put_attributes(struct message *m)
{
	put(m, 1);
	put(m, 0600);
	for (unsigned i = 0; i < 5; i++)
		put(m, 0);
}

static void put_extent(struct message *m)
{
	put(m, 0);
	put(m, rnd(100000));
	put(m, rnd(20000));
}

static void put_name(struct message *m)
{
	static const char *const names[] = {"made", "other", "file", ".", "..", "../outside", ""};
	const char *name = names[rnd(sizeof(names) / sizeof(names[0]))];

	put_opaque(m, name, (uint32_t)strlen(name));
}

static void nfs_call(struct message *m, const unsigned char *handle)
{
	uint32_t procedure = rnd(23);
	char data[64] = "data of a write";

	begin(m, 100003, procedure);
	put_opaque(m, handle, HANDLE);
	switch (procedure) {
	case 2: /* SETATTR */
		put_attributes(m);
		put(m, 0);
		break;
	case 3: /* LOOKUP */
		put_opaque(m, rnd(2) != 0 ? "file" : "../..", 5);
		break;
	case 4: /* ACCESS */
		put(m, 63);
		break;
	case 6: /* READ, COMMIT alike */
	case 21:
		put_extent(m);
		break;
	case 7: /* WRITE */
		put(m, 0);
		put(m, rnd(100000));
		put(m, sizeof(data));
		put(m, rnd(3));
		put_opaque(m, data, sizeof(data));
		break;
	case 8: /* CREATE */
		put_opaque(m, "made", 4);
		put(m, rnd(3));
		put_attributes(m);
		break;
	case 9: /* MKDIR */
		put_name(m);
		put_attributes(m);
		break;
	case 12: /* REMOVE, RMDIR */
	case 13:
		put_name(m);
		break;
	case 14: /* RENAME */
		put_name(m);
		put_opaque(m, handle, HANDLE);
		put_name(m);
		break;
	case 16: /* READDIR, READDIRPLUS */
	case 17:
		put(m, 0);
		put(m, rnd(3));
		put(m, 0);
		put(m, 0);
		put(m, rnd(8192));
		put(m, 8192);
		break;
	default:
		break;
	}
	mark(m);
}

static void mount_call(struct message *m)
{
	begin(m, 100005, rnd(7));
	put_opaque(m, "/export", 7);
	mark(m);
}

/* --- Breaking them --- */

static void mutate(struct message *m)
{
	static const uint32_t nasty[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc, 400};
	uint32_t n = rnd(4), v;

	for (uint32_t i = 0; i < n; i++) {
		/* Mostly behind the header: a broken one only ends the connection. */
		uint32_t first = rnd(16) == 0 ? 0 : HEADER / 4;
		uint32_t word = 4 * (first + rnd(m->length / 4 - first));

		switch (rnd(4)) {
		case 0:
			m->bytes[word + rnd(4)] ^= (unsigned char)(1u << rnd(8));
			break;
		case 1:
			v = htonl(nasty[rnd(7)]);
			memcpy(m->bytes + word, &v, 4);
			break;
		case 2: /* end early, with an honest mark */
			m->length = word < HEADER + 4 ? HEADER + 4 : word;
			mark(m);
			break;
		default: /* go on longer */
			while (m->length < ROOM - 8 && rnd(8) != 0)
				put(m, rnd(UINT32_MAX));
			mark(m);
			break;
		}
	}
}

static void noise(struct message *m)
{
	m->length = 4 + 4 * rnd(200);
	for (uint32_t i = 0; i < m->length; i++)
		m->bytes[i] = (unsigned char)rnd(256);
	if (rnd(2) != 0)
		mark(m);
}

/* --- Talking --- */

static bool send_all(int fd, const struct message *m)
{
	return send(fd, m->bytes, m->length, MSG_NOSIGNAL) == (ssize_t)m->length;
}

/* One answer, whole; its length behind the mark, or 0. */
static uint32_t receive(int fd, struct message *m)
{
	uint32_t n;

	if (recv(fd, m->bytes, 4, MSG_WAITALL) != 4)
		return 0;
	memcpy(&n, m->bytes, 4);
	n = ntohl(n) & 0x7fffffff;
	if (n > ROOM - 4 || recv(fd, m->bytes + 4, n, MSG_WAITALL) != (ssize_t)n)
		return 0;
	return n;
}

static bool mount_root(unsigned char *handle)
{
	struct message m;
	int fd = dial();
	bool ok;

	if (fd < 0)
		return false;
	begin(&m, 100005, 1);
	put_opaque(&m, "/export", 7);
	mark(&m);
	/* xid, REPLY, accepted, verifier (2), SUCCESS, MNT3_OK, length, handle */
	ok = send_all(fd, &m) && receive(fd, &m) >= 32 + HANDLE && m.bytes[4 + 31] == HANDLE;
	if (ok)
		memcpy(handle, m.bytes + 4 + 32, HANDLE);
	close(fd);
	return ok;
}

/* Of "file" in the root. */
static bool look_up(const unsigned char *root, unsigned char *handle)
{
	struct message m;
	int fd = dial();
	bool ok;

	if (fd < 0)
		return false;
	begin(&m, 100003, 3);
	put_opaque(&m, root, HANDLE);
	put_opaque(&m, "file", 4);
	mark(&m);
	ok = send_all(fd, &m) && receive(fd, &m) >= 32 + HANDLE && m.bytes[4 + 31] == HANDLE;
	if (ok)
		memcpy(handle, m.bytes + 4 + 32, HANDLE);
	close(fd);
	return ok;
}

static bool answers_null(void)
{
	struct message m;
	int fd = dial();
	bool ok;

	if (fd < 0)
		return false;
	begin(&m, 100003, 0);
	mark(&m);
	ok = send_all(fd, &m) && receive(fd, &m) >= 24;
	close(fd);
	return ok;
}

static void assault(unsigned char handles[2][HANDLE])
{
	struct message m;
	char sink[65536];
	int fd = dial();

	for (unsigned i = 0; fd >= 0 && i < 30; i++) {
		unsigned char h[HANDLE];

		memcpy(h, handles[rnd(2)], HANDLE);
		if (rnd(8) == 0)
			h[rnd(HANDLE)] ^= (unsigned char)(1 + rnd(255));
		if (rnd(10) == 0)
			mount_call(&m);
		else
			nfs_call(&m, h);
		mutate(&m);
		if (rnd(20) == 0)
			noise(&m);
		if (!send_all(fd, &m))
			break;
		recv(fd, sink, sizeof(sink), MSG_DONTWAIT);
	}
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	unsigned char handles[2][HANDLE];
	unsigned long rounds;

	if (argc != 4) {
		fprintf(stderr, "usage: fuzz PORT SEED ROUNDS\n");
		return 2;
	}
	port = (uint16_t)strtoul(argv[1], NULL, 10);
	state = strtoull(argv[2], NULL, 10) * 2654435761u + 88172645463325252u;
	rounds = strtoul(argv[3], NULL, 10);
	if (!mount_root(handles[0]) || !look_up(handles[0], handles[1])) {
		fprintf(stderr, "fuzz: cannot mount, or there is no \"file\"\n");
		return 1;
	}
	for (unsigned long i = 0; i < rounds; i++) {
		assault(handles);
		if (!answers_null()) {
			fprintf(stderr, "fuzz: no answer after round %lu of seed %s\n", i, argv[2]);
			return 1;
		}
	}
	printf("%lu rounds of 30 calls, and it still answers\n", rounds);
	return 0;
}
