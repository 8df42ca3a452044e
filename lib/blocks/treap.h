/* SPDX-License-Identifier: MIT */
/*
 * treap: intrusive ordered set: a search tree by key that is a heap by priority (Seidel and Aragon,
 * Randomized Search Trees, 1996). Balanced in the mean whatever the keys are, if priorities do not
 * follow them; nothing is recoloured, so that what is done most, taking the first away
 * and appending behind the last, costs a few instructions.
 *
 * Keys are the callers': they descend themselves, equal keys to the right, and hand the leaf over.
 * A node's priority is given once. Order does not depend on priorities, only depth does.
 */
#ifndef IOS_BLOCKS_TREAP_H
#define IOS_BLOCKS_TREAP_H

#include <iosched/iosched.h>
#include "blocks/mhash.h"

struct ios_treap_link {
	struct ios_treap_link *parent, *left, *right;
	uint32_t priority;
};

struct ios_treap {
	struct ios_treap_link *root, *first, *last;
};

/* The priority of the `n`th node made: scattered, and the same in every run. */
static inline uint32_t ios_treap_priority(uint64_t n)
{
	n = ios_hash_u64(n + 1);
	return (uint32_t)(ios_hash_u64(n ^ n >> 32) >> 32);
}

/* Link `n` as the child `*link` (empty until now) of `parent`. */
void ios_treap_insert(struct ios_treap *t, struct ios_treap_link *n, struct ios_treap_link *parent,
		      struct ios_treap_link **link);
void ios_treap_remove(struct ios_treap *t, struct ios_treap_link *n);
struct ios_treap_link *ios_treap_prev(const struct ios_treap_link *n);

static inline struct ios_treap_link *ios_treap_next(const struct ios_treap_link *n)
{
	struct ios_treap_link *p = n->right;

	if (p == NULL) {
		while ((p = n->parent) != NULL && n == p->right)
			n = p;
		return p;
	}
	while (p->left != NULL)
		p = p->left;
	return p;
}

/* Behind the last. */
static inline void ios_treap_append(struct ios_treap *t, struct ios_treap_link *n)
{
	struct ios_treap_link *below = NULL, *p = t->last;

	while (p != NULL && p->priority < n->priority) {
		below = p;
		p = p->parent;
	}
	n->parent = p;
	n->left = below;
	n->right = NULL;
	*(p == NULL ? &t->root : &p->right) = n;
	if (below != NULL)
		below->parent = n;
	else if (p == NULL)
		t->first = n;
	t->last = n;
}

/* What follows the first, or NULL; there is one. */
static inline struct ios_treap_link *ios_treap_second(const struct ios_treap *t)
{
	struct ios_treap_link *p = t->first->right;

	if (p == NULL)
		return t->first->parent;
	while (p->left != NULL)
		p = p->left;
	return p;
}

/* The first, which `next` follows; there is one. */
static inline void ios_treap_remove_first(struct ios_treap *t, struct ios_treap_link *next)
{
	struct ios_treap_link *n = t->first, *up = n->parent;

	*(up == NULL ? &t->root : &up->left) = n->right;
	if (n->right != NULL)
		n->right->parent = up;
	t->first = next;
}

/* NULL, or what is wrong. */
const char *ios_treap_audit(const struct ios_treap *t);

#endif
