/* SPDX-License-Identifier: MIT */
/*
 * Weights are those of groups of one stream each: every policy that has weights has them there.
 * A stream that does not think always has work queued, and so a share that it ought to get.
 */
#include "fairness_cells.h"

#include <stddef.h>

#define SEQ(name, in) "stream " name " read sequential size 128KiB depth 2 in " in "\n"
#define RANDOM "stream random read random size 4KiB\n"
#define ASYNC "stream async write sequential size 128KiB depth 64 refill 32 in 60%..70%\n"
#define ASYNC_RANDOM "stream async-random write random size 4KiB depth 64 refill 32 in 70%..90%\n"
#define FSYNC(think) "stream fsync write sync sequential size 4KiB think " think " in 50%..51%\n"
#define IN_GROUP(line, name, weight) line " group " name " group-weight " weight "\n"
#define WEIGHTED(a, b)                                                                  \
	IN_GROUP("stream seq read sequential size 128KiB depth 2 in 0..10%", "one", #a) \
	IN_GROUP("stream random read random size 4KiB", "two", #b)
#define WEIGHTED_SEQ(a, b)                                                               \
	IN_GROUP("stream seq1 read sequential size 128KiB depth 2 in 0..10%", "one", #a) \
	IN_GROUP("stream seq2 read sequential size 128KiB depth 2 in 80%..90%", "two", #b)
#define WEIGHTED_ASYNC(a, b)                                                                 \
	IN_GROUP("stream seq read sequential size 128KiB depth 2 in 0..10%", "one", #a)      \
	IN_GROUP("stream async write sequential size 128KiB depth 64 refill 32 in 60%..70%", \
		 "two", #b)
#define TWO_SEQ SEQ("seq1", "0..10%") SEQ("seq2", "80%..90%")
#define FOUR_SEQ              \
	SEQ("seq1", "0..10%") \
	SEQ("seq2", "20%..30%") SEQ("seq3", "40%..50%") SEQ("seq4", "80%..90%")
#define DEPTHS "stream qd1 read random size 4KiB\nstream qd16 read random size 4KiB depth 16\n"
#define SIZES                                                                                     \
	"stream small read random size 4KiB depth 16\nstream large read random size 64KiB depth " \
	"16\n"
#define COOPERATORS "stream coop x3 read sequential shared size 32KiB in 0..10%\n" RANDOM
#define WEIGHTED_ASYNC_RANDOM(a, b)                                                           \
	IN_GROUP("stream seq read sequential size 128KiB depth 2 in 0..10%", "one", #a)       \
	IN_GROUP("stream async-random write random size 4KiB depth 64 refill 32 in 70%..90%", \
		 "two", #b)
#define WEIGHTED_RANDOM(a, b)                                       \
	IN_GROUP("stream random1 read random size 4KiB", "one", #a) \
	IN_GROUP("stream random2 read random size 4KiB", "two", #b)
#define WEIGHTED_SIZES(a, b)                                               \
	IN_GROUP("stream small read random size 4KiB depth 16", "one", #a) \
	IN_GROUP("stream large read random size 64KiB depth 16", "two", #b)
#define READS_AND_WRITES                                                                           \
	"stream reader read random size 4KiB depth 16\nstream writer write sync random size 4KiB " \
	"depth 16\n"
#define READER(name, in, weight) \
	IN_GROUP("stream " name " read sequential size 128KiB depth 2 in " in, name, weight)
#define WEIGHTED_FOUR                     \
	READER("seq1", "0..10%", "400")   \
	READER("seq2", "20%..30%", "100") \
	READER("seq3", "40%..50%", "100") \
	READER("seq4", "80%..90%", "100")
/* Cooperators in groups of their own would not be seen as such: contexts have the weights. */
#define WEIGHTED_COOPERATORS                                           \
	"stream coop x3 read sequential shared size 32KiB in 0..10%\n" \
	"stream random read random size 4KiB weight 300\n"
#define THINKING "stream random read random size 4KiB think 20ms\n"
#define CLASSES                                                              \
	"stream real-time read random size 4KiB think 15ms class realtime\n" \
	"stream best-effort read random size 4KiB\n"                         \
	"stream idle read random size 4KiB class idle\n"
#define REAL_TIME_SEQ                                                                      \
	"stream seq read sequential size 128KiB depth 2 in 0..10% class realtime\n" RANDOM \
		ASYNC_RANDOM
#define CROWD "stream qd1 x16 read random size 4KiB\n"
/* Sixteen flows. */
#define MIX                                                                                     \
	"stream seq x6 read sequential split size 128KiB depth 2 in 0..40%\n"                   \
	"stream random x6 read random size 4KiB\n"                                              \
	"stream fsync x2 write sync sequential split size 4KiB think 100ms in 50%..51%\n" ASYNC \
		ASYNC_RANDOM
#define WRITE_THROUGH "hdd", "write_cache=0"

const struct wb_fairness_cell wb_fairness_cells[] = {
	{"seq + random", "hdd", NULL, SEQ("seq", "0..10%") RANDOM},
	{"seq + random 3:1", "hdd", NULL, WEIGHTED(300, 100)},
	{"seq + random 1:3", "hdd", NULL, WEIGHTED(100, 300)},
	{"seq + seq", "hdd", NULL, TWO_SEQ},
	{"seq + seq 2:1", "hdd", NULL, WEIGHTED_SEQ(200, 100)},
	{"seq + seq 1:3", "hdd", NULL, WEIGHTED_SEQ(100, 300)},
	{"4 seq", "hdd", NULL, FOUR_SEQ},
	{"4 seq 4:1:1:1", "hdd", NULL, WEIGHTED_FOUR},
	{"12 seq", "hdd", NULL, "stream seq x12 read sequential split size 128KiB depth 2\n"},
	{"seq + async writer", "hdd", NULL, SEQ("seq", "0..10%") ASYNC},
	{"seq + async writer 3:1", "hdd", NULL, WEIGHTED_ASYNC(300, 100)},
	{"seq + async writer 1:3", "hdd", NULL, WEIGHTED_ASYNC(100, 300)},
	{"seq + random async writer", "hdd", NULL, SEQ("seq", "0..10%") ASYNC_RANDOM},
	{"seq + random async writer 1:2", "hdd", NULL, WEIGHTED_ASYNC_RANDOM(100, 200)},
	{"random + random async writer", "hdd", NULL, RANDOM ASYNC_RANDOM},
	{"4 seq + async writer", "hdd", NULL, FOUR_SEQ ASYNC},
	{"seq + async writer, cache off", WRITE_THROUGH, SEQ("seq", "0..10%") ASYNC},
	{"seq + random async writer, cache off", WRITE_THROUGH, SEQ("seq", "0..10%") ASYNC_RANDOM},
	{"random + random 3:1", "hdd", NULL, WEIGHTED_RANDOM(300, 100)},
	{"random + random 1:3", "hdd", NULL, WEIGHTED_RANDOM(100, 300)},
	{"random depth 1 + depth 16", "hdd", NULL, DEPTHS},
	{"random depth 16 + 16 of depth 1", "hdd", NULL,
	 "stream qd16 read random size 4KiB depth 16\n" CROWD},
	{"seq + 16 random", "hdd", NULL, SEQ("seq", "0..10%") CROWD},
	{"16 x 4 KiB + 16 x 64 KiB", "hdd", NULL, SIZES},
	{"3 cooperators + random", "hdd", NULL, COOPERATORS},
	{"3 cooperators + random 1:1:1:3", "hdd", NULL, WEIGHTED_COOPERATORS},
	{"random, thinks 20 ms + seq", "hdd", NULL, THINKING SEQ("seq", "0..10%")},
	{"real time, thinks 15 ms + best effort + idle", "hdd", NULL, CLASSES},
	{"real-time seq + random + random async writer", "hdd", NULL, REAL_TIME_SEQ},
	{"fsync 10 ms + seq", "hdd", NULL, FSYNC("10ms") SEQ("seq", "0..10%")},
	{"fsync 10 ms + seq + random", "hdd", NULL, FSYNC("10ms") SEQ("seq", "0..10%") RANDOM},
	{"fsync 10 ms + seq + random + async", "hdd", NULL,
	 FSYNC("10ms") SEQ("seq", "0..10%") RANDOM ASYNC},
	{"fsync 60 ms + seq + random + async", "hdd", NULL,
	 FSYNC("60ms") SEQ("seq", "0..10%") RANDOM ASYNC},
	{"fsync 100 ms + seq, cache off", WRITE_THROUGH, FSYNC("100ms") SEQ("seq", "0..10%")},
	{"fsync 100 ms + seq + random, cache off", WRITE_THROUGH,
	 FSYNC("100ms") SEQ("seq", "0..10%") RANDOM},
	{"fsync 100 ms + 8 random, cache off", WRITE_THROUGH,
	 FSYNC("100ms") "stream random x8 read random size 4KiB\n"},
	{"fsync 100 ms + seq + random + async, cache off", WRITE_THROUGH,
	 FSYNC("100ms") SEQ("seq", "0..10%") RANDOM ASYNC},
	{"16 flows", "hdd", NULL, MIX},
	{"16 flows, cache off", WRITE_THROUGH, MIX},
	{"raid10: seq + random", "raid10", NULL, SEQ("seq", "0..10%") RANDOM},
	{"raid10: seq + seq", "raid10", NULL, TWO_SEQ},
	{"raid10: 4 seq", "raid10", NULL, FOUR_SEQ},
	{"raid10: seq + async writer", "raid10", NULL, SEQ("seq", "0..10%") ASYNC},
	{"raid10: seq + random async writer", "raid10", NULL, SEQ("seq", "0..10%") ASYNC_RANDOM},
	{"raid10: random + random async writer", "raid10", NULL, RANDOM ASYNC_RANDOM},
	{"raid10: 16 x 4 KiB + 16 x 64 KiB", "raid10", NULL, SIZES},
	{"raid10: 16 x 4 KiB + 16 x 64 KiB 1:3", "raid10", NULL, WEIGHTED_SIZES(100, 300)},
	{"ssd: seq + random", "ssd", NULL, SEQ("seq", "0..10%") RANDOM},
	{"ssd: seq + seq", "ssd", NULL, TWO_SEQ},
	{"ssd: 4 seq", "ssd", NULL, FOUR_SEQ},
	{"ssd: 4 seq 4:1:1:1", "ssd", NULL, WEIGHTED_FOUR},
	{"ssd: 4 seq + async writer", "ssd", NULL, FOUR_SEQ ASYNC},
	{"ssd: 16 x 4 KiB + 16 x 64 KiB", "ssd", NULL, SIZES},
	{"ssd: 16 x 4 KiB + 16 x 64 KiB 1:3", "ssd", NULL, WEIGHTED_SIZES(100, 300)},
	{"ssd: 16 reads + 16 sync writes", "ssd", NULL, READS_AND_WRITES},
	{"ssd: seq + async writer", "ssd", NULL, SEQ("seq", "0..10%") ASYNC},
	{"ssd: random depth 1 + depth 16", "ssd", NULL, DEPTHS},
	{"ssd-500: seq + random", "ssd-500", NULL, SEQ("seq", "0..10%") RANDOM},
	{"ssd-500: 16 x 4 KiB + 16 x 64 KiB", "ssd-500", NULL, SIZES},
	{"ssd-500: 16 reads + 16 sync writes", "ssd-500", NULL, READS_AND_WRITES},
	{"ssd-500: seq + async writer", "ssd-500", NULL, SEQ("seq", "0..10%") ASYNC},
	{"ssd-500: random depth 1 + depth 16", "ssd-500", NULL, DEPTHS},
};

const unsigned wb_fairness_cell_count = sizeof(wb_fairness_cells) / sizeof(wb_fairness_cells[0]);
