/* SPDX-License-Identifier: MIT */
/*
 * fuzz_scenario: any bytes, read as a scenario.
 *
 * It aborts when the reader breaks what sim.h says: a refusal without a sentence, a sentence
 * without the text's name, a scenario without a run, a run that cannot be described, or an
 * expectation on results that are not there that is not "not checked".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/sim.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(claim)                                                                           \
	do {                                                                                  \
		if (!(claim)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
			abort();                                                              \
		}                                                                             \
	} while (0)

static void must_be_described(const struct iosched_sim_scenario *s)
{
	unsigned n = iosched_sim_scenario_case_count(s);
	struct iosched_sim_case c;

	MUST(n > 0 && iosched_sim_scenario_title(s) != NULL);
	for (unsigned i = 0; i < n; i++) {
		MUST(iosched_sim_scenario_case(s, i, &c) == 0);
		MUST(c.label[0] != '\0' && c.policy != NULL);
		MUST(c.config->stream_count + c.config->program_count > 0);
		MUST(c.config->seed == c.seed && c.config->policy == c.policy);
	}
	MUST(iosched_sim_scenario_case(s, n, &c) == -ERANGE);
}

static void must_not_be_checked(const struct iosched_sim_scenario *s)
{
	struct iosched_sim_result **none =
		calloc(iosched_sim_scenario_case_count(s), sizeof(*none));
	struct iosched_sim_verdict v;

	MUST(none != NULL);
	for (unsigned i = 0; i < iosched_sim_scenario_check_count(s); i++) {
		MUST(iosched_sim_scenario_check(s, i, none, &v) == 0);
		MUST(v.state == IOSCHED_SIM_NOT_CHECKED && v.line > 0 && v.text[0] != '\0');
	}
	free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct iosched_sim_scenario *s;
	struct iosched_sim_error why;
	int err = iosched_sim_scenario_parse(&s, (const char *)data, size, "fuzz", &why);

	if (err != 0) {
		MUST(s == NULL && why.text[0] != '\0');
		MUST(strncmp(why.text, "fuzz:", 5) == 0 || strcmp(why.text, "out of memory") == 0);
		return 0;
	}
	must_be_described(s);
	iosched_sim_scenario_add_policy(s, iosched_policy_find("noop"));
	must_be_described(s);
	must_not_be_checked(s);
	iosched_sim_scenario_free(s);
	return 0;
}
