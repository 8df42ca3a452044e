/* SPDX-License-Identifier: MIT */
/* blockdev: what the kernel's sysfs says of a block device. */
#ifndef WORKBENCH_BLOCKDEV_H
#define WORKBENCH_BLOCKDEV_H

#include <sys/types.h>

#define WB_UNKNOWN (-1)

/* Each may be WB_UNKNOWN: files of network and stacked filesystems lie on no device of theirs. */
struct wb_blockdev {
	long rotational;  /* 0, 1 */
	long write_cache; /* 1: volatile, "write back" */
	long depth;	  /* requests at once */
	const char *depth_from;
};

void wb_blockdev_look(struct wb_blockdev *b, dev_t device);

#endif
