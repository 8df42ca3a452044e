/* SPDX-License-Identifier: MIT */
/*
 * check: what the parts of the policy test kit share. It stands outside the
 * library and uses its public interface only.
 *
 * The policy under test is wrapped by a table of our own (shim.c) that sees every operation and
 * keeps `held`: which requests the policy has. The host (host.c) keeps `where`: what each request
 * is to the host. Scenarios (policy_check.c) make the host act. The first broken rule is
 * written to `why` and ends the run.
 */
#ifndef IOS_CHECK_CHECK_H
#define IOS_CHECK_CHECK_H

#include <iosched/policy.h>

#define CHECK_ITEMS 192u
#define CHECK_TUNABLES 64u
#define CHECK_WHY 256u

enum where { FREE, QUEUED, MERGED, ISSUED };

struct item {
	struct iosched_request rq;
	enum where where;
	bool held;	 /* by the policy under test */
	uint64_t serial; /* which insert of the run this was */
};

struct block; /* one allocation of the queue's */

struct check {
	const struct iosched_policy *ops;
	struct iosched_policy table; /* the shim's, for this run */
	struct iosched_tunable tunables[CHECK_TUNABLES];
	void *self; /* the policy's state while it runs, else NULL */
	struct iosched_policy_env *env;
	uint64_t held;

	struct iosched *queue;
	struct iosched_params params;
	iosched_time now;
	struct item items[CHECK_ITEMS];
	struct iosched_request *issued[CHECK_ITEMS + 8]; /* the policy's own flushes too */
	unsigned n_issued;
	unsigned n_waiting; /* items QUEUED */
	uint64_t serial;
	uint64_t finished; /* items completed, cancelled or drained */

	struct block *blocks;
	unsigned fail_alloc; /* 1: the next allocation fails; 0: none does */

	uint64_t random;
	uint64_t digest; /* of all events */
	const char *scenario;
	unsigned seed;
	bool failed;
	char why[CHECK_WHY];
};

/* The first call counts. Always false, so that a check can return it. */
bool check_fail(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t check_random(struct check *c, uint64_t below);

/* shim.c: c->table, a table that forwards to c->ops and looks on. False: a rule is broken. */
bool shim_prepare(struct check *c);
void shim_audit(struct check *c);

/* host.c */
void host_params(struct check *c);
bool host_create(struct check *c);
void host_destroy(struct check *c); /* gives back all memory, whatever state it is in */
struct item *host_free_item(struct check *c);
struct item *host_random_item(struct check *c, enum where where);
void host_fill(struct check *c, struct item *it); /* some request, at random */
bool host_insert(struct check *c, struct item *it);
struct item *host_dispatch(struct check *c); /* NULL: nothing, or a flush of the policy's own */
bool host_complete(struct check *c, unsigned issued);
bool host_cancel(struct check *c, struct item *it);
bool host_requeue(struct check *c, unsigned issued);
bool host_reprioritize(struct check *c, struct item *it);
bool host_switch(struct check *c, const struct iosched_policy *to);
bool host_drain(struct check *c);
/* Nothing more comes in: everything must come out. */
bool host_run_dry(struct check *c);
/* One request through: dispatch, or wait until it can be, or complete one. */
bool host_step(struct check *c, struct item **got);

#endif
