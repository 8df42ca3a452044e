/* SPDX-License-Identifier: MIT */
/*
 * uring_engine: many threads submit, one thread owns the queue and an io_uring.
 *
 *     clients ─ front ─▶ dispatcher: queue ─ dispatch ─▶ SQE … CQE ─ complete ─▶ io->done()
 *
 * On a file or a block device, O_DIRECT where it can be had. Offsets and lengths are multiples of
 * ENGINE_BLOCK.
 */
#ifndef EXAMPLES_URING_ENGINE_H
#define EXAMPLES_URING_ENGINE_H

#include "io.h"

#define ENGINE_BLOCK 4096u
#define ENGINE_BATCH 64u

struct engine;

struct engine_params {
	const char *path;
	const char *disk; /* an emulated one, DEVICE[,SETTING=VALUE]..., with FILE for its data; or
			     NULL */
	bool buffered;	  /* by the page cache even where O_DIRECT can be had */
	const struct iosched_policy *policy; /* NULL: first come, first served, without a queue */
	unsigned window;		     /* requests with the device at a time */
	unsigned capacity;		     /* requests the front holds */
	unsigned merge_bytes;		     /* largest request that merging makes, whole blocks */
	char *pool; /* buffers lie in here: registered if the kernel lets us; may be NULL */
	size_t pool_size;
};

int engine_open(struct engine **out, const struct engine_params *p); /* 0 or -errno */
/* What the kernel granted, in words. */
const char *engine_features(const struct engine *e);

/* Any thread. 0: io->done() will be called, once, in the dispatcher's thread; -EAGAIN: the front is
 * full, do something else first; -EINVAL: not whole blocks; -ESHUTDOWN. */
int engine_submit(void *engine, struct io *io);
/* Any thread: up to ENGINE_BATCH, in order, at once, so that neighbours are merged before the first
 * of them is with the device. Returns how many were taken, the first ones; or as engine_submit().
 */
int engine_submit_many(struct engine *e, struct io *const *ios, unsigned n);
/* Any thread, for an io submitted whose memory is still there: ask to have it back soon. It comes
 * back by done() as ever, with -ECANCELED if nothing was done. -EALREADY: it is on its way. */
int engine_cancel(void *engine, struct io *io);

/* Refuse new requests; those queued come back with -ECANCELED, those in flight as they end. */
void engine_abandon(struct engine *e);
/* Refuse new requests, do all that were accepted, free everything. 0, or -EBUSY: a bug. */
int engine_close(struct engine *e);

#endif
