/* SPDX-License-Identifier: MIT */
/*
 * mhash: see mhash.h.
 */
#include "blocks/mhash.h"
#include "blocks/list.h"

size_t ios_mhash_buckets(uint32_t expected)
{
	size_t n = 16;

	while (n < 2 * (size_t)expected)
		n *= 2;
	return n;
}

void ios_mhash_init(struct ios_mhash *h, struct iosched_hash_link **buckets, size_t n)
{
	h->buckets = buckets;
	h->starts = NULL;
	h->shift = 64;
	for (; n > 1; n /= 2)
		h->shift--;
}

struct iosched_request *ios_mhash_find(struct ios_mhash *h, uint64_t end)
{
	struct iosched_hash_link *link = h->buckets[ios_hash_u64(end) >> h->shift];
	struct iosched_hash_link *next;

	for (; link != NULL; link = next) {
		struct iosched_request *rq =
			IOS_CONTAINER(link, struct iosched_request, internal.hash);

		next = link->next;
		if (rq->internal.unmergeable)
			ios_mhash_unlink(h, rq);
		else if (rq->span_offset + rq->span_length == end)
			return rq;
	}
	return NULL;
}
