/* SPDX-License-Identifier: MIT */
/*
 * generate: see generate.h. Records are Q, D and C in turn of one request after the other,
 * with completions a little out of order, as several CPUs make them.
 */
#include "generate.h"

#include <inttypes.h>
#include <string.h>

struct step {
	uint64_t time, sector;
	uint32_t sectors, pid, cpu;
	char action;
};

static struct step step_of(uint64_t number)
{
	uint64_t request = number / 3;
	uint64_t mixed = request * 0x9e3779b97f4a7c15u;

	return (struct step){
		.time = request * 1000 + number % 3 * 300 + (mixed >> 60) * 100,
		.sector = (mixed >> 33) & ~7ull,
		.sectors = 8u + (uint32_t)(mixed >> 20 & 0x78),
		.pid = 1000 + (uint32_t)(mixed >> 50 & 15),
		.cpu = (uint32_t)(mixed >> 40 & 7),
		.action = "QDC"[number % 3],
	};
}

static void put(struct generator *g, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		g->record[g->size++] = (char)(unsigned char)(value >> 8 * i & 0xff);
}

static void put_binary(struct generator *g, const struct step *s)
{
	g->size = 0;
	put(g, 0x65617407, 4);
	put(g, g->number, 4);
	put(g, s->time, 8);
	put(g, s->sector, 8);
	put(g, s->sectors * 512, 4);
	put(g, (s->action == 'Q' ? 1u : s->action == 'D' ? 7u : 8u) | 2u << 16, 4);
	put(g, s->pid, 4);
	put(g, 0x00800010, 4);
	put(g, s->cpu, 4);
	put(g, 0, 4);
}

static void put_text(struct generator *g, const struct step *s)
{
	int n;

	if (g->format == IOSCHED_TRACE_NATIVE)
		n = snprintf(g->record, sizeof(g->record),
			     "%s%" PRIu64 " %u W S %" PRIu64
			     " %u dev=8388624 event=%c proc=worker\n",
			     g->number == 0 ? "# iosched-trace 1\n" : "", s->time, s->pid,
			     s->sector * 512, s->sectors * 512, s->action);
	else
		n = snprintf(g->record, sizeof(g->record),
			     "  8,16 %3u %8" PRIu64 " %5" PRIu64 ".%09" PRIu64
			     " %5u  %c  WS %" PRIu64 " + %u [%s]\n",
			     s->cpu, g->number, s->time / 1000000000, s->time % 1000000000, s->pid,
			     s->action, s->sector, s->sectors, s->action == 'C' ? "0" : "worker");
	g->size = (size_t)n;
}

static bool refill(struct generator *g)
{
	struct step step = step_of(g->number);

	if (g->left == 0)
		return false;
	if (g->format == IOSCHED_TRACE_BLKTRACE)
		put_binary(g, &step);
	else
		put_text(g, &step);
	g->number++;
	g->at = 0;
	g->left -= g->left < g->size ? g->left : g->size;
	return true;
}

int64_t generate(void *user, void *buffer, size_t size)
{
	struct generator *g = user;
	size_t given = 0;

	while (given < size && (g->at < g->size || refill(g))) {
		size_t n = g->size - g->at < size - given ? g->size - g->at : size - given;

		memcpy((char *)buffer + given, g->record + g->at, n);
		g->at += n;
		given += n;
	}
	return (int64_t)given;
}
