/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "blockdev.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* A partition's folder lies in its disk's, which has the queue. */
static bool read_line(dev_t device, const char *name, char *out, int size)
{
	static const char *const folders[] = {"", "../"};
	char path[128];
	FILE *f = NULL;
	bool got;

	for (size_t i = 0; f == NULL && i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s%s", major(device),
			 minor(device), folders[i], name);
		f = fopen(path, "re");
	}
	if (f == NULL)
		return false;
	got = fgets(out, size, f) != NULL;
	fclose(f);
	return got;
}

static long read_number(dev_t device, const char *name)
{
	char line[64], *end;
	long value;

	if (!read_line(device, name, line, sizeof(line)))
		return WB_UNKNOWN;
	value = strtol(line, &end, 10);
	return end != line && value >= 0 ? value : WB_UNKNOWN;
}

void wb_blockdev_look(struct wb_blockdev *b, dev_t device)
{
	char line[64];

	b->rotational = read_number(device, "queue/rotational");
	b->write_cache = WB_UNKNOWN;
	if (read_line(device, "queue/write_cache", line, sizeof(line)))
		b->write_cache = strncmp(line, "write back", 10) == 0;
	/* SCSI disks tell their own depth; of others there is the block layer's. */
	b->depth_from = "queue_depth";
	b->depth = read_number(device, "device/queue_depth");
	if (b->depth <= 0) {
		b->depth_from = "nr_requests";
		b->depth = read_number(device, "queue/nr_requests");
	}
	if (b->depth <= 0)
		b->depth = WB_UNKNOWN;
}
