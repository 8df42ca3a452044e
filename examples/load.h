/* SPDX-License-Identifier: MIT */
/*
 * load: threads that use a storage engine and believe nothing. Shared by the examples that have
 * client threads; in your program the clients are your own.
 *
 * Each client owns an area of the file. A round of it: write every block of the area in
 * shuffled order with a stamp (block, round), wait, flush, wait, read all back, compare. With a
 * journal, a line "client round" is printed once a round is flushed; after a crash,
 * --recover holds the file against those lines.
 */
#ifndef EXAMPLES_LOAD_H
#define EXAMPLES_LOAD_H

#include "io.h"

#include <pthread.h>
#include <stdatomic.h>

#define LOAD_BLOCK 4096u

struct load_client {
	struct load *load;
	pthread_t thread;
	unsigned id;
	struct io *ios; /* depth of them, and a flush */
	pthread_mutex_t lock;
	pthread_cond_t idle;
	atomic_uint outstanding; /* and one for the client itself, until it waits */
	bool all_back;
	bool stopped; /* by the engine */
	uint64_t requests, errors, cancelled;
};

/* Filled by load_options(). */
struct load {
	const char *program, *path, *recover, *command;
	const char *disk;		     /* --disk, for an engine that knows emulated ones */
	const struct iosched_policy *policy; /* NULL: --bypass */
	unsigned clients, depth, stride, window, threads;
	double seconds;
	bool reads_only, journal, abandon, cancels, command_given, policy_given;
	bool buffered; /* --buffered, for an engine that would not */
	bool disks;    /* set before load_options(): it does */

	/* 0, -EAGAIN (busy, try again), -ESHUTDOWN. */
	int (*submit)(void *engine, struct io *io);
	/* 0 or -EALREADY; NULL: the engine has none */
	int (*cancel)(void *engine, struct io *io);
	void *engine;

	char *pool; /* all buffers, page-aligned: engines may register it */
	size_t pool_size;
	struct load_client *client;
	atomic_bool stop;
	atomic_uint running;
	iosched_time started;
};

iosched_time load_now(void); /* CLOCK_MONOTONIC */
void load_sleep(double seconds);

/* Reads the command line. @return 0, or the exit code of the program */
int load_options(struct load *load, int argc, char **argv);
int load_start(struct load *load); /* 0 or -errno */
void load_run(struct load *load);  /* for its time, or until all clients have given up */
/* Tells the clients to stop, waits, prints what they did. @return the exit code of the program */
int load_wait(struct load *load);
void load_free(struct load *load); /* when the engine is closed: it may hold the buffers */
/* --recover: the file against a journal. @return the exit code of the program */
int load_recover(const struct load *load);

#endif
