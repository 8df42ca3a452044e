/* SPDX-License-Identifier: MIT */
#include "seeds_plot.h"

#include "plot.h"

struct picture {
	const struct iosched_seed_judgement *judgements;
	const bool *wanted;
	unsigned count;
};

static bool drawn(const struct picture *p, unsigned i, struct iosched_seed_cell *cell)
{
	return p->wanted[i] && iosched_seed_cell_at(i, cell) == 0 && !cell->is_base;
}

/* What no report has is NaN, which gnuplot leaves out. */
static void put_ratio(FILE *f, double ratio)
{
	if (ratio > 0)
		fprintf(f, " %.4f", ratio);
	else
		fputs(" NaN", f);
}

static void put_point(FILE *f, const struct iosched_seed_cell *cell,
		      const struct iosched_seed_judgement *j)
{
	fprintf(f, "\"%s %s %s %s\"", cell->seed, cell->cell, cell->policy, cell->kernel);
	put_ratio(f, j->reported_ratio);
	put_ratio(f, j->simulated_ratio);
	put_ratio(f, j->reported_ratio * 0.25);
	putc('\n', f);
}

static void put_points(FILE *f, const struct picture *p)
{
	struct iosched_seed_cell cell;

	fputs("$cells << EOD\n", f);
	for (unsigned i = 0; i < p->count; i++)
		if (drawn(p, i, &cell))
			put_point(f, &cell, &p->judgements[i]);
	fputs("EOD\n", f);
}

static void put_script(FILE *f, void *user)
{
	const struct picture *p = user;
	struct iosched_seed_cell cell;
	unsigned n = 0;

	put_points(f, p);
	for (unsigned i = 0; i < p->count; i++)
		n += drawn(p, i, &cell);
	fprintf(f, "set xrange [-1:%u]\n", n); /* by itself gnuplot finds none for one point */
	fputs("set title 'Ratio to noop (S2: to deadline), with 25 % around what was reported'\n"
	      "set grid y\nset key top left\nset yrange [0:*]\n"
	      "set xtics rotate by 60 right noenhanced font ',8'\nset bmargin 12\n"
	      "plot $cells using 0:2:4:xtic(1) with yerrorbars pointtype 6 title 'reported', "
	      "$cells using 0:3 with points pointtype 7 title 'simulated'\n",
	      f);
}

bool wb_seeds_plot_any(const bool *wanted, unsigned count)
{
	struct picture p = {NULL, wanted, count};
	struct iosched_seed_cell cell;

	for (unsigned i = 0; i < count; i++)
		if (drawn(&p, i, &cell))
			return true;
	return false;
}

int wb_seeds_plot(const char *path, const struct iosched_seed_judgement *judgements,
		  const bool *wanted, unsigned count)
{
	struct picture p = {judgements, wanted, count};

	return wb_plot_picture(path, WB_PLOT_HEIGHT, put_script, &p);
}
