/* SPDX-License-Identifier: MIT */
/*
 * policy_lab: a policy of one's own beside the built-in ones, in a scenario: virtual time, a
 * simulated disk, the same requests for all.
 *
 *   policy_lab FILE.scn
 *
 * The policy is `smallest`: the least request first, so that small ones need not wait for
 * large ones, but none waits longer than `expire_ns` for others that came later.
 */
#include <iosched/policy.h>
#include <iosched/policy_check.h>
#include <iosched/sim.h>
#include <stdio.h>
#include <stdlib.h>

/* [policy] */
struct smallest {
	struct iosched_list_link by_size; /* equal ones by arrival */
	uint64_t expire_ns;		  /* tunable */
};

static const struct iosched_tunable smallest_tunables[] = {
	/* As deadline's read_expire: by then somebody has noticed. */
	{"expire_ns", IOSCHED_UNIT_NS, 0, UINT64_C(60000000000), UINT64_C(500000000),
	 offsetof(struct smallest, expire_ns), "requests older than this go first"},
	{0},
};

static struct iosched_request *request_of(struct iosched_list_link *l)
{
	return (struct iosched_request *)(void *)((char *)l -
						  offsetof(struct iosched_request, internal.fifo));
}

static int smallest_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct smallest *q = self;

	(void)env, (void)pool, (void)now;
	q->by_size.prev = q->by_size.next = &q->by_size;
	return 0;
}

static void smallest_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct smallest *q = self;
	struct iosched_list_link *l = &rq->internal.fifo, *before = q->by_size.prev;

	(void)now;
	while (before != &q->by_size && request_of(before)->span_length > rq->span_length)
		before = before->prev;
	l->prev = before;
	l->next = before->next;
	l->prev->next = l->next->prev = l;
}

static void smallest_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct iosched_list_link *l = &rq->internal.fifo;

	(void)self, (void)now;
	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = l->next = l;
}

/* A merge has made `rq` larger. */
static void smallest_grown(void *self, struct iosched_request *rq, enum iosched_side side,
			   uint64_t old_offset, iosched_time now)
{
	(void)side, (void)old_offset;
	smallest_remove(self, rq, now);
	smallest_insert(self, rq, now);
}

static struct iosched_request *oldest(struct smallest *q)
{
	struct iosched_request *found = NULL;
	struct iosched_list_link *l;

	for (l = q->by_size.next; l != &q->by_size; l = l->next)
		if (found == NULL || request_of(l)->inserted < found->inserted)
			found = request_of(l);
	return found;
}

static struct iosched_request *smallest_dispatch(void *self, iosched_time now,
						 struct iosched_pause *pause)
{
	struct smallest *q = self;
	struct iosched_request *rq = oldest(q);

	if (rq == NULL) {
		pause->reason = IOSCHED_HOLD_EMPTY;
		return NULL;
	}
	if (now - rq->inserted < q->expire_ns)
		rq = request_of(q->by_size.next);
	smallest_remove(q, rq, now);
	return rq;
}

static struct iosched_request *smallest_drain(void *self)
{
	struct smallest *q = self;
	struct iosched_request *rq = oldest(q);

	if (rq != NULL)
		smallest_remove(q, rq, 0);
	return rq;
}

static const struct iosched_policy smallest = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_WORK_CONSERVING,
	.name = "smallest",
	.summary = "the least request first",
	.self_size = sizeof(struct smallest),
	.tunables = smallest_tunables,
	.init = smallest_init,
	.insert = smallest_insert,
	.dispatch = smallest_dispatch,
	.grown = smallest_grown,
	.remove = smallest_remove,
	.drain = smallest_drain,
};
/* [/policy] */

static int keeps_the_contract(void)
{
	char why[200];
	unsigned seed;

	for (seed = 1; seed <= 5; seed++)
		if (iosched_policy_check(&smallest, seed, why, sizeof(why)) != 0) {
			fprintf(stderr, "policy_lab: %s\n", why);
			return 0;
		}
	return 1;
}

/* [lab] */
static void print_run(const struct iosched_sim_case *c, const struct iosched_sim_result *r)
{
	const struct iosched_sim_row *all =
		iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS);

	printf("%-14s %8.2f MB/s   p50 %8.2f ms   p99 %8.2f ms   digest %016llx\n", c->label,
	       (double)all->bytes_per_s / 1e6, (double)all->total.p50 / 1e6,
	       (double)all->total.p99 / 1e6, (unsigned long long)r->digest);
}

static int run(const char *path, const struct iosched_policy *ours)
{
	struct iosched_sim_scenario *s = NULL;
	struct iosched_sim_result **results = NULL;
	struct iosched_sim_verdict verdict;
	struct iosched_sim_error why = {""};
	struct iosched_sim_case c;
	unsigned i, n = 0;
	int error = iosched_sim_scenario_load(&s, path, &why);

	if (error == 0)
		error = iosched_sim_scenario_add_policy(s, ours);
	if (error == 0) {
		n = iosched_sim_scenario_case_count(s);
		results = calloc(n, sizeof(struct iosched_sim_result *));
		error = results == NULL ? -1 : iosched_sim_scenario_run(s, results, &why);
	}
	if (error != 0)
		fprintf(stderr, "policy_lab: %s\n", why.text[0] != '\0' ? why.text : path);
	for (i = 0; error == 0 && iosched_sim_scenario_case(s, i, &c) == 0; i++)
		print_run(&c, results[i]);
	for (i = 0; error == 0 && iosched_sim_scenario_check(s, i, results, &verdict) == 0; i++)
		printf("%s  %s   [%s]\n", verdict.state == IOSCHED_SIM_FAILS ? "FAIL" : "    ",
		       verdict.text, verdict.figures);
	for (i = 0; results != NULL && i < n; i++)
		iosched_sim_result_free(results[i]);
	free(results);
	iosched_sim_scenario_free(s);
	return error == 0 ? 0 : 1;
}
/* [/lab] */

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: policy_lab FILE.scn\n");
		return 2;
	}
	return keeps_the_contract() ? run(argv[1], &smallest) : 1;
}
