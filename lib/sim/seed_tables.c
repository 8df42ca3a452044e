/* SPDX-License-Identifier: MIT */
#include "sim/seed_tables.h"

#include <string.h>

#include "sim/arith.h"

/* --- Generations of cfq --- */

#define OLD_CFQ(arrival)                                                            \
	{                                                                           \
		{"low_latency", 0}, {"close_cooperators", 0}, {"queue_merging", 0}, \
		{                                                                   \
			"idle_arrival", arrival                                     \
		}                                                                   \
	}

static const struct iosched_sim_tunable before[] = OLD_CFQ(1);
static const struct iosched_sim_tunable rc1[] = OLD_CFQ(0);
static const struct iosched_sim_tunable fixed[] = OLD_CFQ(2);

static const struct {
	const char *kernel;
	const struct iosched_sim_tunable *tunables;
	unsigned count;
} generations[] = {
	{"2.6.28", before, 4},	      {"2.6.29", before, 4}, {"2.6.30-rc1", rc1, 4},
	{"2.6.30-rc1+fix", fixed, 4}, {"2.6.32", NULL, 0},
};

const struct iosched_sim_tunable *ios_sim_seed_generation(const char *kernel, unsigned *count)
{
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		if (strcmp(generations[i].kernel, kernel) != 0)
			continue;
		*count = generations[i].count;
		return generations[i].tunables;
	}
	*count = 0;
	return NULL;
}

/* --- Programs --- */

#define WITH(program, settings_of)                                                                 \
	{                                                                                          \
		.name = program, .settings = settings_of,                                          \
		.setting_count = sizeof(settings_of) / sizeof(settings_of[0]), .first_context = 1, \
	}
#define PLAIN(program)                              \
	{                                           \
		.name = program, .first_context = 1 \
	}

typedef struct iosched_sim_setting settings[];

static const settings threads_1 = {{"threads", "1"}};
static const settings threads_3 = {{"threads", "3"}};
static const settings threads_5 = {{"threads", "5"}};
static const settings threads_7 = {{"threads", "7"}};
static const settings threads_9 = {{"threads", "9"}};

static const settings nfsds_1 = {{"nfsds", "1"}};
static const settings nfsds_2 = {{"nfsds", "2"}};
static const settings nfsds_4 = {{"nfsds", "4"}};
static const settings nfsds_8 = {{"nfsds", "8"}};
/* The server of 2.6.30-rc1 had one size of send buffer for any number of threads. */
static const settings rc1_nfsds_1 = {{"nfsds", "1"}, {"buffer_messages", "8"}};
static const settings rc1_nfsds_2 = {{"nfsds", "2"}, {"buffer_messages", "8"}};
static const settings rc1_nfsds_4 = {{"nfsds", "4"}, {"buffer_messages", "8"}};
static const settings rc1_nfsds_8 = {{"nfsds", "8"}, {"buffer_messages", "8"}};

/* --- Rows --- */

/* bonnie++ 1.96, twelve 15 200 rpm disks as RAID 10, kernel 2.6.32. */
#define S0(cell_, unit_, measure_, program_, cfq, deadline, noop)                               \
	{                                                                                       \
		.seed = "S0", .cell = cell_, .unit = unit_, .kernel = "2.6.32", .base = "noop", \
		.measure = measure_, .device = "raid10", .program = PLAIN(program_),            \
		.warmup_ns = 2 * NSEC_PER_SEC, .length_ns = 22 * NSEC_PER_SEC,                  \
		.reports = {                                                                    \
			{"noop", NULL, noop},                                                   \
			{"deadline", NULL, deadline},                                           \
			{"cfq", "2.6.32", cfq},                                                 \
		},                                                                              \
	}

/* dump and sysbench, kernel 2.6.28, one SATA disk. */
#define S1(cell_, program_, length, cfq, noop, as, deadline)                                     \
	{                                                                                        \
		.seed = "S1", .cell = cell_, .unit = "MB/s", .kernel = "2.6.28", .base = "noop", \
		.measure = IOS_SIM_SEED_MB, .device = "hdd", .program = program_,                \
		.warmup_ns = NSEC_PER_SEC, .length_ns = length * NSEC_PER_SEC,                   \
		.reports = {                                                                     \
			{"noop", NULL, noop},	    {"deadline", NULL, deadline},                \
			{"anticipatory", NULL, as}, {"cfq", "2.6.28", cfq},                      \
			{"cfq", "2.6.32", -1},                                                   \
		},                                                                               \
	}

/* iozone by an NFS client, by the number of the server's threads. */
#define S2_29(cell_, settings_of, cfq, deadline)                                      \
	{                                                                             \
		.seed = "S2", .cell = cell_, .unit = "K/s", .kernel = "2.6.29",       \
		.base = "deadline", .measure = IOS_SIM_SEED_KIB, .device = "hdd-15k", \
		.program = WITH("nfs", settings_of), .warmup_ns = NSEC_PER_SEC,       \
		.length_ns = 200 * NSEC_PER_SEC,                                      \
		.reports = {                                                          \
			{"deadline", NULL, deadline},                                 \
			{"cfq", "2.6.29", cfq},                                       \
		},                                                                    \
	}
#define S2_RC1(cell_, settings_of, cfq, deadline, fix)                                \
	{                                                                             \
		.seed = "S2", .cell = cell_, .unit = "K/s", .kernel = "2.6.30-rc1",   \
		.base = "deadline", .measure = IOS_SIM_SEED_KIB, .device = "hdd-15k", \
		.program = WITH("nfs", settings_of), .warmup_ns = NSEC_PER_SEC,       \
		.length_ns = 200 * NSEC_PER_SEC,                                      \
		.reports = {                                                          \
			{"deadline", NULL, deadline},                                 \
			{"cfq", "2.6.30-rc1", cfq},                                   \
			{"cfq", "2.6.30-rc1+fix", fix},                               \
			{"cfq", "2.6.32", -1},                                        \
		},                                                                    \
	}

/* pgbench -c 8, kernel 2.6.32, one SATA disk. Of fdatasync the report says that it takes twenty
 * times as long with cfq as with noop, not how long. */
#define S3(cell_, unit_, measure_, cfq, noop)                                                   \
	{                                                                                       \
		.seed = "S3", .cell = cell_, .unit = unit_, .kernel = "2.6.32", .base = "noop", \
		.measure = measure_, .device = "hdd", .program = PLAIN("pgbench"),              \
		.warmup_ns = 2 * NSEC_PER_SEC, .length_ns = 62 * NSEC_PER_SEC,                  \
		.reports = {                                                                    \
			{"noop", NULL, noop},                                                   \
			{"cfq", "2.6.32", cfq},                                                 \
		},                                                                              \
	}

static const struct ios_sim_seed_row rows[] = {
	S0("seeks", "/s", IOS_SIM_SEED_OPERATIONS, "bonnie-seeks", 556.2, 2304, 2294),
	S0("block-in", "K/s", IOS_SIM_SEED_KIB, "bonnie-read", 952115, 989527, 1003688),
	S0("block-out", "K/s", IOS_SIM_SEED_KIB, "bonnie-write", 434709, 449914, 451578),
	S0("rewrite", "K/s", IOS_SIM_SEED_KIB, "bonnie-rewrite", 225498, 287010, 303351),
	S1("dump", PLAIN("dump"), 21, 24.310, 36.885, 34.956, 36.758),
	S1("sysbench-1", WITH("sysbench", threads_1), 11, 77.8, 78.2, 78.2, 76.9),
	S1("sysbench-3", WITH("sysbench", threads_3), 11, 32.4, 79.0, 78.6, 78.4),
	S1("sysbench-5", WITH("sysbench", threads_5), 11, 43.3, 78.2, 78.4, 77.0),
	S1("sysbench-7", WITH("sysbench", threads_7), 11, 55.8, 77.2, 77.8, 78.4),
	S1("sysbench-9", WITH("sysbench", threads_9), 11, 58.5, 77.0, 78.1, 77.9),
	S2_29("nfs-1", nfsds_1, 91356, 43207),
	S2_29("nfs-2", nfsds_2, 66391, 67436),
	S2_29("nfs-4", nfsds_4, 61942, 96289),
	S2_29("nfs-8", nfsds_8, 51674, 107784),
	S2_RC1("nfs-1", rc1_nfsds_1, 43127, 43732, 114602),
	S2_RC1("nfs-2", rc1_nfsds_2, 22354, 68059, 102280),
	S2_RC1("nfs-4", rc1_nfsds_4, 20858, 76659, 43479),
	S2_RC1("nfs-8", rc1_nfsds_8, 21179, 83231, 43160),
	S3("tps", "tps", IOS_SIM_SEED_OPERATIONS, 70, 90),
	S3("fdatasync", "ms", IOS_SIM_SEED_SYNC, -1, -1),
};

const struct ios_sim_seed_row *ios_sim_seed_row_at(unsigned i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
