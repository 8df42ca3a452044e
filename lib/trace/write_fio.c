/* SPDX-License-Identifier: MIT */
/*
 * write_fio: fio's iolog, versions 2 and 3.
 *
 * A file is added and opened before its first request, and all are closed at the end. Version 3
 * has the time in each line; version 2 gets a `wait` line whenever time has moved on.
 */
#include "trace/writer.h"

#include <inttypes.h>

#define NSEC_PER_USEC 1000u
#define NSEC_PER_MSEC 1000000u

bool ios_fio_name_valid(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > IOS_TRACE_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' && name[i] >= 0)
			return false;
	return true;
}

/* The record's file, or the writer's, or one named after the device. */
static const char *file_of(const struct iosched_trace_writer *w,
			   const struct iosched_trace_record *rec, char *room, size_t size)
{
	if (rec->file != NULL)
		return rec->file;
	if (w->file != NULL)
		return w->file;
	snprintf(room, size, "dev-%" PRIu32 "-%" PRIu32, rec->device >> 20, rec->device & 0xfffff);
	return room;
}

static bool version_3(const struct iosched_trace_writer *w)
{
	return w->options.format == IOSCHED_TRACE_FIO_V3;
}

static void put_time(const struct iosched_trace_writer *w, uint64_t time)
{
	if (version_3(w))
		fprintf(w->out, "%" PRIu64 " ", time);
}

static void put_action(const struct iosched_trace_writer *w, uint64_t time, const char *file,
		       const char *action)
{
	put_time(w, time);
	fprintf(w->out, "%s %s\n", file, action);
}

static uint64_t in_unit(const struct iosched_trace_writer *w, iosched_time time)
{
	bool ms = !version_3(w) && w->options.wait == IOSCHED_TRACE_WAIT_START_MS;

	return time / (ms ? NSEC_PER_MSEC : NSEC_PER_USEC);
}

static void wait_until(struct iosched_trace_writer *w, const char *file, uint64_t time)
{
	bool absolute = w->options.wait == IOSCHED_TRACE_WAIT_START_MS;

	if (time > w->clock)
		fprintf(w->out, "%s wait %" PRIu64 " 0\n", file, absolute ? time : time - w->clock);
}

/* Adds and opens a file at its first request. */
static int introduce(struct iosched_trace_writer *w, const char *file, uint64_t time)
{
	uint32_t index;
	int err = ios_trace_names_get(&w->names, ios_span_of(file), &index);

	if (err != 0)
		return err;
	if (!w->names.list[index].open) {
		put_action(w, time, file, "add");
		put_action(w, time, file, "open");
		w->names.list[index].open = true;
	}
	return 0;
}

static void put_request(struct iosched_trace_writer *w, const char *file, uint64_t time,
			const struct iosched_request *rq)
{
	static const char *const actions[] = {
		[IOSCHED_READ] = "read",
		[IOSCHED_WRITE] = "write",
		[IOSCHED_FLUSH] = "sync",
		[IOSCHED_DISCARD] = "trim",
	};

	put_time(w, time);
	fprintf(w->out, "%s %s %" PRIu64 " %" PRIu64 "\n", file, actions[rq->op], rq->offset,
		rq->length);
}

int ios_fio_write(struct iosched_trace_writer *w, const struct iosched_trace_record *rec)
{
	struct iosched_request rq;
	char room[32];
	const char *file = file_of(w, rec, room, sizeof(room));
	uint64_t time = in_unit(w, rec->time);
	int err = iosched_trace_to_request(rec, &rq);

	if (err != 0 || !ios_fio_name_valid(file) || (!version_3(w) && time < w->clock) ||
	    rq.offset > UINT64_MAX - rq.length)
		return -EINVAL;
	err = introduce(w, file, time);
	if (err != 0)
		return err;
	if (!version_3(w))
		wait_until(w, file, time);
	put_request(w, file, time, &rq);
	/* Version 3 may go back in time; the closing lines come last all the same. */
	if (time > w->clock)
		w->clock = time;
	return ios_trace_writer_status(w);
}

void ios_fio_end(struct iosched_trace_writer *w)
{
	for (uint32_t i = 0; i < w->names.count; i++)
		put_action(w, w->clock, w->names.list[i].text, "close");
}
