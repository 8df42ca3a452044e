/* SPDX-License-Identifier: MIT */
/*
 * dump(8): processes that read a partition in turn, each a record, and write the records in
 * order.
 *
 * Record k belongs to process k mod n. A process reads the pages of its record one by one, waits
 * until all records before it are written, writes its own, computes, and takes its next
 * record. They share the disk's page cache but each has opened the disk for itself: there are n
 * read-ahead states. A bio of a disk is one page; the plug is what makes them large.
 *
 * The blocks in use lie in extents with gaps, and now and then a jump.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/pagecache.h"

struct params {
	uint64_t processes;
	uint64_t bytes;
	uint64_t record_bytes;
	uint64_t extent_bytes;
	uint64_t gap_bytes;
	uint64_t jump_permille;
	uint64_t jump_bytes;
	uint64_t window;
	uint64_t read_ns;
	uint64_t write_ns;
	uint64_t record_ns;
};

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

/* With the answer in view: extent, gap and record_ns make noop as fast as reported; no policy's
 * ratio to noop was looked at. */
static const struct ios_sim_param params[] = {
	P(processes, NONE, 1, 64, 3, "processes that take records in turn"),
	P(bytes, BYTES, 1 << 20, UINT64_C(1) << 40, UINT64_C(10) << 30, "blocks in use"),
	P(record_bytes, BYTES, 1024, 1 << 20, 10240, "of one record"),
	P(extent_bytes, BYTES, 4096, UINT64_C(1) << 30, 196608, "mean length of an extent"),
	P(gap_bytes, BYTES, 0, UINT64_C(1) << 30, 40960, "mean gap between two extents"),
	P(jump_permille, NONE, 0, 1000, 20, "of the gaps are jumps"),
	P(jump_bytes, BYTES, 0, UINT64_C(1) << 34, UINT64_C(8000000), "mean length of a jump"),
	P(window, BYTES, 4096, UINT64_C(1) << 30, 131072, "largest read-ahead window"),
	P(read_ns, NS, 0, NSEC_PER_SEC, 2600, "computing per page read"),
	P(write_ns, NS, 0, NSEC_PER_SEC, 12000, "to write a record"),
	P(record_ns, NS, 0, NSEC_PER_SEC, 740000, "computing per record, after it is written"),
	{.name = NULL},
};

/* Blocks in use, in order: page `first` of the dump is page `place` of the disk, and so on to the
 * next extent. */
struct extent {
	uint64_t first;
	uint64_t place;
};

struct slave {
	struct ios_sim_reader reader; /* first */
	struct ios_sim_readahead ra;
	uint64_t record;
	uint64_t page; /* of the dump, next to read */
	uint64_t last; /* page of the record */
	uint64_t extent;
	bool waits; /* for its turn to write */
};

struct dump {
	struct ios_sim_program program; /* first */
	struct params p;
	struct ios_sim_pagecache disk;
	struct extent *extents;
	uint64_t extent_count;
	struct slave *slaves;
	uint64_t written; /* records */
	uint64_t records;
	unsigned finished;
};

static struct dump *dump_of(struct ios_sim_process *p)
{
	return (struct dump *)p->program;
}

static void take_record(struct ios_sim_process *p);

/* The slave's place in the list of extents only moves forward. */
static uint64_t place_of(struct dump *d, struct slave *s, uint64_t page)
{
	while (s->extent + 1 < d->extent_count && d->extents[s->extent + 1].first <= page)
		s->extent++;
	return d->extents[s->extent].place + (page - d->extents[s->extent].first);
}

static void record_computed(struct ios_sim_process *p)
{
	struct slave *s = (struct slave *)p;

	s->record += dump_of(p)->p.processes;
	take_record(p);
}

static void write_if_its_turn(struct dump *d, struct slave *s);

static void record_written(struct ios_sim_process *p)
{
	struct dump *d = dump_of(p);
	struct slave *next;

	d->written++;
	ios_sim_program_count(&d->program, 1, d->p.record_bytes);
	next = &d->slaves[d->written % d->p.processes];
	if (next->waits)
		write_if_its_turn(d, next);
	ios_sim_process_after(p, d->p.record_ns, record_computed);
}

static void write_if_its_turn(struct dump *d, struct slave *s)
{
	s->waits = s->record != d->written;
	if (!s->waits)
		ios_sim_process_after(&s->reader.process, d->p.write_ns, record_written);
}

static void read_page(struct ios_sim_process *p);

static void page_read(struct ios_sim_process *p)
{
	struct dump *d = dump_of(p);
	struct slave *s = (struct slave *)p;

	if (s->page++ == s->last)
		write_if_its_turn(d, s);
	else
		ios_sim_process_after(p, d->p.read_ns, read_page);
}

static void read_page(struct ios_sim_process *p)
{
	struct slave *s = (struct slave *)p;

	ios_sim_reader_read(&s->reader, place_of(dump_of(p), s, s->page), 1, page_read);
}

static void take_record(struct ios_sim_process *p)
{
	struct dump *d = dump_of(p);
	struct slave *s = (struct slave *)p;

	if (s->record >= d->records) {
		if (++d->finished == d->p.processes)
			ios_sim_program_done(&d->program);
		return;
	}
	s->page = s->record * d->p.record_bytes / IOS_SIM_PAGE;
	s->last = ((s->record + 1) * d->p.record_bytes - 1) / IOS_SIM_PAGE;
	read_page(p);
}

static void dump_start(struct ios_sim_program *pr)
{
	struct dump *d = (struct dump *)pr;

	for (uint64_t i = 0; i < d->p.processes; i++)
		ios_sim_process_after(&d->slaves[i].reader.process, 0, take_record);
}

/* --- Setting up --- */

static uint64_t draw_pages(struct ios_sim_rng *rng, uint64_t mean_bytes)
{
	return mean_bytes == 0 ? 0 : ios_sim_rng_exponential(rng, mean_bytes) / IOS_SIM_PAGE;
}

static uint64_t draw_gap(const struct dump *d, struct ios_sim_rng *rng)
{
	bool jump = ios_sim_rng_below(rng, 1000) < d->p.jump_permille;

	return draw_pages(rng, jump ? d->p.jump_bytes : d->p.gap_bytes);
}

/* From its own random numbers, so the partition is the same under every policy. It may be shorter
 * than asked for, when the disk is full. */
static int lay_out(struct dump *d, uint64_t capacity_pages)
{
	uint64_t pages = d->p.bytes / IOS_SIM_PAGE;
	uint64_t room = 0, used = 0, at = 0;
	struct ios_sim_rng rng;

	ios_sim_rng_init(&rng, d->program.seed, UINT64_MAX);
	while (used < pages) {
		uint64_t length = draw_pages(&rng, d->p.extent_bytes) + 1;

		if (at + length > capacity_pages)
			break;
		if (d->extent_count == room) {
			struct extent *more;

			room = room * 2 + 64;
			more = realloc(d->extents, room * sizeof(*more));
			if (more == NULL)
				return -ENOMEM;
			d->extents = more;
		}
		d->extents[d->extent_count++] = (struct extent){used, at};
		used += length;
		at += length + draw_gap(d, &rng);
	}
	d->records = used * IOS_SIM_PAGE / d->p.record_bytes;
	d->disk.pages = at < capacity_pages ? at : capacity_pages;
	return 0;
}

static unsigned dump_processes(const void *values)
{
	return (unsigned)((const struct params *)values)->processes;
}

/* How much of the device its extents take is known when they have been drawn. */
static int dump_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;

	return p->bytes <= capacity
		       ? 0
		       : ios_sim_fail(why, -ERANGE, "its blocks do not fit on the device");
}

static int dump_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		     struct iosched_sim_error *why)
{
	struct dump *d = (struct dump *)pr;
	int err;

	d->p = *(const struct params *)values;
	err = lay_out(d, pr->load.host->device->capacity / IOS_SIM_PAGE);
	if (err != 0)
		return err;
	if (d->records < d->p.processes)
		return ios_sim_fail(why, -ERANGE, "the device is too small for its blocks");
	d->disk.program = pr;
	d->disk.max_window = d->p.window / IOS_SIM_PAGE;
	d->disk.bio_pages = 1;
	d->disk.wake_ns = IOS_SIM_WAKE_NS;
	d->slaves = calloc(d->p.processes, sizeof(*d->slaves));
	if (d->slaves == NULL || ios_sim_pagecache_init(&d->disk) != 0)
		return -ENOMEM;
	for (unsigned i = 0; err == 0 && i < d->p.processes; i++) {
		struct slave *s = &d->slaves[i];

		err = ios_sim_process_init(&s->reader.process, pr, first_context, i, "process");
		s->reader.cache = &d->disk;
		s->reader.ra = &s->ra;
		s->record = i;
	}
	return err;
}

static void dump_fini(struct ios_sim_program *pr)
{
	struct dump *d = (struct dump *)pr;

	for (uint64_t i = 0; d->slaves != NULL && i < d->p.processes; i++)
		ios_sim_process_fini(&d->slaves[i].reader.process);
	ios_sim_pagecache_fini(&d->disk);
	free(d->slaves);
	free(d->extents);
}

const struct ios_sim_program_kind ios_sim_program_dump = {
	.name = "dump",
	.summary = "processes read the records of a partition in turn and write them in order",
	.params = params,
	.params_size = sizeof(struct params),
	.size = sizeof(struct dump),
	.processes = dump_processes,
	.check = dump_check,
	.init = dump_init,
	.fini = dump_fini,
	.start = dump_start,
};
