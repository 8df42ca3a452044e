/* SPDX-License-Identifier: MIT */
/*
 * run_scenarios [-d DIGESTS | -w DIGESTS] [-o] FILE...
 *
 * Runs scenario files and checks them. -d: the digest of every run must be the one that
 * the file DIGESTS has ("scenario label seed digest" a line); -w writes that file. -o: the
 * files are open cases: something in each must fail, or it is open no longer.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <iosched/sim.h>

struct known {
	char key[192];
	uint64_t digest;
	bool met;
};

static struct known *known;
static size_t known_count;
static FILE *written;
static bool open_cases;
static unsigned scenarios, runs, checks, faults;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* --- Digests --- */

static bool read_digests(const char *path)
{
	FILE *file = fopen(path, "r");
	char name[96], label[64];
	uint64_t seed, digest;

	if (file == NULL) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	while (fscanf(file, "%95s %63s %" SCNu64 " %" SCNx64, name, label, &seed, &digest) == 4) {
		struct known *all = realloc(known, (known_count + 1) * sizeof(*all));

		if (all == NULL)
			return false;
		known = all;
		snprintf(known[known_count].key, sizeof(known[0].key), "%s %s %" PRIu64, name,
			 label, seed);
		known[known_count].digest = digest;
		known[known_count++].met = false;
	}
	fclose(file);
	return known_count > 0;
}

static void pin(const char *path, const struct iosched_sim_case *c, uint64_t digest)
{
	char key[sizeof(known[0].key)];

	snprintf(key, sizeof(key), "%s %s %" PRIu64, base_name(path), c->label, c->seed);
	if (written != NULL)
		fprintf(written, "%s %016" PRIx64 "\n", key, digest);
	for (size_t i = 0; i < known_count; i++) {
		if (strcmp(known[i].key, key) != 0)
			continue;
		known[i].met = true;
		if (known[i].digest == digest)
			return;
		printf("%s: digest %016" PRIx64 ", was %016" PRIx64 "\n", key, digest,
		       known[i].digest);
		faults++;
		return;
	}
	if (known_count > 0) {
		printf("%s: no digest is pinned\n", key);
		faults++;
	}
}

/* --- A file --- */

static void check_all(const char *path, const struct iosched_sim_scenario *s,
		      struct iosched_sim_result *const *results)
{
	struct iosched_sim_verdict v;
	unsigned failed = 0;

	for (unsigned i = 0; i < iosched_sim_scenario_check_count(s); i++) {
		if (iosched_sim_scenario_check(s, i, results, &v) != 0)
			abort();
		checks++;
		failed += v.state == IOSCHED_SIM_FAILS;
		if (v.state == IOSCHED_SIM_HOLDS || (open_cases && v.state == IOSCHED_SIM_FAILS))
			continue;
		printf("%s:%u: %s: %s\n", path, v.line, v.text, v.figures);
		faults++;
	}
	if (iosched_sim_scenario_check_count(s) == 0 || (open_cases && failed == 0)) {
		printf("%s: %s\n", path,
		       open_cases ? "all it expects holds: it is open no longer"
				  : "it expects nothing");
		faults++;
	}
}

static void run_cases(const char *path, const struct iosched_sim_scenario *s, unsigned n)
{
	struct iosched_sim_result **results = calloc(n, sizeof(*results));
	struct iosched_sim_error why;

	if (results == NULL)
		abort();
	if (iosched_sim_scenario_run(s, results, &why) != 0) {
		printf("%s: %s\n", path, why.text);
		faults++;
	} else {
		for (unsigned i = 0; i < n; i++) {
			struct iosched_sim_case c;

			iosched_sim_scenario_case(s, i, &c);
			pin(path, &c, results[i]->digest);
			runs++;
		}
		check_all(path, s, results);
	}
	for (unsigned i = 0; i < n; i++)
		iosched_sim_result_free(results[i]);
	free(results);
}

static void run_file(const char *path)
{
	struct iosched_sim_scenario *s;
	struct iosched_sim_error why;

	scenarios++;
	if (iosched_sim_scenario_load(&s, path, &why) != 0) {
		printf("%s\n", why.text);
		faults++;
		return;
	}
	run_cases(path, s, iosched_sim_scenario_case_count(s));
	iosched_sim_scenario_free(s);
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "d:w:o")) != -1) {
		if (option == 'o')
			open_cases = true;
		else if (option == 'd' && !read_digests(optarg))
			return EXIT_FAILURE;
		else if (option == 'w' && (written = fopen(optarg, "w")) == NULL)
			return EXIT_FAILURE;
		else if (option == '?')
			return 2;
	}
	for (int i = optind; i < argc; i++)
		run_file(argv[i]);
	if (written != NULL && fclose(written) != 0)
		faults++;
	free(known);
	printf("%u scenarios, %u runs, %u expectations, %u faults\n", scenarios, runs, checks,
	       faults);
	return scenarios > 0 && faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
