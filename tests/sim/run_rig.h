/* SPDX-License-Identifier: MIT */
/*
 * run_rig: one config with four streams, its result, and what the event hook saw.
 */
#ifndef TESTS_SIM_RUN_RIG_H
#define TESTS_SIM_RUN_RIG_H

#include <errno.h>
#include <iosched/policy.h>
#include <iosched/sim.h>
#include <math.h>
#include <string.h>

#include "support.h"

static struct iosched_sim_config c;
static struct iosched_sim_stream s[4];
static struct iosched_sim_result *r;
static struct iosched_sim_error why;

static inline void setup(void)
{
	iosched_sim_config_init(&c, sizeof(c));
	c.streams = s;
	c.stream_count = 1;
	c.device = "fixed"; /* 1 ms, one at a time */
	c.length_ns = SEC;
	for (unsigned i = 0; i < 4; i++) {
		iosched_sim_stream_init(&s[i], sizeof(s[i]));
		s[i].context = i + 1;
	}
	r = NULL;
}

static inline void teardown(void)
{
	iosched_sim_result_free(r);
}

static inline void run(void)
{
	iosched_sim_result_free(r);
	ck_assert_msg(iosched_sim_run(&c, &r, &why) == 0, "%s", why.text);
}

static inline const struct iosched_sim_row *row(uint64_t context, uint8_t op)
{
	const struct iosched_sim_row *found = iosched_sim_result_row(r, context, op);

	ck_assert_ptr_nonnull(found);
	return found;
}

static inline const struct iosched_sim_row *all(void)
{
	return row(IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS);
}

static inline void refused(int err, const char *sentence)
{
	ck_assert_int_eq(iosched_sim_run(&c, &r, &why), err);
	ck_assert_str_eq(why.text, sentence);
	ck_assert_ptr_null(r);
}

/* What the event hook sees. */
static struct seen {
	uint64_t inserted[4096]; /* offsets, in order */
	uint8_t op[4096];
	iosched_time at[4096];
	unsigned count;
	unsigned outstanding;
	unsigned flushes_with_writes;
} seen;

static inline void look(void *user, const struct iosched_event *event)
{
	struct seen *v = user;

	if (event->type == IOSCHED_EVENT_INSERT && v->count < 4096) {
		if (event->rq->op == IOSCHED_FLUSH && v->outstanding > 0)
			v->flushes_with_writes++;
		ck_assert_uint_eq(iosched_sim_request_number(event->rq), v->count + 1);
		v->op[v->count] = event->rq->op;
		v->at[v->count] = event->now;
		v->inserted[v->count++] = event->rq->offset;
		v->outstanding++;
	}
	if (event->type == IOSCHED_EVENT_COMPLETE)
		v->outstanding--;
}

static inline void look_on(void)
{
	memset(&seen, 0, sizeof(seen));
	c.event = look;
	c.event_user = &seen;
	c.max_merge_bytes = 0;
}

#endif
