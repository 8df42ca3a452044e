/* SPDX-License-Identifier: MIT */
/*
 * fd_mode: one arm or many? What the host says, or what completions say.
 *
 * Unknown rotational: t1 is the time of a random read alone, t4 the time between completions of
 * random ones with three to six more in flight. A queue inside a drive makes t1/t4 1.3 to 3.2;
 * twelve disks 4.9 to 6.2. Only like is compared with like, or one arm that serves two places looks
 * like many: a visitor's first read comes from afar, a sweep of writeback goes in order, and a
 * crowd may live within a tenth of the disk. So both are of reads after one of the same visit, and
 * either of one flow after itself, or of a crowd of several.
 *
 * An array whose controller caches is tried both ways, for a rewrite wants one arm and two
 * streams want many.
 */
#include "policies/fair_deadline/fd.h"

#define RATE 16
#define ALONE_SAMPLES 4
#define CROWD_SAMPLES 32
#define PROBE_AFTER_NS (10 * FD_SEC)
#define PROBE_REQUESTS 8
#define PROBE_CROWD 48 /* enough for a verdict, and a fifth of a second on one arm */
#define CROWD_MIN 3
#define CROWD_MAX 6
#define CLEAN_NS (5 * FD_MS) /* more dirt than this and a lone read pays for a destage (R3) */

#define TRIAL_NS (200 * FD_MS)
#define TRIAL_SKIP_NS (100 * FD_MS)
#define TRIAL_GAP_NS (10 * FD_SEC)
#define TRIAL_GAP_MAX_NS (60 * FD_SEC)
#define TRIAL_GAP_ADOPTED_NS (5 * FD_SEC)

enum { TRIAL_REST, TRIAL_HERE, TRIAL_SKIP, TRIAL_THERE };

static __attribute__((noinline)) void set_mode(struct fd *d, enum fd_mode mode, iosched_time now)
{
	d->mode = mode;
	iosched_tell(d->env, now,
		     mode == FD_SERIAL ? "one arm from now on" : "many arms from now on", 0, 0,
		     IOSCHED_NEVER);
	ios_fd_rehome_all(d);
}

void ios_fd_mode_init(struct fd *d, iosched_time now)
{
	bool many = !d->rotational || d->hint == IOSCHED_PARALLEL_YES;

	d->mode = many ? FD_PARALLEL : FD_SERIAL;
	d->t1_last = now;
	d->trial_next = now;
	d->trial_gap = TRIAL_GAP_NS;
}

static inline void judge(struct fd *d, const struct fd_gain *g, iosched_time now)
{
	if (g->n1 < ALONE_SAMPLES || g->n4 < CROWD_SAMPLES)
		return;
	if (d->mode == FD_SERIAL && g->t1 > 4 * g->t4)
		set_mode(d, FD_PARALLEL, now);
	else if (d->mode == FD_PARALLEL && 2 * g->t1 < 5 * g->t4)
		set_mode(d, FD_SERIAL, now);
}

static void mix(uint64_t *mean, uint32_t *n, uint64_t x)
{
	*mean = *n == 0 ? x : (*mean * (RATE - 1) + x) / RATE;
	if (*n < CROWD_SAMPLES)
		++*n;
}

/* A lone read: of the crowd's own flow, or of several flows. */
static inline __attribute__((always_inline)) struct fd_gain *
sample_alone(struct fd *d, const struct fd_flow *f, bool same, uint64_t dt, iosched_time now)
{
	struct fd_gain *g = &d->gain[!same];

	d->t1_last = now; /* a spoilt sample too, else we probed for ever */
	if ((same && f != d->crowd) || !ios_list_empty(&d->owing) ||
	    ios_fd_dirty(d, now) >= CLEAN_NS)
		return NULL;
	mix(&g->t1, &g->n1, dt);
	return g;
}

static struct fd_gain *sample_crowd(struct fd *d, const struct fd_flow *f, bool same, uint64_t dt,
				    iosched_time now)
{
	struct fd_gain *g = &d->gain[!same];

	d->t4_last = now;
	if (same && f != d->crowd) {
		d->crowd = f;
		*g = (struct fd_gain){0};
	}
	mix(&g->t4, &g->n4, dt);
	return g;
}

/* A request completed `dt` after the one before. */
void ios_fd_mode_sample(struct fd *d, const struct iosched_request *rq, uint64_t dt,
			iosched_time now)
{
	const struct fd_flow *f = fd_flow_of(rq);
	bool alone = (rq->internal.mark & FD_MARK_ALONE) && d->infl == 0, same = f == d->sampled;
	bool comparable = f->entity == d->sampled_at && rq->op == IOSCHED_READ && !f->async &&
			  d->async_infl == 0;
	struct fd_gain *g = NULL;

	d->sampled = f;
	d->sampled_at = f->entity;
	if ((rq->internal.mark & FD_MARK_CONTIG) || rq->span_length > 256 * FD_KIB)
		return;
	if (d->probe != 0)
		d->probe--;
	if (d->probe_crowd != 0)
		d->probe_crowd--;
	if (!comparable)
		return;
	if (alone)
		g = sample_alone(d, f, same, dt, now);
	else if (d->infl >= CROWD_MIN && d->infl <= CROWD_MAX)
		g = sample_crowd(d, f, same, dt, now);
	if (g != NULL)
		judge(d, g, now);
}

/* Must the random ones run one at a time for a while, for want of lone samples? */
bool ios_fd_mode_probing(struct fd *d, iosched_time now)
{
	if (d->probe == 0 && fd_ago(now, d->t1_last) > PROBE_AFTER_NS) {
		d->probe = PROBE_REQUESTS;
		d->t1_last = now;
	}
	return d->probe != 0;
}

/* Must they run several at a time for a while, whatever their tags say? */
bool ios_fd_mode_probing_crowd(struct fd *d, iosched_time now)
{
	if (d->probe_crowd == 0 && d->probe == 0 &&
	    fd_ago(now, d->t4_last) > (d->t4_last == 0 ? FD_SEC : PROBE_AFTER_NS)) {
		d->probe_crowd = PROBE_CROWD;
		d->t4_last = now;
	}
	return d->probe_crowd != 0 && d->probe == 0;
}

static void begin_step(struct fd *d, uint32_t step, iosched_time now)
{
	d->trial_step = step;
	d->trial_since = now;
	d->trial_cost = 0;
}

static enum fd_mode other_mode(const struct fd *d)
{
	return d->mode == FD_SERIAL ? FD_PARALLEL : FD_SERIAL;
}

/* Better by a tenth: adopt; else go back and wait longer. */
static void decide(struct fd *d, uint64_t rate, iosched_time now)
{
	begin_step(d, TRIAL_REST, now);
	if (rate * 10 >= d->trial_rate * 11) {
		d->trial_gap = TRIAL_GAP_NS;
		d->trial_next = now + TRIAL_GAP_ADOPTED_NS;
		return;
	}
	set_mode(d, other_mode(d), now);
	d->trial_next = now + d->trial_gap;
	d->trial_gap = fd_min(2 * d->trial_gap, TRIAL_GAP_MAX_NS);
}

/* Exclusive visits can pay on an array only by keeping the controller's destage apart from
 * reads: with one kind alone a trial costs its time for nothing. */
static bool reads_and_writes(const struct fd *d)
{
	return d->async_infl != 0 && d->async_infl != d->infl;
}

/* Arrays said to be parallel: a completion of `cost` by the model. */
void ios_fd_mode_trial(struct fd *d, uint64_t cost, iosched_time now)
{
	uint64_t age = fd_ago(now, d->trial_since), rate;

	d->trial_cost += cost;
	rate = d->trial_cost * 1000 / fd_max(age, 1);
	if (d->trial_step == TRIAL_REST) {
		if (reads_and_writes(d) && now >= d->trial_next)
			begin_step(d, TRIAL_HERE, now);
	} else if (d->trial_step == TRIAL_HERE && age >= TRIAL_NS) {
		d->trial_rate = rate;
		begin_step(d, TRIAL_SKIP, now);
		set_mode(d, other_mode(d), now);
	} else if (d->trial_step == TRIAL_SKIP && age >= TRIAL_SKIP_NS) {
		begin_step(d, TRIAL_THERE, now);
	} else if (d->trial_step == TRIAL_THERE && age >= TRIAL_NS) {
		decide(d, rate, now);
	}
}
