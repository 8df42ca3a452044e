/* SPDX-License-Identifier: MIT */
/*
 * ctab: see ctab.h.
 */
#include "blocks/ctab.h"

static struct iosched_context *context_entry(struct iosched_list_link *link)
{
	return IOS_CONTAINER(link, struct iosched_context, use);
}

static void reset(struct iosched_context *c, uint64_t id, struct iosched_group *root)
{
	c->id = id;
	c->group = root;
	c->weight = 100;
	c->prio_class = IOSCHED_BEST_EFFORT;
	c->prio_level = 0;
	c->refs = 0;
	c->limits = (struct iosched_limits){0};
}

void ios_ctab_init(struct ios_ctab *t, struct iosched_context *entries, uint32_t n,
		   struct iosched_hash_link **buckets, size_t n_buckets, struct iosched_group *root)
{
	struct ios_mhash shape;
	uint32_t i;

	ios_mhash_init(&shape, buckets, n_buckets);
	t->entries = entries;
	t->n = n;
	t->buckets = buckets;
	t->shift = shape.shift;
	ios_list_init(&t->idle);
	ios_list_init(&t->unused);
	for (i = 0; i < n; i++) {
		ios_list_init(&entries[i].use);
		entries[i].hash.pprev = NULL;
		entries[i].state = IOS_CONTEXT_UNUSED;
		if (i > 0)
			ios_list_insert_before(&t->unused, &entries[i].use);
	}
	reset(&entries[0], 0, root);
	entries[0].state = IOS_CONTEXT_PINNED;
}

struct iosched_context *ios_ctab_candidate(struct ios_ctab *t)
{
	if (!ios_list_empty(&t->unused))
		return context_entry(t->unused.next);
	if (!ios_list_empty(&t->idle))
		return context_entry(t->idle.next);
	return NULL;
}

void ios_ctab_adopt(struct ios_ctab *t, struct iosched_context *c, uint64_t id,
		    struct iosched_group *root)
{
	ios_list_remove(&c->use);
	reset(c, id, root);
	c->state = IOS_CONTEXT_KNOWN;
	ios_hash_link_insert(&t->buckets[ios_hash_u64(id) >> t->shift], &c->hash);
	ios_list_insert_before(&t->idle, &c->use);
}

void ios_ctab_forget(struct ios_ctab *t, struct iosched_context *c)
{
	if (c->hash.pprev != NULL)
		ios_hash_link_remove(&c->hash);
	c->state = IOS_CONTEXT_UNUSED;
	ios_list_remove(&c->use);
	ios_list_insert_before(&t->unused, &c->use);
}

void ios_ctab_orphan(struct iosched_context *c)
{
	ios_hash_link_remove(&c->hash);
	ios_list_remove(&c->use);
	c->state = IOS_CONTEXT_GONE;
}

void ios_ctab_pin(struct iosched_context *c)
{
	ios_list_remove(&c->use);
	c->state = IOS_CONTEXT_PINNED;
}

const char *ios_ctab_audit(const struct ios_ctab *t)
{
	const struct iosched_list_link *link;
	uint32_t i, idle = 0, unused = 0;

	for (link = t->idle.next; link != &t->idle; link = link->next)
		idle++;
	for (link = t->unused.next; link != &t->unused; link = link->next)
		unused++;
	for (i = 0; i < t->n; i++) {
		const struct iosched_context *c = &t->entries[i];

		if (c->state == IOS_CONTEXT_UNUSED) {
			unused--;
			if (c->refs != 0)
				return "no request points to an unused context";
		}
		if (c->state == IOS_CONTEXT_KNOWN && c->refs == 0)
			idle--;
		if (i > 0 && (c->state == IOS_CONTEXT_KNOWN || c->state == IOS_CONTEXT_PINNED) &&
		    ios_ctab_find(t, c->id) != c)
			return "a known context is found by its id";
	}
	if (idle != 0)
		return "known contexts without requests are on the idle list, and no others";
	if (unused != 0)
		return "unused contexts are on the unused list, and no others";
	return NULL;
}
