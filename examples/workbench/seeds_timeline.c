/* SPDX-License-Identifier: MIT */
/*
 * A panel for each policy, a lane in it for each process, a bar for each request: light while it
 * is queued, dark while the device works on it. Below, in red, the time in which the device had
 * nothing to do though requests were queued.
 *
 * State: of each policy's run, the requests that overlap the window. How long the window is
 * follows from the base's requests, so that some ten of a process are seen; it is the same
 * for all panels.
 */
#include "seeds_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "plot.h"
#include "workbench.h"

#define MAX_PANELS 16	 /* more than a row of any table has */
#define PANEL_HEIGHT 230 /* pixels */
/* Lanes that can be told apart. */
#define MAX_LANES 12
/* The window: so many times what a request of the base takes, within bounds. It begins when the
 * run has come to rest. */
#define WINDOW_REQUESTS 14
#define LEAST_WINDOW_NS UINT64_C(30000000)
#define MOST_WINDOW_NS UINT64_C(400000000)
#define SETTLED_NS UINT64_C(500000000)
/* A write into a cache is over before it can be seen: it is drawn at least so wide. */
#define LEAST_WIDTH 350 /* of the window's width */

struct bar {
	iosched_time inserted;
	iosched_time dispatched;
	iosched_time completed;
	uint64_t context;
	bool write;
};

struct panel {
	struct iosched_seed_cell cell;
	struct bar *bars;
	size_t count;
	size_t room;
	iosched_time from; /* bars that end before it are of no interest */
	iosched_time until;
	bool failed; /* no memory */
	uint64_t mean_ns;
	uint64_t contexts[MAX_LANES];
	unsigned lanes;
};

struct picture {
	struct panel panels[MAX_PANELS];
	unsigned count;
	iosched_time from;
	iosched_time window;
};

/* --- Collecting --- */

static void add_bar(struct panel *p, const struct bar *bar)
{
	if (p->count == p->room) {
		size_t room = 2 * p->room + 256;
		struct bar *more = realloc(p->bars, room * sizeof(*more));

		if (more == NULL) {
			p->failed = true;
			return;
		}
		p->bars = more;
		p->room = room;
	}
	p->bars[p->count++] = *bar;
}

/* A request that absorbed others has waited since the first of them. */
static void on_event(void *user, const struct iosched_event *e)
{
	struct panel *p = user;
	struct bar bar;

	if (e->type != IOSCHED_EVENT_COMPLETE || e->now < p->from || e->rq->dispatched > p->until)
		return;
	bar = (struct bar){
		.inserted = e->rq->inserted,
		.dispatched = e->rq->dispatched,
		.completed = e->now,
		.context = e->rq->context,
		.write = e->rq->op != IOSCHED_READ,
	};
	for (const struct iosched_request *m = e->rq->merged; m != NULL; m = iosched_merged_next(m))
		if (m->inserted < bar.inserted)
			bar.inserted = m->inserted;
	add_bar(p, &bar);
}

static int run_panel(struct panel *p, unsigned i, uint64_t seed)
{
	struct iosched_sim_config config;
	struct iosched_sim_result *r;
	struct iosched_sim_error why = {""};
	const struct iosched_sim_row *all;
	int err;

	iosched_seed_cell_at(i, &p->cell);
	iosched_seed_config(i, &config);
	config.seed = seed;
	p->from = config.warmup_ns + SETTLED_NS;
	p->until = p->from + MOST_WINDOW_NS;
	if (config.length_ns > p->until + SETTLED_NS)
		config.length_ns = p->until + SETTLED_NS;
	config.event = on_event;
	config.event_user = p;
	err = iosched_sim_run(&config, &r, &why);
	if (err == 0) {
		all = iosched_sim_result_row(r, IOSCHED_SIM_ALL_CONTEXTS, IOSCHED_SIM_ALL_OPS);
		p->mean_ns = all->total.mean;
	}
	iosched_sim_result_free(r);
	if (err != 0)
		return wb_fail("%s", why.text);
	return p->failed ? wb_fail("out of memory") : WB_OK;
}

static int run_panels(struct picture *pic, const bool *wanted, unsigned count, uint64_t seed)
{
	int code = WB_OK;

	for (unsigned i = 0; code == WB_OK && i < count && pic->count < MAX_PANELS; i++)
		if (wanted[i])
			code = run_panel(&pic->panels[pic->count++], i, seed);
	pic->from = pic->panels[0].from;
	pic->window = WINDOW_REQUESTS * pic->panels[0].mean_ns;
	if (pic->window < LEAST_WINDOW_NS)
		pic->window = LEAST_WINDOW_NS;
	if (pic->window > MOST_WINDOW_NS)
		pic->window = MOST_WINDOW_NS;
	return code;
}

/* --- Lanes --- */

static bool seen(const struct picture *pic, const struct bar *b)
{
	return b->completed > pic->from && b->inserted < pic->from + pic->window;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void find_lanes(const struct picture *pic, struct panel *p)
{
	for (size_t i = 0; i < p->count; i++) {
		unsigned k = 0;

		while (k < p->lanes && p->contexts[k] != p->bars[i].context)
			k++;
		if (k == p->lanes && k < MAX_LANES && seen(pic, &p->bars[i]))
			p->contexts[p->lanes++] = p->bars[i].context;
	}
	qsort(p->contexts, p->lanes, sizeof(p->contexts[0]), compare_numbers);
}

static unsigned lane_of(const struct panel *p, uint64_t context)
{
	unsigned k = 0;

	while (k < p->lanes && p->contexts[k] != context)
		k++;
	return k;
}

/* --- Drawing --- */

static double ms_of(const struct picture *pic, iosched_time t)
{
	return ((double)t - (double)pic->from) / 1e6;
}

/* One box for boxxyerror: in lane @y, so high. */
static void put_box(FILE *f, const struct picture *pic, iosched_time from, iosched_time to,
		    double y, double half)
{
	if (to > from)
		fprintf(f, "%.4f %.1f %.4f %.4f %.2f %.2f\n", ms_of(pic, from), y, ms_of(pic, from),
			ms_of(pic, to), y - half, y + half);
}

static iosched_time visible_end(const struct picture *pic, const struct bar *b)
{
	iosched_time least = b->dispatched + pic->window / LEAST_WIDTH;

	return b->write && b->completed < least ? least : b->completed;
}

enum kind { QUEUED, READING, WRITING };

static void put_bars(FILE *f, const struct picture *pic, const struct panel *p, enum kind kind,
		     const char *name, unsigned number)
{
	fprintf(f, "$%s%u << EOD\n-1 -1 -1 -1 -1 -1\n", name, number);
	for (size_t i = 0; i < p->count; i++) {
		const struct bar *b = &p->bars[i];
		unsigned lane = lane_of(p, b->context);

		if (!seen(pic, b) || lane == p->lanes)
			continue;
		if (kind == QUEUED)
			put_box(f, pic, b->inserted, b->dispatched, lane + 1, 0.18);
		else if ((kind == WRITING) == b->write)
			put_box(f, pic, b->dispatched, visible_end(pic, b), lane + 1, 0.36);
	}
	fputs("EOD\n", f);
}

/* A moment at which a bar begins or ends to be queued, or to be worked on. */
struct edge {
	iosched_time at;
	int queued;
	int at_work;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a;
	const struct edge *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int put_held(FILE *f, const struct picture *pic, const struct panel *p, unsigned number)
{
	struct edge *edges = calloc(3 * p->count + 1, sizeof(*edges));
	int queued = 0, at_work = 0;

	if (edges == NULL)
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		edges[3 * i] = (struct edge){p->bars[i].inserted, 1, 0};
		edges[3 * i + 1] = (struct edge){p->bars[i].dispatched, -1, 1};
		edges[3 * i + 2] = (struct edge){p->bars[i].completed, 0, -1};
	}
	qsort(edges, 3 * p->count, sizeof(*edges), compare_edges);
	fprintf(f, "$held%u << EOD\n-1 -1 -1 -1 -1 -1\n", number);
	for (size_t i = 0; i + 1 < 3 * p->count; i++) {
		queued += edges[i].queued;
		at_work += edges[i].at_work;
		if (queued > 0 && at_work == 0 && edges[i + 1].at > pic->from &&
		    edges[i].at < pic->from + pic->window)
			put_box(f, pic, edges[i].at, edges[i + 1].at, 0, 0.36);
	}
	fputs("EOD\n", f);
	free(edges);
	return 0;
}

static void put_panel(FILE *f, struct picture *pic, unsigned i)
{
	struct panel *p = &pic->panels[i];

	put_bars(f, pic, p, QUEUED, "queued", i);
	put_bars(f, pic, p, READING, "reading", i);
	put_bars(f, pic, p, WRITING, "writing", i);
	if (put_held(f, pic, p, i) != 0)
		return;
	fprintf(f, "set title '%s %s' noenhanced\nset yrange [-0.6:%u.6]\nset ytics ('held' 0",
		p->cell.policy, p->cell.kernel, p->lanes);
	for (unsigned k = 0; k < p->lanes; k++)
		fprintf(f, ", '%llu' %u", (unsigned long long)p->contexts[k], k + 1);
	fprintf(f,
		")\nplot $queued%u with boxxyerror fc rgb '#b0c4de' fs noborder title 'queued', "
		"$reading%u with boxxyerror fc rgb '#0072b2' title 'at work: read', "
		"$writing%u with boxxyerror fc rgb '#e69f00' fs noborder title 'write', "
		"$held%u with boxxyerror fc rgb '#d55e00' fs noborder title 'nothing at work, "
		"though queued'\nunset key\n",
		i, i, i, i);
}

static void put_script(FILE *f, void *user)
{
	struct picture *pic = user;

	fprintf(f,
		"set multiplot layout %u,1 title '%s %s' offset character -45,0 noenhanced\n"
		"set style fill solid border lc rgb '#ffffff'\nset grid x\n"
		"set xrange [0:%.3f]\nset key at screen 0.98,0.985 horizontal samplen 1\n"
		"set lmargin 9\nset rmargin 2\nset xlabel 'ms' offset 0,0.5\nset ylabel "
		"'process'\n",
		pic->count, pic->panels[0].cell.seed, pic->panels[0].cell.cell,
		(double)pic->window / 1e6);
	for (unsigned i = 0; i < pic->count; i++)
		put_panel(f, pic, i);
	fputs("unset multiplot\n", f);
}

int wb_seeds_timeline(const char *path, const bool *wanted, unsigned count, uint64_t seed)
{
	struct picture *pic = calloc(1, sizeof(*pic));
	int code = pic == NULL ? wb_fail("out of memory") : run_panels(pic, wanted, count, seed);

	for (unsigned i = 0; code == WB_OK && i < pic->count; i++)
		find_lanes(pic, &pic->panels[i]);
	if (code == WB_OK)
		code = wb_plot_picture(path, PANEL_HEIGHT * pic->count + 40, put_script, pic);
	for (unsigned i = 0; pic != NULL && i < pic->count; i++)
		free(pic->panels[i].bars);
	free(pic);
	return code;
}
