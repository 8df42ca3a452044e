/* SPDX-License-Identifier: MIT */
/*
 * generality: fair-deadline and all other policies on devices and loads it was not tuned on.
 *
 *   generality [-a] [-m] [-v] [-d DEVICE] [-l LOAD]
 *
 * -a runs all; without it, without -d and without -l a choice that takes seconds. -m prints
 * Markdown, -v every policy. Each cell is compared with the others on four counts:
 *
 *   total   at least 0.95 of the best other policy that is as fair (within 5 points)
 *   share   nobody further than 5 points from its share
 *   fsync   p99 no worse than the best other policy's
 *   wait    nobody waits longer to be dispatched than the deadlines allow
 *
 * Where a claim is known not to hold, known.c says so, and why. Anything else fails.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "outcome.h"

#define SEED 1
#define POLICIES 16
#define FAIR_POINTS 5.0
#define FAIR_PART 0.2
#define TOTAL_LEAST 0.95
#define MS 1e6
/* Deadlines are 500 ms and 5 s; behind them a cycle of rescues. */
#define SHALLOW_MOST (560 * MS)
#define ASYNC_MOST (5200 * MS)

struct options {
	bool all, markdown, verbose;
	const char *device, *load;
};

/* What is in the short form: every kind of device, every claim. */
static const char *const short_cells[][2] = {
	{"hdd-5400", "seq + random"},
	{"hdd-5400", "fsync + seq + random + async"},
	{"hdd-5400-wt", "seq + async"},
	{"hdd-10k", "QD1 + QD16"},
	{"hdd-10k", "fsync + seq + random + async"},
	{"hdd-4200", "seq + seq 3:1"},
	{"raid0-2", "QD16 + 16 x QD1"},
	{"emmc", "seq + async"},
	{"ssd-stalls", "QD1 + QD16"},
	{"late-destage", "seq + random async"},
};

struct summary {
	const struct iosched_policy *policies[POLICIES];
	struct outcome outcomes[POLICIES];
	unsigned count, ours;
};

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

static void list_policies(struct summary *s)
{
	const struct iosched_policy *p;

	for (s->count = 0; s->count < POLICIES; s->count++) {
		p = iosched_policy_at(s->count);
		if (p == NULL)
			break;
		s->policies[s->count] = p;
		if (strcmp(iosched_policy_name(p), "fair-deadline") == 0)
			s->ours = s->count;
	}
}

/* --- the best of the others --- */

static unsigned best_total(const struct summary *s)
{
	unsigned best = s->ours, i;

	for (i = 0; i < s->count; i++)
		if (i != s->ours &&
		    (best == s->ours || s->outcomes[i].total > s->outcomes[best].total))
			best = i;
	return best;
}

/* As fair as we are: shares, what the poorest gets of its own, and how long small ones take. */
static bool as_fair(const struct outcome *other, const struct outcome *us)
{
	return other->error <= us->error + FAIR_POINTS && other->least >= us->least - FAIR_PART &&
	       other->shallow_p99 <= 2 * us->shallow_p99 + MS / 2 &&
	       other->fsync_p99 <= 2 * us->fsync_p99 + MS / 2 &&
	       other->shallow_max <= 2 * us->shallow_max + SHALLOW_MOST &&
	       other->async_max <= us->async_max + ASYNC_MOST;
}

static unsigned best_fair(const struct summary *s)
{
	unsigned best = s->ours, i;

	for (i = 0; i < s->count; i++)
		if (i != s->ours && as_fair(&s->outcomes[i], &s->outcomes[s->ours]) &&
		    (best == s->ours || s->outcomes[i].total > s->outcomes[best].total))
			best = i;
	return best;
}

static unsigned best_fsync(const struct summary *s)
{
	unsigned best = s->ours, i;

	for (i = 0; i < s->count; i++)
		if (i != s->ours && s->outcomes[i].fsync_p99 > 0 &&
		    (best == s->ours || s->outcomes[i].fsync_p99 < s->outcomes[best].fsync_p99))
			best = i;
	return best;
}

/* --- judging --- */

static unsigned judge(const struct device *d, const struct load *l, enum claim claim, bool holds,
		      const char *sentence)
{
	const char *why = known_not_to_hold(d, l, claim);

	if (holds)
		return 0;
	printf("%s%s, %s: %s: %s%s%s\n", why == NULL ? "FAILS: " : "    ", d->name, l->name,
	       claim_names[claim], sentence, why == NULL ? "" : " -- ", why == NULL ? "" : why);
	return why == NULL;
}

static unsigned judge_all(const struct device *d, const struct load *l, const struct summary *s)
{
	const struct outcome *us = &s->outcomes[s->ours];
	unsigned fair = best_fair(s), sync = best_fsync(s), failed = 0;
	char text[160];

	if (fair != s->ours) {
		snprintf(text, sizeof(text), "%.3g MB/s, %s has %.3g", us->total / 1e6,
			 iosched_policy_name(s->policies[fair]), s->outcomes[fair].total / 1e6);
		failed += judge(d, l, CLAIM_TOTAL,
				us->total >= TOTAL_LEAST * s->outcomes[fair].total, text);
	}
	snprintf(text, sizeof(text), "%.1f points from its share", us->error);
	failed += judge(d, l, CLAIM_SHARE, us->error <= FAIR_POINTS, text);
	if (l->fsync_ruled && sync != s->ours) {
		snprintf(text, sizeof(text), "p99 %.3g ms, %s has %.3g", us->fsync_p99 / MS,
			 iosched_policy_name(s->policies[sync]), s->outcomes[sync].fsync_p99 / MS);
		/* Half a millisecond is below what any of them controls. */
		failed += judge(d, l, CLAIM_FSYNC,
				us->fsync_p99 <= 1.1 * s->outcomes[sync].fsync_p99 + MS / 2, text);
	}
	snprintf(text, sizeof(text), "sync %.0f ms, async %.0f ms", us->shallow_max / MS,
		 us->async_max / MS);
	failed += judge(d, l, CLAIM_WAIT,
			us->shallow_max <= SHALLOW_MOST && us->async_max <= ASYNC_MOST, text);
	return failed;
}

/* --- printing --- */

static void print_head(const struct options *o)
{
	printf("%sdevice | load | MB/s | error | best other | MB/s | error | best as fair | MB/s | "
	       "fsync p99 ms | best other | wait ms sync | deep | async%s\n",
	       o->markdown ? "| " : "", o->markdown ? " |" : "");
	if (o->markdown)
		puts("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
}

static void print_row(const struct options *o, const struct device *d, const struct load *l,
		      const struct summary *s)
{
	const struct outcome *us = &s->outcomes[s->ours];
	unsigned any = best_total(s), fair = best_fair(s);
	unsigned sync = best_fsync(s);

	printf("%s%s | %s | %.3g | %.0f | %s | %.3g | %.0f | ", o->markdown ? "| " : "", d->name,
	       l->name, us->total / 1e6, us->error, iosched_policy_name(s->policies[any]),
	       s->outcomes[any].total / 1e6, s->outcomes[any].error);
	if (fair == s->ours)
		printf("- | - | ");
	else
		printf("%s | %.3g | ", iosched_policy_name(s->policies[fair]),
		       s->outcomes[fair].total / 1e6);
	if (us->fsync_p99 > 0)
		printf("%.3g | %.3g | ", us->fsync_p99 / MS, s->outcomes[sync].fsync_p99 / MS);
	else
		printf("- | - | ");
	printf("%.0f | %.0f | %.0f%s\n", us->shallow_max / MS, us->deep_max / MS,
	       us->async_max / MS, o->markdown ? " |" : "");
	fflush(stdout);
}

/* Every policy on its own line: what the comparison is made of. */
static void print_each(const struct cell *c, const struct summary *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		const struct outcome *x = &s->outcomes[i];

		printf("    %-14s %8.3g MB/s, error %2.0f, p99 %5.4g (fsync %5.4g), waits %4.0f "
		       "%4.0f "
		       "%5.0f ms; shares",
		       iosched_policy_name(s->policies[i]), x->total / 1e6, x->error,
		       x->shallow_p99 / MS, x->fsync_p99 / MS, x->shallow_max / MS,
		       x->deep_max / MS, x->async_max / MS);
		for (unsigned k = 0; k < c->count; k++)
			printf(" %.3f", x->shares[k]);
		putchar('\n');
	}
}

/* --- running --- */

static int run_cell(const struct options *o, const struct device *d, const struct load *l,
		    const struct descriptor *model, struct summary *s,
		    struct iosched_sim_error *why)
{
	struct cell c;
	int err = cell_open(&c, d, l, model, why);

	for (unsigned i = 0; err == 0 && i < s->count; i++)
		err = cell_run(&c, s->policies[i], SEED, &s->outcomes[i], why);
	if (err == 0 && o->verbose)
		print_each(&c, s);
	cell_close(&c);
	return err;
}

/* Returns how many claims failed, or -errno. */
static int run_device(const struct options *o, const struct device *d, struct summary *s)
{
	struct iosched_sim_error why = {""};
	struct descriptor model;
	bool measured = false;
	unsigned failed = 0;
	int err = 0;

	for (unsigned i = 0; err == 0 && i < load_count; i++) {
		const struct load *l = &loads[i];

		if (!wanted(o, d, l))
			continue;
		if (!measured)
			err = descriptor_measure(&model, d, &why);
		measured = true;
		if (err == 0)
			err = run_cell(o, d, l, &model, s, &why);
		if (err != 0)
			continue;
		print_row(o, d, l, s);
		if (!o->markdown)
			failed += judge_all(d, l, s);
	}
	if (err != 0)
		fprintf(stderr, "generality: %s: %s\n", d->name,
			why.text[0] != '\0' ? why.text : strerror(-err));
	return err != 0 ? err : (int)failed;
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
	struct summary s = {.ours = POLICIES};
	int failed = 0;

	if (!read_options(&o, argc, argv)) {
		fputs("generality [-a] [-m] [-v] [-d DEVICE] [-l LOAD]\n", stderr);
		return 2;
	}
	list_policies(&s);
	if (s.ours == POLICIES) {
		puts("there is no fair-deadline in this build");
		return 77;
	}
	print_head(&o);
	for (unsigned i = 0; i < device_count; i++) {
		int got = run_device(&o, &devices[i], &s);

		if (got < 0)
			return 2;
		failed += got;
	}
	printf("%s%d claims fail\n", o.markdown ? "\n" : "", failed);
	return failed == 0 ? 0 : 1;
}
