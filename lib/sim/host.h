/* SPDX-License-Identifier: MIT */
/*
 * The host: a queue of libiosched in front of a simulated device.
 *
 * Loads submit; the host inserts, dispatches while the device takes commands, completes, and
 * tells the loads. It keeps one timer armed, at the queue's next wake-up.
 *
 * Rule: the host enters when something happens and leaves when it has been dealt with; only
 * the outermost leave dispatches. So a load that answers a completion with new
 * requests has them queued before the next dispatch, and a burst is queued whole.
 */
#ifndef IOS_SIM_HOST_H
#define IOS_SIM_HOST_H

#include "sim/device.h"
#include "sim/meter.h"
#include "sim/plug.h"
#include "sim/promise.h"
#include "sim/watch.h"

struct ios_sim_load;

/* One request on its way. */
struct ios_sim_io {
	struct iosched_request rq; /* first: a pointer to one is a pointer to the other */
	struct ios_sim_command cmd;
	struct ios_sim_piece piece;
	uint64_t number;
	iosched_time submitted;
	iosched_time dispatched;
	struct ios_sim_load *load;
	void *token;
	uint32_t meter;
	uint8_t place; /* enum ios_sim_place */
	bool merged;
	struct ios_sim_io *next_free;
};

struct ios_sim_io_block;

/* What the device had to do since the last time something happened. */
enum ios_sim_business {
	IOS_SIM_BUSY,
	IOS_SIM_HELD, /* nothing, though requests are queued */
	IOS_SIM_EMPTY,
};

struct ios_sim_host {
	struct ios_sim_engine engine;
	struct ios_sim_ledger ledger;
	struct ios_sim_meter meter;
	struct ios_sim_watch watch;
	struct ios_sim_promise promise;
	struct ios_sim_device *device;
	struct iosched *queue;
	uint32_t window; /* requests in flight at most */
	uint64_t digest;
	void (*event)(void *user, const struct iosched_event *event);
	void *event_user;

	struct ios_sim_plug plug;
	unsigned entered;
	uint32_t inflight;
	uint32_t live_loads;
	bool refused; /* the device said -EBUSY and not yet ready */
	bool closed;  /* nothing more is submitted */
	bool drain;
	struct ios_sim_event wakeup;
	iosched_time last_wake;		  /* when it last fired */
	struct iosched_sim_error failure; /* why the engine was stopped with an error of its own */

	uint64_t submitted;
	uint64_t completed; /* by the device, failed ones included */
	uint64_t failed;
	uint64_t returned;
	uint64_t seeks;
	uint64_t seek_bytes;
	uint64_t head_end;
	iosched_time last_completion;
	enum ios_sim_business business;
	iosched_time business_since;
	uint64_t business_ns[3];

	struct ios_sim_io *free_ios;
	struct ios_sim_io_block *blocks;
	struct ios_sim_command flush;	  /* of the policy's own: nobody submitted it */
	struct ios_sim_piece nobody;	  /* its only piece, of no bytes and context 0 */
	struct iosched_request *flushing; /* the request it serves, while it is with the device */
};

/* Who submits. */
struct ios_sim_load {
	struct ios_sim_host *host;
	/* Schedule the first event. Called once, before the engine runs. */
	void (*start)(struct ios_sim_load *load);
	/* One of its requests has ended. The host has been entered. */
	void (*completed)(struct ios_sim_load *load, void *token, uint8_t op);
	void (*destroy)(struct ios_sim_load *load);
};

/* A request a load wants made. */
struct ios_sim_want {
	uint64_t offset;
	uint64_t length;
	uint64_t context;
	uint32_t meter; /* of the context */
	uint32_t flags;
	uint8_t op;
	uint8_t prio_class;
	uint8_t prio_level;
	void *token; /* handed back on completion */
};

/* Then fill in meter, queue and window, and attach a device: all are the host's to end. */
void ios_sim_host_init(struct ios_sim_host *h);
void ios_sim_host_attach(struct ios_sim_host *h, struct ios_sim_device *device);

/* All but the meter, which may live on in a result. */
void ios_sim_host_fini(struct ios_sim_host *h);

/* The hook for iosched_params::event; its user is the host. */
void ios_sim_host_event(void *host, const struct iosched_event *event);

void ios_sim_host_enter(struct ios_sim_host *h);
void ios_sim_host_leave(struct ios_sim_host *h);

/* Returns 0, or -ESHUTDOWN: the run is over. Other errors stop the run. */
int ios_sim_host_submit(struct ios_sim_host *h, struct ios_sim_load *load,
			const struct ios_sim_want *want);

/* Somebody goes to sleep on a request: with a plugging block layer, out comes the plug. */
void ios_sim_host_unplug(struct ios_sim_host *h);

/* The hook for iosched_params::kick; its user is the host. */
void ios_sim_host_kick(void *host, enum iosched_kick kind);

/* @load will submit nothing more. */
void ios_sim_host_load_done(struct ios_sim_host *h);

/* Nothing more is submitted. What is queued is given back, or with `drain` still served. */
void ios_sim_host_close(struct ios_sim_host *h);

/* Stop the run with @err and a sentence. */
__attribute__((format(printf, 3, 4))) void ios_sim_host_fail(struct ios_sim_host *h, int err,
							     const char *format, ...);

#endif
