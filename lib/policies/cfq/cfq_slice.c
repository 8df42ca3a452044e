/* SPDX-License-Identifier: MIT */
/*
 * cfq: how long a queue may have the device, and how long a workload (the
 * queues of one class and type) may.
 *
 * State: per group and class a damped count of busy queues. It rises at once and falls
 * slowly, and every computation of a slice moves it, also one that only serves to
 * know what an interrupted queue had left.
 */
#include "policies/cfq/cfq.h"

#define MIN_WORKLOAD_NS (2 * TICK_NS)

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A fifth more or less per level; level 4 has the tunable itself. */
uint64_t ios_cfq_slice_unscaled(const struct cfq *c, bool sync, unsigned level)
{
	uint64_t base = sync ? c->slice_sync_ns : c->slice_async_ns;

	return level <= 4 ? base + base / 5 * (4 - level) : base - base / 5 * (level - 4);
}

/* What a group should get within the target latency. */
static uint64_t group_slice(const struct cfq *c, const struct cfq_group *g)
{
	return cfq_mul_div(c->target_latency_ns, ios_cfq_group_fraction(g), FRACTION_ONE);
}

/* Idle-class queues count as BE ones (trace pin06). */
static uint32_t average_busy(struct cfq_group *g, enum cfq_class class)
{
	enum cfq_class counted = class == CFQ_RT ? CFQ_RT : CFQ_BE;
	uint32_t now = cfq_busy_in(g, counted), *average = &g->average[counted];
	uint32_t high = now > *average ? now : *average;
	uint32_t low = now < *average ? now : *average;

	return *average = (3 * high + low + 2) / 4;
}

/* Low latency: when the slices of all would take longer than the target, each is shortened
 * in proportion, but not below two idle waits of a level 4 queue. */
uint64_t ios_cfq_slice(struct cfq *c, struct cfq_queue *q)
{
	uint64_t slice = ios_cfq_slice_unscaled(c, q->sync, q->level);
	uint64_t expected, share, least;

	if (!c->low_latency)
		return slice;
	expected = c->slice_sync_ns * average_busy(q->group, q->prio_class);
	share = group_slice(c, q->group);
	if (expected <= share)
		return slice;
	least = cfq_mul_div(2 * c->slice_idle_ns, slice, c->slice_sync_ns);
	return max_u64(cfq_mul_div(slice, share, expected), min_u64(slice, least));
}

/* The served type's part of the target latency. Async gets no more than its part of all queues on
 * the device, and of that what an async slice is to a sync one. */
uint64_t ios_cfq_workload_slice(const struct cfq *c, struct cfq_group *g)
{
	const struct cfq_tree *rt = g->tree[CFQ_RT], *be = g->tree[CFQ_BE];
	uint64_t count = g->tree[c->served_class][c->served_type].count;
	uint64_t of = max_u64(g->average[c->served_class], cfq_busy_in(g, c->served_class));
	uint64_t slice = cfq_mul_div(group_slice(c, g), count, of);

	if (c->served_type == CFQ_ASYNC) {
		slice = min_u64(slice,
				cfq_mul_div(c->target_latency_ns,
					    rt[CFQ_ASYNC].count + be[CFQ_ASYNC].count, c->busy));
		slice = cfq_mul_div(slice, c->slice_async_ns, c->slice_sync_ns);
	} else {
		slice = max_u64(slice, 2 * c->slice_idle_ns);
	}
	return max_u64(slice, MIN_WORKLOAD_NS);
}
