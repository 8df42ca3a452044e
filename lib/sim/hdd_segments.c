/* SPDX-License-Identifier: MIT */
#include "sim/hdd_segments.h"

#include <stddef.h>

/* A read that skips so few sectors past the reading position waits for them to pass
 * rather than give the position up: 32 KiB are .4 ms at 80 MB/s, a turn is 8 ms. */
#define SKIP_SECTORS 64

uint64_t ios_sim_segments_reached(const struct ios_sim_segments *s, uint64_t now)
{
	uint64_t at = s->base_lba;

	if (now > s->base_ns)
		at += ios_sim_sectors_in(s->geometry, s->base_lba, now - s->base_ns);
	return at < s->limit ? at : s->limit;
}

static uint64_t end_of(const struct ios_sim_segments *s, const struct ios_sim_segment *seg,
		       uint64_t now)
{
	return seg == s->active ? ios_sim_segments_reached(s, now) : seg->end;
}

static uint64_t start_of(const struct ios_sim_segments *s, const struct ios_sim_segment *seg,
			 uint64_t end)
{
	return end - seg->start > s->size ? end - s->size : seg->start;
}

static struct ios_sim_segment *holder_of(struct ios_sim_segments *s, uint64_t a, uint64_t b,
					 uint64_t now)
{
	for (unsigned i = 0; i < s->count; i++) {
		struct ios_sim_segment *seg = &s->segment[i];
		uint64_t end = end_of(s, seg, now);

		if (b <= end && a >= start_of(s, seg, end))
			return seg;
	}
	return NULL;
}

bool ios_sim_segments_hold(struct ios_sim_segments *s, uint64_t a, uint64_t b, uint64_t now)
{
	return holder_of(s, a, b, now) != NULL;
}

struct ios_sim_segment *ios_sim_segments_find(struct ios_sim_segments *s, uint64_t a, uint64_t b,
					      uint64_t now)
{
	struct ios_sim_segment *seg = holder_of(s, a, b, now);

	if (seg != NULL)
		seg->used = ++s->stamp;
	return seg;
}

struct ios_sim_segment *ios_sim_segments_find_part(struct ios_sim_segments *s, uint64_t a)
{
	for (unsigned i = 0; i < s->count; i++) {
		struct ios_sim_segment *seg = &s->segment[i];

		if (seg != s->active && a >= seg->start && a < seg->end)
			return seg;
	}
	return NULL;
}

bool ios_sim_segments_continues(const struct ios_sim_segments *s, uint64_t a, uint64_t b,
				uint64_t now)
{
	uint64_t end;

	if (s->active == NULL)
		return false;
	end = ios_sim_segments_reached(s, now);
	return b > end && a <= end + SKIP_SECTORS && a >= start_of(s, s->active, end);
}

void ios_sim_segments_extend(struct ios_sim_segments *s, uint64_t b, uint64_t now)
{
	uint64_t limit = b + s->readahead;
	uint64_t reached;

	if (limit > s->geometry->sectors)
		limit = s->geometry->sectors;
	if (limit <= s->limit)
		return;
	reached = ios_sim_segments_reached(s, now);
	if (reached == s->limit) { /* it had stopped: the next sector must come round again */
		s->base_lba = reached;
		s->base_ns = now + ios_sim_position_ns(s->geometry, reached, reached, now);
	}
	s->limit = limit;
}

uint64_t ios_sim_segments_freeze(struct ios_sim_segments *s, uint64_t head, uint64_t now)
{
	if (s->active == NULL)
		return head;
	head = ios_sim_segments_reached(s, now);
	s->active->end = head;
	s->active->start = start_of(s, s->active, head);
	s->active = NULL;
	return head;
}

static struct ios_sim_segment *longest_unused(struct ios_sim_segments *s)
{
	struct ios_sim_segment *oldest = &s->segment[0];

	for (unsigned i = 1; i < s->count; i++)
		if (s->segment[i].used < oldest->used)
			oldest = &s->segment[i];
	return oldest;
}

void ios_sim_segments_begin(struct ios_sim_segments *s, struct ios_sim_segment *grow, uint64_t a,
			    uint64_t b, uint64_t now)
{
	struct ios_sim_segment *seg = grow != NULL ? grow : longest_unused(s);

	if (grow == NULL)
		seg->start = a;
	seg->end = b;
	seg->delivered = b;
	seg->used = ++s->stamp;
	s->active = seg;
	s->base_lba = b;
	s->base_ns = now;
	s->limit = b + s->readahead;
	if (s->limit > s->geometry->sectors)
		s->limit = s->geometry->sectors;
}

void ios_sim_segments_forget(struct ios_sim_segments *s, uint64_t a, uint64_t b, uint64_t now)
{
	for (unsigned i = 0; i < s->count; i++) {
		struct ios_sim_segment *seg = &s->segment[i];
		uint64_t end = end_of(s, seg, now);

		/* The active one is judged by where it is going, or it would read stale data. */
		if (a >= (seg == s->active ? s->limit : end) || b <= seg->start)
			continue;
		if (seg == s->active) {
			s->limit = a > end ? a : end;
			if (a >= end)
				continue;
			seg->start = end;
		} else {
			seg->start = seg->end;
		}
	}
}
