/* SPDX-License-Identifier: MIT */
/*
 * rqstarts: queued requests hashed by where they start (`span_offset`), to find the one that starts
 * where another ends. For those who merge but never sweep: a quarter of what keeping them sorted
 * costs.
 *
 * Linked by `internal.sort`, two words of it: `left` is the next in the bucket, `parent_color` the
 * address of what points at us. The newest comes first in its bucket. The buckets are the caller's:
 * a power of two, zeroed. A request may be removed after its offset has changed.
 */
#ifndef IOS_BLOCKS_RQSTARTS_H
#define IOS_BLOCKS_RQSTARTS_H

#include "blocks/list.h"
#include "blocks/mhash.h"
#include "blocks/rbtree.h"

struct ios_rqstarts {
	struct iosched_tree_link **buckets;
	unsigned shift; /* 64 - log2(buckets) */
};

/* `n` is two or more. */
void ios_rqstarts_init(struct ios_rqstarts *h, void *buckets, uint32_t n);

static inline struct iosched_tree_link **ios_rqstarts_bucket(const struct ios_rqstarts *h,
							     uint64_t offset)
{
	return &h->buckets[ios_hash_u64(offset) >> h->shift];
}

static inline void ios_rqstarts_insert(struct ios_rqstarts *h, struct iosched_request *rq)
{
	struct iosched_tree_link *n = &rq->internal.sort;
	struct iosched_tree_link **bucket = ios_rqstarts_bucket(h, rq->span_offset);

	n->left = *bucket;
	if (n->left != NULL)
		n->left->parent_color = (uintptr_t)&n->left;
	n->parent_color = (uintptr_t)bucket;
	*bucket = n;
}

static inline void ios_rqstarts_remove(struct iosched_request *rq)
{
	struct iosched_tree_link *n = &rq->internal.sort;

	*(struct iosched_tree_link **)n->parent_color = n->left;
	if (n->left != NULL)
		n->left->parent_color = n->parent_color;
	ios_rb_clear(n);
}

/* Of those that start at `offset` the one that was inserted first, or NULL. */
struct iosched_request *ios_rqstarts_find(const struct ios_rqstarts *h, uint64_t offset);

/* NULL, or what is wrong; `*count` grows by the requests it holds. */
const char *ios_rqstarts_audit(const struct ios_rqstarts *h, uint32_t *count);

#endif
