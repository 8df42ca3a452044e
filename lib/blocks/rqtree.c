/* SPDX-License-Identifier: MIT */
/*
 * rqtree: see rqtree.h.
 */
#include "blocks/rqtree.h"

static uint64_t start_of(struct iosched_tree_link *n)
{
	return IOS_CONTAINER(n, struct iosched_request, internal.sort)->span_offset;
}

/* A search for a free place ended at `parent`. The side is found anew, and out of line, so that
 * the ways down below keep nothing but a pointer: they are the longest part of an insert. */
static __attribute__((noinline)) void link_leaf(struct ios_rqtree *t, struct iosched_request *rq,
						struct iosched_tree_link *parent)
{
	struct iosched_tree_link **link = &t->rb.root;

	if (parent != NULL)
		link = rq->span_offset < start_of(parent) ? &parent->left : &parent->right;
	ios_rb_insert(&t->rb, &rq->internal.sort, parent, link);
}

void ios_rqtree_insert(struct ios_rqtree *t, struct iosched_request *rq)
{
	struct iosched_tree_link *parent = NULL, *n = t->rb.root;
	uint64_t offset = rq->span_offset;

	while (n != NULL) {
		parent = n;
		if (offset < start_of(n))
			n = n->left;
		else
			n = n->right;
	}
	link_leaf(t, rq, parent);
}

struct iosched_request *ios_rqtree_insert_unique(struct ios_rqtree *t, struct iosched_request *rq)
{
	struct iosched_tree_link *parent = NULL, *n = t->rb.root;
	uint64_t offset = rq->span_offset;

	while (n != NULL) {
		parent = n;
		if (offset < start_of(n))
			n = n->left;
		else if (offset == start_of(n))
			return ios_rqtree_entry(n);
		else
			n = n->right;
	}
	link_leaf(t, rq, parent);
	return NULL;
}

struct iosched_request *ios_rqtree_find(const struct ios_rqtree *t, uint64_t offset)
{
	struct iosched_tree_link *n = t->rb.root;

	while (n != NULL) {
		uint64_t at = IOS_CONTAINER(n, struct iosched_request, internal.sort)->span_offset;

		if (offset < at)
			n = n->left;
		else if (offset > at)
			n = n->right;
		else
			return ios_rqtree_entry(n);
	}
	return NULL;
}

struct iosched_request *ios_rqtree_first_from(const struct ios_rqtree *t, uint64_t offset)
{
	struct iosched_tree_link *n = t->rb.root;
	struct iosched_request *best = NULL;

	while (n != NULL) {
		struct iosched_request *rq = ios_rqtree_entry(n);

		if (rq->span_offset < offset) {
			n = n->right;
		} else {
			best = rq;
			n = n->left;
		}
	}
	return best;
}

const char *ios_rqtree_audit(const struct ios_rqtree *t)
{
	const struct iosched_request *rq = ios_rqtree_first(t);
	const struct iosched_request *next;

	for (; rq != NULL; rq = next) {
		next = ios_rqtree_next(rq);
		if (next != NULL && next->span_offset < rq->span_offset)
			return "a request tree is sorted by offset";
	}
	return ios_rb_audit(&t->rb);
}
