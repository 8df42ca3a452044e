/* SPDX-License-Identifier: MIT */
/*
 * rqtree: see rqtree.h.
 */
#include "blocks/rqtree.h"

void ios_rqtree_insert(struct ios_rqtree *t, struct iosched_request *rq)
{
	struct iosched_tree_link **link = &t->rb.root;
	struct iosched_tree_link *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		if (rq->span_offset < ios_rqtree_entry(parent)->span_offset)
			link = &parent->left;
		else
			link = &parent->right;
	}
	ios_rb_insert(&t->rb, &rq->internal.sort, parent, link);
}

struct iosched_request *ios_rqtree_find(const struct ios_rqtree *t, uint64_t offset)
{
	struct iosched_tree_link *n = t->rb.root;

	while (n != NULL) {
		struct iosched_request *rq = ios_rqtree_entry(n);

		if (offset == rq->span_offset)
			return rq;
		n = offset < rq->span_offset ? n->left : n->right;
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
