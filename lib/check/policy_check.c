/* SPDX-License-Identifier: MIT */
/*
 * policy_check: what every policy owes its users, as scenarios. Each makes a queue, lets
 * the host act, and ends with an empty queue; the checking is done by host.c and shim.c all the
 * time, and by the scenario for what only it knows.
 */
#include <iosched/policy_check.h>
#include "check/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSEC 1000000u
#define SEC (1000u * (uint64_t)MSEC)

/* The longest expiry of any policy here is 10 s (mq-deadline's for lower classes). */
#define STARVED_NS (60 * SEC)

#define LIFE_STEPS 6000u

bool check_fail(struct check *c, const char *format, ...)
{
	va_list args;
	int n;

	if (c->failed)
		return false;
	c->failed = true;
	n = snprintf(c->why, sizeof(c->why), "%s (seed %u): ", c->scenario, c->seed);
	va_start(args, format);
	if (n >= 0 && (size_t)n < sizeof(c->why))
		vsnprintf(c->why + n, sizeof(c->why) - (size_t)n, format, args);
	va_end(args);
	return false;
}

/* splitmix64 */
uint64_t check_random(struct check *c, uint64_t below)
{
	uint64_t z = c->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static void add(struct check *c, unsigned n)
{
	while (n-- != 0 && !c->failed) {
		struct item *it = host_free_item(c);

		if (it == NULL)
			return;
		host_fill(c, it);
		host_insert(c, it);
	}
}

static void random_params(struct check *c)
{
	static const uint32_t windows[] = {0, 1, 2, 4, 32};

	c->params.max_inflight = windows[check_random(c, 5)];
	c->params.rotational = (uint8_t)check_random(c, 2);
	c->params.write_cache = (uint8_t)check_random(c, 2);
	c->params.can_flush = (uint8_t)check_random(c, 2);
	c->params.array = (uint8_t)check_random(c, 2);
	c->params.parallel = (uint8_t)check_random(c, 3);
	c->params.device_depth = windows[check_random(c, 5)];
}

static void random_tunable(struct check *c)
{
	const struct iosched_tunable *t;
	uint64_t value, back;
	unsigned n = 0;

	while (iosched_tunable_list(c->ops, n) != NULL)
		n++;
	if (n == 0 || c->self == NULL)
		return;
	t = iosched_tunable_list(c->ops, (unsigned)check_random(c, n));
	switch (check_random(c, 3)) {
	case 0:
		value = t->min;
		break;
	case 1:
		value = t->max;
		break;
	default:
		value = t->initial;
	}
	if (iosched_tunable_set(c->queue, t->name, value) != 0 ||
	    iosched_tunable_get(c->queue, t->name, &back) != 0 || back != value)
		check_fail(c, "tunable %s does not take a value of its range", t->name);
	if (t->max != UINT64_MAX && iosched_tunable_set(c->queue, t->name, t->max + 1) != -ERANGE)
		check_fail(c, "tunable %s takes a value outside its range", t->name);
	shim_audit(c);
}

static void random_switch(struct check *c)
{
	static const char *const others[] = {"noop", "deadline"};

	if (c->self == NULL || check_random(c, 3) == 0)
		host_switch(c, &c->table);
	else
		host_switch(c, iosched_policy_find(others[check_random(c, 2)]));
}

static void random_rare(struct check *c)
{
	struct item *it;

	switch (check_random(c, 12)) {
	case 0:
		(void)iosched_context_exit(c->queue, check_random(c, 12), c->now);
		shim_audit(c);
		break;
	case 1:
		random_tunable(c);
		break;
	case 2:
		random_switch(c);
		break;
	case 3:
		c->now += check_random(c, 8 * SEC);
		break;
	case 4:
	case 5:
		if (c->n_issued != 0)
			host_requeue(c, (unsigned)check_random(c, c->n_issued));
		break;
	case 6:
	case 7:
		it = host_random_item(c, QUEUED);
		if (it != NULL)
			host_reprioritize(c, it);
		break;
	default:
		it = host_random_item(c, (enum where)check_random(c, 4));
		if (it != NULL)
			host_cancel(c, it);
	}
}

static void random_step(struct check *c)
{
	uint64_t dice = check_random(c, 100);

	if (dice < 34) {
		add(c, 1);
	} else if (dice < 62) {
		host_dispatch(c);
	} else if (dice < 82) {
		if (c->n_issued != 0)
			host_complete(c, (unsigned)check_random(c, c->n_issued));
	} else if (dice < 92) {
		c->now += check_random(c, 4 * MSEC);
	} else if (dice < 96) {
		if (iosched_next_wakeup(c->queue) <= c->now)
			iosched_timer(c->queue, c->now);
		shim_audit(c);
	} else {
		random_rare(c);
	}
}

static void a_random_life_loses_nothing(struct check *c)
{
	unsigned i;

	random_params(c);
	if (!host_create(c))
		return;
	for (i = 0; i < LIFE_STEPS && !c->failed; i++)
		random_step(c);
	if (!c->failed && host_run_dry(c) && c->finished != c->serial)
		check_fail(c, "%llu requests went in, %llu came out", (unsigned long long)c->serial,
			   (unsigned long long)c->finished);
}

static void the_same_life_twice_is_the_same(struct check *c)
{
	uint64_t first, start = c->random;

	a_random_life_loses_nothing(c);
	first = c->digest;
	host_destroy(c);
	if (c->failed)
		return;
	c->random = start;
	c->digest = c->now = c->serial = c->finished = 0;
	host_params(c);
	a_random_life_loses_nothing(c);
	if (c->digest != first)
		check_fail(c, "two runs of the same calls made different decisions");
}

/* One context, one place, one kind: nothing but the arrival tells them apart. */
static bool add_equal(struct check *c, struct item *it, unsigned kind)
{
	memset(&it->rq, 0, sizeof(it->rq));
	it->rq.offset = 1u << 20;
	it->rq.length = 4096;
	it->rq.context = 1;
	it->rq.op = kind == 0 ? IOSCHED_READ : IOSCHED_WRITE;
	it->rq.flags = IOSCHED_RQ_NOMERGE | (kind == 1 ? IOSCHED_RQ_SYNC : 0u);
	return host_insert(c, it);
}

static bool take_equal(struct check *c, uint64_t *last)
{
	struct item *it;

	if (!host_step(c, &it))
		return false;
	if (it == NULL)
		return true;
	if (it->serial < *last)
		return check_fail(c, "a request overtook an equal that came before it");
	*last = it->serial;
	return c->n_issued < 4 || host_complete(c, (unsigned)check_random(c, c->n_issued));
}

static void equals_leave_in_the_order_they_came(struct check *c)
{
	unsigned i, kind = (unsigned)check_random(c, 3);
	uint64_t last = 0;

	if (!host_create(c))
		return;
	for (i = 0; i < 4 * CHECK_ITEMS && !c->failed; i++) {
		struct item *it = host_free_item(c);

		c->now += check_random(c, MSEC);
		if (it != NULL && check_random(c, 5) < 3)
			add_equal(c, it, kind);
		else
			take_equal(c, &last);
	}
	while (!c->failed && c->n_waiting != 0)
		take_equal(c, &last);
	if (!c->failed)
		host_run_dry(c);
}

static void cancelled_requests_never_come_and_the_others_do(struct check *c)
{
	unsigned i, cancelled = 0, dispatched = 0;
	struct item *it;

	c->params.max_merge_bytes = 0;
	if (!host_create(c))
		return;
	add(c, 150);
	for (i = 0; i < 75 && !c->failed; i++) {
		it = host_random_item(c, QUEUED);
		cancelled += it != NULL && host_cancel(c, it);
	}
	while (!c->failed && c->n_waiting != 0)
		dispatched += host_step(c, &it) && it != NULL;
	host_run_dry(c);
	if (cancelled + dispatched != 150)
		check_fail(c, "150 requests, %u cancelled, but %u dispatched", cancelled,
			   dispatched);
}

static void drain_gives_every_request_back_once(struct check *c)
{
	unsigned i;

	random_params(c);
	if (!host_create(c))
		return;
	add(c, 150);
	for (i = 0; i < 10 && !c->failed; i++)
		host_dispatch(c);
	iosched_quiesce(c->queue, true);
	if (!c->failed && host_drain(c) && c->finished != c->serial)
		check_fail(c, "drain gave back a request twice or not at all");
}

static void a_switch_takes_everything_along(struct check *c)
{
	unsigned n;

	random_params(c);
	if (!host_create(c))
		return;
	add(c, 100);
	for (n = 0; n < 8 && !c->failed; n++)
		host_dispatch(c);
	c->fail_alloc = 1;
	if (!c->failed && host_switch(c, &c->table))
		check_fail(c, "a switch without memory succeeded");
	c->fail_alloc = 0;
	if (c->failed || !host_switch(c, iosched_policy_find("noop")))
		return;
	add(c, 20);
	if (c->failed || !host_switch(c, &c->table) || !host_switch(c, &c->table))
		return;
	host_run_dry(c);
}

static void put(struct check *c, struct item *it, uint8_t op, uint64_t offset, uint64_t context)
{
	memset(&it->rq, 0, sizeof(it->rq));
	it->rq.offset = offset;
	it->rq.length = 64 * 1024;
	it->rq.op = op;
	it->rq.context = context;
	it->rq.flags = IOSCHED_RQ_NOMERGE;
	host_insert(c, it);
}

/* Four requests of a sequential stream are always queued; one of another context stands aside. */
static void starve(struct check *c, uint8_t stream, uint8_t victim, uint64_t at)
{
	uint64_t offset = 1u << 20;
	struct item *lone, *it;
	iosched_time start;
	unsigned i;

	for (i = 0; i < 4; i++, offset += 64 * 1024)
		put(c, host_free_item(c), stream, offset, 1);
	lone = host_free_item(c);
	put(c, lone, victim, at, 2);
	start = c->now;
	while (!c->failed && lone->where == QUEUED) {
		if (!host_step(c, &it))
			return;
		c->now += MSEC;
		while (c->n_issued != 0)
			host_complete(c, 0);
		for (; c->n_waiting < 5 && !c->failed; offset += 64 * 1024)
			put(c, host_free_item(c), stream, offset, 1);
		if (c->now - start > STARVED_NS)
			check_fail(c, "a %s starved for %u s behind a stream of %s",
				   victim == IOSCHED_READ ? "read" : "write",
				   (unsigned)(STARVED_NS / SEC),
				   stream == IOSCHED_READ ? "reads" : "writes");
	}
	host_run_dry(c);
}

static void nobody_starves(struct check *c)
{
	uint8_t kind;

	for (kind = 0; kind < 8 && !c->failed; kind++) {
		c->params.now = c->now;
		if (!host_create(c))
			return;
		starve(c, kind & 1 ? IOSCHED_WRITE : IOSCHED_READ,
		       kind & 2 ? IOSCHED_WRITE : IOSCHED_READ, kind & 4 ? 0 : (uint64_t)1 << 40);
		host_destroy(c);
	}
}

static void without_memory_nothing_is_left_behind(struct check *c)
{
	unsigned n;

	for (n = 1; n < 20; n++) {
		int error;

		c->fail_alloc = n;
		error = iosched_create(&c->queue, &c->params);
		if (error == 0)
			break;
		c->queue = NULL;
		if (error != -ENOMEM || c->blocks != NULL) {
			check_fail(c, "a create that failed left memory behind");
			return;
		}
	}
	c->fail_alloc = 0;
}

static const struct {
	const char *name;
	void (*run)(struct check *);
} scenarios[] = {
	{"without memory nothing is left behind", without_memory_nothing_is_left_behind},
	{"a random life loses nothing", a_random_life_loses_nothing},
	{"equals leave in the order they came", equals_leave_in_the_order_they_came},
	{"cancelled requests never come and the others do",
	 cancelled_requests_never_come_and_the_others_do},
	{"drain gives every request back once", drain_gives_every_request_back_once},
	{"a switch takes everything along", a_switch_takes_everything_along},
	{"nobody starves", nobody_starves},
	{"the same life twice is the same", the_same_life_twice_is_the_same},
};

static void run(struct check *c, const struct iosched_policy *policy, unsigned i, unsigned seed)
{
	memset(c, 0, sizeof(*c));
	c->ops = policy;
	c->seed = seed;
	c->random = (uint64_t)seed * 1000003u + i;
	c->scenario = scenarios[i].name;
	if (!shim_prepare(c))
		return;
	host_params(c);
	scenarios[i].run(c);
	host_destroy(c);
}

static bool usable(const struct iosched_policy *p)
{
	return p != NULL && p->size == sizeof(*p) && p->name != NULL && p->name[0] != '\0' &&
	       p->summary != NULL && p->init != NULL && p->insert != NULL && p->dispatch != NULL &&
	       p->remove != NULL && p->drain != NULL;
}

int iosched_policy_check(const struct iosched_policy *policy, unsigned seed, char *why, size_t size)
{
	struct check *c;
	unsigned i;
	int error = 0;

	if (why != NULL && size != 0)
		why[0] = '\0';
	if (!usable(policy)) {
		if (why != NULL)
			snprintf(why, size,
				 "the table lacks its size, a name, a summary or one of "
				 "init, insert, dispatch, remove, drain");
		return -EINVAL;
	}
	c = malloc(sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]) && error == 0; i++) {
		run(c, policy, i, seed);
		if (c->failed)
			error = -EPROTO;
	}
	if (error != 0 && why != NULL)
		snprintf(why, size, "%s: %s", policy->name, c->why);
	free(c);
	return error;
}
