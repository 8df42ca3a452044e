/* SPDX-License-Identifier: MIT */
/*
 * cfq26_coop: queues of different processes that walk one area.
 *
 * A queue that runs dry looks for another one that goes on near the head: that takes
 * over instead of idling, and the two are planned to be merged: each process moves to the
 * shared queue with its next request (cfq26_bind.c).
 *
 * Queues are filed by level, in the place of their next request when they were filed; see
 * blocks/coop.h.
 */
#include "policies/cfq_2_6/cfq26.h"

/* A queue (again) in the tree of its present level, where it goes on now. Done when
 * an insert changes `next` and when the queue gets a new key, not by a dispatch (trace dupsec).
 * The idle class is in none (trace fz-2340). */
void ios_cfq26_file(struct cfq26 *c, struct cfq26_queue *q)
{
	ios_coop_unfile(&q->coop);
	if (q->next != NULL && !ios_cfq26_is_idle_class(q))
		ios_coop_file(&c->coop[q->level], &q->coop);
}

/* A sequential reader's mean seek is near 0: it then finds exact followers only (trace coop3). */
static uint64_t radius(const struct cfq26_queue *q)
{
	uint64_t sectors = ios_ewma_valid(&q->seek) ? q->seek.mean : CFQ26_CLOSE_SECTORS;

	return sectors * CFQ26_SECTOR;
}

/* Who goes on near the head, for `q`, which has no requests; NULL if nobody or if the first found
 * will not do: no second is tried. Classes may differ (trace fz-2339). */
struct cfq26_queue *ios_cfq26_cooperator(const struct cfq26 *c, const struct cfq26_queue *q)
{
	struct ios_coop_node *node;
	struct cfq26_queue *found;

	if (!c->close_cooperators || !q->sync || ios_cfq26_seeky(q))
		return NULL;
	node = ios_coop_find(&c->coop[q->level], c->chosen.boundary, radius(q));
	if (node == NULL)
		return NULL;
	found = IOS_CONTAINER(node, struct cfq26_queue, coop);
	return found->sync && !ios_cfq26_seeky(found) ? found : NULL;
}

static void redirect(struct cfq26 *c, struct cfq26_queue *from, struct cfq26_queue *to)
{
	from->redirect = to;
	to->procs += from->procs; /* at once, though they come one by one (trace procs) */
	ios_cfq26_tell(c, "close cooperators: their queues are going to be one", from, to);
}

/* `q` and `found` walk one area: the one with fewer processes goes into the other, at a tie `q`
 * (traces procs, split). */
void ios_cfq26_plan_merge(struct cfq26 *c, struct cfq26_queue *q, struct cfq26_queue *found)
{
	if (!c->queue_merging || found->procs == 0 || q == &c->fallback || found == &c->fallback)
		return;
	while (found->redirect != NULL) {
		found = found->redirect;
		if (found == q)
			return;
	}
	if (q->procs == 0 || found->procs == 0 || q->redirect != NULL)
		return;
	if (found->procs >= q->procs)
		redirect(c, q, found);
	else
		redirect(c, found, q);
}
