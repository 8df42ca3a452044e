/* SPDX-License-Identifier: MIT */
/*
 * cfq26_idle: what each request teaches about its process and queue, and waiting
 * for the next one of a queue that ran dry.
 *
 * A queue is worth waiting for (`idle_window`) if its process asks again sooner than the wait
 * would end. Think time belongs to the process, seek distance to the queue (trace coop3).
 */
#include "policies/cfq_2_6/cfq26.h"

/* A seek counts as at most 4 means and this much, until the mean has settled and after.
 * 1 GiB and 64 MiB in sectors. */
#define SEEK_SLACK_EARLY (UINT64_C(2) * 1024 * 1024)
#define SEEK_SLACK (UINT64_C(128) * 1024)
#define SEEK_EARLY_SAMPLES 60u
/* Samples to tell whether the device queues, and the peak that says it does. */
#define HW_SAMPLES 50u
#define HW_PEAK 5u

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Async requests count too, and ones that come with others still under way (trace fuzz2). */
static void learn_think_time(const struct cfq26 *c, struct cfq26_context *ctx)
{
	ios_ewma_add(&ctx->think, lower(c->tick - ctx->last_end, 2 * c->slice_idle));
}

/* From the end of the queue's last own request: what was merged into it does not count
 * (trace fz-2214). */
static void learn_seek(struct cfq26_queue *q, uint64_t start, uint64_t end)
{
	uint64_t distance = start > q->last_end ? start - q->last_end : q->last_end - start;
	uint64_t slack = q->seek.samples <= SEEK_EARLY_SAMPLES ? SEEK_SLACK_EARLY : SEEK_SLACK;

	if (q->last_end == 0)
		distance = 0;
	ios_ewma_add_seek(&q->seek, lower(distance, 4 * q->seek.mean + slack));
	q->last_end = end;
}

/* How long the shared queue has been seeky without a break (trace split). */
static void watch_seeky(const struct cfq26 *c, struct cfq26_queue *q)
{
	bool seeky = ios_cfq26_seeky(q);

	if (!q->shared)
		return;
	if (seeky && !q->seeky_clock)
		q->seeky_since = c->tick;
	q->seeky_clock = seeky;
}

/* Here, and not for "low_latency off", few samples do not count (trace fz-2296). */
static bool surely_seeky(const struct cfq26_queue *q)
{
	return ios_ewma_valid(&q->seek) && ios_cfq26_seeky(q);
}

/* The old verdict stands while too little is known of the process (traces procs, fz-2110). */
static bool worth_waiting(const struct cfq26 *c, const struct cfq26_queue *q,
			  const struct cfq26_context *ctx)
{
	uint64_t limit = surely_seeky(q) ? CFQ26_SEEKY_IDLE_TICKS : c->slice_idle;

	if (ctx->exited || c->slice_idle == 0)
		return false;
	if (!c->low_latency && c->hw_tag && ios_cfq26_seeky(q))
		return false;
	if (!ios_ewma_valid(&ctx->think))
		return q->idle_window;
	return ctx->think.mean <= limit;
}

/* A new request `rq` of `q` has been queued. */
void ios_cfq26_learn(struct cfq26 *c, struct cfq26_queue *q, const struct iosched_request *rq)
{
	struct cfq26_context *ctx = ios_cfq26_context_of(rq);
	uint64_t end = rq->span_offset + rq->span_length;

	learn_think_time(c, ctx);
	learn_seek(q, rq->span_offset / CFQ26_SECTOR, (end - 1) / CFQ26_SECTOR + 1);
	watch_seeky(c, q);
	if (q->sync && !ios_cfq26_is_idle_class(q))
		q->idle_window = worth_waiting(c, q, ctx);
}

/* A busy sample: does the device queue? The 51st decides (trace fz-2373). */
void ios_cfq26_judge_depth(struct cfq26 *c)
{
	if (c->hw_samples++ < HW_SAMPLES)
		return;
	c->hw_tag = c->hw_peak >= HW_PEAK;
	c->hw_samples = 0;
	c->hw_peak = 0;
}

/* What is left of the slice is less than its process usually thinks. */
static bool slice_too_short(const struct cfq26 *c, const struct cfq26_queue *q)
{
	const struct ios_ewma *think = &c->slice_context->think;

	return ios_ewma_valid(think) && q->slice_end - c->tick < think->mean;
}

/* `q`, which has the slice and ran dry, is to be waited for, if that pays: no other request in
 * the device, and whoever asked first in this slice still there (trace procs). */
void ios_cfq26_arm(struct cfq26 *c, struct cfq26_queue *q)
{
	uint64_t ticks = c->slice_idle;

	if (!c->env->params->rotational && c->hw_tag)
		return;
	if (ticks == 0 || !q->idle_window ||
	    c->in_driver[CFQ26_ASYNC] + c->in_driver[CFQ26_SYNC] != 0)
		return;
	if (c->slice_context == NULL || c->slice_context->exited || slice_too_short(c, q))
		return;
	if (surely_seeky(q))
		ticks = lower(ticks, CFQ26_SEEKY_IDLE_TICKS);
	q->wait = true;
	c->env->timer = (c->tick + ticks) * CFQ26_TICK_NS;
	if (c->env->tell != NULL)
		iosched_tell(c->env, c->now, "idling: the next request of this queue is awaited",
			     q->owner, 0, c->env->timer);
}

/* The wait is over. What is owed comes before "slice used up" (trace fz-2385). */
void ios_cfq26_timer(void *self, iosched_time now)
{
	struct cfq26 *c = self;
	struct cfq26_queue *q = c->active;

	c->now = now;
	c->tick = now / CFQ26_TICK_NS;
	if (q != NULL && !q->owed) {
		if (ios_cfq26_slice_used(c, q)) {
			ios_cfq26_expire(c, false);
		} else if (c->busy == 0) {
			return; /* nobody wants the device: go on waiting, unarmed (fz-2214) */
		} else if (ios_rqtree_empty(&q->sorted)) {
			ios_cfq26_tell(c, "idled in vain: the turn ends, its rest is lost", q,
				       NULL);
			ios_cfq26_expire(c, false);
		}
	}
	ios_cfq26_kick_deferred(c);
}
