/* SPDX-License-Identifier: MIT */
/*
 * rqgrid: see rqgrid.h.
 */
#include "blocks/rqgrid.h"

#define CELLS_MIN 64u
#define CELLS_MAX (64u * 64u)

uint32_t ios_rqgrid_cells(uint32_t expected)
{
	uint32_t n = CELLS_MIN;

	while (n < CELLS_MAX && n / 2 < expected)
		n *= 2;
	return n;
}

size_t ios_rqgrid_size(uint32_t n_cells)
{
	return n_cells * sizeof(struct ios_rbtree) + n_cells / 64 * sizeof(uint64_t);
}

void ios_rqgrid_init(struct ios_rqgrid *g, void *memory, uint32_t n_cells)
{
	g->cells = memory;
	g->used = (uint64_t *)(void *)(g->cells + n_cells);
	g->words = 0;
	g->n_cells = n_cells;
	g->shift = 0;
}

static void unmark(struct ios_rqgrid *g, uint64_t cell)
{
	g->used[cell / 64] &= ~(UINT64_C(1) << cell % 64);
	if (g->used[cell / 64] == 0)
		g->words &= ~(UINT64_C(1) << cell / 64);
}

/* All of `from` follows what is in `to`, an earlier cell or the same. */
static void join(struct ios_rqgrid *g, uint64_t from, uint64_t to)
{
	struct ios_rbtree *t = &g->cells[from];
	struct iosched_tree_link *n;

	if (from == to)
		return;
	if (g->cells[to].root == NULL) {
		g->cells[to].root = t->root;
		t->root = NULL;
	}
	while ((n = ios_rb_first(t)) != NULL) {
		struct iosched_tree_link *last = ios_rb_last(&g->cells[to]);

		ios_rb_remove(t, n);
		ios_rb_insert(&g->cells[to], n, last, &last->right);
	}
	unmark(g, from);
	ios_rqgrid_mark(g, to);
}

/* Until `offset` lies in a cell. */
static void widen(struct ios_rqgrid *g, uint64_t offset)
{
	uint32_t by = 0;
	uint64_t word, bits;

	while (offset >> (g->shift + by) >= g->n_cells)
		by++;
	g->shift += by;
	for (word = 0; word < g->n_cells / 64; word++)
		for (bits = g->used[word]; bits != 0; bits &= bits - 1) {
			uint64_t cell = word * 64 + (unsigned)__builtin_ctzll(bits);

			join(g, cell, cell >> by);
		}
}

void ios_rqgrid_insert_slow(struct ios_rqgrid *g, struct iosched_request *rq)
{
	uint64_t cell = rq->span_offset >> g->shift;
	struct ios_rqtree t;

	if (cell >= g->n_cells) {
		widen(g, rq->span_offset);
		cell = rq->span_offset >> g->shift;
	}
	t.rb = g->cells[cell];
	ios_rqtree_insert(&t, rq);
	g->cells[cell] = t.rb;
	ios_rqgrid_mark(g, cell);
}

static struct iosched_request *last_before(const struct ios_rqgrid *g, uint64_t end)
{
	uint64_t word = end / 64, bits, earlier;

	bits = end % 64 == 0 ? 0 : g->used[word] & ~(~UINT64_C(0) << end % 64);
	if (bits == 0) {
		earlier = word == 64 ? g->words : g->words & ~(~UINT64_C(0) << word);
		if (earlier == 0)
			return NULL;
		word = 63 - (unsigned)__builtin_clzll(earlier);
		bits = g->used[word];
	}
	return ios_rqtree_entry(
		ios_rb_last(&g->cells[word * 64 + 63 - (unsigned)__builtin_clzll(bits)]));
}

struct iosched_request *ios_rqgrid_last(const struct ios_rqgrid *g)
{
	return last_before(g, g->n_cells);
}

struct iosched_request *ios_rqgrid_prev(const struct ios_rqgrid *g,
					const struct iosched_request *rq)
{
	struct iosched_tree_link *prev = ios_rb_prev(&rq->internal.sort);

	return prev != NULL ? ios_rqtree_entry(prev) : last_before(g, rq->span_offset >> g->shift);
}

struct iosched_request *ios_rqgrid_first_from(const struct ios_rqgrid *g, uint64_t offset)
{
	uint64_t cell = offset >> g->shift;
	struct iosched_request *rq;
	struct ios_rqtree t;

	if (cell >= g->n_cells)
		return NULL;
	t.rb = g->cells[cell];
	rq = ios_rqtree_first_from(&t, offset);
	return rq != NULL ? rq : ios_rqgrid_first_in(g, cell + 1);
}

const char *ios_rqgrid_audit(const struct ios_rqgrid *g)
{
	uint64_t cell;

	for (cell = 0; cell < g->n_cells; cell++) {
		struct ios_rqtree t = {g->cells[cell]};
		bool used = (g->used[cell / 64] >> cell % 64 & 1) != 0;
		const char *wrong;

		if (used != (t.rb.root != NULL))
			return "a cell's bit says whether it holds something";
		if ((g->used[cell / 64] != 0) != ((g->words >> cell / 64 & 1) != 0))
			return "a word's bit says whether it has any";
		if (!used)
			continue;
		if (ios_rqtree_first(&t)->span_offset >> g->shift != cell ||
		    ios_rqtree_last(&t)->span_offset >> g->shift != cell)
			return "a request lies in its cell";
		wrong = ios_rqtree_audit(&t);
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}
