/* SPDX-License-Identifier: MIT */
/*
 * anticipatory.h: the state that the files of anticipatory share. anticipatory.c has the rules
 * and says what they are; anticipatory_habits.c judges contexts; anticipatory_audit.c proves.
 */
#ifndef IOS_POLICIES_ANTICIPATORY_H
#define IOS_POLICIES_ANTICIPATORY_H

#include "policies/policies.h"
#include "blocks/dlist.h"
#include "blocks/ewma.h"
#include "blocks/rqtree.h"

#define NSEC_PER_MSEC UINT64_C(1000000)
#define SECTOR UINT64_C(512)

enum side { SYNC, ASYNC };

/* Where the wait for `awaited` stands. */
enum antic {
	ANTIC_OFF,
	ANTIC_AWAIT_COMPLETION, /* of its request; then the clock starts */
	ANTIC_AWAIT_REQUEST,	/* the timer runs */
	ANTIC_OVER,		/* ended; no new wait until something has been chosen */
};

/* What is known of a context. */
struct habits {
	uint64_t id;
	uint64_t queued; /* in the trees */
	uint64_t chosen; /* on `chosen` */
	bool exited;
	bool asked;    /* inserted a sync request, or had one of another booked on it */
	bool answered; /* a sync request of it has completed */
	uint64_t answered_at;
	uint64_t previous_end; /* bytes: of the last sync request booked */
	struct ios_ewma think; /* ticks */
	struct ios_ewma seek;  /* sectors */
};

struct anticipatory {
	uint64_t read_expire_ns, write_expire_ns, read_batch_expire_ns, write_batch_expire_ns;
	uint64_t antic_expire_ns;
	uint64_t fifo_expire[2], batch_expire[2], antic_expire; /* the times above in ticks */
	struct iosched_policy_env *env;
	struct ios_rqtree sorted[2];
	struct ios_fifo fifo[2];
	struct iosched_request *next[2];
	uint64_t clear[2];     /* bytes: all that start before `next` start before this */
	uint64_t last_end[2];  /* bytes: of the last request of the side chosen */
	uint64_t last_look[2]; /* at the fifo of the side */
	struct ios_dlist chosen;
	uint64_t unfinished; /* chosen and not completed */

	enum side batch;
	bool changing; /* the batch has begun but waits for the device to drain */
	bool untimed;  /* a sync batch whose clock starts at its first completion */
	uint64_t batch_expires;
	uint64_t quota;	     /* requests in a write batch */
	uint64_t quota_left; /* of this one */
	bool ran_dry;	     /* the write batch had nothing to do for a while */

	enum antic antic;
	struct habits *awaited; /* NULL: nobody */
	bool awaited_done;	/* a request of it has completed since */
	uint64_t awaited_since;
	struct habits ghost; /* of an awaited context that is no more */

	uint64_t exit_chance; /* of ONE: a new context exits before it asks again */
	uint64_t exit_alone;  /* of ONE: nobody near takes over from one that exited */
	uint64_t new_think_total, new_seek_total; /* first samples of contexts, times ONE */
};

static inline uint64_t ios_antic_ticks(uint64_t ns)
{
	return ns / NSEC_PER_MSEC;
}

static inline enum side ios_antic_side(const struct iosched_request *rq)
{
	return iosched_request_is_sync(rq) ? SYNC : ASYNC;
}

static inline struct habits *ios_antic_habits(const struct iosched_request *rq)
{
	return rq->internal.context->data;
}

static inline uint64_t ios_antic_end(const struct iosched_request *rq)
{
	return rq->span_offset + rq->span_length;
}

/* `internal.mark`: on `chosen`. */
static inline bool ios_antic_chosen(const struct iosched_request *rq)
{
	return rq->internal.mark != 0;
}

static inline bool ios_antic_queued(const struct anticipatory *a, enum side side)
{
	return !ios_fifo_empty(&a->fifo[side]);
}

static inline bool ios_antic_waiting(const struct anticipatory *a)
{
	return a->antic == ANTIC_AWAIT_COMPLETION || a->antic == ANTIC_AWAIT_REQUEST;
}

/* anticipatory_habits.c: a sync request says something of the habits of who asked. */
void ios_antic_book(struct anticipatory *a, struct habits *h, const struct iosched_request *rq,
		    uint64_t t);

/* Why the wait for the awaited context should end, or not begin, in words; NULL: it should go on.
 * `rq` (or NULL) is what could be served instead. Learns from what it sees. */
const char *ios_antic_why_not_wait(struct anticipatory *a, const struct iosched_request *rq,
				   uint64_t t);

/* The awaited context let the whole wait pass. */
void ios_antic_book_no_show(struct anticipatory *a);

/* anticipatory_audit.c: NULL, or the sentence that is false. */
const char *ios_antic_audit(void *self);

#endif
