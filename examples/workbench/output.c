/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workbench.h"

/* The temporary file there is now, removed also when a signal ends us. */
static const char *volatile doomed;

static const int deadly[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

static void die(int signal)
{
	if (doomed != NULL)
		unlink(doomed);
	raise(signal); /* the default action, for SA_RESETHAND */
}

static void guard(const char *temp)
{
	struct sigaction action = {.sa_handler = die, .sa_flags = (int)SA_RESETHAND};
	struct sigaction old;

	doomed = temp;
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
}

static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* mkstemp() makes a private file; this is what open() would have made. */
static void usual_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	fchmod(fd, 0666 & ~mask);
}

static int open_temp(struct wb_output *out)
{
	int fd;

	if (asprintf(&out->temp, "%s.XXXXXX", out->path) < 0) {
		out->temp = NULL;
		return wb_fail("out of memory");
	}
	fd = mkstemp(out->temp);
	if (fd >= 0) {
		usual_mode(fd);
		out->file = fdopen(fd, "w");
		if (out->file != NULL) {
			guard(out->temp);
			return WB_OK;
		}
		unlink(out->temp);
	}
	free(out->temp);
	out->temp = NULL;
	return wb_fail("%s: cannot be written: %s", out->path, strerror(errno));
}

int wb_output_open(struct wb_output *out, const char *path)
{
	*out = (struct wb_output){.path = path};
	if (strcmp(path, "-") == 0) {
		out->file = stdout;
		return WB_OK;
	}
	if (!is_special(path))
		return open_temp(out);
	out->file = fopen(path, "w");
	return out->file != NULL ? WB_OK
				 : wb_fail("%s: cannot be written: %s", path, strerror(errno));
}

static bool finish_stream(struct wb_output *out)
{
	bool ok = !ferror(out->file);

	if (out->file == stdout)
		return fflush(stdout) == 0 && ok;
	return fclose(out->file) == 0 && ok;
}

int wb_output_close(struct wb_output *out, int code)
{
	bool ok;

	if (out->file == NULL)
		return code;
	errno = 0;
	ok = finish_stream(out);
	if (code == WB_OK && ok && out->temp != NULL)
		ok = rename(out->temp, out->path) == 0;
	if (out->temp != NULL && (code != WB_OK || !ok))
		unlink(out->temp);
	if (code == WB_OK && !ok)
		code = wb_fail("%s: could not be written: %s", out->path,
			       errno != 0 ? strerror(errno) : "output error");
	doomed = NULL;
	free(out->temp);
	*out = (struct wb_output){0};
	return code;
}
