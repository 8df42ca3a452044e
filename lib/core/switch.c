/* SPDX-License-Identifier: MIT */
/*
 * switch: start a policy, stop it, and put another in its place while
 * requests are queued and in flight.
 *
 * A policy's memory is one block: its state, its data per context, its pool.
 * All that can fail is done before the old policy loses anything.
 */
#include <errno.h>
#include <string.h>
#include "core/sched.h"

#define ALIGNMENT 16u

static size_t aligned(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

int ios_policy_check(const struct iosched_policy *p)
{
	if (p == NULL || p->size != sizeof(*p) || p->name == NULL || p->init == NULL ||
	    p->insert == NULL || p->dispatch == NULL || p->remove == NULL || p->drain == NULL)
		return -EINVAL;
	return 0;
}

static void tell_host(void *core, const struct iosched_event *event)
{
	struct iosched *s = core;

	s->params.event(s->params.user, event);
}

static void set_initial_tunables(const struct iosched_policy *ops, void *self)
{
	const struct iosched_tunable *t = ops->tunables;

	for (; t != NULL && t->name != NULL; t++)
		*(uint64_t *)(void *)((char *)self + t->member) = t->initial;
}

static size_t pool_size(const struct iosched *s, const struct iosched_policy *ops)
{
	return ops->pool_size == NULL ? 0 : ops->pool_size(&s->params);
}

/* The env as init finds it. */
static void prepare_env(struct iosched *s)
{
	s->env.params = &s->params;
	s->env.timer = IOSCHED_NEVER;
	s->env.kick = 0;
	s->env.core = s;
	s->env.tell = s->params.event == NULL ? NULL : tell_host;
}

static void init_contexts(struct iosched *s, char *data)
{
	size_t stride = aligned(s->ops->context_size);
	uint32_t i;

	for (i = 0; i < s->contexts.n; i++) {
		struct iosched_context *c = &s->contexts.entries[i];

		c->data = stride == 0 ? NULL : data + i * stride;
		if (c->state != IOS_CONTEXT_UNUSED && s->ops->context_init != NULL)
			s->ops->context_init(s->self, c, s->now);
		if (c->state == IOS_CONTEXT_GONE && s->ops->context_exit != NULL)
			s->ops->context_exit(s->self, c, s->now);
	}
}

/* A policy that is ready to run but does not yet. */
struct fresh {
	const struct iosched_policy *ops;
	char *memory;
	struct iosched_policy_env env;
};

/* All that can fail. The queue is as it was, whatever comes of it. */
static int prepare(struct iosched *s, const struct iosched_policy *ops, struct fresh *f)
{
	struct iosched_policy_env before = s->env;
	size_t fixed = aligned(ops->self_size) + aligned(ops->context_size) * s->contexts.n;
	size_t total = fixed + pool_size(s, ops);
	int error;

	f->ops = ops;
	f->memory = ios_alloc(&s->params, total);
	if (f->memory == NULL)
		return -ENOMEM;
	memset(f->memory, 0, total);
	set_initial_tunables(ops, f->memory);
	prepare_env(s);
	error = ops->init(f->memory, &s->env, f->memory + fixed, s->now);
	f->env = s->env;
	s->env = before;
	if (error != 0)
		s->params.release(s->params.user, f->memory);
	return error;
}

/* A policy that only knows priorities needs contexts once one of them has one. */
void ios_policy_contexts(struct iosched *s)
{
	uint32_t flags = s->ops->flags;

	s->wants_contexts = (flags & IOSCHED_POLICY_CONTEXTS) != 0 ||
			    ((flags & IOSCHED_POLICY_PRIORITY) && s->priorities_set);
	if (s->wants_contexts)
		s->full |= IOS_FULL_POLICY;
}

static void take_over(struct iosched *s, const struct fresh *f)
{
	s->env = f->env;
	s->ops = f->ops;
	s->self = f->memory;
	s->pause_until = IOSCHED_NEVER;
	s->pause_moved = true;
	s->hash.starts = f->ops->front_candidate == NULL ? NULL : s->starts;
	s->epoch++;
	s->fresh.epoch = s->epoch;
	s->fresh.state = IOS_RQ_QUEUED;
	s->full &= ~(uint32_t)IOS_FULL_POLICY;
	if (!(f->ops->flags & IOSCHED_POLICY_WORK_CONSERVING) || f->ops->complete != NULL)
		s->full |= IOS_FULL_POLICY;
	ios_policy_contexts(s);
	init_contexts(s, f->memory + aligned(f->ops->self_size));
}

int ios_policy_start(struct iosched *s, const struct iosched_policy *ops)
{
	struct fresh f;
	int error = prepare(s, ops, &f);

	if (error == 0)
		take_over(s, &f);
	return error;
}

void ios_policy_stop(struct iosched *s)
{
	if (s->ops->fini != NULL)
		s->ops->fini(s->self);
	s->params.release(s->params.user, s->self);
}

/* Everything the policy has queued, linked by `internal.next`, in its order. */
static struct iosched_request *drain_all(struct iosched *s)
{
	struct iosched_request *first = NULL, **end = &first, *rq;

	while ((rq = s->ops->drain(s->self)) != NULL) {
		ios_merge_forget(s, rq);
		*end = rq;
		end = &rq->internal.next;
	}
	*end = NULL;
	return first;
}

static struct iosched_request *merge_by_arrival(struct iosched_request *a,
						struct iosched_request *b)
{
	struct iosched_request *first = NULL, **end = &first;

	while (a != NULL && b != NULL) {
		struct iosched_request **from = a->inserted <= b->inserted ? &a : &b;

		*end = *from;
		*from = (*from)->internal.next;
		end = &(*end)->internal.next;
	}
	*end = a != NULL ? a : b;
	return first;
}

/* Bottom-up merge sort: stable, no recursion; slot i holds a sorted run of 2^i. */
static struct iosched_request *sort_by_arrival(struct iosched_request *list)
{
	struct iosched_request *run[64] = {NULL};
	unsigned i;

	while (list != NULL) {
		struct iosched_request *one = list;

		list = list->internal.next;
		one->internal.next = NULL;
		for (i = 0; i < 63 && run[i] != NULL; i++) {
			one = merge_by_arrival(run[i], one);
			run[i] = NULL;
		}
		run[i] = merge_by_arrival(run[i], one);
	}
	for (i = 0; i < 64; i++)
		list = merge_by_arrival(run[i], list);
	return list;
}

static void move_in(struct iosched *s, struct iosched_request *rq)
{
	if (rq->internal.context == NULL && s->wants_contexts)
		rq->internal.context = ios_context_get(s, rq->context, s->now);
	rq->internal.next = NULL;
	rq->internal.epoch = s->epoch;
	rq->internal.queue = NULL;
	rq->internal.mark = 0;
	rq->internal.unmergeable = rq->op == IOSCHED_FLUSH || (rq->flags & IOS_RQ_ALONE_FLAGS) != 0;
	if (s->merge_limit != 0 && !rq->internal.unmergeable)
		ios_merge_queued(s, rq, ios_merge_place(s, rq));
	s->ops->insert(s->self, rq, s->now);
}

int iosched_switch(struct iosched *s, const struct iosched_policy *policy, iosched_time now)
{
	struct iosched_request *list;
	struct fresh f;
	int error = ios_policy_check(policy);

	if (error != 0)
		return error;
	ios_tick(s, now);
	error = prepare(s, policy, &f);
	if (error != 0)
		return error;
	list = sort_by_arrival(drain_all(s));
	ios_policy_stop(s);
	take_over(s, &f);
	s->last_merge = NULL;
	s->stats.switches++;
	ios_event(s, IOSCHED_EVENT_SWITCH, NULL, NULL);
	while (list != NULL) {
		struct iosched_request *rq = list;

		list = rq->internal.next;
		move_in(s, rq);
	}
	ios_settle(s);
	return 0;
}
