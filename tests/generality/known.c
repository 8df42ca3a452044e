/* SPDX-License-Identifier: MIT */
#include "known.h"

#include <stddef.h>
#include <string.h>

const char *const claim_names[CLAIMS] = {"total", "share", "fsync", "wait"};

/* In the order of the first ten loads. */
static const struct row {
	const char *device;
	double error[KNOWN_LOADS];
} table[] = {
	{"hdd-5400", {0, 0, 0, 0, 0, 0, 6, 9, 9, 0}},
	{"hdd-5400-wt", {0, 0, 0, 0, 0, 0, 0, 14, 29, 0}},
	{"hdd-10k", {0, 0, 0, 0, 0, 0, 0, 0, 2, 0}},
	{"hdd-4200", {0, 0, 0, 1, 1, 0, 17, 6, 39, 0}},
	{"raid0-2", {13, 0, 0, 0, 0, 4, 12, 8, 2, 1}},
	{"raid0-2-wt", {13, 0, 0, 0, 2, 4, 11, 1, 2, 1}},
	{"emmc", {40, 0, 0, 2, 2, 17, 29, 6, 0, 0}},
	{"nvme", {0, 0, 0, 0, 0, 0, 32, 6, 3, 0}},
	{"ssd-stalls", {0, 0, 0, 26, 0, 0, 32, 6, 3, 0}},
};

static const struct row *row_of(const struct device *d)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].device, d->name) == 0)
			return &table[i];
	return NULL;
}

static long column_of(const struct load *l)
{
	return l - loads;
}

bool known_cell(const struct device *d, const struct load *l)
{
	return column_of(l) < KNOWN_LOADS && row_of(d) != NULL;
}

double known_error(const struct device *d, const struct load *l)
{
	return known_cell(d, l) ? row_of(d)->error[column_of(l)] : 0;
}

static const struct exception {
	const char *device, *load;
	enum claim claim;
	const char *why;
} exceptions[] = {
	{"hdd-10k", "seq + seq", CLAIM_TOTAL, "the drive itself keeps to one for half a second"},
	{"emmc", "seq + random", CLAIM_SHARE, "a long read takes both channels"},
	{"emmc", "seq + random async", CLAIM_SHARE,
	 "one small write at a time beside a reader is less than half of two channels"},
	{"emmc", "fsync + seq + random + async", CLAIM_WAIT,
	 "one write of 84 ms at a time beside readers; the design had 6.5 s"},
	{"nvme", "seq + async", CLAIM_SHARE, "writeback goes in bursts of 40 ms"},
	{"nvme", "fsync + seq + random + async", CLAIM_FSYNC, "writeback goes in bursts of 40 ms"},
	{"hdd-5400-wt", "16 flows", CLAIM_WAIT, "60 requests a second: all is late, rescue is all"},
	{"hdd-4200", "seq + async", CLAIM_SHARE, "what it caches shows up in the reads behind"},
	{"nvme", "fsync + seq + random + async", CLAIM_TOTAL,
	 "others let writeback have nearly all"},
	{"ssd-stalls", "16 flows", CLAIM_TOTAL, "others let writeback have nearly all"},
};

const char *known_not_to_hold(const struct device *d, const struct load *l, enum claim claim)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].claim == claim && strcmp(exceptions[i].device, d->name) == 0 &&
		    strcmp(exceptions[i].load, l->name) == 0)
			return exceptions[i].why;
	return NULL;
}
