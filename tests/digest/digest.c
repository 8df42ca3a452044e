/* SPDX-License-Identifier: MIT */
/*
 * digest: one number per policy for everything it decided in a long pseudo-random run.
 * compilers.sh builds this with several compilers and compares what they print.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/iosched.h>

#define N 256
#define STEPS 60000u

struct world {
	struct iosched_request rq[N];
	struct iosched_request *issued[N];
	bool in[N]; /* the queue's at the moment */
	unsigned n_issued;
	uint64_t digest, random;
	uint64_t answers; /* what the host saw, watched or not */
	iosched_time now;
	struct iosched *s;
};

/* FNV-1a over the numbers that say what happened. */
static void fnv(uint64_t *digest, uint64_t x)
{
	unsigned i;

	for (i = 0; i < 8; i++) {
		*digest ^= x >> (8 * i) & 0xff;
		*digest *= UINT64_C(0x100000001b3);
	}
}

static void mix(struct world *w, uint64_t x)
{
	fnv(&w->digest, x);
}

static uint64_t rnd(struct world *w, uint64_t below)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return w->random * UINT64_C(0x2545F4914F6CDD1D) % below;
}

static void on_event(void *user, const struct iosched_event *e)
{
	struct world *w = user;

	mix(w, (uint64_t)e->type);
	mix(w, (uint64_t)e->hold);
	mix(w, e->now);
	mix(w, e->rq == NULL ? N : (uint64_t)(e->rq - w->rq));
	mix(w, e->other == NULL ? N : (uint64_t)(e->other - w->rq));
	mix(w, e->context);
	mix(w, e->until);
}

static void insert(struct world *w)
{
	struct iosched_request *rq = &w->rq[rnd(w, N)];
	uint64_t context = 1 + rnd(w, 12);

	if (w->in[rq - w->rq])
		return;
	w->in[rq - w->rq] = true;
	rq->context = context;
	rq->op = rnd(w, 3) == 0 ? IOSCHED_WRITE : IOSCHED_READ;
	rq->flags = (uint32_t)rnd(w, 8);
	rq->length = 4096 * (1 + rnd(w, 8));
	rq->offset = context % 3 == 0 ? rnd(w, 1000000) * 4096
				      : context * 1000000000 / 4096 * 4096 + w->now / 100000 * 4096;
	rq->prio_class = (uint8_t)(context == 5	  ? IOSCHED_REALTIME
				   : context == 6 ? IOSCHED_IDLE
						  : IOSCHED_BEST_EFFORT);
	rq->prio_level = (uint8_t)(context % 9);
	mix(w, (uint64_t)(int64_t)iosched_insert(w->s, rq, w->now));
}

static void dispatch(struct world *w)
{
	struct iosched_request *rq;

	while (w->n_issued < 8 && (rq = iosched_dispatch(w->s, w->now)) != NULL) {
		fnv(&w->answers, (uint64_t)(rq - w->rq));
		w->issued[w->n_issued++] = rq;
	}
	fnv(&w->answers, iosched_next_wakeup(w->s));
	fnv(&w->answers, (uint64_t)iosched_hold_reason(w->s));
}

static void complete(struct world *w)
{
	const struct iosched_request *m;
	unsigned i;

	if (w->n_issued == 0)
		return;
	i = (unsigned)rnd(w, w->n_issued);
	iosched_complete(w->s, w->issued[i], w->now);
	w->in[w->issued[i] - w->rq] = false;
	for (m = w->issued[i]->merged; m != NULL; m = iosched_merged_next(m))
		w->in[m - w->rq] = false;
	w->issued[i] = w->issued[--w->n_issued];
}

static void cancel(struct world *w)
{
	uint64_t i = rnd(w, N);
	int got = iosched_cancel(w->s, &w->rq[i], w->now);

	if (got == 0)
		w->in[i] = false;
	mix(w, (uint64_t)(int64_t)got);
}

static void step(struct world *w)
{
	uint64_t what = rnd(w, 16);

	w->now += rnd(w, 20) * rnd(w, 200000);
	if (what < 7)
		insert(w);
	else if (what < 14)
		complete(w);
	else if (what == 14)
		iosched_timer(w->s, w->now);
	else
		cancel(w);
	dispatch(w);
}

/* The digest of all that was told, or, unwatched, of what was answered. */
static uint64_t run(const struct iosched_policy *policy, bool watched, uint64_t *answers)
{
	struct world *w = calloc(1, sizeof(*w));
	struct iosched_params p;
	uint64_t digest;
	unsigned i;

	iosched_params_init(&p, sizeof(p));
	p.policy = policy;
	p.event = watched ? on_event : NULL;
	p.user = w;
	p.measure = watched;
	if (w == NULL || iosched_create(&w->s, &p) != 0)
		exit(2);
	w->random = 42;
	w->digest = w->answers = UINT64_C(0xcbf29ce484222325);
	for (i = 0; i < STEPS; i++)
		step(w);
	for (i = 0; i <= 10000; i += 100)
		mix(w, iosched_latency_quantile(w->s, IOSCHED_LATENCY_TOTAL, i));
	while (iosched_drain(w->s, w->now) != NULL)
		;
	while (w->n_issued != 0)
		complete(w);
	digest = w->digest;
	*answers = w->answers;
	iosched_destroy(w->s);
	free(w);
	return digest;
}

/* Looking on must not change what is decided. */
static int print_policy(const struct iosched_policy *policy)
{
	uint64_t watched, alone;

	printf("%s %016" PRIx64 "\n", iosched_policy_name(policy), run(policy, true, &watched));
	run(policy, false, &alone);
	if (watched == alone)
		return 0;
	printf("%s decides otherwise when nobody watches\n", iosched_policy_name(policy));
	return 1;
}

int main(void)
{
	int differ = 0;
	unsigned i;

	for (i = 0; iosched_policy_at(i) != NULL; i++)
		differ |= print_policy(iosched_policy_at(i));
	return differ;
}
