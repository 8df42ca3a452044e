/* SPDX-License-Identifier: MIT */
#include "sim/engine.h"

#include <errno.h>
#include <stdlib.h>

/* Four children per node: half the levels of a binary heap, and a node's children share
 * one or two cache lines. */
#define ARITY 4

#define FIRST_ROOM 256

void ios_sim_engine_init(struct ios_sim_engine *e)
{
	*e = (struct ios_sim_engine){0};
}

void ios_sim_engine_fini(struct ios_sim_engine *e)
{
	for (size_t i = 0; i < e->count; i++)
		e->heap[i].event->slot = 0;
	free(e->heap);
	*e = (struct ios_sim_engine){0};
}

static bool before(const struct ios_sim_heap_entry *a, const struct ios_sim_heap_entry *b)
{
	return a->when < b->when || (a->when == b->when && a->sequence < b->sequence);
}

static void put(struct ios_sim_engine *e, size_t i, struct ios_sim_heap_entry entry)
{
	e->heap[i] = entry;
	entry.event->slot = i + 1;
}

static void sift_up(struct ios_sim_engine *e, size_t i, struct ios_sim_heap_entry entry)
{
	while (i > 0) {
		size_t parent = (i - 1) / ARITY;

		if (!before(&entry, &e->heap[parent]))
			break;
		put(e, i, e->heap[parent]);
		i = parent;
	}
	put(e, i, entry);
}

static size_t least_child(const struct ios_sim_engine *e, size_t first)
{
	size_t end = first + ARITY < e->count ? first + ARITY : e->count;
	size_t least = first;

	for (size_t i = first + 1; i < end; i++)
		if (before(&e->heap[i], &e->heap[least]))
			least = i;
	return least;
}

static void sift_down(struct ios_sim_engine *e, size_t i, struct ios_sim_heap_entry entry)
{
	for (;;) {
		size_t first = i * ARITY + 1;
		size_t child;

		if (first >= e->count)
			break;
		child = least_child(e, first);
		if (!before(&e->heap[child], &entry))
			break;
		put(e, i, e->heap[child]);
		i = child;
	}
	put(e, i, entry);
}

static bool grow(struct ios_sim_engine *e)
{
	size_t room = e->room == 0 ? FIRST_ROOM : e->room * 2;
	struct ios_sim_heap_entry *heap = realloc(e->heap, room * sizeof(*heap));

	if (heap == NULL)
		return false;
	e->heap = heap;
	e->room = room;
	return true;
}

/* Close the gap at @i with the last entry, which may belong above or below it. */
static void fill_gap(struct ios_sim_engine *e, size_t i)
{
	struct ios_sim_heap_entry last = e->heap[--e->count];

	if (i == e->count)
		return;
	if (i > 0 && before(&last, &e->heap[(i - 1) / ARITY]))
		sift_up(e, i, last);
	else
		sift_down(e, i, last);
}

void ios_sim_cancel(struct ios_sim_engine *e, struct ios_sim_event *ev)
{
	size_t slot = ev->slot;

	if (slot == 0)
		return;
	ev->slot = 0;
	fill_gap(e, slot - 1);
}

void ios_sim_schedule(struct ios_sim_engine *e, struct ios_sim_event *ev, iosched_time when)
{
	ios_sim_cancel(e, ev);
	if (e->count == e->room && !grow(e)) {
		ios_sim_stop(e, -ENOMEM);
		return;
	}
	ev->when = when > e->now ? when : e->now;
	ev->sequence = e->next_sequence++;
	e->count++;
	sift_up(e, e->count - 1, (struct ios_sim_heap_entry){ev->when, ev->sequence, ev});
}

void ios_sim_stop(struct ios_sim_engine *e, int why)
{
	if (e->stopped == 0)
		e->stopped = why;
}

static int fire_until(struct ios_sim_engine *e, iosched_time last)
{
	while (e->stopped == 0 && e->count > 0 && e->heap[0].when <= last) {
		struct ios_sim_event *ev = e->heap[0].event;

		e->fired_now = e->heap[0].when == e->now ? e->fired_now + 1 : 0;
		if (e->fired_now > IOS_SIM_INSTANT_EVENTS)
			return -ELOOP;
		e->now = e->heap[0].when;
		e->fired++;
		ios_sim_cancel(e, ev);
		ev->fire(ev->owner);
	}
	return e->stopped;
}

int ios_sim_engine_run(struct ios_sim_engine *e)
{
	return fire_until(e, IOSCHED_NEVER);
}

int ios_sim_engine_run_until(struct ios_sim_engine *e, iosched_time last)
{
	int why = fire_until(e, last);

	if (why == 0 && e->now < last) {
		e->now = last;
		e->fired_now = 0;
	}
	return why;
}
