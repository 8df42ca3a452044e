/* SPDX-License-Identifier: MIT */
/*
 * hdd: a spinning disk with zones, an arm, a platter angle, read-ahead segments, command
 * queueing and a write-back cache.
 *
 * Two engines. The medium does one operation at a time: a read or write of a queued command,
 * or a destage. The interface serves, one after the other and while the medium is busy (unless
 * `one_engine` forbids it), what needs no medium: reads of buffered data, writes into the cache.
 *
 * When the medium is free it asks, in order: does a FLUSH wait for dirty data?  is the cache
 * under pressure and was the last operation not a destage?  is a command queued?  has
 * the drive been left alone long enough to destage?
 *
 * State of a command: on `pending` (needs the medium), `blocked` (a write that
 * waits for room in the cache), `flushing`, in `current`, or on the interface with its event set.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/device.h"
#include "sim/hdd_cache.h"
#include "sim/hdd_geometry.h"
#include "sim/hdd_segments.h"

struct hdd_params {
	uint64_t capacity;
	uint64_t rpm;
	uint64_t zones;
	uint64_t rate_outer;
	uint64_t rate_inner;
	uint64_t seek_track;
	uint64_t seek_average;
	uint64_t seek_full;
	uint64_t switch_time;
	uint64_t overhead;
	uint64_t overhead_overlaps;
	uint64_t bus_rate;
	uint64_t bus_waits;
	uint64_t one_engine;
	uint64_t depth;
	uint64_t ncq_window;
	uint64_t ncq_age;
	uint64_t segments;
	uint64_t segment_size;
	uint64_t readahead;
	uint64_t partial_hits;
	uint64_t write_cache;
	uint64_t destage_size;
	uint64_t destage_idle;
	uint64_t destage_percent;
	uint64_t destage_age;
	uint64_t destage_window;
	uint64_t flush_blocks_writes;
};

/* What the medium does. */
struct operation {
	bool busy;
	bool destage;
	bool continuation;
	struct ios_sim_command *cmd;  /* NULL for a destage */
	struct ios_sim_segment *grow; /* read: the segment that goes on, or NULL */
	uint64_t start;		      /* sectors passed over, [start, end) */
	uint64_t end;
	uint64_t epoch; /* destage: least epoch in it */
};

struct hdd {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct hdd_params p;
	struct ios_sim_geometry geometry;
	struct ios_sim_segments segments;
	struct ios_sim_cache *cache; /* NULL: off */
	uint64_t head;		     /* sector under the head when nothing is read ahead */
	struct operation current;
	iosched_time medium_free;    /* when the last operation ended */
	iosched_time interface_free; /* when the interface will have served all it has */
	iosched_time last_activity;  /* arrival or end of a command */
	uint64_t epoch;		     /* FLUSH commands so far */
	bool last_was_destage;
	bool reporting; /* inside a done callback: choose when it has returned */
	struct ios_sim_command_list pending;
	struct ios_sim_command_list blocked;
	struct ios_sim_command_list flushing;
	struct ios_sim_event medium_event;
	struct ios_sim_event idle_event;
};

#define MEMBER(name) offsetof(struct hdd_params, name)
#define MIB (UINT64_C(1) << 20)

/* Initial values: the 7200 rpm SATA disk of 2008 that the kernels' mail archives complain about. */
static const struct ios_sim_param params[] = {
	{"capacity", IOS_SIM_UNIT_BYTES, MIB, UINT64_C(1) << 50, UINT64_C(488397168) * 512,
	 MEMBER(capacity), "size of the device"},
	{"rpm", IOS_SIM_UNIT_NONE, 100, 100000, 7200, MEMBER(rpm), "turns per minute"},
	{"zones", IOS_SIM_UNIT_NONE, 1, IOS_SIM_MAX_ZONES, 16, MEMBER(zones),
	 "zones of equal size, each with its own sectors per track"},
	{"rate_outer", IOS_SIM_UNIT_RATE, 100000, UINT64_C(10000000000), 80000000,
	 MEMBER(rate_outer), "media rate of the first zone"},
	{"rate_inner", IOS_SIM_UNIT_RATE, 100000, UINT64_C(10000000000), 45000000,
	 MEMBER(rate_inner), "media rate of the last zone"},
	{"seek_track", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 1000000, MEMBER(seek_track),
	 "shortest seek"},
	{"seek_average", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 8500000, MEMBER(seek_average),
	 "seek over a third of the stroke"},
	{"seek_full", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 18000000, MEMBER(seek_full),
	 "seek over the full stroke"},
	{"switch_time", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 0, MEMBER(switch_time),
	 "jump of half a track to four tracks"},
	{"overhead", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 60000, MEMBER(overhead),
	 "time to take in a command"},
	{"overhead_overlaps", IOS_SIM_UNIT_BOOL, 0, 1, 0, MEMBER(overhead_overlaps),
	 "no overhead for a command queued before the medium came free"},
	{"bus_rate", IOS_SIM_UNIT_RATE, 100000, UINT64_C(100000000000), 270000000, MEMBER(bus_rate),
	 "rate of the interface"},
	{"bus_waits", IOS_SIM_UNIT_BOOL, 0, 1, 0, MEMBER(bus_waits),
	 "a read from the medium is done when its bytes have crossed the interface as well"},
	{"one_engine", IOS_SIM_UNIT_BOOL, 0, 1, 0, MEMBER(one_engine),
	 "buffered data and cached writes wait for the medium's operation to end"},
	{"depth", IOS_SIM_UNIT_NONE, 1, 65536, 31, MEMBER(depth), "commands it takes at once"},
	{"ncq_window", IOS_SIM_UNIT_NONE, 1, 65536, 64, MEMBER(ncq_window),
	 "oldest commands among which it takes the nearest; 1 = in order"},
	{"ncq_age", IOS_SIM_UNIT_NS, 0, UINT64_MAX, 1500000000, MEMBER(ncq_age),
	 "a command that has waited longer goes first"},
	{"segments", IOS_SIM_UNIT_NONE, 1, IOS_SIM_MAX_SEGMENTS, 16, MEMBER(segments),
	 "read-ahead segments"},
	{"segment_size", IOS_SIM_UNIT_BYTES, 512, UINT64_C(1) << 40, MIB, MEMBER(segment_size),
	 "bytes a segment holds"},
	{"readahead", IOS_SIM_UNIT_BYTES, 0, UINT64_C(1) << 40, MIB, MEMBER(readahead),
	 "how far it reads on beyond the last read"},
	{"partial_hits", IOS_SIM_UNIT_BOOL, 0, 1, 0, MEMBER(partial_hits),
	 "a read that begins in an ended segment goes to the medium for the rest only"},
	{"write_cache", IOS_SIM_UNIT_BYTES, 0, UINT64_C(1) << 40, 8 * MIB, MEMBER(write_cache),
	 "write-back cache; 0 = writes are done when on the medium"},
	{"destage_size", IOS_SIM_UNIT_BYTES, 512, UINT64_C(1) << 30, MIB / 2, MEMBER(destage_size),
	 "most bytes written from the cache in one operation"},
	{"destage_idle", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 5000000, MEMBER(destage_idle),
	 "left alone for so long, it writes from the cache"},
	{"destage_percent", IOS_SIM_UNIT_NONE, 1, 100, 75, MEMBER(destage_percent),
	 "fuller than this, the cache is emptied in turn with commands"},
	{"destage_age", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 2 * NSEC_PER_SEC,
	 MEMBER(destage_age), "likewise when data has waited longer"},
	{"destage_window", IOS_SIM_UNIT_NONE, 1, IOS_SIM_CACHE_EXTENTS, 128, MEMBER(destage_window),
	 "dirty extents around the head among which it takes the nearest"},
	{"flush_blocks_writes", IOS_SIM_UNIT_BOOL, 0, 1, 0, MEMBER(flush_blocks_writes),
	 "writes wait while a FLUSH does"},
	{0},
};

static uint64_t first_sector(const struct ios_sim_command *cmd)
{
	return cmd->offset / IOS_SIM_SECTOR;
}

static uint64_t last_sector(const struct ios_sim_command *cmd)
{
	return (cmd->offset + cmd->length + IOS_SIM_SECTOR - 1) / IOS_SIM_SECTOR;
}

static iosched_time now_of(const struct hdd *h)
{
	return h->device.engine->now;
}

static void consider(struct hdd *h);

/* --- The interface --- */

static void report(struct hdd *h, struct ios_sim_command *cmd)
{
	h->last_activity = now_of(h);
	h->reporting = true;
	ios_sim_device_done(&h->device, cmd, 0);
	h->reporting = false;
}

static void interface_done(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct hdd *h = (struct hdd *)cmd->device;

	report(h, cmd);
	consider(h);
}

static void interface_serve(struct hdd *h, struct ios_sim_command *cmd, uint64_t bytes)
{
	iosched_time start = now_of(h) > h->interface_free ? now_of(h) : h->interface_free;

	if (h->p.one_engine && h->current.busy && start < h->medium_event.when)
		start = h->medium_event.when;
	h->interface_free =
		start + h->p.overhead + ios_sim_muldiv(bytes, NSEC_PER_SEC, h->p.bus_rate);
	ios_sim_event_init(&cmd->event, interface_done, cmd);
	ios_sim_schedule(h->device.engine, &cmd->event, h->interface_free);
}

/* A read comes off the medium now. What the interface could not move meanwhile, it moves now: the
 * last sector at least, and more where it is slower than the medium. */
static void report_read(struct hdd *h, struct ios_sim_command *cmd, uint64_t start, uint64_t end)
{
	uint64_t medium = ios_sim_transfer_ns(&h->geometry, start, end - start);
	uint64_t bus = ios_sim_muldiv(cmd->length, NSEC_PER_SEC, h->p.bus_rate);
	uint64_t last = ios_sim_muldiv(IOS_SIM_SECTOR, NSEC_PER_SEC, h->p.bus_rate);
	uint64_t left = bus > medium + last ? bus - medium : last;

	if (!h->p.bus_waits) {
		report(h, cmd);
		return;
	}
	h->interface_free = (now_of(h) > h->interface_free ? now_of(h) : h->interface_free) + left;
	ios_sim_event_init(&cmd->event, interface_done, cmd);
	ios_sim_schedule(h->device.engine, &cmd->event, h->interface_free);
}

/* --- Reads from the buffer --- */

/* The reader pays for what the head read ahead for it, once. */
static void pay_delivery(struct hdd *h, const struct ios_sim_command *cmd,
			 struct ios_sim_segment *seg)
{
	uint64_t from = first_sector(cmd) > seg->delivered ? first_sector(cmd) : seg->delivered;
	uint64_t to = last_sector(cmd);
	uint64_t ns;

	if (to <= from)
		return;
	ns = ios_sim_transfer_ns(&h->geometry, from, to - from);
	seg->delivered = to;
	h->device.stats.transfer_ns += ns;
	ios_sim_device_book(&h->device, cmd, ns);
}

static bool serve_read_hit(struct hdd *h, struct ios_sim_command *cmd)
{
	uint64_t a = first_sector(cmd);
	uint64_t b = last_sector(cmd);
	struct ios_sim_segment *seg = ios_sim_segments_find(&h->segments, a, b, now_of(h));

	if (seg != NULL) {
		pay_delivery(h, cmd, seg);
		if (seg == h->segments.active && !h->current.busy)
			ios_sim_segments_extend(&h->segments, b, now_of(h));
	} else if (h->cache == NULL || !ios_sim_cache_holds(h->cache, a, b)) {
		return false;
	}
	h->device.stats.read_hits++;
	interface_serve(h, cmd, cmd->length);
	return true;
}

static void serve_new_hits(struct hdd *h)
{
	struct ios_sim_command *next;

	for (struct ios_sim_command *cmd = h->pending.head; cmd != NULL; cmd = next) {
		next = cmd->next;
		if (cmd->op == IOSCHED_READ && serve_read_hit(h, cmd))
			ios_sim_list_remove(&h->pending, cmd);
	}
}

/* --- Operations of the medium --- */

static uint64_t overhead_of(const struct hdd *h, const struct ios_sim_command *cmd)
{
	if (h->p.overhead_overlaps && cmd->arrived < h->medium_free)
		return 0;
	return h->p.overhead;
}

/* Where the medium must begin for @cmd. */
static uint64_t media_start(struct hdd *h, const struct ios_sim_command *cmd,
			    struct ios_sim_segment **grow)
{
	uint64_t a = first_sector(cmd);

	*grow = NULL;
	if (cmd->op == IOSCHED_READ && h->p.partial_hits)
		*grow = ios_sim_segments_find_part(&h->segments, a);
	return *grow != NULL ? (*grow)->end : a;
}

static void start_operation(struct hdd *h, iosched_time end)
{
	h->current.busy = true;
	h->device.stats.media_ops++;
	ios_sim_cancel(h->device.engine, &h->idle_event);
	ios_sim_schedule(h->device.engine, &h->medium_event, end);
}

static void count_seek(struct hdd *h, uint64_t to)
{
	uint64_t distance = to > h->head ? to - h->head : h->head - to;

	if (ios_sim_seek_ns(&h->geometry, h->head, to) == 0)
		return;
	h->device.stats.seeks++;
	h->device.stats.seek_bytes += distance * IOS_SIM_SECTOR;
}

/* The arm goes to @start and the medium passes until @end. Returns the time it takes. */
static uint64_t move_and_transfer(struct hdd *h, uint64_t start, uint64_t end, iosched_time from)
{
	uint64_t position;
	uint64_t transfer = ios_sim_transfer_ns(&h->geometry, start, end - start);

	h->head = ios_sim_segments_freeze(&h->segments, h->head, now_of(h));
	position = ios_sim_position_ns(&h->geometry, h->head, start, from);
	count_seek(h, start);
	h->head = end;
	h->device.stats.position_ns += position;
	h->device.stats.transfer_ns += transfer;
	return position + transfer;
}

static void start_command(struct hdd *h, struct ios_sim_command *cmd)
{
	iosched_time from = now_of(h) + overhead_of(h, cmd);
	uint64_t end = last_sector(cmd);
	struct ios_sim_segment *grow;
	uint64_t start = media_start(h, cmd, &grow);
	uint64_t ns = move_and_transfer(h, start, end, from);

	if (cmd->op == IOSCHED_WRITE) {
		ios_sim_segments_forget(&h->segments, start, end, now_of(h));
		if (h->cache != NULL)
			ios_sim_cache_drop(h->cache, start, end);
	}
	h->current = (struct operation){.cmd = cmd, .grow = grow, .start = start, .end = end};
	ios_sim_device_book(&h->device, cmd, ns);
	start_operation(h, from + ns);
}

/* The head is already on its way through what @cmd wants. */
static void start_continuation(struct hdd *h, struct ios_sim_command *cmd)
{
	struct ios_sim_segments *s = &h->segments;
	iosched_time ready = now_of(h) + overhead_of(h, cmd);
	uint64_t end = last_sector(cmd);
	uint64_t reached = ios_sim_segments_reached(s, ready);
	iosched_time arrives;

	if (reached == s->limit) { /* it has stopped by then and must come round again */
		uint64_t turn = ios_sim_position_ns(&h->geometry, reached, reached, ready);

		s->base_lba = reached;
		s->base_ns = ready + turn;
		h->device.stats.position_ns += turn;
		ios_sim_device_book(&h->device, cmd, turn);
	}
	if (s->limit < end)
		s->limit = end;
	arrives = s->base_ns + ios_sim_transfer_ns(&h->geometry, s->base_lba, end - s->base_lba);
	h->current =
		(struct operation){.cmd = cmd, .start = reached, .end = end, .continuation = true};
	pay_delivery(h, cmd, s->active);
	start_operation(h, arrives > ready ? arrives : ready);
}

/* --- Choosing a command --- */

static uint64_t cost_of(struct hdd *h, const struct ios_sim_command *cmd, uint64_t head)
{
	struct ios_sim_segment *grow;
	uint64_t start = media_start(h, cmd, &grow);

	return ios_sim_position_ns(&h->geometry, head, start, now_of(h) + overhead_of(h, cmd));
}

static bool continues(const struct hdd *h, const struct ios_sim_command *cmd)
{
	return cmd->op == IOSCHED_READ &&
	       ios_sim_segments_continues(&h->segments, first_sector(cmd), last_sector(cmd),
					  now_of(h));
}

static uint64_t head_now(const struct hdd *h)
{
	if (h->segments.active == NULL)
		return h->head;
	return ios_sim_segments_reached(&h->segments, now_of(h));
}

static struct ios_sim_command *nearest_command(struct hdd *h)
{
	struct ios_sim_command *cmd = h->pending.head;
	struct ios_sim_command *best = NULL;
	uint64_t best_cost = UINT64_MAX;
	uint64_t head = head_now(h);

	for (uint64_t n = 0; cmd != NULL && n < h->p.ncq_window; n++, cmd = cmd->next) {
		uint64_t cost;

		if (continues(h, cmd))
			return cmd;
		cost = cost_of(h, cmd, head);
		if (cost < best_cost) {
			best = cmd;
			best_cost = cost;
		}
	}
	return best;
}

static void start_best_command(struct hdd *h)
{
	struct ios_sim_command *cmd = h->pending.head;

	if (now_of(h) - cmd->arrived <= h->p.ncq_age)
		cmd = nearest_command(h);
	ios_sim_list_remove(&h->pending, cmd);
	h->last_was_destage = false;
	if (continues(h, cmd))
		start_continuation(h, cmd);
	else
		start_command(h, cmd);
}

/* --- The write cache --- */

static bool cache_pressed(const struct hdd *h)
{
	const struct ios_sim_cache *c = h->cache;

	if (c == NULL || c->count == 0)
		return false;
	return h->blocked.count > 0 || c->dirty * 100 > c->sectors * h->p.destage_percent ||
	       now_of(h) - c->oldest->since > h->p.destage_age;
}

/* The dirty extent of @epoch or before that is reached soonest, among destage_window around
 * the head; anywhere, if those are all younger. */
static unsigned nearest_dirty(const struct hdd *h, uint64_t epoch)
{
	const struct ios_sim_cache *c = h->cache;
	uint64_t head = head_now(h);
	unsigned middle = ios_sim_cache_at(c, head);
	unsigned half = (unsigned)(h->p.destage_window + 1) / 2;
	unsigned from = middle > half ? middle - half : 0;
	unsigned to = middle + half < c->count ? middle + half : c->count;
	unsigned best = c->count;
	uint64_t best_cost = UINT64_MAX;

	for (unsigned pass = 0; pass < 2 && best == c->count; pass++) {
		for (unsigned i = from; i < to; i++) {
			uint64_t cost;

			if (c->order[i]->epoch > epoch)
				continue;
			cost = ios_sim_position_ns(&h->geometry, head, c->order[i]->start,
						   now_of(h));
			if (cost < best_cost) {
				best = i;
				best_cost = cost;
			}
		}
		from = 0;
		to = c->count;
	}
	return best;
}

static void book_destage(struct hdd *h, const struct ios_sim_piece *pieces, uint64_t ns)
{
	uint64_t start = h->current.start * IOS_SIM_SECTOR;
	uint64_t bytes = (h->current.end - h->current.start) * IOS_SIM_SECTOR;

	h->device.stats.media_ns += ns;
	ios_sim_ledger_book_extent(h->device.ledger, pieces, start, bytes, ns);
}

static void start_destage(struct hdd *h, uint64_t epoch)
{
	struct ios_sim_piece pieces[IOS_SIM_RUN_PIECES];
	unsigned i = nearest_dirty(h, epoch);
	uint64_t start = h->cache->order[i]->start;
	uint64_t in_epoch;
	uint64_t count = ios_sim_cache_take(h->cache, i, h->p.destage_size / IOS_SIM_SECTOR, pieces,
					    &in_epoch);
	uint64_t ns = move_and_transfer(h, start, start + count, now_of(h));

	h->current = (struct operation){
		.destage = true, .start = start, .end = start + count, .epoch = in_epoch};
	h->last_was_destage = true;
	h->device.stats.destages++;
	book_destage(h, pieces, ns);
	start_operation(h, now_of(h) + ns);
}

static bool cacheable(const struct hdd *h, const struct ios_sim_command *cmd, unsigned *pieces)
{
	*pieces = 0;
	for (const struct ios_sim_piece *p = cmd->pieces; p != NULL; p = p->next)
		++*pieces;
	return h->cache != NULL && !cmd->fua &&
	       cmd->length / IOS_SIM_SECTOR + 2 <= h->cache->sectors &&
	       *pieces < IOS_SIM_CACHE_EXTENTS / 2;
}

/* Into the cache, if it has room. */
static bool accept_write(struct hdd *h, struct ios_sim_command *cmd, unsigned pieces)
{
	uint64_t a = first_sector(cmd);
	uint64_t b = last_sector(cmd);

	if (h->p.flush_blocks_writes && h->flushing.count > 0)
		return false;
	if (!ios_sim_cache_fits(h->cache, b - a, pieces))
		return false;
	ios_sim_segments_forget(&h->segments, a, b, now_of(h));
	ios_sim_cache_write(h->cache, a, b, cmd->pieces, now_of(h), h->epoch);
	h->device.stats.cached_writes++;
	interface_serve(h, cmd, cmd->length);
	return true;
}

static void accept_blocked(struct hdd *h)
{
	unsigned pieces;

	while (h->blocked.head != NULL && cacheable(h, h->blocked.head, &pieces) &&
	       accept_write(h, h->blocked.head, pieces)) {
		/* interface_serve does not touch the links */
		ios_sim_list_take(&h->blocked);
	}
}

static bool still_dirty(const struct hdd *h, uint64_t epoch)
{
	if (h->current.busy && h->current.destage && h->current.epoch <= epoch)
		return true;
	return h->cache != NULL && ios_sim_cache_has_epoch(h->cache, epoch);
}

static void finish_flushes(struct hdd *h)
{
	while (h->flushing.head != NULL && !still_dirty(h, h->flushing.head->mark)) {
		struct ios_sim_command *cmd = ios_sim_list_take(&h->flushing);

		h->device.stats.flushes++;
		interface_serve(h, cmd, 0);
	}
}

/* --- The decision --- */

static void arm_idle(struct hdd *h)
{
	ios_sim_schedule(h->device.engine, &h->idle_event, h->last_activity + h->p.destage_idle);
}

static bool left_alone(const struct hdd *h)
{
	return now_of(h) >= h->last_activity + h->p.destage_idle;
}

static void consider(struct hdd *h)
{
	if (h->current.busy || h->reporting)
		return;
	finish_flushes(h); /* what they wait for may have been overwritten */
	if (h->flushing.head != NULL)
		start_destage(h, h->flushing.head->mark);
	else if (cache_pressed(h) && (h->pending.head == NULL || !h->last_was_destage))
		start_destage(h, UINT64_MAX);
	else if (h->pending.head != NULL)
		start_best_command(h);
	else if (h->cache != NULL && h->cache->count > 0 && left_alone(h))
		start_destage(h, UINT64_MAX);
	else if (h->cache != NULL && h->cache->count > 0)
		arm_idle(h);
}

static void idle_over(void *owner)
{
	consider(owner);
}

static void operation_done(void *owner)
{
	struct hdd *h = owner;
	struct operation op = h->current;

	h->current.busy = false;
	h->medium_free = now_of(h);
	if (op.destage) {
		ios_sim_cache_written(h->cache, op.end - op.start);
		finish_flushes(h);
		accept_blocked(h);
	} else {
		if (op.continuation)
			ios_sim_segments_extend(&h->segments, op.end, now_of(h));
		else if (op.cmd->op == IOSCHED_READ)
			ios_sim_segments_begin(&h->segments, op.grow, op.start, op.end, now_of(h));
		if (op.cmd->op == IOSCHED_READ)
			report_read(h, op.cmd, op.start, op.end);
		else
			report(h, op.cmd);
		serve_new_hits(h);
	}
	consider(h);
}

/* --- Commands come in --- */

static void take_read(struct hdd *h, struct ios_sim_command *cmd)
{
	if (!serve_read_hit(h, cmd))
		ios_sim_list_append(&h->pending, cmd);
}

static void take_write(struct hdd *h, struct ios_sim_command *cmd)
{
	unsigned pieces;

	if (!cacheable(h, cmd, &pieces))
		ios_sim_list_append(&h->pending, cmd);
	else if (h->blocked.head != NULL || !accept_write(h, cmd, pieces))
		ios_sim_list_append(&h->blocked, cmd);
}

static void take_flush(struct hdd *h, struct ios_sim_command *cmd)
{
	cmd->mark = h->epoch++;
	ios_sim_list_append(&h->flushing, cmd);
	finish_flushes(h);
}

static void take_discard(struct hdd *h, struct ios_sim_command *cmd)
{
	if (h->cache != NULL)
		ios_sim_cache_drop(h->cache, first_sector(cmd), last_sector(cmd));
	ios_sim_segments_forget(&h->segments, first_sector(cmd), last_sector(cmd), now_of(h));
	interface_serve(h, cmd, 0);
}

static int hdd_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct hdd *h = (struct hdd *)d;

	h->last_activity = now_of(h);
	switch (cmd->op) {
	case IOSCHED_READ:
		take_read(h, cmd);
		break;
	case IOSCHED_WRITE:
		take_write(h, cmd);
		break;
	case IOSCHED_FLUSH:
		take_flush(h, cmd);
		break;
	default:
		take_discard(h, cmd);
		break;
	}
	consider(h);
	return 0;
}

static bool hdd_look(struct ios_sim_device *d, uint64_t offset, uint64_t length,
		     struct ios_sim_look *look)
{
	struct hdd *h = (struct hdd *)d;
	uint64_t a = offset / IOS_SIM_SECTOR;
	uint64_t b = (offset + length + IOS_SIM_SECTOR - 1) / IOS_SIM_SECTOR;

	look->held = ios_sim_segments_hold(&h->segments, a, b, now_of(h)) ||
		     (h->cache != NULL && ios_sim_cache_holds(h->cache, a, b));
	look->head = head_now(h) * IOS_SIM_SECTOR;
	return true;
}

/* --- Life --- */

static int check_params(const struct hdd_params *p, struct iosched_sim_error *why)
{
	if (p->rate_inner > p->rate_outer)
		return ios_sim_fail(why, -EINVAL, "rate_inner is above rate_outer");
	if (p->seek_track > p->seek_average || p->seek_average > p->seek_full)
		return ios_sim_fail(
			why, -EINVAL,
			"seek_track, seek_average and seek_full are not in rising order");
	return 0;
}

static int set_up(struct hdd *h, struct iosched_sim_error *why)
{
	const struct hdd_params *p = &h->p;
	struct ios_sim_geometry_params g = {
		.capacity_bytes = p->capacity,
		.rpm = p->rpm,
		.zones = p->zones,
		.rate_outer = p->rate_outer,
		.rate_inner = p->rate_inner,
		.seek_track_ns = p->seek_track,
		.seek_third_ns = p->seek_average,
		.seek_full_ns = p->seek_full,
		.switch_ns = p->switch_time,
	};

	if (!ios_sim_geometry_init(&h->geometry, &g))
		return ios_sim_fail(why, -EINVAL, "a track holds less than one sector");
	h->segments.geometry = &h->geometry;
	h->segments.size = p->segment_size / IOS_SIM_SECTOR;
	h->segments.readahead = p->readahead / IOS_SIM_SECTOR;
	h->segments.count = (unsigned)p->segments;
	if (p->write_cache < IOS_SIM_SECTOR)
		return 0;
	h->cache = malloc(sizeof(*h->cache));
	if (h->cache == NULL)
		return -ENOMEM;
	ios_sim_cache_init(h->cache, p->write_cache / IOS_SIM_SECTOR);
	return 0;
}

static void hdd_destroy(struct ios_sim_device *d)
{
	struct hdd *h = (struct hdd *)d;

	ios_sim_cancel(d->engine, &h->medium_event);
	ios_sim_cancel(d->engine, &h->idle_event);
	free(h->cache);
	free(h);
}

static int hdd_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		      struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		      struct iosched_sim_error *why)
{
	const struct hdd_params *p = plan->values;
	int err = check_params(p, why);
	struct hdd *h;

	if (err != 0)
		return err;
	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return -ENOMEM;
	h->p = *p;
	h->device = (struct ios_sim_device){
		.model = &ios_sim_hdd_model,
		.engine = engine,
		.ledger = ledger,
		.capacity = p->capacity / IOS_SIM_SECTOR * IOS_SIM_SECTOR,
		.depth = (uint32_t)p->depth,
		.rotational = true,
		.write_cache = p->write_cache >= IOS_SIM_SECTOR,
		.parallel = IOSCHED_PARALLEL_UNKNOWN, /* queueing helps, but there is one arm */
	};
	ios_sim_event_init(&h->medium_event, operation_done, h);
	ios_sim_event_init(&h->idle_event, idle_over, h);
	err = set_up(h, why);
	if (err != 0) {
		hdd_destroy(&h->device);
		return err;
	}
	*out = &h->device;
	return 0;
}

const struct ios_sim_model ios_sim_hdd_model = {
	.name = "hdd",
	.summary = "a spinning disk: arm, platter, buffer, queueing, write-back cache",
	.params = params,
	.params_size = sizeof(struct hdd_params),
	.create = hdd_create,
	.destroy = hdd_destroy,
	.submit = hdd_submit,
	.look = hdd_look,
};
