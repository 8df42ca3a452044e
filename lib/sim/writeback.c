/* SPDX-License-Identifier: MIT */
#include "sim/writeback.h"

#include <errno.h>
#include <stdlib.h>

struct ios_sim_write {
	struct ios_sim_token token; /* first */
	struct ios_sim_writeback *writeback;
	struct ios_sim_write *next;
};

static void write_done(struct ios_sim_token *token);

int ios_sim_writeback_init(struct ios_sim_writeback *w)
{
	w->writes = calloc(w->depth, sizeof(*w->writes));
	if (w->writes == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->depth; i++) {
		w->writes[i] = (struct ios_sim_write){{write_done}, w, w->spare};
		w->spare = &w->writes[i];
	}
	return 0;
}

void ios_sim_writeback_fini(struct ios_sim_writeback *w)
{
	ios_sim_process_fini(&w->flusher);
	free(w->writes);
}

static uint64_t dirty(const struct ios_sim_writeback *w)
{
	return w->dirtied - w->safe;
}

bool ios_sim_writeback_full(const struct ios_sim_writeback *w)
{
	return dirty(w) >= w->limit;
}

static bool may_hand_over(const struct ios_sim_writeback *w)
{
	return w->working && w->spare != NULL && w->dirtied - w->handed >= w->write_bytes;
}

static void hand_over(struct ios_sim_writeback *w)
{
	bool any = false;

	while (may_hand_over(w)) {
		struct ios_sim_write *one = w->spare;

		if (!ios_sim_process_submit(&w->flusher, &one->token, IOSCHED_WRITE,
					    w->offset + w->handed, w->write_bytes, 0))
			return;
		w->spare = one->next;
		w->handed += w->write_bytes;
		any = true;
	}
	if (any) /* the flusher waits for a free request now */
		ios_sim_process_sleeps(&w->flusher);
}

static void wake_writers(struct ios_sim_writeback *w)
{
	struct ios_sim_process *p = w->sleepers;

	w->sleepers = NULL;
	while (p != NULL) {
		struct ios_sim_process *next = p->next_sleeper;

		ios_sim_process_after(p, 0, p->go);
		p = next;
	}
}

static void write_done(struct ios_sim_token *token)
{
	struct ios_sim_write *one = (struct ios_sim_write *)token;
	struct ios_sim_writeback *w = one->writeback;

	one->next = w->spare;
	w->spare = one;
	w->safe += w->write_bytes;
	if (dirty(w) <= w->low)
		w->working = false;
	hand_over(w);
	if (dirty(w) + w->chunk <= w->limit)
		wake_writers(w);
}

void ios_sim_writeback_dirty(struct ios_sim_writeback *w, uint64_t bytes)
{
	w->dirtied += bytes;
	if (dirty(w) > w->high)
		w->working = true;
	hand_over(w);
}

void ios_sim_writeback_sleep(struct ios_sim_writeback *w, struct ios_sim_process *p,
			     void (*go)(struct ios_sim_process *p))
{
	p->go = go;
	p->next_sleeper = w->sleepers;
	w->sleepers = p;
	ios_sim_process_sleeps(p);
}
