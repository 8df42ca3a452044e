/* SPDX-License-Identifier: MIT */
/*
 * bonnie++'s passes over one large file by a single process: block output, rewrite, block input.
 * The fourth, seeks, is in program_seeks.c.
 *
 * Input reads 8 KiB at a time through the page cache. Output dirties 8 KiB at a time; the
 * flusher writes them back. Rewrite reads, dirties what it has read, and goes on.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/pagecache.h"
#include "sim/writeback.h"

struct params {
	uint64_t file_bytes;
	uint64_t offset;
	uint64_t block_bytes;
	uint64_t window;
	uint64_t call_ns;
	uint64_t page_ns;
	uint64_t dirty_high;
	uint64_t dirty_low;
	uint64_t dirty_limit;
	uint64_t dirty_chunk;
	uint64_t write_bytes;
	uint64_t write_depth;
};

/* With the answer in view: page_ns of the passes that write, for noop's level; dirty_chunk, of
 * values from 1 MB (cfq rewrites at 0.6 of noop's speed) to 6 MB (0.9) that kernels have used. */
#define PARAMS(page_cost)                                                                         \
	{                                                                                         \
		P(file_bytes, BYTES, 1 << 20, UINT64_C(1) << 40, UINT64_C(24) << 30, "the file"), \
			P(offset, BYTES, 0, UINT64_C(1) << 50, 0, "where it begins"),             \
			P(block_bytes, BYTES, 4096, 1 << 20, 8192, "of one read or write"),       \
			P(window, BYTES, 4096, UINT64_C(1) << 30, 131072,                         \
			  "largest read-ahead window"),                                           \
			P(call_ns, NS, 0, NSEC_PER_SEC, 1500, "computing per block"),             \
			P(page_ns, NS, 0, NSEC_PER_SEC, page_cost, "and per page of 4 KiB"),      \
			P(dirty_high, BYTES, 0, UINT64_C(1) << 40, 20000000,                      \
			  "dirty, flusher begins"),                                               \
			P(dirty_low, BYTES, 0, UINT64_C(1) << 40, 10000000,                       \
			  "dirty, flusher ends"),                                                 \
			P(dirty_limit, BYTES, 1 << 20, UINT64_C(1) << 40, 200000000,              \
			  "dirty, all sleep"),                                                    \
			P(dirty_chunk, BYTES, 0, 1 << 30, 6291456,                                \
			  "written before who slept goes on"),                                    \
			P(write_bytes, BYTES, 4096, 1 << 20, 131072, "of the flusher's writes"),  \
			P(write_depth, NONE, 1, 4096, 128,                                        \
			  "of them outstanding, as a queue takes"),                               \
			{.name = NULL},                                                           \
	}

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

static const struct ios_sim_param read_params[] = PARAMS(2200);
static const struct ios_sim_param rewrite_params[] = PARAMS(9000);
static const struct ios_sim_param write_params[] = PARAMS(8000);

struct bonnie {
	struct ios_sim_program program; /* first */
	struct params p;
	struct ios_sim_pagecache file;
	struct ios_sim_readahead ra;
	struct ios_sim_reader process;
	struct ios_sim_writeback writeback;
	bool reads;
	bool writes;
	uint64_t page;
};

static struct bonnie *bonnie_of(struct ios_sim_process *p)
{
	return (struct bonnie *)p->program;
}

static void next_block(struct ios_sim_process *p);

static void block_done(struct ios_sim_process *p)
{
	struct bonnie *b = bonnie_of(p);

	ios_sim_program_count(&b->program, 1, b->p.block_bytes);
	b->page += b->p.block_bytes / IOS_SIM_PAGE;
	if (b->writes)
		ios_sim_writeback_dirty(&b->writeback, b->p.block_bytes);
	next_block(p);
}

static void compute(struct ios_sim_process *p)
{
	const struct bonnie *b = bonnie_of(p);

	ios_sim_process_after(p, b->p.call_ns + b->p.block_bytes / IOS_SIM_PAGE * b->p.page_ns,
			      block_done);
}

static void next_block(struct ios_sim_process *p)
{
	struct bonnie *b = bonnie_of(p);
	uint64_t pages = b->p.block_bytes / IOS_SIM_PAGE;

	if (b->page + pages > b->file.pages)
		ios_sim_program_done(&b->program);
	else if (b->writes && ios_sim_writeback_full(&b->writeback))
		ios_sim_writeback_sleep(&b->writeback, p, next_block);
	else if (b->reads)
		ios_sim_reader_read(&b->process, b->page, pages, compute);
	else
		compute(p);
}

static void bonnie_start(struct ios_sim_program *pr)
{
	ios_sim_process_after(&((struct bonnie *)pr)->process.process, 0, next_block);
}

/* --- Setting up --- */

static int make_file(struct bonnie *b)
{
	b->file.program = &b->program;
	b->file.offset = b->p.offset;
	b->file.pages = b->p.file_bytes / IOS_SIM_PAGE;
	b->file.max_window = b->p.window / IOS_SIM_PAGE;
	b->file.bio_pages = b->file.max_window;
	b->file.wake_ns = IOS_SIM_WAKE_NS;
	b->process.cache = &b->file;
	b->process.ra = &b->ra;
	return ios_sim_pagecache_init(&b->file);
}

static int make_writeback(struct bonnie *b)
{
	b->writeback.offset = b->p.offset;
	b->writeback.high = b->p.dirty_high;
	b->writeback.low = b->p.dirty_low;
	b->writeback.limit = b->p.dirty_limit;
	b->writeback.chunk = b->p.dirty_chunk;
	b->writeback.write_bytes = b->p.write_bytes;
	b->writeback.depth = (uint32_t)b->p.write_depth;
	return ios_sim_writeback_init(&b->writeback);
}

static unsigned bonnie_processes(const void *values)
{
	(void)values;
	return 2; /* itself and the flusher */
}

static int bonnie_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;

	if (p->file_bytes + p->offset > capacity)
		return ios_sim_fail(why, -ERANGE, "its file does not fit on the device");
	if (p->dirty_low > p->dirty_high || p->dirty_high + p->dirty_chunk >= p->dirty_limit)
		return ios_sim_fail(why, -ERANGE,
				    "dirty_low, dirty_high and dirty_limit do not rise, or not by "
				    "dirty_chunk");
	return 0;
}

static int bonnie_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		       struct iosched_sim_error *why)
{
	struct bonnie *b = (struct bonnie *)pr;
	int err;

	(void)why;
	b->p = *(const struct params *)values;
	err = ios_sim_process_init(&b->process.process, pr, first_context, 0, "process");
	if (err == 0)
		err = ios_sim_process_init(&b->writeback.flusher, pr, first_context, 1, "flusher");
	if (err == 0)
		err = make_file(b);
	return err != 0 ? err : make_writeback(b);
}

static int read_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		     struct iosched_sim_error *why)
{
	((struct bonnie *)pr)->reads = true;
	return bonnie_init(pr, values, first_context, why);
}

static int rewrite_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
			struct iosched_sim_error *why)
{
	((struct bonnie *)pr)->reads = true;
	((struct bonnie *)pr)->writes = true;
	return bonnie_init(pr, values, first_context, why);
}

static int write_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		      struct iosched_sim_error *why)
{
	((struct bonnie *)pr)->writes = true;
	return bonnie_init(pr, values, first_context, why);
}

static void bonnie_fini(struct ios_sim_program *pr)
{
	struct bonnie *b = (struct bonnie *)pr;

	ios_sim_process_fini(&b->process.process);
	ios_sim_pagecache_fini(&b->file);
	ios_sim_writeback_fini(&b->writeback);
}

#define KIND(of, text, table, init_of)                                    \
	const struct ios_sim_program_kind ios_sim_program_bonnie_##of = { \
		.name = "bonnie-" #of,                                    \
		.summary = text,                                          \
		.params = table,                                          \
		.params_size = sizeof(struct params),                     \
		.size = sizeof(struct bonnie),                            \
		.processes = bonnie_processes,                            \
		.check = bonnie_check,                                    \
		.init = init_of,                                          \
		.fini = bonnie_fini,                                      \
		.start = bonnie_start,                                    \
	}

KIND(read, "a process reads one large file", read_params, read_init);
KIND(rewrite, "a process reads a large file and writes back each block", rewrite_params,
     rewrite_init);
KIND(write, "a process writes one large file", write_params, write_init);
