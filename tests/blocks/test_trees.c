/* SPDX-License-Identifier: MIT */
/*
 * trees: rbtree, rqtree, rqgrid, rqstarts, treap and coop against naive models.
 */
#include <string.h>
#include "blocks/coop.h"
#include "blocks/rqgrid.h"
#include "blocks/rqstarts.h"
#include "blocks/treap.h"
#include "support/support.h"

#define N 64

static uint32_t seed;

static uint32_t rnd(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* Least first; of equals the earlier inserted. */
static struct iosched_request *model_first_from(struct iosched_request *rq, const unsigned *order,
						uint64_t offset)
{
	struct iosched_request *best = NULL;
	unsigned i;

	for (i = 0; i < N; i++) {
		if (order[i] == 0 || rq[i].span_offset < offset)
			continue;
		if (best == NULL || rq[i].span_offset < best->span_offset ||
		    (rq[i].span_offset == best->span_offset && order[i] < order[best - rq]))
			best = &rq[i];
	}
	return best;
}

START_TEST(a_request_tree_agrees_with_a_list_after_every_step)
{
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[N];
	unsigned order[N] = {0}, step, clock = 0;

	seed = 7;
	for (step = 0; step < 20000; step++) {
		unsigned i = rnd() % N;
		uint64_t probe = rnd() % 80;

		if (order[i] != 0) {
			ios_rqtree_remove(&t, &rq[i]);
			ck_assert(!ios_rqtree_linked(&rq[i]));
			order[i] = 0;
		} else {
			rq[i].span_offset = rnd() % 80; /* dense, so that many are equal */
			ios_rqtree_insert(&t, &rq[i]);
			order[i] = ++clock;
		}
		ck_assert_ptr_null(ios_rqtree_audit(&t));
		ck_assert_ptr_eq(ios_rqtree_first_from(&t, probe),
				 model_first_from(rq, order, probe));
		ck_assert_ptr_eq(ios_rqtree_first(&t), model_first_from(rq, order, 0));
		if (ios_rqtree_find(&t, probe) != NULL)
			ck_assert_uint_eq(ios_rqtree_find(&t, probe)->span_offset, probe);
		else if (model_first_from(rq, order, probe) != NULL)
			ck_assert_uint_ne(model_first_from(rq, order, probe)->span_offset, probe);
	}
}
END_TEST

START_TEST(where_starts_are_unique_a_second_one_is_answered_with_the_first)
{
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[N];
	bool in[N] = {false};
	unsigned step, refused = 0;

	seed = 11;
	for (step = 0; step < 5000; step++) {
		unsigned i = rnd() % N;
		struct iosched_request *there;

		if (in[i]) {
			ios_rqtree_remove(&t, &rq[i]);
			in[i] = false;
			continue;
		}
		rq[i].span_offset = rnd() % 80;
		there = ios_rqtree_find(&t, rq[i].span_offset);
		ck_assert_ptr_eq(ios_rqtree_insert_unique(&t, &rq[i]), there);
		in[i] = there == NULL;
		refused += !in[i];
		ck_assert_ptr_null(ios_rqtree_audit(&t));
	}
	ck_assert_uint_gt(refused, 100);
}
END_TEST

START_TEST(a_removal_can_say_who_followed)
{
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[N];
	bool in[N] = {false};
	unsigned step, removed = 0;

	seed = 13;
	for (step = 0; step < 5000; step++) {
		unsigned i = rnd() % N;
		struct iosched_request *next;

		in[i] = !in[i];
		if (in[i]) {
			rq[i].span_offset = rnd() % 80;
			ios_rqtree_insert(&t, &rq[i]);
			continue;
		}
		next = ios_rqtree_next(&rq[i]);
		ck_assert_ptr_eq(ios_rqtree_remove_next(&t, &rq[i]), next);
		ck_assert(!ios_rqtree_linked(&rq[i]));
		ck_assert_ptr_null(ios_rqtree_audit(&t));
		removed++;
	}
	ck_assert_uint_gt(removed, 1000);
}
END_TEST

START_TEST(walking_forward_and_back_meets_all_in_order)
{
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[N];
	struct iosched_request *r, *last = NULL;
	unsigned i, n = 0;

	for (i = 0; i < N; i++) {
		rq[i].span_offset = i * 37 % N;
		ios_rqtree_insert(&t, &rq[i]);
	}
	for (r = ios_rqtree_first(&t); r != NULL; last = r, r = ios_rqtree_next(r), n++)
		ck_assert_uint_eq(r->span_offset, n);
	for (r = last; r != NULL; r = ios_rqtree_prev(r))
		ck_assert_uint_eq(r->span_offset, --n);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(find_meets_the_equal_nearest_the_root)
{
	/* 5 5' 5'' inserted in turn: the rebalanced root is the second. */
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		rq[i].span_offset = 5;
		ios_rqtree_insert(&t, &rq[i]);
	}
	ck_assert_ptr_eq(ios_rqtree_find(&t, 5), &rq[1]);
	ck_assert_ptr_eq(ios_rqtree_first_from(&t, 5), &rq[0]);
}
END_TEST

START_TEST(a_node_with_two_children_gives_way_to_its_successor)
{
	/* 4 at the root of 1..7: removing it lifts 5, not 3. */
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[7];
	static const unsigned order[] = {4, 2, 6, 1, 3, 5, 7};
	unsigned i;

	for (i = 0; i < 7; i++) {
		rq[i].span_offset = order[i];
		ios_rqtree_insert(&t, &rq[i]);
	}
	ios_rqtree_remove(&t, &rq[0]);
	ck_assert_uint_eq(ios_rqtree_entry(t.rb.root)->span_offset, 5);
}
END_TEST

START_TEST(a_broken_tree_is_noticed)
{
	struct ios_rqtree t = {{NULL}};
	static struct iosched_request rq[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		rq[i].span_offset = i;
		ios_rqtree_insert(&t, &rq[i]);
	}
	rq[0].span_offset = 9;
	ck_assert_ptr_nonnull(ios_rqtree_audit(&t));
	rq[0].span_offset = 0;
	t.rb.root->parent_color &= ~(uintptr_t)1;
	ck_assert_ptr_nonnull(ios_rqtree_audit(&t));
}
END_TEST

/* Against the tree: the same requests in it by copies. */
static void same(const struct ios_rqgrid *g, const struct ios_rqtree *t,
		 const struct iosched_request *in_grid, const struct iosched_request *in_tree,
		 uint64_t probe)
{
	const struct iosched_request *a = ios_rqgrid_first(g), *b = ios_rqtree_first(t);

	ck_assert_ptr_null(ios_rqgrid_audit(g));
	for (; a != NULL && b != NULL; a = ios_rqgrid_next(g, a), b = ios_rqtree_next(b))
		ck_assert_int_eq(a - in_grid, b - in_tree);
	ck_assert(a == NULL && b == NULL);
	a = ios_rqgrid_last(g);
	b = ios_rqtree_last(t);
	for (; a != NULL && b != NULL; a = ios_rqgrid_prev(g, a), b = ios_rqtree_prev(b))
		ck_assert_int_eq(a - in_grid, b - in_tree);
	ck_assert(a == NULL && b == NULL);
	a = ios_rqgrid_first_from(g, probe);
	b = ios_rqtree_first_from(t, probe);
	ck_assert((a == NULL) == (b == NULL));
	if (a != NULL)
		ck_assert_int_eq(a - in_grid, b - in_tree);
}

static void agree(uint32_t expected, unsigned steps)
{
	static struct iosched_request in_grid[N], in_tree[N];
	uint32_t n_cells = ios_rqgrid_cells(expected);
	void *memory = calloc(1, ios_rqgrid_size(n_cells));
	struct ios_rqtree t = {{NULL}};
	struct ios_rqgrid g;
	bool in[N] = {false};
	unsigned step;

	memset(in_grid, 0, sizeof(in_grid));
	memset(in_tree, 0, sizeof(in_tree));
	ios_rqgrid_init(&g, memory, n_cells);
	seed = 23;
	for (step = 0; step < steps; step++) {
		unsigned i = rnd() % N, wide = step / 100 % 3 * 20 + rnd() % 24;

		if (in[i] || step % 500 > 440) { /* now and then it runs empty */
			for (; i < N && !in[i]; i++)
				;
			if (i == N)
				continue;
			ios_rqgrid_remove(&g, &in_grid[i]);
			ios_rqtree_remove(&t, &in_tree[i]);
			ck_assert(!ios_rqtree_linked(&in_grid[i]));
			in[i] = false;
		} else {
			in_grid[i].span_offset = (uint64_t)rnd() << wide | rnd() % 2;
			in_tree[i].span_offset = in_grid[i].span_offset;
			ios_rqgrid_insert(&g, &in_grid[i]);
			ios_rqtree_insert(&t, &in_tree[i]);
			in[i] = true;
		}
		same(&g, &t, in_grid, in_tree, (uint64_t)rnd() << wide);
	}
	free(memory);
}

START_TEST(a_grid_agrees_with_a_tree_after_every_step_however_wide)
{
	agree(1, 6000);
	agree(100000, 600);
}
END_TEST

START_TEST(a_grid_forgets_how_wide_it_was_as_often_as_it_is_emptied)
{
	struct iosched_request rq = {.span_offset = UINT64_C(1) << 60};
	void *memory = calloc(1, ios_rqgrid_size(64));
	struct ios_rqgrid g;
	unsigned widest, i;

	ios_rqgrid_init(&g, memory, 64);
	ios_rqgrid_insert(&g, &rq);
	widest = g.shift;
	ck_assert_uint_ge(widest, 50);
	ios_rqgrid_remove(&g, &rq);
	rq.span_offset = 1;
	for (i = 1; i < widest; i++) {
		ios_rqgrid_insert(&g, &rq);
		ios_rqgrid_remove(&g, &rq);
	}
	ck_assert_uint_eq(g.shift, 0);
	free(memory);
}
END_TEST

/* Few starts in few buckets; some change theirs just before they are removed, as a merge at the
 * front does. */
START_TEST(of_those_that_start_at_a_place_the_first_inserted_is_found)
{
	static struct iosched_tree_link *buckets[16];
	static struct iosched_request rq[N];
	unsigned order[N] = {0}, n_in = 0, step, serial = 0;
	struct ios_rqstarts h;

	memset(rq, 0, sizeof(rq));
	memset(buckets, 0, sizeof(buckets));
	ios_rqstarts_init(&h, buckets, 16);
	seed = 7;
	for (step = 1; step < 4000; step++) {
		unsigned i = rnd() % N;
		uint64_t at = rnd() % 40;
		uint32_t count = 0;
		struct iosched_request *model;

		if (order[i] != 0) {
			rq[i].span_offset -= rnd() % 2;
			ios_rqstarts_remove(&rq[i]);
			ck_assert(!ios_rqtree_linked(&rq[i]));
			order[i] = 0;
			n_in--;
		} else {
			rq[i].span_offset = rnd() % 40 + 1;
			ios_rqstarts_insert(&h, &rq[i]);
			order[i] = ++serial;
			n_in++;
		}
		model = model_first_from(rq, order, at);
		if (model != NULL && model->span_offset != at)
			model = NULL;
		ck_assert_ptr_eq(ios_rqstarts_find(&h, at), model);
		ck_assert_ptr_null(ios_rqstarts_audit(&h, &count));
		ck_assert_uint_eq(count, n_in);
	}
	for (step = 0; order[step] == 0; step++)
		;
	rq[step].span_offset += 1000;
	ck_assert_ptr_nonnull(ios_rqstarts_audit(&h, &serial));
}
END_TEST

START_TEST(a_broken_grid_is_noticed)
{
	struct iosched_request rq[2] = {{.span_offset = 3}, {.span_offset = 70}};
	void *memory = calloc(1, ios_rqgrid_size(128));
	struct ios_rqgrid g;

	ios_rqgrid_init(&g, memory, 128);
	ios_rqgrid_insert(&g, &rq[0]);
	ios_rqgrid_insert(&g, &rq[1]);
	ck_assert_ptr_null(ios_rqgrid_audit(&g));
	rq[0].span_offset = 5;
	ck_assert_ptr_nonnull(ios_rqgrid_audit(&g));
	rq[0].span_offset = 3;
	g.used[1] = 0;
	ck_assert_ptr_nonnull(ios_rqgrid_audit(&g));
	g.used[1] = 1 << 6;
	g.words = 1;
	ck_assert_ptr_nonnull(ios_rqgrid_audit(&g));
	free(memory);
}
END_TEST

struct keyed {
	struct ios_treap_link link;
	unsigned key, order; /* order 0: not in the set */
};

static void put(struct ios_treap *t, struct keyed *k)
{
	struct ios_treap_link **link = &t->root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = k->key < IOS_CONTAINER(parent, struct keyed, link)->key ? &parent->left
									       : &parent->right;
	}
	ios_treap_insert(t, &k->link, parent, link);
}

static bool comes_before(struct ios_treap_link *x, struct ios_treap_link *y)
{
	const struct keyed *a = IOS_CONTAINER(x, struct keyed, link);
	const struct keyed *b = IOS_CONTAINER(y, struct keyed, link);

	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* Walks forward and back, both against what was put in. */
static void in_order(const struct ios_treap *t, unsigned count)
{
	struct ios_treap_link *l;
	unsigned n = 0;

	ck_assert_ptr_null(ios_treap_audit(t));
	for (l = t->first; l != NULL; l = ios_treap_next(l), n++)
		if (l != t->first)
			ck_assert(comes_before(ios_treap_prev(l), l));
	ck_assert_uint_eq(n, count);
}

START_TEST(a_treap_keeps_the_order_of_keys_and_of_equals)
{
	static struct keyed k[N];
	struct ios_treap t = {NULL, NULL, NULL};
	unsigned step, count = 0;

	seed = 31;
	for (step = 0; step < N; step++)
		k[step].link.priority = ios_treap_priority(step);
	for (step = 1; step < 20000; step++) {
		struct keyed *x = &k[rnd() % N];

		if (x->order != 0) {
			ios_treap_remove(&t, &x->link);
			x->order = 0;
			count--;
			continue;
		}
		x->key = rnd() % 40;
		x->order = step;
		count++;
		if (t.last == NULL || IOS_CONTAINER(t.last, struct keyed, link)->key <= x->key)
			ios_treap_append(&t, &x->link);
		else
			put(&t, x);
		in_order(&t, count);
	}
}
END_TEST

START_TEST(a_treap_is_no_deeper_than_a_few_times_the_best)
{
	static struct keyed k[1024];
	struct ios_treap t = {NULL, NULL, NULL};
	unsigned i, depth, deepest = 0;

	for (i = 0; i < 1024; i++) {
		k[i].key = i;
		k[i].link.priority = ios_treap_priority(i);
		ios_treap_append(&t, &k[i].link);
	}
	for (i = 0; i < 1024; i++) {
		const struct ios_treap_link *l = &k[i].link;

		for (depth = 1; l->parent != NULL; l = l->parent)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	ck_assert_uint_le(deepest, 30); /* 10 at best; in the mean 2 ln 1024 = 14 to a node */
}
END_TEST

START_TEST(a_broken_treap_is_noticed)
{
	static struct keyed k[3];
	struct ios_treap t = {NULL, NULL, NULL};
	unsigned i;

	for (i = 0; i < 3; i++) {
		k[i].link.priority = ios_treap_priority(i);
		ios_treap_append(&t, &k[i].link);
	}
	ck_assert_ptr_null(ios_treap_audit(&t));
	t.last = &k[1].link;
	ck_assert_ptr_nonnull(ios_treap_audit(&t));
	t.last = &k[2].link;
	t.first = &k[1].link;
	ck_assert_ptr_nonnull(ios_treap_audit(&t));
	t.first = &k[0].link;
	for (i = 0; i < 3; i++)
		if (k[i].link.parent != NULL)
			k[i].link.priority = UINT32_MAX;
	t.root->priority = 0;
	ck_assert_ptr_nonnull(ios_treap_audit(&t));
}
END_TEST

START_TEST(a_cooperator_is_exact_or_close_on_either_side_or_nobody)
{
	struct ios_rbtree t = {NULL};
	static struct iosched_request at[3];
	static struct ios_coop_node q[3];
	static struct ios_coop_node twin;
	unsigned i;

	for (i = 0; i < 3; i++) {
		at[i].span_offset = 1000 * (i + 1);
		q[i].next = &at[i];
		ios_coop_file(&t, &q[i]);
	}
	twin.next = &at[1];
	ios_coop_file(&t, &twin);
	ck_assert_ptr_null(twin.tree); /* somebody goes on there already */
	ck_assert_ptr_eq(ios_coop_find(&t, 2000, 0), &q[1]);
	ck_assert_ptr_eq(ios_coop_find(&t, 2010, 10), &q[1]);
	ck_assert_ptr_eq(ios_coop_find(&t, 2990, 10), &q[2]);
	ck_assert_ptr_null(ios_coop_find(&t, 2500, 499));
	ios_coop_unfile(&q[1]);
	ios_coop_unfile(&q[1]);
	ck_assert_ptr_null(ios_coop_find(&t, 2000, 10));
}
END_TEST

MAIN_OF("trees", a_request_tree_agrees_with_a_list_after_every_step,
	where_starts_are_unique_a_second_one_is_answered_with_the_first,
	a_removal_can_say_who_followed, walking_forward_and_back_meets_all_in_order,
	find_meets_the_equal_nearest_the_root, a_node_with_two_children_gives_way_to_its_successor,
	a_broken_tree_is_noticed, a_grid_agrees_with_a_tree_after_every_step_however_wide,
	a_grid_forgets_how_wide_it_was_as_often_as_it_is_emptied, a_broken_grid_is_noticed,
	of_those_that_start_at_a_place_the_first_inserted_is_found,
	a_treap_keeps_the_order_of_keys_and_of_equals,
	a_treap_is_no_deeper_than_a_few_times_the_best, a_broken_treap_is_noticed,
	a_cooperator_is_exact_or_close_on_either_side_or_nobody)
