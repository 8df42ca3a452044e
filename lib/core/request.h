/* SPDX-License-Identifier: MIT */
/*
 * request: states of a request and the edges between them.
 *
 *   FREE    -insert-> QUEUED | BYPASS      QUEUED -merge-> MERGED -parent ends-> FREE
 *   QUEUED, BYPASS -dispatch-> ISSUED      ISSUED -complete-> FREE
 *   QUEUED, BYPASS -cancel, drain-> FREE   ISSUED -requeue-> BYPASS
 *
 * BYPASS is queued in the core, past the policy. FREE is zero, so that a
 * zeroed request is free.
 */
#ifndef IOS_CORE_REQUEST_H
#define IOS_CORE_REQUEST_H

#include <iosched/iosched.h>

enum ios_rq_state {
	IOS_RQ_FREE,
	IOS_RQ_QUEUED,
	IOS_RQ_BYPASS,
	IOS_RQ_MERGED,
	IOS_RQ_ISSUED,
};

/* What a host may set in iosched_request::flags. */
#define IOS_RQ_HOST_FLAGS                                                                    \
	((uint32_t)(IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_NOIDLE | IOSCHED_RQ_FUA | \
		    IOSCHED_RQ_HEAD | IOSCHED_RQ_NOMERGE))

/* Never part of a merge. */
#define IOS_RQ_ALONE_FLAGS \
	((uint32_t)(IOSCHED_RQ_FUA | IOSCHED_RQ_HEAD | IOSCHED_RQ_NOMERGE | IOSCHED_RQ_INTERNAL))

/* Three cache lines: what an embedder's I/O struct pays. */
_Static_assert(sizeof(struct iosched_request) <= 192, "a request is at most 192 bytes");

static inline uint64_t ios_span_end(const struct iosched_request *rq)
{
	return rq->span_offset + rq->span_length;
}

#endif
