/* SPDX-License-Identifier: MIT */
/*
 * bonnie++'s seeks: processes that read blocks of a large file at random, and change one in ten.
 *
 * A part of the file is in memory and costs no I/O. Changed blocks are written back every few
 * seconds by a flusher, in one burst.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/scatter.h"

struct params {
	uint64_t processes;
	uint64_t file_bytes;
	uint64_t block_bytes;
	uint64_t cached_permille;
	uint64_t cached_ns;
	uint64_t compute_ns;
	uint64_t changed_permille;
	uint64_t flush_ns;
	uint64_t flush_blocks;
	uint64_t flush_depth;
};

#define P(name, unit, min, max, initial, doc)                                                     \
	{                                                                                         \
#name, IOS_SIM_UNIT_##unit, min, max, initial, offsetof(struct params, name), doc \
	}

/* With the answer in view: cached_permille, for the level; 128 GB of memory and a file of 258 GB
 * let 470 be expected. It scales all policies alike. */
static const struct ios_sim_param params[] = {
	P(processes, NONE, 1, 1024, 5, "processes that seek"),
	P(file_bytes, BYTES, 1 << 20, UINT64_C(1) << 50, UINT64_C(258376) << 20, "the file"),
	P(block_bytes, BYTES, 512, 1 << 20, 8192, "of one read"),
	P(cached_permille, NONE, 0, 1000, 440, "of the reads are in memory"),
	P(cached_ns, NS, 0, NSEC_PER_SEC, 20000, "time of those"),
	P(compute_ns, NS, 1, NSEC_PER_SEC, 15000, "computing per block"),
	P(changed_permille, NONE, 0, 1000, 100, "of the blocks are changed"),
	P(flush_ns, NS, 1, UINT64_C(1) << 50, 5 * NSEC_PER_SEC, "between two bursts of writes"),
	P(flush_blocks, NONE, 1, 65536, 1024, "changed blocks in a burst at most"),
	P(flush_depth, NONE, 1, 4096, 128, "of them outstanding, as a queue takes"),
	{.name = NULL},
};

struct seeker {
	struct ios_sim_process process; /* first */
	struct ios_sim_token token;
	uint64_t offset;
};

struct seeks {
	struct ios_sim_program program; /* first */
	struct params p;
	struct seeker *seekers;
	struct ios_sim_scatter writeback;
};

static struct seeks *seeks_of(struct ios_sim_process *p)
{
	return (struct seeks *)p->program;
}

static void next_seek(struct ios_sim_process *p);

static void block_read(struct ios_sim_process *p)
{
	struct seeks *s = seeks_of(p);

	ios_sim_program_count(&s->program, 1, s->p.block_bytes);
	if (ios_sim_rng_below(&p->rng, 1000) < s->p.changed_permille)
		ios_sim_scatter_change(&s->writeback, ((struct seeker *)p)->offset);
	ios_sim_process_after(p, s->p.compute_ns, next_seek);
}

static void read_done(struct ios_sim_token *t)
{
	struct seeker *k = (struct seeker *)(void *)((char *)t - offsetof(struct seeker, token));

	ios_sim_process_after(&k->process, IOS_SIM_WAKE_NS, block_read);
}

static void next_seek(struct ios_sim_process *p)
{
	struct seeks *s = seeks_of(p);
	struct seeker *k = (struct seeker *)p;

	k->offset =
		ios_sim_rng_below(&p->rng, s->p.file_bytes / s->p.block_bytes) * s->p.block_bytes;
	if (ios_sim_rng_below(&p->rng, 1000) < s->p.cached_permille)
		ios_sim_process_after(p, s->p.cached_ns, block_read);
	else if (ios_sim_process_submit(p, &k->token, IOSCHED_READ, k->offset, s->p.block_bytes, 0))
		ios_sim_process_sleeps(p);
}

static void seeks_start(struct ios_sim_program *pr)
{
	struct seeks *s = (struct seeks *)pr;

	for (uint64_t i = 0; i < s->p.processes; i++)
		ios_sim_process_after(&s->seekers[i].process, 0, next_seek);
	ios_sim_scatter_start(&s->writeback);
}

static unsigned seeks_processes(const void *values)
{
	return (unsigned)((const struct params *)values)->processes + 1; /* and the flusher */
}

static int seeks_check(const void *values, uint64_t capacity, struct iosched_sim_error *why)
{
	const struct params *p = values;

	if (p->file_bytes > capacity)
		return ios_sim_fail(why, -ERANGE, "its file does not fit on the device");
	if (p->block_bytes > p->file_bytes)
		return ios_sim_fail(why, -ERANGE, "a block is larger than the file");
	return 0;
}

static int seeks_init(struct ios_sim_program *pr, const void *values, uint64_t first_context,
		      struct iosched_sim_error *why)
{
	struct seeks *s = (struct seeks *)pr;
	int err = 0;

	(void)why;
	s->p = *(const struct params *)values;
	s->writeback.period = s->p.flush_ns;
	s->writeback.block_bytes = s->p.block_bytes;
	s->writeback.most = s->p.flush_blocks;
	s->writeback.depth = s->p.flush_depth;
	s->seekers = calloc(s->p.processes, sizeof(*s->seekers));
	if (s->seekers == NULL)
		return -ENOMEM;
	for (unsigned i = 0; err == 0 && i < s->p.processes; i++) {
		s->seekers[i].token.done = read_done;
		err = ios_sim_process_init(&s->seekers[i].process, pr, first_context, i, "seeker");
	}
	if (err == 0)
		err = ios_sim_process_init(&s->writeback.flusher, pr, first_context,
					   (unsigned)s->p.processes, "flusher");
	return err != 0 ? err : ios_sim_scatter_init(&s->writeback);
}

static void seeks_fini(struct ios_sim_program *pr)
{
	struct seeks *s = (struct seeks *)pr;

	for (uint64_t i = 0; s->seekers != NULL && i < s->p.processes; i++)
		ios_sim_process_fini(&s->seekers[i].process);
	ios_sim_scatter_fini(&s->writeback);
	free(s->seekers);
}

const struct ios_sim_program_kind ios_sim_program_bonnie_seeks = {
	.name = "bonnie-seeks",
	.summary = "processes read blocks of a large file at random and change some",
	.params = params,
	.endless = true,
	.params_size = sizeof(struct params),
	.size = sizeof(struct seeks),
	.processes = seeks_processes,
	.check = seeks_check,
	.init = seeks_init,
	.fini = seeks_fini,
	.start = seeks_start,
};
