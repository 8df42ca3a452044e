/* SPDX-License-Identifier: MIT */
#include "sim/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Points of a time series after which the last one takes all. */
#define MAX_INTERVALS 10000000u

void ios_sim_meter_init(struct ios_sim_meter *m, uint32_t max_contexts)
{
	*m = (struct ios_sim_meter){.max_contexts = max_contexts, .until = IOSCHED_NEVER};
}

void ios_sim_meter_fini(struct ios_sim_meter *m)
{
	struct iosched_sim_histograms *h = m->allocated;

	while (h != NULL) {
		struct iosched_sim_histograms *next = h->next_allocated;

		free(h);
		h = next;
	}
	for (uint32_t i = 0; i < m->count; i++)
		free(m->meters[i].interval_bytes);
	free(m->meters);
	ios_sim_map_fini(&m->index);
	*m = (struct ios_sim_meter){0};
}

struct iosched_sim_histograms *ios_sim_meter_histograms(struct ios_sim_meter *m)
{
	struct iosched_sim_histograms *h = calloc(1, sizeof(*h));

	if (h == NULL) {
		m->failed = -ENOMEM;
		return NULL;
	}
	h->next_allocated = m->allocated;
	m->allocated = h;
	return h;
}

static uint32_t add_meter(struct ios_sim_meter *m, uint64_t context)
{
	struct ios_sim_context_meter *meter;

	if (m->count == m->room) {
		uint32_t room = m->room == 0 ? 16 : m->room * 2;
		void *meters = realloc(m->meters, room * sizeof(*m->meters));

		if (meters == NULL) {
			m->failed = -ENOMEM;
			return UINT32_MAX;
		}
		m->meters = meters;
		m->room = room;
	}
	meter = &m->meters[m->count];
	memset(meter, 0, sizeof(*meter));
	meter->context = context;
	if (context == IOSCHED_SIM_OTHER_CONTEXTS)
		strcpy(meter->name, "others");
	else
		snprintf(meter->name, sizeof(meter->name), "ctx %llu", (unsigned long long)context);
	return m->count++;
}

uint32_t ios_sim_meter_of(struct ios_sim_meter *m, uint64_t context)
{
	uint32_t i = ios_sim_map_find(&m->index, context);

	if (i != IOS_SIM_MAP_NONE)
		return i;
	if (m->count >= m->max_contexts) /* the map stays as it is: the last meter is the others' */
		return m->count > m->max_contexts ? m->max_contexts
						  : add_meter(m, IOSCHED_SIM_OTHER_CONTEXTS);
	i = ios_sim_map_get(&m->index, context);
	if (i == IOS_SIM_MAP_NONE) {
		m->failed = -ENOMEM;
		return UINT32_MAX;
	}
	return add_meter(m, context);
}

void ios_sim_meter_name(struct ios_sim_meter *m, uint32_t meter, const char *name, uint32_t weight)
{
	struct ios_sim_context_meter *c = &m->meters[meter];

	if (c->context == IOSCHED_SIM_OTHER_CONTEXTS)
		return;
	if (name != NULL)
		snprintf(c->name, sizeof(c->name), "%s", name);
	if (weight != 0)
		c->weight = weight;
}

static bool grow_series(struct ios_sim_context_meter *c, uint64_t want)
{
	uint64_t room = c->intervals * 2 > want ? c->intervals * 2 : want;
	uint64_t *bytes = realloc(c->interval_bytes, room * sizeof(*bytes));

	if (bytes == NULL)
		return false;
	for (uint64_t i = c->intervals; i < room; i++)
		bytes[i] = 0;
	c->interval_bytes = bytes;
	c->intervals = room;
	return true;
}

static void add_to_series(struct ios_sim_meter *m, struct ios_sim_context_meter *c,
			  const struct ios_sim_sample *s)
{
	uint64_t i = (s->completed - m->from) / m->interval;

	if (i >= MAX_INTERVALS)
		i = MAX_INTERVALS - 1;
	if (i >= c->intervals && !grow_series(c, i + 1)) {
		m->failed = -ENOMEM;
		return;
	}
	c->interval_bytes[i] += s->bytes;
	if (i >= m->interval_count)
		m->interval_count = i + 1;
}

void ios_sim_meter_add(struct ios_sim_meter *m, const struct ios_sim_sample *s)
{
	struct ios_sim_context_meter *c = &m->meters[s->meter];
	struct ios_sim_tally *t = &c->by_op[s->op];

	if (s->completed < m->from || s->completed > m->until)
		return;
	if (t->histograms == NULL) {
		t->histograms = ios_sim_meter_histograms(m);
		if (t->histograms == NULL)
			return;
	}
	t->requests++;
	t->bytes += s->bytes;
	t->merged += s->merged;
	t->failed += s->failed;
	ios_sim_histogram_add(&t->histograms->of[IOSCHED_LATENCY_WAIT],
			      s->dispatched - s->inserted);
	ios_sim_histogram_add(&t->histograms->of[IOSCHED_LATENCY_DEVICE],
			      s->completed - s->dispatched);
	ios_sim_histogram_add(&t->histograms->of[IOSCHED_LATENCY_TOTAL],
			      s->completed - s->inserted);
	if (m->interval != 0)
		add_to_series(m, c, s);
}
