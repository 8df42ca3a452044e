/* SPDX-License-Identifier: MIT */
/*
 * cfq26_tree: the one service tree, on which busy queues wait for their turn.
 *
 * Order: realtime first, idle class last; then by key, which is a time: when the queue
 * was put there, plus what a queue with a short slice waits longer, less the slice it did
 * not use. Equal keys go right.
 *
 * A queue's class is looked at only when it is put in, so a change of class can leave the tree
 * out of order; its red-black shape then decides where later ones go (trace procs).
 */
#include "policies/cfq_2_6/cfq26.h"

/* Idle-class queues line up this far behind each other. */
#define IDLE_DELAY_TICKS 200u
/* A preempting queue goes this far before the first. */
#define FRONT_TICKS 1000u
/* Each level is worth a fifth of the base slice. */
#define SLICE_SCALE 5

static uint64_t slice_of(const struct cfq26 *c, bool sync, unsigned level)
{
	int64_t base = (int64_t)c->slice[sync];

	return (uint64_t)(base + base / SLICE_SCALE * (4 - (int64_t)level));
}

uint64_t ios_cfq26_slice_ticks(const struct cfq26 *c, const struct cfq26_queue *q)
{
	return slice_of(c, q->sync, q->level);
}

/* The longer the others' slices, the later. The kernel multiplies unsigned 32-bit numbers: a
 * slice longer than that of the best sync level gives a key 49 days ahead, not an earlier one
 * (trace fz-2104). */
static uint64_t offset_ticks(const struct cfq26 *c, const struct cfq26_queue *q)
{
	uint32_t shorter = (uint32_t)(slice_of(c, true, 0) - ios_cfq26_slice_ticks(c, q));

	return (uint32_t)((c->busy - 1) * shorter);
}

/* The last is the last of the whole tree, of whatever class (trace fz-2110). */
static uint64_t idle_key(const struct cfq26 *c, const struct cfq26_queue *q)
{
	const struct cfq26_queue *last = ios_cfq26_served(ios_rb_last(&c->service));

	return IDLE_DELAY_TICKS + (last == NULL || last == q ? c->tick : last->key);
}

/* The first may be the queue itself, and of any class (trace fz-2110). */
static uint64_t front_key(const struct cfq26 *c)
{
	const struct cfq26_queue *first = ios_cfq26_served(ios_rb_first(&c->service));

	return (first == NULL ? c->tick : first->key) - FRONT_TICKS;
}

/* Only this one uses up the residual (trace fz-2305). */
static uint64_t turn_key(const struct cfq26 *c, struct cfq26_queue *q)
{
	uint64_t key = c->tick + offset_ticks(c, q) - (uint64_t)q->residual;

	q->residual = 0;
	return key;
}

static bool goes_before(const struct cfq26_queue *a, const struct cfq26_queue *b)
{
	bool realtime_a = a->prio_class == IOSCHED_REALTIME;
	bool realtime_b = b->prio_class == IOSCHED_REALTIME;

	if (realtime_a != realtime_b)
		return realtime_a;
	if (ios_cfq26_is_idle_class(a) != ios_cfq26_is_idle_class(b))
		return ios_cfq26_is_idle_class(b);
	return (int64_t)(a->key - b->key) < 0;
}

static void insert(struct cfq26 *c, struct cfq26_queue *q)
{
	struct iosched_tree_link **link = &c->service.root;
	struct iosched_tree_link *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = goes_before(q, ios_cfq26_served(parent)) ? &parent->left : &parent->right;
	}
	ios_rb_insert(&c->service, &q->service, parent, link);
}

/* Put the queue on the tree, or give the one there a new place: by its turn, or `front`,
 * before all others. */
void ios_cfq26_key(struct cfq26 *c, struct cfq26_queue *q, bool front)
{
	uint64_t key;

	if (!q->busy)
		c->busy++; /* before the key: it counts itself */
	if (ios_cfq26_is_idle_class(q))
		key = idle_key(c, q);
	else
		key = front ? front_key(c) : turn_key(c, q);
	if (q->busy) {
		/* An unchanged key stays before its equals (trace fz-2187). */
		if (key == q->key)
			return;
		ios_rb_remove(&c->service, &q->service);
	}
	q->busy = true;
	q->key = key;
	insert(c, q);
}

/* The queue ran dry. */
void ios_cfq26_unkey(struct cfq26 *c, struct cfq26_queue *q)
{
	ios_rb_remove(&c->service, &q->service);
	q->busy = false;
	c->busy--;
}
