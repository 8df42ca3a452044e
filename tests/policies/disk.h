/* SPDX-License-Identifier: MIT */
/*
 * disk: a virtual disk and closed-loop streams, just enough to see a policy share it.
 *
 * The disk serves one request at a time: positioning (4 ms and up to 8 more by distance, none if
 * the request starts where the last ended) plus 8 ns a byte. Of what it was
 * given it takes the oldest, or with `sorts` the nearest. `channels` above 1 makes it flash:
 * 100 us and 4 ns a byte each, no positioning.
 */
#ifndef TESTS_POLICIES_DISK_H
#define TESTS_POLICIES_DISK_H

#include <iosched/iosched.h>

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define DISK_BYTES (UINT64_C(500) << 30)
#define STREAM_DEPTH_MAX 64

struct stream {
	uint64_t context;
	bool random, write;
	uint32_t flags, depth, bytes;
	uint8_t prio_class;
	uint64_t think_ns, at; /* at: where a sequential one stands */
	uint64_t deadline_ns;  /* relative; 0: none */
	/* what it got */
	uint64_t done, done_bytes, busy_ns, wait_max, latency_max;
	struct iosched_request rq[STREAM_DEPTH_MAX];
	iosched_time next[STREAM_DEPTH_MAX]; /* when to submit; NEVER: outstanding */
};

struct disk {
	struct iosched *queue;
	unsigned channels, depth;
	bool sorts;
	iosched_time now;
	uint64_t head, rng;
	struct iosched_request *in[64]; /* oldest first */
	iosched_time finish[64];	/* NEVER: not begun */
	uint64_t cost[64];
	unsigned n_in, n_busy;
	uint64_t idle_ns, longest_idle_ns, flushes;
	uint64_t waits; /* wake-ups that the policy asked for and that came */
};

void disk_run(struct disk *d, struct stream *s, unsigned n, iosched_time until);
uint64_t disk_random(struct disk *d);

#endif
