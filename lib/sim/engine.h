/* SPDX-License-Identifier: MIT */
/*
 * The engine: a clock that jumps from event to event.
 *
 * State: now; a heap of pending events ordered by (time, sequence number of
 * scheduling). The order is total, so nothing depends on the heap's shape.
 *
 * Events are embedded in what they belong to; the heap holds pointers and is the
 * only thing that grows. When it cannot, the engine stops with -ENOMEM.
 */
#ifndef IOS_SIM_ENGINE_H
#define IOS_SIM_ENGINE_H

#include <iosched/iosched.h>

/* Zero-initialise, set fire and owner once; then it can be scheduled again and again. */
struct ios_sim_event {
	iosched_time when;
	uint64_t sequence;
	size_t slot; /* place in the heap + 1; 0 = not pending */
	void (*fire)(void *owner);
	void *owner;
};

struct ios_sim_heap_entry {
	iosched_time when;
	uint64_t sequence;
	struct ios_sim_event *event;
};

/* So many events at one instant mean that time has stopped: the longest legitimate run of
 * them is a trace replayed at once. */
#define IOS_SIM_INSTANT_EVENTS (UINT64_C(1) << 26)

struct ios_sim_engine {
	iosched_time now;
	uint64_t next_sequence;
	uint64_t fired;
	uint64_t fired_now; /* at this instant */
	struct ios_sim_heap_entry *heap;
	size_t count;
	size_t room;
	uint64_t devices; /* made on it so far; each that needs randomness has its own */
	int stopped;	  /* 0, or why run() returns: 1 asked to, -errno failed */
};

void ios_sim_engine_init(struct ios_sim_engine *e);
void ios_sim_engine_fini(struct ios_sim_engine *e);

static inline void ios_sim_event_init(struct ios_sim_event *ev, void (*fire)(void *), void *owner)
{
	*ev = (struct ios_sim_event){.fire = fire, .owner = owner};
}

static inline bool ios_sim_event_pending(const struct ios_sim_event *ev)
{
	return ev->slot != 0;
}

/* Let @ev fire at @when (now, if that is past). A pending event is moved. */
void ios_sim_schedule(struct ios_sim_engine *e, struct ios_sim_event *ev, iosched_time when);

/* No effect if it is not pending. */
void ios_sim_cancel(struct ios_sim_engine *e, struct ios_sim_event *ev);

/* The current event is the last one; run() returns @why (1, or -errno). First one wins. */
void ios_sim_stop(struct ios_sim_engine *e, int why);

/* Fire events in order until stop or until none is left.
 * Returns 0: none left; otherwise what stop was given, or -ELOOP: time has stopped. */
int ios_sim_engine_run(struct ios_sim_engine *e);

/* Fire those due at @last or before, in order; then it is @last. Returns as run(). */
int ios_sim_engine_run_until(struct ios_sim_engine *e, iosched_time last);

#endif
