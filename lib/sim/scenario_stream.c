/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: one statement `stream`.
 *
 * A draft holds what the words say; at the end copies are made of it, each with its part of
 * the region and a context of its own unless it is told to share.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/load.h"
#include "sim/scenario.h"

struct draft {
	struct ios_scn_group group;
	struct iosched_sim_stream s;
	bool split;	  /* the region is divided among the copies */
	bool shared;	  /* the copies take turns at one position */
	bool interleaved; /* the copies take the requests of one region by turns */
	bool one_context; /* the copies are threads of one context */
	uint64_t said;	  /* a bit for each word */
};

/* --- Small readers --- */

/* A byte of the device, as a size or as a share of it. Whole blocks, so that requests that are
 * aligned in their region are aligned on the device. */
static int parse_place(struct ios_scn_reader *r, const struct ios_scn_word *w, const char *text,
		       uint64_t *out)
{
	size_t n = strlen(text);

	if (n == 0 || text[n - 1] != '%')
		return ios_scn_parse_value(r->s, w, IOS_SIM_UNIT_BYTES, text, out);
	if (!ios_scn_parse_ppm(text, out) || *out > IOS_SCN_PPM)
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "\"%.40s\" is not a share of the device such as 95%%", text);
	*out = ios_sim_muldiv(r->s->capacity, *out, IOS_SCN_PPM) / 4096 * 4096;
	return 0;
}

/* "A..B": B is NULL if there are no points. */
static char *cut_range(char *text)
{
	char *points = strstr(text, "..");

	if (points == NULL)
		return NULL;
	*points = '\0';
	return points + 2;
}

static int read_region(struct ios_scn_reader *r, struct draft *d)
{
	const struct ios_scn_word *w;
	uint64_t from;
	uint64_t to;
	char *second;
	int err = ios_scn_want(r, "a region such as 0..2GiB", &w);

	if (err != 0)
		return err;
	second = ios_scn_is_unit(ios_scn_peek(r)) ? NULL : cut_range(w->text);
	if (second == NULL)
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "\"%.40s\" is not a region such as 0..2GiB or 50%%..100%% "
				    "(without blanks)",
				    w->text);
	err = parse_place(r, w, w->text, &from);
	if (err == 0)
		err = parse_place(r, w, second, &to);
	if (err == 0 && from >= to)
		err = ios_scn_fail(r->s, w->line, -EINVAL, "the region ends where it begins");
	if (err != 0)
		return err;
	d->s.region_offset = from;
	d->s.region_length = to - from;
	return 0;
}

static int read_spread(struct ios_scn_reader *r, struct draft *d, const struct ios_scn_word *w,
		       const char *second)
{
	uint64_t from;
	uint64_t to;
	int err = ios_scn_parse_value(r->s, w, IOS_SIM_UNIT_NS, w->text, &from);

	if (err == 0)
		err = ios_scn_parse_value(r->s, w, IOS_SIM_UNIT_NS, second, &to);
	if (err != 0)
		return err;
	if (from > to || to > UINT64_MAX / 4)
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "a think time that ends before it "
				    "begins");
	d->s.think = IOSCHED_SIM_UNIFORM;
	d->s.think_ns = (from + to) / 2;
	d->s.think_spread_ns = (to - from) / 2;
	return 0;
}

static int read_think(struct ios_scn_reader *r, struct draft *d)
{
	const struct ios_scn_word *w = NULL;
	bool exponential = ios_scn_take(r, "exponential");
	char *second;

	if (ios_scn_peek(r) != NULL && strstr(ios_scn_peek(r)->text, "..") != NULL) {
		w = &r->words[r->at++];
		second = cut_range(w->text);
		return read_spread(r, d, w, second);
	}
	d->s.think = exponential ? IOSCHED_SIM_EXPONENTIAL : IOSCHED_SIM_FIXED;
	return ios_scn_number(r, "a time to think", IOS_SIM_UNIT_NS, &d->s.think_ns);
}

/* "20/s": arrivals so far apart. */
static int read_rate(struct ios_scn_reader *r, struct draft *d)
{
	unsigned line = ios_scn_line(r);
	uint64_t ppm;
	int err = ios_scn_per_second(r, "a rate such as 20/s", true, &ppm);

	if (err != 0)
		return err;
	if (ppm == 0 || ppm > NSEC_PER_SEC * IOS_SCN_PPM)
		return ios_scn_fail(r->s, line, -ERANGE,
				    "the rate is outside 0.000001/s..1000000000/s");
	d->s.open_loop = 1;
	d->s.think = ios_scn_take(r, "poisson") ? IOSCHED_SIM_EXPONENTIAL : IOSCHED_SIM_FIXED;
	d->s.think_ns = ios_sim_muldiv(NSEC_PER_SEC, IOS_SCN_PPM, ppm);
	return 0;
}

static int read_mixed(struct ios_scn_reader *r, struct draft *d)
{
	uint64_t ppm;
	int err = ios_scn_share(r, "a share of reads such as 70%", &ppm);

	if (err == 0)
		d->s.read_permyriad = (uint32_t)(ppm / 100);
	return err;
}

/* --- Words --- */

#define MAX_DEPTH (UINT32_C(1) << 20) /* of a stream, as sim.h has it */

enum word {
	READ,
	WRITE,
	MIXED,
	SEQUENTIAL,
	RANDOM,
	SIZE,
	IN,
	ALIGN,
	DEPTH,
	REFILL,
	THINK,
	RATE,
	SYNC,
	FUA,
	META,
	NOMERGE,
	NOIDLE,
	FSYNC,
	CONTEXT,
	GROUP,
	WEIGHT,
	GROUP_WEIGHT,
	CLASS,
	LEVEL,
	START,
	STOP,
	COUNT,
	SPLIT,
	SHARED,
	ONE_CONTEXT,
	INTERLEAVED,
	AFTER,
	AHEAD,
	BURST,
	POSITION,
};

static const char *const words[] = {
	[READ] = "read",
	[WRITE] = "write",
	[MIXED] = "mixed",
	[SEQUENTIAL] = "sequential",
	[RANDOM] = "random",
	[SIZE] = "size",
	[IN] = "in",
	[ALIGN] = "align",
	[DEPTH] = "depth",
	[REFILL] = "refill",
	[THINK] = "think",
	[RATE] = "rate",
	[SYNC] = "sync",
	[FUA] = "fua",
	[META] = "meta",
	[NOMERGE] = "nomerge",
	[NOIDLE] = "noidle",
	[FSYNC] = "fsync",
	[CONTEXT] = "context",
	[GROUP] = "group",
	[WEIGHT] = "weight",
	[GROUP_WEIGHT] = "group-weight",
	[CLASS] = "class",
	[LEVEL] = "level",
	[START] = "start",
	[STOP] = "stop",
	[COUNT] = "count",
	[SPLIT] = "split",
	[SHARED] = "shared",
	[ONE_CONTEXT] = "one-context",
	[INTERLEAVED] = "interleaved",
	[AFTER] = "after",
	[AHEAD] = "ahead",
	[BURST] = "burst",
	[POSITION] = "position",
	NULL,
};

static int read_op(struct draft *d, uint32_t read_permyriad)
{
	d->s.read_permyriad = read_permyriad;
	return 0;
}

static int flag(struct draft *d, uint32_t bit)
{
	d->s.read_flags |= bit;
	d->s.write_flags |= bit;
	return 0;
}

static int set(bool *what)
{
	*what = true;
	return 0;
}

static int pattern(struct draft *d, enum iosched_sim_pattern p)
{
	d->s.pattern = p;
	return 0;
}

static int read_word(struct ios_scn_reader *r, struct draft *d, enum word word)
{
	struct iosched_sim_stream *s = &d->s;

	switch (word) {
	case READ:
		return read_op(d, 10000);
	case WRITE:
		return read_op(d, 0);
	case MIXED:
		return read_mixed(r, d);
	case SEQUENTIAL:
		return pattern(d, IOSCHED_SIM_SEQUENTIAL);
	case RANDOM:
		return pattern(d, IOSCHED_SIM_RANDOM);
	case SIZE:
		return ios_scn_number(r, "a size", IOS_SIM_UNIT_BYTES, &s->request_bytes);
	case IN:
		return read_region(r, d);
	case ALIGN:
		return ios_scn_number(r, "a size", IOS_SIM_UNIT_BYTES, &s->align_bytes);
	case DEPTH:
		return ios_scn_ranged32(r, "a depth", 1, MAX_DEPTH, &s->depth);
	case REFILL:
		return ios_scn_ranged32(r, "a refill mark", 0, MAX_DEPTH - 1, &s->refill);
	case THINK:
		return read_think(r, d);
	case RATE:
		return read_rate(r, d);
	case SYNC:
		return flag(d, IOSCHED_RQ_SYNC);
	case FUA:
		return flag(d, IOSCHED_RQ_FUA);
	case META:
		return flag(d, IOSCHED_RQ_META);
	case NOMERGE:
		return flag(d, IOSCHED_RQ_NOMERGE);
	case NOIDLE:
		return flag(d, IOSCHED_RQ_NOIDLE);
	case FSYNC:
		return ios_scn_ranged32(r, "a number of writes", 1, UINT32_MAX, &s->flush_every);
	case CONTEXT:
		return ios_scn_name(r, "a context's name", &d->group.context);
	case GROUP:
		return ios_scn_group_name(r, &d->group.group);
	case WEIGHT:
		return ios_scn_weight(r, &s->weight);
	case GROUP_WEIGHT:
		return ios_scn_weight(r, &s->group_weight);
	case CLASS:
		return ios_scn_class(r, &s->prio_class);
	case LEVEL:
		return ios_scn_level(r, &s->prio_level);
	case START:
		return ios_scn_number(r, "a time", IOS_SIM_UNIT_NS, &s->start_ns);
	case STOP:
		return ios_scn_number(r, "a time", IOS_SIM_UNIT_NS, &s->stop_ns);
	case COUNT:
		return ios_scn_ranged(r, "a number of requests", 1, UINT64_MAX, &s->max_requests);
	case SPLIT:
		return set(&d->split);
	case SHARED:
		return set(&d->shared);
	case ONE_CONTEXT:
		return set(&d->one_context);
	case INTERLEAVED:
		return set(&d->interleaved);
	case AFTER:
		return ios_scn_want(r, "a stream's name", &d->group.after);
	case AHEAD:
		return ios_scn_ranged32(r, "a number of requests", 0, UINT32_MAX, &s->ahead);
	case POSITION:
		return ios_scn_name(r, "a position's name", &d->group.position);
	case BURST:
		s->refill = 0;
		return ios_scn_ranged32(r, "a number of requests", 1, MAX_DEPTH, &s->depth);
	}
	return 0;
}

#define BIT(word) (UINT64_C(1) << (word))

/* Words of which the second would silently undo the first. */
static const enum word rivals[][2] = {
	{READ, WRITE},	{READ, MIXED},	 {WRITE, MIXED}, {SEQUENTIAL, RANDOM},
	{DEPTH, BURST}, {REFILL, BURST}, {THINK, RATE},
};

/* Word number @i, @w, is new and goes with those before. */
static int check_rivals(const struct iosched_sim_scenario *s, const struct draft *d,
			const struct ios_scn_word *w, unsigned i)
{
	if ((d->said & BIT(i)) != 0)
		return ios_scn_fail(s, w->line, -EINVAL, "stream %s: a second \"%s\"",
				    d->group.name, words[i]);
	for (size_t k = 0; k < sizeof(rivals) / sizeof(rivals[0]); k++) {
		const enum word *pair = rivals[k];
		unsigned other = pair[pair[0] == i];

		if ((pair[0] == i || pair[1] == i) && (d->said & BIT(other)) != 0)
			return ios_scn_fail(s, w->line, -EINVAL,
					    "stream %s: \"%s\" and \"%s\" exclude each other",
					    d->group.name, words[other], words[i]);
	}
	return 0;
}

static int read_words(struct ios_scn_reader *r, struct draft *d)
{
	int err = 0;

	while (err == 0 && r->at < r->count) {
		const struct ios_scn_word *w = &r->words[r->at++];
		unsigned i = 0;

		while (words[i] != NULL && strcmp(words[i], w->text) != 0)
			i++;
		if (words[i] == NULL)
			return ios_scn_unknown(r->s, w, -EINVAL, "a word about streams",
					       ios_scn_listed, words);
		err = check_rivals(r->s, d, w, i);
		if (err == 0)
			err = read_word(r, d, (enum word)i);
		d->said |= BIT(i);
	}
	return err;
}

/* --- Copies --- */

/* "x4" behind the name. */
static int read_copies(struct ios_scn_reader *r, struct draft *d)
{
	const struct ios_scn_word *w = ios_scn_peek(r);
	uint64_t n;

	d->group.count = 1;
	if (w == NULL || w->text[0] != 'x' || w->text[1] < '0' || w->text[1] > '9')
		return 0;
	r->at++;
	if (ios_sim_param_parse(IOS_SIM_UNIT_NONE, w->text + 1, &n) != 0 || n < 1 ||
	    n > IOS_SCN_MAX_STREAMS - r->s->stream_count)
		return ios_scn_fail(r->s, w->line, -E2BIG,
				    "\"%.40s\" is not a number of copies from x1 to x%u", w->text,
				    IOS_SCN_MAX_STREAMS - r->s->stream_count);
	d->group.count = (unsigned)n;
	return 0;
}

/* The number of a name that an earlier group used for the same, or the next free one. */
static uint64_t context_number(struct iosched_sim_scenario *s, const char *name)
{
	for (unsigned i = 0; name != NULL && i < s->group_count; i++)
		if (s->groups[i].context != NULL && strcmp(s->groups[i].context, name) == 0)
			return s->streams[s->groups[i].first].s.context;
	return s->next_context++;
}

/* Copy @i takes requests i, i + count, i + 2 count ... */
static void place_by_turns(struct iosched_sim_stream *s, const struct draft *d, unsigned i)
{
	uint64_t ahead = i * d->s.request_bytes;

	s->stride_bytes = d->group.count * d->s.request_bytes;
	s->region_offset += ahead;
	s->region_length -= ahead;
}

/* Number of the position that these copies share with each other or with earlier groups. */
static uint32_t cursor_number(const struct iosched_sim_scenario *s, const struct draft *d)
{
	const char *name = d->group.position;

	for (unsigned i = 0; name != NULL && i < s->group_count; i++)
		if (s->groups[i].position != NULL && strcmp(s->groups[i].position, name) == 0)
			return s->streams[s->groups[i].first].s.cursor;
	return name != NULL || d->shared ? s->group_count + 1 : 0;
}

static int add_copy(struct iosched_sim_scenario *s, const struct draft *d, unsigned i)
{
	struct ios_scn_stream *all = ios_scn_grow(s->streams, s->stream_count, sizeof(*all));
	struct ios_scn_stream *copy;

	if (all == NULL)
		return -ENOMEM;
	s->streams = all;
	copy = &all[s->stream_count++];
	copy->s = d->s;
	if (i > 0 && d->group.context == NULL && !d->one_context)
		copy->s.context = s->next_context++;
	if (d->split)
		copy->s.region_offset += i * d->s.region_length;
	if (d->interleaved)
		place_by_turns(&copy->s, d, i);
	if (d->group.count == 1)
		snprintf(copy->name, sizeof(copy->name), "%s", d->group.name);
	else
		snprintf(copy->name, sizeof(copy->name), "%s.%u", d->group.name, i + 1);
	return 0;
}

/* Each copy's part of the region, in whole blocks. */
static int split_region(struct iosched_sim_scenario *s, struct draft *d, unsigned line)
{
	if (d->s.region_length == 0)
		d->s.region_length = s->capacity - d->s.region_offset;
	d->s.region_length = d->s.region_length / d->group.count / 4096 * 4096;
	if (d->s.region_length < d->s.request_bytes)
		return ios_scn_fail(s, line, -ERANGE,
				    "the region is too small to be split among %u", d->group.count);
	return 0;
}

/* Every copy has a request in the region. */
static int check_turns(struct iosched_sim_scenario *s, struct draft *d, unsigned line)
{
	if (d->s.region_length == 0)
		d->s.region_length = s->capacity - d->s.region_offset;
	if (d->s.request_bytes > d->s.region_length / d->group.count)
		return ios_scn_fail(s, line, -ERANGE, "the region is too small for %u by turns",
				    d->group.count);
	return 0;
}

/* What its words, taken together, cannot mean: the end of a sentence that begins with its name. */
static const char *draft_fault(const struct iosched_sim_scenario *s, const struct draft *d)
{
	if ((d->said & (BIT(READ) | BIT(WRITE) | BIT(MIXED))) == 0)
		return " does not say whether it is to read, write or mixed";
	if (d->s.open_loop && d->s.depth != 1)
		return " arrives at a rate, so it has no depth";
	if (d->interleaved && (d->split || d->shared || d->group.position != NULL ||
			       d->s.pattern == IOSCHED_SIM_RANDOM))
		return ": interleaved copies are sequential, and neither split nor shared";
	if (d->group.after != NULL && d->s.open_loop)
		return " arrives at a rate, so it waits for nobody";
	if (d->s.group_weight != 0 && d->group.group == NULL)
		return " has a group-weight and no group";
	if (s->instant && d->s.think_ns == 0 && d->s.max_requests == 0)
		return " never waits, nor does the device: give it think or count";
	return NULL;
}

static int check_draft(struct ios_scn_reader *r, struct draft *d)
{
	const char *fault = draft_fault(r->s, d);
	struct iosched_sim_error inner;
	unsigned line = ios_scn_line(r);
	int err;

	if (fault != NULL)
		return ios_scn_fail(r->s, line, -EINVAL, "stream %s%s", d->group.name, fault);
	err = d->split ? split_region(r->s, d, line) : 0;
	if (err == 0 && d->interleaved)
		err = check_turns(r->s, d, line);
	if (err == 0 && ios_sim_stream_check(&d->s, r->s->capacity, 0, &inner) != 0)
		err = ios_scn_fail(r->s, line, -ERANGE, "stream %s%s", d->group.name,
				   strlen(inner.text) > 8 ? inner.text + 8 : "");
	return err;
}

static int add_group(struct iosched_sim_scenario *s, struct draft *d)
{
	struct ios_scn_group *all;
	int err = 0;

	if (d->group.count > IOS_SCN_MAX_STREAMS - s->stream_count)
		return -E2BIG;
	d->group.first = s->stream_count;
	d->s.context = context_number(s, d->group.context);
	d->group.group_number = ios_scn_group_number(s, d->group.group);
	d->s.group = d->group.group_number;
	d->s.cursor = cursor_number(s, d);
	for (unsigned i = 0; err == 0 && i < d->group.count; i++)
		err = add_copy(s, d, i);
	all = ios_scn_grow(s->groups, s->group_count, sizeof(*all));
	if (err != 0 || all == NULL)
		return -ENOMEM;
	s->groups = all;
	all[s->group_count++] = d->group;
	return 0;
}

int ios_scn_stream(struct ios_scn_reader *r)
{
	uint64_t first = r->s->next_context;
	struct draft d = {.group.count = 1};
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "the stream's name", &w);

	iosched_sim_stream_init(&d.s, sizeof(d.s));
	if (err == 0)
		err = ios_scn_check_name(r, w->text, w->line);
	if (err == 0) {
		d.group.name = w->text;
		err = read_copies(r, &d);
	}
	if (err == 0)
		err = read_words(r, &d);
	if (err == 0)
		err = check_draft(r, &d);
	if (err == 0)
		err = add_group(r->s, &d);
	if (err == 0 && (d.s.weight != 0 || d.group.group != NULL))
		err = ios_scn_add_weighted(r, r->s->next_context - first);
	if (err == -E2BIG && r->s->stream_count == IOS_SCN_MAX_STREAMS)
		err = ios_scn_fail(r->s, ios_scn_line(r), err, "more than %d streams",
				   IOS_SCN_MAX_STREAMS);
	return err;
}
