/* SPDX-License-Identifier: MIT */
/* input: see input.h. */
#include "trace/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ios_trace_input_init(struct ios_trace_input *in, const char *name, iosched_trace_read_fn *read,
			 void *user)
{
	memset(in, 0, sizeof(*in));
	in->name = strdup(name);
	in->buffer = malloc(IOS_TRACE_INPUT_BYTES);
	in->read = read;
	in->user = user;
	if (in->name == NULL || in->buffer == NULL) {
		ios_trace_input_fini(in);
		return -ENOMEM;
	}
	return 0;
}

static int64_t read_stream(void *user, void *buffer, size_t size)
{
	FILE *file = user;
	size_t n;

	errno = 0;
	n = fread(buffer, 1, size, file);
	if (n == 0 && ferror(file))
		return errno != 0 ? -errno : -EIO;
	return (int64_t)n;
}

int ios_trace_input_stream(struct ios_trace_input *in, const char *name, FILE *file)
{
	return ios_trace_input_init(in, name, read_stream, file);
}

int ios_trace_input_open(struct ios_trace_input *in, const char *path)
{
	FILE *file = fopen(path, "rb");
	int err;

	if (file == NULL)
		return -errno;
	/* We buffer ourselves. */
	setvbuf(file, NULL, _IONBF, 0);
	err = ios_trace_input_stream(in, path, file);
	if (err != 0)
		fclose(file);
	else
		in->owned = file;
	return err;
}

void ios_trace_input_fini(struct ios_trace_input *in)
{
	if (in->owned != NULL)
		fclose(in->owned);
	free(in->name);
	free(in->buffer);
	memset(in, 0, sizeof(*in));
}

static void move_to_front(struct ios_trace_input *in)
{
	memmove(in->buffer, in->buffer + in->at, in->end - in->at);
	in->taken += in->at;
	in->end -= in->at;
	in->at = 0;
}

static void read_more(struct ios_trace_input *in)
{
	size_t room = IOS_TRACE_INPUT_BYTES - in->end;
	int64_t n = in->read(in->user, in->buffer + in->end, room);

	if (n > 0 && (uint64_t)n <= room) {
		in->end += (size_t)n;
		return;
	}
	in->eof = true;
	/* A callback that claims more than it was given room for is not to be believed. */
	in->error = n > 0 ? -EIO : n < INT32_MIN ? -EIO : (int)n;
}

size_t ios_trace_input_need(struct ios_trace_input *in, size_t n)
{
	if (in->end - in->at < n && !in->eof && in->at + n > IOS_TRACE_INPUT_BYTES)
		move_to_front(in);
	while (in->end - in->at < n && !in->eof)
		read_more(in);
	return in->end - in->at;
}

void ios_trace_input_take(struct ios_trace_input *in, size_t n)
{
	in->at += n;
	if (in->at == in->end) {
		in->taken += in->at;
		in->at = in->end = 0;
	}
}

bool ios_trace_input_skip(struct ios_trace_input *in, uint64_t n)
{
	while (n > 0) {
		size_t have = ios_trace_input_need(in, 1);

		if (have == 0)
			return false;
		if (have > n)
			have = (size_t)n;
		ios_trace_input_take(in, have);
		n -= have;
	}
	return true;
}
