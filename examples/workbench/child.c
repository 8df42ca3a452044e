/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool wb_child_found(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path != NULL && *path != '\0') {
		size_t n = strcspn(path, ":");
		int length = snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, program);

		if (n > 0 && length > 0 && (size_t)length < sizeof(file) && access(file, X_OK) == 0)
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

int wb_child_start(pid_t *out, const char *const *argv, int input, int output)
{
	posix_spawn_file_actions_t actions;
	char *args[8];
	size_t n = 0;
	int err = posix_spawn_file_actions_init(&actions);

	if (err != 0)
		return err;
	/* posix_spawnp() does not change them, its type only cannot say so. */
	for (; argv[n] != NULL && n + 1 < sizeof(args) / sizeof(args[0]); n++)
		memcpy(&args[n], &argv[n], sizeof(args[n]));
	args[n] = NULL;
	if (input >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	if (err == 0 && output >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (err == 0)
		err = posix_spawnp(out, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

bool wb_child_succeeded(pid_t child)
{
	int status;
	pid_t got;

	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
