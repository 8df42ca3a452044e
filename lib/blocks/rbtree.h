/* SPDX-License-Identifier: MIT */
/*
 * rbtree: intrusive red-black tree, textbook form (Cormen, Leiserson, Rivest,
 * Stein, Introduction to Algorithms, 3rd ed., chapter 13).
 *
 * The shape is part of our answers, not only the order: which of several equal
 * keys a search meets first, and which neighbour a close search ends at, depend on
 * it. So: insert at a leaf and fix up as printed there; delete a node with two
 * children by moving its in-order successor into its place and colour. Callers
 * descend themselves, equal keys to the right, and hand the leaf over.
 */
#ifndef IOS_BLOCKS_RBTREE_H
#define IOS_BLOCKS_RBTREE_H

#include <iosched/iosched.h>

struct ios_rbtree {
	struct iosched_tree_link *root;
};

static inline struct iosched_tree_link *ios_rb_parent(const struct iosched_tree_link *n)
{
	return (struct iosched_tree_link *)(n->parent_color & ~(uintptr_t)1);
}

/* An unlinked node is its own parent. */
static inline void ios_rb_clear(struct iosched_tree_link *n)
{
	n->parent_color = (uintptr_t)n;
}

static inline bool ios_rb_linked(const struct iosched_tree_link *n)
{
	return n->parent_color != (uintptr_t)n;
}

/* `n` is all there is in the tree. */
static inline bool ios_rb_alone(const struct ios_rbtree *t, const struct iosched_tree_link *n)
{
	return t->root == n && n->left == NULL && n->right == NULL;
}

/* Into an empty tree: black, without a parent. */
static inline void ios_rb_insert_alone(struct ios_rbtree *t, struct iosched_tree_link *n)
{
	n->left = NULL;
	n->right = NULL;
	n->parent_color = 1;
	t->root = n;
}

/* Into a tree of one node: red, below it. */
static inline void ios_rb_insert_second(struct ios_rbtree *t, struct iosched_tree_link *n,
					bool left)
{
	n->left = NULL;
	n->right = NULL;
	n->parent_color = (uintptr_t)t->root;
	*(left ? &t->root->left : &t->root->right) = n;
}

/* Out of a tree of two, of which `n` is the lower. */
static inline void ios_rb_remove_second(struct ios_rbtree *t, struct iosched_tree_link *n)
{
	*(t->root->left == n ? &t->root->left : &t->root->right) = NULL;
	ios_rb_clear(n);
}

/* Link `node` as the child `*link` (empty until now) of `parent`, and rebalance. */
void ios_rb_insert(struct ios_rbtree *t, struct iosched_tree_link *node,
		   struct iosched_tree_link *parent, struct iosched_tree_link **link);
void ios_rb_remove(struct ios_rbtree *t, struct iosched_tree_link *node);
/* The same, and returns the one that followed, or NULL: the removal mostly meets it anyway. */
struct iosched_tree_link *ios_rb_remove_next(struct ios_rbtree *t, struct iosched_tree_link *node);
struct iosched_tree_link *ios_rb_first(const struct ios_rbtree *t);
struct iosched_tree_link *ios_rb_last(const struct ios_rbtree *t);
struct iosched_tree_link *ios_rb_next(const struct iosched_tree_link *n);
struct iosched_tree_link *ios_rb_prev(const struct iosched_tree_link *n);

/* NULL, or the red-black property that does not hold. */
const char *ios_rb_audit(const struct ios_rbtree *t);

#endif
