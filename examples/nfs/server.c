/* SPDX-License-Identifier: MIT */
/*
 * server: options, sockets, the loop.
 *
 * State of a connection: alive; broken (its socket is gone, jobs are still out); freed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nfs.h"

/* Connections at a time; more wait in the listen queue. */
#define MAX_CONNECTIONS 256

struct server server = {
	.options = {.name = "/export", .time_permille = 1000, .workers = 8, .transfer = 128 * 1024},
};

/* --- Connections --- */

/* libnfs 4.0 calls a NULL callback for every answer that is unsent when a server's context is
 * destroyed. So let it send them, to nobody. Returns whether none is left. */
static bool throw_answers_away(struct rpc_context *rpc)
{
	char sink[65536];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
		return false;
	dup2(pair[0], rpc_get_fd(rpc)); /* which ends the client's connection */
	while ((rpc_which_events(rpc) & POLLOUT) != 0 && rpc_service(rpc, POLLOUT) == 0)
		while (recv(pair[1], sink, sizeof(sink), 0) > 0)
			continue;
	close(pair[0]);
	close(pair[1]);
	return (rpc_which_events(rpc) & POLLOUT) == 0;
}

static void break_connection(struct connection *c)
{
	if (c->broken)
		return;
	c->broken = true;
	if (throw_answers_away(c->rpc))
		rpc_destroy_context(c->rpc); /* closes the socket */
	else
		close(rpc_get_fd(c->rpc)); /* rather a leak than a crash */
	c->rpc = NULL;
	nfsd_work_client_gone(c->client);
}

static void free_broken(void)
{
	struct connection **at = &server.connections, *c;

	while ((c = *at) != NULL) {
		if (c->broken && c->jobs == 0) {
			*at = c->next;
			free(c->in);
			free(c);
		} else {
			at = &c->next;
		}
	}
}

static void accept_one(int listener)
{
	static uint64_t clients;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1;
	struct connection *c;

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c = calloc(1, sizeof(*c));
	if (c != NULL)
		c->rpc = rpc_init_server_context(fd);
	if (c == NULL || c->rpc == NULL) {
		free(c);
		close(fd);
		return;
	}
	c->client = ++clients;
	c->next = server.connections;
	server.connections = c;
}

/* --- The loop --- */

static short events_of(const struct connection *c)
{
	int events = rpc_which_events(c->rpc) | POLLIN;

	if (c->jobs + (unsigned)rpc_queue_length(c->rpc) >= NFS_CALLS_MAX)
		events &= ~POLLIN;
	return (short)events;
}

enum { LISTENER, EVENT, SIGNAL, FIRST_CONNECTION };

static nfds_t fill(struct pollfd *fds, struct connection **who)
{
	nfds_t n = FIRST_CONNECTION;

	for (struct connection *c = server.connections; c != NULL; c = c->next) {
		if (c->broken)
			continue;
		who[n] = c;
		fds[n++] = (struct pollfd){rpc_get_fd(c->rpc), events_of(c), 0};
	}
	fds[LISTENER].events = n < FIRST_CONNECTION + MAX_CONNECTIONS ? POLLIN : 0;
	return n;
}

static void answer_all(struct job *j)
{
	while (j != NULL) {
		struct job *next = j->next;

		nfsd_answer(j);
		j = next;
	}
}

/* libnfs writes; it is never told that there is something to read (rpc.c). */
static void serve(struct connection *c, int events)
{
	int error = 0;

	if ((events & POLLOUT) != 0)
		error = rpc_service(c->rpc, POLLOUT);
	if (error == 0 && (events & POLLIN) != 0)
		error = nfsd_receive(c);
	if (error != 0 || (events & (POLLHUP | POLLERR)) != 0)
		break_connection(c);
}

/* Until a signal asks to stop. */
static void loop(int listener, int signals)
{
	static struct pollfd fds[FIRST_CONNECTION + MAX_CONNECTIONS];
	static struct connection *who[FIRST_CONNECTION + MAX_CONNECTIONS];

	fds[LISTENER] = (struct pollfd){listener, POLLIN, 0};
	fds[EVENT] = (struct pollfd){server.event, POLLIN, 0};
	fds[SIGNAL] = (struct pollfd){signals, POLLIN, 0};
	while (fds[SIGNAL].revents == 0) {
		nfds_t n = fill(fds, who);

		if (poll(fds, n, -1) < 0)
			continue;
		for (nfds_t i = FIRST_CONNECTION; i < n; i++)
			serve(who[i], fds[i].revents);
		if (fds[EVENT].revents != 0)
			answer_all(nfsd_work_back());
		if (fds[LISTENER].revents != 0)
			accept_one(listener);
		free_broken();
	}
}

/* What was taken is done and answered, as far as the clients still listen. */
static void end(int listener)
{
	close(listener);
	nfsd_work_stop();
	answer_all(nfsd_work_back());
	for (struct connection *c = server.connections; c != NULL; c = c->next) {
		while (!c->broken && (rpc_which_events(c->rpc) & POLLOUT) != 0) {
			struct pollfd p = {rpc_get_fd(c->rpc), POLLOUT, 0};

			if (poll(&p, 1, 200) <= 0 || rpc_service(c->rpc, POLLOUT) < 0)
				break;
		}
	}
	server.scheduled = false;
	while (server.connections != NULL) {
		break_connection(server.connections);
		free_broken();
	}
	files_close(&server.files);
	printf("served %llu, answered %llu\n", (unsigned long long)server.taken,
	       (unsigned long long)server.answered);
}

/* --- Start --- */

static int listen_on(unsigned port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	socklen_t length = sizeof(a);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0 || listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &length) != 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	printf("port %u\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

/* The loop takes the signals; the threads inherit the mask. */
static int take_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: nfs_server [options] FOLDER   (serves on 127.0.0.1)\n"
		"  --port N           default: any free one, printed as `port N`\n"
		"  --name /NAME       what clients mount; default /export\n"
		"  --policy NAME      of libiosched; default bypass: no queue\n"
		"  --depth N          requests with the disk at a time; default its own\n"
		"  --workers N        threads, 1..256; default 8\n"
		"  --context KIND     who asks: file (default), client, worker\n"
		"  --group uid        a group for each user\n"
		"  --device NAME      take as long as this disk of the simulator\n"
		"  --time-permille N  1000 = as the disk would, 100 = ten times faster\n"
		"  --transfer N       bytes of a READ or WRITE, 4096..1048576; default 131072\n");
	return 2;
}

static bool number(const char *text, unsigned min, unsigned max, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || n < min || n > max)
		return false;
	*out = (unsigned)n;
	return true;
}

static bool take_context(const char *value)
{
	static const char *const kinds[] = {"file", "client", "worker"};

	for (unsigned i = 0; i < 3; i++) {
		if (strcmp(value, kinds[i]) == 0) {
			server.options.context = (enum context_kind)i;
			return true;
		}
	}
	return false;
}

static bool take_option(int option, const char *value)
{
	struct options *o = &server.options;

	switch (option) {
	case 'p':
		return number(value, 0, 65535, &o->port);
	case 'n':
		o->name = value;
		return value[0] == '/' && value[1] != '\0';
	case 'P':
		o->policy = iosched_policy_find(value);
		return o->policy != NULL || strcmp(value, "bypass") == 0;
	case 'd':
		return number(value, 1, 65536, &o->depth);
	case 'w':
		return number(value, 1, 256, &o->workers);
	case 'c':
		return take_context(value);
	case 'g':
		o->by_uid = true;
		return strcmp(value, "uid") == 0;
	case 'D':
		o->device = value;
		return true;
	case 't':
		return number(value, 1, 1000000, &o->time_permille);
	case 'F':
		return number(value, 1, 1000000, &o->fail_every);
	case 'T':
		return number(value, 4096, NFS_TRANSFER_MAX, &o->transfer);
	default:
		return false;
	}
}

static bool take_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"port", 1, NULL, 'p'},		 {"name", 1, NULL, 'n'},
		{"policy", 1, NULL, 'P'},	 {"depth", 1, NULL, 'd'},
		{"workers", 1, NULL, 'w'},	 {"context", 1, NULL, 'c'},
		{"group", 1, NULL, 'g'},	 {"device", 1, NULL, 'D'},
		{"time-permille", 1, NULL, 't'}, {"transfer", 1, NULL, 'T'},
		{"fail-every", 1, NULL, 'F'},	 {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (!take_option(option, optarg)) {
			if (option != '?')
				fprintf(stderr, "nfs_server: \"%s\" does not do\n", optarg);
			return false;
		}
	}
	server.options.folder = argv[optind];
	return optind + 1 == argc;
}

int main(int argc, char **argv)
{
	struct timespec now;
	int error, signals, listener;

	if (!take_options(argc, argv))
		return usage();
	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(server.verifier, &(uint64_t){(uint64_t)now.tv_sec ^ (uint64_t)now.tv_nsec << 32}, 8);
	error = files_open(&server.files, server.options.folder);
	if (error != 0) {
		fprintf(stderr, "nfs_server: %s: %s\n", server.options.folder, strerror(-error));
		return 1;
	}
	signals = take_signals();
	error = nfsd_work_start();
	listener = error == 0 ? listen_on(server.options.port) : error;
	if (listener < 0) {
		fprintf(stderr, "nfs_server: cannot start: %s\n", strerror(-listener));
		nfsd_work_stop();
		files_close(&server.files);
		return 1;
	}
	loop(listener, signals);
	end(listener);
	return server.taken == server.answered ? 0 : 1;
}
