/* SPDX-License-Identifier: MIT */
/*
 * audit: is all that must be true of a queue true? O(everything), for tests.
 */
#include "core/sched.h"

static const char *audit_bypass(const struct iosched *s, uint64_t *n)
{
	const struct iosched_request *rq;

	for (rq = ios_fifo_first(&s->bypass); rq != NULL; rq = ios_fifo_next(&s->bypass, rq)) {
		if (rq->internal.state != IOS_RQ_BYPASS)
			return "a request on the bypass knows it";
		++*n;
	}
	return NULL;
}

const char *ios_audit(struct iosched *s)
{
	uint64_t bypassed = 0;
	const char *wrong = audit_bypass(s, &bypassed);

	if (wrong != NULL)
		return wrong;
	if (s->queued < bypassed)
		return "requests on the bypass are counted as queued";
	if (s->last_merge != NULL && s->last_merge->internal.state != IOS_RQ_QUEUED)
		return "the last merged request is queued";
	wrong = ios_ctab_audit(&s->contexts);
	if (wrong == NULL && s->ops->audit != NULL)
		wrong = s->ops->audit(s->self);
	return wrong;
}
