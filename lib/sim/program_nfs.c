/* SPDX-License-Identifier: MIT */
/*
 * An NFS server, and the client that reads one file from it from end to end.
 *
 * Client: RPCs of `rpc_bytes` in order, at most `slots` outstanding, asked for in read-ahead
 * windows of `ahead` RPCs. It computes nothing.
 *
 * Server: a queue of RPCs and n nfsd; the one idle for the shortest time takes the next. An
 * nfsd copies the file's shared read-ahead state, reads its range through the page cache,
 * sixteen pages at a time, gives the reply to the socket whole and puts the state back.
 *
 * Gate: an RPC is taken only when the send buffer has room for its reply beside those promised
 * and those not yet acknowledged. How large the buffer is, is the one thing in which servers
 * differ: see `buffer_messages`.
 *
 * Rule: disk, server and wire are coupled by nothing but these queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pagecache.h"

struct params {
	uint64_t nfsds;
	uint64_t file_bytes;
	uint64_t offset;
	uint64_t rpc_bytes;
	uint64_t slots;
	uint64_t ahead;
	uint64_t window;
	uint64_t buffer_messages;
	uint64_t link_rate;
	uint64_t link_ns;
	uint64_t request_more;
	uint64_t decode_ns;
	uint64_t chunk_ns;
	uint64_t page_ns;
	uint64_t reply_ns;
	uint64_t reply_page_ns;
	uint64_t wake_more;
};

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

/* With the answer in view: of the RPC sizes that the server's rule allows the one that fits
 * best; `ahead`, where clients had 15 at most (8 to 12 do nearly as well, 15 leaves cfq too fast at
 * 8 nfsd); chunk_ns, page_ns, reply_ns, reply_page_ns and wake_more. From published rules: 16
 * slots, chunks of 16 pages, windows of 128 KiB, the gate. */
static const struct ios_sim_param params[] = {
	P(nfsds, NONE, 1, 256, 8, "server threads"),
	P(file_bytes, BYTES, 1 << 20, UINT64_C(1) << 40, UINT64_C(2000000) << 10, "the file"),
	P(offset, BYTES, 0, UINT64_C(1) << 50, UINT64_C(204800) * 512, "where it begins"),
	P(rpc_bytes, BYTES, 4096, 1 << 20, 524288, "one RPC reads so much"),
	P(slots, NONE, 1, 128, 16, "RPCs the client has outstanding at most"),
	P(ahead, NONE, 1, 128, 10, "RPCs in a read-ahead window of the client"),
	P(window, BYTES, 4096, UINT64_C(1) << 30, 131072, "the server's largest window"),
	P(buffer_messages, NONE, 0, 1024, 0,
	  "send buffer in RPCs; 0 = 2 (nfsds + 3), as before 2.6.30"),
	P(link_rate, RATE, 1000, UINT64_C(1) << 40, 117600000, "payload on the wire, 1 Gb/s"),
	P(link_ns, NS, 0, NSEC_PER_SEC, 60000, "on the way, each way"),
	P(request_more, NS, 0, NSEC_PER_SEC, 15000, "and exponential on top of a request, mean"),
	P(decode_ns, NS, 0, NSEC_PER_SEC, 13000, "from taking an RPC to reading"),
	P(chunk_ns, NS, 0, NSEC_PER_SEC, 2000, "computing per chunk of 16 pages, mean"),
	P(page_ns, NS, 0, NSEC_PER_SEC, 4000, "and per page"),
	P(reply_ns, NS, 0, NSEC_PER_SEC, 20000, "computing per reply, mean"),
	P(reply_page_ns, NS, 0, NSEC_PER_SEC, 8000, "and per page of it"),
	P(wake_more, NS, 0, NSEC_PER_SEC, 100000, "until a woken nfsd runs, mean, over 8 us"),
	{.name = NULL},
};

#define CHUNK_PAGES 16
/* A reply's headers; what a reservation adds to the payload. */
#define HEADER_BYTES 4096
/* The receiver acknowledges what has arrived in such steps. */
#define ACK_BYTES 65536

struct nfsd {
	struct ios_sim_reader reader; /* first */
	struct ios_sim_readahead ra;  /* its copy */
	uint64_t rpc;
	uint64_t page;
	uint64_t end;
	uint64_t reserved; /* bytes of the send buffer */
	struct nfsd *next_idle;
};

/* A piece of a reply on the wire, until it is acknowledged; or a request on its way. */
struct packet {
	struct ios_sim_event event;
	struct nfs *nfs;
	uint64_t rpc;
	uint64_t bytes;
	bool last;
	struct packet *next;
};

struct nfs {
	struct ios_sim_program program; /* first */
	struct params p;
	struct ios_sim_pagecache file;
	struct ios_sim_readahead shared;
	struct nfsd *nfsds;
	struct nfsd *idle; /* latest first */
	struct ios_sim_rng rng;
	struct packet *packets;
	struct packet *free_packets;
	uint64_t rpcs; /* of the whole file */
	/* The client */
	uint64_t issued;
	uint64_t allowed; /* by its read-ahead */
	uint64_t consumed;
	uint64_t received;
	bool *arrived;
	iosched_time last_request; /* when it arrives */
	/* The server's socket: RPCs [taken, pending) wait, in order. */
	uint64_t pending;
	uint64_t taken;
	bool queued; /* the transport waits for a thread */
	uint64_t promised;
	uint64_t unacknowledged;
	iosched_time wire_free;
};

static struct nfs *nfs_of(struct ios_sim_process *p)
{
	return (struct nfs *)p->program;
}

static iosched_time now_of(const struct nfs *n)
{
	return ios_sim_program_now(&n->program);
}

static void send(struct nfs *n, iosched_time when, void (*arrives)(void *),
		 const struct packet *what)
{
	struct packet *packet = n->free_packets;

	n->free_packets = packet->next;
	*packet = *what;
	packet->nfs = n;
	ios_sim_event_init(&packet->event, arrives, packet);
	ios_sim_schedule(&n->program.load.host->engine, &packet->event, when);
}

static void give_packet(struct packet *packet)
{
	packet->next = packet->nfs->free_packets;
	packet->nfs->free_packets = packet;
}

/* --- The gate --- */

static uint64_t message_bytes(const struct nfs *n)
{
	return n->p.rpc_bytes + HEADER_BYTES;
}

static bool gate_open(const struct nfs *n)
{
	uint64_t messages = n->p.buffer_messages;
	uint64_t buffer, left;

	if (messages == 0)
		messages = 2 * (n->p.nfsds + 3);
	buffer = messages * message_bytes(n);
	if (n->unacknowledged > buffer)
		return false;
	left = buffer - n->unacknowledged;
	return 2 * (n->promised + message_bytes(n)) <= left && n->unacknowledged / 2 <= left;
}

/* --- Threads --- */

static void decoded(struct ios_sim_process *p);

static void take_rpc(struct nfs *n, struct nfsd *t)
{
	t->rpc = n->taken++;
	t->reserved = message_bytes(n);
	n->promised += t->reserved;
	ios_sim_process_after(&t->reader.process, n->p.decode_ns, decoded);
}

static void enqueue(struct nfs *n)
{
	while (n->taken < n->pending && !n->queued && gate_open(n)) {
		struct nfsd *t = n->idle;

		if (t == NULL) {
			n->queued = true;
			return;
		}
		n->idle = t->next_idle;
		take_rpc(n, t);
	}
}

static void thread_ends(struct nfs *n, struct nfsd *t)
{
	n->promised -= t->reserved;
	enqueue(n);
	if (n->queued) {
		n->queued = false;
		take_rpc(n, t);
	} else {
		t->next_idle = n->idle;
		n->idle = t;
	}
	enqueue(n);
}

static void read_chunk(struct ios_sim_process *p);

static void decoded(struct ios_sim_process *p)
{
	struct nfs *n = nfs_of(p);
	struct nfsd *t = (struct nfsd *)p;
	uint64_t pages = n->p.rpc_bytes / IOS_SIM_PAGE;

	n->promised -= t->reserved;
	t->reserved = n->p.rpc_bytes;
	n->promised += t->reserved;
	enqueue(n);
	t->ra = n->shared;
	t->page = t->rpc * pages;
	t->end = t->page + pages < n->file.pages ? t->page + pages : n->file.pages;
	read_chunk(p);
}

static void reply_arrives(void *owner);

static void send_reply(struct nfs *n, uint64_t rpc)
{
	uint64_t left = n->p.rpc_bytes;

	n->unacknowledged += left;
	if (n->wire_free < now_of(n))
		n->wire_free = now_of(n);
	while (left > 0) {
		uint64_t bytes = left < ACK_BYTES ? left : ACK_BYTES;

		left -= bytes;
		n->wire_free += ios_sim_muldiv(bytes, NSEC_PER_SEC, n->p.link_rate);
		send(n, n->wire_free + n->p.link_ns, reply_arrives,
		     &(struct packet){.rpc = rpc, .bytes = bytes, .last = left == 0});
	}
}

static void replied(struct ios_sim_process *p)
{
	struct nfs *n = nfs_of(p);
	struct nfsd *t = (struct nfsd *)p;

	send_reply(n, t->rpc);
	n->shared = t->ra;
	thread_ends(n, t);
}

static void chunk_read(struct ios_sim_process *p)
{
	struct nfs *n = nfs_of(p);
	struct nfsd *t = (struct nfsd *)p;
	uint64_t pages = t->reader.end - t->page;

	t->page = t->reader.end;
	t->ra.previous = t->page;
	ios_sim_process_after(p,
			      ios_sim_process_exponential(p, n->p.chunk_ns + pages * n->p.page_ns),
			      read_chunk);
}

/* A splice looks first whether the chunk is there, and if not asks for all that the RPC still
 * wants; then it goes through it page by page. */
static void ask_for_missing(struct nfs *n, struct nfsd *t, uint64_t pages)
{
	uint64_t there = 0;

	while (there < pages && !ios_sim_pagecache_absent(&n->file, t->page + there))
		there++;
	if (there < pages)
		ios_sim_reader_ahead(&t->reader, t->page + there, t->end - t->page - there);
}

static void read_chunk(struct ios_sim_process *p)
{
	struct nfs *n = nfs_of(p);
	struct nfsd *t = (struct nfsd *)p;
	uint64_t pages = t->end - t->page < CHUNK_PAGES ? t->end - t->page : CHUNK_PAGES;

	if (pages == 0) {
		uint64_t all = n->p.rpc_bytes / IOS_SIM_PAGE;

		ios_sim_process_after(
			p, ios_sim_process_exponential(p, n->p.reply_ns + all * n->p.reply_page_ns),
			replied);
		return;
	}
	ask_for_missing(n, t, pages);
	t->reader.want_end = t->end;
	ios_sim_reader_read(&t->reader, t->page, pages, chunk_read);
}

/* --- The client --- */

static void request_arrives(void *owner)
{
	struct packet *packet = owner;
	struct nfs *n = packet->nfs;

	ios_sim_host_enter(n->program.load.host);
	give_packet(packet);
	n->pending++;
	enqueue(n);
	ios_sim_host_leave(n->program.load.host);
}

static void ask(struct nfs *n)
{
	while (n->issued < n->allowed && n->issued < n->rpcs &&
	       n->issued - n->received < n->p.slots) {
		iosched_time when = now_of(n) + n->p.link_ns +
				    ios_sim_rng_exponential(&n->rng, n->p.request_more);

		if (when < n->last_request)
			when = n->last_request; /* one stream: order is kept */
		n->last_request = when;
		send(n, when, request_arrives, &(struct packet){.rpc = n->issued++});
	}
}

/* Stepping into a window has the next one asked for. */
static void consume(struct nfs *n)
{
	while (n->consumed < n->rpcs && n->arrived[n->consumed]) {
		n->consumed++;
		ios_sim_program_count(&n->program, 1, n->p.rpc_bytes);
	}
	if (n->consumed > 0)
		n->allowed = (n->consumed / n->p.ahead + 2) * n->p.ahead;
}

static void reply_arrives(void *owner)
{
	struct packet *packet = owner;
	struct nfs *n = packet->nfs;

	ios_sim_host_enter(n->program.load.host);
	n->unacknowledged -= packet->bytes;
	enqueue(n);
	if (packet->last) {
		n->arrived[packet->rpc] = true;
		n->received++;
		consume(n);
		ask(n);
	}
	give_packet(packet);
	if (n->consumed == n->rpcs && n->received == n->rpcs && packet->last)
		ios_sim_program_done(&n->program);
	ios_sim_host_leave(n->program.load.host);
}

static void nfs_start(struct ios_sim_program *pr)
{
	struct nfs *n = (struct nfs *)pr;

	n->allowed = n->p.ahead;
	ask(n);
}

/* --- Setting up --- */

/* Each outstanding RPC is one packet, or as many as its reply has steps. */
static uint64_t most_packets(const struct nfs *n)
{
	return (n->p.slots + 1) * (n->p.rpc_bytes / ACK_BYTES + 2);
}

static int make_packets(struct nfs *n)
{
	uint64_t count = most_packets(n);

	n->packets = calloc(count, sizeof(*n->packets));
	if (n->packets == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		n->packets[i].next = n->free_packets;
		n->free_packets = &n->packets[i];
	}
	return 0;
}

static int make_nfsds(struct nfs *n, uint64_t first_context)
{
	n->nfsds = calloc(n->p.nfsds, sizeof(*n->nfsds));
	if (n->nfsds == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < n->p.nfsds; i++) {
		struct nfsd *t = &n->nfsds[i];

		if (ios_sim_process_init(&t->reader.process, &n->program, first_context, i,
					 "nfsd") != 0)
			return -ENOMEM;
		t->reader.cache = &n->file;
		t->reader.ra = &t->ra;
		t->next_idle = n->idle;
		n->idle = t;
	}
	return 0;
}

static unsigned nfs_processes(const void *values)
{
	return (unsigned)((const struct params *)values)->nfsds;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return bytes - bytes % IOS_SIM_PAGE;
}

static int nfs_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;

	if (p->file_bytes + p->offset > capacity)
		return ios_sim_fail(why, -ERANGE, "its file does not fit on the device");
	if (p->file_bytes < whole_pages(p->rpc_bytes))
		return ios_sim_fail(why, -ERANGE, "an RPC is larger than the file");
	if (p->buffer_messages == 1)
		return ios_sim_fail(why, -ERANGE, "its send buffer never lets a reply in");
	return 0;
}

static int nfs_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		    struct iosched_sim_error *why)
{
	struct nfs *n = (struct nfs *)pr;

	(void)why;
	n->p = *(const struct params *)values;
	n->p.rpc_bytes = whole_pages(n->p.rpc_bytes);
	n->rpcs = n->p.file_bytes / n->p.rpc_bytes;
	n->file.program = pr;
	n->file.offset = n->p.offset;
	n->file.pages = n->p.file_bytes / IOS_SIM_PAGE;
	n->file.max_window = n->p.window / IOS_SIM_PAGE;
	n->file.bio_pages = n->file.max_window;
	n->file.wake_ns = IOS_SIM_WAKE_NS;
	n->file.wake_more = n->p.wake_more;
	ios_sim_rng_init(&n->rng, pr->seed, UINT64_MAX);
	n->arrived = calloc(n->rpcs, sizeof(*n->arrived));
	if (n->arrived == NULL || ios_sim_pagecache_init(&n->file) != 0 || make_packets(n) != 0)
		return -ENOMEM;
	return make_nfsds(n, first_context);
}

static void nfs_fini(struct ios_sim_program *pr)
{
	struct nfs *n = (struct nfs *)pr;

	for (uint64_t i = 0; n->nfsds != NULL && i < n->p.nfsds; i++)
		ios_sim_process_fini(&n->nfsds[i].reader.process);
	for (uint64_t i = 0; n->packets != NULL && i < most_packets(n); i++)
		ios_sim_cancel(&pr->load.host->engine, &n->packets[i].event);
	ios_sim_pagecache_fini(&n->file);
	free(n->nfsds);
	free(n->packets);
	free(n->arrived);
}

const struct ios_sim_program_kind ios_sim_program_nfs = {
	.name = "nfs",
	.summary = "server threads read one file for a client that reads it from end to end",
	.params = params,
	.params_size = sizeof(struct params),
	.size = sizeof(struct nfs),
	.processes = nfs_processes,
	.check = nfs_check,
	.init = nfs_init,
	.fini = nfs_fini,
	.start = nfs_start,
};
