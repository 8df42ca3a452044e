/* SPDX-License-Identifier: MIT */
/*
 * replay: see replay.h. Header lines build the queue at the first op; each
 * op is done, and what came of it (answer, kick, timer) is compared with what the
 * line says.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "replay.h"

#define SECTOR 512u
#define MAX_FIELDS 16
#define MAX_TUNABLES 32
#define MAX_ID 4000000u

struct tunable {
	char name[40];
	uint64_t value;
};

/* What the queue did in one op. */
struct outcome {
	char answer[80];
	unsigned kick;
	bool timer_changed;
	iosched_time timer;
};

struct replay {
	char name[256];
	char error[512];
	unsigned line;
	char elevator[40], kernel[40];
	uint64_t t0, max_sectors;
	bool nonrot;
	struct tunable tunable[MAX_TUNABLES];
	unsigned n_tunables;

	struct iosched *queue;
	uint64_t now, ops;
	struct iosched_request **rq; /* by id */
	size_t n_rq;

	unsigned kick; /* of the op under way */
	enum iosched_event_type first;
	const struct iosched_request *parent, *victim, *swallowed;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct replay *r, const char *format, ...)
{
	va_list args;
	int n = snprintf(r->error, sizeof(r->error), "%s:%u: ", r->name, r->line);

	va_start(args, format);
	vsnprintf(r->error + n, sizeof(r->error) - (size_t)n, format, args);
	va_end(args);
	return false;
}

static bool number(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

/* Split at blanks, in place. */
static unsigned split(char *line, char **field)
{
	unsigned n = 0;
	char *save, *f;

	for (f = strtok_r(line, " \t\r", &save); f != NULL && n < MAX_FIELDS;
	     f = strtok_r(NULL, " \t\r", &save))
		field[n++] = f;
	return n;
}

/* ---- header ---- */

static bool is_4_20(const struct replay *r)
{
	return strncmp(r->kernel, "4.20", 4) == 0;
}

static bool is_time(const char *name)
{
	static const char *const counts[] = {
		"quantum",     "back_seek_max_kb", "back_seek_penalty", "slice_async_rq",
		"low_latency", "fifo_batch",	   "writes_starved",	"front_merges"};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (strcmp(name, counts[i]) == 0)
			return false;
	return true;
}

/* Ours carry the unit in the name; the kernel's times are jiffies of 1 ms but in cfq 4.20. */
static bool header_tunable(struct replay *r, const char *name, const char *value)
{
	struct tunable *t = &r->tunable[r->n_tunables];
	bool time = is_time(name);
	bool jiffies = time && !(strcmp(r->elevator, "cfq") == 0 && is_4_20(r));

	if (r->n_tunables == MAX_TUNABLES || !number(value, &t->value))
		return fail(r, "tunable %s: not a number, or too many", name);
	if (jiffies)
		t->value *= 1000000;
	snprintf(t->name, sizeof(t->name), "%.30s%s", name, time ? "_ns" : "");
	r->n_tunables++;
	return true;
}

static bool header(struct replay *r, char **f, unsigned n)
{
	if (n < 3)
		return true;
	if (strcmp(f[1], "tunable") == 0)
		return n == 4 ? header_tunable(r, f[2], f[3]) : fail(r, "tunable: name value");
	if (strcmp(f[1], "elevator:") == 0)
		snprintf(r->elevator, sizeof(r->elevator), "%.30s", f[2]);
	else if (strcmp(f[1], "kernel:") == 0)
		snprintf(r->kernel, sizeof(r->kernel), "%.30s", f[2]);
	else if (strcmp(f[1], "nonrot:") == 0)
		r->nonrot = f[2][0] == '1';
	else if (strcmp(f[1], "t0:") == 0 && !number(f[2], &r->t0))
		return fail(r, "t0: not a number");
	else if (strcmp(f[1], "max_sectors:") == 0 && !number(f[2], &r->max_sectors))
		return fail(r, "max_sectors: not a number");
	return true;
}

static const struct iosched_policy *policy_of(const struct replay *r)
{
	const char *name = r->elevator;

	if (strcmp(name, "cfq") == 0 && strncmp(r->kernel, "2.6.32", 6) == 0)
		name = "cfq-2.6.32";
	return iosched_policy_find(name);
}

/* ---- what the queue tells us ---- */

static void on_kick(void *user, enum iosched_kick kind)
{
	struct replay *r = user;

	r->kick |= (unsigned)kind;
}

static void on_event(void *user, const struct iosched_event *e)
{
	struct replay *r = user;

	switch (e->type) {
	case IOSCHED_EVENT_BACK_MERGE:
	case IOSCHED_EVENT_FRONT_MERGE:
		r->first = e->type;
		r->parent = e->other;
		break;
	case IOSCHED_EVENT_COALESCE:
		if (r->first == IOSCHED_EVENT_INSERT) {
			r->first = IOSCHED_EVENT_COALESCE;
			r->swallowed = e->rq;
		}
		r->parent = e->other;
		r->victim = e->rq;
		break;
	default:
		break;
	}
}

static bool build_queue(struct replay *r)
{
	struct iosched_params p;
	unsigned i;

	iosched_params_init(&p, sizeof(p));
	p.policy = policy_of(r);
	if (p.policy == NULL)
		return fail(r, "no policy for elevator '%s' of kernel '%s'", r->elevator,
			    r->kernel);
	p.now = r->t0;
	p.rotational = !r->nonrot;
	p.max_merge_bytes = r->max_sectors * SECTOR;
	p.max_contexts = 4096;
	p.manual_timer = 1;
	p.audit = 1;
	p.kick = on_kick;
	p.event = on_event;
	p.user = r;
	if (iosched_create(&r->queue, &p) != 0)
		return fail(r, "the queue could not be made");
	for (i = 0; i < r->n_tunables; i++) {
		int error = iosched_tunable_set(r->queue, r->tunable[i].name, r->tunable[i].value);

		if (error != 0)
			return fail(r, "tunable %s = %llu: %s", r->tunable[i].name,
				    (unsigned long long)r->tunable[i].value, strerror(-error));
	}
	return true;
}

/* ---- ops ---- */

static struct iosched_request *request(struct replay *r, const char *id, bool make)
{
	uint64_t i;

	if (!number(id, &i) || i >= MAX_ID)
		return NULL;
	if (i >= r->n_rq) {
		size_t n = (size_t)i * 2 + 64;
		struct iosched_request **rq = realloc(r->rq, n * sizeof(struct iosched_request *));

		if (rq == NULL)
			return NULL;
		memset(rq + r->n_rq, 0, (n - r->n_rq) * sizeof(struct iosched_request *));
		r->rq = rq;
		r->n_rq = n;
	}
	if (make && r->rq[i] == NULL) {
		r->rq[i] = calloc(1, sizeof(struct iosched_request));
		if (r->rq[i] != NULL)
			r->rq[i]->user = &r->rq[i];
	}
	return r->rq[i];
}

static unsigned id_of(const struct replay *r, const struct iosched_request *rq)
{
	return (unsigned)((struct iosched_request **)rq->user - r->rq);
}

static uint32_t flags_of(const char *text)
{
	return (strchr(text, 'S') ? (uint32_t)IOSCHED_RQ_SYNC : 0) |
	       (strchr(text, 'M') ? (uint32_t)IOSCHED_RQ_META : 0) |
	       (strchr(text, 'N') ? (uint32_t)IOSCHED_RQ_NOIDLE : 0);
}

/* The kernel's class 0 is "none given", which is ours when class and level are 0. */
static bool set_priority(struct iosched_request *rq, const char *text)
{
	static const uint8_t ours[] = {IOSCHED_BEST_EFFORT, IOSCHED_REALTIME, IOSCHED_BEST_EFFORT,
				       IOSCHED_IDLE};

	if (strlen(text) != 3 || text[0] < '0' || text[0] > '3' || text[1] != '.' ||
	    text[2] < '0' || text[2] > '7')
		return false;
	rq->prio_class = ours[text[0] - '0'];
	rq->prio_level = text[0] == '0' ? 0 : (uint8_t)(text[2] - '0' + 1);
	return true;
}

static void insert_answer(struct replay *r, struct outcome *o)
{
	char letter = r->first == IOSCHED_EVENT_FRONT_MERGE ? 'F' : 'B';
	const struct iosched_request *gone = r->swallowed != NULL ? r->swallowed : r->victim;

	if (r->parent == NULL)
		snprintf(o->answer, sizeof(o->answer), "Q");
	else if (gone == NULL)
		snprintf(o->answer, sizeof(o->answer), "%c %u", letter, id_of(r, r->parent));
	else
		snprintf(o->answer, sizeof(o->answer), "%c %u x %u", letter, id_of(r, r->parent),
			 id_of(r, gone));
}

/* The table of requests may move when it grows: point each back at its slot. */
static void refresh_slots(struct replay *r)
{
	size_t i;

	for (i = 0; i < r->n_rq; i++)
		if (r->rq[i] != NULL)
			r->rq[i]->user = &r->rq[i];
}

/* I id ctx R|W flags sector nsect class.level */
static bool op_insert(struct replay *r, char **f, unsigned n, struct outcome *o)
{
	struct iosched_request **before = r->rq;
	struct iosched_request *rq = n < 8 ? NULL : request(r, f[1], true);
	uint64_t context, sector, count;

	if (rq == NULL || !number(f[2], &context) || !number(f[5], &sector) ||
	    !number(f[6], &count) || !set_priority(rq, f[7]))
		return fail(r, "I needs: id ctx R|W flags sector nsect class.level");
	if (r->rq != before)
		refresh_slots(r);
	rq->context = context + 1; /* 0 is nobody in particular */
	rq->op = f[3][0] == 'R' ? IOSCHED_READ : IOSCHED_WRITE;
	rq->flags = flags_of(f[4]);
	rq->offset = sector * SECTOR;
	rq->length = count * SECTOR;
	r->first = IOSCHED_EVENT_INSERT;
	r->parent = r->victim = r->swallowed = NULL;
	if (iosched_insert(r->queue, rq, r->now) != 0)
		return fail(r, "insert was refused");
	insert_answer(r, o);
	return true;
}

static bool op_dispatch(struct replay *r, struct outcome *o)
{
	struct iosched_request *rq = iosched_dispatch(r->queue, r->now);

	if (rq == NULL)
		snprintf(o->answer, sizeof(o->answer), "-");
	else
		snprintf(o->answer, sizeof(o->answer), "%u", id_of(r, rq));
	return true;
}

static bool op_complete(struct replay *r, char **f, unsigned n)
{
	struct iosched_request *rq = n < 2 ? NULL : request(r, f[1], false);

	if (rq == NULL || iosched_complete(r->queue, rq, r->now) != 0)
		return fail(r, "complete was refused: not in flight");
	return true;
}

static bool op_exit(struct replay *r, char **f, unsigned n)
{
	uint64_t context;

	if (n < 2 || !number(f[1], &context))
		return fail(r, "X needs a context");
	iosched_context_exit(r->queue, context + 1, r->now); /* unknown: never asked for anything */
	return true;
}

static bool op_timer(struct replay *r)
{
	iosched_time due = iosched_next_wakeup(r->queue);

	if (due != r->now)
		return fail(r, "the trace's timer fires now, ours is due at %llu",
			    (unsigned long long)due);
	iosched_timer(r->queue, r->now);
	return true;
}

static bool perform(struct replay *r, char **f, unsigned n, struct outcome *o)
{
	switch (f[0][0]) {
	case 'I':
		return op_insert(r, f, n, o);
	case 'D':
		return op_dispatch(r, o);
	case 'C':
		return op_complete(r, f, n);
	case 'X':
		return op_exit(r, f, n);
	case 'T':
		return op_timer(r);
	default:
		return fail(r, "unknown op '%s'", f[0]);
	}
}

/* ---- comparing ---- */

static void append(char *to, size_t size, const char *text)
{
	size_t n = strlen(to);

	snprintf(to + n, size - n, "%s%s", n == 0 ? "" : " ", text);
}

/* What we did, as the trace would write it. */
static void describe(const struct outcome *o, bool timer_op, char *out, size_t size)
{
	char part[40];

	out[0] = '\0';
	if (o->answer[0] != '\0')
		append(out, size, o->answer);
	if (o->kick != 0) {
		snprintf(part, sizeof(part), "k=%u", o->kick);
		append(out, size, part);
	}
	if (!o->timer_changed && !timer_op)
		return;
	if (o->timer == IOSCHED_NEVER)
		snprintf(part, sizeof(part), "tm=-");
	else
		snprintf(part, sizeof(part), "tm=%llu", (unsigned long long)o->timer);
	append(out, size, part);
}

static bool is_outcome(const char *field)
{
	return strncmp(field, "k=", 2) == 0 || strncmp(field, "tm=", 3) == 0;
}

/* What the line says came of it: all behind `=`, or the annotations alone. */
static void expected(char **f, unsigned n, char *out, size_t size)
{
	bool answer = false;
	unsigned i;

	out[0] = '\0';
	for (i = 1; i < n; i++) {
		if (answer || is_outcome(f[i]))
			append(out, size, f[i]);
		if (strcmp(f[i], "=") == 0)
			answer = true;
	}
}

static bool take_time(struct replay *r, const char *field)
{
	if (strcmp(field, ".") == 0)
		return true;
	return number(field, &r->now) || fail(r, "'%s' is not a time", field);
}

static bool op(struct replay *r, char **f, unsigned n)
{
	struct outcome o = {.answer = ""};
	char want[160], got[160];
	iosched_time timer;

	if (n < 2)
		return fail(r, "a line needs a time and an op");
	if (r->queue == NULL && !build_queue(r))
		return false;
	if (!take_time(r, f[0]))
		return false;
	timer = iosched_next_wakeup(r->queue);
	r->kick = 0;
	if (!perform(r, f + 1, n - 1, &o))
		return false;
	o.kick = r->kick;
	o.timer = iosched_next_wakeup(r->queue);
	o.timer_changed = o.timer != timer;
	describe(&o, f[1][0] == 'T', got, sizeof(got));
	expected(f + 1, n - 1, want, sizeof(want));
	r->ops++;
	if (strcmp(want, got) != 0)
		return fail(r, "the trace answers \"%s\", we answer \"%s\"", want, got);
	return true;
}

bool replay_line(struct replay *r, char *line)
{
	char *field[MAX_FIELDS];
	unsigned n = split(line, field);

	r->line++;
	if (n == 0)
		return true;
	if (field[0][0] == '#')
		return header(r, field, n);
	return op(r, field, n);
}

bool replay_end(struct replay *r)
{
	return r->ops != 0 || fail(r, "no op in this file");
}

struct replay *replay_begin(const char *name)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->max_sectors = 1024;
	return r;
}

const char *replay_error(const struct replay *r)
{
	return r->error;
}

/* A trace may end with requests outstanding: end them, so that the queue can go. */
static void finish_queue(struct replay *r)
{
	size_t i;

	while (iosched_drain(r->queue, r->now) != NULL)
		;
	for (i = 0; i < r->n_rq; i++)
		if (r->rq[i] != NULL)
			iosched_complete(r->queue, r->rq[i], r->now);
	if (iosched_destroy(r->queue) != 0) {
		fprintf(stderr, "%s: the queue does not end\n", r->name);
		abort();
	}
}

void replay_free(struct replay *r)
{
	size_t i;

	if (r->queue != NULL)
		finish_queue(r);
	for (i = 0; i < r->n_rq; i++)
		free(r->rq[i]);
	free(r->rq);
	free(r);
}
