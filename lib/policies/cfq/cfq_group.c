/* SPDX-License-Identifier: MIT */
/*
 * cfq: groups, each with trees of its own, share the device by weight.
 *
 * State: groups that have queues, by vdisktime: the device time they used divided by
 * their share. The smallest goes first. A group that wakes joins behind the last, so that
 * it cannot live off time it did not ask for.
 *
 * Share: at each level, weight among what is active there. The contexts that sit directly
 * in a group count as one child of it with the default weight. With the root alone the
 * share is 1 and nothing here changes an answer.
 */
#include "policies/cfq/cfq.h"
#include "blocks/mhash.h"

/* What the contexts directly in a group weigh against its child groups: the default of a group. */
#define OWN_WEIGHT 100u
#define ENTER_DELAY_NS (200 * NSEC_PER_MSEC)
#define ENTER_DELAY_REQUESTS 200u /* the kernel's HZ/5 */

static bool before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* One more active thing of this weight below `g`. */
static void activate(struct cfq_group *g, uint32_t weight)
{
	for (; g != NULL; g = g->parent) {
		g->active_weight += weight;
		if (g->active++ != 0)
			return;
		weight = g->weight;
	}
}

static void deactivate(struct cfq_group *g, uint32_t weight)
{
	for (; g != NULL; g = g->parent) {
		g->active_weight -= weight;
		if (--g->active != 0)
			return;
		weight = g->weight;
	}
}

static struct cfq_group **bucket_of(const struct cfq *c, const struct iosched_group *shown)
{
	return &c->group_buckets[(ios_hash_u64((uintptr_t)shown) >> 32) % c->max_groups];
}

/* The one that stands for `shown`, made if there is none yet. */
static struct cfq_group *find_or_make(struct cfq *c, const struct iosched_group *shown)
{
	struct cfq_group **bucket = bucket_of(c, shown), *g = *bucket;
	unsigned i;

	while (g != NULL && g->shown != shown)
		g = g->same_bucket;
	if (g != NULL)
		return g;
	g = &c->group_pool[c->n_groups++];
	g->shown = shown;
	g->weight = shown->weight;
	for (i = 0; i < 6; i++)
		g->tree[i / 3][i % 3].last_end = c->now;
	g->idle.last_end = c->now;
	ios_rb_clear(&g->link);
	g->same_bucket = *bucket;
	return *bucket = g;
}

/* The same, with all above it. A loop, for the host may have nested them deeply. */
struct cfq_group *ios_cfq_group_find(struct cfq *c, const struct iosched_group *shown)
{
	struct cfq_group *found = find_or_make(c, shown), *g;

	for (g = found; g->parent == NULL && g->shown->parent != NULL; g = g->parent)
		g->parent = find_or_make(c, g->shown->parent);
	return found;
}

void ios_cfq_group_update(struct cfq *c, const struct iosched_group *shown)
{
	struct cfq_group *g = ios_cfq_group_find(c, shown);
	struct cfq_group *parent = NULL;

	if (shown->parent != NULL)
		parent = ios_cfq_group_find(c, shown->parent);
	if (g->active != 0)
		deactivate(g->parent, g->weight);
	g->parent = parent;
	g->weight = shown->weight;
	if (g->active != 0)
		activate(g->parent, g->weight);
}

/* Charged by requests instead of time: a device that serves many at once, and no idling. */
static bool counts_requests(const struct cfq *c)
{
	return c->slice_idle_ns == 0 && c->tagged != 0;
}

static void link_group(struct cfq *c, struct cfq_group *g)
{
	struct iosched_tree_link **link = &c->groups.root, *parent = NULL;

	while (*link != NULL) {
		parent = *link;
		link = before(g->vdisktime, cfq_group_entry(parent)->vdisktime) ? &parent->left
										: &parent->right;
	}
	ios_rb_insert(&c->groups, &g->link, parent, link);
}

void ios_cfq_group_enter(struct cfq *c, struct cfq_group *g)
{
	const struct cfq_group *last = cfq_group_entry(ios_rb_last(&c->groups));

	if (last == NULL)
		g->vdisktime = c->min_vdisktime;
	else
		g->vdisktime = last->vdisktime +
			       (counts_requests(c) ? ENTER_DELAY_REQUESTS : ENTER_DELAY_NS);
	link_group(c, g);
	activate(g, OWN_WEIGHT);
}

/* What was left of its workload is lost with its last queue (trace pin02). */
void ios_cfq_group_leave(struct cfq *c, struct cfq_group *g)
{
	ios_rb_remove(&c->groups, &g->link);
	deactivate(g, OWN_WEIGHT);
	g->saved_ns = 0;
}

struct cfq_group *ios_cfq_group_first(struct cfq *c)
{
	struct cfq_group *g = cfq_group_entry(ios_rb_first(&c->groups));

	if (before(c->min_vdisktime, g->vdisktime))
		c->min_vdisktime = g->vdisktime;
	return g;
}

/* Its part of the device while all that are active now stay so; never 0. */
uint64_t ios_cfq_group_fraction(const struct cfq_group *g)
{
	uint64_t fraction = FRACTION_ONE * OWN_WEIGHT / g->active_weight;

	for (; g->parent != NULL; g = g->parent)
		fraction = fraction * g->weight / g->parent->active_weight;
	return fraction == 0 ? 1 : fraction;
}

/* Time since it was chosen. The kernel leaves the way to the first request out, and what
 * exceeds the slice; a group of many contexts, whose slices are short and each begin with a seek,
 * then gets a quarter more than its share. */
static uint64_t time_used(const struct cfq *c, const struct cfq_queue *q)
{
	uint64_t used = c->now - q->activated;

	return used < TICK_NS ? TICK_NS : used;
}

/* A group that only writes pays whole slices: its requests go out at once, and the device
 * works at them later. */
static uint64_t charge_of(const struct cfq *c, const struct cfq_queue *q)
{
	const struct cfq_group *g = q->group;
	uint32_t async = g->tree[CFQ_RT][CFQ_ASYNC].count + g->tree[CFQ_BE][CFQ_ASYNC].count;
	uint64_t used = time_used(c, q), whole;

	if (counts_requests(c))
		return q->slice_dispatched;
	if (q->sync || g->queues - async - g->idle.count != 0)
		return used;
	whole = ios_cfq_slice_unscaled(c, false, q->level);
	return used > whole ? used : whole;
}

/* The slice of `q`, still on its tree, ends: its group pays, and moves back among the groups. */
void ios_cfq_group_charge(struct cfq *c, const struct cfq_queue *q)
{
	struct cfq_group *g = q->group;
	uint64_t charge = cfq_mul_div(charge_of(c, q), FRACTION_ONE, ios_cfq_group_fraction(g));

	ios_rb_remove(&c->groups, &g->link);
	g->vdisktime += charge;
	link_group(c, g);
}

bool ios_cfq_group_below(const struct cfq_group *g, const struct cfq_group *top)
{
	while (g != NULL && g != top)
		g = g->parent;
	return g != NULL;
}
