/* SPDX-License-Identifier: MIT */
/*
 * conformance: does a policy decide what the kernel's decided?
 *
 *   conformance FILE|DIRECTORY...
 *
 * Replays each decision trace (also .gz and .xz) and compares every answer.
 * Prints the first difference of a trace with the lines before it, and ends with "N passed, M
 * failed"; exit 0 if none failed, 1 if one did, 2 if it could not be run.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "inflate.h"
#include "replay.h"

#define CONTEXT_LINES 10
#define MAX_LINE 512

static unsigned passed, failed;

struct recent {
	char line[CONTEXT_LINES + 1][MAX_LINE];
	unsigned n;
};

static void remember(struct recent *recent, const char *line)
{
	snprintf(recent->line[recent->n++ % (CONTEXT_LINES + 1)], MAX_LINE, "%s", line);
}

static void print_recent(const struct recent *recent)
{
	unsigned i = recent->n > CONTEXT_LINES ? recent->n - CONTEXT_LINES - 1 : 0;

	for (; i < recent->n; i++)
		printf("  %s %5u| %s\n", i + 1 == recent->n ? ">" : " ", i + 1,
		       recent->line[i % (CONTEXT_LINES + 1)]);
}

static bool replay_text(struct replay *r, char *text, struct recent *recent)
{
	char *line, *next;

	for (line = text; *line != '\0'; line = next) {
		char *end = strchr(line, '\n');

		next = end == NULL ? line + strlen(line) : end + 1;
		if (end != NULL)
			*end = '\0';
		remember(recent, line);
		if (!replay_line(r, line))
			return false;
	}
	return replay_end(r);
}

static void run(const char *path)
{
	struct recent recent = {.n = 0};
	char error[256];
	char *text = read_inflated(path, error, sizeof(error));
	struct replay *r = text == NULL ? NULL : replay_begin(path);

	if (text == NULL) {
		printf("%s: %s\n", path, error);
		failed++;
	} else if (r == NULL) {
		printf("%s: out of memory\n", path);
		failed++;
	} else if (replay_text(r, text, &recent)) {
		passed++;
	} else {
		printf("%s\n", replay_error(r));
		print_recent(&recent);
		failed++;
	}
	if (r != NULL)
		replay_free(r);
	free(text);
}

static bool ends_with(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);

	return n > m && strcmp(path + n - m, suffix) == 0;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)ftw;
	if (type == FTW_F && (ends_with(path, ".trace") || ends_with(path, ".trace.gz") ||
			      ends_with(path, ".trace.xz")))
		run(path);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: conformance FILE|DIRECTORY...\n");
		return 2;
	}
	for (i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) != 0) {
			perror(argv[i]);
			return 2;
		}
		if (!S_ISDIR(st.st_mode))
			run(argv[i]);
		else if (nftw(argv[i], visit, 16, FTW_PHYS) != 0) {
			perror(argv[i]);
			return 2;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0 || passed == 0;
}
