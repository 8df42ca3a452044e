/* SPDX-License-Identifier: MIT */
/*
 * ctab: the contexts a queue remembers, by the host's number.
 *
 * State: a fixed pool of entries; a hash of the known ones; `idle`, those
 * that no request points to, longest idle first; `unused`. Entry 0 is always there and
 * is never hashed: it is who nobody in particular is.
 *
 * Rule: an entry is unused, known, or gone (its owner exited while requests
 * still pointed to it; it becomes unused with the last of them).
 */
#ifndef IOS_BLOCKS_CTAB_H
#define IOS_BLOCKS_CTAB_H

#include <iosched/policy.h>
#include "blocks/list.h"
#include "blocks/mhash.h"

enum ios_context_state {
	IOS_CONTEXT_UNUSED,
	IOS_CONTEXT_KNOWN,
	IOS_CONTEXT_PINNED, /* known, and set by the host: never forgotten */
	IOS_CONTEXT_GONE,
};

struct ios_ctab {
	struct iosched_context *entries; /* [0] is context 0 */
	uint32_t n;			 /* entries, context 0 included */
	struct iosched_hash_link **buckets;
	unsigned shift;
	struct iosched_list_link idle;
	struct iosched_list_link unused;
};

void ios_ctab_init(struct ios_ctab *t, struct iosched_context *entries, uint32_t n,
		   struct iosched_hash_link **buckets, size_t n_buckets,
		   struct iosched_group *root);

/* The known context with this id, or NULL. */
static inline struct iosched_context *ios_ctab_find(const struct ios_ctab *t, uint64_t id)
{
	struct iosched_hash_link *link;

	if (id == 0)
		return &t->entries[0];
	for (link = t->buckets[ios_hash_u64(id) >> t->shift]; link != NULL; link = link->next) {
		struct iosched_context *c = IOS_CONTAINER(link, struct iosched_context, hash);

		if (c->id == id)
			return c;
	}
	return NULL;
}

/* An entry to become `id`: unused, or the one idle for longest, which the caller
 * has to end first (its state is then still KNOWN). NULL: all are busy or pinned. */
struct iosched_context *ios_ctab_candidate(struct ios_ctab *t);

/* Make a candidate the known context `id`, idle, without data. */
void ios_ctab_adopt(struct ios_ctab *t, struct iosched_context *c, uint64_t id,
		    struct iosched_group *root);

/* Forget a known, idle context, or a gone one: it is unused afterwards. */
void ios_ctab_forget(struct ios_ctab *t, struct iosched_context *c);

/* The owner is gone: nobody finds it any more. It is unused or gone afterwards. */
void ios_ctab_orphan(struct iosched_context *c);

/* The host has set it: out of the list of those that may be forgotten. */
void ios_ctab_pin(struct iosched_context *c);

static inline void ios_ctab_ref(struct iosched_context *c)
{
	if (c->refs++ == 0)
		ios_list_remove(&c->use);
}

/* True when that was the last pointer to a context that is gone: the caller ends it. */
static inline bool ios_ctab_unref(struct ios_ctab *t, struct iosched_context *c)
{
	if (--c->refs != 0)
		return false;
	if (c->state == IOS_CONTEXT_KNOWN)
		ios_list_insert_before(&t->idle, &c->use);
	return c->state == IOS_CONTEXT_GONE;
}

/* NULL, or what is wrong. */
const char *ios_ctab_audit(const struct ios_ctab *t);

#endif
