/* SPDX-License-Identifier: MIT */
/*
 * rqtree: queued requests by start offset (`span_offset`), linked by
 * `internal.sort`. Equal offsets are allowed; a later one lies to the right.
 */
#ifndef IOS_BLOCKS_RQTREE_H
#define IOS_BLOCKS_RQTREE_H

#include "blocks/list.h"
#include "blocks/rbtree.h"

struct ios_rqtree {
	struct ios_rbtree rb;
};

static inline struct iosched_request *ios_rqtree_entry(struct iosched_tree_link *link)
{
	return link == NULL ? NULL : IOS_CONTAINER(link, struct iosched_request, internal.sort);
}

static inline bool ios_rqtree_empty(const struct ios_rqtree *t)
{
	return t->rb.root == NULL;
}

static inline bool ios_rqtree_linked(const struct iosched_request *rq)
{
	return ios_rb_linked(&rq->internal.sort);
}

static inline void ios_rqtree_remove(struct ios_rqtree *t, struct iosched_request *rq)
{
	ios_rb_remove(&t->rb, &rq->internal.sort);
}

/* The same, and returns the one that followed, or NULL. */
static inline struct iosched_request *ios_rqtree_remove_next(struct ios_rqtree *t,
							     struct iosched_request *rq)
{
	return ios_rqtree_entry(ios_rb_remove_next(&t->rb, &rq->internal.sort));
}

static inline struct iosched_request *ios_rqtree_first(const struct ios_rqtree *t)
{
	return ios_rqtree_entry(ios_rb_first(&t->rb));
}

static inline struct iosched_request *ios_rqtree_last(const struct ios_rqtree *t)
{
	return ios_rqtree_entry(ios_rb_last(&t->rb));
}

static inline struct iosched_request *ios_rqtree_next(const struct iosched_request *rq)
{
	return ios_rqtree_entry(ios_rb_next(&rq->internal.sort));
}

static inline struct iosched_request *ios_rqtree_prev(const struct iosched_request *rq)
{
	return ios_rqtree_entry(ios_rb_prev(&rq->internal.sort));
}

void ios_rqtree_insert(struct ios_rqtree *t, struct iosched_request *rq);

/* Where no two may start at one place: insert `rq`, or return the one that is there. */
struct iosched_request *ios_rqtree_insert_unique(struct ios_rqtree *t, struct iosched_request *rq);

/* The request that starts at `offset`, or NULL. Of several the one nearest the
 * root, which is the one a search meets: neither the oldest nor the newest
 * (traces dense and dupsec notice). */
struct iosched_request *ios_rqtree_find(const struct ios_rqtree *t, uint64_t offset);

/* The first (leftmost) request that starts at `offset` or behind it, or NULL. */
struct iosched_request *ios_rqtree_first_from(const struct ios_rqtree *t, uint64_t offset);

/* NULL, or what is wrong. */
const char *ios_rqtree_audit(const struct ios_rqtree *t);

#endif
