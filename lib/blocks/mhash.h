/* SPDX-License-Identifier: MIT */
/*
 * mhash: queued requests by the offset they end at, to find the one a new
 * request continues. Linked by `internal.hash`; the newest comes first in its bucket.
 *
 * The bucket array is the caller's: a power of two of pointers, zeroed.
 */
#ifndef IOS_BLOCKS_MHASH_H
#define IOS_BLOCKS_MHASH_H

#include <iosched/iosched.h>

struct ios_mhash {
	struct iosched_hash_link **buckets;
	unsigned shift; /* 64 - log2(buckets) */
};

/* Buckets for `expected` requests: twice as many, so that chains stay short. */
size_t ios_mhash_buckets(uint32_t expected);
void ios_mhash_init(struct ios_mhash *h, struct iosched_hash_link **buckets, size_t n);

static inline bool ios_mhash_linked(const struct iosched_request *rq)
{
	return rq->internal.hash.pprev != NULL;
}

static inline void ios_hash_link_remove(struct iosched_hash_link *link)
{
	*link->pprev = link->next;
	if (link->next != NULL)
		link->next->pprev = link->pprev;
	link->pprev = NULL;
}

static inline void ios_hash_link_insert(struct iosched_hash_link **bucket,
					struct iosched_hash_link *link)
{
	link->next = *bucket;
	link->pprev = bucket;
	if (*bucket != NULL)
		(*bucket)->pprev = &link->next;
	*bucket = link;
}

/* Multiplicative hashing (Knuth, TAOCP 3, 6.4) by 2^64 over the golden ratio. */
static inline uint64_t ios_hash_u64(uint64_t key)
{
	return key * UINT64_C(0x9E3779B97F4A7C15);
}

static inline void ios_mhash_remove(struct iosched_request *rq)
{
	if (ios_mhash_linked(rq))
		ios_hash_link_remove(&rq->internal.hash);
}

static inline void ios_mhash_insert(struct ios_mhash *h, struct iosched_request *rq)
{
	uint64_t end = rq->span_offset + rq->span_length;

	ios_hash_link_insert(&h->buckets[ios_hash_u64(end) >> h->shift], &rq->internal.hash);
}

/* The newest request that ends at `end`, or NULL. Unmergeable ones met on the way are dropped
 * for good, so that an older one behind them is found (traces micro-size2, pin01). */
struct iosched_request *ios_mhash_find(struct ios_mhash *h, uint64_t end);

#endif
