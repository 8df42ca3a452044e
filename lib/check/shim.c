/* SPDX-License-Identifier: MIT */
/*
 * shim: a policy table between the core and the policy under test. Each operation is forwarded;
 * before and after it the shim checks what the policy may and must do with the request.
 *
 * State: in front of the policy's own, in the same memory: whose run it is. A request the policy
 * has no right to return is withheld from the core, so that a broken policy ends the test with a
 * sentence instead of a crash.
 */
#include "check/check.h"

#include <errno.h>
#include <string.h>

/* Keeps the policy's state aligned for any type. */
#define SHIM_BYTES 64u

struct shim {
	struct check *check;
};

static struct check *check_of(void *self)
{
	return ((struct shim *)self)->check;
}

static void *inner(void *self)
{
	return (char *)self + SHIM_BYTES;
}

/* NULL: a request of the policy's own. */
static struct item *item_of(struct check *c, const struct iosched_request *rq)
{
	unsigned i;

	for (i = 0; i < CHECK_ITEMS; i++)
		if (&c->items[i].rq == rq)
			return &c->items[i];
	return NULL;
}

static bool holds(struct check *c, const struct iosched_request *rq)
{
	struct item *it = item_of(c, rq);

	return it != NULL && it->held;
}

static void give(struct check *c, const struct iosched_request *rq)
{
	struct item *it = item_of(c, rq);

	if (it != NULL && !it->held) {
		it->held = true;
		c->held++;
	}
}

static void take(struct check *c, const struct iosched_request *rq)
{
	struct item *it = item_of(c, rq);

	if (it != NULL && it->held) {
		it->held = false;
		c->held--;
	}
}

static size_t shim_pool_size(const struct iosched_params *p)
{
	struct check *c = p->user;

	return c->ops->pool_size(p);
}

static int shim_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct check *c = env->params->user;

	((struct shim *)self)->check = c;
	c->env = env;
	c->self = inner(self);
	return c->ops->init(inner(self), env, pool, now);
}

static void shim_fini(void *self)
{
	struct check *c = check_of(self);

	if (c->held != 0)
		check_fail(c, "drain left %llu requests with the policy",
			   (unsigned long long)c->held);
	if (c->ops->fini != NULL)
		c->ops->fini(inner(self));
	c->self = NULL;
}

static void shim_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct check *c = check_of(self);

	give(c, rq);
	c->ops->insert(inner(self), rq, now);
}

static void check_pause(struct check *c, const struct iosched_pause *pause)
{
	iosched_time until = c->env->timer < pause->until ? c->env->timer : pause->until;

	if (pause->reason == IOSCHED_HOLD_NONE || pause->reason == IOSCHED_HOLD_WINDOW ||
	    pause->reason > IOSCHED_HOLD_INFLIGHT)
		check_fail(c, "dispatch gave a reason that is not a policy's (%d)",
			   (int)pause->reason);
	if (c->held == 0)
		return;
	if (pause->reason == IOSCHED_HOLD_EMPTY)
		check_fail(c, "dispatch says EMPTY while %llu requests are queued",
			   (unsigned long long)c->held);
	else if (c->env->inflight == 0 && until == IOSCHED_NEVER)
		check_fail(c, "dispatch returns nothing, nothing is in flight, and no time "
			      "is named when to ask again: the queue would hang");
}

static struct iosched_request *shim_dispatch(void *self, iosched_time now,
					     struct iosched_pause *pause)
{
	struct check *c = check_of(self);
	struct iosched_request *rq = c->ops->dispatch(inner(self), now, pause);

	if (rq == NULL) {
		check_pause(c, pause);
		return NULL;
	}
	if (holds(c, rq)) {
		take(c, rq);
		return rq;
	}
	if (item_of(c, rq) == NULL && (rq->flags & IOSCHED_RQ_INTERNAL) && c->params.can_flush)
		return rq;
	check_fail(c, "dispatch returned a request that is not queued (twice, or not its own)");
	pause->reason = IOSCHED_HOLD_INFLIGHT;
	return NULL;
}

static void shim_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	check_of(self)->ops->complete(inner(self), rq, now);
}

static void shim_timer(void *self, iosched_time now)
{
	check_of(self)->ops->timer(inner(self), now);
}

static bool shim_merge_allowed(void *self, const struct iosched_request *into,
			       const struct iosched_request *bio)
{
	return check_of(self)->ops->merge_allowed(inner(self), into, bio);
}

/* What a policy names for merging must be queued with it. */
static struct iosched_request *vetted(struct check *c, struct iosched_request *rq, const char *op)
{
	if (rq == NULL || holds(c, rq))
		return rq;
	check_fail(c, "%s named a request that is not queued", op);
	return NULL;
}

static struct iosched_request *shim_front_candidate(void *self, const struct iosched_request *bio)
{
	struct check *c = check_of(self);

	return vetted(c, c->ops->front_candidate(inner(self), bio), "front_candidate");
}

static struct iosched_request *shim_neighbour(void *self, struct iosched_request *rq,
					      enum iosched_side side)
{
	struct check *c = check_of(self);

	return vetted(c, c->ops->neighbour(inner(self), rq, side), "neighbour");
}

static void shim_grown(void *self, struct iosched_request *rq, enum iosched_side side,
		       uint64_t old_offset, iosched_time now)
{
	check_of(self)->ops->grown(inner(self), rq, side, old_offset, now);
}

static void shim_absorbed(void *self, struct iosched_request *survivor,
			  struct iosched_request *victim, iosched_time now)
{
	struct check *c = check_of(self);

	take(c, victim);
	c->ops->absorbed(inner(self), survivor, victim, now);
}

static void shim_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	struct check *c = check_of(self);

	take(c, rq);
	c->ops->remove(inner(self), rq, now);
}

static struct iosched_request *shim_drain(void *self)
{
	struct check *c = check_of(self);
	struct iosched_request *rq = c->ops->drain(inner(self));

	if (rq == NULL) {
		if (c->held != 0)
			check_fail(c, "drain says it is done while %llu requests are queued",
				   (unsigned long long)c->held);
		return NULL;
	}
	if (!holds(c, rq)) {
		check_fail(c, "drain returned a request that is not queued");
		return NULL;
	}
	take(c, rq);
	return rq;
}

static void shim_context_init(void *self, struct iosched_context *ctx, iosched_time now)
{
	check_of(self)->ops->context_init(inner(self), ctx, now);
}

static void shim_context_changed(void *self, struct iosched_context *ctx, iosched_time now)
{
	check_of(self)->ops->context_changed(inner(self), ctx, now);
}

static void shim_context_exit(void *self, struct iosched_context *ctx, iosched_time now)
{
	check_of(self)->ops->context_exit(inner(self), ctx, now);
}

static void shim_context_fini(void *self, struct iosched_context *ctx)
{
	check_of(self)->ops->context_fini(inner(self), ctx);
}

static void shim_group_changed(void *self, struct iosched_group *group, iosched_time now)
{
	check_of(self)->ops->group_changed(inner(self), group, now);
}

/* The policy knows its own entry, not our copy. */
static void shim_tunable_changed(void *self, const struct iosched_tunable *t)
{
	struct check *c = check_of(self);

	c->ops->tunable_changed(inner(self), &c->ops->tunables[t - c->tunables]);
}

void shim_audit(struct check *c)
{
	const char *wrong;

	if (c->self == NULL || c->ops->audit == NULL || c->failed)
		return;
	wrong = c->ops->audit(c->self);
	if (wrong != NULL)
		check_fail(c, "audit: not true that %s", wrong);
}

static bool sound_tunable(struct check *c, unsigned i)
{
	const struct iosched_tunable *t = &c->ops->tunables[i];
	unsigned k;

	if (t->doc == NULL || t->min > t->max || t->initial < t->min || t->initial > t->max)
		return check_fail(c, "tunable %s: min <= initial <= max, and a doc line", t->name);
	if (t->member % _Alignof(uint64_t) != 0 || t->member + sizeof(uint64_t) > c->ops->self_size)
		return check_fail(c, "tunable %s does not lie in the policy's state", t->name);
	for (k = 0; k < i; k++)
		if (strcmp(c->ops->tunables[k].name, t->name) == 0)
			return check_fail(c, "two tunables are called %s", t->name);
	return true;
}

static bool copy_tunables(struct check *c)
{
	const struct iosched_tunable *t = c->ops->tunables;
	unsigned n;

	for (n = 0; t != NULL && t[n].name != NULL; n++) {
		if (n == CHECK_TUNABLES - 1)
			return check_fail(c, "more than %u tunables", n);
		if (!sound_tunable(c, n))
			return false;
		c->tunables[n] = t[n];
		c->tunables[n].member += SHIM_BYTES;
	}
	return true;
}

#define FORWARD(op) .op = ops->op == NULL ? NULL : shim_##op

bool shim_prepare(struct check *c)
{
	const struct iosched_policy *ops = c->ops;
	struct iosched_policy table = {
		.size = sizeof(struct iosched_policy),
		.flags = ops->flags,
		.name = ops->name,
		.summary = ops->summary,
		.self_size = SHIM_BYTES + ops->self_size,
		.context_size = ops->context_size,
		.tunables = c->tunables,
		FORWARD(pool_size),
		.init = shim_init,
		.fini = shim_fini,
		.insert = shim_insert,
		.dispatch = shim_dispatch,
		FORWARD(complete),
		FORWARD(timer),
		FORWARD(merge_allowed),
		FORWARD(front_candidate),
		FORWARD(neighbour),
		FORWARD(grown),
		FORWARD(absorbed),
		.remove = shim_remove,
		.drain = shim_drain,
		FORWARD(context_init),
		FORWARD(context_changed),
		FORWARD(context_exit),
		FORWARD(context_fini),
		FORWARD(group_changed),
		FORWARD(tunable_changed),
	};

	c->table = table;
	return copy_tunables(c);
}
