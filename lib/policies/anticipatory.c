/* SPDX-License-Identifier: MIT */
/*
 * anticipatory: after a read, keep the head still for a few milliseconds if its reader is
 * likely to ask for something near. Linux 2.6.32; the idea: Iyer and Druschel, SOSP 2001.
 *
 * Two sides, sync and async (not read and write). State per side: `sorted` (by offset), `fifo` (by
 * arrival), `next` (the nearest to where the side's last request ended). Batches alternate
 * between the sides; between them the device drains. `awaited` is the context of the last
 * request chosen, none if that was async. Per context: how long it thinks before it asks
 * again, how far it seeks, whether it has exited. A request is in the tree and the fifo of its
 * side, or on `chosen`, or with the device.
 *
 * dispatch() asks, in order: anything chosen already? waiting or draining? batch over?
 * oldest sync request expired? worth waiting? oldest of the batch's side expired?
 * otherwise `next`.
 *
 * What surprises: a request inserted at an occupied start sends the older one to `chosen` at once
 * ("alias", trace micro-asalias); the first batch is async, with no quota (trace micro-asquota);
 * a fifo is looked at once per expiry interval, whatever it shows (trace micro-chkempty).
 *
 * Times are counted in ticks of 1 ms, as the kernel does. Seek means are in sectors.
 */
#include "policies/anticipatory.h"
#include "blocks/audit.h"
#include "blocks/seekpick.h"

/* Linux 2.6.32 with ticks of 1 ms. The first batch's end and the first quota come from the
 * defaults, whatever the tunables are set to afterwards (traces y314, x20015). */
#define DEFAULT_READ_EXPIRE 125u
#define DEFAULT_WRITE_EXPIRE 250u
#define DEFAULT_READ_BATCH_EXPIRE 500u
#define DEFAULT_WRITE_BATCH_EXPIRE 125u
#define DEFAULT_ANTIC_EXPIRE 6u /* 1/150 s */
#define FIRST_QUOTA (DEFAULT_WRITE_BATCH_EXPIRE / 10)

#define BACK_MAX (1024 * 1024 * SECTOR) /* a seek further back is a wrap */
#define BACK_PENALTY 2u			/* a seek back costs twice its distance */

static void anticipatory_tunable_changed(void *self, const struct iosched_tunable *t)
{
	struct anticipatory *a = self;

	(void)t;
	a->fifo_expire[SYNC] = ios_antic_ticks(a->read_expire_ns);
	a->fifo_expire[ASYNC] = ios_antic_ticks(a->write_expire_ns);
	a->batch_expire[SYNC] = ios_antic_ticks(a->read_batch_expire_ns);
	a->batch_expire[ASYNC] = ios_antic_ticks(a->write_batch_expire_ns);
	a->antic_expire = ios_antic_ticks(a->antic_expire_ns);
}

static int anticipatory_init(void *self, struct iosched_policy_env *env, void *pool,
			     iosched_time now)
{
	struct anticipatory *a = self;
	unsigned side;

	(void)pool;
	a->env = env;
	for (side = SYNC; side <= ASYNC; side++) {
		ios_fifo_init(&a->fifo[side]);
		/* Far in the past: no expiry is that long (trace micro-chkinit2). */
		a->last_look[side] = ios_antic_ticks(now) - (UINT64_C(1) << 40);
	}
	ios_dlist_init(&a->chosen);
	anticipatory_tunable_changed(a, NULL);
	a->batch = ASYNC;
	a->batch_expires = ios_antic_ticks(now) + DEFAULT_READ_BATCH_EXPIRE;
	a->quota = FIRST_QUOTA;
	return 0;
}

static void arm_timer(struct anticipatory *a)
{
	a->env->timer = (a->awaited_since + a->antic_expire) * NSEC_PER_MSEC;
}

static void start_waiting(struct anticipatory *a, iosched_time now)
{
	if (a->awaited_done) {
		a->antic = ANTIC_AWAIT_REQUEST;
		arm_timer(a);
	} else {
		a->antic = ANTIC_AWAIT_COMPLETION;
	}
	iosched_tell(a->env, now, "wait for its next request", a->awaited->id, 0, a->env->timer);
}

static void stop_waiting(struct anticipatory *a, const char *why, uint64_t winner, iosched_time now)
{
	if (!ios_antic_waiting(a))
		return;
	a->antic = ANTIC_OVER;
	a->env->timer = IOSCHED_NEVER;
	a->env->kick |= IOSCHED_KICK_DEFERRED;
	iosched_tell(a->env, now, why, a->awaited->id, winner, IOSCHED_NEVER);
}

/* ---- choosing ---- */

static struct iosched_request *nearest(const struct anticipatory *a, enum side side,
				       struct iosched_request *x, struct iosched_request *y)
{
	struct ios_seekpick from = {a->last_end[side], BACK_MAX, BACK_PENALTY};

	return ios_seekpick(&from, x, y);
}

/* Queued `rq` may start where nothing was known to. */
static inline void note_start(struct anticipatory *a, enum side side,
			      const struct iosched_request *rq)
{
	const struct iosched_request *next = a->next[side];

	if (next != NULL && rq->span_offset < next->span_offset &&
	    rq->span_offset >= a->clear[side])
		a->clear[side] = rq->span_offset + 1;
}

/* `behind` follows what was next, which has left. Certainly none before it is as near, and so no
 * search for them is needed: in a sweep they were served long ago. */
static inline bool surely_nearest(const struct anticipatory *a, enum side side,
				  const struct iosched_request *behind)
{
	uint64_t head = a->last_end[side];

	return behind->span_offset >= head && a->clear[side] <= head &&
	       (behind->span_offset - head) / BACK_PENALTY <= head - a->clear[side];
}

/* What is next after one that has left the tree: `behind` it or, at the end, the first; or the one
 * before it. */
static __attribute__((noinline)) void find_next(struct anticipatory *a, enum side side,
						struct iosched_request *behind)
{
	struct ios_rqtree *sorted = &a->sorted[side];
	struct iosched_request *before =
		behind != NULL ? ios_rqtree_prev(behind) : ios_rqtree_last(sorted);
	struct iosched_request *after = behind != NULL ? behind : ios_rqtree_first(sorted);

	a->next[side] = nearest(a, side, after, before);
	if (before == NULL)
		a->clear[side] = 0;
	else if (a->next[side] == behind)
		a->clear[side] = before->span_offset + 1;
	else
		a->clear[side] = a->next[side]->span_offset;
}

/* Out of the tree, with a new `next` if that was it or if `anew`. */
static inline void unsort(struct anticipatory *a, enum side side, struct iosched_request *rq,
			  bool anew)
{
	struct iosched_request *behind;
	bool was_next = a->next[side] == rq;

	if (!was_next && !anew) {
		ios_rqtree_remove(&a->sorted[side], rq);
		return;
	}
	behind = ios_rqtree_remove_next(&a->sorted[side], rq);
	if (was_next && behind != NULL && surely_nearest(a, side, behind))
		a->next[side] = behind;
	else
		find_next(a, side, behind);
}

/* A request leaves the queues for the device. */
static inline void choose(struct anticipatory *a, struct iosched_request *rq)
{
	enum side side = ios_antic_side(rq);

	a->antic = ANTIC_OFF;
	a->last_end[side] = ios_antic_end(rq);
	a->awaited = side == SYNC ? ios_antic_habits(rq) : NULL;
	a->awaited_done = false;
	if (side == ASYNC && a->quota_left > 0)
		a->quota_left--;
	a->unfinished++;
	ios_fifo_remove(rq);
	ios_antic_habits(rq)->queued--;
	unsort(a, side, rq, true);
}

/* A start is taken by one request of a side at a time: the older one is chosen now, and not yet
 * handed out. That ends a wait, and happens even while the device drains. */
static void choose_alias(struct anticipatory *a, struct iosched_request *rq, iosched_time now)
{
	stop_waiting(a, "another request for the same place sends the older one", rq->context, now);
	choose(a, rq);
	ios_antic_habits(rq)->chosen++;
	rq->internal.mark = 1;
	ios_dlist_insert(&a->chosen, rq);
	iosched_withdraw(rq);
}

static struct iosched_request *take_alias(struct anticipatory *a)
{
	struct iosched_request *rq = ios_dlist_take(&a->chosen);

	ios_antic_habits(rq)->chosen--;
	rq->internal.mark = 0;
	return rq;
}

/* The oldest of the side if it has expired. Each look counts, also at an empty fifo, and bars the
 * next one for an expiry interval: else all service would be in order of arrival. */
static struct iosched_request *expired_head(struct anticipatory *a, enum side side, uint64_t t)
{
	struct iosched_request *oldest;

	if (t - a->last_look[side] < a->fifo_expire[side])
		return NULL;
	a->last_look[side] = t;
	oldest = ios_fifo_first(&a->fifo[side]);
	return oldest != NULL && t > oldest->internal.expiry ? oldest : NULL;
}

static bool batch_over(const struct anticipatory *a, uint64_t t)
{
	if (!ios_antic_queued(a, SYNC) || !ios_antic_queued(a, ASYNC) || a->changing || a->untimed)
		return false;
	return t > a->batch_expires || (a->batch == ASYNC && a->quota_left == 0);
}

static bool can_anticipate(const struct anticipatory *a)
{
	return a->batch == SYNC && a->antic_expire > 0;
}

/* Even if the sync side has nothing queued, and only writes would be served (trace asclose). */
static bool worth_waiting(struct anticipatory *a, uint64_t t)
{
	return a->awaited != NULL && a->antic != ANTIC_OVER &&
	       ios_antic_why_not_wait(a, a->next[SYNC], t) == NULL;
}

static struct iosched_request *continue_batch(struct anticipatory *a, uint64_t t)
{
	struct iosched_request *rq = a->next[a->batch];

	if (rq != NULL && ios_antic_queued(a, SYNC) && !ios_antic_queued(a, ASYNC))
		a->batch_expires = t + a->batch_expire[SYNC];
	return rq;
}

/* Sides alternate when both have work; a new batch begins with its oldest request. */
static struct iosched_request *start_batch(struct anticipatory *a, iosched_time now)
{
	bool keep = a->batch == SYNC && ios_antic_queued(a, ASYNC);
	enum side side = ios_antic_queued(a, SYNC) && !keep ? SYNC : ASYNC;

	if (side != a->batch) {
		a->changing = true;
		iosched_tell(a->env, now, side == SYNC ? "a batch of reads" : "a batch of writes",
			     0, 0, IOSCHED_NEVER);
	}
	a->batch = side;
	if (side == ASYNC) {
		a->untimed = false;
		a->quota_left = a->quota;
		a->ran_dry = false;
	}
	a->last_look[side] = ios_antic_ticks(now);
	return ios_fifo_first(&a->fifo[side]);
}

/* `rq`, unless the batch is new and the device still busy with the one before. */
static struct iosched_request *after_drain(struct anticipatory *a, struct iosched_request *rq,
					   uint64_t t)
{
	if (!a->changing)
		return rq;
	if (a->unfinished > 0)
		return NULL;
	a->changing = false;
	if (a->batch == SYNC)
		a->untimed = true;
	else
		a->batch_expires = t + a->batch_expire[ASYNC];
	return rq;
}

static void note_dry_writes(struct anticipatory *a)
{
	if (a->batch == ASYNC && !ios_antic_queued(a, SYNC) &&
	    (a->quota_left == 0 || !ios_antic_queued(a, ASYNC)))
		a->ran_dry = true;
}

static struct iosched_request *pick(struct anticipatory *a, iosched_time now)
{
	uint64_t t = ios_antic_ticks(now);
	struct iosched_request *rq = NULL, *oldest;

	note_dry_writes(a);
	if (!ios_antic_queued(a, SYNC) && !ios_antic_queued(a, ASYNC))
		return NULL;
	if (ios_antic_waiting(a) || (a->changing && a->unfinished > 0))
		return NULL;
	if (!batch_over(a, t)) {
		if (can_anticipate(a)) {
			oldest = expired_head(a, SYNC, t);
			if (oldest != NULL)
				return after_drain(a, oldest, t);
			if (worth_waiting(a, t)) {
				start_waiting(a, now);
				return NULL;
			}
		}
		rq = continue_batch(a, t);
	}
	if (rq == NULL)
		rq = start_batch(a, now);
	oldest = expired_head(a, a->batch, t);
	return after_drain(a, oldest != NULL ? oldest : rq, t);
}

static enum iosched_hold why_nothing(const struct anticipatory *a)
{
	if (!ios_antic_queued(a, SYNC) && !ios_antic_queued(a, ASYNC))
		return IOSCHED_HOLD_EMPTY;
	return a->antic == ANTIC_AWAIT_REQUEST ? IOSCHED_HOLD_IDLING : IOSCHED_HOLD_INFLIGHT;
}

static struct iosched_request *anticipatory_dispatch(void *self, iosched_time now,
						     struct iosched_pause *pause)
{
	struct anticipatory *a = self;
	struct iosched_request *rq;

	if (!ios_dlist_empty(&a->chosen))
		return take_alias(a);
	rq = pick(a, now);
	if (rq == NULL) {
		pause->reason = why_nothing(a);
		return NULL;
	}
	choose(a, rq);
	a->chosen.boundary = ios_antic_end(rq);
	return rq;
}

/* ---- requests come, grow and go ---- */

static void insert_sorted(struct anticipatory *a, enum side side, struct iosched_request *rq,
			  iosched_time now)
{
	struct iosched_request *alias = ios_rqtree_insert_unique(&a->sorted[side], rq);

	if (alias == NULL)
		return;
	choose_alias(a, alias, now);
	ios_rqtree_insert(&a->sorted[side], rq);
}

static void choose_next(struct anticipatory *a, enum side side, struct iosched_request *rq)
{
	struct iosched_request *next = nearest(a, side, rq, a->next[side]);

	if (next == rq)
		a->clear[side] = rq->span_offset;
	a->next[side] = next;
	note_start(a, side, rq);
}

static void anticipatory_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct anticipatory *a = self;
	struct habits *h = ios_antic_habits(rq);
	enum side side = ios_antic_side(rq);
	uint64_t t = ios_antic_ticks(rq->inserted);
	const char *why;

	/* One that moves in from elsewhere says nothing of when its context asks. */
	if (side == SYNC && rq->inserted == now)
		ios_antic_book(a, h, rq, t);
	h->queued++;
	rq->internal.expiry = t + a->fifo_expire[side];
	ios_fifo_insert(&a->fifo[side], rq);
	insert_sorted(a, side, rq, now);
	choose_next(a, side, rq);
	if (ios_antic_waiting(a) &&
	    (why = ios_antic_why_not_wait(a, rq, ios_antic_ticks(now))) != NULL)
		stop_waiting(a, why, rq->context, now);
}

/* How long the write batch took decides how many requests the next one gets. The time is
 * measured from where `batch_expires` stands, which a drain may have moved: then it is 0. */
static void retune_quota(struct anticipatory *a, iosched_time now)
{
	uint64_t target = a->batch_expire[ASYNC], old = a->quota;
	uint64_t end = ios_antic_ticks(now) + target;
	uint64_t took = end > a->batch_expires ? end - a->batch_expires : 0;

	if (took > target && !a->ran_dry)
		a->quota = took > 3 * target ? a->quota / 2 : a->quota - 1;
	else if (took < target && a->quota_left == 0)
		a->quota = 3 * took < target ? a->quota * 2 : a->quota + 1;
	if (a->quota < 1)
		a->quota = 1;
	if (a->quota != old)
		iosched_tell(a->env, now,
			     a->quota > old ? "larger batches of writes"
					    : "smaller batches of writes",
			     0, 0, IOSCHED_NEVER);
}

static void end_drain(struct anticipatory *a, iosched_time now)
{
	a->changing = false;
	a->batch_expires = ios_antic_ticks(now) + a->batch_expire[a->batch];
	a->untimed = a->untimed || a->batch == SYNC;
	a->env->kick |= IOSCHED_KICK_DEFERRED;
}

/* The clock of a sync batch starts here, at its first completion. */
static void start_clock(struct anticipatory *a, iosched_time now)
{
	retune_quota(a, now);
	a->batch_expires = ios_antic_ticks(now) + a->batch_expire[SYNC];
	a->untimed = false;
}

/* Any request of it, a write too (trace micro-finwrite). A later one moves the start of the wait,
 * not the timer. */
static void awaited_completed(struct anticipatory *a, uint64_t t)
{
	a->awaited_done = true;
	a->awaited_since = t;
	if (a->antic == ANTIC_AWAIT_COMPLETION) {
		a->antic = ANTIC_AWAIT_REQUEST;
		arm_timer(a);
	}
}

static void was_answered(struct iosched_request *rq, uint64_t t)
{
	if (ios_antic_side(rq) == SYNC) {
		ios_antic_habits(rq)->answered = true;
		ios_antic_habits(rq)->answered_at = t;
	}
}

static void anticipatory_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct anticipatory *a = self;

	if (a->changing && a->unfinished == 1)
		end_drain(a, now);
	a->unfinished--;
	if (a->untimed && ios_antic_side(rq) == a->batch)
		start_clock(a, now);
	if (ios_antic_habits(rq) == a->awaited)
		awaited_completed(a, ios_antic_ticks(now));
	was_answered(rq, ios_antic_ticks(now));
}

static void anticipatory_timer(void *self, iosched_time now)
{
	struct anticipatory *a = self;

	if (!ios_antic_waiting(a))
		return;
	ios_antic_book_no_show(a);
	stop_waiting(a, "it did not ask in time", 0, now);
}

/* Theirs takes the tree by direction where it is kept by side: a write finds sync
 * writes, a read finds nothing (trace micro-asfront). */
static struct iosched_request *anticipatory_front_candidate(void *self,
							    const struct iosched_request *bio)
{
	const struct anticipatory *a = self;

	if (bio->op == IOSCHED_READ)
		return NULL;
	return ios_rqtree_find(&a->sorted[SYNC], bio->offset + bio->length);
}

static struct iosched_request *anticipatory_neighbour(void *self, struct iosched_request *rq,
						      enum iosched_side side)
{
	(void)self;
	return side == IOSCHED_SIDE_BACK ? ios_rqtree_next(rq) : ios_rqtree_prev(rq);
}

/* `next` stays as it is, but for what an alias at the new start does. */
static void anticipatory_grown(void *self, struct iosched_request *rq, enum iosched_side side,
			       uint64_t old_offset, iosched_time now)
{
	struct anticipatory *a = self;

	(void)old_offset;
	if (side == IOSCHED_SIDE_BACK)
		return;
	ios_rqtree_remove(&a->sorted[ios_antic_side(rq)], rq);
	insert_sorted(a, ios_antic_side(rq), rq, now);
	note_start(a, ios_antic_side(rq), rq);
}

static void remove_queued(struct anticipatory *a, struct iosched_request *rq)
{
	unsort(a, ios_antic_side(rq), rq, false);
	ios_fifo_remove(rq);
	ios_antic_habits(rq)->queued--;
}

/* The survivor inherits a strictly earlier expiry and the place that goes with it. To its context
 * the victim looks like a completion (trace hfuzz159). */
static void anticipatory_absorbed(void *self, struct iosched_request *survivor,
				  struct iosched_request *victim, iosched_time now)
{
	bool earlier = victim->internal.expiry < survivor->internal.expiry;

	if (earlier) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	}
	remove_queued(self, victim);
	was_answered(victim, ios_antic_ticks(now));
}

/* One already chosen is cancelled. If we meant to wait for its context, we would wait for
 * a completion that never comes. */
static void remove_chosen(struct anticipatory *a, struct iosched_request *rq)
{
	IOS_ASSERT(!ios_antic_waiting(
		a)); /* choosing ends a wait, none begins while `chosen` has any */
	ios_dlist_remove(rq);
	rq->internal.mark = 0;
	ios_antic_habits(rq)->chosen--;
	a->unfinished--;
	if (a->awaited == ios_antic_habits(rq))
		a->awaited = NULL;
	if (a->changing && a->unfinished == 0)
		a->env->kick |= IOSCHED_KICK_DEFERRED;
}

static void anticipatory_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	if (ios_antic_chosen(rq))
		remove_chosen(self, rq);
	else
		remove_queued(self, rq);
}

static struct iosched_request *anticipatory_drain(void *self)
{
	struct anticipatory *a = self;
	struct iosched_request *rq = ios_fifo_first(&a->chosen.list);

	if (rq == NULL)
		rq = ios_fifo_first(&a->fifo[SYNC]);
	if (rq == NULL)
		rq = ios_fifo_first(&a->fifo[ASYNC]);
	if (rq != NULL)
		anticipatory_remove(a, rq, 0);
	return rq;
}

/* ---- contexts ---- */

static void anticipatory_context_init(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct habits *h = ctx->data;

	(void)self, (void)now;
	h->id = ctx->id;
}

static void anticipatory_context_exit(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct habits *h = ctx->data;

	(void)self, (void)now;
	h->exited = true;
}

/* What was known of it is still needed: that nobody comes is how exits are learnt (trace exit). */
static void anticipatory_context_fini(void *self, struct iosched_context *ctx)
{
	struct anticipatory *a = self;

	if (a->awaited == ctx->data) {
		a->ghost = *a->awaited;
		a->awaited = &a->ghost;
	}
}

/* Bounds: a day is longer than any useful expiry; waits beyond seconds only waste the disk. */
#define MS(n) ((n)*NSEC_PER_MSEC)
#define DAY_NS MS(UINT64_C(86400) * 1000)
static const struct iosched_tunable anticipatory_tunables[] = {
	{"read_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, MS(DEFAULT_READ_EXPIRE),
	 offsetof(struct anticipatory, read_expire_ns),
	 "a sync request should start within this time"},
	{"write_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, MS(DEFAULT_WRITE_EXPIRE),
	 offsetof(struct anticipatory, write_expire_ns),
	 "an async request should start within this time"},
	{"read_batch_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, MS(DEFAULT_READ_BATCH_EXPIRE),
	 offsetof(struct anticipatory, read_batch_expire_ns),
	 "time of a batch of sync requests while async ones wait"},
	{"write_batch_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, MS(DEFAULT_WRITE_BATCH_EXPIRE),
	 offsetof(struct anticipatory, write_batch_expire_ns),
	 "time of a batch of async requests while sync ones wait"},
	{"antic_expire_ns", IOSCHED_UNIT_NS, 0, MS(10000), MS(DEFAULT_ANTIC_EXPIRE),
	 offsetof(struct anticipatory, antic_expire_ns),
	 "longest wait for the next request of a context; below 1 ms: none"},
	{0},
};

const struct iosched_policy ios_anticipatory_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_CONTEXTS,
	.name = "anticipatory",
	.summary = "waits a few ms for the next read of a sequential reader (Linux 2.6.32)",
	.self_size = sizeof(struct anticipatory),
	.context_size = sizeof(struct habits),
	.tunables = anticipatory_tunables,
	.init = anticipatory_init,
	.insert = anticipatory_insert,
	.dispatch = anticipatory_dispatch,
	.complete = anticipatory_complete,
	.timer = anticipatory_timer,
	.front_candidate = anticipatory_front_candidate,
	.neighbour = anticipatory_neighbour,
	.grown = anticipatory_grown,
	.absorbed = anticipatory_absorbed,
	.remove = anticipatory_remove,
	.drain = anticipatory_drain,
	.tunable_changed = anticipatory_tunable_changed,
	.context_init = anticipatory_context_init,
	.context_exit = anticipatory_context_exit,
	.context_fini = anticipatory_context_fini,
	.audit = ios_antic_audit,
};
