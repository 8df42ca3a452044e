/* SPDX-License-Identifier: MIT */
/* request: from a record of a trace to a request that can be inserted. */
#include "trace/reader.h"

#define REQUEST_FLAGS                                                                       \
	((uint32_t)IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_NOIDLE | IOSCHED_RQ_FUA | \
	 IOSCHED_RQ_HEAD | IOSCHED_RQ_NOMERGE)

/* Kernels wrote an empty write with a preflush where they now write a flush. */
static bool is_flush(const struct iosched_trace_record *rec)
{
	return rec->op == IOSCHED_FLUSH || (rec->op == IOSCHED_WRITE && rec->length == 0 &&
					    (rec->flags & IOSCHED_TRACE_PREFLUSH) != 0);
}

bool iosched_trace_replayable(const struct iosched_trace_record *rec)
{
	if (rec->op > IOSCHED_DISCARD || (rec->flags & IOSCHED_TRACE_PASSTHROUGH) != 0)
		return false;
	return is_flush(rec) || rec->length > 0;
}

int iosched_trace_to_request(const struct iosched_trace_record *rec, struct iosched_request *rq)
{
	if (!iosched_trace_replayable(rec))
		return -EINVAL;
	memset(rq, 0, sizeof(*rq));
	rq->op = rec->op;
	rq->offset = rec->offset;
	rq->length = rec->length;
	if (is_flush(rec)) {
		rq->op = IOSCHED_FLUSH;
		rq->offset = rq->length = 0;
	}
	rq->context = rec->context;
	rq->flags = rec->flags & REQUEST_FLAGS;
	rq->prio_class = rec->prio_class;
	rq->prio_level = rec->prio_level;
	return 0;
}
