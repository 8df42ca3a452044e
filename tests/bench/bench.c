/* SPDX-License-Identifier: MIT */
/*
 * bench: what one request costs: insert, dispatch and complete at a steady depth.
 *
 *   bench policies
 *   bench POLICY|floor:loop|floor:list|floor:rbtree [queued=1024] [contexts=64] [merge=1]
 * [ops=200000] [known=0] [flash=0]
 *
 * Prints "NAME queued contexts merge ops ns_per_op". Random 4 KiB reads that never touch each
 * other, so that every merge search is made and none succeeds; 10 us between ops; one in flight.
 * `known` contexts have asked before and are idle. `flash` tells the policy of a device without an
 * arm: fair-deadline then serves it in parallel mode. The script bench.sh counts instructions by
 * running it twice with different ops under callgrind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <iosched/iosched.h>
#include "blocks/rqtree.h"

#define STEP_NS 10000u
#define SLOTS (UINT64_C(1) << 28) /* of 8 KiB: requests of 4 KiB in them never touch */

struct setting {
	const char *name;
	uint64_t queued, contexts, merge, ops, known, flash;
};

static uint64_t random_state = UINT64_C(0x853c49e6748fea9b);

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fresh(struct iosched_request *rq)
{
	rq->offset = (random_u64() % SLOTS) * 8192;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct iosched *make_queue(const struct setting *b)
{
	struct iosched_params p;
	struct iosched *s;

	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find(b->name);
	p.now = UINT64_C(1000000000);
	p.max_contexts = (uint32_t)(b->contexts + b->known);
	if (!b->merge)
		p.max_merge_bytes = 0;
	if (b->flash)
		p.rotational = false;
	if (p.policy == NULL || iosched_create(&s, &p) != 0) {
		fprintf(stderr, "bench: no queue with policy '%s'\n", b->name);
		exit(2);
	}
	return s;
}

/* Each of `known` contexts asks once. */
static iosched_time introduce(struct iosched *s, uint64_t known, uint64_t first, iosched_time now)
{
	struct iosched_request rq = {.length = 4096};
	uint64_t i;

	for (i = 0; i < known; i++) {
		struct iosched_request *out;

		fresh(&rq);
		rq.context = first + i;
		now += STEP_NS;
		iosched_insert(s, &rq, now);
		while ((out = iosched_dispatch(s, now)) == NULL) {
			now = iosched_next_wakeup(s);
			iosched_timer(s, now);
		}
		iosched_complete(s, out, now);
	}
	return now;
}

/* One request out and in again; the time it took if the policy made us wait. */
static iosched_time turn(struct iosched *s, iosched_time now)
{
	struct iosched_request *rq;

	now += STEP_NS;
	while ((rq = iosched_dispatch(s, now)) == NULL) {
		now = iosched_next_wakeup(s);
		if (now == IOSCHED_NEVER) {
			fprintf(stderr, "bench: the queue stands still\n");
			exit(1);
		}
		iosched_timer(s, now);
	}
	iosched_complete(s, rq, now);
	fresh(rq);
	iosched_insert(s, rq, now);
	return now;
}

static double run_policy(const struct setting *b)
{
	struct iosched_request *rq = calloc(b->queued, sizeof(*rq));
	struct iosched *s = make_queue(b);
	iosched_time now = introduce(s, b->known, b->contexts + 1, UINT64_C(2000000000));
	uint64_t i;
	double start;

	if (rq == NULL)
		exit(2);
	for (i = 0; i < b->queued; i++) {
		fresh(&rq[i]);
		rq[i].length = 4096;
		rq[i].context = 1 + i % b->contexts;
		iosched_insert(s, &rq[i], now);
	}
	start = seconds();
	for (i = 0; i < b->ops; i++)
		now = turn(s, now);
	start = seconds() - start;
	while (iosched_drain(s, now) != NULL)
		;
	iosched_destroy(s);
	free(rq);
	return start;
}

/* Floors: what the same pattern costs with nothing but the structure. */
struct node {
	struct node *prev, *next;
	uint64_t key;
};

/* The loop itself: a random offset for each op. */
static double run_loop(const struct setting *b)
{
	struct iosched_request rq = {0};
	double start = seconds();
	uint64_t i;

	for (i = 0; i < b->ops; i++) {
		fresh(&rq);
		__asm__ volatile("" : : "r"(&rq) : "memory");
	}
	return seconds() - start;
}

static double run_list(const struct setting *b)
{
	struct node *n = calloc(b->queued, sizeof(*n)), head = {&head, &head, 0};
	uint64_t i;
	double start;

	if (n == NULL)
		exit(2);
	for (i = 0; i < b->queued; i++) {
		n[i].prev = head.prev;
		n[i].next = &head;
		head.prev->next = &n[i];
		head.prev = &n[i];
	}
	start = seconds();
	for (i = 0; i < b->ops; i++) {
		struct node *x = head.next;

		head.next = x->next;
		x->next->prev = &head;
		x->key = random_u64();
		x->prev = head.prev;
		x->next = &head;
		head.prev->next = x;
		head.prev = x;
	}
	start = seconds() - start;
	free(n);
	return start;
}

static double run_rbtree(const struct setting *b)
{
	struct iosched_request *rq = calloc(b->queued, sizeof(*rq));
	struct ios_rqtree t = {{NULL}};
	uint64_t i;
	double start;

	if (rq == NULL)
		exit(2);
	for (i = 0; i < b->queued; i++) {
		rq[i].span_offset = (random_u64() % SLOTS) * 8192;
		ios_rqtree_insert(&t, &rq[i]);
	}
	start = seconds();
	for (i = 0; i < b->ops; i++) {
		struct iosched_request *x = ios_rqtree_first(&t);

		ios_rqtree_remove(&t, x);
		x->span_offset = (random_u64() % SLOTS) * 8192;
		ios_rqtree_insert(&t, x);
	}
	start = seconds() - start;
	free(rq);
	return start;
}

static uint64_t *member(struct setting *b, const char *name, size_t n)
{
	struct {
		const char *name;
		uint64_t *value;
	} known[] = {{"queued", &b->queued}, {"contexts", &b->contexts}, {"merge", &b->merge},
		     {"ops", &b->ops},	     {"known", &b->known},	 {"flash", &b->flash}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == n && strncmp(known[i].name, name, n) == 0)
			return known[i].value;
	return NULL;
}

static bool parse(struct setting *b, const char *arg)
{
	const char *eq = strchr(arg, '=');
	uint64_t *value = eq == NULL ? NULL : member(b, arg, (size_t)(eq - arg));

	return value != NULL && sscanf(eq + 1, "%" SCNu64, value) == 1;
}

static int list_policies(void)
{
	unsigned i;

	for (i = 0; iosched_policy_at(i) != NULL; i++)
		printf("%s\n", iosched_policy_name(iosched_policy_at(i)));
	return 0;
}

int main(int argc, char **argv)
{
	struct setting b = {NULL, 1024, 64, 1, 200000, 0, 0};
	double time;
	int i;

	if (argc < 2)
		goto usage;
	b.name = argv[1];
	if (strcmp(b.name, "policies") == 0)
		return list_policies();
	for (i = 2; i < argc; i++)
		if (!parse(&b, argv[i]))
			goto usage;
	if (b.queued == 0 || b.contexts == 0 || b.ops == 0)
		goto usage;
	if (strcmp(b.name, "floor:loop") == 0)
		time = run_loop(&b);
	else if (strcmp(b.name, "floor:list") == 0)
		time = run_list(&b);
	else if (strcmp(b.name, "floor:rbtree") == 0)
		time = run_rbtree(&b);
	else
		time = run_policy(&b);
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %.1f\n", b.name, b.queued,
	       b.contexts, b.merge, b.ops, time * 1e9 / (double)b.ops);
	return 0;
usage:
	fprintf(stderr,
		"usage: bench POLICY|floor:loop|floor:list|floor:rbtree [queued=N] [contexts=N] "
		"[merge=0|1] [ops=N] [known=N] [flash=0|1]\n");
	return 2;
}
