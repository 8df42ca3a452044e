/* SPDX-License-Identifier: MIT */
/* io: one I/O of a client's, as the example engines take it and give it back by calling done(). */
#ifndef EXAMPLES_IO_H
#define EXAMPLES_IO_H

#include <iosched/iosched.h>

#include <stdatomic.h>

struct io {
	struct iosched_request rq;
	char *buffer;
	int error;
	void (*done)(struct io *io); /* may be called in any thread; must not block for long */
	void *owner;		     /* the client's */
	struct io *next;	     /* the engine's */
	struct io *cancel_next;	     /* the engine's */
	atomic_int cancel;	     /* the engine's */
};

#endif
