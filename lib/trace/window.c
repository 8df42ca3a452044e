/* SPDX-License-Identifier: MIT */
/* window: see window.h. */
#include "trace/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ios_trace_window_init(struct ios_trace_window *w, uint32_t capacity)
{
	uint32_t size = 1;

	/* One entry more than can be pushed: the one taken last must stay readable. */
	while (size < capacity + 1)
		size *= 2;
	memset(w, 0, sizeof(*w));
	w->slots = malloc(size * sizeof(*w->slots));
	w->ring = malloc(size * sizeof(*w->ring));
	w->times = malloc(size * sizeof(*w->times));
	if (w->slots == NULL || w->ring == NULL || w->times == NULL) {
		ios_trace_window_fini(w);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < size; i++)
		w->ring[i] = i;
	w->capacity = capacity;
	w->mask = size - 1;
	return 0;
}

void ios_trace_window_fini(struct ios_trace_window *w)
{
	free(w->slots);
	free(w->ring);
	free(w->times);
	memset(w, 0, sizeof(*w));
}

struct iosched_trace_record *ios_trace_window_slot(struct ios_trace_window *w)
{
	return &w->slots[w->ring[(w->head + w->count) & w->mask]];
}

void ios_trace_window_push(struct ios_trace_window *w)
{
	uint32_t at = w->head + w->count;
	uint32_t slot = w->ring[at & w->mask];
	iosched_time time = w->slots[slot].time;

	while (at != w->head && w->times[(at - 1) & w->mask] > time) {
		w->ring[at & w->mask] = w->ring[(at - 1) & w->mask];
		w->times[at & w->mask] = w->times[(at - 1) & w->mask];
		at--;
	}
	w->ring[at & w->mask] = slot;
	w->times[at & w->mask] = time;
	w->count++;
}

const struct iosched_trace_record *ios_trace_window_take(struct ios_trace_window *w)
{
	uint32_t slot;

	if (w->count == 0)
		return NULL;
	slot = w->ring[w->head & w->mask];
	w->head++;
	w->count--;
	return &w->slots[slot];
}
