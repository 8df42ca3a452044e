/* SPDX-License-Identifier: MIT */
/*
 * treap: see treap.h.
 */
#include "blocks/treap.h"

typedef struct ios_treap_link node;

static void adopt(node **link, node *child, node *parent)
{
	*link = child;
	if (child != NULL)
		child->parent = parent;
}

/* What pointed to `old`, a child of `parent`, now points to `to`. */
static void replace_child(struct ios_treap *t, node *parent, const node *old, node *to)
{
	if (parent == NULL)
		t->root = to;
	else if (parent->left == old)
		parent->left = to;
	else
		parent->right = to;
}

/* `n`, a child of `p`, rises above all of lower priority. */
static void rise(struct ios_treap *t, node *n, node *p)
{
	node *was = n; /* what `p` still points to */

	do {
		node *above = p->parent;

		if (p->left == was) {
			adopt(&p->left, n->right, p);
			n->right = p;
		} else {
			adopt(&p->right, n->left, p);
			n->left = p;
		}
		p->parent = n;
		was = p;
		p = above;
	} while (p != NULL && p->priority < n->priority);
	n->parent = p;
	replace_child(t, p, was, n);
}

void ios_treap_insert(struct ios_treap *t, node *n, node *parent, node **link)
{
	n->left = NULL;
	n->right = NULL;
	n->parent = parent;
	if (t->last == parent && (parent == NULL || link == &parent->right))
		t->last = n;
	if (t->first == parent && (parent == NULL || link == &parent->left))
		t->first = n;
	*link = n;
	if (parent != NULL && parent->priority < n->priority)
		rise(t, n, parent);
}

void ios_treap_remove(struct ios_treap *t, node *n)
{
	node *l = n->left, *r = n->right, *up = n->parent;
	node **link = up == NULL ? &t->root : up->left == n ? &up->left : &up->right;

	if (t->first == n)
		t->first = ios_treap_next(n);
	if (t->last == n)
		t->last = ios_treap_prev(n);
	while (l != NULL && r != NULL) {
		node *top = l->priority < r->priority ? r : l;

		*link = top;
		top->parent = up;
		up = top;
		link = top == r ? &r->left : &l->right;
		if (top == r)
			r = r->left;
		else
			l = l->right;
	}
	adopt(link, l != NULL ? l : r, up);
}

node *ios_treap_prev(const node *n)
{
	node *p = n->left;

	if (p == NULL) {
		while ((p = n->parent) != NULL && n == p->left)
			n = p;
		return p;
	}
	while (p->right != NULL)
		p = p->right;
	return p;
}

const char *ios_treap_audit(const struct ios_treap *t)
{
	const node *n, *last = NULL;

	if ((t->root == NULL) != (t->first == NULL) || (t->root == NULL) != (t->last == NULL))
		return "a set with a root has ends";
	if (t->root != NULL && t->root->parent != NULL)
		return "the root has no parent";
	if (t->first != NULL && ios_treap_prev(t->first) != NULL)
		return "nothing comes before the first";
	for (n = t->first; n != NULL; n = ios_treap_next(n)) {
		if ((n->left != NULL && n->left->parent != n) ||
		    (n->right != NULL && n->right->parent != n))
			return "a child knows its parent";
		if (n->parent != NULL && n->parent->priority < n->priority)
			return "no node has a higher priority than its parent";
		last = n;
	}
	return last == t->last ? NULL : "nothing comes after the last";
}
