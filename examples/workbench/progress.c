/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define STEP 1024 /* records between two looks at the clock */
#define PATIENCE_NS UINT64_C(1000000000)
#define REDRAW_NS UINT64_C(100000000)
#define BAR 30

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wb_progress_begin(struct wb_progress *p, const char *label, uint64_t total)
{
	*p = (struct wb_progress){.total = total, .next = STEP, .terminal = isatty(STDERR_FILENO)};
	snprintf(p->label, sizeof(p->label), "%s", label);
	p->started_ns = clock_ns();
}

static void draw(const struct wb_progress *p, uint64_t done)
{
	static const char full[BAR + 1] = "##############################";
	int filled = p->total == 0 ? 0 : (int)((double)done / (double)p->total * BAR);

	if (p->total == 0)
		fprintf(stderr, "\r\033[K%s: %llu", p->label, (unsigned long long)done);
	else
		fprintf(stderr, "\r\033[K%s [%-*.*s] %3d %%", p->label, BAR, filled, full,
			filled * 100 / BAR);
}

void wb_progress_at(struct wb_progress *p, uint64_t done)
{
	uint64_t now;

	if (!p->terminal || done < p->next)
		return;
	p->next = done + STEP;
	now = clock_ns();
	if (now - p->started_ns < PATIENCE_NS || now - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn = true;
	p->drawn_ns = now;
	draw(p, done);
}

void wb_progress_end(struct wb_progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
