/* SPDX-License-Identifier: MIT */
/*
 * coop: see coop.h.
 */
#include "blocks/coop.h"

static struct ios_coop_node *coop_entry(struct iosched_tree_link *link)
{
	return link == NULL ? NULL : IOS_CONTAINER(link, struct ios_coop_node, link);
}

static uint64_t place(const struct ios_coop_node *n)
{
	return n->next->span_offset;
}

void ios_coop_file(struct ios_rbtree *tree, struct ios_coop_node *n)
{
	struct iosched_tree_link **link = &tree->root;
	struct iosched_tree_link *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		if (place(n) == place(coop_entry(parent)))
			return;
		link = place(n) < place(coop_entry(parent)) ? &parent->left : &parent->right;
	}
	ios_rb_insert(tree, &n->link, parent, link);
	n->tree = tree;
}

void ios_coop_unfile(struct ios_coop_node *n)
{
	if (n->tree == NULL)
		return;
	ios_rb_remove(n->tree, &n->link);
	n->tree = NULL;
}

static bool close_to(const struct ios_coop_node *n, uint64_t head, uint64_t radius)
{
	uint64_t at = place(n);

	return (at > head ? at - head : head - at) <= radius;
}

struct ios_coop_node *ios_coop_find(const struct ios_rbtree *tree, uint64_t head, uint64_t radius)
{
	struct iosched_tree_link *link = tree->root, *last = NULL;
	struct ios_coop_node *n;

	while (link != NULL) {
		last = link;
		n = coop_entry(link);
		if (head == place(n))
			return n;
		link = head < place(n) ? link->left : link->right;
	}
	if (last == NULL)
		return NULL;
	n = coop_entry(last);
	if (close_to(n, head, radius))
		return n;
	n = coop_entry(place(n) < head ? ios_rb_next(last) : ios_rb_prev(last));
	return n != NULL && close_to(n, head, radius) ? n : NULL;
}
