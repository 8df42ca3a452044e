/* SPDX-License-Identifier: MIT */
/*
 * ssd: flash behind channels. A command is cut at multiples of `interleave`; each piece
 * goes to the channel its place hashes to, and channels serve their pieces one
 * after the other. The link serves one command at a time: a read after the last of
 * its pieces, a write before the first.
 *
 * Collection: when so many bytes have been written, or when so much time has passed, every channel
 * stops for a while. Stops caused by bytes are paid by the writer whose bytes they were;
 * those caused by time by nobody.
 *
 * State: when each channel and the link will have served all they were given; the write
 * position of each open unit (cards). Where a command is, its event says.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/arith.h"
#include "sim/device.h"

#define MAX_CHANNELS 1024
#define MAX_UNITS 64

struct ssd_params {
	uint64_t capacity;
	uint64_t depth;
	uint64_t channels;
	uint64_t interleave;
	uint64_t hashed;
	uint64_t read_latency;
	uint64_t read_rate;
	uint64_t write_latency;
	uint64_t write_rate;
	uint64_t link_rate;
	uint64_t command_time;
	uint64_t overhead;
	uint64_t flush_time;
	uint64_t collect_bytes;
	uint64_t collect_every;
	uint64_t collect_time;
	uint64_t open_units;
	uint64_t unit_size;
	uint64_t unit_penalty;
};

struct unit {
	uint64_t number;
	uint64_t next; /* where its next write would go on */
	uint64_t used;
};

struct ssd {
	struct ios_sim_device device; /* first: the two are one pointer */
	struct ssd_params p;
	iosched_time link_free;
	iosched_time last_end;	   /* of all channels */
	iosched_time next_collect; /* by time */
	uint64_t written;	   /* since the last collection */
	uint64_t stamp;
	struct unit units[MAX_UNITS];
	iosched_time channel_free[MAX_CHANNELS];
};

#define MEMBER(name) offsetof(struct ssd_params, name)
#define KIB UINT64_C(1024)

/* Initial values: the SATA drive of 2010 that the fair-queueing experiments ran on; see preset.c.
 */
static const struct ios_sim_param params[] = {
	{"capacity", IOS_SIM_UNIT_BYTES, KIB *KIB, UINT64_C(1) << 50, UINT64_C(160) * 1000000000,
	 MEMBER(capacity), "size of the device"},
	{"depth", IOS_SIM_UNIT_NONE, 1, 65536, 32, MEMBER(depth), "commands it takes at once"},
	{"channels", IOS_SIM_UNIT_NONE, 1, MAX_CHANNELS, 8, MEMBER(channels),
	 "pieces it serves at once"},
	{"interleave", IOS_SIM_UNIT_BYTES, 512, UINT64_C(1) << 30, 16 * KIB, MEMBER(interleave),
	 "bytes of one piece"},
	{"hashed", IOS_SIM_UNIT_BOOL, 0, 1, 1, MEMBER(hashed),
	 "neighbouring pieces go to channels at random; off: in turn"},
	{"read_latency", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 90000, MEMBER(read_latency),
	 "time of a piece read, beside its bytes"},
	{"read_rate", IOS_SIM_UNIT_RATE, 100000, UINT64_C(100000000000), 125000000,
	 MEMBER(read_rate), "rate of one channel, reading"},
	{"write_latency", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 250000, MEMBER(write_latency),
	 "time of a piece written, beside its bytes"},
	{"write_rate", IOS_SIM_UNIT_RATE, 100000, UINT64_C(100000000000), 125000000,
	 MEMBER(write_rate), "rate of one channel, writing"},
	{"link_rate", IOS_SIM_UNIT_RATE, 100000, UINT64_C(1000000000000), 280000000,
	 MEMBER(link_rate), "rate of the link"},
	{"command_time", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 0, MEMBER(command_time),
	 "time of the link for a command, beside its bytes: bounds commands a second"},
	{"overhead", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 20000, MEMBER(overhead),
	 "time to take in a command; commands do not wait for each other in it"},
	{"flush_time", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 0, MEMBER(flush_time),
	 "time of a FLUSH once all before it is written"},
	{"collect_bytes", IOS_SIM_UNIT_BYTES, 0, UINT64_C(1) << 50, 0, MEMBER(collect_bytes),
	 "collection stops all channels after so many bytes written; 0 = never"},
	{"collect_every", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 0, MEMBER(collect_every),
	 "likewise after so much time; 0 = never"},
	{"collect_time", IOS_SIM_UNIT_NS, 0, 3600 * NSEC_PER_SEC, 20000000, MEMBER(collect_time),
	 "how long it stops them"},
	{"open_units", IOS_SIM_UNIT_NONE, 0, MAX_UNITS, 0, MEMBER(open_units),
	 "units that can be written on without penalty; 0 = all"},
	{"unit_size", IOS_SIM_UNIT_BYTES, 4 * KIB, UINT64_C(1) << 40, 4 * KIB *KIB,
	 MEMBER(unit_size), "bytes of an allocation unit"},
	{"unit_penalty", IOS_SIM_UNIT_NS, 0, NSEC_PER_SEC, 8000000, MEMBER(unit_penalty),
	 "time of a write that does not go on in an open unit"},
	{0},
};

static iosched_time later(iosched_time a, iosched_time b)
{
	return a > b ? a : b;
}

/* --- Channels --- */

/* The finaliser of SplitMix64 (Steele, Lea and Flood, 2014) spreads neighbours. */
static uint64_t spread(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static iosched_time *channel_of(struct ssd *d, uint64_t piece)
{
	uint64_t x = d->p.hashed ? spread(piece + 1) : piece;

	return &d->channel_free[x % d->p.channels];
}

static uint64_t piece_ns(const struct ssd *d, const struct ios_sim_command *cmd, uint64_t bytes)
{
	if (cmd->op == IOSCHED_READ)
		return d->p.read_latency + ios_sim_muldiv(bytes, NSEC_PER_SEC, d->p.read_rate);
	return d->p.write_latency + ios_sim_muldiv(bytes, NSEC_PER_SEC, d->p.write_rate);
}

static void book(struct ssd *d, const struct ios_sim_command *cmd, uint64_t offset, uint64_t bytes,
		 uint64_t ns)
{
	d->device.stats.media_ops++;
	d->device.stats.media_ns += ns;
	d->device.stats.transfer_ns += ns;
	ios_sim_ledger_book_extent(d->device.ledger, cmd->pieces, offset, bytes, ns);
}

static iosched_time serve_piece(struct ssd *d, const struct ios_sim_command *cmd, uint64_t offset,
				uint64_t bytes, uint64_t extra)
{
	iosched_time *free = channel_of(d, offset / d->p.interleave);
	uint64_t ns = piece_ns(d, cmd, bytes) + extra;

	*free = later(*free, d->device.engine->now) + ns;
	book(d, cmd, offset, bytes, ns);
	return *free;
}

/* --- Collection --- */

static void stop_channels(struct ssd *d, iosched_time at)
{
	iosched_time until = at + d->p.collect_time;

	for (uint64_t i = 0; i < d->p.channels; i++)
		d->channel_free[i] = later(d->channel_free[i], until);
}

/* Those due since the last command; channels have been idle or busy through them alike. */
static void collect_by_time(struct ssd *d)
{
	iosched_time now = d->device.engine->now;

	if (d->p.collect_every == 0 || now < d->next_collect)
		return;
	stop_channels(d, now - (now - d->next_collect) % d->p.collect_every);
	d->next_collect = now - (now - d->next_collect) % d->p.collect_every + d->p.collect_every;
}

static void collect_by_bytes(struct ssd *d, const struct ios_sim_command *cmd)
{
	if (d->p.collect_bytes == 0 || cmd->op != IOSCHED_WRITE)
		return;
	d->written += cmd->length;
	if (d->written < d->p.collect_bytes)
		return;
	d->written -= d->p.collect_bytes;
	stop_channels(d, d->device.engine->now);
	book(d, cmd, cmd->offset, cmd->length, d->p.collect_time);
}

/* --- Open units --- */

static uint64_t penalty_of(struct ssd *d, const struct ios_sim_command *cmd)
{
	uint64_t number = cmd->offset / d->p.unit_size;
	struct unit *oldest = &d->units[0];
	struct unit *found = NULL;
	bool goes_on;

	if (d->p.open_units == 0 || cmd->op != IOSCHED_WRITE)
		return 0;
	for (uint64_t i = 0; i < d->p.open_units; i++) {
		struct unit *u = &d->units[i];

		/* A write that runs on from the unit before opens the next without penalty. */
		if (u->used != 0 && (u->next == cmd->offset || u->number == number))
			found = u;
		if (u->used < oldest->used)
			oldest = u;
	}
	goes_on = found != NULL && found->next == cmd->offset;
	if (found == NULL)
		found = oldest;
	*found = (struct unit){(cmd->offset + cmd->length) / d->p.unit_size,
			       cmd->offset + cmd->length, ++d->stamp};
	return goes_on ? 0 : d->p.unit_penalty;
}

/* --- Commands --- */

/* @next happens to @cmd at @when. */
static void go_on(struct ssd *d, struct ios_sim_command *cmd, iosched_time when,
		  void (*next)(void *))
{
	ios_sim_event_init(&cmd->event, next, cmd);
	ios_sim_schedule(d->device.engine, &cmd->event, when);
}

static iosched_time onto_channels(struct ssd *d, const struct ios_sim_command *cmd)
{
	uint64_t end = cmd->offset + cmd->length;
	uint64_t extra = penalty_of(d, cmd);
	iosched_time last = d->device.engine->now;

	collect_by_time(d);
	collect_by_bytes(d, cmd);
	for (uint64_t at = cmd->offset; at < end;) {
		uint64_t left = d->p.interleave - at % d->p.interleave;
		uint64_t bytes = end - at < left ? end - at : left;

		last = later(last, serve_piece(d, cmd, at, bytes, extra));
		extra = 0;
		at += bytes;
	}
	d->last_end = later(d->last_end, last);
	return last;
}

static iosched_time onto_link(struct ssd *d, uint64_t bytes)
{
	d->link_free = later(d->link_free, d->device.engine->now) + d->p.command_time +
		       ios_sim_muldiv(bytes, NSEC_PER_SEC, d->p.link_rate);
	return d->link_free;
}

static void finish(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, 0);
}

static void read_is_off_channels(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	go_on(d, cmd, onto_link(d, cmd->length), finish);
}

static void read_is_taken(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	go_on(d, cmd, onto_channels(d, cmd), read_is_off_channels);
}

static void write_is_off_link(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	go_on(d, cmd, onto_channels(d, cmd), finish);
}

static void write_is_taken(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	go_on(d, cmd, onto_link(d, cmd->length), write_is_off_link);
}

static void flush_is_taken(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	d->device.stats.flushes++;
	go_on(d, cmd, later(d->last_end, d->device.engine->now) + d->p.flush_time, finish);
}

static void discard_is_taken(void *owner)
{
	struct ios_sim_command *cmd = owner;
	struct ssd *d = (struct ssd *)cmd->device;

	go_on(d, cmd, onto_link(d, 0), finish);
}

static int ssd_submit(struct ios_sim_device *device, struct ios_sim_command *cmd)
{
	static void (*const taken[])(void *) = {
		[IOSCHED_READ] = read_is_taken,
		[IOSCHED_WRITE] = write_is_taken,
		[IOSCHED_FLUSH] = flush_is_taken,
		[IOSCHED_DISCARD] = discard_is_taken,
	};
	struct ssd *d = (struct ssd *)device;

	go_on(d, cmd, device->engine->now + d->p.overhead, taken[cmd->op]);
	return 0;
}

/* --- Life --- */

static void ssd_destroy(struct ios_sim_device *d)
{
	free(d);
}

static int ssd_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		      struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		      struct iosched_sim_error *why)
{
	const struct ssd_params *p = plan->values;
	struct ssd *d;

	if (p->collect_every != 0 && p->collect_every <= p->collect_time)
		return ios_sim_fail(why, -EINVAL, "collect_every is not longer than collect_time");
	d = calloc(1, sizeof(*d));
	if (d == NULL)
		return -ENOMEM;
	d->p = *p;
	d->next_collect = p->collect_every;
	d->device = (struct ios_sim_device){
		.model = &ios_sim_ssd_model,
		.engine = engine,
		.ledger = ledger,
		.capacity = p->capacity,
		.depth = (uint32_t)p->depth,
		.parallel = p->channels > 1 ? IOSCHED_PARALLEL_YES : IOSCHED_PARALLEL_NO,
	};
	*out = &d->device;
	return 0;
}

const struct ios_sim_model ios_sim_ssd_model = {
	.name = "ssd",
	.summary = "flash: channels, interleave, dear writes, collection that stops all",
	.params = params,
	.params_size = sizeof(struct ssd_params),
	.create = ssd_create,
	.destroy = ssd_destroy,
	.submit = ssd_submit,
};
