/* SPDX-License-Identifier: MIT */
/*
 * host: a host that remembers what it has given to the queue and checks everything it gets back.
 *
 * Each item is FREE, QUEUED, MERGED or ISSUED, moved by the queue's events and by its answers; a
 * move that does not fit is a broken rule. All memory of the queue comes from here, so
 * that it can be taken back however the run ended.
 */
#include "check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MSEC 1000000u

/* How often a policy may wait in a row, with nothing in flight, before it hands out a request. */
#define MAX_WAITS 1000u

struct block {
	struct block *next, **pprev;
	_Alignas(16) char bytes[];
};

static void *host_alloc(void *user, size_t size)
{
	struct check *c = user;
	struct block *b;

	if (c->fail_alloc != 0 && --c->fail_alloc == 0)
		return NULL;
	b = malloc(sizeof(*b) + size);
	if (b == NULL)
		return NULL;
	b->next = c->blocks;
	b->pprev = &c->blocks;
	if (b->next != NULL)
		b->next->pprev = &b->next;
	c->blocks = b;
	return b->bytes;
}

static void host_release(void *user, void *memory)
{
	struct block *b = (struct block *)(void *)((char *)memory - offsetof(struct block, bytes));

	(void)user;
	*b->pprev = b->next;
	if (b->next != NULL)
		b->next->pprev = b->pprev;
	free(b);
}

static struct item *item_of(struct check *c, const struct iosched_request *rq)
{
	uintptr_t at = (uintptr_t)rq, first = (uintptr_t)c->items;

	if (at < first || at >= first + sizeof(c->items))
		return NULL;
	return &c->items[(at - first) / sizeof(struct item)];
}

/* FNV-1a over what identifies a decision. */
static void digest(struct check *c, uint64_t value)
{
	c->digest = (c->digest ^ value) * 0x100000001b3u;
}

static void host_event(void *user, const struct iosched_event *e)
{
	struct check *c = user;
	struct item *it = e->rq == NULL ? NULL : item_of(c, e->rq);

	digest(c, (uint64_t)e->type);
	digest(c, e->now);
	digest(c, it == NULL ? 0 : it->serial);
	if (it == NULL)
		return;
	if (e->type == IOSCHED_EVENT_BACK_MERGE || e->type == IOSCHED_EVENT_FRONT_MERGE ||
	    e->type == IOSCHED_EVENT_COALESCE) {
		if (it->where == QUEUED)
			c->n_waiting--;
		it->where = MERGED;
	} else if (e->type == IOSCHED_EVENT_INSERT) {
		it->where = QUEUED;
		c->n_waiting++;
	}
}

void host_params(struct check *c)
{
	struct iosched_params *p = &c->params;

	iosched_params_init(p, sizeof(*p));
	p->policy = &c->table;
	p->now = c->now;
	p->max_contexts = 8; /* fewer than the contexts that ask: slots are reused */
	p->expected_queued = CHECK_ITEMS;
	p->max_merge_bytes = 64 * 1024;
	p->alloc = host_alloc;
	p->release = host_release;
	p->event = host_event;
	p->user = c;
}

bool host_create(struct check *c)
{
	int error = iosched_create(&c->queue, &c->params);

	if (error != 0)
		return check_fail(c, "the queue cannot be created: %s", strerror(-error));
	shim_audit(c);
	return !c->failed;
}

void host_destroy(struct check *c)
{
	if (!c->failed && c->queue != NULL && iosched_destroy(c->queue) != 0)
		check_fail(c, "the queue cannot be destroyed though all requests came back");
	if (!c->failed && c->blocks != NULL)
		check_fail(c, "memory was not released");
	while (c->blocks != NULL)
		host_release(c, c->blocks->bytes);
	c->queue = NULL;
	c->self = NULL;
	c->held = 0;
	c->n_issued = c->n_waiting = 0;
	memset(c->items, 0, sizeof(c->items));
}

struct item *host_free_item(struct check *c)
{
	return host_random_item(c, FREE);
}

struct item *host_random_item(struct check *c, enum where where)
{
	unsigned start = (unsigned)check_random(c, CHECK_ITEMS), i;

	for (i = 0; i < CHECK_ITEMS; i++) {
		struct item *it = &c->items[(start + i) % CHECK_ITEMS];

		if (it->where == where)
			return it;
	}
	return NULL;
}

/* A few neighbourhoods of 64 pages each, so that requests meet and merge. */
void host_fill(struct check *c, struct item *it)
{
	struct iosched_request *rq = &it->rq;

	memset(rq, 0, sizeof(*rq));
	rq->offset = check_random(c, 6) * (1u << 30) + check_random(c, 64) * 4096;
	rq->length = (1 + check_random(c, 4)) * 4096;
	rq->context = check_random(c, 12);
	rq->op = check_random(c, 2) ? IOSCHED_READ : IOSCHED_WRITE;
	if (check_random(c, 3) == 0)
		rq->flags |= IOSCHED_RQ_SYNC;
	if (check_random(c, 10) == 0)
		rq->flags |= 1u << (1 + check_random(c, 5));
	if (check_random(c, 8) == 0)
		rq->prio_class = (uint8_t)check_random(c, 3);
	if (check_random(c, 8) == 0)
		rq->prio_level = (uint8_t)check_random(c, 9);
	if (check_random(c, 16) == 0)
		rq->deadline = c->now + check_random(c, 100) * MSEC;
	if (check_random(c, 40) == 0)
		rq->op = IOSCHED_DISCARD;
	if (check_random(c, 40) == 0) {
		rq->op = IOSCHED_FLUSH;
		rq->length = 0;
	}
}

bool host_insert(struct check *c, struct item *it)
{
	int error;

	it->serial = ++c->serial;
	error = iosched_insert(c->queue, &it->rq, c->now);
	if (error != 0)
		return check_fail(c, "insert: %s", strerror(-error));
	if (it->where != QUEUED && it->where != MERGED)
		return check_fail(c, "an inserted request is neither queued nor merged");
	shim_audit(c);
	return !c->failed;
}

/* Own extent and those merged tile the span, in order. */
static bool covers_span(struct check *c, const struct item *it)
{
	const struct iosched_request *m = it->rq.merged;
	uint64_t at = it->rq.span_offset;
	bool own = false;

	while (m != NULL || !own) {
		const struct iosched_request *next = m;

		if (!own && (m == NULL || it->rq.offset <= m->offset)) {
			next = &it->rq;
			own = true;
		} else {
			m = iosched_merged_next(m);
			if (item_of(c, next) == NULL || item_of(c, next)->where != MERGED)
				return check_fail(c, "a chain holds a request not merged");
		}
		if (next->offset != at || next->op != it->rq.op)
			return check_fail(c, "merged requests do not tile the span");
		at += next->length;
	}
	if (at != it->rq.span_offset + it->rq.span_length)
		return check_fail(c, "the span is not the sum of its requests");
	return true;
}

struct item *host_dispatch(struct check *c)
{
	struct iosched_request *rq;
	struct item *it;

	if (c->n_issued >= CHECK_ITEMS)
		return NULL;
	rq = iosched_dispatch(c->queue, c->now);
	shim_audit(c);
	if (c->failed || rq == NULL)
		return NULL;
	c->issued[c->n_issued++] = rq;
	it = item_of(c, rq);
	if (it == NULL)
		return NULL;
	if (it->where != QUEUED) {
		check_fail(c, "a request was dispatched that the host did not have queued");
		return NULL;
	}
	it->where = ISSUED;
	c->n_waiting--;
	return covers_span(c, it) ? it : NULL;
}

static void finished(struct check *c, struct item *it)
{
	it->where = FREE;
	c->finished++;
}

bool host_complete(struct check *c, unsigned issued)
{
	struct iosched_request *rq = c->issued[issued], *m;
	struct item *it = item_of(c, rq);
	int error;

	c->issued[issued] = c->issued[--c->n_issued];
	error = iosched_complete(c->queue, rq, c->now);
	if (error != 0)
		return check_fail(c, "complete: %s", strerror(-error));
	if (it != NULL) {
		for (m = rq->merged; m != NULL; m = iosched_merged_next(m))
			finished(c, item_of(c, m));
		finished(c, it);
	}
	shim_audit(c);
	return !c->failed;
}

bool host_requeue(struct check *c, unsigned issued)
{
	struct iosched_request *rq = c->issued[issued];
	struct item *it = item_of(c, rq);
	int error;

	if (it == NULL)
		return true;
	c->issued[issued] = c->issued[--c->n_issued];
	error = iosched_requeue(c->queue, rq, c->now);
	if (error != 0)
		return check_fail(c, "requeue: %s", strerror(-error));
	it->where = QUEUED;
	c->n_waiting++;
	shim_audit(c);
	return !c->failed;
}

bool host_cancel(struct check *c, struct item *it)
{
	int want = it->where == FREE				  ? -EINVAL
		   : it->where == QUEUED && it->rq.merged == NULL ? 0
								  : -EINPROGRESS;
	int error = iosched_cancel(c->queue, &it->rq, c->now);

	if (error != want)
		return check_fail(c, "cancel: %s", error == 0 ? "done" : strerror(-error));
	if (error == 0) {
		if (it->held)
			return check_fail(c, "a cancelled request is still with the policy");
		finished(c, it);
		c->n_waiting--;
	}
	shim_audit(c);
	return !c->failed;
}

bool host_reprioritize(struct check *c, struct item *it)
{
	int error = iosched_reprioritize(c->queue, &it->rq, (enum iosched_class)check_random(c, 3),
					 (unsigned)check_random(c, 9), c->now);

	if (error != (it->where == QUEUED ? 0 : -EINPROGRESS) &&
	    !(error == -EINPROGRESS && it->rq.merged != NULL))
		return check_fail(c, "reprioritize: %s", strerror(-error));
	shim_audit(c);
	return !c->failed;
}

bool host_switch(struct check *c, const struct iosched_policy *to)
{
	iosched_time arrived[CHECK_ITEMS];
	unsigned i, n = c->n_waiting;
	int error;

	for (i = 0; i < CHECK_ITEMS; i++)
		arrived[i] = c->items[i].rq.inserted;
	error = iosched_switch(c->queue, to, c->now);
	if (error == -ENOMEM)
		return false;
	if (error != 0)
		return check_fail(c, "switch: %s", strerror(-error));
	if (iosched_queued(c->queue) != c->n_waiting || c->n_waiting > n)
		return check_fail(c, "a switch lost a request or made one up");
	for (i = 0; i < CHECK_ITEMS; i++)
		if (arrived[i] != c->items[i].rq.inserted)
			return check_fail(c, "a switch changed an arrival time");
	shim_audit(c);
	return !c->failed;
}

bool host_drain(struct check *c)
{
	struct iosched_request *rq;
	unsigned i;

	while ((rq = iosched_drain(c->queue, c->now)) != NULL) {
		struct item *it = item_of(c, rq);

		if (it == NULL || it->where == FREE || it->where == ISSUED)
			return check_fail(c, "drain gave back a request that was not queued");
		if (it->where == QUEUED)
			c->n_waiting--;
		finished(c, it);
		shim_audit(c);
		if (c->failed)
			return false;
	}
	while (c->n_issued != 0)
		if (!host_complete(c, 0))
			return false;
	for (i = 0; i < CHECK_ITEMS; i++)
		if (c->items[i].where != FREE)
			return check_fail(c, "drain did not give back every request");
	return !c->failed;
}

/* Nothing came. Make something happen that must help: a completion, else the time it named. */
static bool unblock(struct check *c)
{
	iosched_time wakeup = iosched_next_wakeup(c->queue);

	if (wakeup != IOSCHED_NEVER && (c->n_issued == 0 || check_random(c, 2) == 0)) {
		if (wakeup > c->now)
			c->now = wakeup;
		iosched_timer(c->queue, c->now);
		shim_audit(c);
		return !c->failed;
	}
	c->now += MSEC / 2;
	if (c->n_issued != 0)
		return host_complete(c, (unsigned)check_random(c, c->n_issued));
	return check_fail(c, "%u requests are queued, none is in flight, and next_wakeup is never",
			  c->n_waiting);
}

bool host_step(struct check *c, struct item **got)
{
	unsigned waits = 0;

	*got = NULL;
	while (c->n_waiting != 0) {
		*got = host_dispatch(c);
		if (*got != NULL || c->failed)
			return !c->failed;
		if (c->n_issued != 0)
			waits = 0;
		if (++waits > MAX_WAITS)
			return check_fail(c, "%u waits in a row and nothing dispatched", MAX_WAITS);
		if (!unblock(c))
			return false;
	}
	return true;
}

bool host_run_dry(struct check *c)
{
	struct item *it;

	while (c->n_waiting != 0 || c->n_issued != 0) {
		if (c->n_waiting != 0) {
			if (!host_step(c, &it))
				return false;
		} else if (!host_complete(c, (unsigned)check_random(c, c->n_issued))) {
			return false;
		}
	}
	if (iosched_queued(c->queue) != 0)
		return check_fail(c, "the queue counts requests that nobody has inserted");
	return true;
}
