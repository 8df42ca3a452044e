/* SPDX-License-Identifier: MIT */
#include "sim/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/digest.h"

/* Requests are allocated so many at a time and recycled; never freed before the end. */
#define BLOCK_IOS 64

struct ios_sim_io_block {
	struct ios_sim_io_block *next;
	struct ios_sim_io ios[BLOCK_IOS];
};

/* Types of events in a digest take four bits; no event of the queue has this one. */
#define FAILED_EVENT 15

static struct ios_sim_io *io_of(struct iosched_request *rq)
{
	return (struct ios_sim_io *)rq;
}

uint64_t iosched_sim_request_number(const struct iosched_request *rq)
{
	if (rq == NULL || (rq->flags & IOSCHED_RQ_INTERNAL) != 0)
		return 0;
	return ((const struct ios_sim_io *)rq)->number;
}

void ios_sim_host_event(void *host, const struct iosched_event *event)
{
	struct ios_sim_host *h = host;

	if (event->type != IOSCHED_EVENT_HOLD && event->type != IOSCHED_EVENT_RULE) {
		uint64_t number = iosched_sim_request_number(event->rq);

		h->digest = ios_sim_digest_add(h->digest, number << 4 | (uint64_t)event->type);
		h->digest = ios_sim_digest_add(h->digest, event->now);
		if (event->other != NULL)
			h->digest = ios_sim_digest_add(h->digest,
						       iosched_sim_request_number(event->other));
	}
	ios_sim_promise_event(&h->promise, event);
	if (h->promise.broken[0] != '\0')
		ios_sim_watch_fail(&h->watch, "%s", h->promise.broken);
	if (h->event != NULL)
		h->event(h->event_user, event);
}

void ios_sim_host_fail(struct ios_sim_host *h, int err, const char *format, ...)
{
	va_list args;

	if (h->failure.text[0] == '\0') {
		va_start(args, format);
		vsnprintf(h->failure.text, sizeof(h->failure.text), format, args);
		va_end(args);
	}
	ios_sim_stop(&h->engine, err);
}

/* --- Requests --- */

static struct ios_sim_io *take_io(struct ios_sim_host *h)
{
	struct ios_sim_io *io = h->free_ios;

	if (io == NULL) {
		struct ios_sim_io_block *block = calloc(1, sizeof(*block));

		if (block == NULL)
			return NULL;
		block->next = h->blocks;
		h->blocks = block;
		for (unsigned i = BLOCK_IOS; i-- > 0;) {
			block->ios[i].next_free = h->free_ios;
			h->free_ios = &block->ios[i];
		}
		io = h->free_ios;
	}
	h->free_ios = io->next_free;
	return io;
}

static void give_io(struct ios_sim_host *h, struct ios_sim_io *io)
{
	io->place = IOS_SIM_FREE;
	io->next_free = h->free_ios;
	h->free_ios = io;
}

/* --- Time accounts --- */

static void account_business(struct ios_sim_host *h)
{
	h->business_ns[h->business] += h->engine.now - h->business_since;
	h->business_since = h->engine.now;
}

static void judge_business(struct ios_sim_host *h)
{
	if (h->inflight > 0)
		h->business = IOS_SIM_BUSY;
	else
		h->business = iosched_queued(h->queue) > 0 ? IOS_SIM_HELD : IOS_SIM_EMPTY;
}

/* --- Dispatch --- */

static void count_seek(struct ios_sim_host *h, const struct iosched_request *rq)
{
	uint64_t from = h->head_end;

	if (rq->span_length == 0)
		return;
	if (rq->span_offset != from) {
		h->seeks++;
		h->seek_bytes +=
			rq->span_offset > from ? rq->span_offset - from : from - rq->span_offset;
	}
	h->head_end = rq->span_offset + rq->span_length;
}

static void link_piece(struct ios_sim_host *h, struct ios_sim_io *io, struct ios_sim_io *parent,
		       const struct ios_sim_piece ***tail)
{
	ios_sim_watch_place(&h->watch, io->number, io->place, IOS_SIM_QUEUED, "dispatched");
	io->place = IOS_SIM_ISSUED;
	io->merged = io != parent;
	io->piece.next = NULL;
	**tail = &io->piece;
	*tail = &io->piece.next;
}

/* Put the owners of a request's bytes, its own and absorbed ones, in offset order. */
static void link_pieces(struct ios_sim_host *h, struct ios_sim_io *io)
{
	const struct ios_sim_piece **tail = &io->cmd.pieces;
	struct iosched_request *m = io->rq.merged;

	for (; m != NULL && m->offset < io->rq.offset; m = iosched_merged_next(m))
		link_piece(h, io_of(m), io, &tail);
	link_piece(h, io, io, &tail);
	for (; m != NULL; m = iosched_merged_next(m))
		link_piece(h, io_of(m), io, &tail);
}

static void command_done(struct ios_sim_command *cmd, int error);

/* The policy's own FLUSH has ended. */
static void flush_done(struct ios_sim_command *cmd, int error)
{
	struct ios_sim_host *h = cmd->user;
	struct iosched_request *rq = h->flushing;

	(void)error;
	ios_sim_host_enter(h);
	h->inflight--;
	h->refused = false;
	h->flushing = NULL;
	h->last_completion = h->engine.now;
	if (iosched_complete(h->queue, rq, h->engine.now) != 0)
		ios_sim_watch_fail(&h->watch, "the queue does not take the end of its own FLUSH");
	ios_sim_host_leave(h);
}

static void issue_flush(struct ios_sim_host *h, struct iosched_request *rq)
{
	h->flush = (struct ios_sim_command){
		.op = IOSCHED_FLUSH, .pieces = &h->nobody, .done = flush_done, .user = h};
	if (ios_sim_device_submit(h->device, &h->flush) == 0) {
		h->flushing = rq;
		h->inflight++;
		return;
	}
	h->refused = true;
	iosched_requeue(h->queue, rq, h->engine.now);
}

static void issue(struct ios_sim_host *h, struct iosched_request *rq)
{
	struct ios_sim_io *io = io_of(rq);
	struct ios_sim_command *cmd = &io->cmd;
	int err;

	if (rq->flags & IOSCHED_RQ_INTERNAL) {
		issue_flush(h, rq);
		return;
	}
	if (!ios_sim_watch_span(&h->watch, rq, io->number))
		return;
	link_pieces(h, io);
	cmd->offset = rq->span_offset;
	cmd->length = rq->span_length;
	cmd->op = rq->op;
	cmd->fua = (rq->flags & IOSCHED_RQ_FUA) != 0;
	cmd->done = command_done;
	cmd->user = h;
	io->dispatched = h->engine.now;
	err = ios_sim_device_submit(h->device, cmd);
	if (err == 0) {
		count_seek(h, rq);
		h->inflight++;
		return;
	}
	h->refused = true;
	for (struct iosched_request *m = rq->merged; m != NULL; m = iosched_merged_next(m))
		io_of(m)->place = IOS_SIM_QUEUED;
	io->place = IOS_SIM_QUEUED;
	if (iosched_requeue(h->queue, rq, h->engine.now) != 0)
		ios_sim_watch_fail(&h->watch,
				   "request %llu, refused by the device, cannot be requeued",
				   (unsigned long long)io->number);
}

/* A moment that is past stays past while the device is full, or has been asked about already at
 * this instant: with something in flight, its completion will ask again. */
static bool completion_will_ask(const struct ios_sim_host *h)
{
	return h->inflight >= h->window || (h->inflight > 0 && h->last_wake == h->engine.now);
}

static void arm(struct ios_sim_host *h)
{
	iosched_time when = iosched_next_wakeup(h->queue);

	if (when == IOSCHED_NEVER || (when <= h->engine.now && completion_will_ask(h)))
		ios_sim_cancel(&h->engine, &h->wakeup);
	else if (!ios_sim_event_pending(&h->wakeup) || h->wakeup.when != when)
		ios_sim_schedule(&h->engine, &h->wakeup, when);
}

static void finish_if_idle(struct ios_sim_host *h)
{
	if (h->inflight > 0 || iosched_queued(h->queue) > 0)
		return;
	if (h->closed || h->live_loads == 0)
		ios_sim_stop(&h->engine, 1);
}

static void dispatch_all(struct ios_sim_host *h)
{
	while (h->inflight < h->window && !h->refused && !ios_sim_watch_failed(&h->watch)) {
		struct iosched_request *rq = iosched_dispatch(h->queue, h->engine.now);

		if (rq == NULL) {
			ios_sim_watch_hold(&h->watch, h->queue, h->window);
			break;
		}
		issue(h, rq);
	}
}

static void pump(struct ios_sim_host *h)
{
	account_business(h);
	if (ios_sim_plug_lets_run(&h->plug))
		dispatch_all(h);
	judge_business(h);
	arm(h);
	finish_if_idle(h);
}

/* Now, not when all has been dealt with: a request that was waited for does not wait for those
 * that its owner submits behind it. */
static void run_at_once(struct ios_sim_host *h)
{
	ios_sim_plug_pull(&h->plug, &h->engine);
	pump(h);
}

void ios_sim_host_unplug(struct ios_sim_host *h)
{
	if (h->plug.plugged)
		run_at_once(h);
}

void ios_sim_host_kick(void *host, enum iosched_kick kind)
{
	struct ios_sim_host *h = host;

	if (kind == IOSCHED_KICK_NOW)
		h->plug.kicked = true;
	else
		ios_sim_schedule(&h->engine, &h->plug.work, h->engine.now);
}

static void run_queue(void *owner)
{
	struct ios_sim_host *h = owner;

	ios_sim_host_enter(h);
	ios_sim_plug_pull(&h->plug, &h->engine);
	ios_sim_host_leave(h);
}

void ios_sim_host_enter(struct ios_sim_host *h)
{
	h->entered++;
}

void ios_sim_host_leave(struct ios_sim_host *h)
{
	if (h->entered == 1)
		pump(h);
	h->entered--;
}

static void wake(void *owner)
{
	struct ios_sim_host *h = owner;
	uint64_t inserted = h->submitted;
	uint32_t inflight = h->inflight;

	ios_sim_host_enter(h);
	h->last_wake = h->engine.now;
	ios_sim_plug_pull(&h->plug, &h->engine);
	iosched_timer(h->queue, h->engine.now);
	ios_sim_host_leave(h);
	if (h->submitted == inserted && h->inflight == inflight)
		ios_sim_watch_woken(&h->watch, h->queue);
}

static void device_ready(void *owner)
{
	struct ios_sim_host *h = owner;

	ios_sim_host_enter(h);
	h->refused = false;
	ios_sim_plug_pull(&h->plug, &h->engine);
	ios_sim_host_leave(h);
}

/* --- Completion --- */

/* A request that failed is over like any other, but has moved no bytes. */
static void finish_io(struct ios_sim_host *h, struct ios_sim_io *io, iosched_time dispatched,
		      int error)
{
	struct ios_sim_load *load = io->load;
	void *token = io->token;
	uint8_t op = io->rq.op;

	ios_sim_watch_place(&h->watch, io->number, io->place, IOS_SIM_ISSUED, "completed");
	ios_sim_meter_add(&h->meter, &(struct ios_sim_sample){
					     .meter = io->meter,
					     .op = op,
					     .merged = io->merged,
					     .failed = error != 0,
					     .bytes = error != 0 ? 0 : io->rq.length,
					     .inserted = io->submitted,
					     .dispatched = dispatched,
					     .completed = h->engine.now,
				     });
	h->completed++;
	h->failed += error != 0;
	give_io(h, io);
	load->completed(load, token, op);
}

static void command_done(struct ios_sim_command *cmd, int error)
{
	struct ios_sim_host *h = cmd->user;
	/* The command lies in its request. */
	struct ios_sim_io *io =
		(struct ios_sim_io *)(void *)((char *)cmd - offsetof(struct ios_sim_io, cmd));
	struct iosched_request *m = io->rq.merged;
	iosched_time dispatched = io->dispatched;

	ios_sim_host_enter(h);
	if (error != 0) /* what went well leaves digests as they are */
		h->digest = ios_sim_digest_add(h->digest, io->number << 4 | FAILED_EVENT);
	h->inflight--;
	h->refused = false;
	ios_sim_plug_pull(&h->plug, &h->engine);
	h->last_completion = h->engine.now;
	if (iosched_complete(h->queue, &io->rq, h->engine.now) != 0)
		ios_sim_watch_fail(&h->watch,
				   "the queue does not take the completion of request %llu",
				   (unsigned long long)io->number);
	finish_io(h, io, dispatched, error);
	while (m != NULL) {
		struct iosched_request *next = iosched_merged_next(m);

		finish_io(h, io_of(m), dispatched, error);
		m = next;
	}
	ios_sim_host_leave(h);
}

/* --- Submission --- */

static void fill(struct ios_sim_io *io, struct ios_sim_load *load, const struct ios_sim_want *want)
{
	memset(&io->rq, 0, sizeof(io->rq));
	io->rq.offset = want->offset;
	io->rq.length = want->length;
	io->rq.context = want->context;
	io->rq.flags = want->flags;
	io->rq.op = want->op;
	io->rq.prio_class = want->prio_class;
	io->rq.prio_level = want->prio_level;
	io->rq.user = load;
	io->piece = (struct ios_sim_piece){want->offset, want->length, want->context, NULL};
	io->load = load;
	io->token = want->token;
	io->meter = want->meter;
}

int ios_sim_host_submit(struct ios_sim_host *h, struct ios_sim_load *load,
			const struct ios_sim_want *want)
{
	bool was_empty = iosched_queued(h->queue) == 0;
	struct ios_sim_io *io;
	int err;

	if (h->closed)
		return -ESHUTDOWN;
	io = take_io(h);
	if (io == NULL) {
		ios_sim_stop(&h->engine, -ENOMEM);
		return -ESHUTDOWN;
	}
	fill(io, load, want);
	io->number = ++h->submitted;
	io->submitted = h->engine.now;
	ios_sim_host_enter(h);
	io->place = IOS_SIM_QUEUED;
	h->plug.kicked = false;
	err = iosched_insert(h->queue, &io->rq, h->engine.now);
	if (err != 0)
		ios_sim_host_fail(h, err, "the queue refuses a request of context %llu: %s",
				  (unsigned long long)want->context, strerror(-err));
	if (ios_sim_plug_inserted(&h->plug, &h->engine, was_empty, iosched_queued(h->queue)))
		run_at_once(h);
	ios_sim_host_leave(h);
	return 0;
}

void ios_sim_host_load_done(struct ios_sim_host *h)
{
	h->live_loads--;
	if (h->entered == 0)
		finish_if_idle(h);
}

/* --- The end --- */

static void take_back_queued(struct ios_sim_host *h)
{
	struct iosched_request *rq;

	while ((rq = iosched_drain(h->queue, h->engine.now)) != NULL) {
		struct ios_sim_io *io = io_of(rq);

		ios_sim_watch_place(&h->watch, io->number, io->place, IOS_SIM_QUEUED, "given back");
		h->returned++;
		give_io(h, io);
	}
}

void ios_sim_host_close(struct ios_sim_host *h)
{
	ios_sim_host_enter(h);
	h->closed = true;
	if (!h->drain)
		take_back_queued(h);
	ios_sim_plug_pull(&h->plug, &h->engine);
	ios_sim_host_leave(h);
}

void ios_sim_host_init(struct ios_sim_host *h)
{
	*h = (struct ios_sim_host){.digest = IOS_SIM_DIGEST_START,
				   .business = IOS_SIM_EMPTY,
				   .last_wake = IOSCHED_NEVER};
	ios_sim_engine_init(&h->engine);
	ios_sim_ledger_init(&h->ledger);
	h->watch.engine = &h->engine;
	ios_sim_event_init(&h->wakeup, wake, h);
	ios_sim_event_init(&h->plug.timer, run_queue, h);
	ios_sim_event_init(&h->plug.work, run_queue, h);
}

void ios_sim_host_attach(struct ios_sim_host *h, struct ios_sim_device *device)
{
	h->device = device;
	device->ready = device_ready;
	device->ready_user = h;
}

/* After a violation or failure the queue may hold requests still: take them all back. */
static void empty_queue(struct ios_sim_host *h)
{
	if (h->queue == NULL)
		return;
	while (iosched_drain(h->queue, h->engine.now) != NULL) {
		/* nobody asks for them */
	}
	for (struct ios_sim_io_block *b = h->blocks; b != NULL; b = b->next)
		for (unsigned i = 0; i < BLOCK_IOS; i++)
			if (b->ios[i].place == IOS_SIM_ISSUED)
				iosched_complete(h->queue, &b->ios[i].rq, h->engine.now);
	if (h->flushing != NULL)
		iosched_complete(h->queue, h->flushing, h->engine.now);
	iosched_destroy(h->queue);
}

void ios_sim_host_fini(struct ios_sim_host *h)
{
	h->event = NULL;
	empty_queue(h);
	if (h->device != NULL)
		ios_sim_device_destroy(h->device);
	ios_sim_engine_fini(&h->engine);
	ios_sim_promise_fini(&h->promise);
	ios_sim_ledger_fini(&h->ledger);
	while (h->blocks != NULL) {
		struct ios_sim_io_block *next = h->blocks->next;

		free(h->blocks);
		h->blocks = next;
	}
}
