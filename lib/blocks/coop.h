/* SPDX-License-Identifier: MIT */
/*
 * coop: queues by where they go on, to find one near the head (the kernel's
 * prio trees, for close cooperators).
 *
 * A queue's place is that of its next request when it was last filed; comparisons use
 * the next request it has now, so the tree may be stale, and its shape then decides
 * (traces dupsec, near, pin01). A queue whose next offset another filed queue has
 * stays out.
 */
#ifndef IOS_BLOCKS_COOP_H
#define IOS_BLOCKS_COOP_H

#include "blocks/list.h"
#include "blocks/rbtree.h"

/* Embedded in a queue. All zero: not filed. */
struct ios_coop_node {
	struct iosched_tree_link link;
	struct ios_rbtree *tree; /* NULL: not filed */
	const struct iosched_request
		*next; /* the owner keeps it up to date; not NULL while filed */
};

/* File `n` by `n->next`. It must not be filed. */
void ios_coop_file(struct ios_rbtree *tree, struct ios_coop_node *n);
/* Harmless when not filed. */
void ios_coop_unfile(struct ios_coop_node *n);

/* The queue that goes on exactly at `head`; else the one where the search ended, or
 * its neighbour on the other side of `head`, if within `radius` bytes; else NULL. */
struct ios_coop_node *ios_coop_find(const struct ios_rbtree *tree, uint64_t head, uint64_t radius);

#endif
