/* SPDX-License-Identifier: MIT */
/*
 * sched: a queue comes and goes. All its memory but the policy's is one block:
 * the queue, its contexts, their hash, its groups, the merge hash.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/sched.h"

static void *default_alloc(void *user, size_t size)
{
	(void)user;
	return malloc(size);
}

static void default_release(void *user, void *memory)
{
	(void)user;
	free(memory);
}

static const struct iosched_params defaults = {
	.size = sizeof(struct iosched_params),
	.max_contexts = 1024,
	.max_groups = 64,
	.expected_queued = 32768,
	/* The kernel's default for max_sectors_kb on the disks of the seed reports. */
	.max_merge_bytes = 512 * 1024,
	.rotational = 1,
};

static size_t known(size_t size)
{
	return size < sizeof(struct iosched_params) ? size : sizeof(struct iosched_params);
}

void iosched_params_init(struct iosched_params *p, size_t size)
{
	struct iosched_params ours = defaults;

	ours.size = size;
	ours.policy = iosched_policy_find("noop");
	memset(p, 0, size);
	memcpy(p, &ours, known(size));
}

static bool bad_params(const struct iosched_params *p)
{
	return p->max_contexts < 1 || p->max_contexts > 1u << 24 || p->max_groups > 65536 ||
	       p->expected_queued < 1 || p->expected_queued > 1u << 26 || p->rotational > 1 ||
	       p->write_cache > 1 || p->can_flush > 1 || p->array > 1 ||
	       p->parallel > IOSCHED_PARALLEL_YES || p->manual_timer > 1 || p->audit > 1 ||
	       p->measure > 1 || p->reserved1 != 0 || (p->alloc == NULL) != (p->release == NULL);
}

/* The host's parameters over ours; -EINVAL if they make no sense. */
static int read_params(struct iosched_params *ours, const struct iosched_params *given)
{
	if (given->size < offsetof(struct iosched_params, max_inflight))
		return -EINVAL;
	*ours = defaults;
	memcpy(ours, given, known(given->size));
	ours->size = sizeof(*ours);
	if (bad_params(ours) || ios_policy_check(ours->policy) != 0)
		return -EINVAL;
	if (ours->alloc == NULL) {
		ours->alloc = default_alloc;
		ours->release = default_release;
	}
	return 0;
}

/* Where each part lies in the queue's block. */
struct layout {
	size_t contexts, context_buckets, groups, merge_buckets, starts, total;
	size_t n_context_buckets, n_merge_buckets;
};

static struct layout lay_out(const struct iosched_params *p)
{
	struct layout l;
	size_t pointer = sizeof(struct iosched_hash_link *);

	l.n_context_buckets = ios_mhash_buckets(p->max_contexts);
	l.n_merge_buckets = p->max_merge_bytes == 0 ? 0 : ios_mhash_buckets(p->expected_queued);
	l.contexts = sizeof(struct iosched);
	l.context_buckets = l.contexts + sizeof(struct iosched_context) * (p->max_contexts + 1u);
	l.groups = l.context_buckets + pointer * l.n_context_buckets;
	l.merge_buckets = l.groups + sizeof(struct iosched_group) * (p->max_groups + 1u);
	l.starts = l.merge_buckets + pointer * l.n_merge_buckets;
	l.total = l.starts + sizeof(uint32_t) * l.n_merge_buckets;
	return l;
}

static void init_queue(struct iosched *s, const struct iosched_params *p, const struct layout *l)
{
	char *base = (char *)s;

	s->params = *p;
	s->born = s->epoch = ios_birthplace(s);
	s->now = p->now;
	s->window = p->max_inflight == 0 ? UINT32_MAX : p->max_inflight;
	s->merge_limit = p->max_merge_bytes;
	s->idle_since = IOSCHED_NEVER;
	s->pause_until = IOSCHED_NEVER;
	s->armed = IOSCHED_NEVER;
	s->seen_timer = IOSCHED_NEVER;
	s->hold = IOSCHED_HOLD_EMPTY;
	s->full = p->event != NULL || p->audit || p->measure ? IOS_FULL_WATCHED : 0;
	ios_fifo_init(&s->bypass);
	ios_flush_init(s);
	s->groups = (struct iosched_group *)(void *)(base + l->groups);
	s->groups[0].weight = 100;
	s->n_groups = 1;
	ios_mhash_init(&s->hash, (struct iosched_hash_link **)(void *)(base + l->merge_buckets),
		       l->n_merge_buckets);
	s->starts = (uint32_t *)(void *)(base + l->starts);
	ios_ctab_init(&s->contexts, (struct iosched_context *)(void *)(base + l->contexts),
		      p->max_contexts + 1u,
		      (struct iosched_hash_link **)(void *)(base + l->context_buckets),
		      l->n_context_buckets, &s->groups[0]);
}

int iosched_create(struct iosched **out, const struct iosched_params *given)
{
	struct iosched_params p;
	struct layout l;
	struct iosched *s;
	int error = read_params(&p, given);

	if (error != 0)
		return error;
	l = lay_out(&p);
	s = ios_alloc(&p, l.total);
	if (s == NULL)
		return -ENOMEM;
	memset(s, 0, l.total);
	init_queue(s, &p, &l);
	error = ios_policy_start(s, p.policy);
	if (error != 0) {
		p.release(p.user, s);
		return error;
	}
	ios_settle(s);
	*out = s;
	return 0;
}

int iosched_destroy(struct iosched *s)
{
	if (s == NULL)
		return 0;
	if (s->queued != 0 || s->env.inflight != 0 || s->returning != NULL)
		return -EBUSY;
	ios_policy_stop(s);
	s->params.release(s->params.user, s);
	return 0;
}

const struct iosched_policy *iosched_policy_of(const struct iosched *s)
{
	return s->ops;
}
