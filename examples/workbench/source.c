/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "workbench.h"

/* What compressed files begin with. */
static const struct {
	const char *program;
	size_t length;
	unsigned char magic[6];
} packers[] = {
	{"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
	{"gzip", 2, {0x1f, 0x8b}},
	{"bzip2", 3, {'B', 'Z', 'h'}},
	{"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
};

/* The program that unpacks what lies at `fd`, which stays at its start; NULL: none. */
static const char *unpacker_of(int fd)
{
	unsigned char head[6];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	for (size_t i = 0; i < sizeof(packers) / sizeof(packers[0]); i++)
		if (n >= (ssize_t)packers[i].length &&
		    memcmp(head, packers[i].magic, packers[i].length) == 0)
			return packers[i].program;
	return NULL;
}

/* Start s->program on `fd`; its output becomes s->stream. */
static int unpack(struct wb_source *s, int fd)
{
	const char *const argv[] = {s->program, "-dc", NULL};
	int ends[2];
	int err;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return wb_fail("%s: no pipe: %s", s->path, strerror(errno));
	err = wb_child_start(&s->child, argv, fd, ends[1]);
	close(ends[1]);
	if (err == 0) {
		s->stream = fdopen(ends[0], "r");
		if (s->stream != NULL)
			return WB_OK;
		err = errno;
	}
	close(ends[0]);
	if (err == ENOENT)
		return wb_fail("%s: is compressed, and there is no program %s to unpack it",
			       s->path, s->program);
	return wb_fail("%s: %s could not be run: %s", s->path, s->program, strerror(err));
}

static int say_trace_error(const struct wb_source *s, int err)
{
	const char *why = s->trace != NULL ? iosched_trace_error(s->trace) : "";

	if (why[0] != '\0')
		return wb_fail("%s", why);
	return wb_fail("%s: %s", s->path, strerror(-err));
}

/* Opened once only, for it may be a pipe. A path that cannot be opened may still name the
 * files of several CPUs: then there is no stream. */
static int open_stream(struct wb_source *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);
	int code;

	if (fd < 0)
		return WB_OK;
	s->program = unpacker_of(fd);
	if (s->program == NULL) {
		s->stream = fdopen(fd, "r");
		if (s->stream != NULL)
			return WB_OK;
		code = wb_fail("%s: cannot be read: %s", s->path, strerror(errno));
	} else {
		code = unpack(s, fd);
	}
	close(fd);
	return code;
}

int wb_source_open(struct wb_source *s, const char *path, const struct iosched_trace_options *o)
{
	int code;
	int err;

	*s = (struct wb_source){.path = path, .child = -1};
	if (strcmp(path, "-") == 0) {
		err = iosched_trace_open_file(&s->trace, stdin, "standard input", o);
		return err == 0 ? WB_OK : say_trace_error(s, err);
	}
	code = open_stream(s);
	if (code != WB_OK)
		return code;
	err = s->stream != NULL ? iosched_trace_open_file(&s->trace, s->stream, path, o)
				: iosched_trace_open(&s->trace, path, o);
	return err == 0 ? WB_OK : say_trace_error(s, err);
}

/* A trace that ends where its unpacker failed is cut off, though it looks whole. */
static int check_child(struct wb_source *s)
{
	pid_t child = s->child;

	s->child = -1;
	if (child > 0 && !wb_child_succeeded(child))
		return wb_fail("%s: %s failed to unpack it", s->path, s->program);
	return WB_OK;
}

int wb_source_next(struct wb_source *s, struct iosched_trace_record *rec, int *got)
{
	*got = iosched_trace_next(s->trace, rec);
	if (*got < 0)
		return say_trace_error(s, *got);
	return *got == 0 ? check_child(s) : WB_OK;
}

void wb_source_close(struct wb_source *s)
{
	iosched_trace_close(s->trace);
	if (s->stream != NULL)
		fclose(s->stream);
	if (s->child > 0)
		wb_child_succeeded(s->child); /* it ends when nobody reads its pipe */
	*s = (struct wb_source){.child = -1};
}
