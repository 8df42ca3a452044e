/* SPDX-License-Identifier: MIT */
/*
 * rbtree: see rbtree.h. NULL stands for the book's black sentinel, so the
 * fix-up after a removal is told the parent of the place it starts at.
 */
#include "blocks/rbtree.h"

typedef struct iosched_tree_link node;

enum { RED = 0, BLACK = 1 };

static bool is_red(const node *n)
{
	return n != NULL && (n->parent_color & 1) == RED;
}

static void set_color(node *n, unsigned color)
{
	n->parent_color = (n->parent_color & ~(uintptr_t)1) | color;
}

static void set_parent(node *n, node *parent)
{
	n->parent_color = (uintptr_t)parent | (n->parent_color & 1);
}

/* What pointed to `old`, a child of `parent`, now points to `to`. */
static void replace_child(struct ios_rbtree *t, node *parent, const node *old, node *to)
{
	if (parent == NULL)
		t->root = to;
	else if (parent->left == old)
		parent->left = to;
	else
		parent->right = to;
}

static void rotate_left(struct ios_rbtree *t, node *x)
{
	node *y = x->right;
	node *parent = ios_rb_parent(x);

	x->right = y->left;
	if (y->left != NULL)
		set_parent(y->left, x);
	set_parent(y, parent);
	replace_child(t, parent, x, y);
	y->left = x;
	set_parent(x, y);
}

static void rotate_right(struct ios_rbtree *t, node *x)
{
	node *y = x->left;
	node *parent = ios_rb_parent(x);

	x->left = y->right;
	if (y->right != NULL)
		set_parent(y->right, x);
	set_parent(y, parent);
	replace_child(t, parent, x, y);
	y->right = x;
	set_parent(x, y);
}

static void insert_fixup(struct ios_rbtree *t, node *z)
{
	node *p;

	while (is_red(p = ios_rb_parent(z))) {
		node *g = ios_rb_parent(p);
		bool left = p == g->left;
		node *uncle = left ? g->right : g->left;

		if (is_red(uncle)) {
			set_color(p, BLACK);
			set_color(uncle, BLACK);
			set_color(g, RED);
			z = g;
			continue;
		}
		if (z == (left ? p->right : p->left)) {
			if (left)
				rotate_left(t, p);
			else
				rotate_right(t, p);
			p = z;
		}
		set_color(p, BLACK);
		set_color(g, RED);
		if (left)
			rotate_right(t, g);
		else
			rotate_left(t, g);
		break;
	}
	set_color(t->root, BLACK);
}

void ios_rb_insert(struct ios_rbtree *t, node *n, node *parent, node **link)
{
	n->left = NULL;
	n->right = NULL;
	n->parent_color = (uintptr_t)parent | RED;
	*link = n;
	insert_fixup(t, n);
}

/* The subtree at `x`, a child of `parent`, lacks one black node. */
static void remove_fixup(struct ios_rbtree *t, node *x, node *parent)
{
	while (x != t->root && !is_red(x)) {
		bool left = x == parent->left;
		node *w = left ? parent->right : parent->left;

		if (is_red(w)) {
			set_color(w, BLACK);
			set_color(parent, RED);
			if (left)
				rotate_left(t, parent);
			else
				rotate_right(t, parent);
			w = left ? parent->right : parent->left;
		}
		if (!is_red(w->left) && !is_red(w->right)) {
			set_color(w, RED);
			x = parent;
			parent = ios_rb_parent(x);
			continue;
		}
		if (!is_red(left ? w->right : w->left)) {
			set_color(left ? w->left : w->right, BLACK);
			set_color(w, RED);
			if (left)
				rotate_right(t, w);
			else
				rotate_left(t, w);
			w = left ? parent->right : parent->left;
		}
		set_color(w, is_red(parent) ? RED : BLACK);
		set_color(parent, BLACK);
		set_color(left ? w->right : w->left, BLACK);
		if (left)
			rotate_left(t, parent);
		else
			rotate_right(t, parent);
		x = t->root;
	}
	if (x != NULL)
		set_color(x, BLACK);
}

/* `n` has at most one child: that takes its place. */
static void splice(struct ios_rbtree *t, node *n)
{
	node *child = n->left != NULL ? n->left : n->right;
	node *parent = ios_rb_parent(n);
	bool was_black = !is_red(n);

	if (child != NULL)
		set_parent(child, parent);
	replace_child(t, parent, n, child);
	if (was_black)
		remove_fixup(t, child, parent);
}

/* `n` has two children: its successor takes its place and its colour. */
static void splice_successor(struct ios_rbtree *t, node *n)
{
	node *y = n->right;
	node *child, *parent;
	bool was_black;

	while (y->left != NULL)
		y = y->left;
	was_black = !is_red(y);
	child = y->right;
	parent = ios_rb_parent(y);
	if (parent == n) {
		parent = y;
	} else {
		parent->left = child;
		if (child != NULL)
			set_parent(child, parent);
		y->right = n->right;
		set_parent(y->right, y);
	}
	y->left = n->left;
	set_parent(y->left, y);
	replace_child(t, ios_rb_parent(n), n, y);
	y->parent_color = n->parent_color;
	if (was_black)
		remove_fixup(t, child, parent);
}

void ios_rb_remove(struct ios_rbtree *t, node *n)
{
	if (n->left != NULL && n->right != NULL)
		splice_successor(t, n);
	else
		splice(t, n);
	ios_rb_clear(n);
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
		depth += !is_red(n);
	return depth;
}

const char *ios_rb_audit(const struct ios_rbtree *t)
{
	const node *n = ios_rb_first(t);
	unsigned depth = 0;

	if (n == NULL)
		return t->root == NULL ? NULL : "a tree with a root has a first node";
	if (is_red(t->root) || ios_rb_parent(t->root) != NULL)
		return "the root is black and has no parent";
	for (; n != NULL; n = ios_rb_next(n)) {
		if (is_red(n) && (is_red(n->left) || is_red(n->right)))
			return "a red node has black children";
		if (n->left != NULL && n->right != NULL)
			continue;
		if (depth != 0 && black_depth(n) != depth)
			return "all paths have the same number of black nodes";
		depth = black_depth(n);
	}
	return NULL;
}
