/* SPDX-License-Identifier: MIT */
/*
 * context: a bounded table with defined behaviour when it is full; groups above.
 *
 * The policy here is the test's own: noop with contexts, which logs what it is told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "support/support.h"

static struct iosched_policy table;
static char log_text[2000];

static void note(const char *what, uint64_t id)
{
	size_t n = strlen(log_text);

	snprintf(log_text + n, sizeof(log_text) - n, "%s%u ", what, (unsigned)id);
}

static void on_init(void *self, struct iosched_context *c, iosched_time now)
{
	(void)self, (void)now;
	note("+", c->id);
}

static void on_exit_of(void *self, struct iosched_context *c, iosched_time now)
{
	(void)self, (void)now;
	note("x", c->id);
}

static void on_fini(void *self, struct iosched_context *c)
{
	(void)self;
	note("-", c->id);
}

static void on_changed(void *self, struct iosched_context *c, iosched_time now)
{
	(void)self, (void)now;
	note("w", c->weight);
}

static struct iosched *make(uint32_t max_contexts)
{
	struct iosched_params p = params_for("noop");
	struct iosched *s;

	table = *p.policy;
	table.flags = IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_WEIGHTS | IOSCHED_POLICY_GROUPS;
	table.context_size = 24;
	table.context_init = on_init;
	table.context_exit = on_exit_of;
	table.context_fini = on_fini;
	table.context_changed = on_changed;
	p.policy = &table;
	p.max_contexts = max_contexts;
	p.max_groups = 3;
	p.max_merge_bytes = 0;
	s = queue_with(&p);
	log_text[0] = '\0';
	return s;
}

static void ask(struct iosched *s, struct iosched_request *rq, uint64_t context)
{
	*rq = request(IOSCHED_READ, context * 8192, 512);
	rq->context = context;
	ck_assert_int_eq(iosched_insert(s, rq, 1), 0);
}

START_TEST(the_one_idle_for_longest_is_forgotten)
{
	struct iosched *s = make(2);
	struct iosched_request rq[3];

	ask(s, &rq[0], 1);
	ask(s, &rq[1], 2);
	serve(s, 2);
	serve(s, 2);
	ask(s, &rq[0], 1);
	serve(s, 3);
	ask(s, &rq[2], 3);
	ck_assert_str_eq(log_text, "+1 +2 x2 -2 +3 ");
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(when_all_are_busy_context_0_stands_in)
{
	struct iosched *s = make(2);
	struct iosched_request rq[3];
	struct iosched_stats st;

	ask(s, &rq[0], 1);
	ask(s, &rq[1], 2);
	ask(s, &rq[2], 3);
	ck_assert_uint_eq(rq[2].internal.context->id, 0);
	iosched_stats_get(s, &st, sizeof(st));
	ck_assert_uint_eq(st.context_overflow, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_context_that_exits_lives_until_its_last_request)
{
	struct iosched *s = make(4);
	struct iosched_request rq[2];

	ask(s, &rq[0], 1);
	ck_assert_int_eq(iosched_context_exit(s, 1, 2), 0);
	ck_assert_int_eq(iosched_context_exit(s, 1, 2), -ENOENT);
	ask(s, &rq[1], 1); /* a new one of the same number */
	ck_assert_ptr_ne(rq[0].internal.context, rq[1].internal.context);
	serve(s, 3);
	ck_assert_str_eq(log_text, "+1 x1 +1 -1 ");
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(one_that_was_set_is_never_forgotten)
{
	struct iosched *s = make(1);
	struct iosched_context_params p;
	struct iosched_request rq;

	iosched_context_params_init(&p, sizeof(p));
	p.weight = 300;
	ck_assert_int_eq(iosched_context_set(s, 7, &p, 1), 0);
	ask(s, &rq, 8);
	ck_assert_uint_eq(rq.internal.context->id, 0);
	ck_assert_int_eq(iosched_context_set(s, 9, &p, 1), -ENOSPC);
	ck_assert_int_eq(iosched_context_exit(s, 7, 1), 0);
	ck_assert_str_eq(log_text, "+7 w300 x7 -7 ");
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(absorbed_requests_hold_their_context_too)
{
	struct iosched *s = make(4);
	struct iosched_request rq[2];

	end_queue(s, NULL, 0);
	table.context_size = 0;
	{
		struct iosched_params p = params_for("noop");

		p.policy = &table;
		s = queue_with(&p);
	}
	log_text[0] = '\0';
	rq[0] = request(IOSCHED_READ, 0, 512);
	rq[0].context = 1;
	rq[1] = request(IOSCHED_READ, 512, 512);
	rq[1].context = 2;
	iosched_insert(s, &rq[0], 1);
	iosched_insert(s, &rq[1], 1);
	ck_assert_ptr_eq(rq[0].merged, &rq[1]);
	iosched_context_exit(s, 2, 1);
	ck_assert_str_eq(log_text, "+1 +2 x2 ");
	serve(s, 2);
	ck_assert_str_eq(log_text, "+1 +2 x2 -2 ");
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(groups_form_a_tree_and_refuse_to_form_a_ring)
{
	struct iosched *s = make(4);
	struct iosched_group_params p;
	struct iosched_context_params c;

	iosched_group_params_init(&p, sizeof(p));
	ck_assert_int_eq(iosched_group_set(s, 1, &p, 1), 0);
	p.parent = 1;
	ck_assert_int_eq(iosched_group_set(s, 2, &p, 1), 0);
	p.parent = 2;
	ck_assert_int_eq(iosched_group_set(s, 1, &p, 1), -EINVAL);
	ck_assert_int_eq(iosched_group_set(s, 2, &p, 1), -EINVAL);
	p.parent = 9;
	ck_assert_int_eq(iosched_group_set(s, 3, &p, 1), -ENOENT);
	p.parent = 0;
	p.weight = 0;
	ck_assert_int_eq(iosched_group_set(s, 3, &p, 1), -EINVAL);
	p.weight = 1000;
	ck_assert_int_eq(iosched_group_set(s, 3, &p, 1), 0);
	ck_assert_int_eq(iosched_group_set(s, 4, &p, 1), -ENOSPC);
	iosched_context_params_init(&c, sizeof(c));
	c.group = 2;
	ck_assert_int_eq(iosched_context_set(s, 5, &c, 1), 0);
	c.group = 8;
	ck_assert_int_eq(iosched_context_set(s, 5, &c, 1), -ENOENT);
	end_queue(s, NULL, 0);
}
END_TEST

MAIN_OF("context", the_one_idle_for_longest_is_forgotten, when_all_are_busy_context_0_stands_in,
	a_context_that_exits_lives_until_its_last_request, one_that_was_set_is_never_forgotten,
	absorbed_requests_hold_their_context_too, groups_form_a_tree_and_refuse_to_form_a_ring)
