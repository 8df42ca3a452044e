/* SPDX-License-Identifier: MIT */
/*
 * cfq: a queue's place on a service tree, and in the prio tree in which
 * cooperators are looked for.
 *
 * A queue is on a service tree from its first request until it is expired empty, so
 * the active one stays, empty or not. Which tree is decided when it is keyed: a change of
 * class or idle window acts at the next keying. The key is the time its turn comes.
 */
#include "policies/cfq/cfq.h"

#define IDLE_CLASS_DELAY_NS (200 * NSEC_PER_MSEC)
#define FRONT_NS NSEC_PER_SEC

/* Keys are times, so they may be compared across a wrap; clocks may start at 0. */
static bool before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

static void tree_insert(struct cfq_tree *t, struct cfq_queue *q)
{
	struct iosched_tree_link **link = &t->by_key.root, *parent = NULL;
	bool leftmost = true;

	while (*link != NULL) {
		parent = *link;
		if (before(q->key, cfq_queue_entry(parent)->key)) {
			link = &parent->left;
		} else {
			link = &parent->right;
			leftmost = false;
		}
	}
	ios_rb_insert(&t->by_key, &q->link, parent, link);
	if (leftmost)
		t->first = &q->link;
	t->count++;
	q->tree = t;
}

static void tree_remove(struct cfq_queue *q)
{
	struct cfq_tree *t = q->tree;

	if (t->first == &q->link)
		t->first = ios_rb_next(&q->link);
	ios_rb_remove(&t->by_key, &q->link);
	t->count--;
	q->tree = NULL;
}

static struct cfq_tree *target_tree(const struct cfq_queue *q)
{
	return cfq_tree_for(q->group, q->prio_class, cfq_type_of(q));
}

/* A key that did not change keeps the queue where it is, before its equals (trace pin04). */
static void place(struct cfq *c, struct cfq_queue *q, uint64_t key)
{
	struct cfq_tree *target = target_tree(q);
	bool joins = q->tree == NULL;

	if (q->tree == target && q->key == key)
		return;
	if (!joins)
		tree_remove(q);
	q->key = key;
	tree_insert(target, q);
	if (!joins)
		return;
	c->busy++;
	c->busy_sync += q->sync;
	if (q->group->queues++ == 0)
		ios_cfq_group_enter(c, q->group);
}

/* The more queues there are and the shorter its slice is, the later its turn; what an earlier
 * slice left is credited. The group's count is without a queue that joins: the first
 * one is keyed into the past. */
static uint64_t key_of(const struct cfq *c, struct cfq_queue *q)
{
	uint64_t others, shorter, key;

	if (q->prio_class == CFQ_IDLE)
		return c->now + IDLE_CLASS_DELAY_NS;
	others = (uint64_t)q->group->queues - 1;
	shorter = ios_cfq_slice_unscaled(c, true, 0) - ios_cfq_slice_unscaled(c, q->sync, q->level);
	key = c->now + others * shorter - (uint64_t)q->residual;
	q->residual = 0;
	return key;
}

void ios_cfq_key(struct cfq *c, struct cfq_queue *q)
{
	place(c, q, key_of(c, q));
}

/* Before all others of its tree, which may be itself (trace exit). The residual stays. */
void ios_cfq_key_front(struct cfq *c, struct cfq_queue *q)
{
	const struct cfq_queue *first = cfq_queue_entry(target_tree(q)->first);

	if (q->prio_class == CFQ_IDLE)
		ios_cfq_key(c, q);
	else
		place(c, q, (first == NULL ? c->now : first->key) - FRONT_NS);
}

void ios_cfq_leave(struct cfq *c, struct cfq_queue *q)
{
	tree_remove(q);
	ios_coop_unfile(&q->coop);
	c->busy--;
	c->busy_sync -= q->sync;
	if (--q->group->queues == 0)
		ios_cfq_group_leave(c, q->group);
}

void ios_cfq_set_next(struct cfq_queue *q, struct iosched_request *rq)
{
	q->next = rq;
	q->coop.next = rq;
}

/* By the level its context has, boosted or not (trace pin09). Not done when a dispatch or a front
 * merge moves the next request: the place goes stale, as in the kernel (trace pin01). */
void ios_cfq_file(struct cfq *c, struct cfq_queue *q)
{
	ios_coop_unfile(&q->coop);
	if (q->next != NULL && q->prio_class != CFQ_IDLE && !q->fallback)
		ios_coop_file(&c->coop[q->own_level], &q->coop);
}

static bool may_cooperate(const struct cfq_queue *q)
{
	return q->sync && q->prio_class != CFQ_IDLE && !q->fallback && !cfq_seeky(q);
}

/* A queue that goes on where the head is, when `q` has nothing to send. Only the one the search
 * meets is looked at; if it will not do, no other is. */
struct cfq_queue *ios_cfq_close_cooperator(struct cfq *c, const struct cfq_queue *q)
{
	struct ios_coop_node *n;
	struct cfq_queue *found;

	if (!may_cooperate(q) || q->group->queues == 1)
		return NULL;
	n = ios_coop_find(&c->coop[q->own_level], c->head, CLOSE_BYTES);
	if (n == NULL)
		return NULL;
	found = IOS_CONTAINER(n, struct cfq_queue, coop);
	if (found->group != q->group || !found->sync || cfq_seeky(found) ||
	    (found->prio_class == CFQ_RT) != (q->prio_class == CFQ_RT))
		return NULL;
	return found;
}
