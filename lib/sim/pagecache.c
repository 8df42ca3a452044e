/* SPDX-License-Identifier: MIT */
#include "sim/pagecache.h"

#include <errno.h>
#include <stdlib.h>

enum {
	ABSENT,
	READING,
	PRESENT,
	STATES = 3, /* mask */
	MARK = 4,
};

struct ios_sim_bio {
	struct ios_sim_token token; /* first */
	struct ios_sim_pagecache *cache;
	uint64_t first;
	uint64_t pages;
	struct ios_sim_process *sleepers; /* in order of falling asleep */
	struct ios_sim_bio *next;
};

/* A block that says where pages lie: not in memory, being read, or there. */
struct ios_sim_indirect {
	struct ios_sim_token token; /* first */
	struct ios_sim_pagecache *cache;
	uint8_t state;
	struct ios_sim_process *sleepers; /* in order of falling asleep */
};

/* Blocks before page @page, its own included. */
static uint64_t maps_before(const struct ios_sim_pagecache *c, uint64_t page)
{
	if (c->map_pages == 0 || page < IOS_SIM_DIRECT_PAGES)
		return 0;
	return (page - IOS_SIM_DIRECT_PAGES) / c->map_pages + 1;
}

static uint64_t place_of(const struct ios_sim_pagecache *c, uint64_t page)
{
	return c->offset + (page + maps_before(c, page)) * IOS_SIM_PAGE;
}

uint64_t ios_sim_pagecache_room(const struct ios_sim_pagecache *c)
{
	return (c->pages + maps_before(c, c->pages - 1)) * IOS_SIM_PAGE;
}

static void map_done(struct ios_sim_token *token);

static int make_maps(struct ios_sim_pagecache *c)
{
	uint64_t n = maps_before(c, c->pages - 1);

	if (n == 0)
		return 0;
	c->maps = calloc(n, sizeof(*c->maps));
	if (c->maps == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		c->maps[i] = (struct ios_sim_indirect){{map_done}, c, ABSENT, NULL};
	return 0;
}

int ios_sim_pagecache_init(struct ios_sim_pagecache *c)
{
	c->state = calloc(c->pages, 1);
	return c->state == NULL ? -ENOMEM : make_maps(c);
}

static void free_bios(struct ios_sim_bio *b)
{
	while (b != NULL) {
		struct ios_sim_bio *next = b->next;

		free(b);
		b = next;
	}
}

void ios_sim_pagecache_fini(struct ios_sim_pagecache *c)
{
	free_bios(c->reading);
	free_bios(c->spare);
	free(c->state);
	free(c->maps);
}

static unsigned state_of(const struct ios_sim_pagecache *c, uint64_t page)
{
	return c->state[page] & STATES;
}

bool ios_sim_pagecache_absent(const struct ios_sim_pagecache *c, uint64_t page)
{
	return state_of(c, page) == ABSENT;
}

/* --- Bios --- */

static void unlink_bio(struct ios_sim_bio *b)
{
	struct ios_sim_bio **at = &b->cache->reading;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	b->next = b->cache->spare;
	b->cache->spare = b;
}

/* Who slept runs as soon as a CPU has taken it up. */
static void wake(struct ios_sim_pagecache *c, struct ios_sim_process *p)
{
	while (p != NULL) {
		struct ios_sim_process *next = p->next_sleeper;

		ios_sim_process_after(p, c->wake_ns + ios_sim_process_exponential(p, c->wake_more),
				      p->go);
		p = next;
	}
}

static void sleep_among(struct ios_sim_process **sleepers, struct ios_sim_process *p,
			void (*go)(struct ios_sim_process *p))
{
	while (*sleepers != NULL)
		sleepers = &(*sleepers)->next_sleeper;
	*sleepers = p;
	p->next_sleeper = NULL;
	p->go = go;
	ios_sim_process_sleeps(p);
}

/* The pages are there. */
static void bio_done(struct ios_sim_token *token)
{
	struct ios_sim_bio *b = (struct ios_sim_bio *)token;
	struct ios_sim_pagecache *c = b->cache;
	struct ios_sim_process *sleepers = b->sleepers;

	for (uint64_t i = 0; i < b->pages; i++)
		c->state[b->first + i] = (uint8_t)((c->state[b->first + i] & ~STATES) | PRESENT);
	unlink_bio(b);
	wake(c, sleepers);
}

static struct ios_sim_bio *take_bio(struct ios_sim_pagecache *c)
{
	struct ios_sim_bio *b = c->spare;

	if (b == NULL)
		return calloc(1, sizeof(*b));
	c->spare = b->next;
	return b;
}

static bool read_pages(struct ios_sim_reader *r, uint64_t first, uint64_t pages)
{
	struct ios_sim_pagecache *c = r->cache;
	struct ios_sim_bio *b = take_bio(c);

	if (b == NULL) {
		ios_sim_stop(&c->program->load.host->engine, -ENOMEM);
		return false;
	}
	*b = (struct ios_sim_bio){{bio_done}, c, first, pages, NULL, c->reading};
	c->reading = b;
	return ios_sim_process_submit(&r->process, &b->token, IOSCHED_READ, place_of(c, first),
				      pages * IOS_SIM_PAGE, 0);
}

/* From @first on: how many missing pages in a row, at most @limit; they are being read now. */
static uint64_t claim_run(struct ios_sim_pagecache *c, uint64_t first, uint64_t limit,
			  uint64_t mark)
{
	uint64_t n = 0;

	while (n < limit && state_of(c, first + n) == ABSENT) {
		c->state[first + n] = (uint8_t)(READING | (first + n == mark ? MARK : 0));
		n++;
	}
	return n;
}

static void read_run(struct ios_sim_reader *r, uint64_t first, uint64_t pages)
{
	while (pages > 0) {
		uint64_t n = pages < r->cache->bio_pages ? pages : r->cache->bio_pages;

		if (!read_pages(r, first, n))
			return;
		first += n;
		pages -= n;
	}
}

static void map_done(struct ios_sim_token *token)
{
	struct ios_sim_indirect *m = (struct ios_sim_indirect *)token;
	struct ios_sim_process *sleepers = m->sleepers;

	m->state = PRESENT;
	m->sleepers = NULL;
	wake(m->cache, sleepers);
}

/* The block that says where @page lies, if it is not in memory. */
static struct ios_sim_indirect *missing_map(const struct ios_sim_pagecache *c, uint64_t page)
{
	uint64_t n = maps_before(c, page);

	return n == 0 || c->maps[n - 1].state == PRESENT ? NULL : &c->maps[n - 1];
}

/* How many pages from @at on are described where @at is. */
static uint64_t mapped_together(const struct ios_sim_pagecache *c, uint64_t at)
{
	if (c->map_pages == 0)
		return UINT64_MAX;
	if (at < IOS_SIM_DIRECT_PAGES)
		return IOS_SIM_DIRECT_PAGES - at;
	return c->map_pages - (at - IOS_SIM_DIRECT_PAGES) % c->map_pages;
}

static void resume(struct ios_sim_process *p);

/* The rest of its window waits for @m. */
static void sleep_on_map(struct ios_sim_reader *r, struct ios_sim_indirect *m, uint64_t page)
{
	if (m->state == ABSENT) {
		m->state = READING;
		if (!ios_sim_process_submit(&r->process, &m->token, IOSCHED_READ,
					    place_of(r->cache, page) - IOS_SIM_PAGE, IOS_SIM_PAGE,
					    0))
			return;
	}
	sleep_among(&m->sleepers, &r->process, resume);
}

/* Returns false when the reader sleeps: it goes on with what is left of the window. */
static bool read_window(struct ios_sim_reader *r, const struct ios_sim_window *w)
{
	struct ios_sim_pagecache *c = r->cache;
	uint64_t at = w->first;
	uint64_t end = w->first + w->pages < c->pages ? w->first + w->pages : c->pages;

	while (at < end) {
		uint64_t together = mapped_together(c, at);
		struct ios_sim_indirect *m = missing_map(c, at);
		uint64_t n;

		if (m != NULL && state_of(c, at) == ABSENT) {
			r->left = (struct ios_sim_window){at, end - at, w->mark};
			sleep_on_map(r, m, at - (at - IOS_SIM_DIRECT_PAGES) % c->map_pages);
			return false;
		}
		n = claim_run(c, at, together < end - at ? together : end - at, w->mark);
		read_run(r, at, n);
		at += n > 0 ? n : 1;
	}
	r->left.pages = 0;
	return true;
}

/* --- Reading --- */

static uint64_t next_hole(const struct ios_sim_pagecache *c, uint64_t at, uint64_t limit)
{
	uint64_t page = at + 1;

	while (page < c->pages && page - at <= limit && state_of(c, page) != ABSENT)
		page++;
	return page;
}

bool ios_sim_reader_ahead(struct ios_sim_reader *r, uint64_t at, uint64_t want)
{
	struct ios_sim_window w = ios_sim_readahead_missing(r->ra, at, want, r->cache->max_window);

	return read_window(r, &w);
}

static uint64_t wanted(const struct ios_sim_reader *r)
{
	return (r->want_end > r->end ? r->want_end : r->end) - r->at;
}

static bool step_on_mark(struct ios_sim_reader *r)
{
	struct ios_sim_pagecache *c = r->cache;
	struct ios_sim_window w = ios_sim_readahead_marked(r->ra, r->at, wanted(r), c->max_window,
							   next_hole(c, r->at, c->max_window));

	return read_window(r, &w);
}

static void sleep_on_page(struct ios_sim_reader *r)
{
	struct ios_sim_bio *b = r->cache->reading;

	while (b != NULL && r->at - b->first >= b->pages)
		b = b->next;
	if (b == NULL)
		return; /* its submission was refused: the run is over */
	sleep_among(&b->sleepers, &r->process, resume);
}

static void resume(struct ios_sim_process *p)
{
	struct ios_sim_reader *r = (struct ios_sim_reader *)p;
	struct ios_sim_pagecache *c = r->cache;

	if (r->left.pages > 0 &&
	    !read_window(r, &(struct ios_sim_window){r->left.first, r->left.pages, r->left.mark}))
		return;
	for (; r->at < r->end; r->at++) {
		bool awake = true;

		if (state_of(c, r->at) == ABSENT) {
			awake = ios_sim_reader_ahead(r, r->at, wanted(r));
		} else if (c->state[r->at] & MARK) {
			c->state[r->at] &= (uint8_t)~MARK;
			awake = step_on_mark(r);
		}
		if (!awake)
			return;
		if (state_of(c, r->at) != PRESENT) {
			sleep_on_page(r);
			return;
		}
	}
	if (r->end > 0)
		r->ra->previous = r->end - 1;
	r->then(p);
}

void ios_sim_reader_read(struct ios_sim_reader *r, uint64_t first, uint64_t pages,
			 void (*then)(struct ios_sim_process *p))
{
	uint64_t left = first < r->cache->pages ? r->cache->pages - first : 0;

	r->at = first;
	r->end = first + (pages < left ? pages : left);
	r->then = then;
	resume(&r->process);
}
