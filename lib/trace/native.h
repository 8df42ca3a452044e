/* SPDX-License-Identifier: MIT */
/* native: the letters of our own text format, for its reader and its writer. */
#ifndef IOS_TRACE_NATIVE_H
#define IOS_TRACE_NATIVE_H

#include "trace/reader.h"

/* Letters of enum iosched_op in its order, and N for none. */
#define IOS_NATIVE_OPS "RWFDN"

struct ios_native_flag {
	char letter;
	uint32_t flag;
};

extern const struct ios_native_flag ios_native_flags[]; /* ends with letter 0 */
extern const char *const ios_native_classes[3];		/* indexed by enum iosched_class */

#endif
