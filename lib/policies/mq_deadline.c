/* SPDX-License-Identifier: MIT */
/*
 * mq-deadline: deadline per priority class, the classes in strict order. Linux 6.8.
 *
 * State per class and direction: `sorted` (by offset), `fifo` (by arrival), `position`, the
 * start of the last request dispatched, and `ahead`, where the sweep goes on: the first that starts
 * at `position` or behind it. A class also counts its `unfinished` requests, queued or in flight.
 * Direction, batch and starvation are shared by all classes. A request is on both lists or on
 * neither.
 *
 * dispatch() asks, in order: has a lower class waited for too long? else the highest
 * class with anything unfinished. Within a class: batch unfinished? writes starved?
 * head of the fifo expired? otherwise go on with the sweep.
 *
 * What surprises: a class with nothing but requests in flight still holds the lower
 * ones back (trace fuzz3); the search for an aged request may change direction, batch and
 * starvation though it finds none (trace age); the first batch is of writes (trace wfirst).
 *
 * Times are counted in ticks of 1 ms, as the kernel does: within a tick nothing is earlier.
 *
 * Rare steps are out of line, so that the usual ones save no registers for them.
 */
#include "policies/policies.h"
#include "blocks/fifo.h"
#include "blocks/rqtree.h"

#define NSEC_PER_MSEC UINT64_C(1000000)

enum direction { READ, WRITE };
#define N_CLASSES 3u
/* Raw priorities: 8 levels in each class. */
#define N_LEVELS 8u
/* Best effort, level 4: of a request that names none and whose context is not looked at. */
#define ORDINARY (1 * N_LEVELS + 4)

struct prio_class {
	struct ios_rqtree sorted[2];
	struct ios_fifo fifo[2];
	struct iosched_request *ahead[2];
	uint64_t position[2];
	uint64_t unfinished; /* queued or in flight */
};

struct mq_deadline {
	uint64_t read_expire_ns, write_expire_ns, prio_aging_expire_ns;
	uint64_t fifo_batch, writes_starved, front_merges;
	uint64_t expire[2], aging; /* the times above in ticks */
	struct iosched_policy_env *env;
	struct prio_class classes[N_CLASSES]; /* by rank: realtime, best effort, idle */
	uint32_t busy;			      /* bit i: classes[i] has unfinished requests */
	enum direction last;		      /* direction of the batch */
	uint64_t batched; /* dispatched since direction and expiry were looked at */
	uint64_t starved; /* read choices made while writes waited */
};

static uint64_t ticks(uint64_t ns)
{
	return ns / NSEC_PER_MSEC;
}

static enum direction direction_of(const struct iosched_request *rq)
{
	return rq->op == IOSCHED_READ ? READ : WRITE;
}

/* Class and level as one number, best first. Requests of different ones never
 * merge, though the level decides nothing else (trace micro-mqprio). */
static __attribute__((noinline)) unsigned given_priority(const struct iosched_request *rq)
{
	static const uint8_t rank[N_CLASSES] = {
		[IOSCHED_REALTIME] = 0, [IOSCHED_BEST_EFFORT] = 1, [IOSCHED_IDLE] = 2};

	return rank[iosched_request_class(rq)] * N_LEVELS + iosched_request_level(rq);
}

static inline unsigned priority_of(const struct iosched_request *rq)
{
	if (rq->prio_class == 0 && rq->prio_level == 0 && rq->internal.context == NULL)
		return ORDINARY;
	return given_priority(rq);
}

static struct prio_class *class_of(const struct iosched_request *rq)
{
	return rq->internal.queue;
}

static bool waiting(const struct prio_class *c, enum direction dir)
{
	return !ios_fifo_empty(&c->fifo[dir]);
}

static bool any_waiting(const struct prio_class *c)
{
	return waiting(c, READ) || waiting(c, WRITE);
}

static void mq_deadline_tunable_changed(void *self, const struct iosched_tunable *t)
{
	struct mq_deadline *d = self;

	(void)t;
	d->expire[READ] = ticks(d->read_expire_ns);
	d->expire[WRITE] = ticks(d->write_expire_ns);
	d->aging = ticks(d->prio_aging_expire_ns);
}

static int mq_deadline_init(void *self, struct iosched_policy_env *env, void *pool,
			    iosched_time now)
{
	struct mq_deadline *d = self;
	unsigned i;

	(void)pool, (void)now;
	d->env = env;
	d->last = WRITE;
	mq_deadline_tunable_changed(d, NULL);
	for (i = 0; i < N_CLASSES; i++) {
		ios_fifo_init(&d->classes[i].fifo[READ]);
		ios_fifo_init(&d->classes[i].fifo[WRITE]);
	}
	return 0;
}

/* Seen at once, so that a request that arrives just ahead of the head is not passed over. Of equal
 * starts the leftmost counts, which is the older (trace dupsec). */
static void link_sorted(struct prio_class *c, enum direction dir, struct iosched_request *rq)
{
	const struct iosched_request *ahead = c->ahead[dir];

	if (rq->span_offset >= c->position[dir] &&
	    (ahead == NULL || rq->span_offset < ahead->span_offset))
		c->ahead[dir] = rq;
	ios_rqtree_insert(&c->sorted[dir], rq);
}

static void unlink_sorted(struct prio_class *c, enum direction dir, struct iosched_request *rq)
{
	if (c->ahead[dir] == rq)
		c->ahead[dir] = ios_rqtree_remove_next(&c->sorted[dir], rq);
	else
		ios_rqtree_remove(&c->sorted[dir], rq);
}

/* The tree comes last: nothing has to be kept over the longest step. */
static __attribute__((noinline)) void enqueue(struct mq_deadline *d, struct iosched_request *rq,
					      unsigned priority)
{
	enum direction dir = direction_of(rq);
	struct prio_class *c = &d->classes[priority / N_LEVELS];

	rq->internal.mark = (uint8_t)priority;
	rq->internal.queue = c;
	rq->internal.expiry = ticks(rq->inserted) + d->expire[dir];
	ios_fifo_insert(&c->fifo[dir], rq);
	c->unfinished++;
	d->busy |= 1u << priority / N_LEVELS;
	link_sorted(c, dir, rq);
}

/* Priority is taken now: what its context gets later does not move a queued request. */
static void mq_deadline_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	enqueue(self, rq, priority_of(rq));
}

static void finish(struct mq_deadline *d, struct prio_class *c)
{
	if (--c->unfinished == 0)
		d->busy &= ~(1u << (c - d->classes));
}

static struct iosched_request *continue_batch(const struct mq_deadline *d,
					      const struct prio_class *c)
{
	return d->batched < d->fifo_batch ? c->ahead[d->last] : NULL;
}

/* Writes have waited for enough read batches. Counts the choice it is asked for. */
static bool writes_starved(struct mq_deadline *d, const struct prio_class *c)
{
	return waiting(c, WRITE) && d->starved++ >= d->writes_starved;
}

static enum direction choose_direction(struct mq_deadline *d, const struct prio_class *c,
				       iosched_time now)
{
	if (waiting(c, READ)) {
		if (!writes_starved(d, c))
			return READ;
		iosched_tell(d->env, now, "writes have starved: a batch of writes", 0, 0,
			     IOSCHED_NEVER);
	}
	d->starved = 0;
	return WRITE;
}

/* The oldest if it has expired or the sweep of this direction has ended; else the sweep. */
static struct iosched_request *start_batch(struct mq_deadline *d, const struct prio_class *c,
					   iosched_time now)
{
	enum direction dir = choose_direction(d, c, now);
	struct iosched_request *oldest = ios_fifo_first(&c->fifo[dir]);

	d->last = dir;
	d->batched = 0;
	return ticks(now) >= oldest->internal.expiry || c->ahead[dir] == NULL ? oldest
									      : c->ahead[dir];
}

/* What the class would issue, still queued; NULL only if none of it is queued. */
static struct iosched_request *pick(struct mq_deadline *d, const struct prio_class *c,
				    iosched_time now)
{
	struct iosched_request *rq = continue_batch(d, c);

	if (rq == NULL && any_waiting(c))
		rq = start_batch(d, c, now);
	return rq;
}

/* Has it waited for prio_aging_expire? Its start is read back from its expiry, which a coalesce
 * may have made earlier (trace x20060); exactly that old is aged (traces micro-mqage*). */
static bool aged(const struct mq_deadline *d, const struct iosched_request *rq, iosched_time now)
{
	return rq->internal.expiry + d->aging <= ticks(now) + d->expire[direction_of(rq)];
}

/* The test is made on what the usual rules pick, not on the oldest: the bound is a soft one. */
static __attribute__((noinline)) struct iosched_request *pick_aged(struct mq_deadline *d,
								   iosched_time now)
{
	unsigned i;

	for (i = 1; i < N_CLASSES; i++) {
		struct iosched_request *rq = pick(d, &d->classes[i], now);

		if (rq != NULL && aged(d, rq, now)) {
			iosched_tell(d->env, now, "aged: served before the classes above it",
				     rq->context, 0, IOSCHED_NEVER);
			return rq;
		}
	}
	return NULL;
}

static struct iosched_request *take(struct mq_deadline *d, struct iosched_request *rq)
{
	enum direction dir = direction_of(rq);
	struct prio_class *c = class_of(rq);
	bool swept = c->ahead[dir] == rq;

	d->batched++;
	ios_fifo_remove(rq);
	unlink_sorted(c, dir, rq);
	c->position[dir] = rq->span_offset;
	if (!swept)
		c->ahead[dir] = ios_rqtree_first_from(&c->sorted[dir], rq->span_offset);
	return rq;
}

/* Nothing of the highest class is queued, but something of it is in flight. */
static __attribute__((noinline)) enum iosched_hold why_nothing(const struct mq_deadline *d,
							       iosched_time now)
{
	unsigned i;

	for (i = 0; i < N_CLASSES; i++)
		if (any_waiting(&d->classes[i])) {
			iosched_tell(d->env, now, "a class above in flight holds back the others",
				     0, 0, IOSCHED_NEVER);
			return IOSCHED_HOLD_INFLIGHT;
		}
	return IOSCHED_HOLD_EMPTY;
}

static bool two_classes_busy(const struct mq_deadline *d)
{
	return (d->busy & (d->busy - 1)) != 0;
}

static struct iosched_request *mq_deadline_dispatch(void *self, iosched_time now,
						    struct iosched_pause *pause)
{
	struct mq_deadline *d = self;
	struct iosched_request *rq = NULL;

	if (two_classes_busy(d))
		rq = pick_aged(d, now);
	if (rq == NULL && d->busy != 0)
		rq = pick(d, &d->classes[__builtin_ctz(d->busy)], now);
	if (rq != NULL)
		return take(d, rq);
	pause->reason = why_nothing(d, now);
	return NULL;
}

static void mq_deadline_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	finish(self, class_of(rq));
}

static bool mq_deadline_merge_allowed(void *self, const struct iosched_request *into,
				      const struct iosched_request *bio)
{
	(void)self;
	return into->internal.mark == priority_of(bio);
}

static struct iosched_request *mq_deadline_front_candidate(void *self,
							   const struct iosched_request *bio)
{
	const struct mq_deadline *d = self;
	const struct prio_class *c = &d->classes[priority_of(bio) / N_LEVELS];

	if (!d->front_merges)
		return NULL;
	return ios_rqtree_find(&c->sorted[direction_of(bio)], bio->offset + bio->length);
}

/* A neighbour of another level hides what lies behind it. */
static struct iosched_request *mq_deadline_neighbour(void *self, struct iosched_request *rq,
						     enum iosched_side side)
{
	struct iosched_request *next =
		side == IOSCHED_SIDE_BACK ? ios_rqtree_next(rq) : ios_rqtree_prev(rq);

	(void)self;
	return next != NULL && next->internal.mark == rq->internal.mark ? next : NULL;
}

static void mq_deadline_grown(void *self, struct iosched_request *rq, enum iosched_side side,
			      uint64_t old_offset, iosched_time now)
{
	(void)self, (void)old_offset, (void)now;
	if (side == IOSCHED_SIDE_BACK)
		return;
	unlink_sorted(class_of(rq), direction_of(rq), rq);
	link_sorted(class_of(rq), direction_of(rq), rq);
}

/* The victim counts as completed. The survivor inherits a strictly earlier expiry and the place
 * that goes with it, but only in its own fifo: a victim whose context changed class since it was
 * queued may come from another. */
static void mq_deadline_absorbed(void *self, struct iosched_request *survivor,
				 struct iosched_request *victim, iosched_time now)
{
	(void)now;
	unlink_sorted(class_of(victim), direction_of(victim), victim);
	if (class_of(victim) == class_of(survivor) &&
	    victim->internal.expiry < survivor->internal.expiry) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	} else {
		ios_fifo_remove(victim);
	}
	finish(self, class_of(victim));
}

static void mq_deadline_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	unlink_sorted(class_of(rq), direction_of(rq), rq);
	ios_fifo_remove(rq);
	finish(self, class_of(rq));
}

static struct iosched_request *mq_deadline_drain(void *self)
{
	struct mq_deadline *d = self;
	unsigned i;

	for (i = 0; i < 2 * N_CLASSES; i++) {
		struct iosched_request *rq = ios_fifo_first(&d->classes[i / 2].fifo[i % 2]);

		if (rq != NULL) {
			mq_deadline_remove(d, rq, 0);
			return rq;
		}
	}
	return NULL;
}

static const char *audit_direction(const struct prio_class *c, unsigned rank, enum direction dir,
				   uint64_t *queued)
{
	const struct iosched_request *rq;
	uint64_t sorted = 0, fifo = 0;

	for (rq = ios_rqtree_first(&c->sorted[dir]); rq != NULL; rq = ios_rqtree_next(rq)) {
		if (direction_of(rq) != dir || class_of(rq) != c ||
		    rq->internal.mark / N_LEVELS != rank)
			return "a request is sorted under its own class and direction";
		sorted++;
	}
	for (rq = ios_fifo_first(&c->fifo[dir]); rq != NULL; rq = ios_fifo_next(&c->fifo[dir], rq))
		fifo++;
	if (sorted != fifo)
		return "a queued request is in the tree and in the fifo";
	if (c->ahead[dir] != ios_rqtree_first_from(&c->sorted[dir], c->position[dir]))
		return "the sweep goes on at the first request from its position on";
	*queued += sorted;
	return ios_rqtree_audit(&c->sorted[dir]);
}

static const char *mq_deadline_audit(void *self)
{
	const struct mq_deadline *d = self;
	unsigned i;

	for (i = 0; i < N_CLASSES; i++) {
		const struct prio_class *c = &d->classes[i];
		uint64_t queued = 0;
		const char *wrong = audit_direction(c, i, READ, &queued);

		if (wrong == NULL)
			wrong = audit_direction(c, i, WRITE, &queued);
		if (wrong != NULL)
			return wrong;
		if (queued > c->unfinished)
			return "a queued request is unfinished";
		if ((c->unfinished != 0) != (d->busy >> i & 1))
			return "a class with unfinished requests is busy";
	}
	return NULL;
}

/* Defaults: Linux 6.8. Bounds: a day is longer than any useful expiry. */
#define DAY_NS (UINT64_C(86400) * 1000 * NSEC_PER_MSEC)
static const struct iosched_tunable mq_deadline_tunables[] = {
	{"read_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 500 * NSEC_PER_MSEC,
	 offsetof(struct mq_deadline, read_expire_ns), "a read should start within this time"},
	{"write_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 5000 * NSEC_PER_MSEC,
	 offsetof(struct mq_deadline, write_expire_ns), "a write should start within this time"},
	{"prio_aging_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 10000 * NSEC_PER_MSEC,
	 offsetof(struct mq_deadline, prio_aging_expire_ns),
	 "a request that has waited so long goes before the classes above it"},
	{"fifo_batch", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 16,
	 offsetof(struct mq_deadline, fifo_batch),
	 "requests served in offset order before expiry and direction are looked at"},
	{"writes_starved", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 2,
	 offsetof(struct mq_deadline, writes_starved), "read batches that may pass waiting writes"},
	{"front_merges", IOSCHED_UNIT_BOOL, 0, 1, 1, offsetof(struct mq_deadline, front_merges),
	 "look for requests that a new one could be put before"},
	{0},
};

const struct iosched_policy ios_mq_deadline_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_INSERT_MERGE | IOSCHED_POLICY_PRIORITY,
	.name = "mq-deadline",
	.summary = "deadline per priority class, strictly ordered, with aging (Linux 6.8)",
	.self_size = sizeof(struct mq_deadline),
	.tunables = mq_deadline_tunables,
	.init = mq_deadline_init,
	.insert = mq_deadline_insert,
	.dispatch = mq_deadline_dispatch,
	.complete = mq_deadline_complete,
	.merge_allowed = mq_deadline_merge_allowed,
	.front_candidate = mq_deadline_front_candidate,
	.neighbour = mq_deadline_neighbour,
	.grown = mq_deadline_grown,
	.absorbed = mq_deadline_absorbed,
	.remove = mq_deadline_remove,
	.drain = mq_deadline_drain,
	.tunable_changed = mq_deadline_tunable_changed,
	.audit = mq_deadline_audit,
};
