/* SPDX-License-Identifier: MIT */
/*
 * context: who asks, and the groups above. Tells the policy what the host says of them.
 */
#include <errno.h>
#include <string.h>
#include "core/sched.h"

#define WEIGHT_MAX 1000u

/* Copy what the caller's struct has of ours: it may be older and shorter, or newer. */
static void copy_known(void *to, size_t to_size, const void *from, size_t from_size)
{
	memcpy(to, from, from_size < to_size ? from_size : to_size);
}

void iosched_context_params_init(struct iosched_context_params *p, size_t size)
{
	struct iosched_context_params ours = {.size = size, .weight = 100};

	memset(p, 0, size);
	copy_known(p, size, &ours, sizeof(ours));
}

void iosched_group_params_init(struct iosched_group_params *p, size_t size)
{
	struct iosched_group_params ours = {.size = size, .weight = 100};

	memset(p, 0, size);
	copy_known(p, size, &ours, sizeof(ours));
}

static bool any_limit(const struct iosched_limits *l)
{
	return l->min_permille || l->max_permille || l->min_bps || l->max_bps || l->min_iops ||
	       l->max_iops;
}

/* A minimum above its maximum can only be a mistake. */
static bool bad_limits(const struct iosched_limits *l)
{
	const uint64_t bps = UINT64_C(1000000000000);
	const uint32_t iops = 1000000000;

	return l->min_permille > 1000 || l->max_permille > 1000 || l->min_bps > bps ||
	       l->max_bps > bps || l->min_iops > iops || l->max_iops > iops ||
	       (l->max_permille != 0 && l->min_permille > l->max_permille) ||
	       (l->max_bps != 0 && l->min_bps > l->max_bps) ||
	       (l->max_iops != 0 && l->min_iops > l->max_iops);
}

static bool lacks_limits(const struct iosched *s, const struct iosched_limits *l)
{
	return any_limit(l) && !(s->ops->flags & IOSCHED_POLICY_LIMITS);
}

static void end_context(struct iosched *s, struct iosched_context *c)
{
	if (s->ops->context_fini != NULL)
		s->ops->context_fini(s->self, c);
	ios_ctab_forget(&s->contexts, c);
}

/* The known context `id`, made if there is room; NULL if not. */
static struct iosched_context *find_or_make(struct iosched *s, uint64_t id, iosched_time now)
{
	struct iosched_context *c = ios_ctab_find(&s->contexts, id);

	if (c != NULL)
		return c;
	c = ios_ctab_candidate(&s->contexts);
	if (c == NULL)
		return NULL;
	if (c->state == IOS_CONTEXT_KNOWN) {
		if (s->ops->context_exit != NULL)
			s->ops->context_exit(s->self, c, now);
		end_context(s, c);
	}
	ios_ctab_adopt(&s->contexts, c, id, &s->groups[0]);
	if (s->ops->context_size != 0)
		memset(c->data, 0, s->ops->context_size);
	if (s->ops->context_init != NULL)
		s->ops->context_init(s->self, c, now);
	return c;
}

/* For an unknown `id`; context 0 stands in when there is no room. */
struct iosched_context *ios_context_make(struct iosched *s, uint64_t id, iosched_time now)
{
	struct iosched_context *c = find_or_make(s, id, now);

	if (c != NULL)
		return c;
	s->stats.context_overflow++;
	return &s->contexts.entries[0];
}

/* The last request of a context whose owner is gone has ended. */
void ios_context_put_slow(struct iosched *s, struct iosched_context *c)
{
	end_context(s, c);
}

static struct iosched_group *find_group(const struct iosched *s, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < s->n_groups; i++)
		if (s->groups[i].id == id)
			return &s->groups[i];
	return NULL;
}

int iosched_context_set(struct iosched *s, uint64_t id, const struct iosched_context_params *given,
			iosched_time now)
{
	struct iosched_context_params p;
	struct iosched_group *group;
	struct iosched_context *c;

	iosched_context_params_init(&p, sizeof(p));
	if (given->size < offsetof(struct iosched_context_params, prio_class))
		return -EINVAL;
	copy_known(&p, sizeof(p), given, given->size);
	if (id == 0 || p.weight < 1 || p.weight > WEIGHT_MAX || p.prio_class > IOSCHED_IDLE ||
	    p.prio_level > 8 || bad_limits(&p.limits))
		return -EINVAL;
	if (lacks_limits(s, &p.limits) ||
	    (p.weight != 100 && !(s->ops->flags & IOSCHED_POLICY_WEIGHTS)) ||
	    (p.group != 0 && !(s->ops->flags & IOSCHED_POLICY_GROUPS)))
		return -EOPNOTSUPP;
	group = find_group(s, p.group);
	if (group == NULL)
		return -ENOENT;
	now = ios_tick(s, now);
	c = find_or_make(s, id, now);
	if (c == NULL)
		return -ENOSPC;
	ios_ctab_pin(c);
	c->weight = p.weight;
	c->prio_class = p.prio_class;
	c->prio_level = p.prio_level;
	c->group = group;
	s->priorities_set |= (p.prio_class | p.prio_level) != 0;
	ios_policy_contexts(s);
	c->limits = p.limits;
	if (s->ops->context_changed != NULL)
		s->ops->context_changed(s->self, c, now);
	ios_settle(s);
	return 0;
}

int iosched_context_exit(struct iosched *s, uint64_t id, iosched_time now)
{
	struct iosched_context *c = id == 0 ? NULL : ios_ctab_find(&s->contexts, id);

	if (c == NULL)
		return -ENOENT;
	now = ios_tick(s, now);
	ios_ctab_orphan(c);
	if (s->ops->context_exit != NULL)
		s->ops->context_exit(s->self, c, now);
	if (c->refs == 0)
		end_context(s, c);
	ios_settle(s);
	return 0;
}

static bool is_below(const struct iosched_group *g, const struct iosched_group *top)
{
	for (; g != NULL; g = g->parent)
		if (g == top)
			return true;
	return false;
}

int iosched_group_set(struct iosched *s, uint64_t id, const struct iosched_group_params *given,
		      iosched_time now)
{
	struct iosched_group_params p;
	struct iosched_group *group, *parent;

	iosched_group_params_init(&p, sizeof(p));
	if (given->size < offsetof(struct iosched_group_params, reserved))
		return -EINVAL;
	copy_known(&p, sizeof(p), given, given->size);
	if (id == 0 || p.weight < 1 || p.weight > WEIGHT_MAX || bad_limits(&p.limits))
		return -EINVAL;
	if (!(s->ops->flags & IOSCHED_POLICY_GROUPS) || lacks_limits(s, &p.limits))
		return -EOPNOTSUPP;
	parent = find_group(s, p.parent);
	if (parent == NULL)
		return -ENOENT;
	group = find_group(s, id);
	if (group != NULL && is_below(parent, group))
		return -EINVAL;
	if (group == NULL && s->n_groups > s->params.max_groups)
		return -ENOSPC;
	now = ios_tick(s, now);
	if (group == NULL) {
		group = &s->groups[s->n_groups];
		group->index = s->n_groups++;
	}
	group->id = id;
	group->weight = p.weight;
	group->limits = p.limits;
	group->parent = parent;
	if (s->ops->group_changed != NULL)
		s->ops->group_changed(s->self, group, now);
	ios_settle(s);
	return 0;
}
