/* SPDX-License-Identifier: MIT */
/*
 * cfq26_rig: one queue of cfq-2.6.32, a clock, a pool of requests, and the rules it told of.
 */
#ifndef IOS_TESTS_CFQ26_RIG_H
#define IOS_TESTS_CFQ26_RIG_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/policy.h>
#include "policies/policies.h"
#include "policies/cfq_2_6/cfq26.h"

#define MS UINT64_C(1000000)
#define SECTOR 512u
#define FAR 50000000u /* sectors from one place to another that is not close */
#define MAX_REQUESTS 512u
#define MAX_RULES 4096u

static struct iosched *s;
static struct iosched_request pool[MAX_REQUESTS];
static unsigned used;
static iosched_time t;
static unsigned kicks;
static const char *rules[MAX_RULES];
static unsigned n_rules;

static inline void on_kick(void *user, enum iosched_kick kind)
{
	(void)user;
	kicks |= (unsigned)kind;
}

static inline void on_event(void *user, const struct iosched_event *e)
{
	(void)user;
	if (e->type == IOSCHED_EVENT_RULE && n_rules < MAX_RULES)
		rules[n_rules++] = e->rule;
}

static inline bool told(const char *start)
{
	unsigned i;

	for (i = 0; i < n_rules; i++)
		if (strncmp(rules[i], start, strlen(start)) == 0)
			return true;
	return false;
}

static inline void open_queue(const struct iosched_policy *policy, uint32_t max_contexts)
{
	struct iosched_params p;

	iosched_params_init(&p, sizeof(p));
	p.policy = policy;
	p.now = t = 10000 * MS;
	p.max_contexts = max_contexts;
	p.audit = 1;
	p.kick = on_kick;
	p.event = on_event;
	ck_assert_int_eq(iosched_create(&s, &p), 0);
	memset(pool, 0, sizeof(pool));
	used = n_rules = kicks = 0;
}

static inline void setup(void)
{
	open_queue(&ios_cfq26_policy, 16);
}

static inline void teardown(void)
{
	unsigned i;

	while (iosched_drain(s, t) != NULL)
		;
	for (i = 0; i < MAX_REQUESTS; i++)
		iosched_complete(s, &pool[i], t);
	ck_assert_uint_eq(iosched_queued(s), 0);
	ck_assert_int_eq(iosched_destroy(s), 0);
}

static inline struct iosched_request *put(uint64_t context, enum iosched_op op, uint64_t sector,
					  unsigned sectors, uint32_t flags)
{
	struct iosched_request *rq = &pool[used++];

	ck_assert_uint_lt(used, MAX_REQUESTS);
	rq->context = context;
	rq->op = (uint8_t)op;
	rq->offset = sector * SECTOR;
	rq->length = (uint64_t)sectors * SECTOR;
	rq->flags |= flags;
	kicks = 0;
	ck_assert_int_eq(iosched_insert(s, rq, t), 0);
	return rq;
}

static inline struct iosched_request *put_read(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_READ, sector, 16, 0);
}

static inline struct iosched_request *put_write(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_WRITE, sector, 16, 0);
}

static inline struct iosched_request *put_class(uint64_t context, enum iosched_class prio_class,
						unsigned level, uint64_t sector)
{
	pool[used].prio_class = (uint8_t)prio_class;
	pool[used].prio_level = (uint8_t)(level + 1);
	return put_read(context, sector);
}

static inline struct iosched_request *next(void)
{
	return iosched_dispatch(s, t);
}

/* Nothing is handed out now, for this reason. */
static inline void expect_hold(enum iosched_hold reason)
{
	ck_assert_ptr_null(next());
	ck_assert_int_eq(iosched_hold_reason(s), reason);
}

static inline void done(struct iosched_request *rq, unsigned ms)
{
	t += ms * MS;
	kicks = 0;
	ck_assert_int_eq(iosched_complete(s, rq, t), 0);
}

static inline void set(const char *name, uint64_t value)
{
	ck_assert_int_eq(iosched_tunable_set(s, name, value), 0);
}

/* A read of this context, from insert to completion 1 ms later. */
static inline void read_through(uint64_t context, uint64_t sector)
{
	struct iosched_request *rq = put_read(context, sector);

	ck_assert_ptr_eq(next(), rq);
	done(rq, 1);
}

/* `context` has read at `sector` and is waited for; another one, far off, wants the device. */
static inline struct iosched_request *idle_for(uint64_t context, uint64_t sector, uint64_t other)
{
	struct iosched_request *rq = put_read(context, sector), *rival;

	ck_assert_ptr_eq(next(), rq);
	rival = put_read(other, sector + FAR);
	done(rq, 1);
	expect_hold(IOSCHED_HOLD_IDLING);
	return rival;
}

#endif
