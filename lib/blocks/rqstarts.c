/* SPDX-License-Identifier: MIT */
/*
 * rqstarts: see rqstarts.h.
 */
#include "blocks/rqstarts.h"

static struct iosched_request *entry(struct iosched_tree_link *n)
{
	return IOS_CONTAINER(n, struct iosched_request, internal.sort);
}

void ios_rqstarts_init(struct ios_rqstarts *h, void *buckets, uint32_t n)
{
	h->buckets = buckets;
	h->shift = 64;
	for (; n > 1; n /= 2)
		h->shift--;
}

struct iosched_request *ios_rqstarts_find(const struct ios_rqstarts *h, uint64_t offset)
{
	struct iosched_tree_link *n = *ios_rqstarts_bucket(h, offset);
	struct iosched_request *oldest = NULL;

	for (; n != NULL; n = n->left)
		if (entry(n)->span_offset == offset)
			oldest = entry(n);
	return oldest;
}

const char *ios_rqstarts_audit(const struct ios_rqstarts *h, uint32_t *count)
{
	uint64_t bucket, n_buckets = UINT64_C(1) << (64 - h->shift);

	for (bucket = 0; bucket < n_buckets; bucket++) {
		struct iosched_tree_link **at = &h->buckets[bucket];

		for (; *at != NULL; at = &(*at)->left) {
			if ((*at)->parent_color != (uintptr_t)at)
				return "a hashed request knows what points at it";
			if (ios_rqstarts_bucket(h, entry(*at)->span_offset) != &h->buckets[bucket])
				return "a request is hashed by where it starts";
			++*count;
		}
	}
	return NULL;
}
