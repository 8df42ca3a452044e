/* SPDX-License-Identifier: MIT */
/*
 * rqgrid: queued requests by start offset (`span_offset`), linked by `internal.sort`, like rqtree,
 * but over a grid of equal intervals of the device. An interval, a cell, is a red-black tree that
 * holds one request or none while requests lie scattered: then inserting, removing and
 * the step to the next take constant time, a third of what the one tree takes at a thousand queued.
 * Where they crowd in a few cells it is the tree's time and a little.
 *
 * State: `cells`; `used`, a bit for each cell that holds something; `words`, a bit for each word of
 * `used` that is not zero. Memory is the caller's, zeroed.
 *
 * Rule: a request lies in cell `span_offset >> shift`. When one starts beyond the last cell the
 * grid widens, and pairs of cells become one; each time it is emptied it narrows by half, so that
 * one outlier is forgotten. Equal offsets are allowed; a later one follows.
 */
#ifndef IOS_BLOCKS_RQGRID_H
#define IOS_BLOCKS_RQGRID_H

#include "blocks/rqtree.h"

struct ios_rqgrid {
	struct ios_rbtree *cells;
	uint64_t *used;
	uint64_t words;
	uint32_t n_cells; /* 64, 128, ... 4096 */
	uint32_t shift;
};

/* Cells for `expected` requests: twice as many, so that most are alone, within what the
 * two levels of bits can say. */
uint32_t ios_rqgrid_cells(uint32_t expected);
size_t ios_rqgrid_size(uint32_t n_cells);
void ios_rqgrid_init(struct ios_rqgrid *g, void *memory, uint32_t n_cells);

void ios_rqgrid_insert_slow(struct ios_rqgrid *g, struct iosched_request *rq);

static inline void ios_rqgrid_mark(struct ios_rqgrid *g, uint64_t cell)
{
	g->used[cell / 64] |= UINT64_C(1) << cell % 64;
	g->words |= UINT64_C(1) << cell / 64;
}

/* Into a cell of its own; false: it has none, nothing was done. */
static inline bool ios_rqgrid_insert_alone(struct ios_rqgrid *g, struct iosched_request *rq)
{
	uint64_t cell = rq->span_offset >> g->shift;

	if (cell >= g->n_cells || g->cells[cell].root != NULL)
		return false;
	ios_rb_insert_alone(&g->cells[cell], &rq->internal.sort);
	ios_rqgrid_mark(g, cell);
	return true;
}

static inline void ios_rqgrid_insert(struct ios_rqgrid *g, struct iosched_request *rq)
{
	if (!ios_rqgrid_insert_alone(g, rq))
		ios_rqgrid_insert_slow(g, rq);
}

/* Has it a cell for itself? */
static inline bool ios_rqgrid_alone(const struct ios_rqgrid *g, const struct iosched_request *rq)
{
	return ios_rb_alone(&g->cells[rq->span_offset >> g->shift], &rq->internal.sort);
}

/* One that is alone. */
static inline void ios_rqgrid_remove_alone(struct ios_rqgrid *g, struct iosched_request *rq)
{
	uint64_t cell = rq->span_offset >> g->shift;

	g->cells[cell].root = NULL;
	ios_rb_clear(&rq->internal.sort);
	g->used[cell / 64] &= ~(UINT64_C(1) << cell % 64);
	if (g->used[cell / 64] != 0)
		return;
	g->words &= ~(UINT64_C(1) << cell / 64);
	if (g->words == 0 && g->shift != 0)
		g->shift--;
}

static inline void ios_rqgrid_remove(struct ios_rqgrid *g, struct iosched_request *rq)
{
	if (ios_rqgrid_alone(g, rq))
		ios_rqgrid_remove_alone(g, rq);
	else
		ios_rb_remove(&g->cells[rq->span_offset >> g->shift], &rq->internal.sort);
}

/* The first request in cell `from` or a later one. */
static inline struct iosched_request *ios_rqgrid_first_in(const struct ios_rqgrid *g, uint64_t from)
{
	uint64_t word = from / 64, bits;
	struct iosched_tree_link *n;

	if (from >= g->n_cells)
		return NULL;
	bits = g->used[word] & (~UINT64_C(0) << from % 64);
	if (bits == 0) {
		uint64_t later = g->words & (~UINT64_C(1) << word);

		if (later == 0)
			return NULL;
		word = (unsigned)__builtin_ctzll(later);
		bits = g->used[word];
	}
	n = g->cells[word * 64 + (unsigned)__builtin_ctzll(bits)].root;
	while (n->left != NULL)
		n = n->left;
	return IOS_CONTAINER(n, struct iosched_request, internal.sort);
}

static inline struct iosched_request *ios_rqgrid_first(const struct ios_rqgrid *g)
{
	return ios_rqgrid_first_in(g, 0);
}

static inline struct iosched_request *ios_rqgrid_next(const struct ios_rqgrid *g,
						      const struct iosched_request *rq)
{
	uint64_t cell = rq->span_offset >> g->shift;
	struct iosched_tree_link *next;

	if (!ios_rqgrid_alone(g, rq) && (next = ios_rb_next(&rq->internal.sort)) != NULL)
		return ios_rqtree_entry(next);
	return ios_rqgrid_first_in(g, cell + 1);
}

/* Remove one that is alone, and return the one that followed. */
static inline struct iosched_request *ios_rqgrid_remove_next(struct ios_rqgrid *g,
							     struct iosched_request *rq)
{
	struct iosched_request *next = ios_rqgrid_first_in(g, (rq->span_offset >> g->shift) + 1);

	ios_rqgrid_remove_alone(g, rq);
	return next;
}

struct iosched_request *ios_rqgrid_last(const struct ios_rqgrid *g);
struct iosched_request *ios_rqgrid_prev(const struct ios_rqgrid *g,
					const struct iosched_request *rq);

/* The first request that starts at `offset` or behind it, or NULL. */
struct iosched_request *ios_rqgrid_first_from(const struct ios_rqgrid *g, uint64_t offset);

/* NULL, or what is wrong. */
const char *ios_rqgrid_audit(const struct ios_rqgrid *g);

#endif
