/* SPDX-License-Identifier: MIT */
/*
 * A replay: the records of a trace, each submitted at its (scaled) time.
 *
 * State: one record read ahead, and when it is due. While max_outstanding are
 * with the host the record waits for a completion, whatever its time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/load.h"

struct replay {
	struct ios_sim_load load; /* first: the two are one pointer */
	struct iosched_sim_replay r;
	struct ios_sim_replay_counts *counts;
	unsigned index;
	struct iosched_sim_record record; /* the next one, if have_record */
	bool have_record;
	bool over;
	bool first_seen;
	uint64_t first_ns;
	uint64_t last_ns; /* latest record time seen */
	iosched_time due;
	uint64_t number; /* records read */
	uint32_t outstanding;
	struct ios_sim_event event;
};

static void finish(struct replay *rp)
{
	rp->over = true;
	ios_sim_host_load_done(rp->load.host);
}

static void fail(struct replay *rp, int err, const char *what)
{
	ios_sim_host_fail(rp->load.host, err, "replay %u, record %llu %s", rp->index + 1,
			  (unsigned long long)rp->number, what);
	finish(rp);
}

static void set_due(struct replay *rp)
{
	uint64_t t = rp->record.time_ns;

	if (!rp->first_seen) {
		rp->first_seen = true;
		rp->first_ns = t;
		rp->last_ns = t;
	}
	if (t < rp->last_ns) {
		rp->counts->unordered++;
		t = rp->last_ns;
	}
	rp->last_ns = t;
	rp->due = ios_sim_add(rp->r.start_ns,
			      ios_sim_muldiv(t - rp->first_ns, rp->r.time_permille, 1000));
}

/* Into the device, or a fault. */
static const char *place(struct replay *rp)
{
	struct iosched_sim_record *rec = &rp->record;
	uint64_t capacity = rp->load.host->device->capacity;

	if (rec->op == IOSCHED_FLUSH) {
		rec->offset = 0;
		rec->length = 0;
		return NULL;
	}
	if (rec->length <= capacity && rec->offset <= capacity - rec->length)
		return NULL;
	if (!rp->r.fold)
		return "reaches past the end of the device";
	if (rec->length > capacity)
		return "is larger than the device";
	rec->offset %= capacity;
	if (rec->offset > capacity - rec->length)
		rec->offset = capacity - rec->length;
	rp->counts->folded++;
	return NULL;
}

static const char *record_fault(const struct replay *rp)
{
	const struct iosched_sim_record *rec = &rp->record;

	if (rec->op > IOSCHED_DISCARD || rec->prio_class > IOSCHED_IDLE || rec->prio_level > 8)
		return "has an op, class or level out of range";
	if (rec->context + rp->r.context_shift >= IOSCHED_SIM_OTHER_CONTEXTS)
		return "has a context number that is reserved";
	return NULL;
}

/* Read until there is a record to submit, or the trace has ended. */
static void read_ahead(struct replay *rp)
{
	while (!rp->have_record && !rp->over) {
		const char *fault;
		int got;

		memset(&rp->record, 0, sizeof(rp->record));
		got = rp->r.next(rp->r.user, &rp->record);
		if (got <= 0) {
			rp->number++;
			if (got < 0)
				fail(rp, got, "could not be read");
			else
				finish(rp);
			return;
		}
		rp->number++;
		if (rp->record.length == 0 && rp->record.op != IOSCHED_FLUSH) {
			rp->counts->skipped++;
			continue;
		}
		fault = record_fault(rp);
		if (fault != NULL) {
			fail(rp, -EINVAL, fault);
			return;
		}
		fault = place(rp);
		if (fault != NULL) {
			fail(rp, -ERANGE, fault);
			return;
		}
		set_due(rp);
		rp->have_record = true;
	}
}

static void submit_record(struct replay *rp)
{
	struct ios_sim_host *h = rp->load.host;
	const struct iosched_sim_record *rec = &rp->record;
	struct ios_sim_want want = {
		.offset = rec->offset,
		.length = rec->length,
		.context = rec->context + rp->r.context_shift,
		.flags = rec->flags,
		.op = rec->op,
		.prio_class = rec->prio_class,
		.prio_level = rec->prio_level,
	};

	rp->have_record = false;
	want.meter = ios_sim_meter_of(&h->meter, want.context);
	if (want.meter == UINT32_MAX) {
		ios_sim_stop(&h->engine, -ENOMEM);
		rp->over = true;
		return;
	}
	rp->outstanding++;
	if (ios_sim_host_submit(h, &rp->load, &want) != 0) {
		rp->outstanding--;
		finish(rp);
	}
}

static bool may_submit(const struct replay *rp)
{
	return rp->r.max_outstanding == 0 || rp->outstanding < rp->r.max_outstanding;
}

/* Submit all that is due, and be called again for the next. */
static void go_on(struct replay *rp)
{
	struct ios_sim_host *h = rp->load.host;

	read_ahead(rp);
	while (!rp->over && rp->due <= h->engine.now && may_submit(rp) && h->engine.stopped == 0) {
		submit_record(rp);
		read_ahead(rp);
	}
	if (!rp->over && rp->due > h->engine.now)
		ios_sim_schedule(&h->engine, &rp->event, rp->due);
}

static void replay_fires(void *owner)
{
	struct replay *rp = owner;

	ios_sim_host_enter(rp->load.host);
	go_on(rp);
	ios_sim_host_leave(rp->load.host);
}

static void replay_completed(struct ios_sim_load *load, void *token, uint8_t op)
{
	struct replay *rp = (struct replay *)load;

	(void)token;
	(void)op;
	rp->outstanding--;
	if (rp->r.max_outstanding != 0)
		go_on(rp);
}

static void replay_start(struct ios_sim_load *load)
{
	struct replay *rp = (struct replay *)load;

	ios_sim_event_init(&rp->event, replay_fires, rp);
	ios_sim_schedule(&load->host->engine, &rp->event, rp->r.start_ns);
}

static void replay_destroy(struct ios_sim_load *load)
{
	struct replay *rp = (struct replay *)load;

	ios_sim_cancel(&load->host->engine, &rp->event);
	free(rp);
}

int ios_sim_replay_create(struct ios_sim_load **out, struct ios_sim_host *h,
			  const struct iosched_sim_replay *r, struct ios_sim_replay_counts *counts,
			  unsigned index, struct iosched_sim_error *why)
{
	struct replay *rp;

	if (r->size != sizeof(*r))
		return ios_sim_fail(why, -EINVAL,
				    "replay %u was not initialised by iosched_sim_replay_init()",
				    index + 1);
	if (r->next == NULL)
		return ios_sim_fail(why, -EINVAL, "replay %u has no source of records", index + 1);
	rp = calloc(1, sizeof(*rp));
	if (rp == NULL)
		return -ENOMEM;
	rp->load = (struct ios_sim_load){h, replay_start, replay_completed, replay_destroy};
	rp->r = *r;
	rp->counts = counts;
	rp->index = index;
	h->live_loads++;
	*out = &rp->load;
	return 0;
}
