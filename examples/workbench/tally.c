/* SPDX-License-Identifier: MIT */
#include "tally.h"

#define DEVICES (sizeof(((struct wb_tally *)NULL)->devices) / sizeof(uint32_t))

static void note_device(struct wb_tally *t, uint32_t device)
{
	for (unsigned i = 0; i < t->device_count && i < DEVICES; i++)
		if (t->devices[i] == device)
			return;
	if (t->device_count < DEVICES)
		t->devices[t->device_count] = device;
	if (t->device_count <= DEVICES)
		t->device_count++;
}

static unsigned bits_of(uint64_t n)
{
	unsigned bits = 0;

	for (; n != 0; n >>= 1)
		bits++;
	return bits;
}

bool wb_tally_add(struct wb_tally *t, const struct iosched_trace_record *rec)
{
	struct wb_kind_tally *kind = &t->kinds[rec->event];
	unsigned op = rec->op < WB_OPS - 1 ? rec->op : WB_OPS - 1;

	if (t->records == 0 || rec->time < t->first)
		t->first = rec->time;
	if (rec->time > t->last)
		t->last = rec->time;
	t->records++;
	kind->records++;
	if (!iosched_trace_replayable(rec))
		return true;
	kind->ops[op]++;
	kind->bytes[op] += rec->length;
	kind->sizes[bits_of(rec->length)]++;
	if (rec->offset + rec->length > kind->end)
		kind->end = rec->offset + rec->length;
	note_device(t, rec->device);
	return wb_names_count(&kind->names, rec);
}

const struct wb_kind_tally *wb_tally_arrivals(const struct wb_tally *t,
					      enum iosched_trace_event *event)
{
	static const enum iosched_trace_event order[] = {IOSCHED_TRACE_REQUEST, IOSCHED_TRACE_QUEUE,
							 IOSCHED_TRACE_ISSUE,
							 IOSCHED_TRACE_COMPLETE};

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (t->kinds[order[i]].names.count > 0) {
			*event = order[i];
			return &t->kinds[order[i]];
		}
	return NULL;
}

void wb_tally_fini(struct wb_tally *t)
{
	for (unsigned i = 0; i < IOSCHED_TRACE_EVENTS; i++)
		wb_names_fini(&t->kinds[i].names);
}
