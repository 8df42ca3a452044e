/* SPDX-License-Identifier: MIT */
/*
 * digest_sim SCENARIO...: one line for every run of the scenarios, and for a few cells of the seed
 * tables: its digest, which is of every decision with its time. sim_compilers.sh builds this with
 * other compilers than the library's and compares what they print.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/seeds.h>
#include <iosched/sim.h>

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "digest_sim: %s: %s\n", what, why);
	return 1;
}

static int print_scenario(const char *path)
{
	struct iosched_sim_scenario *s;
	struct iosched_sim_error why;
	struct iosched_sim_case c;
	int failed = 0;

	if (iosched_sim_scenario_load(&s, path, &why) != 0)
		return fail(path, why.text);
	for (unsigned i = 0; !failed && iosched_sim_scenario_case(s, i, &c) == 0; i++) {
		const char *slash = strrchr(path, '/');
		struct iosched_sim_result *r;

		if (iosched_sim_run(c.config, &r, &why) != 0) {
			failed = fail(path, why.text);
			break;
		}
		printf("%s %s %" PRIu64 " %016" PRIx64 "\n", slash != NULL ? slash + 1 : path,
		       c.label, c.seed, r->digest);
		iosched_sim_result_free(r);
	}
	iosched_sim_scenario_free(s);
	return failed;
}

/* A cell that takes little, for each program that the scenarios do not run. */
static int print_cell(const char *name, const char *kernel)
{
	struct iosched_seed_cell cell;
	struct iosched_sim_error why;
	uint64_t digest;
	double value;

	for (unsigned i = 0; iosched_seed_cell_at(i, &cell) == 0; i++) {
		if (strcmp(cell.cell, name) != 0 || strcmp(cell.kernel, kernel) != 0 ||
		    strcmp(cell.policy, "cfq") != 0)
			continue;
		if (iosched_seed_run(i, 1, &value, &digest, &why) != 0)
			return fail(name, why.text);
		printf("%s cfq %s %.17g %016" PRIx64 "\n", name, kernel, value, digest);
		return 0;
	}
	return fail(name, "there is no such cell");
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= print_scenario(argv[i]);
	failed |= print_cell("seeks", "2.6.32");
	failed |= print_cell("sysbench-3", "2.6.28");
	failed |= print_cell("dump", "2.6.28");
	failed |= print_cell("nfs-2", "2.6.30-rc1");
	failed |= print_cell("tps", "2.6.32");
	return failed;
}
