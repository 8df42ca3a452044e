/* SPDX-License-Identifier: MIT */
/*
 * cfq, shares: levels within a group, weights between groups, on a tiny disk.
 */
#include <errno.h>
#include "policies/cfq_rig.h"

static void setup(void)
{
	struct iosched_params p = rig_params();

	p.audit = 0; /* minutes of virtual time; test_cfq_life audits groups */
	p.event = NULL;
	rig_start_with(&p);
	n_readers = 0;
}

static void group(uint64_t id, uint64_t parent, uint32_t weight)
{
	struct iosched_group_params g;

	iosched_group_params_init(&g, sizeof(g));
	g.parent = parent;
	g.weight = weight;
	ck_assert_int_eq(iosched_group_set(rig.s, id, &g, rig.now), 0);
}

static void member(uint64_t context, uint64_t group_id)
{
	struct iosched_context_params c;

	iosched_context_params_init(&c, sizeof(c));
	c.group = group_id;
	ck_assert_int_eq(iosched_context_set(rig.s, context, &c, rig.now), 0);
}

static struct reader *reader_in(uint64_t group_id, unsigned depth)
{
	uint64_t context = n_readers + 1;

	member(context, group_id);
	return add_reader(context, IOSCHED_BEST_EFFORT, 4, depth);
}

START_TEST(level_0_gets_four_and_a_half_times_the_time_of_level_7)
{
	struct reader *best, *worst;

	setup();
	set("low_latency", 0);
	best = add_reader(1, IOSCHED_BEST_EFFORT, 0, 4);
	worst = add_reader(2, IOSCHED_BEST_EFFORT, 7, 4);
	run_readers(60000 * MS);
	expect_ratio(best->device_ns, worst->device_ns, 180, 40, 12);
	end_readers();
}
END_TEST

START_TEST(equal_levels_get_equal_time)
{
	struct reader *a, *b, *c;

	setup();
	a = add_reader(1, IOSCHED_BEST_EFFORT, 4, 1);
	b = add_reader(2, IOSCHED_BEST_EFFORT, 4, 4);
	c = add_reader(3, IOSCHED_BEST_EFFORT, 4, 4);
	run_readers(60000 * MS);
	expect_ratio(a->device_ns, b->device_ns, 1, 1, 10);
	expect_ratio(b->device_ns, c->device_ns, 1, 1, 10);
	end_readers();
}
END_TEST

START_TEST(groups_share_two_to_one_when_backlogged)
{
	struct reader *heavy, *light;

	setup();
	group(10, 0, 200);
	group(20, 0, 100);
	heavy = reader_in(10, 4);
	light = reader_in(20, 4);
	run_readers(60000 * MS);
	expect_ratio(heavy->device_ns, light->device_ns, 2, 1, 10);
	end_readers();
}
END_TEST

START_TEST(groups_share_two_to_one_when_readers_wait_for_each_answer)
{
	struct reader *heavy, *light;

	setup();
	group(10, 0, 200);
	group(20, 0, 100);
	heavy = reader_in(10, 1);
	light = reader_in(20, 1);
	run_readers(60000 * MS);
	expect_ratio(heavy->device_ns, light->device_ns, 2, 1, 10);
	end_readers();
}
END_TEST

START_TEST(groups_of_writers_share_requests_two_to_one)
{
	struct reader *heavy, *light;

	setup();
	group(10, 0, 200);
	group(20, 0, 100);
	heavy = reader_in(10, 64);
	light = reader_in(20, 64);
	heavy->op = light->op = IOSCHED_WRITE;
	run_readers(60000 * MS);
	expect_ratio(heavy->served, light->served, 2, 1, 10);
	end_readers();
}
END_TEST

START_TEST(a_group_of_many_contexts_gets_no_more_than_its_share)
{
	struct reader *one;
	uint64_t many = 0;
	unsigned i;

	setup();
	group(10, 0, 100);
	group(20, 0, 100);
	one = reader_in(10, 4);
	for (i = 0; i < 16; i++)
		reader_in(20, 4);
	run_readers(60000 * MS);
	for (i = 1; i < n_readers; i++)
		many += readers[i].device_ns;
	expect_ratio(one->device_ns, many, 1, 1, 10);
	end_readers();
}
END_TEST

START_TEST(shares_multiply_over_three_levels)
{
	struct reader *a1, *a2, *b;

	setup();
	group(1, 0, 300);
	group(2, 0, 100);
	group(11, 1, 200);
	group(12, 1, 100);
	group(111, 11, 50); /* alone on its level: all of group 11 */
	a1 = reader_in(111, 4);
	a2 = reader_in(12, 4);
	b = reader_in(2, 4);
	run_readers(120000 * MS);
	expect_ratio(a1->device_ns, a2->device_ns, 2, 1, 12);
	expect_ratio(a1->device_ns + a2->device_ns, b->device_ns, 3, 1, 12);
	end_readers();
}
END_TEST

START_TEST(contexts_in_a_parent_weigh_as_one_child)
{
	struct reader *own, *child;

	setup();
	group(1, 0, 100);
	own = reader_in(0, 4);
	child = reader_in(1, 4);
	run_readers(60000 * MS);
	expect_ratio(own->device_ns, child->device_ns, 1, 1, 10);
	end_readers();
}
END_TEST

START_TEST(an_idle_sibling_costs_nobody_anything)
{
	struct reader *heavy, *light;

	setup();
	group(10, 0, 200);
	group(20, 0, 100);
	group(30, 0, 1000);
	heavy = reader_in(10, 4);
	light = reader_in(20, 4);
	member(77, 30);
	run_readers(60000 * MS);
	expect_ratio(heavy->device_ns, light->device_ns, 2, 1, 10);
	end_readers();
}
END_TEST

START_TEST(a_weight_changed_while_queued_counts_from_then_on)
{
	struct reader *a, *b;
	unsigned i;

	setup();
	group(10, 0, 100);
	group(20, 0, 100);
	a = reader_in(10, 4);
	b = reader_in(20, 4);
	run_readers(10000 * MS);
	while (iosched_drain(rig.s, rig.now) != NULL)
		;
	group(10, 0, 300);
	for (i = 0; i < n_readers; i++)
		readers[i].device_ns = 0;
	run_readers(60000 * MS);
	expect_ratio(a->device_ns, b->device_ns, 3, 1, 10);
	end_readers();
}
END_TEST

START_TEST(a_context_has_levels_and_no_weight)
{
	struct iosched_context_params c;

	setup();
	iosched_context_params_init(&c, sizeof(c));
	c.weight = 200;
	ck_assert_int_eq(iosched_context_set(rig.s, 1, &c, rig.now), -EOPNOTSUPP);
	end_readers();
}
END_TEST

MAIN_OF("cfq shares", level_0_gets_four_and_a_half_times_the_time_of_level_7,
	equal_levels_get_equal_time, groups_share_two_to_one_when_backlogged,
	groups_share_two_to_one_when_readers_wait_for_each_answer,
	groups_of_writers_share_requests_two_to_one,
	a_group_of_many_contexts_gets_no_more_than_its_share, shares_multiply_over_three_levels,
	contexts_in_a_parent_weigh_as_one_child, an_idle_sibling_costs_nobody_anything,
	a_weight_changed_while_queued_counts_from_then_on, a_context_has_levels_and_no_weight)
