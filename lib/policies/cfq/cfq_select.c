/* SPDX-License-Identifier: MIT */
/*
 * cfq: whose turn it is. One queue is active at a time; it keeps the device until its
 * slice is used, or it runs dry and is not worth waiting for.
 *
 * A slice begins with its first completion, so that the way there is free; until then it
 * cannot be used up. After it the next comes from the served workload: class RT before BE
 * before IDLE, and within a class one type for a while (async, seeking, sequential).
 */
#include "policies/cfq/cfq.h"

/* ---- end of a slice ---- */

static void save_workload(struct cfq *c, struct cfq_group *g)
{
	g->saved_ns = c->served_until > c->now ? c->served_until - c->now : 0;
	g->saved_class = c->served_class;
	g->saved_type = c->served_type;
}

static void stop_waiting(struct cfq *c, struct cfq_queue *q)
{
	c->env->timer = IOSCHED_NEVER;
	q->wait = false;
}

/* The active queue's. Only one that is cut short (`timed_out`) has its rest credited or its overrun
 * charged; one that was not started has a whole slice left (trace near). */
void ios_cfq_expire(struct cfq *c, bool timed_out)
{
	struct cfq_queue *q = c->active;

	stop_waiting(c, q);
	q->wait_busy = false;
	if (q->shared && cfq_seeky(q))
		q->split = q->unsettled = true;
	if (timed_out)
		q->residual = (int64_t)(q->slice_new ? ios_cfq_slice(c, q) : q->slice_end - c->now);
	ios_cfq_group_charge(c, q);
	save_workload(c, q->group);
	if (q->queued == 0) {
		ios_cfq_leave(c, q);
	} else {
		ios_cfq_key(c, q);
		ios_cfq_file(c, q);
	}
	c->active = NULL;
	c->slice_context = NULL;
	c->slice_think = NULL;
}

/* ---- start of a slice ---- */

static enum cfq_class busy_class(const struct cfq_group *g)
{
	if (cfq_busy_in(g, CFQ_RT) != 0)
		return CFQ_RT;
	return cfq_busy_in(g, CFQ_BE) != 0 ? CFQ_BE : CFQ_IDLE;
}

/* The type whose first queue has waited for longest. */
static enum cfq_type first_type(const struct cfq_group *g, enum cfq_class class)
{
	enum cfq_type best = CFQ_ASYNC;
	uint64_t best_key = 0;
	bool found = false;
	unsigned t;

	for (t = CFQ_ASYNC; t <= CFQ_SYNC; t++) {
		const struct cfq_queue *q = cfq_queue_entry(g->tree[class][t].first);

		if (q == NULL || (found && (int64_t)(q->key - best_key) >= 0))
			continue;
		found = true;
		best = (enum cfq_type)t;
		best_key = q->key;
	}
	return best;
}

/* Another class always makes the type be chosen anew (traces fuzz5, ioprio). */
static void choose_workload(struct cfq *c, struct cfq_group *g)
{
	static const char *const names[] = {"async queues are served now",
					    "seeking queues are served now",
					    "sequential queues are served now"};

	if (g->saved_ns != 0)
		c->served_type = g->saved_type;
	c->served_class = busy_class(g);
	if (c->served_class == CFQ_IDLE) {
		c->served_until = c->now + TICK_NS;
		return;
	}
	if (g->saved_ns != 0 && c->served_class == g->saved_class &&
	    g->tree[c->served_class][c->served_type].count != 0) {
		c->served_until = c->now + g->saved_ns;
		return;
	}
	c->served_type = first_type(g, c->served_class);
	c->served_until = c->now + ios_cfq_workload_slice(c, g);
	cfq_tell(c, names[c->served_type], NULL, NULL, c->served_until);
}

static struct cfq_queue *next_queue(struct cfq *c)
{
	struct cfq_group *g = ios_cfq_group_first(c);

	choose_workload(c, g);
	return cfq_queue_entry(cfq_tree_for(g, c->served_class, c->served_type)->first);
}

static void start_slice(struct cfq *c, struct cfq_queue *q)
{
	c->env->timer = IOSCHED_NEVER;
	q->activated = c->now;
	q->slice_new = true;
	q->slice_dispatched = 0;
	q->wait = q->owed = q->fifo_looked = false;
	c->active = q;
}

/* ---- the ladder ---- */

/* A queue in deep seeks that does not even fill half of its slice has an array behind it, or a
 * cache: waiting does not pay (trace deep2). */
static void stop_idling_if_fast(const struct cfq *c, struct cfq_queue *q)
{
	if (!cfq_seeky(q) || !q->idle_window)
		return;
	if (!q->slice_new && q->slice_end - c->now <= c->now - q->slice_start)
		return;
	q->deep = false;
	q->idle_window = false;
}

static bool waits_for_inflight(const struct cfq *c, const struct cfq_queue *q)
{
	return q->inflight != 0 && ios_cfq_should_idle(c, q);
}

static bool waits_for_group(const struct cfq *c, const struct cfq_queue *q)
{
	return c->group_idle_ns != 0 && q->group->queues == 1 && q->group->inflight != 0;
}

/* What becomes of the active queue. */
enum verdict { KEEP, WAIT, EXPIRE };

static enum verdict judge_used_slice(const struct cfq *c, const struct cfq_queue *q)
{
	if (q->group->queues == 1 && q->queued == 0 && waits_for_inflight(c, q))
		return WAIT;
	return waits_for_group(c, q) ? WAIT : EXPIRE;
}

static enum verdict judge_dry_queue(const struct cfq *c, struct cfq_queue *q)
{
	if (c->env->timer != IOSCHED_NEVER)
		return WAIT;
	stop_idling_if_fast(c, q);
	return waits_for_inflight(c, q) || waits_for_group(c, q) ? WAIT : EXPIRE;
}

static enum verdict judge(const struct cfq *c, struct cfq_queue *q, struct cfq_queue *cooperator)
{
	if (q->wait_busy && q->queued != 0)
		return EXPIRE;
	if (cfq_slice_used(c, q) && !q->owed)
		return judge_used_slice(c, q);
	if (q->queued != 0)
		return KEEP;
	return cooperator != NULL ? EXPIRE : judge_dry_queue(c, q);
}

/* A cooperator is looked for where the ladder comes to it: slice not over, queue dry. */
static struct cfq_queue *cooperator_of(struct cfq *c, const struct cfq_queue *q)
{
	if (q->queued != 0 || (cfq_slice_used(c, q) && !q->owed))
		return NULL;
	return ios_cfq_close_cooperator(c, q);
}

/* The queue that may dispatch, now active; NULL: none, for the time being. */
struct cfq_queue *ios_cfq_select(struct cfq *c)
{
	struct cfq_queue *q = c->active, *next = NULL;

	if (c->queued == 0)
		return NULL; /* no change of state: not even a used slice ends (trace ssd1) */
	if (q != NULL) {
		next = cooperator_of(c, q);
		switch (judge(c, q, next)) {
		case KEEP:
			return q;
		case WAIT:
			return NULL;
		case EXPIRE:
			break;
		}
		if (next != NULL)
			ios_cfq_mark_merge(c, q, next);
		cfq_tell(c, next != NULL ? "a cooperator nearby takes over" : "slice ended", q,
			 next, IOSCHED_NEVER);
		ios_cfq_expire(c, false);
	}
	if (next == NULL) /* a cooperator goes on within the old workload */
		next = next_queue(c);
	start_slice(c, next);
	cfq_tell(c, "slice begins", next, NULL, IOSCHED_NEVER);
	return next;
}

/* ---- preemption ---- */

static bool is_close(const struct cfq *c, const struct iosched_request *rq)
{
	uint64_t at = rq->span_offset;

	return (at > c->head ? at - c->head : c->head - at) <= CLOSE_BYTES;
}

/* Does the arrival of `rq` in `newer` end the slice of the active queue? First match. */
bool ios_cfq_preempts(const struct cfq *c, const struct cfq_queue *newer,
		      const struct iosched_request *rq)
{
	const struct cfq_queue *q = c->active;

	if (q == NULL || newer->prio_class == CFQ_IDLE)
		return false;
	if (q->prio_class == CFQ_IDLE)
		return true;
	if (q->prio_class == CFQ_RT && newer->prio_class != CFQ_RT)
		return false;
	if (newer->sync && !q->sync && !q->owed)
		return true;
	if (!ios_cfq_group_below(q->group, newer->group))
		return false;
	if (cfq_slice_used(c, q))
		return true;
	if (newer->prio_class == CFQ_RT && q->prio_class != CFQ_RT)
		return true;
	if (c->served_type == CFQ_NOIDLE && cfq_type_of(newer) == CFQ_NOIDLE && q->queued == 0)
		return true; /* the served type, not the active queue's own (trace fastdeep) */
	if ((rq->flags & IOSCHED_RQ_META) != 0 && q->meta_queued == 0)
		return true;
	if (q->queued == 0 && !ios_cfq_should_idle(c, q))
		return true;
	return q->wait && is_close(c, rq); /* async too: nobody asks whether it is sync */
}

/* What was left of the workload is void if the newer queue is of another type: it would
 * not be chosen (trace pin01). */
void ios_cfq_preempt(struct cfq *c, struct cfq_queue *newer)
{
	enum cfq_type type = cfq_type_of(c->active);

	cfq_tell(c, "preempted", c->active, newer, IOSCHED_NEVER);
	ios_cfq_expire(c, true);
	if (type != cfq_type_of(newer))
		newer->group->saved_ns = 0;
	ios_cfq_key_front(c, newer);
	newer->slice_new = true;
	cfq_kick_now(c);
}
