/* SPDX-License-Identifier: MIT */
/*
 * The named devices, and making a device from a name, a text and single settings.
 * What is put together is a plan: a model, its values, and the plan of its members.
 *
 * A preset is text in the form users write: what it does not name is the model's default.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device.h"

static const struct ios_sim_model *const models[] = {
	&ios_sim_null_model, &ios_sim_fixed_model, &ios_sim_hdd_model,	 &ios_sim_raid_model,
	&ios_sim_ssd_model,  &ios_sim_net_model,   &ios_sim_fault_model,
};

#define MODELS (sizeof(models) / sizeof(models[0]))

struct preset {
	struct iosched_sim_preset public;
	const char *text;
};

#define HDD_5400                                                                      \
	"capacity = 320GB\nrpm = 5400\nrate_outer = 80MB/s\nrate_inner = 40MB/s\n"    \
	"seek_track = 2ms\nseek_average = 12ms\nseek_full = 22ms\noverhead = 100us\n" \
	"bus_rate = 270MB/s\n"
#define RAID0_2                                                                                  \
	"disks = 2\nmirrors = 1\ndepth = 62\nlink_rate = 1GB/s\noverhead = 0\nwrite_cache = 0\n" \
	"ahead_ring = 0\n"

/* Values are typical of such drives in the years when their reports on CFQ, anticipatory and
 * deadline were written; none is the measurement of a specimen. */
static const struct preset presets[] = {
	{{"null", "null", "takes no time, depth 64"}, ""},
	{{"fixed", "fixed", "1 ms per command, one at a time"}, ""},
	{{"hdd", "hdd", "7200 rpm SATA, 250 GB, 80 to 45 MB/s, NCQ 31, write cache 8 MiB"}, ""},
	{{"hdd-no-ncq", "hdd", "hdd that serves its commands in order, one at a time"},
	 "depth = 1\nncq_window = 1\n"},
	{{"hdd-in-order", "hdd", "hdd that takes 31 commands but serves them in order"},
	 "ncq_window = 1\n"},
	{{"hdd-110", "hdd", "7200 rpm SATA, 110 to 60 MB/s, write cache 8 MiB"},
	 "rate_outer = 110MB/s\nrate_inner = 60MB/s\n"},
	{{"hdd-110-wt", "hdd", "hdd-110 with its write cache off"},
	 "rate_outer = 110MB/s\nrate_inner = 60MB/s\nwrite_cache = 0\n"},
	{{"hdd-128", "hdd", "7200 rpm SATA, 128 to 70 MB/s, write cache 8 MiB"},
	 "rate_outer = 128MB/s\nrate_inner = 70MB/s\n"},
	{{"hdd-15k", "hdd", "15 000 rpm, 140 to 84 MB/s, 16 KiB read-ahead, write cache off"},
	 "rpm = 15000\nrate_outer = 140MB/s\nrate_inner = 84MB/s\nseek_track = 0.3ms\n"
	 "seek_average = 3.5ms\nseek_full = 7ms\nswitch_time = 0.5ms\noverhead = 100us\n"
	 "overhead_overlaps = on\nbus_rate = 300MB/s\ndepth = 32\nncq_age = 0.3s\n"
	 "readahead = 16KiB\npartial_hits = on\nwrite_cache = 0\n"},
	{{"hdd-15k-sas", "hdd", "15 200 rpm 2.5\" SAS, 300 GB, 162 to 108 MB/s, write cache off"},
	 "capacity = 585937500sectors\nrpm = 15200\nrate_outer = 162MB/s\n"
	 "rate_inner = 108MB/s\nseek_track = 0.3ms\nseek_average = 2.9ms\nseek_full = 6ms\n"
	 "overhead = 100us\nbus_rate = 550MB/s\nncq_age = 60ms\nwrite_cache = 0\n"},

	/* Disks on which fair-deadline was tried only after it had been tuned. Rates, turns, caches
	 * and depths are given there; seeks
	 * and overheads are typical of the classes. */
	{{"hdd-5400", "hdd", "5400 rpm 2.5\" SATA, 320 GB, 80 to 40 MB/s, write cache 8 MiB"},
	 HDD_5400 "write_cache = 8MiB\n"},
	{{"hdd-5400-wt", "hdd", "hdd-5400 with its write cache off, one command at a time"},
	 HDD_5400 "write_cache = 0\ndepth = 1\nncq_window = 1\n"},
	{{"hdd-10k", "hdd", "10 000 rpm SAS, 300 GB, 125 to 80 MB/s, write cache off, depth 16"},
	 "capacity = 300GB\nrpm = 10000\nrate_outer = 125MB/s\nrate_inner = 80MB/s\n"
	 "seek_track = 0.4ms\nseek_average = 4.5ms\nseek_full = 9.5ms\noverhead = 100us\n"
	 "bus_rate = 300MB/s\ndepth = 16\nncq_age = 0.5s\nwrite_cache = 0\n"},
	{{"hdd-4200", "hdd",
	  "4200 rpm 2.5\" PATA, 40 GB, 40 to 22 MB/s, write cache 2 MiB, depth 1"},
	 "capacity = 40GB\nrpm = 4200\nrate_outer = 40MB/s\nrate_inner = 22MB/s\n"
	 "seek_track = 2.5ms\nseek_average = 12ms\nseek_full = 23ms\noverhead = 200us\n"
	 "bus_rate = 100MB/s\ndepth = 1\nncq_window = 1\nsegments = 8\n"
	 "segment_size = 128KiB\nreadahead = 128KiB\nwrite_cache = 2MiB\n"},

	/* Twelve 15 200 rpm disks and a controller of 1 GB: the machine of the bonnie++ report of
	 * 2010. A disk takes 64 commands from the controller. */
	{{"raid10", "raid", "12 x hdd-15k-sas in RAID 10, chunk 64 KiB, write-back cache"},
	 "member.depth = 64\n"},
	{{"raid10-4", "raid", "4 x hdd-15k-sas in RAID 10, chunk 64 KiB, write-back cache"},
	 "disks = 4\nmember.depth = 64\n"},
	/* The stripe fair-deadline was tried on: two 7200 rpm disks, 64 KiB, depth 62, a host
	 * adapter without memory. */
	{{"raid0-2", "raid", "stripe of 2 x hdd-110, chunk 64 KiB, no controller cache, depth 62"},
	 RAID0_2 "member = hdd-110\n"},
	{{"raid0-2-wt", "raid", "raid0-2 with the disks' write caches off"},
	 RAID0_2 "member = hdd-110-wt\n"},

	/* The drive of the fair-queueing experiments. A random read of 4 KiB takes
	 * 20 + 90 + 33 + 15 us. */
	{{"ssd", "ssd", "SATA SSD of 2010: 8 channels, 280 MB/s, writes 2.8 times as dear"}, ""},
	/* 75 us a read, 60 us a write into its buffer, 500 MB/s, 8 channels are the small test
	 * machine of the field cases; channel rates let 8 of them fill the link. */
	{{"ssd-500", "ssd", "SATA SSD of 2014: 8 channels, 500 MB/s, reads 75 us, writes 60 us"},
	 "capacity = 256GB\ninterleave = 4KiB\nread_latency = 30us\nread_rate = 350MB/s\n"
	 "write_latency = 15us\nwrite_rate = 350MB/s\nlink_rate = 500MB/s\noverhead = 25us\n"},
	/* 80 us, 128 ways, 900k commands a second, 6 GB/s, depth 256. The link gives
	 * a command of 4 KiB 0.68 us for its bytes and 0.43 beside: 1.11 us, or 900k/s. */
	{{"nvme", "ssd", "NVMe drive: 128 channels, 80 us, 900k commands/s, 6 GB/s, depth 256"},
	 "capacity = 1TB\ndepth = 256\nchannels = 128\ninterleave = 16KiB\nread_latency = 70us\n"
	 "read_rate = 1GB/s\nwrite_latency = 70us\nwrite_rate = 1GB/s\nlink_rate = 6GB/s\n"
	 "command_time = 430ns\noverhead = 5us\n"},
	/* 80 ways, 440k/s, 2.8 GB/s, depth 128, all channels blocked 20 ms every half second. 4
	 * KiB: 1.46 us for its bytes and 0.81 beside make 440k/s; 160 us were inferred from the
	 * throughput of 17 commands in flight. */
	{{"ssd-stalls", "ssd",
	  "80 channels, at most 440k commands/s, 2.8 GB/s, stops 20 ms every 0.5 s"},
	 "capacity = 400GB\ndepth = 128\nchannels = 80\ninterleave = 16KiB\n"
	 "read_latency = 145us\nread_rate = 500MB/s\nwrite_latency = 145us\nwrite_rate = 500MB/s\n"
	 "link_rate = 2800MB/s\ncommand_time = 810ns\noverhead = 5us\ncollect_every = 500ms\n"
	 "collect_time = 20ms\n"},
	/* 2 channels, depth 8; 62 MB/s and 6.6k/s reading give 303 us for 4 KiB and 528 for 16 KiB
	 * on a channel, so 228 us and 54.6 MB/s; 6.2 MB/s writing gives 5.28 ms for 16 KiB. How
	 * that divides between the two is a guess. */
	{{"emmc", "ssd", "eMMC: 2 channels, reads 62 MB/s, writes 6.2 MB/s, depth 8"},
	 "capacity = 16GB\ndepth = 8\nchannels = 2\nhashed = off\nread_latency = 228us\n"
	 "read_rate = 54600KB/s\nwrite_latency = 2ms\nwrite_rate = 5MB/s\nlink_rate = 200MB/s\n"},
	/* 20 MB/s and 8 ms for a write that does not go on in an open unit. */
	{{"sd", "ssd", "SD card: 20 MB/s, a write outside its two open units costs 8 ms"},
	 "capacity = 8GB\ndepth = 1\nchannels = 1\ninterleave = 64KiB\nread_latency = 500us\n"
	 "read_rate = 40MB/s\nwrite_latency = 500us\nwrite_rate = 40MB/s\nlink_rate = 40MB/s\n"
	 "overhead = 100us\nopen_units = 2\n"},

	/* The network of the NFS report of 2009: a gigabit wire, 60 us each way and 15 us jitter.
	 */
	{{"net-hdd", "net", "hdd-128 behind gigabit Ethernet"}, "member = hdd-128\n"},
	{{"fault-hdd", "fault", "hdd of whose reads one in 10 000 fails after 1 s of retries"},
	 "read_errors = 100\n"},
};

#define PRESETS (sizeof(presets) / sizeof(presets[0]))

const struct iosched_sim_preset *iosched_sim_preset_at(unsigned i)
{
	return i < PRESETS ? &presets[i].public : NULL;
}

static const struct ios_sim_model *find_model(const char *name)
{
	for (size_t i = 0; i < MODELS; i++)
		if (strcmp(models[i]->name, name) == 0)
			return models[i];
	return NULL;
}

static const struct preset *find_preset(const char *name)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strcmp(presets[i].public.name, name) == 0)
			return &presets[i];
	return NULL;
}

/* --- Plans --- */

/* Deeper than any device that means something. */
#define MAX_NESTING 8

static void free_plan(struct ios_sim_plan *plan)
{
	while (plan != NULL) {
		struct ios_sim_plan *member = plan->member;

		free(plan->values);
		free(plan);
		plan = member;
	}
}

static int choose(struct ios_sim_plan *plan, const char *name, struct iosched_sim_error *why);

static int choose_member(struct ios_sim_plan *plan, const char *name, struct iosched_sim_error *why)
{
	struct ios_sim_plan *member = calloc(1, sizeof(*member));
	int err = member != NULL ? choose(member, name, why) : -ENOMEM;

	if (err != 0) {
		free_plan(member);
		return err;
	}
	free_plan(plan->member);
	plan->member = member;
	return 0;
}

static int choose_model(struct ios_sim_plan *plan, const char *name, struct iosched_sim_error *why)
{
	const struct ios_sim_model *model = find_model(name);
	void *values;

	if (model == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no device model \"%s\"", name);
	values = calloc(1, model->params_size);
	if (values == NULL)
		return -ENOMEM;
	free(plan->values);
	free_plan(plan->member);
	*plan = (struct ios_sim_plan){.model = model, .values = values};
	ios_sim_param_defaults(model->params, values);
	return model->member != NULL ? choose_member(plan, model->member, why) : 0;
}

#define MEMBER_PREFIX "member."

/* `member.member.rpm`: go down to the plan meant, and to the name of the parameter. */
static int descend(struct ios_sim_plan **plan, const char **name, struct iosched_sim_error *why)
{
	size_t prefix = strlen(MEMBER_PREFIX);

	for (unsigned level = 0; strncmp(*name, MEMBER_PREFIX, prefix) == 0; level++) {
		if ((*plan)->member == NULL)
			return ios_sim_fail(why, -ENOENT, "%s: a device \"%s\" has no members",
					    *name, (*plan)->model->name);
		if (level == MAX_NESTING)
			return ios_sim_fail(why, -EINVAL, "members are nested too deep");
		*plan = (*plan)->member;
		*name += prefix;
	}
	return 0;
}

/* `preset = x`, `model = x` and `member = x` start anew; all else sets a parameter. */
static int apply(struct ios_sim_plan *plan, const char *name, const char *value,
		 struct iosched_sim_error *why)
{
	int err = descend(&plan, &name, why);

	if (err != 0)
		return err;
	if (strcmp(name, "model") == 0)
		return choose_model(plan, value, why);
	if (strcmp(name, "preset") == 0)
		return choose(plan, value, why);
	if (strcmp(name, "member") == 0 && plan->model->member != NULL)
		return choose_member(plan, value, why);
	return ios_sim_param_set(plan->model->params, plan->values, name, value, why);
}

static int apply_text(struct ios_sim_plan *plan, const char *text, const char *text_name,
		      struct iosched_sim_error *why)
{
	struct ios_sim_line line = {0};
	struct iosched_sim_error inner = {""};
	int got;

	while ((got = ios_sim_param_line(&text, &line, &inner)) > 0) {
		got = apply(plan, line.name, line.value, &inner);
		if (got != 0)
			break;
	}
	if (got < 0 && got != -ENOMEM)
		return ios_sim_fail(why, got, "%.80s:%u: %.200s", text_name, line.number,
				    inner.text);
	return got;
}

static int choose(struct ios_sim_plan *plan, const char *name, struct iosched_sim_error *why)
{
	const struct preset *preset = find_preset(name);
	int err;

	if (preset == NULL && find_model(name) != NULL)
		return choose_model(plan, name, why);
	if (preset == NULL)
		return ios_sim_fail(why, -ENOENT, "there is no device \"%s\"", name);
	err = choose_model(plan, preset->public.model, why);
	return err != 0 ? err : apply_text(plan, preset->text, name, why);
}

static int make_plan(struct ios_sim_plan *plan, const struct ios_sim_device_choice *c,
		     struct iosched_sim_error *why)
{
	int err = choose(plan, c->name, why);

	if (err == 0 && c->text != NULL)
		err = apply_text(plan, c->text, c->text_name != NULL ? c->text_name : "device text",
				 why);
	for (unsigned i = 0; err == 0 && i < c->override_count; i++)
		err = apply(plan, c->overrides[i].name, c->overrides[i].value, why);
	return err;
}

int ios_sim_device_create(struct ios_sim_device **out, const struct ios_sim_device_choice *choice,
			  struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			  struct iosched_sim_error *why)
{
	struct ios_sim_plan *plan = calloc(1, sizeof(*plan));
	int err = plan != NULL ? make_plan(plan, choice, why) : -ENOMEM;

	if (err == 0)
		err = ios_sim_plan_create(out, plan, engine, ledger, why);
	free_plan(plan);
	return err;
}

static int describe(const struct ios_sim_plan *plan, unsigned i, struct iosched_sim_param *out)
{
	const struct ios_sim_param *p = plan->model->params;

	while (p->name != NULL && i > 0) {
		p++;
		i--;
	}
	if (p->name == NULL)
		return -ERANGE;
	*out = (struct iosched_sim_param){
		p->name,
		ios_sim_unit_name(p->unit),
		p->min,
		p->max,
		*(const uint64_t *)(const void *)((const char *)plan->values + p->member),
		p->doc,
	};
	return 0;
}

int iosched_sim_param_at(const char *device, unsigned i, struct iosched_sim_param *out)
{
	struct ios_sim_plan *plan = calloc(1, sizeof(*plan));
	int err = plan != NULL ? choose(plan, device, NULL) : -ENOMEM;

	if (err == 0)
		err = describe(plan, i, out);
	free_plan(plan);
	return err;
}
