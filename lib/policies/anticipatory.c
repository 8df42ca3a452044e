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
#include "policies/policies.h"
#include "blocks/audit.h"
#include "blocks/dlist.h"
#include "blocks/ewma.h"
#include "blocks/rqtree.h"
#include "blocks/seekpick.h"

#define NSEC_PER_MSEC UINT64_C(1000000)
#define SECTOR UINT64_C(512)

/* Linux 2.6.32 with ticks of 1 ms. The first batch's end and the first quota come from the
 * defaults, whatever the tunables are set to afterwards (trace x20097). */
#define DEFAULT_READ_EXPIRE 125u
#define DEFAULT_WRITE_EXPIRE 250u
#define DEFAULT_READ_BATCH_EXPIRE 500u
#define DEFAULT_WRITE_BATCH_EXPIRE 125u
#define DEFAULT_ANTIC_EXPIRE 6u /* 1/150 s */
#define FIRST_QUOTA (DEFAULT_WRITE_BATCH_EXPIRE / 10)

#define BACK_MAX (1024 * 1024 * SECTOR)	  /* a seek further back is a wrap */
#define BACK_PENALTY 2u			  /* a seek back costs twice its distance */
#define MAX_THINK 19u			  /* ticks: longer thoughts count as this */
#define CLOSE (8192 * SECTOR)		  /* ahead of the head; half of it behind */
#define MAX_DELAY 20u			  /* ticks of waiting after which all is close */
#define FEW_SAMPLES 60u			  /* of a seek mean: about two */
#define SEEK_SLACK_FEW (2 * 1024 * 1024u) /* sectors a sample may exceed 4 means by, at first */
#define SEEK_SLACK (128 * 1024u)	  /* and later */
#define ONE 256u			  /* probability 1 */
#define HALF (ONE / 2)

enum side { SYNC, ASYNC };

/* Where the wait for `awaited` stands. */
enum antic {
	ANTIC_OFF,
	ANTIC_AWAIT_COMPLETION, /* of its request; then the clock starts */
	ANTIC_AWAIT_REQUEST,	/* the timer runs */
	ANTIC_OVER,		/* ended; no new wait until something has been chosen */
};

/* What is known of a context. */
struct habits {
	uint64_t id;
	uint64_t queued; /* in the trees */
	uint64_t chosen; /* on `chosen` */
	bool exited;
	bool asked;    /* inserted a sync request, or had one of another booked on it */
	bool answered; /* a sync request of it has completed */
	uint64_t answered_at;
	uint64_t previous_end; /* bytes: of the last sync request booked */
	struct ios_ewma think; /* ticks */
	struct ios_ewma seek;  /* sectors */
};

struct anticipatory {
	uint64_t read_expire_ns, write_expire_ns, read_batch_expire_ns, write_batch_expire_ns;
	uint64_t antic_expire_ns;
	uint64_t fifo_expire[2], batch_expire[2], antic_expire; /* the times above in ticks */
	struct iosched_policy_env *env;
	struct ios_rqtree sorted[2];
	struct ios_fifo fifo[2];
	struct iosched_request *next[2];
	uint64_t last_end[2];  /* bytes: of the last request of the side chosen */
	uint64_t last_look[2]; /* at the fifo of the side */
	struct ios_dlist chosen;
	uint64_t unfinished; /* chosen and not completed */

	enum side batch;
	bool changing; /* the batch has begun but waits for the device to drain */
	bool untimed;  /* a sync batch whose clock starts at its first completion */
	uint64_t batch_expires;
	uint64_t quota;	     /* requests in a write batch */
	uint64_t quota_left; /* of this one */
	bool ran_dry;	     /* the write batch had nothing to do for a while */

	enum antic antic;
	struct habits *awaited; /* NULL: nobody */
	bool awaited_done;	/* a request of it has completed since */
	uint64_t awaited_since;
	struct habits ghost; /* of an awaited context that is no more */

	uint64_t exit_chance; /* of ONE: a new context exits before it asks again */
	uint64_t exit_alone;  /* of ONE: nobody near takes over from one that exited */
	uint64_t new_think_total, new_seek_total; /* first samples of contexts, times ONE */
};

static uint64_t ticks(uint64_t ns)
{
	return ns / NSEC_PER_MSEC;
}

static enum side side_of(const struct iosched_request *rq)
{
	return iosched_request_is_sync(rq) ? SYNC : ASYNC;
}

static struct habits *habits_of(const struct iosched_request *rq)
{
	return rq->internal.context->data;
}

static uint64_t end_of(const struct iosched_request *rq)
{
	return rq->span_offset + rq->span_length;
}

static uint64_t distance(uint64_t x, uint64_t y)
{
	return x > y ? x - y : y - x;
}

/* `internal.mark`: on `chosen`. */
static bool is_chosen(const struct iosched_request *rq)
{
	return rq->internal.mark != 0;
}

static bool has_queued(const struct anticipatory *a, enum side side)
{
	return !ios_fifo_empty(&a->fifo[side]);
}

static bool is_waiting(const struct anticipatory *a)
{
	return a->antic == ANTIC_AWAIT_COMPLETION || a->antic == ANTIC_AWAIT_REQUEST;
}

static void anticipatory_tunable_changed(void *self, const struct iosched_tunable *t)
{
	struct anticipatory *a = self;

	(void)t;
	a->fifo_expire[SYNC] = ticks(a->read_expire_ns);
	a->fifo_expire[ASYNC] = ticks(a->write_expire_ns);
	a->batch_expire[SYNC] = ticks(a->read_batch_expire_ns);
	a->batch_expire[ASYNC] = ticks(a->write_batch_expire_ns);
	a->antic_expire = ticks(a->antic_expire_ns);
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
		a->last_look[side] = ticks(now) - (UINT64_C(1) << 40);
	}
	ios_dlist_init(&a->chosen);
	anticipatory_tunable_changed(a, NULL);
	a->batch = ASYNC;
	a->batch_expires = ticks(now) + DEFAULT_READ_BATCH_EXPIRE;
	a->quota = FIRST_QUOTA;
	return 0;
}

/* ---- what contexts do ---- */

/* A chance moves an eighth of the way to its end. */
static uint64_t raised(uint64_t chance)
{
	return (7 * chance + ONE) / 8;
}

static uint64_t lowered(uint64_t chance)
{
	return 7 * chance / 8;
}

static void book_think(struct anticipatory *a, struct habits *h, uint64_t t)
{
	bool idle = h->answered && h->queued == 0 && h->chosen == 0;
	uint64_t think = idle ? t - h->answered_at : 0;

	if (think > MAX_THINK)
		think = MAX_THINK;
	if (h->think.samples == 0) {
		a->new_think_total = (7 * a->new_think_total + ONE * think) / 8;
		a->exit_chance = lowered(a->exit_chance);
	}
	ios_ewma_add(&h->think, think);
}

/* The mean of new contexts is fed before the sample is cut (trace hfuzz159 and the like). */
static void book_seek(struct anticipatory *a, struct habits *h, uint64_t sectors)
{
	uint64_t limit =
		4 * h->seek.mean + (h->seek.samples <= FEW_SAMPLES ? SEEK_SLACK_FEW : SEEK_SLACK);

	if (h->seek.samples == 0)
		a->new_seek_total = (7 * a->new_seek_total + ONE * sectors) / 8;
	ios_ewma_add_seek(&h->seek, sectors < limit ? sectors : limit);
}

/* A sync request says something of the habits of who asked, or of one it is near to. */
static void book(struct anticipatory *a, struct habits *h, const struct iosched_request *rq,
		 uint64_t t)
{
	if (h->asked) {
		book_think(a, h, t);
		book_seek(a, h, distance(rq->span_offset, h->previous_end) / SECTOR);
	}
	h->asked = true;
	h->previous_end = end_of(rq);
}

/* ---- is it worth waiting? ---- */

/* The window doubles with each tick of waiting. Theirs is a 32-bit number: at 18 it is beyond any
 * disk, then nothing is left of it (trace x3292, antic_expire 21). */
static uint64_t close_window(uint64_t delay)
{
	if (delay == 18)
		return UINT64_MAX;
	return delay > 18 ? 0 : CLOSE << delay;
}

/* Would serving `rq` keep the head about where the awaited context will ask? */
static bool is_close(const struct anticipatory *a, const struct iosched_request *rq, uint64_t t)
{
	const struct habits *h = a->awaited;
	bool counting = a->antic != ANTIC_OFF && a->awaited_done;
	uint64_t delay = counting ? t - a->awaited_since : 0;
	uint64_t mean = h->seek.samples != 0 ? h->seek.mean : a->new_seek_total / ONE;
	uint64_t head = a->last_end[SYNC];
	uint64_t gap = distance(rq->span_offset, head);
	uint64_t window;

	if (delay > MAX_DELAY)
		return true;
	window = close_window(delay);
	return gap <= (rq->span_offset >= head ? window : window / 2) || gap / SECTOR < mean;
}

/* Somebody else's request comes where the awaited context would have asked. */
static void take_over(struct anticipatory *a, const struct iosched_request *rq, uint64_t t)
{
	struct habits *h = a->awaited;

	if (h->exited) {
		if (h->think.samples == 0)
			a->exit_chance = raised(a->exit_chance);
		a->exit_alone = lowered(a->exit_alone);
	}
	book(a, h, rq, t);
}

static const char *why_not_exited(struct anticipatory *a, const struct habits *h)
{
	if (h->think.samples == 0)
		a->exit_chance = raised(a->exit_chance);
	return a->exit_alone > HALF ? "it has exited, and nobody takes over" : NULL;
}

static const char *why_not_habits(const struct anticipatory *a, const struct habits *h)
{
	if (h->think.samples != 0)
		return h->think.mean > a->antic_expire ? "it thinks for too long" : NULL;
	if (a->new_think_total / ONE > a->antic_expire)
		return "new contexts think for too long";
	if (a->exit_chance * a->exit_alone > HALF * ONE)
		return "new contexts tend to exit, and nobody takes over";
	return NULL;
}

/* Why the wait for the awaited context should end, or not begin, in words; NULL: it should go on.
 * `rq` (or NULL) is what could be served instead. Learns from what it sees. */
static const char *why_not_wait(struct anticipatory *a, const struct iosched_request *rq,
				uint64_t t)
{
	struct habits *h = a->awaited;
	const char *why = NULL;

	if (rq != NULL && habits_of(rq) == h)
		return "its request is here";
	if (a->awaited_done && t - a->awaited_since >= a->antic_expire)
		return "it has been waited for long enough";
	if (h->queued != 0 || h->chosen != 0)
		return "others of its requests are here";
	if (rq != NULL && side_of(rq) == SYNC && is_close(a, rq, t)) {
		take_over(a, rq, t);
		return "a request near is here";
	}
	if (h->exited)
		why = why_not_exited(a, h);
	return why != NULL ? why : why_not_habits(a, h);
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
	if (!is_waiting(a))
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

/* What is next once `rq`, still in the tree, has left: the one behind it or, at the
 * end, the first; or the one before it. */
static struct iosched_request *next_around(const struct anticipatory *a, enum side side,
					   struct iosched_request *rq)
{
	struct iosched_request *behind = ios_rqtree_next(rq);

	if (behind == NULL) {
		behind = ios_rqtree_first(&a->sorted[side]);
		if (behind == rq)
			behind = NULL;
	}
	return nearest(a, side, behind, ios_rqtree_prev(rq));
}

static void unlink_request(struct anticipatory *a, enum side side, struct iosched_request *rq)
{
	ios_rqtree_remove(&a->sorted[side], rq);
	ios_fifo_remove(rq);
	habits_of(rq)->queued--;
}

/* A request leaves the queues for the device. */
static void choose(struct anticipatory *a, struct iosched_request *rq)
{
	enum side side = side_of(rq);

	a->antic = ANTIC_OFF;
	a->last_end[side] = end_of(rq);
	a->awaited = side == SYNC ? habits_of(rq) : NULL;
	a->awaited_done = false;
	if (side == ASYNC && a->quota_left > 0)
		a->quota_left--;
	a->next[side] = next_around(a, side, rq);
	unlink_request(a, side, rq);
	a->unfinished++;
}

/* A start is taken by one request of a side at a time: the older one is chosen now, and not yet
 * handed out. That ends a wait, and happens even while the device drains. */
static void choose_alias(struct anticipatory *a, struct iosched_request *rq, iosched_time now)
{
	stop_waiting(a, "another request for the same place sends the older one", rq->context, now);
	choose(a, rq);
	habits_of(rq)->chosen++;
	rq->internal.mark = 1;
	ios_dlist_insert(&a->chosen, rq);
	iosched_withdraw(rq);
}

static struct iosched_request *take_alias(struct anticipatory *a)
{
	struct iosched_request *rq = ios_dlist_take(&a->chosen);

	habits_of(rq)->chosen--;
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
	if (!has_queued(a, SYNC) || !has_queued(a, ASYNC) || a->changing || a->untimed)
		return false;
	return t > a->batch_expires || (a->batch == ASYNC && a->quota_left == 0);
}

static bool can_anticipate(const struct anticipatory *a)
{
	return a->batch == SYNC && a->antic_expire > 0;
}

/* Even if the sync side has nothing queued, and only writes would be served (trace fsync). */
static bool worth_waiting(struct anticipatory *a, uint64_t t)
{
	return a->awaited != NULL && a->antic != ANTIC_OVER &&
	       why_not_wait(a, a->next[SYNC], t) == NULL;
}

static struct iosched_request *continue_batch(struct anticipatory *a, uint64_t t)
{
	struct iosched_request *rq = a->next[a->batch];

	if (rq != NULL && has_queued(a, SYNC) && !has_queued(a, ASYNC))
		a->batch_expires = t + a->batch_expire[SYNC];
	return rq;
}

/* Sides alternate when both have work; a new batch begins with its oldest request. */
static struct iosched_request *start_batch(struct anticipatory *a, iosched_time now)
{
	bool keep = a->batch == SYNC && has_queued(a, ASYNC);
	enum side side = has_queued(a, SYNC) && !keep ? SYNC : ASYNC;

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
	a->last_look[side] = ticks(now);
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
	if (a->batch == ASYNC && !has_queued(a, SYNC) &&
	    (a->quota_left == 0 || !has_queued(a, ASYNC)))
		a->ran_dry = true;
}

static struct iosched_request *pick(struct anticipatory *a, iosched_time now)
{
	uint64_t t = ticks(now);
	struct iosched_request *rq = NULL, *oldest;

	note_dry_writes(a);
	if (!has_queued(a, SYNC) && !has_queued(a, ASYNC))
		return NULL;
	if (is_waiting(a) || (a->changing && a->unfinished > 0))
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
	if (!has_queued(a, SYNC) && !has_queued(a, ASYNC))
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
	a->chosen.boundary = end_of(rq);
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

static void anticipatory_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct anticipatory *a = self;
	enum side side = side_of(rq);
	const char *why;

	/* One that moves in from elsewhere says nothing of when its context asks. */
	if (side == SYNC && rq->inserted == now)
		book(a, habits_of(rq), rq, ticks(now));
	rq->internal.mark = 0;
	insert_sorted(a, side, rq, now);
	habits_of(rq)->queued++;
	rq->internal.expiry = ticks(rq->inserted) + a->fifo_expire[side];
	ios_fifo_insert(&a->fifo[side], rq);
	a->next[side] = nearest(a, side, rq, a->next[side]);
	if (is_waiting(a) && (why = why_not_wait(a, rq, ticks(now))) != NULL)
		stop_waiting(a, why, rq->context, now);
}

/* How long the write batch took decides how many requests the next one gets. The time is
 * measured from where `batch_expires` stands, which a drain may have moved: then it is 0. */
static void retune_quota(struct anticipatory *a, iosched_time now)
{
	uint64_t target = a->batch_expire[ASYNC], old = a->quota;
	uint64_t end = ticks(now) + target;
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
	a->batch_expires = ticks(now) + a->batch_expire[a->batch];
	a->untimed = a->untimed || a->batch == SYNC;
	a->env->kick |= IOSCHED_KICK_DEFERRED;
}

/* The clock of a sync batch starts here, at its first completion. */
static void start_clock(struct anticipatory *a, iosched_time now)
{
	retune_quota(a, now);
	a->batch_expires = ticks(now) + a->batch_expire[SYNC];
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
	if (side_of(rq) == SYNC) {
		habits_of(rq)->answered = true;
		habits_of(rq)->answered_at = t;
	}
}

static void anticipatory_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct anticipatory *a = self;

	if (a->changing && a->unfinished == 1)
		end_drain(a, now);
	a->unfinished--;
	if (a->untimed && side_of(rq) == a->batch)
		start_clock(a, now);
	if (habits_of(rq) == a->awaited)
		awaited_completed(a, ticks(now));
	was_answered(rq, ticks(now));
}

static void anticipatory_timer(void *self, iosched_time now)
{
	struct anticipatory *a = self;

	if (!is_waiting(a))
		return;
	if (a->awaited->think.samples == 0)
		a->exit_chance = raised(a->exit_chance);
	if (a->awaited->exited)
		a->exit_alone = raised(a->exit_alone);
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
	ios_rqtree_remove(&a->sorted[side_of(rq)], rq);
	insert_sorted(a, side_of(rq), rq, now);
}

static void remove_queued(struct anticipatory *a, struct iosched_request *rq)
{
	enum side side = side_of(rq);

	if (a->next[side] == rq)
		a->next[side] = next_around(a, side, rq);
	unlink_request(a, side, rq);
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
	was_answered(victim, ticks(now));
}

/* One already chosen is cancelled. If we meant to wait for its context, we would wait for
 * a completion that never comes. */
static void remove_chosen(struct anticipatory *a, struct iosched_request *rq)
{
	IOS_ASSERT(!is_waiting(a)); /* choosing ends a wait, none begins while `chosen` has any */
	ios_dlist_remove(rq);
	rq->internal.mark = 0;
	habits_of(rq)->chosen--;
	a->unfinished--;
	if (a->awaited == habits_of(rq))
		a->awaited = NULL;
}

static void anticipatory_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	if (is_chosen(rq))
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

/* ---- audit ---- */

static const char *audit_side(const struct anticipatory *a, enum side side)
{
	const struct iosched_request *rq, *before = NULL;
	uint64_t sorted = 0, fifo = 0;

	for (rq = ios_rqtree_first(&a->sorted[side]); rq != NULL; rq = ios_rqtree_next(rq)) {
		if (side_of(rq) != side || is_chosen(rq))
			return "a queued request is sorted under its own side";
		if (before != NULL && before->span_offset == rq->span_offset)
			return "no two queued requests of a side start at one place";
		before = rq;
		sorted++;
	}
	for (rq = ios_fifo_first(&a->fifo[side]); rq != NULL;
	     rq = ios_fifo_next(&a->fifo[side], rq))
		fifo++;
	if (sorted != fifo)
		return "a queued request is in the tree and in the fifo";
	rq = a->next[side];
	if (rq != NULL && (!ios_rqtree_linked(rq) || side_of(rq) != side || is_chosen(rq)))
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
			if (is_chosen(rq))
				habits_of(rq)->chosen += by;
			else
				habits_of(rq)->queued += by;
}

static bool counts_are_zero(const struct ios_fifo *list)
{
	const struct iosched_request *rq;

	for (rq = ios_fifo_first(list); rq != NULL; rq = ios_fifo_next(list, rq))
		if (habits_of(rq)->queued != 0 || habits_of(rq)->chosen != 0)
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
	if (is_waiting(a) && a->awaited == NULL)
		return "a wait is for a context";
	if (is_waiting(a) && chosen != 0)
		return "nothing is chosen while waiting";
	if ((a->antic == ANTIC_AWAIT_REQUEST) != (a->env->timer != IOSCHED_NEVER))
		return "the timer runs while a request is awaited, and only then";
	if (a->antic == ANTIC_AWAIT_COMPLETION && a->unfinished == 0)
		return "an awaited completion is to come";
	if (a->unfinished < chosen)
		return "a chosen request is unfinished";
	return NULL;
}

static const char *anticipatory_audit(void *self)
{
	const struct anticipatory *a = self;
	const char *wrong = audit_side(a, SYNC);

	if (wrong == NULL)
		wrong = audit_side(a, ASYNC);
	if (wrong == NULL)
		wrong = audit_counts(a);
	return wrong != NULL ? wrong : audit_wait(a);
}

/* Bounds: a day is longer than any useful expiry; waits beyond seconds only waste the disk. */
#define MS(n) ((n)*NSEC_PER_MSEC)
#define DAY_NS (UINT64_C(86400) * 1000 * NSEC_PER_MSEC)
#define TUNABLE(name, max, initial, doc)                                                          \
	{                                                                                         \
#name, IOSCHED_UNIT_NS, 0, max, MS(initial), offsetof(struct anticipatory, name), \
			doc                                                                       \
	}
static const struct iosched_tunable anticipatory_tunables[] = {
	TUNABLE(read_expire_ns, DAY_NS, DEFAULT_READ_EXPIRE,
		"a sync request should start within this time"),
	TUNABLE(write_expire_ns, DAY_NS, DEFAULT_WRITE_EXPIRE,
		"an async request should start within this time"),
	TUNABLE(read_batch_expire_ns, DAY_NS, DEFAULT_READ_BATCH_EXPIRE,
		"time of a batch of sync requests while async ones wait"),
	TUNABLE(write_batch_expire_ns, DAY_NS, DEFAULT_WRITE_BATCH_EXPIRE,
		"time of a batch of async requests while sync ones wait"),
	TUNABLE(antic_expire_ns, MS(10000), DEFAULT_ANTIC_EXPIRE,
		"longest wait for the next request of a context; below 1 ms: none"),
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
	.audit = anticipatory_audit,
};
