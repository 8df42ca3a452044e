/* SPDX-License-Identifier: MIT */
/*
 * contract: every built-in policy against the test kit, several seeds. `contract NAME SEED`
 * repeats one of them.
 */
#include <iosched/policy_check.h>

#include <stdio.h>
#include <stdlib.h>

#define SEEDS 12u

static int check(const struct iosched_policy *p, unsigned seed)
{
	char why[300];
	int error = iosched_policy_check(p, seed, why, sizeof(why));

	if (error != 0)
		fprintf(stderr, "contract: %s\n", why);
	return error;
}

int main(int argc, char **argv)
{
	const struct iosched_policy *p;
	unsigned i, seed;
	int failed = 0;

	if (argc == 3) {
		p = iosched_policy_find(argv[1]);
		if (p == NULL) {
			fprintf(stderr, "contract: no policy is called %s\n", argv[1]);
			return 2;
		}
		return check(p, (unsigned)strtoul(argv[2], NULL, 10)) != 0;
	}
	for (i = 0; (p = iosched_policy_at(i)) != NULL; i++) {
		int before = failed;

		for (seed = 1; seed <= SEEDS; seed++)
			failed += check(p, seed) != 0;
		printf("%s: %u seeds, %d broken\n", iosched_policy_name(p), SEEDS, failed - before);
	}
	return failed == 0 ? 0 : 1;
}
