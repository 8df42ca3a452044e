/* SPDX-License-Identifier: MIT */
/*
 * audit: what must be true. IOS_ASSERT is cheap, local and true by
 * construction; structures are walked by the audit operations instead.
 * Released builds type-check the argument and drop it.
 */
#ifndef IOS_BLOCKS_AUDIT_H
#define IOS_BLOCKS_AUDIT_H

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef IOS_ENABLE_ASSERT
#include <assert.h>
#define IOS_ASSERT(claim) assert(claim)
#else
#define IOS_ASSERT(claim) ((void)sizeof(claim))
#endif

#endif
