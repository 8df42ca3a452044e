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
	return p->wanted[i] && iosched_seed_cell_at(i, cell) == 0 && !cell->is_base &&
	       p->judgements[i].reported_ratio > 0;
}

static void put_points(FILE *f, const struct picture *p)
{
	struct iosched_seed_cell cell;

	fputs("$cells << EOD\n", f);
	for (unsigned i = 0; i < p->count; i++)
		if (drawn(p, i, &cell))
			fprintf(f, "\"%s %s %s %s\" %.4f %.4f %.4f\n", cell.seed, cell.cell,
				cell.policy, cell.kernel, p->judgements[i].reported_ratio,
				p->judgements[i].simulated_ratio,
				p->judgements[i].reported_ratio * 0.25);
	fputs("EOD\n", f);
}

static void put_script(FILE *f, void *user)
{
	put_points(f, user);
	fputs("set title 'Ratio to noop (S2: to deadline), with 25 % around what was reported'\n"
	      "set grid y\nset key top left\nset yrange [0:*]\n"
	      "set xtics rotate by 60 right noenhanced font ',8'\nset bmargin 12\n"
	      "plot $cells using 0:2:4:xtic(1) with yerrorbars pointtype 6 title 'reported', "
	      "$cells using 0:3 with points pointtype 7 title 'simulated'\n",
	      f);
}

int wb_seeds_plot(const char *path, const struct iosched_seed_judgement *judgements,
		  const bool *wanted, unsigned count)
{
	struct picture p = {judgements, wanted, count};

	return wb_plot_picture(path, WB_PLOT_HEIGHT, put_script, &p);
}
