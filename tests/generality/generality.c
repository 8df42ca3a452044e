/* SPDX-License-Identifier: MIT */
/*
 * generality: fair-deadline and all other policies on devices and under loads it was not tuned
 * on.
 *
 *   generality [-a] [-m] [-v] [-d DEVICE] [-l LOAD]
 *
 * -a runs all; without it, without -d and without -l a choice that takes seconds. -m prints
 * Markdown, -v every policy. In each cell fair-deadline is compared with the others:
 *
 *   total   at least 0.95 of the best other policy that is as fair and makes nobody wait longer
 *   share   nobody further from its share than 5 points, or 5 more than the design's prototype
 *   fsync   p99 no worse than the best other policy's
 *   wait    nobody waits longer to be dispatched than the deadlines allow
 *
 * In the cells of the design's table each must hold, but for those that known.c names with a
 * reason. Of all others it is only told where they do not.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "outcome.h"

#define SEED 1
#define POLICIES 16
#define MOST_DEVICES 32
#define MOST_LOADS 32
#define MS 1e6

#define FAIR_POINTS 5.0
#define FAIR_PART 0.2
#define SLOWER 1.5
#define TOTAL_LEAST 0.95
/* Deadlines are 500 ms and 5 s; behind them a cycle of rescues. Where deadlines are the schedule,
 * as with sixteen flows on sixty requests a second, the prototype had 962 ms and 7.2 s. */
#define SHALLOW_MOST (560 * MS)
#define ASYNC_MOST (5200 * MS)
#define CROWDED_SHALLOW_MOST (962 * MS)
#define CROWDED_ASYNC_MOST (7200 * MS)

struct options {
	bool all, markdown, verbose;
	const char *device, *load;
};

/* Every kind of device, every claim. */
static const char *const short_cells[][2] = {
	{"hdd-5400", "seq + random"},
	{"hdd-5400", "fsync + seq + random + async"},
	{"hdd-5400-wt", "seq + async"},
	{"hdd-10k", "QD1 + QD16"},
	{"hdd-10k", "fsync + seq + random + async"},
	{"hdd-4200", "seq + seq 3:1"},
	{"raid0-2", "QD16 + 16 x QD1"},
	{"raid0-2-wt", "seq + random async"},
	{"emmc", "seq + async"},
	{"ssd-stalls", "QD1 + QD16"},
};

/* A cell under each policy. */
struct summary {
	bool run;
	struct outcome outcomes[POLICIES];
};

static const struct iosched_policy *policies[POLICIES];
static unsigned policy_count, ours = POLICIES;
static struct summary summaries[MOST_DEVICES][MOST_LOADS];

static bool is_short(const struct device *d, const struct load *l)
{
	for (size_t i = 0; i < sizeof(short_cells) / sizeof(short_cells[0]); i++)
		if (strcmp(short_cells[i][0], d->name) == 0 &&
		    strcmp(short_cells[i][1], l->name) == 0)
			return true;
	return false;
}

static bool wanted(const struct options *o, const struct device *d, const struct load *l)
{
	if (o->device != NULL && strcmp(o->device, d->name) != 0)
		return false;
	if (o->load != NULL && strcmp(o->load, l->name) != 0)
		return false;
	return o->all || o->device != NULL || o->load != NULL || is_short(d, l);
}

static void list_policies(void)
{
	const struct iosched_policy *p;

	while (policy_count < POLICIES && (p = iosched_policy_at(policy_count)) != NULL) {
		if (strcmp(iosched_policy_name(p), "fair-deadline") == 0)
			ours = policy_count;
		policies[policy_count++] = p;
	}
}

/* --- the best of the others --- */

static bool any(const struct outcome *other, const struct outcome *us)
{
	(void)other;
	(void)us;
	return true;
}

/* Shares, what the poorest gets of its own, and how long small requests take. */
static bool as_fair(const struct outcome *other, const struct outcome *us)
{
	return !other->starved && other->error <= us->error + FAIR_POINTS &&
	       other->least >= us->least - FAIR_PART &&
	       other->shallow_p99 <= SLOWER * us->shallow_p99 + MS / 2 &&
	       other->fsync_p99 <= SLOWER * us->fsync_p99 + MS / 2 &&
	       other->shallow_end <= SLOWER * us->shallow_end + SHALLOW_MOST &&
	       other->async_max <= SLOWER * us->async_max + ASYNC_MOST;
}

static bool calls_fsync(const struct outcome *other, const struct outcome *us)
{
	(void)us;
	return other->fsync_p99 > 0;
}

static double total_of(const struct outcome *x)
{
	return x->total;
}

static double fsync_of(const struct outcome *x)
{
	return -x->fsync_p99;
}

/* The largest of those that qualify; `ours` if none does. */
static unsigned best(const struct summary *s, double (*of)(const struct outcome *x),
		     bool (*qualifies)(const struct outcome *x, const struct outcome *us))
{
	unsigned found = ours;

	for (unsigned i = 0; i < policy_count; i++)
		if (i != ours && qualifies(&s->outcomes[i], &s->outcomes[ours]) &&
		    (found == ours || of(&s->outcomes[i]) > of(&s->outcomes[found])))
			found = i;
	return found;
}

/* --- judging --- */

struct verdict {
	bool holds;
	char text[160];
};

static struct verdict judge_total(const struct summary *s)
{
	struct verdict v = {true, ""};
	unsigned fair = best(s, total_of, as_fair);
	double us = s->outcomes[ours].total, other = s->outcomes[fair].total;

	v.holds = us >= TOTAL_LEAST * other;
	snprintf(v.text, sizeof(v.text), "%.4g MB/s, %s has %.4g and is as fair", us / 1e6,
		 iosched_policy_name(policies[fair]), other / 1e6);
	return v;
}

static struct verdict judge_share(const struct device *d, const struct load *l,
				  const struct summary *s)
{
	struct verdict v = {true, ""};
	double error = s->outcomes[ours].error;

	v.holds = !s->outcomes[ours].starved && error <= known_error(d, l) + FAIR_POINTS;
	snprintf(v.text, sizeof(v.text), "%s%.1f points from its share",
		 s->outcomes[ours].starved ? "somebody got nothing; " : "", error);
	return v;
}

static struct verdict judge_fsync(const struct load *l, const struct summary *s)
{
	struct verdict v = {true, ""};
	unsigned other = best(s, fsync_of, calls_fsync);
	double us = s->outcomes[ours].fsync_p99, them = s->outcomes[other].fsync_p99;

	/* Half a millisecond is below what any of them controls. */
	v.holds = !l->fsync_ruled || us <= 1.1 * them + MS / 2;
	snprintf(v.text, sizeof(v.text), "p99 %.3g ms, %s has %.3g", us / MS,
		 iosched_policy_name(policies[other]), them / MS);
	return v;
}

static struct verdict judge_wait(const struct load *l, const struct summary *s)
{
	struct verdict v = {true, ""};
	const struct outcome *us = &s->outcomes[ours];
	bool crowded = strcmp(l->name, "16 flows") == 0;

	/* A tenant's contexts wait for each other: the promise is the tenant's. */
	v.holds = strstr(l->streams, "group many") != NULL || strstr(l->streams, " x4 ") != NULL ||
		  (us->shallow_max <= (crowded ? CROWDED_SHALLOW_MOST : SHALLOW_MOST) &&
		   us->async_max <= (crowded ? CROWDED_ASYNC_MOST : ASYNC_MOST));
	snprintf(v.text, sizeof(v.text), "a sync request waited %.0f ms, an async one %.0f ms",
		 us->shallow_max / MS, us->async_max / MS);
	return v;
}

static struct verdict judge(const struct device *d, const struct load *l, const struct summary *s,
			    enum claim claim)
{
	switch (claim) {
	case CLAIM_TOTAL:
		return judge_total(s);
	case CLAIM_SHARE:
		return judge_share(d, l, s);
	case CLAIM_FSYNC:
		return judge_fsync(l, s);
	case CLAIM_WAIT:
		return judge_wait(l, s);
	case CLAIMS:
		break;
	}
	return (struct verdict){true, ""};
}

/* Returns whether a claim that must hold does not. */
static unsigned tell(const struct options *o, unsigned device, unsigned load, enum claim claim)
{
	const struct device *d = &devices[device];
	const struct load *l = &loads[load];
	struct verdict v = judge(d, l, &summaries[device][load], claim);
	const char *why = known_not_to_hold(d, l, claim);
	bool must = known_cell(d, l) && why == NULL;

	if (v.holds)
		return 0;
	if (o->markdown)
		printf("| %s | %s | %s | %s |\n", d->name, l->name, claim_names[claim], v.text);
	else
		printf("%s%s, %s: %s: %s%s%s%s\n", must ? "FAILS: " : "not: ", d->name, l->name,
		       claim_names[claim], v.text, why == NULL ? "" : " (", why == NULL ? "" : why,
		       why == NULL ? "" : ")");
	return must;
}

static unsigned tell_all(const struct options *o)
{
	unsigned failed = 0;

	if (o->markdown)
		puts("\n| device | load | claim | measured |\n|---|---|---|---|");
	for (unsigned d = 0; d < device_count; d++)
		for (unsigned l = 0; l < load_count; l++)
			for (int claim = 0; summaries[d][l].run && claim < CLAIMS; claim++)
				failed += tell(o, d, l, (enum claim)claim);
	return failed;
}

/* --- printing --- */

static void print_each(const struct cell *c, const struct summary *s)
{
	printf("%s, %s\n", c->d->name, c->l->name);
	for (unsigned i = 0; i < policy_count; i++) {
		const struct outcome *x = &s->outcomes[i];

		printf("  %-14s %8.3g MB/s, error %2.0f, p99 %5.4g (fsync %5.4g), waits %4.0f "
		       "%4.0f "
		       "%5.0f ms; shares",
		       iosched_policy_name(policies[i]), x->total / 1e6, x->error,
		       x->shallow_p99 / MS, x->fsync_p99 / MS, x->shallow_max / MS,
		       x->deep_max / MS, x->async_max / MS);
		for (unsigned k = 0; k < c->count; k++)
			printf(" %.3f", x->shares[k]);
		putchar('\n');
	}
}

/* Three digits, or all of a large number. */
static void print_figure(double x)
{
	printf(x < 1000 ? "%.3g" : "%.0f", x);
}

/* MB/s here and of the best other; how far from their shares, in points. */
static void print_cell(const struct summary *s)
{
	unsigned other = best(s, total_of, any);
	const struct outcome *us = &s->outcomes[ours], *them = &s->outcomes[other];

	putchar(' ');
	if (s->run) {
		print_figure(us->total / 1e6);
		putchar('/');
		print_figure(them->total / 1e6);
		printf(" %.0f:%.0f ", us->error, them->error);
	}
	putchar('|');
}

static void print_fsync(const struct summary *s)
{
	if (s->run && s->outcomes[ours].fsync_p99 > 0)
		printf(" %.4g/%.4g |", s->outcomes[ours].fsync_p99 / MS,
		       s->outcomes[best(s, fsync_of, calls_fsync)].fsync_p99 / MS);
	else
		printf(" |");
}

static void print_waits(const struct summary *s)
{
	const struct outcome *us = &s->outcomes[ours];

	if (s->run)
		printf(" %.0f/%.0f |", us->shallow_max / MS, us->async_max / MS);
	else
		printf(" |");
}

struct table {
	const char *what;
	void (*print)(const struct summary *s);
	bool fsync_only;
};

static const struct table tables[] = {
	{"MB/s here/best other, and points from the shares here:there", print_cell, false},
	{"fsync, p99 in ms, here/best other", print_fsync, true},
	{"Longest wait to be dispatched here, ms, sync of depth 1 or 2/async", print_waits, false},
};

/* Has a column for this load anything to show? */
static bool has_column(const struct table *t, unsigned load)
{
	for (unsigned d = 0; d < device_count; d++) {
		const struct summary *s = &summaries[d][load];

		if (s->run && (!t->fsync_only || s->outcomes[ours].fsync_p99 > 0))
			return true;
	}
	return false;
}

static bool has_row(unsigned device, unsigned from, unsigned to)
{
	for (unsigned l = from; l < to; l++)
		if (summaries[device][l].run)
			return true;
	return false;
}

static void print_table(const struct table *t, unsigned from, unsigned to)
{
	printf("\n%s\n\n| |", t->what);
	for (unsigned l = from; l < to; l++)
		if (has_column(t, l))
			printf(" %s |", loads[l].name);
	printf("\n|---|");
	for (unsigned l = from; l < to; l++)
		if (has_column(t, l))
			printf("---|");
	putchar('\n');
	for (unsigned d = 0; d < device_count; d++) {
		if (!has_row(d, from, to))
			continue;
		printf("| `%s` |", devices[d].name);
		for (unsigned l = from; l < to; l++)
			if (has_column(t, l))
				t->print(&summaries[d][l]);
		putchar('\n');
	}
}

static void print_all(void)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		print_table(&tables[i], 0, KNOWN_LOADS);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (unsigned l = KNOWN_LOADS; l < load_count; l++)
			if (has_column(&tables[i], l)) {
				print_table(&tables[i], KNOWN_LOADS, load_count);
				break;
			}
}

/* --- running --- */

static int run_cell(const struct options *o, unsigned device, unsigned load,
		    const struct descriptor *model, struct iosched_sim_error *why)
{
	struct summary *s = &summaries[device][load];
	struct cell c;
	int err = cell_open(&c, &devices[device], &loads[load], model, why);

	for (unsigned i = 0; err == 0 && i < policy_count; i++)
		err = cell_run(&c, policies[i], SEED, &s->outcomes[i], why);
	s->run = err == 0;
	if (err == 0 && o->verbose)
		print_each(&c, s);
	cell_close(&c);
	return err;
}

static int run_device(const struct options *o, unsigned device)
{
	struct iosched_sim_error why = {""};
	struct descriptor model;
	bool measured = false;
	int err = 0;

	for (unsigned l = 0; err == 0 && l < load_count; l++) {
		if (!wanted(o, &devices[device], &loads[l]))
			continue;
		if (!measured)
			err = descriptor_measure(&model, &devices[device], &why);
		measured = true;
		if (err == 0)
			err = run_cell(o, device, l, &model, &why);
	}
	if (err != 0)
		fprintf(stderr, "generality: %s: %s\n", devices[device].name,
			why.text[0] != '\0' ? why.text : strerror(-err));
	return err;
}

static bool read_options(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-a") == 0)
			o->all = true;
		else if (strcmp(argv[i], "-m") == 0)
			o->markdown = true;
		else if (strcmp(argv[i], "-v") == 0)
			o->verbose = true;
		else if (strcmp(argv[i], "-d") == 0 && i + 1 < argc)
			o->device = argv[++i];
		else if (strcmp(argv[i], "-l") == 0 && i + 1 < argc)
			o->load = argv[++i];
		else
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = {.all = false};
	unsigned failed, cells = 0;

	if (!read_options(&o, argc, argv) || device_count > MOST_DEVICES ||
	    load_count > MOST_LOADS) {
		fputs("generality [-a] [-m] [-v] [-d DEVICE] [-l LOAD]\n", stderr);
		return 2;
	}
	list_policies();
	if (ours == POLICIES) {
		puts("there is no fair-deadline in this build");
		return 77;
	}
	for (unsigned d = 0; d < device_count; d++)
		if (run_device(&o, d) != 0)
			return 2;
	print_all();
	failed = tell_all(&o);
	for (unsigned d = 0; d < device_count; d++)
		for (unsigned l = 0; l < load_count; l++)
			cells += summaries[d][l].run;
	printf("\n%u cells run, %u claims that must hold do not\n", cells, failed);
	return failed == 0 && cells > 0 ? 0 : 1;
}
