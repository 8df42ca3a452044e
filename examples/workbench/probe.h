/* SPDX-License-Identifier: MIT */
/*
 * probe: timed reads or writes of a file or block device, by one thread for each request that
 * is to be outstanding.
 *
 * Rule: it is opened for reading only, unless writing was asked for. Every load ends by its
 * time; what is then with the device is still waited for.
 */
#ifndef WORKBENCH_PROBE_H
#define WORKBENCH_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WB_PROBE_LEAST (UINT64_C(16) << 20) /* bytes; less fits every device's cache */
#define WB_PROBE_DEPTH 32		    /* most requests at a time */

struct wb_probe {
	const char *path;
	int fd;
	uint64_t size; /* whole blocks of 4 KiB */
	dev_t device;  /* that it is, or lies on */
	bool block;    /* is a block device */
	bool direct;   /* past the page cache */
	bool holes;    /* parts of the file are nowhere */
};

struct wb_load {
	const char *name;
	uint32_t depth, bytes; /* `bytes` a multiple of 4 KiB, 256 KiB at most */
	bool random, write;
};

struct wb_rate {
	uint64_t requests;
	double bytes_per_s, per_s;
	double mean_ns, median_ns; /* of one request */
};

/* Both return an exit code. wb_probe_close() also after an error. */
int wb_probe_open(struct wb_probe *p, const char *path, bool write);
int wb_probe_run(const struct wb_probe *p, const struct wb_load *load, uint64_t ns,
		 struct wb_rate *out);
void wb_probe_close(struct wb_probe *p);

#endif
