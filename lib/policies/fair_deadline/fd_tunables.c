/* SPDX-License-Identifier: MIT */
/*
 * fd_tunables: every number of fair-deadline by name, with its range and its reason in a line.
 */
#include "policies/fair_deadline/fd.h"

/* Defaults are of flash; these of twelve 10k disks behind a caching controller. */
void ios_fd_use_array_model(struct fd_tunables *t)
{
	t->byte_cost_ps[0] = 1000, t->byte_cost_ps[1] = 2250;
	t->rand_cost_ns[0] = 240 * FD_US, t->rand_cost_ns[1] = 450 * FD_US;
	t->seq_cost_ns[0] = 5 * FD_US, t->seq_cost_ns[1] = 10 * FD_US;
	t->lat_rand_ns[0] = t->lat_rand_ns[1] = 3 * FD_MS;
	t->lat_seq_ns[0] = t->lat_seq_ns[1] = 150 * FD_US;
	t->lat_byte_ps[0] = t->lat_byte_ps[1] = 2000;
	t->lead_ns = 2 * FD_MS;
}

/* What was learned from a number starts again from its new value. */
void ios_fd_tunable_changed(void *self, const struct iosched_tunable *t)
{
	struct fd *d = self;

	d->alarm = 0;
	if (t->member == offsetof(struct fd, t.position_ns))
		d->t_pos = d->t.position_ns;
	if (t->member == offsetof(struct fd, t.byte_ps))
		d->c_byte = d->t.byte_ps;
	if (t->member == offsetof(struct fd, t.lat_rand_ns[0]))
		d->lat_rand_ns[0] = d->t.lat_rand_ns[0];
	if (t->member == offsetof(struct fd, t.lat_rand_ns[1]))
		d->lat_rand_ns[1] = d->t.lat_rand_ns[1];
}

#define DAY_NS (UINT64_C(86400) * FD_SEC)
#define NS(name, member, min, max, initial, doc)                                             \
	{                                                                                    \
		name, IOSCHED_UNIT_NS, min, max, initial, offsetof(struct fd, t.member), doc \
	}
#define BYTES(name, member, max, initial, doc)                                                \
	{                                                                                     \
		name, IOSCHED_UNIT_BYTES, 0, max, initial, offsetof(struct fd, t.member), doc \
	}
#define NUMBER(name, member, min, max, initial, doc)                                           \
	{                                                                                      \
		name, IOSCHED_UNIT_NONE, min, max, initial, offsetof(struct fd, t.member), doc \
	}

/* Where the defaults come from: docs/policies/fair-deadline.md, table of tunables. */
const struct iosched_tunable ios_fd_tunables[] = {
	NS("visit_max_ns", visit_max_ns, FD_MS, 10 * FD_SEC, 70 * FD_MS,
	   "a visit's lead over the others; longer saves positioning, shorter waits less"),
	NS("visit_min_ns", visit_min_ns, FD_US, FD_SEC, 8 * FD_MS,
	   "the least lead: one positioning, or a visit is all seek"),
	NS("round_ns", round_ns, FD_MS, 60 * FD_SEC, 400 * FD_MS,
	   "all active entities should be visited within this, below the sync deadline"),
	NS("hold_stream_ns", hold_stream_ns, 0, FD_SEC, 8 * FD_MS,
	   "longest hold for a stream's next request: one positioning; 0 = never hold"),
	NS("hold_pool_ns", hold_pool_ns, 0, FD_SEC, 2 * FD_MS,
	   "longest hold for a random flow's: it saves no seek, only keeps its turn"),
	BYTES("boost_bytes", boost_bytes, 16 * 1024 * FD_KIB, 64 * FD_KIB,
	      "largest sync write that may pass others: a log append; 0 = none"),
	NS("boost_credit_ns", boost_credit_ns, 0, 60 * FD_SEC, 60 * FD_MS,
	   "device time a flow may be ahead and still be boosted: some ten log writes"),
	NS("boosted_visit_ns", boosted_visit_ns, FD_US, FD_SEC, 20 * FD_MS,
	   "lead of an async visit within 1 s of a boost, with a write cache"),
	NS("be_sync_expire_ns", sync_expire_ns[IOSCHED_BEST_EFFORT], FD_US, DAY_NS, 500 * FD_MS,
	   "best effort: a sync request is rescued after this; as deadline's"),
	NS("rt_sync_expire_ns", sync_expire_ns[IOSCHED_REALTIME], FD_US, DAY_NS, 100 * FD_MS,
	   "real time: the same"),
	NS("idle_sync_expire_ns", sync_expire_ns[IOSCHED_IDLE], FD_US, DAY_NS, 10 * FD_SEC,
	   "idle class: the same; a bound, not service"),
	NS("be_async_expire_ns", async_expire_ns[IOSCHED_BEST_EFFORT], FD_US, DAY_NS, 5 * FD_SEC,
	   "best effort: an async write is rescued after this; as deadline's"),
	NS("rt_async_expire_ns", async_expire_ns[IOSCHED_REALTIME], FD_US, DAY_NS, FD_SEC,
	   "real time: the same"),
	NS("idle_async_expire_ns", async_expire_ns[IOSCHED_IDLE], FD_US, DAY_NS, 30 * FD_SEC,
	   "idle class: the same"),
	NUMBER("pool_depth_alone", pool_depth_alone, 1, 65536, 32,
	       "random requests in flight when nobody else waits: a drive's whole queue"),
	NUMBER("pool_depth_shared", pool_depth_shared, 1, 65536, 8,
	       "random requests in flight when others wait: what a drain then costs"),
	NUMBER("stream_depth", stream_depth, 1, 65536, 8,
	       "a stream's requests in flight: enough to keep the heads busy"),
	NUMBER("async_depth", async_depth, 1, 65536, 4, "async writes in flight"),
	NUMBER("async_depth_fsync", async_depth_fsync, 1, 65536, 1,
	       "the same within 1 s of a boost, without a write cache"),
	NUMBER("pool_lead_equal", pool_lead_equal, 1, 1000, 4,
	       "positionings a random flow may lead its equals, so the drive has a choice"),
	NUMBER("pool_lead_unequal", pool_lead_unequal, 1, 1000, 1,
	       "the same when weights or depths differ, so that shares hold"),
	BYTES("near_forward_bytes", near_forward_bytes, UINT64_C(1) << 40, 2048 * FD_KIB,
	      "how far ahead counts as near: within a cylinder or two"),
	BYTES("near_back_bytes", near_back_bytes, UINT64_C(1) << 40, 256 * FD_KIB,
	      "how far back counts as near: readers that overtake each other"),
	NS("grace_ns", grace_ns, 0, FD_SEC, 20 * FD_MS,
	   "a flow keeps its lag while it thinks for no longer: the longest hold and a service"),
	NS("idle_grace_ns", idle_grace_ns, 0, 60 * FD_SEC, 50 * FD_MS,
	   "quiet before the idle class is served: several holds"),
	BYTES("kick_bytes", kick_bytes, UINT64_C(1) << 30, 32 * FD_KIB,
	      "an async request this long asks for a dispatch at once"),
	NUMBER("harm_permille", harm_permille, 1001, 1000000, 1500,
	       "parallel: latency over solo latency that counts as harm"),
	NS("lead_ns", lead_ns, FD_US, FD_SEC, 300 * FD_US,
	   "parallel: lead over a flow that is behind before refusal; arrays start at 2 ms"),
	NS("pace_cap_ns", pace_cap_ns, FD_MS, 10 * FD_SEC, 40 * FD_MS,
	   "parallel: largest burst of writeback beside readers"),
	NS("pace_window_ns", pace_window_ns, FD_MS, 10 * FD_SEC, 50 * FD_MS,
	   "parallel: how often its rate is adapted"),
	NS("async_merge_ns", async_merge_ns, FD_US, FD_SEC, 20 * FD_MS,
	   "not rotational: writeback is not merged into longer requests"),
	NS("guard_ns", guard_ns, 0, 1500 * FD_MS, FD_SEC,
	   "nothing is sent while a request has been in the device for longer; 0 = off"),
	NS("limit_burst_ns", limit_burst_ns, 0, 10 * FD_SEC, 100 * FD_MS,
	   "what a limit or reservation may catch up: another's visit and a little"),
	{"fence", IOSCHED_UNIT_BOOL, 0, 1, 1, offsetof(struct fd, t.fence),
	 "flush after async visits, where the device has a cache and the host can"},
	NS("position_ns", position_ns, FD_US, 10 * FD_SEC, 8 * FD_MS,
	   "serial: first guess of one positioning; learned"),
	NUMBER("byte_ps", byte_ps, 1, 100000000, 8000,
	       "serial: first guess of picoseconds a byte: 125 MB/s; learned"),
	NUMBER("read_byte_ps", byte_cost_ps[0], 1, 100000000, 3570,
	       "parallel model: ps a byte read, 1/rate at saturation: 280 MB/s SATA flash"),
	NUMBER("write_byte_ps", byte_cost_ps[1], 1, 100000000, 3570,
	       "parallel model: ps a byte written"),
	NS("read_seq_ns", seq_cost_ns[0], 0, FD_SEC, 2400, "parallel model: a contiguous read"),
	NS("write_seq_ns", seq_cost_ns[1], 0, FD_SEC, 2400, "parallel model: a contiguous write"),
	NS("read_rand_ns", rand_cost_ns[0], 0, FD_SEC, 2400, "parallel model: a random read"),
	NS("write_rand_ns", rand_cost_ns[1], 0, FD_SEC, 25 * FD_US,
	   "parallel model: a random write"),
	NS("read_solo_rand_ns", lat_rand_ns[0], 1, FD_SEC, 120 * FD_US,
	   "parallel: latency of a random read alone; learned"),
	NS("write_solo_rand_ns", lat_rand_ns[1], 1, FD_SEC, 120 * FD_US,
	   "parallel: latency of a random write alone; learned"),
	NS("read_solo_seq_ns", lat_seq_ns[0], 1, FD_SEC, 120 * FD_US,
	   "parallel: latency of a contiguous read alone"),
	NS("write_solo_seq_ns", lat_seq_ns[1], 1, FD_SEC, 120 * FD_US,
	   "parallel: latency of a contiguous write alone"),
	NUMBER("read_solo_byte_ps", lat_byte_ps[0], 0, 100000000, 6000,
	       "parallel: ps a byte of a read alone"),
	NUMBER("write_solo_byte_ps", lat_byte_ps[1], 0, 100000000, 6000,
	       "parallel: ps a byte of a write alone"),
	{0},
};
