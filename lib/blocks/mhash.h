/* SPDX-License-Identifier: MIT */
/*
 * mhash: queued requests by the offset they end at, to find the one a new
 * request continues. Linked by `internal.hash`; the newest comes first in its bucket.
 *
 * `starts` counts the linked requests by a hash of where they start, so that a
 * policy's search for one that starts at a given place is spared when there is none.
 *
 * The arrays are the caller's: a power of two of entries, zeroed.
 */
#ifndef IOS_BLOCKS_MHASH_H
#define IOS_BLOCKS_MHASH_H

#include <iosched/iosched.h>

struct ios_mhash {
	struct iosched_hash_link **buckets;
	uint32_t *starts; /* as many; NULL: nobody asks */
	unsigned shift;	  /* 64 - log2(buckets) */
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

/* For a linked request. */
static inline void ios_mhash_unlink(struct ios_mhash *h, struct iosched_request *rq)
{
	ios_hash_link_remove(&rq->internal.hash);
	if (h->starts != NULL)
		h->starts[ios_hash_u64(rq->span_offset) >> h->shift]--;
}

static inline void ios_mhash_remove(struct ios_mhash *h, struct iosched_request *rq)
{
	if (ios_mhash_linked(rq))
		ios_mhash_unlink(h, rq);
}

/* Where an extent hashes to, by its start and by its end: a search and an insert that follow
 * each other both need both. */
struct ios_mhash_place {
	size_t start, end;
};

static inline struct ios_mhash_place ios_mhash_place(const struct ios_mhash *h, uint64_t start,
						     uint64_t end)
{
	return (struct ios_mhash_place){ios_hash_u64(start) >> h->shift,
					ios_hash_u64(end) >> h->shift};
}

static inline void ios_mhash_insert_at(struct ios_mhash *h, struct iosched_request *rq,
				       struct ios_mhash_place at)
{
	ios_hash_link_insert(&h->buckets[at.end], &rq->internal.hash);
	if (h->starts != NULL)
		h->starts[at.start]++;
}

static inline void ios_mhash_insert(struct ios_mhash *h, struct iosched_request *rq)
{
	ios_mhash_insert_at(h, rq,
			    ios_mhash_place(h, rq->span_offset, rq->span_offset + rq->span_length));
}

/* A linked request starts elsewhere now; it keeps its place among those with its end. */
static inline void ios_mhash_move_start(struct ios_mhash *h, const struct iosched_request *rq,
					uint64_t old_offset)
{
	if (h->starts == NULL || !ios_mhash_linked(rq))
		return;
	h->starts[ios_hash_u64(old_offset) >> h->shift]--;
	h->starts[ios_hash_u64(rq->span_offset) >> h->shift]++;
}

/* True: certainly no linked request starts at `offset`. */
static inline bool ios_mhash_none_starts(const struct ios_mhash *h, uint64_t offset)
{
	return h->starts == NULL || h->starts[ios_hash_u64(offset) >> h->shift] == 0;
}

/* True: certainly no request ends at `end`. */
static inline bool ios_mhash_none(const struct ios_mhash *h, uint64_t end)
{
	return h->buckets[ios_hash_u64(end) >> h->shift] == NULL;
}

/* The newest request that ends at `end`, or NULL. Unmergeable ones met on the way are dropped
 * for good, so that an older one behind them is found (traces micro-size2, pin01). */
struct iosched_request *ios_mhash_find(struct ios_mhash *h, uint64_t end);

#endif
