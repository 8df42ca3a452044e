/* SPDX-License-Identifier: MIT */
#include "sim/hdd_cache.h"

#include <string.h>

#include "sim/hdd_geometry.h"

void ios_sim_cache_init(struct ios_sim_cache *c, uint64_t sectors)
{
	memset(c, 0, sizeof(*c));
	c->sectors = sectors;
	for (unsigned i = 0; i < IOS_SIM_CACHE_EXTENTS; i++) {
		c->pool[i].newer = c->unused;
		c->unused = &c->pool[i];
	}
}

bool ios_sim_cache_fits(const struct ios_sim_cache *c, uint64_t sectors, unsigned pieces)
{
	/* One more: an overwrite in the middle of an extent splits it. */
	return c->dirty + c->busy + sectors <= c->sectors &&
	       c->count + pieces + 1 <= IOS_SIM_CACHE_EXTENTS;
}

unsigned ios_sim_cache_at(const struct ios_sim_cache *c, uint64_t lba)
{
	unsigned low = 0;
	unsigned high = c->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (c->order[middle]->end > lba)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void age_append(struct ios_sim_cache *c, struct ios_sim_dirty *x)
{
	x->older = c->newest;
	x->newer = NULL;
	if (c->newest != NULL)
		c->newest->newer = x;
	else
		c->oldest = x;
	c->newest = x;
}

static void age_remove(struct ios_sim_cache *c, struct ios_sim_dirty *x)
{
	if (x->older != NULL)
		x->older->newer = x->newer;
	else
		c->oldest = x->newer;
	if (x->newer != NULL)
		x->newer->older = x->older;
	else
		c->newest = x->older;
}

static void remove_at(struct ios_sim_cache *c, unsigned i)
{
	struct ios_sim_dirty *x = c->order[i];

	age_remove(c, x);
	c->count--;
	memmove(&c->order[i], &c->order[i + 1], (c->count - i) * sizeof(c->order[0]));
	x->newer = c->unused;
	c->unused = x;
}

/* A copy of @like for [start, end) at place @i, next to it in age or youngest. */
static void insert_at(struct ios_sim_cache *c, unsigned i, const struct ios_sim_dirty *like)
{
	struct ios_sim_dirty *x = c->unused;

	c->unused = x->newer;
	*x = *like;
	memmove(&c->order[i + 1], &c->order[i], (c->count - i) * sizeof(c->order[0]));
	c->order[i] = x;
	c->count++;
	age_append(c, x);
}

void ios_sim_cache_drop(struct ios_sim_cache *c, uint64_t a, uint64_t b)
{
	unsigned i = ios_sim_cache_at(c, a);

	while (i < c->count && c->order[i]->start < b) {
		struct ios_sim_dirty *x = c->order[i];
		uint64_t from = x->start > a ? x->start : a;
		uint64_t to = x->end < b ? x->end : b;

		c->dirty -= to - from;
		if (from == x->start && to == x->end) {
			remove_at(c, i);
			continue;
		}
		if (from > x->start && to < x->end) { /* a hole: the rest counts as younger */
			struct ios_sim_dirty rest = *x;

			rest.start = to;
			x->end = from;
			insert_at(c, i + 1, &rest);
			return;
		}
		if (from == x->start)
			x->start = to;
		else
			x->end = from;
		i++;
	}
}

/* The neighbour below [a, ...) at place i - 1 takes it in, if it may. */
static bool append_to(struct ios_sim_cache *c, unsigned i, const struct ios_sim_dirty *add)
{
	struct ios_sim_dirty *x;

	if (i == 0)
		return false;
	x = c->order[i - 1];
	if (x->end != add->start || x->context != add->context || x->epoch != add->epoch ||
	    add->end - x->start > IOS_SIM_CACHE_MERGE_SECTORS)
		return false;
	x->end = add->end;
	return true;
}

void ios_sim_cache_write(struct ios_sim_cache *c, uint64_t a, uint64_t b,
			 const struct ios_sim_piece *pieces, uint64_t now, uint64_t epoch)
{
	ios_sim_cache_drop(c, a, b);
	for (const struct ios_sim_piece *p = pieces; p != NULL && a < b; p = p->next) {
		/* The last piece takes the rest: bytes need not be whole sectors. */
		uint64_t upto = p->next == NULL ? b : (p->offset + p->length) / IOS_SIM_SECTOR;
		struct ios_sim_dirty add = {a,	 upto < b ? upto : b, p->context, now, epoch, NULL,
					    NULL};
		unsigned i = ios_sim_cache_at(c, a);

		if (add.end <= a)
			continue;
		c->dirty += add.end - a;
		if (!append_to(c, i, &add))
			insert_at(c, i, &add);
		a = add.end;
	}
}

bool ios_sim_cache_holds(const struct ios_sim_cache *c, uint64_t a, uint64_t b)
{
	for (unsigned i = ios_sim_cache_at(c, a); i < c->count && c->order[i]->start <= a; i++) {
		if (c->order[i]->end >= b)
			return true;
		a = c->order[i]->end;
	}
	return false;
}

bool ios_sim_cache_has_epoch(const struct ios_sim_cache *c, uint64_t epoch)
{
	/* The age list is in order of epochs but for the far halves of split extents. */
	for (const struct ios_sim_dirty *x = c->oldest; x != NULL; x = x->newer)
		if (x->epoch <= epoch)
			return true;
	return false;
}

uint64_t ios_sim_cache_take(struct ios_sim_cache *c, unsigned i, uint64_t max,
			    struct ios_sim_piece pieces[IOS_SIM_RUN_PIECES], uint64_t *epoch)
{
	uint64_t start = c->order[i]->start;
	uint64_t at = start;
	unsigned n = 0;

	*epoch = UINT64_MAX;
	while (i < c->count && c->order[i]->start == at && at - start < max &&
	       n < IOS_SIM_RUN_PIECES) {
		struct ios_sim_dirty *x = c->order[i];
		uint64_t take = x->end - at < max - (at - start) ? x->end - at : max - (at - start);

		pieces[n] = (struct ios_sim_piece){at * IOS_SIM_SECTOR, take * IOS_SIM_SECTOR,
						   x->context, NULL};
		if (n > 0)
			pieces[n - 1].next = &pieces[n];
		n++;
		if (x->epoch < *epoch)
			*epoch = x->epoch;
		at += take;
		if (at == x->end)
			remove_at(c, i);
		else
			x->start = at;
	}
	c->dirty -= at - start;
	c->busy += at - start;
	return at - start;
}

void ios_sim_cache_written(struct ios_sim_cache *c, uint64_t sectors)
{
	c->busy -= sectors;
}
