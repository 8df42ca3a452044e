/* SPDX-License-Identifier: MIT */
/*
 * replay_main: runs a fuzz target over files, without a fuzzer, so that every compiler and `make
 * check` can. Arguments are files or folders (whose files are taken, not their
 * folders), or -random=N for N inputs of pseudo-random bytes.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;

	if (file != NULL && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0) {
		rewind(file);
		/* Exactly as long as the file, so that sanitizers see one byte too many. */
		data = malloc(size > 0 ? (size_t)size : 1);
	}
	if (data == NULL || fread(data, 1, (size_t)size, file) != (size_t)size) {
		fprintf(stderr, "cannot read %s\n", path);
		return EXIT_FAILURE;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	replayed++;
	return EXIT_SUCCESS;
}

static int replay_folder(DIR *dir, const char *folder)
{
	const struct dirent *entry;
	int result = EXIT_SUCCESS;

	while ((entry = readdir(dir)) != NULL) {
		char path[4096];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    replay_file(path) != EXIT_SUCCESS)
			result = EXIT_FAILURE;
	}
	closedir(dir);
	return result;
}

/* Programs nobody wrote, the same ones each time. */
static void replay_random(unsigned long n)
{
	uint64_t state = UINT64_C(0x9E3779B97F4A7C15);
	uint8_t data[1024];

	while (n-- > 0) {
		size_t size, i;

		for (i = 0; i < sizeof(data); i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			data[i] = (uint8_t)(state >> 32);
		}
		size = (size_t)(state % sizeof(data));
		LLVMFuzzerTestOneInput(data, size);
		replayed++;
	}
}

static int replay(const char *arg)
{
	DIR *dir;

	if (strncmp(arg, "-random=", 8) == 0) {
		replay_random(strtoul(arg + 8, NULL, 10));
		return EXIT_SUCCESS;
	}
	dir = opendir(arg);
	return dir != NULL ? replay_folder(dir, arg) : replay_file(arg);
}

int main(int argc, char **argv)
{
	int result = EXIT_SUCCESS;

	for (int i = 1; i < argc; i++)
		if (replay(argv[i]) != EXIT_SUCCESS)
			result = EXIT_FAILURE;
	printf("%u inputs replayed\n", replayed);
	return replayed > 0 ? result : EXIT_FAILURE;
}
