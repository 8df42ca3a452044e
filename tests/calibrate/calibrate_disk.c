/* SPDX-License-Identifier: MIT */
/*
 * calibrate_disk: fit the hdd model to a real drive, and say how well it fits.
 *
 *   calibrate_disk [-c] [-d DEVICE.conf] TRACE [SEEKFILE]
 *
 * TRACE has a request, its measured service time and the pause before the next one a
 * line (the "validate" format). The model is given the same requests at the same pauses, one at
 * a time. Parameters are fitted to the first half of the trace; the second half judges.
 * With -c nothing is fitted: the values of DEVICE.conf are judged. Standard output is a
 * device file with the figures as comments.
 *
 * The figure is the demerit (Ruemmler and Wilkes, 1994): the rms horizontal distance between
 * the distributions of measured and simulated service times.
 *
 * Fitting: one parameter after the other goes up and down by a step while that helps;
 * then the steps are halved. What is made small is the demerit of reads and writes, each
 * against its own kind, over the first half.
 *
 * SEEKFILE has measured seek times by distance in cylinders; the model's seek curve is
 * fitted to them in the same way and its rms error printed.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <iosched/trace.h>

#include "sim/arith.h"
#include "sim/device.h"
#include "sim/hdd_geometry.h"

#define MAX_SAMPLES 100000
#define MAX_TEXT 8192

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "calibrate_disk: %s: %s\n", what, why);
	exit(1);
}

/* --- The measurement --- */

struct sample {
	uint8_t op;
	uint64_t offset;
	uint64_t length;
	uint64_t pause; /* ns from its end to the next */
	uint64_t measured;
	uint64_t simulated;
};

static struct sample samples[MAX_SAMPLES];
static size_t sample_count;

static void add_sample(const struct iosched_trace_record *rec, iosched_time *last_end)
{
	if (sample_count == MAX_SAMPLES)
		die("trace", "more than 100000 requests");
	if (sample_count > 0)
		samples[sample_count - 1].pause = rec->time - *last_end;
	samples[sample_count++] = (struct sample){.op = rec->op,
						  .offset = rec->offset,
						  .length = rec->length,
						  .measured = rec->latency};
	*last_end = rec->time + rec->latency;
}

static void read_trace(const char *path)
{
	struct iosched_trace_options options;
	struct iosched_trace *t;
	struct iosched_trace_record rec;
	iosched_time last_end = 0;
	int got;

	iosched_trace_options_init(&options, sizeof(options));
	options.format = IOSCHED_TRACE_VALIDATE;
	if (iosched_trace_open(&t, path, &options) != 0)
		die(path, iosched_trace_error(t));
	while ((got = iosched_trace_next(t, &rec)) > 0)
		add_sample(&rec, &last_end);
	if (got < 0)
		die(path, iosched_trace_error(t));
	iosched_trace_close(t);
	if (sample_count < 100)
		die(path, "fewer than 100 requests say nothing");
}

/* --- The model under the same requests --- */

struct play {
	struct ios_sim_engine engine;
	struct ios_sim_ledger ledger;
	struct ios_sim_device *device;
	struct ios_sim_command cmd;
	struct ios_sim_piece piece;
	struct ios_sim_event next;
	size_t at;
};

static void request_ends(struct ios_sim_command *cmd, int error)
{
	struct play *p = cmd->user;
	struct sample *s = &samples[p->at];

	(void)error; /* the hdd model fails nothing */
	s->simulated = p->engine.now - cmd->arrived;
	if (++p->at < sample_count)
		ios_sim_schedule(&p->engine, &p->next, p->engine.now + s->pause);
}

static void request_comes(void *owner)
{
	struct play *p = owner;
	const struct sample *s = &samples[p->at];

	p->piece = (struct ios_sim_piece){s->offset, s->length, 1, NULL};
	p->cmd = (struct ios_sim_command){.offset = s->offset,
					  .length = s->length,
					  .op = s->op,
					  .pieces = &p->piece,
					  .done = request_ends,
					  .user = p};
	ios_sim_device_submit(p->device, &p->cmd);
}

static uint64_t trace_end(void)
{
	uint64_t end = 0;

	for (size_t i = 0; i < sample_count; i++)
		if (samples[i].offset + samples[i].length > end)
			end = samples[i].offset + samples[i].length;
	return end;
}

/* False: the model refuses these values; @why says it. */
static bool play_trace(const char *text, const struct iosched_sim_setting *settings, unsigned count,
		       struct iosched_sim_error *why)
{
	struct ios_sim_device_choice choice = {.name = "hdd",
					       .text = text,
					       .text_name = "device",
					       .overrides = settings,
					       .override_count = count};
	struct play p = {.at = 0};

	ios_sim_engine_init(&p.engine);
	ios_sim_ledger_init(&p.ledger);
	if (ios_sim_device_create(&p.device, &choice, &p.engine, &p.ledger, why) != 0)
		return false;
	if (p.device->model != &ios_sim_hdd_model)
		die("device", "not of model hdd");
	if (trace_end() > p.device->capacity)
		die("device", "the trace goes past its capacity");
	ios_sim_event_init(&p.next, request_comes, &p);
	ios_sim_schedule(&p.engine, &p.next, 0);
	if (ios_sim_engine_run(&p.engine) != 0)
		die("simulation", "out of memory");
	ios_sim_device_destroy(p.device);
	ios_sim_engine_fini(&p.engine);
	ios_sim_ledger_fini(&p.ledger);
	return true;
}

/* --- The demerit --- */

#define ANY_OP 255

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return (*x > *y) - (*x < *y);
}

struct figure {
	size_t count;
	double squares;	 /* of horizontal distances, ns^2 */
	double measured; /* sum, ns */
	double simulated;
};

/* Of the requests in [from, to) of this kind. */
static struct figure compare_distributions(size_t from, size_t to, uint8_t op)
{
	static uint64_t measured[MAX_SAMPLES];
	static uint64_t simulated[MAX_SAMPLES];
	struct figure f = {0};

	for (size_t i = from; i < to; i++) {
		if (op != ANY_OP && samples[i].op != op)
			continue;
		measured[f.count] = samples[i].measured;
		simulated[f.count++] = samples[i].simulated;
	}
	qsort(measured, f.count, sizeof(measured[0]), compare);
	qsort(simulated, f.count, sizeof(simulated[0]), compare);
	for (size_t i = 0; i < f.count; i++) {
		double d = (double)measured[i] - (double)simulated[i];

		f.squares += d * d;
		f.measured += (double)measured[i];
		f.simulated += (double)simulated[i];
	}
	return f;
}

static double rms_of(const struct figure *f)
{
	return f->count == 0 ? 0 : sqrt(f->squares / (double)f->count);
}

static double share_of(const struct figure *f)
{
	return f->count == 0 ? 0 : rms_of(f) / (f->measured / (double)f->count);
}

static void print_figure(const char *what, const struct figure *f)
{
	double n = f->count == 0 ? 1 : (double)f->count;

	printf("# %-18s %5zu requests, mean %.3f ms, model's %.3f ms, demerit %.3f ms = %.1f %%\n",
	       what, f->count, f->measured / n / 1e6, f->simulated / n / 1e6, rms_of(f) / 1e6,
	       100 * share_of(f));
}

/* --- Fitting --- */

/* What is fitted, in this order, and by what share it goes up and down at first. */
struct knob {
	const char *name;
	bool whole; /* a step is doubling or halving, always */
	uint64_t value;
	char text[24];
};

static struct knob knobs[] = {
	{.name = "overhead"},
	{.name = "bus_rate"},
	{.name = "seek_track"},
	{.name = "seek_average"},
	{.name = "seek_full"},
	{.name = "switch_time"},
	{.name = "rate_outer"},
	{.name = "rate_inner"},
	{.name = "readahead", .whole = true},
	{.name = "segment_size", .whole = true},
	{.name = "segments", .whole = true},
};

#define KNOBS (sizeof(knobs) / sizeof(knobs[0]))

static struct iosched_sim_setting settings[KNOBS];

static void set_knob(struct knob *k, uint64_t value)
{
	k->value = value;
	snprintf(k->text, sizeof(k->text), "%" PRIu64, value);
}

static double loss(const char *text)
{
	struct iosched_sim_error why;
	struct figure reads, writes;

	if (!play_trace(text, settings, KNOBS, &why))
		return INFINITY;
	reads = compare_distributions(0, sample_count / 2, IOSCHED_READ);
	writes = compare_distributions(0, sample_count / 2, IOSCHED_WRITE);
	return sqrt((reads.squares + writes.squares) / (double)(reads.count + writes.count));
}

static bool try_value(const char *text, struct knob *k, uint64_t value, double *best)
{
	uint64_t before = k->value;
	double got;

	if (value == before)
		return false;
	set_knob(k, value);
	got = loss(text);
	if (got < *best) {
		*best = got;
		return true;
	}
	set_knob(k, before);
	return false;
}

static bool turn_knob(const char *text, struct knob *k, double step, double *best)
{
	double factor = k->whole ? 2 : 1 + step;
	bool better = false;

	while (try_value(text, k, (uint64_t)((double)k->value * factor) + !k->whole, best))
		better = true;
	if (better)
		return true;
	while (k->value > 1 && try_value(text, k, (uint64_t)((double)k->value / factor), best))
		better = true;
	return better;
}

static void turn_all(const char *text, double step, double *best)
{
	bool better = true;

	for (unsigned round = 0; better && round < 6; round++) {
		better = false;
		for (size_t i = 0; i < KNOBS; i++)
			better |= turn_knob(text, &knobs[i], step, best);
	}
}

/* From a third down to half a percent, and again from where that led: the valley has side valleys.
 */
static void fit(const char *text)
{
	double best = loss(text);

	for (unsigned descent = 0; descent < 4; descent++)
		for (double step = 1. / 3; step > .004; step /= 2)
			turn_all(text, step, &best);
}

/* Where the knobs stand in the device file: the model's initial values unless it says. */
static void read_knobs(const char *text)
{
	struct iosched_sim_param p;

	for (size_t i = 0; i < KNOBS; i++) {
		struct ios_sim_line line = {0};
		const char *at = text;
		uint64_t value = 0;

		for (unsigned n = 0; iosched_sim_param_at("hdd", n, &p) == 0; n++)
			if (strcmp(p.name, knobs[i].name) == 0)
				value = p.initial;
		while (ios_sim_param_line(&at, &line, NULL) > 0)
			for (enum ios_sim_unit u = IOS_SIM_UNIT_NONE; u <= IOS_SIM_UNIT_RATE; u++)
				if (strcmp(line.name, knobs[i].name) == 0)
					ios_sim_param_parse(u, line.value, &value);
		set_knob(&knobs[i], value);
		settings[i] = (struct iosched_sim_setting){knobs[i].name, knobs[i].text};
	}
}

/* --- The seek curve --- */

#define MAX_SEEKS 4096
/* Sectors per cylinder in the geometry made for the purpose: enough for one cylinder to count as a
 * seek and not as a step to a near track. */
#define CYLINDER 1000

static struct {
	uint64_t distance;
	double ns;
} seeks[MAX_SEEKS];

static size_t seek_count;

static void read_seeks(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[128];
	double ms;

	if (f == NULL)
		die(path, strerror(errno));
	while (fgets(line, sizeof(line), f) != NULL && seek_count < MAX_SEEKS) {
		char *end;
		unsigned long long distance = strtoull(line, &end, 10);

		if (end == line || *end != ',')
			continue; /* the heading */
		ms = strtod(end + 1, NULL);
		seeks[seek_count].distance = distance;
		seeks[seek_count++].ns = ms * 1e6;
	}
	fclose(f);
	if (seek_count < 10)
		die(path, "fewer than 10 \"cylinders, ms\" lines");
}

static double seek_error(const uint64_t curve[3])
{
	uint64_t sectors = (seeks[seek_count - 1].distance + 1) * CYLINDER;
	struct ios_sim_geometry g = {
		.sectors = sectors,
		.zone_count = 1,
		.zone_sectors = sectors,
		.seek_track_ns = curve[0],
		.seek_third_ns = curve[1],
		.seek_full_ns = curve[2],
		.per_track = {CYLINDER / 4},
	};
	double squares = 0;

	if (curve[0] > curve[1] || curve[1] > curve[2])
		return INFINITY;
	for (size_t i = 0; i < seek_count; i++) {
		double d =
			(double)ios_sim_seek_ns(&g, 0, seeks[i].distance * CYLINDER) - seeks[i].ns;

		squares += d * d;
	}
	return sqrt(squares / (double)seek_count);
}

static void fit_seeks(const char *path)
{
	uint64_t curve[3] = {1000000, 8000000, 16000000};
	double best, mean = 0;

	read_seeks(path);
	best = seek_error(curve);
	for (double step = .25; step > .001; step /= 2)
		for (unsigned i = 0; i < 600; i++) {
			uint64_t *v = &curve[i % 3];
			uint64_t before = *v;
			double got;

			*v = (uint64_t)((double)*v * (i / 3 % 2 == 0 ? 1 + step : 1 / (1 + step)));
			got = seek_error(curve);
			if (got < best)
				best = got;
			else
				*v = before;
		}
	for (size_t i = 0; i < seek_count; i++)
		mean += seeks[i].ns / (double)seek_count;
	printf("# Seek curve %s: %zu distances, rms error %.3f ms = %.1f %% of their mean %.3f "
	       "ms, with\n#   seek_track = %" PRIu64 "us, seek_average = %" PRIu64
	       "us, seek_full = %" PRIu64 "us\n",
	       strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path, seek_count, best / 1e6,
	       100 * best / mean, mean / 1e6, curve[0] / 1000, curve[1] / 1000, curve[2] / 1000);
}

/* --- The program --- */

static void read_text(const char *path, char *text)
{
	FILE *f = fopen(path, "r");

	if (f == NULL)
		die(path, strerror(errno));
	if (fread(text, 1, MAX_TEXT - 1, f) == MAX_TEXT - 1)
		die(path, "too long");
	fclose(f);
}

static void print_figures(const char *path)
{
	struct figure all = compare_distributions(sample_count / 2, sample_count, ANY_OP);
	struct figure fitted = compare_distributions(0, sample_count / 2, ANY_OP);
	struct figure reads = compare_distributions(sample_count / 2, sample_count, IOSCHED_READ);
	struct figure writes = compare_distributions(sample_count / 2, sample_count, IOSCHED_WRITE);

	printf("# %s\n", strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
	print_figure("first half", &fitted);
	print_figure("second half", &all);
	print_figure("  its reads", &reads);
	print_figure("  its writes", &writes);
}

/* The device file as it was, without what was fitted, and that behind it. */
static void print_device(const char *text)
{
	const char *at = text;
	struct ios_sim_line line = {0};

	while (ios_sim_param_line(&at, &line, NULL) > 0) {
		bool fitted = false;

		for (size_t i = 0; i < KNOBS; i++)
			fitted |= strcmp(line.name, knobs[i].name) == 0;
		if (!fitted)
			printf("%s = %s\n", line.name, line.value);
	}
	for (size_t i = 0; i < KNOBS; i++)
		printf("%s = %s\n", knobs[i].name, knobs[i].text);
}

int main(int argc, char **argv)
{
	static char text[MAX_TEXT] = "model = hdd\n";
	struct iosched_sim_error why = {""};
	bool check_only = false;
	int option;

	while ((option = getopt(argc, argv, "cd:")) != -1) {
		if (option == 'c')
			check_only = true;
		else if (option == 'd')
			read_text(optarg, text);
		else
			return 2;
	}
	if (argc - optind < 1 || argc - optind > 2) {
		fprintf(stderr, "usage: calibrate_disk [-c] [-d DEVICE.conf] TRACE [SEEKFILE]\n");
		return 2;
	}
	read_trace(argv[optind]);
	read_knobs(text);
	if (!play_trace(text, NULL, 0, &why))
		die("device", why.text);
	if (!check_only) {
		fit(text);
		play_trace(text, settings, KNOBS, &why);
	}
	print_figures(argv[optind]);
	if (argc - optind == 2)
		fit_seeks(argv[optind + 1]);
	if (!check_only)
		print_device(text);
	return 0;
}
