/* SPDX-License-Identifier: MIT */
/*
 * Who asks, in words: an export's name, a user, a process, a peer. The words are hashed to the
 * number that libiosched and the emulated disk know it by, so both modules agree on it.
 */
#ifndef EXAMPLES_NBDKIT_IDENTITY_H
#define EXAMPLES_NBDKIT_IDENTITY_H

#include <stdint.h>

/* FNV-1a; 0 means "nobody" to libiosched, so it is not used. */
static inline uint64_t identity_hash(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return h != 0 ? h : 1;
}

#endif
