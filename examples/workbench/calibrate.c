/* SPDX-License-Identifier: MIT */
/*
 * calibrate: measures a file or block device and prints the description of it that
 * fair-deadline wants: members of struct iosched_params, and tunables.
 *
 * The policy's model: a request costs base + bytes * per_byte. At saturation, per_byte is the
 * inverse of the rate of long contiguous requests, and base what short ones take beyond it;
 * alone, both come from the latencies of two sizes. Writes are only measured when asked for,
 * as that overwrites what is there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "blockdev.h"
#include "json.h"
#include "options.h"
#include "probe.h"
#include "table.h"
#include "units.h"
#include "workbench.h"

#define SMALL 4096u
#define LARGE (256u << 10) /* long enough that the base hardly counts, short enough to queue */

/* Half a turn at 15000 rpm is 2 ms; a mean below this is no platter's. */
#define DISK_LEAST_NS 1e6

enum load_id {
	SEQ_LARGE,
	SEQ_SMALL,
	SEQ_SOLO,
	RAND_1,
	RAND_4,
	RAND_6,
	RAND_16,
	RAND_32,
	RAND_LARGE,
	LOADS,
};

static const struct wb_load loads[2][LOADS] = {
	{
		[SEQ_LARGE] = {"sequential read", 4, LARGE, false, false},
		[SEQ_SMALL] = {"sequential read", 16, SMALL, false, false},
		[SEQ_SOLO] = {"sequential read", 1, SMALL, false, false},
		[RAND_1] = {"random read", 1, SMALL, true, false},
		[RAND_4] = {"random read", 4, SMALL, true, false},
		[RAND_6] = {"random read", 6, SMALL, true, false},
		[RAND_16] = {"random read", 16, SMALL, true, false},
		[RAND_32] = {"random read", 32, SMALL, true, false},
		[RAND_LARGE] = {"random read", 1, LARGE, true, false},
	},
	{
		[SEQ_LARGE] = {"sequential write", 4, LARGE, false, true},
		[SEQ_SMALL] = {"sequential write", 16, SMALL, false, true},
		[SEQ_SOLO] = {"sequential write", 1, SMALL, false, true},
		[RAND_1] = {"random write", 1, SMALL, true, true},
		[RAND_4] = {"random write", 4, SMALL, true, true},
		[RAND_6] = {"random write", 6, SMALL, true, true},
		[RAND_16] = {"random write", 16, SMALL, true, true},
		[RAND_32] = {"random write", 32, SMALL, true, true},
		[RAND_LARGE] = {"random write", 1, LARGE, true, true},
	},
};

/* Two of the serial model, six of each direction. */
#define MOST_TUNABLES 14

struct setting {
	char name[24];
	uint64_t value;
};

struct calibration {
	struct wb_probe probe;
	struct wb_blockdev device;
	unsigned directions; /* 1: reads only */
	struct wb_rate rates[2][LOADS];
	struct setting tunables[MOST_TUNABLES];
	unsigned tunable_count;
	double parallelism; /* random IOPS with 6 outstanding over those with 1 */
	enum iosched_parallel parallel;
};

/* --- from rates to the model --- */

/* What noise makes less than the least is the least; the bounds are the policy's own. */
static void set(struct calibration *c, const char *name, double value)
{
	const struct iosched_policy *policy = iosched_policy_find("fair-deadline");
	const struct iosched_tunable *t;
	struct setting *s = &c->tunables[c->tunable_count];

	for (unsigned i = 0; (t = iosched_tunable_list(policy, i)) != NULL; i++) {
		if (strcmp(t->name, name) != 0)
			continue;
		snprintf(s->name, sizeof(s->name), "%s", name);
		s->value = value < 1 ? 1 : (uint64_t)(value + 0.5);
		s->value = s->value < t->min ? t->min : s->value;
		s->value = s->value > t->max ? t->max : s->value;
		c->tunable_count++;
	}
}

static void set_of(struct calibration *c, const char *direction, const char *what, double value)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", direction, what);
	set(c, name, value);
}

static double best_random(const struct wb_rate *r)
{
	double best = 0;

	for (int i = RAND_1; i <= RAND_32; i++)
		best = r[i].per_s > best ? r[i].per_s : best;
	return best;
}

static void derive_direction(struct calibration *c, const struct wb_rate *r, const char *direction)
{
	double byte_ns = 1e9 / r[SEQ_LARGE].bytes_per_s;
	/* Medians: one latency that the host's scheduler stretched would bend the line. */
	double solo_byte_ns =
		(r[RAND_LARGE].median_ns - r[RAND_1].median_ns) / (double)(LARGE - SMALL);

	if (solo_byte_ns < 0)
		solo_byte_ns = 0;
	set_of(c, direction, "byte_ps", byte_ns * 1e3);
	set_of(c, direction, "seq_ns", 1e9 / r[SEQ_SMALL].per_s - SMALL * byte_ns);
	set_of(c, direction, "rand_ns", 1e9 / best_random(r) - SMALL * byte_ns);
	set_of(c, direction, "solo_rand_ns", r[RAND_1].median_ns - SMALL * solo_byte_ns);
	set_of(c, direction, "solo_seq_ns", r[SEQ_SOLO].median_ns - SMALL * solo_byte_ns);
	set_of(c, direction, "solo_byte_ps", solo_byte_ns * 1e3);
}

/* The policy's own bounds for disks that do not say: above 4 several arms, below 2.5 one. It
 * takes completions that leave 3 to 6 in flight, so 4 outstanding could not pass the upper one. */
static enum iosched_parallel judge_parallel(const struct calibration *c)
{
	if (c->device.rotational == 0 || c->parallelism > 4)
		return IOSCHED_PARALLEL_YES;
	return c->parallelism < 2.5 ? IOSCHED_PARALLEL_NO : IOSCHED_PARALLEL_UNKNOWN;
}

static void derive(struct calibration *c)
{
	const struct wb_rate *r = c->rates[0];
	double byte_ns = 1e9 / r[SEQ_LARGE].bytes_per_s;

	set(c, "position_ns", r[RAND_1].mean_ns - SMALL * byte_ns);
	set(c, "byte_ps", byte_ns * 1e3);
	derive_direction(c, r, "read");
	if (c->directions == 2)
		derive_direction(c, c->rates[1], "write");
	c->parallelism = r[RAND_6].per_s / r[RAND_1].per_s;
	c->parallel = judge_parallel(c);
}

static int measure(struct calibration *c, uint32_t seconds)
{
	uint64_t each_ns = seconds * UINT64_C(1000000000) / (LOADS * c->directions);

	for (unsigned d = 0; d < c->directions; d++)
		for (int i = 0; i < LOADS; i++) {
			int code = wb_probe_run(&c->probe, &loads[d][i], each_ns, &c->rates[d][i]);

			if (code != WB_OK)
				return code;
		}
	return WB_OK;
}

/* --- printing --- */

static const char *parallel_name(enum iosched_parallel parallel)
{
	switch (parallel) {
	case IOSCHED_PARALLEL_YES:
		return "IOSCHED_PARALLEL_YES";
	case IOSCHED_PARALLEL_NO:
		return "IOSCHED_PARALLEL_NO";
	case IOSCHED_PARALLEL_UNKNOWN:
		break;
	}
	return "IOSCHED_PARALLEL_UNKNOWN";
}

#define MOST_NOTES 4

static unsigned notes(const struct calibration *c, const char *out[MOST_NOTES])
{
	unsigned n = 0;

	if (!c->probe.direct)
		out[n++] =
			"no O_DIRECT here: the page cache, not the device, answered some requests";
	if (c->probe.holes)
		out[n++] = "the file has holes, and reads of them reach no device";
	if (c->device.rotational == 1 && c->rates[0][RAND_1].mean_ns < DISK_LEAST_NS)
		out[n++] =
			"it says it is rotational, yet random reads take less than 1 ms: a virtual "
			"disk (then 0 fits better), or a cache holds all that was read";
	if (c->directions == 1)
		out[n++] = "writes were not measured, their tunables keep the defaults; --write "
			   "measures them and overwrites the content";
	else
		out[n++] = "the content was overwritten";
	return n;
}

static int print_rates(const struct calibration *c)
{
	static const struct wb_column columns[] = {
		{NULL, "measured", true}, {NULL, "KiB", false},	 {NULL, "depth", false},
		{NULL, "MiB/s", false},	  {NULL, "IOPS", false}, {NULL, "mean us", false},
		{NULL, "p50 us", false},
	};
	struct wb_table t;
	char text[WB_TEXT_SIZE];

	wb_table_init(&t, columns, 7);
	for (unsigned d = 0; d < c->directions; d++)
		for (int i = 0; i < LOADS; i++) {
			const struct wb_rate *r = &c->rates[d][i];

			wb_table_add(&t, "%s", loads[d][i].name);
			wb_table_add(&t, "%u", loads[d][i].bytes / 1024);
			wb_table_add(&t, "%u", loads[d][i].depth);
			wb_table_add(&t, "%s", wb_digits_text(text, r->bytes_per_s / (1 << 20)));
			wb_table_add(&t, "%s", wb_digits_text(text, r->per_s));
			wb_table_add(&t, "%s", wb_digits_text(text, r->mean_ns / 1e3));
			wb_table_add(&t, "%s", wb_digits_text(text, r->median_ns / 1e3));
		}
	return wb_table_print(&t, 2);
}

static void print_member(const char *name, long value)
{
	if (value == WB_UNKNOWN)
		printf("    /* params.%s: unknown, keeps its default */\n", name);
	else
		printf("    params.%s = %ld;\n", name, value);
}

static void print_code(const struct calibration *c)
{
	puts("\nfor C, before iosched_create():");
	print_member("rotational", c->device.rotational);
	print_member("write_cache", c->device.write_cache);
	print_member("device_depth", c->device.depth);
	printf("    params.parallel = %s;\n", parallel_name(c->parallel));
	puts("    /* params.array: 1 for a controller with a non-volatile write cache; "
	     "not seen from here */");
	puts("after it:");
	for (unsigned i = 0; i < c->tunable_count; i++)
		printf("    iosched_tunable_set(queue, \"%s\", UINT64_C(%" PRIu64 "));\n",
		       c->tunables[i].name, c->tunables[i].value);
}

static const char *answer(long value)
{
	return value == WB_UNKNOWN ? "unknown" : value != 0 ? "yes" : "no";
}

static int print_text(const struct calibration *c)
{
	const struct wb_probe *p = &c->probe;
	const char *note[MOST_NOTES];
	char text[WB_TEXT_SIZE];
	unsigned count = notes(c, note);
	int code;

	printf("%s: %s of %s, device %u:%u, %s\n", p->path, p->block ? "block device" : "file",
	       wb_size_text(text, p->size), major(p->device), minor(p->device),
	       p->direct ? "O_DIRECT" : "through the page cache");
	code = print_rates(c);
	printf("rotational: %s; volatile write cache: %s; ", answer(c->device.rotational),
	       answer(c->device.write_cache));
	if (c->device.depth == WB_UNKNOWN)
		printf("depth: unknown\n");
	else
		printf("depth: %ld (%s)\n", c->device.depth, c->device.depth_from);
	printf("parallelism, 6 random reads at a time over 1: %s\n",
	       wb_digits_text(text, c->parallelism));
	for (unsigned i = 0; i < count; i++)
		printf("note: %s\n", note[i]);
	puts("\nfor the command line:");
	for (unsigned i = 0; i < c->tunable_count; i++)
		printf("    --tunable fair-deadline.%s=%" PRIu64 "\n", c->tunables[i].name,
		       c->tunables[i].value);
	print_code(c);
	return code;
}

static struct wb_json *rates_json(const struct calibration *c)
{
	struct wb_json *out = wb_json_array();

	for (unsigned d = 0; d < c->directions; d++)
		for (int i = 0; i < LOADS; i++) {
			const struct wb_load *load = &loads[d][i];
			const struct wb_rate *r = &c->rates[d][i];
			struct wb_json *row = wb_json_object();

			wb_json_set_text(row, "load", load->name);
			wb_json_set_number(row, "bytes", load->bytes);
			wb_json_set_number(row, "depth", load->depth);
			wb_json_set_number(row, "requests", r->requests);
			wb_json_set_real(row, "bytes_per_s", r->bytes_per_s);
			wb_json_set_real(row, "iops", r->per_s);
			wb_json_set_real(row, "mean_ns", r->mean_ns);
			wb_json_set_real(row, "median_ns", r->median_ns);
			wb_json_append(out, row);
		}
	return out;
}

/* What is unknown is not there. */
static struct wb_json *params_json(const struct calibration *c)
{
	struct wb_json *out = wb_json_object();

	if (c->device.rotational != WB_UNKNOWN)
		wb_json_set_number(out, "rotational", (uint64_t)c->device.rotational);
	if (c->device.write_cache != WB_UNKNOWN)
		wb_json_set_number(out, "write_cache", (uint64_t)c->device.write_cache);
	if (c->device.depth != WB_UNKNOWN)
		wb_json_set_number(out, "device_depth", (uint64_t)c->device.depth);
	wb_json_set_text(out, "parallel", parallel_name(c->parallel));
	return out;
}

static int print_json(const struct calibration *c)
{
	struct wb_json *out = wb_json_object();
	struct wb_json *tunables = wb_json_object();
	struct wb_json *said = wb_json_array();
	const char *note[MOST_NOTES];
	unsigned count = notes(c, note);

	for (unsigned i = 0; i < c->tunable_count; i++)
		wb_json_set_number(tunables, c->tunables[i].name, c->tunables[i].value);
	for (unsigned i = 0; i < count; i++) {
		struct wb_json *row = wb_json_object();

		wb_json_set_text(row, "note", note[i]);
		wb_json_append(said, row);
	}
	wb_json_set_text(out, "path", c->probe.path);
	wb_json_set_number(out, "bytes", c->probe.size);
	wb_json_set_bool(out, "block_device", c->probe.block);
	wb_json_set_bool(out, "direct", c->probe.direct);
	wb_json_set_bool(out, "written", c->directions == 2);
	wb_json_set(out, "measured", rates_json(c));
	wb_json_set_real(out, "parallelism", c->parallelism);
	wb_json_set(out, "params", params_json(c));
	wb_json_set(out, "tunables", tunables);
	wb_json_set(out, "notes", said);
	return wb_json_print(out);
}

static int run(const struct wb_options *o)
{
	struct calibration c = {.directions = o->write ? 2 : 1};
	int code;

	if (o->json && !wb_json_available())
		return WB_FAILED;
	code = wb_probe_open(&c.probe, o->operands[0], o->write);
	if (code == WB_OK && o->write)
		wb_complain("%s: overwriting its content", o->operands[0]);
	if (code == WB_OK)
		code = measure(&c, o->seconds);
	wb_probe_close(&c.probe);
	if (code != WB_OK)
		return code;
	wb_blockdev_look(&c.device, c.probe.device);
	derive(&c);
	return o->json ? print_json(&c) : print_text(&c);
}

const struct wb_verb wb_verb_calibrate = {
	.name = "calibrate",
	.operands = "FILE|DEVICE",
	.least = 1,
	.most = 1,
	.summary = "measure a real file or block device for fair-deadline",
	.help = "Reads it for --seconds, sequentially and at random, one and several at a time, "
		"and\n"
		"prints what fair-deadline wants to know of a device, as --tunable options and as "
		"C.\n"
		"A file stands for the part of the device it covers: make it large, and not "
		"sparse.\n"
		"Nothing else should use the device meanwhile. Nothing is written without "
		"--write.\n",
	.options = WB_BIT(SECONDS) | WB_BIT(WRITE) | WB_BIT(JSON),
	.run = run,
};
