/* SPDX-License-Identifier: MIT */
/*
 * Programs: processes of a host with an operating system.
 *
 * A process is a place to go on at (`go`) and one event. It computes for a while, or
 * sleeps on something and is woken; then `go` is called. A program is a load: its processes
 * share its score. A request is a token: when it is done, so is what its owner does then.
 *
 * Rule: a process is never called from within the call that woke it, always from its event.
 */
#ifndef IOS_SIM_PROGRAM_H
#define IOS_SIM_PROGRAM_H

#include "sim/arith.h"
#include "sim/load.h"
#include "sim/param.h"
#include "sim/rng.h"

/* From the end of a request until who slept on it runs: a context switch and its interrupt. */
#define IOS_SIM_WAKE_NS UINT64_C(8000)

/* What the host's request carries. */
struct ios_sim_token {
	void (*done)(struct ios_sim_token *token);
};

/* The part that all programs have; the first member of each. */
struct ios_sim_program {
	struct ios_sim_load load; /* first */
	const struct ios_sim_program_kind *kind;
	const struct iosched_sim_program *config;
	struct iosched_sim_program_result score;
	iosched_time from; /* of the score */
	iosched_time until;
	uint64_t seed;
};

struct ios_sim_process {
	struct ios_sim_program *program;
	void (*go)(struct ios_sim_process *p);
	struct ios_sim_event event;
	struct ios_sim_process *next_sleeper;
	struct ios_sim_rng rng;
	uint64_t context;
	uint32_t meter;
};

struct ios_sim_program_kind {
	const char *name;
	const char *summary;
	const struct ios_sim_param *params;
	bool endless; /* it is never done */
	size_t params_size;
	size_t size; /* of its struct, which is zero but for the common part */
	unsigned (*processes)(const void *params);
	/* Is there room for it on so many bytes? Returns 0 or -ERANGE with a sentence. */
	int (*check)(const void *params, uint64_t capacity, struct iosched_sim_error *why);
	/* @params has passed check() and is copied. Returns 0, -ERANGE with a sentence, -ENOMEM. */
	int (*init)(struct ios_sim_program *pr, const void *params, uint64_t first_context,
		    struct iosched_sim_error *why);
	void (*fini)(struct ios_sim_program *pr); /* also after a failed init */
	void (*start)(struct ios_sim_program *pr);
};

extern const struct ios_sim_program_kind ios_sim_program_bonnie_read;
extern const struct ios_sim_program_kind ios_sim_program_bonnie_rewrite;
extern const struct ios_sim_program_kind ios_sim_program_bonnie_seeks;
extern const struct ios_sim_program_kind ios_sim_program_bonnie_write;
extern const struct ios_sim_program_kind ios_sim_program_dump;
extern const struct ios_sim_program_kind ios_sim_program_nfs;
extern const struct ios_sim_program_kind ios_sim_program_pgbench;
extern const struct ios_sim_program_kind ios_sim_program_sysbench;

/* A program as configured. Returns 0, -ENOENT, -EINVAL, -ERANGE with a sentence, -ENOMEM. */
int ios_sim_program_create(struct ios_sim_program **out, struct ios_sim_host *h,
			   const struct iosched_sim_config *c, unsigned index,
			   struct iosched_sim_error *why);

static inline iosched_time ios_sim_program_now(const struct ios_sim_program *pr)
{
	return pr->load.host->engine.now;
}

/* It has done so much, and is metered for it unless it is warming up. */
void ios_sim_program_count(struct ios_sim_program *pr, uint64_t operations, uint64_t bytes);

/* Somebody waited from @since for a write to be safe. */
void ios_sim_program_synced(struct ios_sim_program *pr, iosched_time since);

/* All is done that was to do; the load is over. */
void ios_sim_program_done(struct ios_sim_program *pr);

/* Returns 0 or -ENOMEM. @number tells a program's processes apart, from 0. */
int ios_sim_process_init(struct ios_sim_process *p, struct ios_sim_program *pr,
			 uint64_t first_context, unsigned number, const char *name);
void ios_sim_process_fini(struct ios_sim_process *p);

/* Go on at @go after @ns: it computes, or it has been woken and this is how long that takes. */
void ios_sim_process_after(struct ios_sim_process *p, uint64_t ns,
			   void (*go)(struct ios_sim_process *p));

/* Submit for a process. Returns false when the run is over: the token will not be done. */
bool ios_sim_process_submit(struct ios_sim_process *p, struct ios_sim_token *token, uint8_t op,
			    uint64_t offset, uint64_t length, uint32_t flags);

/* What is to be slept on makes the host pull the plug. */
static inline void ios_sim_process_sleeps(struct ios_sim_process *p)
{
	ios_sim_host_unplug(p->program->load.host);
}

static inline uint64_t ios_sim_process_exponential(struct ios_sim_process *p, uint64_t mean)
{
	return mean == 0 ? 0 : ios_sim_rng_exponential(&p->rng, mean);
}

#endif
