/* SPDX-License-Identifier: MIT */
/*
 * rbtree: see rbtree.h. NULL stands for the book's black sentinel, so the
 * fix-up after a removal is told the parent of the place it starts at.
 */
#include "blocks/rbtree.h"

typedef struct iosched_tree_link node;

enum { RED = 0, BLACK = 1 };

static inline bool is_black(const node *n)
{
	return n == NULL || (n->parent_color & 1) == BLACK;
}

/* A red node's colour bit is 0: the word is its parent. */
static inline node *parent_of_red(const node *n)
{
	return (node *)n->parent_color;
}

static inline void set(node *n, node *parent, unsigned color)
{
	n->parent_color = (uintptr_t)parent | color;
}

static inline void set_parent(node *n, node *parent)
{
	n->parent_color = (uintptr_t)parent | (n->parent_color & 1);
}

/* What pointed to `old`, a child of `parent`, now points to `to`. */
static inline void replace_child(struct ios_rbtree *t, node *parent, const node *old, node *to)
{
	if (parent == NULL)
		t->root = to;
	else if (parent->left == old)
		parent->left = to;
	else
		parent->right = to;
}

/* `x` goes down to the left, its right child comes up; colours stay with the caller. */
static inline void rotate_left(node *x, node *up)
{
	x->right = up->left;
	if (x->right != NULL)
		set_parent(x->right, x);
	up->left = x;
}

static inline void rotate_right(node *x, node *up)
{
	x->left = up->right;
	if (x->left != NULL)
		set_parent(x->left, x);
	up->right = x;
}

/* `p`, red child of `g`, comes up black; `g` goes down red. */
static inline void raise(struct ios_rbtree *t, node *p, node *g, bool left)
{
	node *above = ios_rb_parent(g);

	if (left)
		rotate_right(g, p);
	else
		rotate_left(g, p);
	set(p, above, BLACK);
	set(g, p, RED);
	replace_child(t, above, g, p);
}

/* `z` is red and linked below `p`. */
static inline void insert_fixup(struct ios_rbtree *t, node *z, node *p)
{
	while (p != NULL && !is_black(p)) {
		node *g = parent_of_red(p);
		bool left = p == g->left;
		node *uncle = left ? g->right : g->left;

		if (is_black(uncle)) {
			if (z == (left ? p->right : p->left)) {
				if (left)
					rotate_left(p, z);
				else
					rotate_right(p, z);
				set(p, z, RED);
				p = z; /* raise() links it and sets its parent */
			}
			raise(t, p, g, left);
			return;
		}
		set(p, g, BLACK);
		set(uncle, g, BLACK);
		z = g;
		p = ios_rb_parent(g);
		set(z, p, RED);
	}
	if (p == NULL)
		set(z, NULL, BLACK);
}

void ios_rb_insert(struct ios_rbtree *t, node *n, node *parent, node **link)
{
	n->left = NULL;
	n->right = NULL;
	set(n, parent, RED);
	*link = n;
	insert_fixup(t, n, parent);
}

/* Red `w`, a child of black `parent`, comes up; returns the new, black sibling. */
static node *raise_red_sibling(struct ios_rbtree *t, node *parent, node *w, bool left)
{
	node *above = ios_rb_parent(parent);

	if (left)
		rotate_left(parent, w);
	else
		rotate_right(parent, w);
	set(w, above, BLACK);
	set(parent, w, RED);
	replace_child(t, above, parent, w);
	return left ? parent->right : parent->left;
}

/* The near child of sibling `w` is red, the far one is not: it becomes the sibling. */
static node *raise_near_nephew(node *parent, node *w, bool left)
{
	node *up = left ? w->left : w->right;

	if (left)
		rotate_right(w, up);
	else
		rotate_left(w, up);
	set(w, up, RED);
	set(up, parent, BLACK);
	if (left)
		parent->right = up;
	else
		parent->left = up;
	return up;
}

/* The far child of sibling `w` is red: `w` comes up in `parent`'s colour. Ends the repair. */
static void raise_sibling(struct ios_rbtree *t, node *parent, node *w, bool left)
{
	node *above = ios_rb_parent(parent);
	unsigned color = (unsigned)(parent->parent_color & 1);

	set(left ? w->right : w->left, w, BLACK);
	if (left)
		rotate_left(parent, w);
	else
		rotate_right(parent, w);
	set(w, above, color);
	set(parent, w, BLACK);
	replace_child(t, above, parent, w);
}

/* The empty place `x` below `parent` lacks one black node; so does, later, the subtree at `x`. */
static void remove_fixup(struct ios_rbtree *t, node *parent)
{
	node *x = NULL;

	do {
		bool left = x == parent->left;
		node *w = left ? parent->right : parent->left;

		if (!is_black(w))
			w = raise_red_sibling(t, parent, w, left);
		if (is_black(left ? w->right : w->left)) {
			if (is_black(left ? w->left : w->right)) {
				set(w, parent, RED);
				x = parent;
				parent = ios_rb_parent(x);
				continue;
			}
			w = raise_near_nephew(parent, w, left);
		}
		raise_sibling(t, parent, w, left);
		return;
	} while (parent != NULL && is_black(x));
	x->parent_color |= BLACK;
}

/* `parent` lost a child of colour `black`, whose only child, or none, has taken its place. An only
 * child is red and what was above it black: it makes up for that by its colour. Else returns where
 * a black node is missing: below `parent`; NULL: nowhere. */
static inline node *settle_child(node *child, node *parent, bool black)
{
	if (child == NULL)
		return black ? parent : NULL;
	set(child, parent, BLACK);
	return NULL;
}

/* `n` has at most one child: that takes its place. */
static inline node *splice(struct ios_rbtree *t, node *n)
{
	node *child = n->left != NULL ? n->left : n->right;
	node *parent = ios_rb_parent(n);

	replace_child(t, parent, n, child);
	return settle_child(child, parent, is_black(n));
}

/* `n` has two children: its successor `y` takes its place and its colour. */
static inline node *splice_successor(struct ios_rbtree *t, node *n, node *y)
{
	node *parent = ios_rb_parent(y);
	node *lacking;

	if (parent == n) {
		lacking = settle_child(y->right, y, is_black(y));
	} else {
		parent->left = y->right;
		lacking = settle_child(y->right, parent, is_black(y));
		y->right = n->right;
		set_parent(y->right, y);
	}
	y->left = n->left;
	set_parent(y->left, y);
	replace_child(t, ios_rb_parent(n), n, y);
	y->parent_color = n->parent_color;
	return lacking;
}

static inline node *leftmost(node *n)
{
	while (n->left != NULL)
		n = n->left;
	return n;
}

void ios_rb_remove(struct ios_rbtree *t, node *n)
{
	bool two = n->left != NULL && n->right != NULL;
	node *lacking = two ? splice_successor(t, n, leftmost(n->right)) : splice(t, n);

	ios_rb_clear(n);
	if (lacking != NULL)
		remove_fixup(t, lacking);
}

node *ios_rb_remove_next(struct ios_rbtree *t, node *n)
{
	bool two = n->left != NULL && n->right != NULL;
	node *next = n->right != NULL ? leftmost(n->right) : ios_rb_next(n);
	node *lacking = two ? splice_successor(t, n, next) : splice(t, n);

	ios_rb_clear(n);
	if (lacking != NULL)
		remove_fixup(t, lacking);
	return next;
}

node *ios_rb_first(const struct ios_rbtree *t)
{
	node *n = t->root;

	while (n != NULL && n->left != NULL)
		n = n->left;
	return n;
}

node *ios_rb_last(const struct ios_rbtree *t)
{
	node *n = t->root;

	while (n != NULL && n->right != NULL)
		n = n->right;
	return n;
}

node *ios_rb_next(const node *n)
{
	node *p;

	if (n->right != NULL) {
		p = n->right;
		while (p->left != NULL)
			p = p->left;
		return p;
	}
	while ((p = ios_rb_parent(n)) != NULL && n == p->right)
		n = p;
	return p;
}

node *ios_rb_prev(const node *n)
{
	node *p;

	if (n->left != NULL) {
		p = n->left;
		while (p->right != NULL)
			p = p->right;
		return p;
	}
	while ((p = ios_rb_parent(n)) != NULL && n == p->left)
		n = p;
	return p;
}

/* Black nodes on the way from the root down to the hole left or right of `n`. */
static unsigned black_depth(const node *n)
{
	unsigned depth = 0;

	for (; n != NULL; n = ios_rb_parent(n))
		depth += is_black(n);
	return depth;
}

const char *ios_rb_audit(const struct ios_rbtree *t)
{
	const node *n = ios_rb_first(t);
	unsigned depth = 0;

	if (n == NULL)
		return t->root == NULL ? NULL : "a tree with a root has a first node";
	if (!is_black(t->root) || ios_rb_parent(t->root) != NULL)
		return "the root is black and has no parent";
	for (; n != NULL; n = ios_rb_next(n)) {
		if (!is_black(n) && (!is_black(n->left) || !is_black(n->right)))
			return "a red node has black children";
		if (n->left != NULL && n->right != NULL)
			continue;
		if (depth != 0 && black_depth(n) != depth)
			return "all paths have the same number of black nodes";
		depth = black_depth(n);
	}
	return NULL;
}
