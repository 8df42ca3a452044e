/* SPDX-License-Identifier: MIT */
/*
 * anticipatory_audit: is all that must be true of the state true? For tests.
 */
#include "policies/anticipatory.h"

static const char *audit_side(const struct anticipatory *a, enum side side)
{
	const struct iosched_request *rq, *before = NULL;
	uint64_t sorted = 0, fifo = 0;

	for (rq = ios_rqtree_first(&a->sorted[side]); rq != NULL; rq = ios_rqtree_next(rq)) {
		if (ios_antic_side(rq) != side || ios_antic_chosen(rq))
			return "a queued request is sorted under its own side";
		if (before != NULL && before->span_offset == rq->span_offset)
			return "no two queued requests of a side start at one place";
		before = rq;
		if (a->next[side] != NULL && rq->span_offset < a->next[side]->span_offset &&
		    rq->span_offset >= a->clear[side])
			return "nothing starts between `clear` and what is next";
		sorted++;
	}
	for (rq = ios_fifo_first(&a->fifo[side]); rq != NULL;
	     rq = ios_fifo_next(&a->fifo[side], rq))
		fifo++;
	if (sorted != fifo)
		return "a queued request is in the tree and in the fifo";
	rq = a->next[side];
	if (rq != NULL &&
	    (!ios_rqtree_linked(rq) || ios_antic_side(rq) != side || ios_antic_chosen(rq)))
		return "what is next is queued";
	return ios_rqtree_audit(&a->sorted[side]);
}

static void add_counts(const struct anticipatory *a, uint64_t by)
{
	const struct ios_fifo *list[] = {&a->fifo[SYNC], &a->fifo[ASYNC], &a->chosen.list};
	const struct iosched_request *rq;
	unsigned i;

	for (i = 0; i < 3; i++)
		for (rq = ios_fifo_first(list[i]); rq != NULL; rq = ios_fifo_next(list[i], rq))
			if (ios_antic_chosen(rq))
				ios_antic_habits(rq)->chosen += by;
			else
				ios_antic_habits(rq)->queued += by;
}

static bool counts_are_zero(const struct ios_fifo *list)
{
	const struct iosched_request *rq;

	for (rq = ios_fifo_first(list); rq != NULL; rq = ios_fifo_next(list, rq))
		if (ios_antic_habits(rq)->queued != 0 || ios_antic_habits(rq)->chosen != 0)
			return false;
	return true;
}

/* Take every context's counts down by what is there, look, and put them back. */
static const char *audit_counts(const struct anticipatory *a)
{
	bool right;

	add_counts(a, (uint64_t)-1);
	right = counts_are_zero(&a->fifo[SYNC]) && counts_are_zero(&a->fifo[ASYNC]) &&
		counts_are_zero(&a->chosen.list);
	add_counts(a, 1);
	return right ? NULL : "a context counts its requests";
}

static const char *audit_wait(const struct anticipatory *a)
{
	const struct ios_fifo *list = &a->chosen.list;
	const struct iosched_request *rq;
	uint64_t chosen = 0;

	for (rq = ios_fifo_first(list); rq != NULL; rq = ios_fifo_next(list, rq))
		chosen++;
	if (ios_antic_waiting(a) && a->awaited == NULL)
		return "a wait is for a context";
	if (ios_antic_waiting(a) && chosen != 0)
		return "nothing is chosen while waiting";
	if ((a->antic == ANTIC_AWAIT_REQUEST) != (a->env->timer != IOSCHED_NEVER))
		return "the timer runs while a request is awaited, and only then";
	if (a->antic == ANTIC_AWAIT_COMPLETION && a->unfinished == 0)
		return "an awaited completion is to come";
	if (a->unfinished < chosen)
		return "a chosen request is unfinished";
	return NULL;
}

const char *ios_antic_audit(void *self)
{
	const struct anticipatory *a = self;
	const char *wrong = audit_side(a, SYNC);

	if (wrong == NULL)
		wrong = audit_side(a, ASYNC);
	if (wrong == NULL)
		wrong = audit_counts(a);
	return wrong != NULL ? wrong : audit_wait(a);
}
