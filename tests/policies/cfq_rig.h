/* SPDX-License-Identifier: MIT */
/*
 * cfq_rig: one cfq queue, a clock, a pool of requests, and the rules it told of.
 * And a disk as small as can be: a request that does not start where the head is costs a
 * seek, and every request its length.
 */
#ifndef IOS_TESTS_CFQ_RIG_H
#define IOS_TESTS_CFQ_RIG_H

#include <stdio.h>
#include <string.h>
#include "support/support.h"

#define SECTOR UINT64_C(512)
#define MAX_TOLD 4096
#define POOL 512

struct rig {
	struct iosched *s;
	iosched_time now;
	unsigned kicks[4];		     /* by enum iosched_kick */
	struct iosched_event told[MAX_TOLD]; /* rules, since forget_rules() */
	unsigned n_told;
	struct iosched_request rq[POOL];
	unsigned n_rq;
};

static struct rig rig;

static inline void rig_kick(void *user, enum iosched_kick kind)
{
	(void)user;
	rig.kicks[kind]++;
}

static inline void rig_event(void *user, const struct iosched_event *e)
{
	(void)user;
	if (e->type == IOSCHED_EVENT_RULE && rig.n_told < MAX_TOLD)
		rig.told[rig.n_told++] = *e;
}

static inline struct iosched_params rig_params(void)
{
	struct iosched_params p = params_for("cfq");

	p.now = 1000 * MS;
	p.kick = rig_kick;
	p.event = rig_event;
	p.max_merge_bytes = 0;
	return p;
}

static inline void rig_start_with(const struct iosched_params *p)
{
	memset(&rig, 0, sizeof(rig));
	rig.now = p->now;
	rig.s = queue_with(p);
}

static inline void rig_start(void)
{
	struct iosched_params p = rig_params();

	rig_start_with(&p);
}

/* Everything back to the host, wherever it is. */
static inline void rig_end(void)
{
	unsigned i;

	while (iosched_drain(rig.s, rig.now) != NULL)
		;
	for (i = 0; i < POOL; i++)
		iosched_complete(rig.s, &rig.rq[i], rig.now);
	ck_assert_int_eq(iosched_destroy(rig.s), 0);
}

/* The rule was told since the last forget_rules(). */
static inline bool told(const char *rule)
{
	unsigned i;

	for (i = 0; i < rig.n_told; i++)
		if (strcmp(rig.told[i].rule, rule) == 0)
			return true;
	return false;
}

static inline void forget_rules(void)
{
	rig.n_told = 0;
}

static inline void set(const char *tunable, uint64_t value)
{
	ck_assert_int_eq(iosched_tunable_set(rig.s, tunable, value), 0);
}

static inline struct iosched_request *put_request(struct iosched_request rq)
{
	struct iosched_request *slot = &rig.rq[rig.n_rq++ % POOL];

	*slot = rq;
	ck_assert_int_eq(iosched_insert(rig.s, slot, rig.now), 0);
	return slot;
}

/* A request of `sectors` sectors. */
static inline struct iosched_request *put(uint64_t context, enum iosched_op op, uint32_t flags,
					  uint64_t sector, uint64_t sectors)
{
	struct iosched_request rq = request(op, sector * SECTOR, sectors * SECTOR);

	rq.context = context;
	rq.flags = flags;
	return put_request(rq);
}

static inline struct iosched_request *get(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_READ, 0, sector, 16);
}

static inline struct iosched_request *get_as(uint64_t context, enum iosched_class prio_class,
					     unsigned level, uint64_t sector)
{
	struct iosched_request rq = request(IOSCHED_READ, sector * SECTOR, 16 * SECTOR);

	rq.context = context;
	rq.prio_class = (uint8_t)prio_class;
	rq.prio_level = (uint8_t)(level + 1);
	return put_request(rq);
}

static inline struct iosched_request *next(void)
{
	return iosched_dispatch(rig.s, rig.now);
}

static inline void done(struct iosched_request *rq, uint64_t after_ns)
{
	rig.now += after_ns;
	ck_assert_int_eq(iosched_complete(rig.s, rq, rig.now), 0);
}

/* Dispatched is exactly `rq`, and it completes 1 ms later. */
static inline void expect(struct iosched_request *rq)
{
	ck_assert_ptr_eq(next(), rq);
	done(rq, MS);
}

static inline void expect_hold(enum iosched_hold hold)
{
	ck_assert_ptr_null(next());
	ck_assert_int_eq((int)iosched_hold_reason(rig.s), (int)hold);
}

/* ---- readers on a disk ---- */

#define MAX_READERS 64

struct reader {
	uint64_t context;
	enum iosched_class prio_class;
	unsigned level;
	enum iosched_op op;
	unsigned depth;	    /* requests it keeps queued or in flight */
	uint64_t at;	    /* next offset */
	uint64_t device_ns; /* the time its requests took */
	uint64_t served;    /* how many they were */
	struct iosched_request rq[64];
};

static struct reader readers[MAX_READERS];
static unsigned n_readers;

static inline struct reader *add_reader(uint64_t context, enum iosched_class prio_class,
					unsigned level, unsigned depth)
{
	struct reader *r = &readers[n_readers];

	*r = (struct reader){.context = context,
			     .prio_class = prio_class,
			     .level = level,
			     .op = IOSCHED_READ,
			     .depth = depth,
			     .at = (uint64_t)n_readers << 32};
	n_readers++;
	return r;
}

static inline void reader_put(struct reader *r, struct iosched_request *slot)
{
	*slot = request(r->op, r->at, 64 * KIB);
	slot->context = r->context;
	slot->prio_class = (uint8_t)r->prio_class;
	slot->prio_level = (uint8_t)(r->level + 1);
	slot->user = r;
	r->at += 64 * KIB;
	ck_assert_int_eq(iosched_insert(rig.s, slot, rig.now), 0);
}

#define SEEK_NS (5 * MS)
#define TRANSFER_NS (MS / 2) /* 64 KiB */

/* All readers for `span_ns` of virtual time, one request in the device at a time. */
static inline void run_readers(uint64_t span_ns)
{
	iosched_time end = rig.now + span_ns;
	uint64_t head = 0;
	unsigned i, j;

	for (i = 0; i < n_readers; i++)
		for (j = 0; j < readers[i].depth; j++)
			reader_put(&readers[i], &readers[i].rq[j]);
	while (rig.now < end) {
		struct iosched_request *rq = next();
		uint64_t took;
		struct reader *r;

		if (rq == NULL) {
			ck_assert_uint_ne(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
			rig.now = iosched_next_wakeup(rig.s);
			iosched_timer(rig.s, rig.now);
			continue;
		}
		took = TRANSFER_NS + (rq->offset == head ? 0 : SEEK_NS);
		head = rq->offset + rq->length;
		r = rq->user;
		r->device_ns += took;
		r->served++;
		done(rq, took);
		reader_put(r, rq);
	}
}

static inline void end_readers(void)
{
	while (iosched_drain(rig.s, rig.now) != NULL)
		;
	ck_assert_int_eq(iosched_destroy(rig.s), 0);
	n_readers = 0;
}

/* a : b is want_a : want_b within `percent`. */
static inline void expect_ratio(uint64_t a, uint64_t b, uint64_t want_a, uint64_t want_b,
				uint64_t percent)
{
	double is = (double)a / (double)b, want = (double)want_a / (double)want_b;

	ck_assert_msg(is > want * (1 - (double)percent / 100) &&
			      is < want * (1 + (double)percent / 100),
		      "ratio is %.3f, wanted %.3f within %u %%", is, want, (unsigned)percent);
}

#endif
