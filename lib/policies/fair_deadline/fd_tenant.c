/* SPDX-License-Identifier: MIT */
/*
 * fd_tenant: groups above contexts: whose weight counts how much, and who may or must get
 * service whatever its tag.
 *
 * Effective weight of a flow: its own, times for each group above it the group's weight over the
 * sum of the weights active in it. So a group has one share however many contexts it has, and
 * tags of all flows compare, whichever group they are in. It is kept as an inverse with 16
 * fraction bits and computed again when any group's sum has changed (`weight_stamp`).
 *
 * Limits are tags in real time, as in mClock: a request moves each by its cost over the rate. A max
 * tag in the future parks the flow; of those that wait for one limiter one a lane is let out at a
 * time, so that a request costs the same however many wait. A min tag in the past makes
 * its tenant be served before weights are asked; flows of one group take turns.
 */
#include "policies/fair_deadline/fd.h"

/* Of a weight of a millionth of the default: 64 contexts of weight 1 five groups deep. */
#define INVERSE_MAX (UINT64_C(1) << 36)
#define WEIGHT_DEFAULT 100u
#define DUE_SCAN 4 /* tenants that are due but have nothing queued, passed over */

static bool is_root(const struct fd_group *g)
{
	return g->host->index == 0;
}

struct fd_group *ios_fd_group(struct fd *d, struct iosched_group *host)
{
	struct fd_group *g = &d->groups[host->index];

	if (g->host != NULL)
		return g;
	g->host = host;
	g->weight = host->weight;
	g->limit.of_group = 1;
	ios_list_init(&g->flows);
	ios_list_init(&g->groups);
	ios_list_init(&g->turn);
	if (host->parent != NULL)
		g->parent = ios_fd_group(d, host->parent);
	ios_fd_limits_changed(d, &g->limit, &host->limits, 0);
	return g;
}

static void enter_sum(struct fd *d, struct fd_group *g, uint32_t weight)
{
	for (; !is_root(g); g = g->parent) {
		g->sum += weight;
		d->weight_stamp++;
		if (g->children++ != 0)
			break;
		weight = g->weight;
	}
}

static void leave_sum(struct fd *d, struct fd_group *g, uint32_t weight)
{
	for (; !is_root(g); g = g->parent) {
		g->sum -= weight;
		d->weight_stamp++;
		if (--g->children != 0)
			break;
		weight = g->weight;
	}
}

static void due_refile(struct fd *d, struct fd_limiter *l);

static void count_active(struct fd *d, struct fd_limiter *l, int64_t by)
{
	bool was = l->n_active != 0;

	l->n_active = (uint32_t)((int64_t)l->n_active + by);
	if (was != (l->n_active != 0) && l->limits != NULL)
		due_refile(d, l);
}

static void count_active_above(struct fd *d, struct fd_group *g, int64_t by)
{
	for (; g != NULL; g = g->parent)
		count_active(d, &g->limit, by);
}

/* Its owner's weight or group is another. */
void ios_fd_flow_weight_changed(struct fd_flow *f)
{
	f->weight_stamp = 0;
	f->odd = f->owner->ctx->weight != WEIGHT_DEFAULT || !is_root(f->owner->group);
}

/* The flow becomes active or stops being so. */
void ios_fd_weigh(struct fd *d, struct fd_flow *f, bool on)
{
	count_active(d, &f->owner->limit, on ? 1 : -1);
	count_active_above(d, f->owner->group, on ? 1 : -1);
	if (on) {
		f->weight = f->owner->ctx->weight;
		d->n_odd += f->odd;
		enter_sum(d, f->owner->group, f->weight);
	} else {
		d->n_odd -= f->odd;
		leave_sum(d, f->owner->group, f->weight);
	}
}

uint64_t ios_fd_inverse_slow(struct fd *d, struct fd_flow *f)
{
	const struct fd_group *g = f->owner->group;
	uint32_t weight = f->owner->ctx->weight;
	uint64_t inverse = ((uint64_t)WEIGHT_DEFAULT << 16) / weight;

	for (; !is_root(g); g = g->parent) {
		inverse = fd_min(inverse * fd_max(g->sum, weight) / g->weight, INVERSE_MAX);
		weight = g->weight;
	}
	f->weight_stamp = d->weight_stamp;
	return f->inverse = fd_max(inverse, 1);
}

/* -- limiters -- */

static uint64_t rate_of(const struct iosched_limits *l, bool max, int dimension)
{
	switch ((enum fd_dimension)dimension) {
	case FD_TIME:
		return max ? l->max_permille : l->min_permille;
	case FD_BYTES:
		return max ? l->max_bps : l->min_bps;
	case FD_COUNT:
		return max ? l->max_iops : l->min_iops;
	case FD_DIMENSIONS:
		break;
	}
	return 0;
}

static bool has_any(const struct iosched_limits *l, bool max)
{
	return rate_of(l, max, FD_TIME) || rate_of(l, max, FD_BYTES) || rate_of(l, max, FD_COUNT);
}

static iosched_time allowed_at(const struct fd_limiter *l)
{
	return fd_max(l->max_tag[FD_TIME], fd_max(l->max_tag[FD_BYTES], l->max_tag[FD_COUNT]));
}

/* The dimension that is furthest behind. */
static iosched_time due_at(const struct fd_limiter *l)
{
	iosched_time least = IOSCHED_NEVER;
	int i;

	for (i = 0; i < FD_DIMENSIONS; i++)
		if (rate_of(l->limits, false, i) != 0)
			least = fd_min(least, l->min_tag[i]);
	return least;
}

static struct fd_limiter *by_wake(struct iosched_tree_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_limiter, wake);
}

static struct fd_limiter *by_due(struct iosched_tree_link *l)
{
	return l == NULL ? NULL : IOS_CONTAINER(l, struct fd_limiter, due);
}

static bool could_let_out(const struct fd_limiter *l)
{
	unsigned i;

	for (i = 0; i < FD_LANES; i++)
		if (l->parked[i].root != NULL && l->released[i] == NULL)
			return true;
	return false;
}

void ios_fd_wake_refile(struct fd *d, struct fd_limiter *l)
{
	struct iosched_tree_link **link = &d->wakes.root, *parent = NULL;

	if (l->waking)
		ios_rb_remove(&d->wakes, &l->wake);
	l->waking = could_let_out(l);
	if (!l->waking)
		return;
	l->wake_at = allowed_at(l);
	while (*link != NULL) {
		parent = *link;
		link = l->wake_at < by_wake(parent)->wake_at ? &parent->left : &parent->right;
	}
	ios_rb_insert(&d->wakes, &l->wake, parent, link);
}

static void due_refile(struct fd *d, struct fd_limiter *l)
{
	struct iosched_tree_link **link = &d->dues.root, *parent = NULL;

	if (l->dueing)
		ios_rb_remove(&d->dues, &l->due);
	l->dueing = l->limits != NULL && l->n_active != 0 && has_any(l->limits, false);
	if (!l->dueing)
		return;
	l->due_at = due_at(l);
	while (*link != NULL) {
		parent = *link;
		link = l->due_at < by_due(parent)->due_at ? &parent->left : &parent->right;
	}
	ios_rb_insert(&d->dues, &l->due, parent, link);
}

/* Whoever waits here is let out: the rules it waited for are gone. */
static void empty_limiter(struct fd *d, struct fd_limiter *l)
{
	unsigned i;

	for (i = 0; i < FD_LANES; i++) {
		struct fd_flow *f;

		while ((f = fd_flow_first(&l->parked[i])) != NULL)
			ios_fd_flow_let_out(d, f);
		if (l->released[i] != NULL)
			l->released[i]->released_by = NULL;
		l->released[i] = NULL;
	}
	ios_fd_wake_refile(d, l);
}

void ios_fd_limits_changed(struct fd *d, struct fd_limiter *l, const struct iosched_limits *limits,
			   iosched_time now)
{
	int i;

	if (limits != NULL && !has_any(limits, false) && !has_any(limits, true))
		limits = NULL;
	if (limits == NULL && l->limits == NULL)
		return;
	d->alarm = 0;
	d->special = 1;
	d->n_limits += limits != NULL;
	d->n_limits -= l->limits != NULL;
	empty_limiter(d, l);
	l->limits = limits;
	for (i = 0; i < FD_DIMENSIONS; i++) {
		l->max_tag[i] = limits != NULL && rate_of(limits, true, i) != 0 ? now : 0;
		l->min_tag[i] = now;
	}
	due_refile(d, l);
}

/* The limiters above a flow: its context's, its group's, and so on; NULL after the last. */
static struct fd_limiter *path_next(struct fd_flow *f, struct fd_group **at, bool first)
{
	if (first) {
		*at = f->owner->group;
		return &f->owner->limit;
	}
	if (*at == NULL)
		return NULL;
	struct fd_limiter *l = &(*at)->limit;
	*at = (*at)->parent;
	return l;
}

#define FOR_PATH(l, f, at) \
	for (l = path_next(f, &at, true); l != NULL; l = path_next(f, &at, false))

struct fd_limiter *ios_fd_over_limit(struct fd *d, struct fd_flow *f, iosched_time now)
{
	struct fd_limiter *l;
	struct fd_group *at;

	(void)d;
	FOR_PATH(l, f, at)
	if (l->limits != NULL && allowed_at(l) > now)
		return l;
	return NULL;
}

/* What `amount` in this dimension takes at `rate`, in ns. */
static uint64_t duration(int dimension, uint64_t amount, uint64_t rate)
{
	return fd_scale(amount, dimension == FD_TIME ? 1000 : FD_SEC, rate);
}

static void advance(struct fd *d, struct fd_limiter *l, const uint64_t *amount, iosched_time now)
{
	iosched_time low = now > d->t.limit_burst_ns ? now - d->t.limit_burst_ns : 0;
	iosched_time high = now + d->t.limit_burst_ns;
	int i;

	for (i = 0; i < FD_DIMENSIONS; i++) {
		uint64_t max = rate_of(l->limits, true, i), min = rate_of(l->limits, false, i);

		if (max != 0)
			l->max_tag[i] = fd_max(l->max_tag[i], low) + duration(i, amount[i], max);
		/* What weights gave it beyond its minimum buys no absence of the minimum later. */
		if (min != 0)
			l->min_tag[i] = fd_min(fd_max(l->min_tag[i], low), high) +
					duration(i, amount[i], min);
	}
	if (l->waking)
		ios_fd_wake_refile(d, l);
	if (l->dueing)
		due_refile(d, l);
}

/* A request was sent. */
void ios_fd_limit_charge(struct fd *d, struct fd_flow *f, uint64_t est, uint64_t bytes,
			 iosched_time now)
{
	uint64_t amount[FD_DIMENSIONS] = {est, bytes, 1};
	struct fd_limiter *l;
	struct fd_group *at;

	FOR_PATH(l, f, at)
	if (l->limits != NULL)
		advance(d, l, amount, now);
}

static void shift(iosched_time *tag, int64_t cost, uint64_t permille)
{
	uint64_t by;

	if (permille == 0)
		return;
	by = duration(FD_TIME, (uint64_t)(cost < 0 ? -cost : cost), permille);
	if (cost >= 0)
		*tag += by;
	else
		*tag = *tag > by ? *tag - by : 0;
}

/* It cost so much more than was charged when it was sent, or less. */
void ios_fd_limit_correct(struct fd *d, struct fd_flow *f, int64_t cost)
{
	struct fd_limiter *l;
	struct fd_group *at;

	FOR_PATH(l, f, at)
	{
		if (l->limits == NULL)
			continue;
		shift(&l->max_tag[FD_TIME], cost, l->limits->max_permille);
		shift(&l->min_tag[FD_TIME], cost, l->limits->min_permille);
		if (l->waking)
			ios_fd_wake_refile(d, l);
		if (l->dueing)
			due_refile(d, l);
	}
}

/* `f`, off the parked tree, no longer waits there. */
void ios_fd_unpark(struct fd *d, struct fd_flow *f)
{
	struct fd_limiter *l = f->parked_at;

	f->parked_at = NULL;
	ios_fd_wake_refile(d, l);
}

/* A flow that was let out was served or is queued no more: the next may come. */
void ios_fd_released_left(struct fd *d, struct fd_flow *f)
{
	struct fd_limiter *l = f->released_by;

	f->released_by = NULL;
	l->released[fd_lane(f)] = NULL;
	ios_fd_wake_refile(d, l);
}

static void let_out(struct fd *d, struct fd_limiter *l, unsigned lane, iosched_time now)
{
	struct fd_flow *f = fd_flow_first(&l->parked[lane]);
	struct fd_limiter *over = ios_fd_over_limit(d, f, now);

	if (over != NULL) {
		ios_fd_flow_park(d, f, over);
		return;
	}
	ios_fd_flow_let_out(d, f);
	f->released_by = l;
	l->released[lane] = f;
}

/* Limiters whose time has come let one flow a lane out. */
void ios_fd_wake(struct fd *d, iosched_time now)
{
	struct fd_limiter *l;
	unsigned i;

	while ((l = by_wake(ios_rb_first(&d->wakes))) != NULL && l->wake_at <= now) {
		for (i = 0; i < FD_LANES; i++)
			if (l->parked[i].root != NULL && l->released[i] == NULL)
				let_out(d, l, i, now);
		ios_fd_wake_refile(d, l);
	}
}

iosched_time ios_fd_next_wake(const struct fd *d)
{
	const struct fd_limiter *l = by_wake(ios_rb_first(&d->wakes));

	return l == NULL ? IOSCHED_NEVER : l->wake_at;
}

iosched_time ios_fd_next_due(const struct fd *d)
{
	const struct fd_limiter *l = by_due(ios_rb_first(&d->dues));

	return l == NULL ? IOSCHED_NEVER : l->due_at;
}

/* -- who is below a group: for reservations -- */

static void count_above(struct fd_group *g, int64_t by)
{
	for (; g != NULL; g = g->parent) {
		g->limit.n_queued = (uint32_t)((int64_t)g->limit.n_queued + by);
		ios_list_remove(&g->turn);
		if (g->limit.n_queued != 0 && g->parent != NULL)
			ios_list_insert_before(&g->parent->groups, &g->turn);
	}
}

/* The flow is QUEUED now, or no more. */
void ios_fd_queued(struct fd_flow *f, bool on)
{
	struct fd_group *g = f->owner->group;

	ios_list_remove(&f->turn);
	if (on)
		ios_list_insert_before(&g->flows, &f->turn);
	count_above(g, on ? 1 : -1);
}

/* It was sent something at `now`: the others' turn. */
void ios_fd_served(struct fd *d, struct fd_flow *f, iosched_time now)
{
	struct fd_group *g = f->owner->group;
	struct fd_group *up;

	for (up = g; !is_root(up); up = up->parent) {
		up->t_dispatch = now;
		if (f->async)
			up->t_async = now;
	}
	if (d->n_limits == 0)
		return;
	if (f->released_by != NULL)
		ios_fd_released_left(d, f);
	if (!ios_list_empty(&f->turn)) {
		ios_list_remove(&f->turn);
		ios_list_insert_before(&g->flows, &f->turn);
	}
	for (; g != NULL; g = g->parent) {
		g->below = !g->below;
		if (!ios_list_empty(&g->turn)) {
			ios_list_remove(&g->turn);
			ios_list_insert_before(&g->parent->groups, &g->turn);
		}
	}
}

/* When any of its tenant was sent something; 0 for those in no group. */
iosched_time ios_fd_tenant_served(const struct fd_flow *f)
{
	const struct fd_group *g = f->owner->group;
	iosched_time last = IOSCHED_NEVER;

	if (is_root(g))
		return 0;
	for (; !is_root(g); g = g->parent)
		last = fd_min(last, f->async ? g->t_async : g->t_dispatch);
	return last;
}

static struct fd_flow *pick_of_owner(struct fd_owner *o)
{
	static const unsigned by_rank[FD_CLASSES] = {IOSCHED_REALTIME, IOSCHED_BEST_EFFORT,
						     IOSCHED_IDLE};
	unsigned i;

	for (i = 0; i < FD_CLASSES; i++) {
		struct fd_flow *pair = o->flow[by_rank[i]];

		if (pair[0].place == FD_QUEUED || pair[1].place == FD_QUEUED)
			return pair[0].place == FD_QUEUED ? &pair[0] : &pair[1];
	}
	return NULL;
}

static struct fd_flow *pick_of_group(struct fd_group *g)
{
	while (ios_list_empty(&g->flows) || (g->below && !ios_list_empty(&g->groups))) {
		if (ios_list_empty(&g->groups))
			return NULL;
		g = IOS_CONTAINER(g->groups.next, struct fd_group, turn);
	}
	return IOS_CONTAINER(g->flows.next, struct fd_flow, turn);
}

/* A flow whose tenant is behind its reservation, or NULL. */
struct fd_flow *ios_fd_reserved(struct fd *d, iosched_time now)
{
	struct fd_limiter *l = by_due(ios_rb_first(&d->dues));
	struct fd_flow *f = NULL;
	int i;

	for (i = 0; i < DUE_SCAN && f == NULL && l != NULL && l->due_at <= now; i++) {
		f = l->of_group ? pick_of_group(IOS_CONTAINER(l, struct fd_group, limit))
				: pick_of_owner(IOS_CONTAINER(l, struct fd_owner, limit));
		l = by_due(ios_rb_next(&l->due));
	}
	return f;
}

/* A group has a new weight, parent or limits. */
void ios_fd_group_changed(struct fd *d, struct iosched_group *host, iosched_time now)
{
	struct fd_group *g = ios_fd_group(d, host);
	struct fd_group *parent = host->parent == NULL ? NULL : ios_fd_group(d, host->parent);
	int64_t queued = g->limit.n_queued;

	ios_list_remove(&g->turn);
	if (g->children != 0)
		leave_sum(d, g->parent, g->weight);
	count_above(g->parent, -queued);
	count_active_above(d, g->parent, -(int64_t)g->limit.n_active);
	g->parent = parent;
	g->weight = host->weight;
	if (g->children != 0)
		enter_sum(d, g->parent, g->weight);
	if (queued != 0)
		ios_list_insert_before(&parent->groups, &g->turn);
	count_above(g->parent, queued);
	count_active_above(d, g->parent, g->limit.n_active);
	d->weight_stamp++;
	ios_fd_limits_changed(d, &g->limit, &host->limits, now);
}
