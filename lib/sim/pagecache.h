/* SPDX-License-Identifier: MIT */
/*
 * The page cache: one file (or disk) in memory, and processes that read through it.
 *
 * State: a byte per page: absent, being read or there, and the read-ahead mark. Windows
 * that read-ahead asks for become bios; a bio knows who sleeps on it. Nothing is evicted: a run
 * is shorter than the memory of the machines it stands for.
 *
 * With `map_pages`, a block on the disk before each so many pages says where they lie, as in ext2
 * and ext3. Read-ahead that comes to pages whose block is not in memory has that read first, and
 * sleeps in the middle of its window. The first twelve pages need none.
 *
 * Rule: a reader looks at its pages in order. A missing one makes a window be read, a
 * marked one makes the next window be read, and on one that is being read it sleeps.
 */
#ifndef IOS_SIM_PAGECACHE_H
#define IOS_SIM_PAGECACHE_H

#include "sim/program.h"
#include "sim/readahead.h"

#define IOS_SIM_PAGE UINT64_C(4096)

/* Pages of a file whose places are in its inode. */
#define IOS_SIM_DIRECT_PAGES UINT64_C(12)

struct ios_sim_bio;
struct ios_sim_indirect;

struct ios_sim_pagecache {
	struct ios_sim_program *program;
	uint64_t offset; /* of page 0 on the device, bytes */
	uint64_t pages;
	uint64_t max_window; /* pages */
	uint64_t bio_pages;  /* at most so many in a bio; a block device has 1 */
	uint64_t wake_ns;    /* from the end of a bio until a sleeper runs ... */
	uint64_t wake_more;  /* ... and exponential on top, mean */
	uint64_t map_pages;  /* a block says where so many pages lie; 0: no such blocks */
	uint8_t *state;
	struct ios_sim_indirect *maps; /* one for each of those blocks */
	struct ios_sim_bio *reading;
	struct ios_sim_bio *spare;
};

/* Fill in everything else first. Returns 0 or -ENOMEM. */
int ios_sim_pagecache_init(struct ios_sim_pagecache *c);
void ios_sim_pagecache_fini(struct ios_sim_pagecache *c);

/* Bytes that it takes on the device. */
uint64_t ios_sim_pagecache_room(const struct ios_sim_pagecache *c);

/* Neither there nor being read. */
bool ios_sim_pagecache_absent(const struct ios_sim_pagecache *c, uint64_t page);

/* A process that reads: its state of one read. */
struct ios_sim_reader {
	struct ios_sim_process process; /* first */
	struct ios_sim_pagecache *cache;
	struct ios_sim_readahead *ra;
	uint64_t at;
	uint64_t end;
	struct ios_sim_window left; /* of the window at whose block it sleeps; no pages: none */
	uint64_t want_end; /* read-ahead takes the request to end there, if that is further */
	void (*then)(struct ios_sim_process *p);
};

/* Read pages [@first, @first + @pages), then go on at @then; within the call if it need not sleep.
 * A read is cut at the end of the file. */
void ios_sim_reader_read(struct ios_sim_reader *r, uint64_t first, uint64_t pages,
			 void (*then)(struct ios_sim_process *p));

/* Have missing pages read ahead from @at on, as a read that wants @want pages there would. Returns
 * false when the reader sleeps on a block that says where they lie. */
bool ios_sim_reader_ahead(struct ios_sim_reader *r, uint64_t at, uint64_t want);

#endif
