/* SPDX-License-Identifier: MIT */
/*
 * deadline: sweep in offset order for throughput, but never let the oldest
 * request of a direction wait past its expiry once the current batch ends. Linux 4.20.
 *
 * State per direction: `sorted` (by offset), `fifo` (by arrival). For the direction being served
 * also `next`, where its sweep goes on. A request is on both lists or on neither.
 *
 * dispatch() asks, in order: batch unfinished? writes starved? head of the
 * fifo expired? otherwise go on with the sweep.
 *
 * What surprises: a request that arrives between the head and `next` is passed
 * over in this sweep; a sweep that ends restarts at the oldest request, not at the
 * lowest offset (it is not C-LOOK); an expired write cannot force a write batch.
 */
#include "policies/policies.h"
#include "blocks/fifo.h"
#include "blocks/rqtree.h"

#define NSEC_PER_MSEC UINT64_C(1000000)

enum direction { READ, WRITE };

struct deadline {
	uint64_t read_expire_ns, write_expire_ns, fifo_batch, writes_starved, front_merges;
	struct ios_rqtree sorted[2];
	struct ios_fifo fifo[2];
	struct iosched_request *next; /* where the sweep goes on, or NULL */
	uint64_t batched; /* dispatched since direction and expiry were last looked at */
	uint64_t starved; /* read choices made while writes waited */
};

static enum direction direction_of(const struct iosched_request *rq)
{
	return rq->op == IOSCHED_READ ? READ : WRITE;
}

static int deadline_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct deadline *d = self;

	(void)env, (void)pool, (void)now;
	ios_fifo_init(&d->fifo[READ]);
	ios_fifo_init(&d->fifo[WRITE]);
	return 0;
}

static void deadline_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct deadline *d = self;
	enum direction dir = direction_of(rq);

	(void)now;
	/* The kernel's clock ticks in milliseconds: an arrival counts from the tick it fell in. */
	rq->internal.expiry = rq->inserted - rq->inserted % NSEC_PER_MSEC +
			      (dir == READ ? d->read_expire_ns : d->write_expire_ns);
	ios_rqtree_insert(&d->sorted[dir], rq);
	ios_fifo_insert(&d->fifo[dir], rq);
}

static void unlink_request(struct deadline *d, struct iosched_request *rq)
{
	struct ios_rqtree *sorted = &d->sorted[direction_of(rq)];

	if (d->next == rq)
		d->next = ios_rqtree_remove_next(sorted, rq);
	else
		ios_rqtree_remove(sorted, rq);
	ios_fifo_remove(rq);
}

static struct iosched_request *continue_batch(const struct deadline *d)
{
	return d->batched < d->fifo_batch ? d->next : NULL;
}

/* Writes have waited for enough read batches. Counts the choice it is asked for. */
static bool writes_starved(struct deadline *d)
{
	return !ios_fifo_empty(&d->fifo[WRITE]) && d->starved++ >= d->writes_starved;
}

static enum direction choose_direction(struct deadline *d)
{
	if (!ios_fifo_empty(&d->fifo[READ]) && !writes_starved(d))
		return READ;
	d->starved = 0;
	return WRITE;
}

/* The oldest if it has expired or the sweep of this direction has ended; else the sweep. */
static struct iosched_request *start_batch(struct deadline *d, enum direction dir, iosched_time now)
{
	struct iosched_request *oldest = ios_fifo_first(&d->fifo[dir]);

	d->batched = 0;
	if (now >= oldest->internal.expiry || d->next == NULL || direction_of(d->next) != dir)
		return oldest;
	return d->next;
}

static struct iosched_request *deadline_dispatch(void *self, iosched_time now,
						 struct iosched_pause *pause)
{
	struct deadline *d = self;
	struct iosched_request *rq = continue_batch(d);

	(void)pause; /* a work-conserving policy pauses only when empty */
	if (rq == NULL) {
		if (ios_fifo_empty(&d->fifo[READ]) && ios_fifo_empty(&d->fifo[WRITE]))
			return NULL;
		rq = start_batch(d, choose_direction(d), now);
	}
	d->batched++;
	d->next = rq;
	unlink_request(d, rq);
	return rq;
}

static struct iosched_request *deadline_front_candidate(void *self,
							const struct iosched_request *bio)
{
	const struct deadline *d = self;

	if (!d->front_merges)
		return NULL;
	return ios_rqtree_find(&d->sorted[direction_of(bio)], bio->offset + bio->length);
}

static struct iosched_request *deadline_neighbour(void *self, struct iosched_request *rq,
						  enum iosched_side side)
{
	(void)self;
	return side == IOSCHED_SIDE_BACK ? ios_rqtree_next(rq) : ios_rqtree_prev(rq);
}

static void deadline_grown(void *self, struct iosched_request *rq, enum iosched_side side,
			   uint64_t old_offset, iosched_time now)
{
	struct deadline *d = self;
	struct ios_rqtree *sorted = &d->sorted[direction_of(rq)];

	(void)old_offset, (void)now;
	if (side == IOSCHED_SIDE_BACK)
		return;
	ios_rqtree_remove(sorted, rq);
	ios_rqtree_insert(sorted, rq);
}

/* The survivor inherits an earlier expiry and the place that goes with it; `next`
 * moves past the victim, not to the survivor (trace chase). */
static void deadline_absorbed(void *self, struct iosched_request *survivor,
			      struct iosched_request *victim, iosched_time now)
{
	struct deadline *d = self;

	(void)now;
	if (victim->internal.expiry < survivor->internal.expiry) {
		ios_fifo_replace(victim, survivor);
		survivor->internal.expiry = victim->internal.expiry;
	}
	unlink_request(d, victim);
}

static void deadline_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	unlink_request(self, rq);
}

static struct iosched_request *deadline_drain(void *self)
{
	struct deadline *d = self;
	struct iosched_request *rq = ios_fifo_first(&d->fifo[READ]);

	if (rq == NULL)
		rq = ios_fifo_first(&d->fifo[WRITE]);
	if (rq != NULL)
		unlink_request(d, rq);
	return rq;
}

static const char *audit_direction(const struct deadline *d, enum direction dir)
{
	const struct iosched_request *rq;
	uint64_t sorted = 0, fifo = 0;

	for (rq = ios_rqtree_first(&d->sorted[dir]); rq != NULL; rq = ios_rqtree_next(rq)) {
		if (direction_of(rq) != dir)
			return "a request is sorted under its own direction";
		sorted++;
	}
	for (rq = ios_fifo_first(&d->fifo[dir]); rq != NULL; rq = ios_fifo_next(&d->fifo[dir], rq))
		fifo++;
	if (sorted != fifo)
		return "a queued request is in the tree and in the fifo";
	return ios_rqtree_audit(&d->sorted[dir]);
}

static const char *deadline_audit(void *self)
{
	const struct deadline *d = self;
	const char *wrong = audit_direction(d, READ);

	if (wrong == NULL)
		wrong = audit_direction(d, WRITE);
	if (wrong == NULL && d->next != NULL && !ios_rqtree_linked(d->next))
		wrong = "the sweep goes on at a queued request";
	return wrong;
}

/* Defaults: Linux 4.20. Bounds: a day is longer than any useful expiry. */
#define DAY_NS (UINT64_C(86400) * 1000 * NSEC_PER_MSEC)
static const struct iosched_tunable deadline_tunables[] = {
	{"read_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 500 * NSEC_PER_MSEC,
	 offsetof(struct deadline, read_expire_ns), "a read should start within this time"},
	{"write_expire_ns", IOSCHED_UNIT_NS, 0, DAY_NS, 5000 * NSEC_PER_MSEC,
	 offsetof(struct deadline, write_expire_ns), "a write should start within this time"},
	{"fifo_batch", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 16, offsetof(struct deadline, fifo_batch),
	 "requests served in offset order before expiry and direction are looked at"},
	{"writes_starved", IOSCHED_UNIT_NONE, 0, UINT32_MAX, 2,
	 offsetof(struct deadline, writes_starved), "read batches that may pass waiting writes"},
	{"front_merges", IOSCHED_UNIT_BOOL, 0, 1, 1, offsetof(struct deadline, front_merges),
	 "look for requests that a new one could be put before"},
	{0},
};

const struct iosched_policy ios_deadline_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_WORK_CONSERVING,
	.name = "deadline",
	.summary = "offset order in batches, bounded by an expiry per direction (Linux 4.20)",
	.self_size = sizeof(struct deadline),
	.tunables = deadline_tunables,
	.init = deadline_init,
	.insert = deadline_insert,
	.dispatch = deadline_dispatch,
	.front_candidate = deadline_front_candidate,
	.neighbour = deadline_neighbour,
	.grown = deadline_grown,
	.absorbed = deadline_absorbed,
	.remove = deadline_remove,
	.drain = deadline_drain,
	.audit = deadline_audit,
};
