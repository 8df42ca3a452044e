/* SPDX-License-Identifier: MIT */
/*
 * iosched: the workbench. It replays traces of block I/O on a simulated device
 * through the policies of libiosched, and tells how each did and why.
 *
 * This file is the table of verbs and the road to one: find it, parse its
 * options, run it, and see to it that what it printed has arrived.
 */
#include <stdio.h>
#include <string.h>

#include <iosched/iosched.h>

#include "options.h"
#include "workbench.h"

static const struct wb_verb *const verbs[] = {
	&wb_verb_policies,  &wb_verb_replay,   &wb_verb_compare,    &wb_verb_sim,
	&wb_verb_seeds,	    &wb_verb_explain,  &wb_verb_trace_info, &wb_verb_trace_convert,
	&wb_verb_calibrate, &wb_verb_programs,
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void help(FILE *out)
{
	fputs("Usage: iosched VERB [OPTION...] [OPERAND...]\n"
	      "Run libiosched's I/O scheduling policies on a simulated device.\n\n",
	      out);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "  %-15s %s\n", verbs[i]->name, verbs[i]->summary);
	fputs("\n`iosched VERB --help` says more about one; `iosched --version` which library "
	      "runs.\n"
	      "Exit code: 0 done, 1 it failed, 2 it was asked for wrongly.\n",
	      out);
}

/* Does the command line begin with the verb's words? Sets how many those are. */
static bool begins_with(const struct wb_verb *v, int argc, char **argv, int *words)
{
	const char *space = strchr(v->name, ' ');

	*words = space == NULL ? 1 : 2;
	if (space == NULL)
		return strcmp(argv[1], v->name) == 0;
	return argc > 2 && strlen(argv[1]) == (size_t)(space - v->name) &&
	       strncmp(argv[1], v->name, strlen(argv[1])) == 0 && strcmp(argv[2], space + 1) == 0;
}

/* Verbs of two words whose first was given alone or with an unknown second. */
static int unknown_verb(const char *word)
{
	size_t length = strlen(word);
	bool found = false;

	for (size_t i = 0; i < VERBS; i++) {
		if (strncmp(verbs[i]->name, word, length) != 0 || verbs[i]->name[length] != ' ')
			continue;
		wb_complain("did you mean `iosched %s`?", verbs[i]->name);
		found = true;
	}
	return found ? WB_USAGE : wb_refuse("there is no verb \"%s\"; see `iosched --help`", word);
}

static int run_verb(const struct wb_verb *v, int argc, char **argv)
{
	struct wb_options o;
	int code = wb_options_parse(&o, v, argc, argv);

	if (code == WB_OK && o.help)
		wb_options_help(v, stdout);
	else if (code == WB_OK)
		code = v->run(&o);
	wb_options_fini(&o);
	return code;
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		help(stderr);
		return WB_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help(stdout);
		return WB_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("iosched %s\n", iosched_version());
		return WB_OK;
	}
	for (size_t i = 0; i < VERBS; i++) {
		int words;

		if (begins_with(verbs[i], argc, argv, &words))
			return run_verb(verbs[i], argc - words, argv + words);
	}
	return unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
	int code = run(argc, argv);

	if (fflush(stdout) != 0 || ferror(stdout)) {
		wb_complain("standard output could not be written");
		code = code == WB_OK ? WB_FAILED : code;
	}
	return code;
}
