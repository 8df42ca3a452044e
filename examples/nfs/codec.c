/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "nfs.h"

/* libnfs declares zdrproc_t variadic, and its coders not: each needs a function of its own. */
#define DEFINE(T)                                        \
	uint32_t nfsd_code_##T(ZDR *z, void *value, ...) \
	{                                                \
		return zdr_##T(z, value);                \
	}
NFS_CODED(DEFINE)

uint32_t nfsd_code_nothing(ZDR *z, void *value, ...)
{
	(void)z;
	(void)value;
	return 1;
}
