/* SPDX-License-Identifier: MIT */
/*
 * inflate: see inflate.h. Which format it is, its first bytes say. zlib reads plain files
 * too; without zlib stdio does.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#include "inflate.h"

/* More than any trace worth comparing. */
#define MAX_TEXT (256u << 20)

struct text {
	char *data;
	size_t used, size;
};

/* Room for at least one more byte and a NUL. */
static bool make_room(struct text *t)
{
	char *data;

	if (t->size - t->used > 1)
		return true;
	if (t->size >= MAX_TEXT)
		return false;
	data = realloc(t->data, t->size * 2 + 65536);
	if (data == NULL)
		return false;
	t->data = data;
	t->size = t->size * 2 + 65536;
	return true;
}

#ifdef HAVE_LZMA
static const char *read_xz(FILE *f, struct text *t)
{
	lzma_stream z = LZMA_STREAM_INIT;
	uint8_t in[65536];
	lzma_ret ret = lzma_stream_decoder(&z, UINT64_MAX, 0);
	lzma_action action = LZMA_RUN;

	while (ret == LZMA_OK) {
		if (z.avail_in == 0 && action == LZMA_RUN) {
			z.next_in = in;
			z.avail_in = fread(in, 1, sizeof(in), f);
			if (z.avail_in == 0)
				action = LZMA_FINISH;
		}
		if (!make_room(t)) {
			lzma_end(&z);
			return "too large";
		}
		z.next_out = (uint8_t *)t->data + t->used;
		z.avail_out = t->size - t->used - 1;
		ret = lzma_code(&z, action);
		t->used = t->size - 1 - z.avail_out;
	}
	lzma_end(&z);
	return ret == LZMA_STREAM_END ? NULL : "damaged .xz";
}
#endif

#ifdef HAVE_ZLIB
static const char *read_gz(const char *path, struct text *t)
{
	gzFile f = gzopen(path, "rb");
	int n = 1;

	if (f == NULL)
		return strerror(errno);
	while (n > 0) {
		if (!make_room(t)) {
			gzclose(f);
			return "too large";
		}
		n = gzread(f, t->data + t->used, (unsigned)(t->size - t->used - 1));
		if (n > 0)
			t->used += (size_t)n;
	}
	return gzclose(f) == Z_OK && n == 0 ? NULL : "damaged .gz";
}
#endif

static const char *read_plain(FILE *f, struct text *t)
{
	size_t n;

	do {
		if (!make_room(t))
			return "too large";
		n = fread(t->data + t->used, 1, t->size - t->used - 1, f);
		t->used += n;
	} while (n > 0);
	return ferror(f) ? strerror(errno) : NULL;
}

static const char *read_any(const char *path, FILE *f, struct text *t)
{
	unsigned char magic[2] = {0, 0};
	size_t n = fread(magic, 1, 2, f);

	rewind(f);
	if (n == 2 && magic[0] == 0xfd && magic[1] == '7') {
#ifdef HAVE_LZMA
		return read_xz(f, t);
#else
		return "built without liblzma";
#endif
	}
	if (n == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
#ifdef HAVE_ZLIB
		return read_gz(path, t);
#else
		(void)path;
		return "built without zlib";
#endif
	}
	return read_plain(f, t);
}

char *read_inflated(const char *path, char *error, size_t size)
{
	struct text t = {NULL, 0, 0};
	FILE *f = fopen(path, "rb");
	const char *wrong = f == NULL ? strerror(errno) : read_any(path, f, &t);

	if (f != NULL)
		fclose(f);
	if (wrong == NULL && t.data != NULL && memchr(t.data, 0, t.used) == NULL) {
		t.data[t.used] = '\0';
		return t.data;
	}
	snprintf(error, size, "%s", wrong != NULL ? wrong : "not a text file");
	free(t.data);
	return NULL;
}
