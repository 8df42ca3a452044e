/* SPDX-License-Identifier: MIT */
/*
 * pgbench: clients of a database with a write-ahead log and group commit.
 *
 * A transaction reads one or two pages at random, computes, and commits: its log record must
 * be on the disk. Who holds the log's lock writes all that has been inserted so far, in one
 * synchronous write from the last safe block on; who comes meanwhile waits for the lock and finds
 * its record safe already, or writes the next lot.
 *
 * What a transaction changes it changes for the first time since the last checkpoint, so it goes
 * into the log whole. In the tables nothing is written meanwhile, unless `changed_permille` says
 * that a checkpoint is at work; and the log's files are there already, unless `segment_bytes`
 * says that each is made when it is needed.
 *
 * Rule: the log is written by whoever commits, in its own context. A policy that gives time to
 * processes in turn lets everybody wait for that one's turn.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/scatter.h"

struct params {
	uint64_t clients;
	uint64_t data_bytes;
	uint64_t page_bytes;
	uint64_t reads_permille;
	uint64_t log_offset;
	uint64_t log_bytes;
	uint64_t record_bytes;
	uint64_t compute_ns;
	uint64_t compute_more;
	uint64_t think_ns;
	uint64_t think_more;
	uint64_t barrier;
	uint64_t segment_bytes;
	uint64_t changed_permille;
	uint64_t flush_ns;
	uint64_t flush_depth;
};

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

/* With the answer in view: reads_permille makes noop as fast as reported.
 *
 * record_bytes: 900 for the changes themselves and two pages of 8 KiB. "When this parameter is on,
 * the server writes the entire content of each disk page to WAL during the first modification of
 * that page after a checkpoint" (PostgreSQL manual, full_page_writes, on unless set); the report
 * lists what it has set, and this is not in it. Of tables much larger than memory a transaction
 * changes one page at random and the leaf of the index that leads to it; the other rows it
 * changes lie together in few pages. */
static const struct ios_sim_param params[] = {
	P(clients, NONE, 1, 1024, 8, "clients"),
	P(data_bytes, BYTES, 1 << 20, UINT64_C(1) << 50, UINT64_C(30000000000), "the tables"),
	P(page_bytes, BYTES, 512, 1 << 20, 8192, "one page of table or log"),
	P(reads_permille, NONE, 0, 100000, 2300, "pages read per 1000 transactions"),
	P(log_offset, BYTES, 0, UINT64_C(1) << 50, UINT64_C(31000000000), "where the log begins"),
	P(log_bytes, BYTES, 1 << 20, UINT64_C(1) << 50, UINT64_C(1000000000), "its length"),
	P(record_bytes, BYTES, 1, 1 << 20, 17284, "of log per transaction"),
	P(compute_ns, NS, 0, NSEC_PER_SEC, 150000, "between reads and commit"),
	P(compute_more, NS, 0, NSEC_PER_SEC, 3000000, "and exponential on top, mean"),
	P(think_ns, NS, 0, NSEC_PER_SEC, 100000, "between transactions"),
	P(think_more, NS, 0, NSEC_PER_SEC, 500000, "and exponential on top, mean"),
	P(barrier, BOOL, 0, 1, 0, "a FLUSH after the write; ext3 of 2.6.32 made none"),
	P(segment_bytes, BYTES, 0, UINT64_C(1) << 30, 0,
	  "of a log file, which is first filled with zeros; 0 = there are enough old ones"),
	P(changed_permille, NONE, 0, 1000, 0, "of the pages read are written back later"),
	P(flush_ns, NS, 1, UINT64_C(1) << 50, 5 * NSEC_PER_SEC, "between two bursts of those"),
	P(flush_depth, NONE, 1, 4096, 128, "of them outstanding, as a queue takes"),
	{.name = NULL},
};

/* Somebody waits for it and nothing near follows: so fsync and fdatasync mark what they write,
 * since 2.6.30 ("Add flag for telling the IO schedulers NOT to anticipate more IO", 2009). */
#define SYNCED (IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE)
/* A file is filled by requests of this size: the largest that a queue merges. */
#define FILL_BYTES (UINT64_C(512) << 10)
/* More changed pages than a burst of 5 s can have. */
#define MOST_CHANGED 65536

struct client {
	struct ios_sim_process process; /* first */
	struct ios_sim_token read;
	struct ios_sim_token log;
	struct ios_sim_token fill;
	uint64_t reads_left;
	uint64_t lsn; /* its commit record ends there */
};

struct pgbench {
	struct ios_sim_program program; /* first */
	struct params p;
	struct client *clients;
	uint64_t inserted; /* log bytes */
	uint64_t written;  /* of those: with the write on its way */
	uint64_t safe;
	bool locked;
	iosched_time since; /* when the lock's holder began to write */
	uint64_t filled;    /* log bytes for which there are files */
	uint64_t filling;   /* requests of a new one */
	struct ios_sim_process *waiters;
	struct ios_sim_process **last_waiter;
	struct ios_sim_scatter tables;
};

static struct pgbench *pgbench_of(struct ios_sim_process *p)
{
	return (struct pgbench *)p->program;
}

static struct client *client_of_read(struct ios_sim_token *t)
{
	return (struct client *)(void *)((char *)t - offsetof(struct client, read));
}

static struct client *client_of_log(struct ios_sim_token *t)
{
	return (struct client *)(void *)((char *)t - offsetof(struct client, log));
}

static struct client *client_of_fill(struct ios_sim_token *t)
{
	return (struct client *)(void *)((char *)t - offsetof(struct client, fill));
}

static void begin(struct ios_sim_process *p);
static void commit(struct ios_sim_process *p);

/* --- Commit --- */

static void committed(struct ios_sim_process *p)
{
	const struct params *q = &pgbench_of(p)->p;

	ios_sim_program_count(p->program, 1, 0);
	ios_sim_process_after(p, q->think_ns + ios_sim_process_exponential(p, q->think_more),
			      begin);
}

static void unlock(struct pgbench *g)
{
	struct ios_sim_process *p = g->waiters;

	g->locked = false;
	g->waiters = NULL;
	g->last_waiter = &g->waiters;
	while (p != NULL) {
		struct ios_sim_process *next = p->next_sleeper;

		ios_sim_process_after(p, IOS_SIM_WAKE_NS, commit);
		p = next;
	}
}

static void log_safe(struct ios_sim_process *p)
{
	struct pgbench *g = pgbench_of(p);

	g->safe = g->written;
	unlock(g);
	committed(p);
}

static void log_done(struct ios_sim_token *t)
{
	struct client *c = client_of_log(t);
	struct pgbench *g = pgbench_of(&c->process);

	ios_sim_program_synced(&g->program, g->since);
	ios_sim_process_after(&c->process, IOS_SIM_WAKE_NS, log_safe);
}

static void flush_log(struct ios_sim_process *p)
{
	struct client *c = (struct client *)p;

	c->log.done = log_done;
	if (ios_sim_process_submit(p, &c->log, IOSCHED_FLUSH, 0, 0, 0))
		ios_sim_process_sleeps(p);
}

static void log_written(struct ios_sim_token *t)
{
	struct client *c = client_of_log(t);

	if (!pgbench_of(&c->process)->p.barrier) {
		log_done(t);
		return;
	}
	flush_log(&c->process);
}

static void fill_file(struct pgbench *g, struct client *c);

/* From the block that holds the first byte not yet safe to the end of what there is; no further
 * than the end of the log file, where it starts again. */
static void write_log(struct pgbench *g, struct client *c)
{
	uint64_t block = g->p.page_bytes;
	uint64_t from = g->safe / block * block;
	uint64_t to = (g->inserted + block - 1) / block * block;
	uint64_t at = from % (g->p.log_bytes / block * block);

	g->locked = true;
	if (g->p.segment_bytes != 0 && to > g->filled) {
		fill_file(g, c);
		return;
	}
	if (at + (to - from) > g->p.log_bytes)
		at = 0;
	g->written = g->inserted;
	g->since = ios_sim_program_now(&g->program);
	c->log.done = log_written;
	if (ios_sim_process_submit(&c->process, &c->log, IOSCHED_WRITE, g->p.log_offset + at,
				   to - from, SYNCED))
		ios_sim_process_sleeps(&c->process);
}

static void write_log_after_filling(struct ios_sim_process *p)
{
	write_log(pgbench_of(p), (struct client *)p);
}

static void fill_done(struct ios_sim_token *t)
{
	struct client *c = client_of_fill(t);
	struct pgbench *g = pgbench_of(&c->process);

	if (--g->filling > 0)
		return;
	g->filled += g->p.segment_bytes;
	ios_sim_process_after(&c->process, IOS_SIM_WAKE_NS, write_log_after_filling);
}

/* The next file of the log, zeros to its end and an fsync. */
static void fill_file(struct pgbench *g, struct client *c)
{
	uint64_t files = g->p.log_bytes / g->p.segment_bytes;
	uint64_t at = g->p.log_offset + g->filled / g->p.segment_bytes % files * g->p.segment_bytes;
	uint64_t left = g->p.segment_bytes;

	c->fill.done = fill_done;
	while (left > 0) {
		uint64_t n = left < FILL_BYTES ? left : FILL_BYTES;

		g->filling++;
		if (!ios_sim_process_submit(&c->process, &c->fill, IOSCHED_WRITE, at, n, SYNCED))
			return;
		at += n;
		left -= n;
	}
	ios_sim_process_sleeps(&c->process);
}

static void commit(struct ios_sim_process *p)
{
	struct pgbench *g = pgbench_of(p);
	struct client *c = (struct client *)p;

	if (c->lsn <= g->safe) {
		committed(p);
	} else if (g->locked) {
		p->next_sleeper = NULL;
		*g->last_waiter = p;
		g->last_waiter = &p->next_sleeper;
	} else {
		write_log(g, c);
	}
}

static void computed(struct ios_sim_process *p)
{
	struct pgbench *g = pgbench_of(p);

	g->inserted += g->p.record_bytes;
	((struct client *)p)->lsn = g->inserted;
	commit(p);
}

/* --- Reading --- */

static void next_read(struct ios_sim_process *p)
{
	struct pgbench *g = pgbench_of(p);
	struct client *c = (struct client *)p;
	uint64_t pages = g->p.data_bytes / g->p.page_bytes;
	uint64_t at;

	if (c->reads_left == 0) {
		ios_sim_process_after(
			p, g->p.compute_ns + ios_sim_process_exponential(p, g->p.compute_more),
			computed);
		return;
	}
	c->reads_left--;
	at = ios_sim_rng_below(&p->rng, pages) * g->p.page_bytes;
	if (g->p.changed_permille != 0 && ios_sim_rng_below(&p->rng, 1000) < g->p.changed_permille)
		ios_sim_scatter_change(&g->tables, at);
	if (ios_sim_process_submit(p, &c->read, IOSCHED_READ, at, g->p.page_bytes, 0))
		ios_sim_process_sleeps(p);
}

static void page_read(struct ios_sim_token *t)
{
	ios_sim_process_after(&client_of_read(t)->process, IOS_SIM_WAKE_NS, next_read);
}

static void begin(struct ios_sim_process *p)
{
	uint64_t permille = pgbench_of(p)->p.reads_permille;

	((struct client *)p)->reads_left =
		permille / 1000 + (ios_sim_rng_below(&p->rng, 1000) < permille % 1000);
	next_read(p);
}

static void pgbench_start(struct ios_sim_program *pr)
{
	struct pgbench *g = (struct pgbench *)pr;

	for (uint64_t i = 0; i < g->p.clients; i++)
		ios_sim_process_after(&g->clients[i].process, 0, begin);
	if (g->p.changed_permille != 0)
		ios_sim_scatter_start(&g->tables);
}

static unsigned pgbench_processes(const void *values)
{
	const struct params *p = values;

	return (unsigned)p->clients + (p->changed_permille != 0); /* with the flusher */
}

static int pgbench_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;

	if (p->data_bytes > capacity || p->log_offset + p->log_bytes > capacity)
		return ios_sim_fail(why, -ERANGE, "its tables and log do not fit on the device");
	if (p->page_bytes > p->data_bytes)
		return ios_sim_fail(why, -ERANGE, "a page is larger than its tables");
	if (p->clients * p->record_bytes + 2 * p->page_bytes > p->log_bytes)
		return ios_sim_fail(why, -ERANGE, "its log is shorter than one group commit");
	if (p->segment_bytes > p->log_bytes)
		return ios_sim_fail(why, -ERANGE, "a file of its log is larger than the log");
	return 0;
}

static int make_tables(struct pgbench *g, uint64_t first_context)
{
	g->tables.period = g->p.flush_ns;
	g->tables.block_bytes = g->p.page_bytes;
	g->tables.most = MOST_CHANGED;
	g->tables.depth = g->p.flush_depth;
	g->tables.sorted = true;
	if (ios_sim_process_init(&g->tables.flusher, &g->program, first_context,
				 (unsigned)g->p.clients, "flusher") != 0)
		return -ENOMEM;
	return ios_sim_scatter_init(&g->tables);
}

static int pgbench_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
			struct iosched_sim_error *why)
{
	struct pgbench *g = (struct pgbench *)pr;
	int err = 0;

	(void)why;
	g->p = *(const struct params *)values;
	g->last_waiter = &g->waiters;
	g->clients = calloc(g->p.clients, sizeof(*g->clients));
	if (g->clients == NULL)
		return -ENOMEM;
	for (unsigned i = 0; err == 0 && i < g->p.clients; i++) {
		g->clients[i].read.done = page_read;
		err = ios_sim_process_init(&g->clients[i].process, pr, first_context, i, "client");
	}
	if (err == 0 && g->p.changed_permille != 0)
		err = make_tables(g, first_context);
	return err;
}

static void pgbench_fini(struct ios_sim_program *pr)
{
	struct pgbench *g = (struct pgbench *)pr;

	for (uint64_t i = 0; g->clients != NULL && i < g->p.clients; i++)
		ios_sim_process_fini(&g->clients[i].process);
	ios_sim_scatter_fini(&g->tables);
	free(g->clients);
}

const struct ios_sim_program_kind ios_sim_program_pgbench = {
	.name = "pgbench",
	.summary = "clients of a database read pages at random and commit to one log",
	.params = params,
	.endless = true,
	.params_size = sizeof(struct params),
	.size = sizeof(struct pgbench),
	.processes = pgbench_processes,
	.check = pgbench_check,
	.init = pgbench_init,
	.fini = pgbench_fini,
	.start = pgbench_start,
};
