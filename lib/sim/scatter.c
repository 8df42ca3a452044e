/* SPDX-License-Identifier: MIT */
#include "sim/scatter.h"

#include <errno.h>
#include <stdlib.h>

static struct ios_sim_scatter *scatter_of_write(struct ios_sim_token *t)
{
	return (struct ios_sim_scatter *)(void *)((char *)t -
						  offsetof(struct ios_sim_scatter, write));
}

void ios_sim_scatter_change(struct ios_sim_scatter *s, uint64_t offset)
{
	if (s->changed_count < s->most)
		s->changed[s->changed_count++] = offset;
}

static void hand_over(struct ios_sim_scatter *s)
{
	while (s->handed < s->burst && s->outstanding < s->depth) {
		if (!ios_sim_process_submit(&s->flusher, &s->write, IOSCHED_WRITE,
					    s->changed[s->handed], s->block_bytes, 0))
			return;
		s->handed++;
		s->outstanding++;
	}
	ios_sim_process_sleeps(&s->flusher);
}

/* What has been changed since the burst began waits for the next. */
static void end_burst(struct ios_sim_scatter *s)
{
	for (uint64_t i = s->burst; i < s->changed_count; i++)
		s->changed[i - s->burst] = s->changed[i];
	s->changed_count -= s->burst;
	s->burst = 0;
	s->handed = 0;
}

static void write_done(struct ios_sim_token *t)
{
	struct ios_sim_scatter *s = scatter_of_write(t);

	s->outstanding--;
	if (s->handed < s->burst)
		hand_over(s);
	else if (s->outstanding == 0)
		end_burst(s);
}

static int compare_offsets(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void flush(struct ios_sim_process *p)
{
	struct ios_sim_scatter *s = (struct ios_sim_scatter *)p;

	ios_sim_process_after(p, s->period, flush);
	if (s->burst != 0 || s->changed_count == 0)
		return;
	if (s->sorted)
		qsort(s->changed, s->changed_count, sizeof(*s->changed), compare_offsets);
	s->burst = s->changed_count;
	hand_over(s);
}

void ios_sim_scatter_start(struct ios_sim_scatter *s)
{
	ios_sim_process_after(&s->flusher, s->period, flush);
}

int ios_sim_scatter_init(struct ios_sim_scatter *s)
{
	s->write.done = write_done;
	s->changed = calloc(s->most, sizeof(*s->changed));
	return s->changed != NULL ? 0 : -ENOMEM;
}

void ios_sim_scatter_fini(struct ios_sim_scatter *s)
{
	ios_sim_process_fini(&s->flusher);
	free(s->changed);
}
