/* SPDX-License-Identifier: MIT */
/*
 * inflate: a whole text file, .gz or .xz or plain, into memory.
 */
#ifndef IOS_TESTS_INFLATE_H
#define IOS_TESTS_INFLATE_H

#include <stddef.h>

/* The text, ending in NUL; free() it. NULL: `error` says why. */
char *read_inflated(const char *path, char *error, size_t size);

#endif
