/* SPDX-License-Identifier: MIT */
/*
 * uring_slot: a request with the device. What the kernel leaves undone is asked for again; what
 * was absorbed shares the fate of the bytes it stands for.
 */
#define _GNU_SOURCE
#include "uring_internal.h"

#include <errno.h>
#include <linux/falloc.h>

#define DIRECT_SECTOR 512u /* a direct transfer ends inside one only at the end of the file */

static void add_buffer(struct slot *s, struct iosched_request *rq)
{
	char *base = io_of(rq)->buffer;
	struct iovec *last = s->n != 0 ? &s->iov[s->n - 1] : NULL;

	if (last != NULL && (char *)last->iov_base + last->iov_len == base) {
		last->iov_len += rq->length;
		return;
	}
	s->iov[s->n].iov_base = base;
	s->iov[s->n++].iov_len = rq->length;
}

/* The span in file order: own extent and the absorbed ones. */
void uring_slot_fill(struct slot *s, struct iosched_request *rq)
{
	struct iosched_request *m = rq->merged;

	s->rq = rq;
	s->v = s->iov;
	s->n = 0;
	s->done = 0;
	for (; m != NULL && m->offset < rq->offset; m = iosched_merged_next(m))
		add_buffer(s, m);
	add_buffer(s, rq);
	for (; m != NULL; m = iosched_merged_next(m))
		add_buffer(s, m);
}

/* [issue] */
static void prepare(struct engine *e, struct io_uring_sqe *sqe, const struct slot *s)
{
	int fd = e->fixed_file ? 0 : e->fd;
	uint64_t at = s->rq->span_offset + s->done;
	bool fixed = e->fixed_buffer && s->n == 1;

	switch (s->rq->op) {
	case IOSCHED_READ:
		if (fixed)
			io_uring_prep_read_fixed(sqe, fd, s->v->iov_base, (unsigned)s->v->iov_len,
						 at, 0);
		else
			io_uring_prep_readv(sqe, fd, s->v, s->n, at);
		break;
	case IOSCHED_WRITE:
		if (fixed)
			io_uring_prep_write_fixed(sqe, fd, s->v->iov_base, (unsigned)s->v->iov_len,
						  at, 0);
		else
			io_uring_prep_writev(sqe, fd, s->v, s->n, at);
		if (s->rq->flags & IOSCHED_RQ_FUA)
			sqe->rw_flags = RWF_DSYNC;
		break;
	case IOSCHED_FLUSH:
		io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
		break;
	default:
		io_uring_prep_fallocate(sqe, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)at, (off_t)s->rq->span_length);
	}
	if (e->fixed_file)
		sqe->flags |= IOSQE_FIXED_FILE;
}

void uring_slot_start(struct engine *e, struct slot *s)
{
	struct io_uring_sqe *sqe;

	if (e->disk != NULL) {
		uring_emulated_start(e, s);
		return;
	}
	sqe = uring_sqe(e);
	prepare(e, sqe, s);
	io_uring_sqe_set_data(sqe, s);
}
/* [/issue] */

/* The requests of a span that lay in its done part succeeded; the others have the error. */
static void finish(struct engine *e, struct slot *s, int error, iosched_time now)
{
	struct iosched_request *rq = s->rq, *m = rq->merged, *next;
	uint64_t end = rq->span_offset + s->done;

	if (e->queue != NULL)
		(void)iosched_complete(e->queue, rq, now); /* it is in flight: cannot fail */
	s->rq = NULL;
	s->next_free = e->free_slots;
	e->free_slots = s;
	e->inflight--;
	for (; m != NULL; m = next) {
		next = iosched_merged_next(m);
		uring_give_back(io_of(m), m->offset + m->length > end ? error : 0);
	}
	uring_give_back(io_of(rq), rq->length == 0 || rq->offset + rq->length > end ? error : 0);
}

/* [complete] */
/* `res` bytes more are done. @return true: the rest was started */
static bool continue_slot(struct engine *e, struct slot *s, uint64_t res)
{
	for (s->done += res; s->n != 0 && res >= s->v->iov_len; s->v++, s->n--)
		res -= s->v->iov_len;
	if (s->n == 0)
		return false;
	s->v->iov_base = (char *)s->v->iov_base + res;
	s->v->iov_len -= res;
	uring_slot_start(e, s);
	return true;
}

void uring_slot_answer(struct engine *e, struct slot *s, int res, iosched_time now)
{
	bool moves = s->rq->op == IOSCHED_READ || s->rq->op == IOSCHED_WRITE;

	if (res == -EINTR || res == -EAGAIN) {
		uring_slot_start(e, s);
		return;
	}
	if (res > 0 && moves) {
		if (e->direct && res % (int)DIRECT_SECTOR != 0)
			s->done += (uint64_t)res; /* the file ends here */
		else if (continue_slot(e, s, (uint64_t)res))
			return;
	}
	if (res >= 0 && moves && s->done < s->rq->span_length)
		res = s->rq->op == IOSCHED_READ ? -ENODATA : -EIO;
	finish(e, s, res < 0 ? res : 0, now);
}

/* [/complete] */
