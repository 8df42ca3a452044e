/* SPDX-License-Identifier: MIT */
/*
 * blktrace: the kernel's binary records, version 7, in one merged file or one file per CPU.
 *
 * Each file is in order of time; files are merged by (time, cpu, sequence). State: for
 * each file the record it is at, and a heap of the files that have one. Byte order is each
 * file's own, known from its first magic.
 *
 * Process names come as records of their own before the first I/O of a process; a
 * small table keeps the last one seen for each pid (colliding pids lose theirs).
 */
#include "trace/reader.h"

#include <stdlib.h>

#define MAGIC 0x65617400u
#define VERSION 7
#define RECORD_BYTES 48
/* Pids are handed out in sequence, so a power of two above the number of busy processes does. */
#define PROCESSES 1024
#define PROCESS_BYTES 16

enum {
	CATEGORY_WRITE = 1u << 1,
	CATEGORY_FLUSH = 1u << 2,
	CATEGORY_READ = 1u << 0,
	CATEGORY_SYNC = 1u << 3,
	CATEGORY_PASSTHROUGH = 1u << 9,
	CATEGORY_NOTIFY = 1u << 10,
	CATEGORY_READAHEAD = 1u << 11,
	CATEGORY_META = 1u << 12,
	CATEGORY_DISCARD = 1u << 13,
	CATEGORY_FUA = 1u << 15,
};

/* Events by their number in the file. */
static const uint8_t events[] = {
	[1] = IOSCHED_TRACE_QUEUE,	   [2] = IOSCHED_TRACE_BACK_MERGE,
	[3] = IOSCHED_TRACE_FRONT_MERGE,   [4] = IOSCHED_TRACE_GET,
	[5] = IOSCHED_TRACE_SLEEP,	   [6] = IOSCHED_TRACE_REQUEUE,
	[7] = IOSCHED_TRACE_ISSUE,	   [8] = IOSCHED_TRACE_COMPLETE,
	[9] = IOSCHED_TRACE_PLUG,	   [10] = IOSCHED_TRACE_UNPLUG,
	[11] = IOSCHED_TRACE_UNPLUG_TIMER, [12] = IOSCHED_TRACE_INSERT,
	[13] = IOSCHED_TRACE_SPLIT,	   [14] = IOSCHED_TRACE_BOUNCE,
	[15] = IOSCHED_TRACE_REMAP,	   [16] = IOSCHED_TRACE_ABORT,
	[17] = IOSCHED_TRACE_DRIVER,
};

/* A record as it is in the file, in our byte order. */
struct raw {
	uint32_t magic, sequence;
	uint64_t time, sector;
	uint32_t bytes, action, pid, device, cpu;
	uint16_t error, pdu_bytes;
};

struct source {
	struct ios_trace_input *input;
	bool known, swapped; /* byte order */
	bool finished;
	struct iosched_trace_record record; /* the one it is at */
	uint32_t sequence;
};

struct blktrace {
	struct source *sources;
	uint32_t *heap; /* source numbers, the earliest at 0 */
	uint32_t heap_count;
	uint32_t
		pending; /* source to fetch from before the heap's top counts; from 0 up at first */
	bool all_started;
	struct {
		uint32_t pid;
		char name[PROCESS_BYTES + 1];
	} processes[PROCESSES];
};

static uint64_t load(const unsigned char *p, unsigned bytes, bool big)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[big ? i : bytes - 1 - i];
	return value;
}

static bool has_magic(const unsigned char *p, bool big)
{
	return (load(p, 4, big) & 0xffffff00u) == MAGIC;
}

bool ios_trace_blktrace_magic(const char *bytes)
{
	const unsigned char *p = (const unsigned char *)bytes;

	return has_magic(p, false) || has_magic(p, true);
}

static struct raw decode(const unsigned char *p, bool big)
{
	return (struct raw){
		.magic = (uint32_t)load(p, 4, big),
		.sequence = (uint32_t)load(p + 4, 4, big),
		.time = load(p + 8, 8, big),
		.sector = load(p + 16, 8, big),
		.bytes = (uint32_t)load(p + 24, 4, big),
		.action = (uint32_t)load(p + 28, 4, big),
		.pid = (uint32_t)load(p + 32, 4, big),
		.device = (uint32_t)load(p + 36, 4, big),
		.cpu = (uint32_t)load(p + 40, 4, big),
		.error = (uint16_t)load(p + 44, 2, big),
		.pdu_bytes = (uint16_t)load(p + 46, 2, big),
	};
}

/* Takes bytes up to the next magic in the known byte order, at least one. */
static void resync(struct source *s)
{
	do {
		ios_trace_input_take(s->input, 1);
	} while (ios_trace_input_need(s->input, 4) >= 4 &&
		 !has_magic((const unsigned char *)ios_trace_input_at(s->input), s->swapped));
	if (ios_trace_input_need(s->input, 4) < 4)
		s->finished = true;
}

static int cut_off(struct iosched_trace *t, struct source *s)
{
	s->finished = true;
	if (s->input->error != 0)
		return ios_trace_fail(t, s->input, s->input->error, "%s",
				      strerror(-s->input->error));
	return ios_trace_fail(t, s->input, -EBADMSG, "the file ends inside this record");
}

static int bad_magic(struct iosched_trace *t, struct source *s, const unsigned char *p)
{
	int err = ios_trace_fail(t, s->input, -EBADMSG,
				 "no blktrace record here: it begins with %02x%02x%02x%02x", p[0],
				 p[1], p[2], p[3]);

	resync(s);
	return err;
}

/* The fixed part of the next record: 1, 0 at the end, -errno. */
static int read_raw(struct iosched_trace *t, struct source *s, struct raw *raw)
{
	size_t have = ios_trace_input_need(s->input, RECORD_BYTES);
	const unsigned char *p = (const unsigned char *)ios_trace_input_at(s->input);

	if (have == 0 && s->input->error == 0) {
		s->finished = true;
		return 0;
	}
	s->input->position++;
	if (have < RECORD_BYTES)
		return cut_off(t, s);
	if (!s->known)
		s->swapped = has_magic(p, true);
	if (!has_magic(p, s->swapped))
		return bad_magic(t, s, p);
	s->known = true;
	*raw = decode(p, s->swapped);
	if ((raw->magic & 0xff) != VERSION) {
		s->finished = true;
		return ios_trace_fail(t, s->input, -ENOTSUP,
				      "version %u of the binary format; only %u can be read",
				      raw->magic & 0xff, VERSION);
	}
	ios_trace_input_take(s->input, RECORD_BYTES);
	return 1;
}

static void note_process(struct blktrace *state, struct source *s, const struct raw *raw)
{
	size_t have = ios_trace_input_need(s->input, raw->pdu_bytes);
	size_t n = raw->pdu_bytes < PROCESS_BYTES ? raw->pdu_bytes : PROCESS_BYTES;
	char *name = state->processes[raw->pid % PROCESSES].name;

	if (have < raw->pdu_bytes)
		return;
	state->processes[raw->pid % PROCESSES].pid = raw->pid;
	memcpy(name, ios_trace_input_at(s->input), n);
	name[n] = '\0';
}

static void set_operation(struct iosched_trace_record *rec, uint32_t category, uint32_t bytes)
{
	if ((category & CATEGORY_DISCARD) != 0)
		rec->op = IOSCHED_DISCARD;
	else if ((category & CATEGORY_WRITE) != 0)
		rec->op = IOSCHED_WRITE;
	else if ((category & CATEGORY_FLUSH) != 0 && bytes == 0)
		rec->op = IOSCHED_FLUSH;
	else if ((category & CATEGORY_READ) != 0 && bytes > 0)
		rec->op = IOSCHED_READ;
	else
		rec->op = IOSCHED_TRACE_OP_NONE;
	if ((category & CATEGORY_FLUSH) != 0 && rec->op != IOSCHED_FLUSH)
		rec->flags |= IOSCHED_TRACE_PREFLUSH;
	if ((category & CATEGORY_SYNC) != 0)
		rec->flags |= IOSCHED_RQ_SYNC;
	if ((category & CATEGORY_META) != 0)
		rec->flags |= IOSCHED_RQ_META;
	if ((category & CATEGORY_FUA) != 0)
		rec->flags |= IOSCHED_RQ_FUA;
	if ((category & CATEGORY_READAHEAD) != 0)
		rec->flags |= IOSCHED_TRACE_READAHEAD;
	if ((category & CATEGORY_PASSTHROUGH) != 0)
		rec->flags |= IOSCHED_TRACE_PASSTHROUGH;
}

static int set_extent(struct iosched_trace *t, struct source *s, const struct raw *raw,
		      struct iosched_trace_record *rec)
{
	if (raw->sector > UINT64_MAX / 512 || raw->sector * 512 > UINT64_MAX - raw->bytes)
		return ios_trace_fail(t, s->input, -EBADMSG, "sector %llu is over 64 bits of bytes",
				      (unsigned long long)raw->sector);
	rec->offset = raw->sector * 512;
	rec->length = raw->bytes;
	return 0;
}

static int translate(struct iosched_trace *t, struct source *s, const struct raw *raw)
{
	struct blktrace *state = t->state;
	struct iosched_trace_record *rec = &s->record;
	uint32_t event = raw->action & 0xffff;

	memset(rec, 0, sizeof(*rec));
	if ((raw->action >> 16 & CATEGORY_NOTIFY) != 0) {
		if (event == 0)
			note_process(state, s, raw);
		return IOS_TRACE_IGNORED;
	}
	if (event >= sizeof(events) || events[event] == 0)
		return IOS_TRACE_IGNORED;
	rec->event = events[event];
	rec->time = raw->time;
	rec->context = raw->pid;
	rec->device = raw->device;
	rec->cpu = raw->cpu;
	rec->error = raw->error;
	rec->position = s->input->position;
	set_operation(rec, raw->action >> 16, raw->bytes);
	if (raw->pid != 0 && state->processes[raw->pid % PROCESSES].pid == raw->pid)
		ios_trace_process(ios_span_of(state->processes[raw->pid % PROCESSES].name), rec);
	s->sequence = raw->sequence;
	return set_extent(t, s, raw, rec) == 0 ? IOS_TRACE_RECORD : -EBADMSG;
}

/* The next record of one file into its `record`: as a format's fetch. */
static int advance(struct iosched_trace *t, struct source *s)
{
	struct raw raw = {0};
	int got = s->finished ? 0 : read_raw(t, s, &raw);
	int what;

	if (got <= 0)
		return got;
	what = translate(t, s, &raw);
	if (!ios_trace_input_skip(s->input, raw.pdu_bytes))
		return cut_off(t, s);
	return what;
}

static bool earlier(const struct blktrace *state, uint32_t a, uint32_t b)
{
	const struct source *x = &state->sources[a], *y = &state->sources[b];

	if (x->record.time != y->record.time)
		return x->record.time < y->record.time;
	if (x->record.cpu != y->record.cpu)
		return x->record.cpu < y->record.cpu;
	return x->sequence != y->sequence ? x->sequence < y->sequence : a < b;
}

static void heap_push(struct blktrace *state, uint32_t source)
{
	uint32_t at = state->heap_count++;

	while (at > 0 && earlier(state, source, state->heap[(at - 1) / 2])) {
		state->heap[at] = state->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	state->heap[at] = source;
}

static uint32_t heap_take(struct blktrace *state)
{
	uint32_t top = state->heap[0];
	uint32_t moved = state->heap[--state->heap_count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= state->heap_count)
			break;
		if (child + 1 < state->heap_count &&
		    earlier(state, state->heap[child + 1], state->heap[child]))
			child++;
		if (!earlier(state, state->heap[child], moved))
			break;
		state->heap[at] = state->heap[child];
		at = child;
	}
	state->heap[at] = moved;
	return top;
}

/* Brings every file to a record: IOS_TRACE_RECORD when all are, else what to tell the core. */
static int fill_heap(struct iosched_trace *t)
{
	struct blktrace *state = t->state;

	while (!state->all_started || state->pending != UINT32_MAX) {
		int got = advance(t, &state->sources[state->pending]);

		if (got < 0 || got == IOS_TRACE_IGNORED)
			return got;
		if (got == IOS_TRACE_RECORD)
			heap_push(state, state->pending);
		if (!state->all_started && ++state->pending < t->input_count)
			continue;
		state->all_started = true;
		state->pending = UINT32_MAX;
	}
	return IOS_TRACE_RECORD;
}

static int blktrace_fetch(struct iosched_trace *t, struct iosched_trace_record *rec)
{
	struct blktrace *state = t->state;
	int got = fill_heap(t);

	if (got != IOS_TRACE_RECORD)
		return got;
	if (state->heap_count == 0)
		return IOS_TRACE_END;
	state->pending = heap_take(state);
	*rec = state->sources[state->pending].record;
	return IOS_TRACE_RECORD;
}

static int blktrace_begin(struct iosched_trace *t)
{
	struct blktrace *state = t->state;

	state->sources = calloc(t->input_count, sizeof(*state->sources));
	state->heap = calloc(t->input_count, sizeof(*state->heap));
	if (state->sources == NULL || state->heap == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->input_count; i++)
		state->sources[i].input = &t->inputs[i];
	return 0;
}

static void blktrace_finish(struct iosched_trace *t)
{
	struct blktrace *state = t->state;

	free(state->sources);
	free(state->heap);
}

const struct ios_trace_format ios_trace_blktrace = {
	.name = "blktrace",
	.summary = "blktrace binary version 7, merged or one file per CPU",
	.state_size = sizeof(struct blktrace),
	.begin = blktrace_begin,
	.finish = blktrace_finish,
	.fetch = blktrace_fetch,
};
