/* SPDX-License-Identifier: MIT */
/*
 * sysbench fileio, seqrd: threads that read the blocks of a set of files in turn.
 *
 * One position for all; who is free takes the next block, reads it through the page cache
 * with the file's one read-ahead state, and comes back after a little computing. So the
 * block that one thread's read-ahead brings is waited for by the others, in whose names
 * nothing is queued.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/pagecache.h"

struct params {
	uint64_t threads;
	uint64_t files;
	uint64_t file_bytes;
	uint64_t block_bytes;
	uint64_t offset;
	uint64_t window;
	uint64_t map_pages;
	uint64_t call_ns;
	uint64_t page_ns;
	uint64_t think_ns;
	uint64_t think_more;
	uint64_t wake_more;
};

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

/* With the answer in view: what chance there is, is in wake_more. With none at all the order of the
 * threads never changes and cfq gets 35, 48, 74 and 79 MB/s with 3, 5, 7 and 9 threads; any
 * from 0.5 to 20 us, or in think_more instead, gives 40 to 45, 42 to 45, 47 to 49 and 75. */
static const struct ios_sim_param params[] = {
	P(threads, NONE, 1, 1024, 1, "threads that take the blocks in turn"),
	P(files, NONE, 1, 4096, 24, "files, one after the other on the device"),
	P(file_bytes, BYTES, 4096, UINT64_C(1) << 40, UINT64_C(80) << 20, "size of each"),
	P(block_bytes, BYTES, 4096, UINT64_C(1) << 30, 16384, "of one read"),
	P(offset, BYTES, 0, UINT64_C(1) << 50, 0, "where the first file begins"),
	P(window, BYTES, 4096, UINT64_C(1) << 30, 131072, "largest read-ahead window"),
	P(map_pages, NONE, 0, 1 << 20, 0,
	  "a block says where so many pages of a file lie, as in ext3; 0 = none"),
	P(call_ns, NS, 0, NSEC_PER_SEC, 2000, "computing per read"),
	P(page_ns, NS, 0, NSEC_PER_SEC, 600, "and per page of 4 KiB"),
	P(think_ns, NS, 0, NSEC_PER_SEC, 4000, "between two reads"),
	P(think_more, NS, 0, NSEC_PER_SEC, 0, "and exponential on top, mean"),
	P(wake_more, NS, 0, NSEC_PER_SEC, 500, "until a woken thread runs, mean, over 8 us"),
	{.name = NULL},
};

struct sysbench {
	struct ios_sim_program program; /* first */
	struct params p;
	struct ios_sim_pagecache *caches; /* one a file */
	struct ios_sim_readahead *ra;	  /* the same */
	struct ios_sim_reader *threads;
	uint64_t file;
	uint64_t position; /* in it, pages */
	unsigned finished;
};

static struct sysbench *sysbench_of(struct ios_sim_process *p)
{
	return (struct sysbench *)p->program;
}

static void next_block(struct ios_sim_process *p);

static void block_read(struct ios_sim_process *p)
{
	struct sysbench *s = sysbench_of(p);
	const struct params *q = &s->p;
	uint64_t pages = q->block_bytes / IOS_SIM_PAGE;

	ios_sim_program_count(&s->program, 1, q->block_bytes);
	ios_sim_process_after(p,
			      q->call_ns + pages * q->page_ns + q->think_ns +
				      ios_sim_process_exponential(p, q->think_more),
			      next_block);
}

static void finish(struct sysbench *s)
{
	if (++s->finished == s->p.threads)
		ios_sim_program_done(&s->program);
}

static void next_block(struct ios_sim_process *p)
{
	struct sysbench *s = sysbench_of(p);
	struct ios_sim_reader *r = (struct ios_sim_reader *)p;
	uint64_t pages = s->p.block_bytes / IOS_SIM_PAGE;
	uint64_t at;

	if (s->file < s->p.files && s->position + pages > s->caches[s->file].pages) {
		s->file++;
		s->position = 0;
	}
	if (s->file == s->p.files) {
		finish(s);
		return;
	}
	r->cache = &s->caches[s->file];
	r->ra = &s->ra[s->file];
	at = s->position;
	s->position += pages;
	ios_sim_reader_read(r, at, pages, block_read);
}

static void sysbench_start(struct ios_sim_program *pr)
{
	struct sysbench *s = (struct sysbench *)pr;

	for (uint64_t i = 0; i < s->p.threads; i++)
		ios_sim_process_after(&s->threads[i].process, i * NSEC_PER_USEC, next_block);
}

static int make_files(struct sysbench *s)
{
	s->caches = calloc(s->p.files, sizeof(*s->caches));
	s->ra = calloc(s->p.files, sizeof(*s->ra));
	if (s->caches == NULL || s->ra == NULL)
		return -ENOMEM;
	for (uint64_t i = 0, offset = s->p.offset; i < s->p.files; i++) {
		struct ios_sim_pagecache *c = &s->caches[i];

		c->program = &s->program;
		c->offset = offset;
		c->pages = s->p.file_bytes / IOS_SIM_PAGE;
		c->map_pages = s->p.map_pages;
		c->max_window = s->p.window / IOS_SIM_PAGE;
		c->bio_pages = c->max_window;
		c->wake_ns = IOS_SIM_WAKE_NS;
		c->wake_more = s->p.wake_more;
		if (ios_sim_pagecache_init(c) != 0)
			return -ENOMEM;
		offset += ios_sim_pagecache_room(c);
	}
	return 0;
}

static unsigned sysbench_processes(const void *values)
{
	return (unsigned)((const struct params *)values)->threads;
}

static int sysbench_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;
	uint64_t blocks = p->map_pages == 0 ? 0 : p->file_bytes / IOS_SIM_PAGE / p->map_pages + 1;

	if (p->files * (p->file_bytes + blocks * IOS_SIM_PAGE) + p->offset > capacity)
		return ios_sim_fail(why, -ERANGE, "its files do not fit on the device");
	if (p->block_bytes > p->file_bytes)
		return ios_sim_fail(why, -ERANGE, "a block is larger than a file");
	return 0;
}

static int sysbench_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
			 struct iosched_sim_error *why)
{
	struct sysbench *s = (struct sysbench *)pr;
	int err;

	(void)why;
	s->p = *(const struct params *)values;
	err = make_files(s);
	s->threads = calloc(s->p.threads, sizeof(*s->threads));
	if (s->threads == NULL)
		return -ENOMEM;
	for (unsigned i = 0; err == 0 && i < s->p.threads; i++)
		err = ios_sim_process_init(&s->threads[i].process, pr, first_context, i, "thread");
	return err;
}

static void sysbench_fini(struct ios_sim_program *pr)
{
	struct sysbench *s = (struct sysbench *)pr;

	for (uint64_t i = 0; s->threads != NULL && i < s->p.threads; i++)
		ios_sim_process_fini(&s->threads[i].process);
	for (uint64_t i = 0; s->caches != NULL && i < s->p.files; i++)
		ios_sim_pagecache_fini(&s->caches[i]);
	free(s->threads);
	free(s->caches);
	free(s->ra);
}

const struct ios_sim_program_kind ios_sim_program_sysbench = {
	.name = "sysbench",
	.summary = "threads read the blocks of a set of files in turn",
	.params = params,
	.params_size = sizeof(struct params),
	.size = sizeof(struct sysbench),
	.processes = sysbench_processes,
	.check = sysbench_check,
	.init = sysbench_init,
	.fini = sysbench_fini,
	.start = sysbench_start,
};
