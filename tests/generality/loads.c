/* SPDX-License-Identifier: MIT */
#include "loads.h"

#include <stdio.h>
#include <string.h>

#define SEQ(name, in) "stream " name " read sequential size 128KiB depth 2 in " in "\n"
#define RANDOM "stream random read random size 4KiB\n"
#define ASYNC "stream async write sequential size 128KiB depth 64 refill 32 in 60%..70%\n"
#define ASYNC_RANDOM "stream async-random write random size 4KiB depth 64 refill 32 in 70%..90%\n"
#define FSYNC "stream fsync write sync sequential size 4KiB think @ in 50%..51%\n"
#define IN_GROUP(line, name, weight) line " group " name " group-weight " weight "\n"
#define ONE "stream seq1 read sequential size 128KiB depth 2 in 0..10%"
#define TWO "stream seq2 read sequential size 128KiB depth 2 in 80%..90%"

/* The first ten are the columns of the table in known.c. */
const struct load loads[] = {
	{"seq + random", SEQ("seq", "0..10%") RANDOM, false},
	{"seq + seq", SEQ("seq1", "0..10%") SEQ("seq2", "80%..90%"), false},
	{"seq + seq 3:1", IN_GROUP(ONE, "one", "300") IN_GROUP(TWO, "two", "100"), false},
	{"seq + async", SEQ("seq", "0..10%") ASYNC, false},
	{"seq + random async", SEQ("seq", "0..10%") ASYNC_RANDOM, false},
	{"QD1 + QD16",
	 "stream qd1 read random size 4KiB\nstream qd16 read random size 4KiB depth 16\n", false},
	{"fsync + seq + random + async", FSYNC SEQ("seq", "0..10%") RANDOM ASYNC, true},
	{"16 flows",
	 "stream seq x6 read sequential split size 128KiB depth 2 in 0..40%\n"
	 "stream random x6 read random size 4KiB\n"
	 "stream fsync x2 write sync sequential split size 4KiB think @ in 50%..51%\n" ASYNC
		 ASYNC_RANDOM,
	 false},
	{"QD16 + 16 x QD1",
	 "stream qd16 read random size 4KiB depth 16\nstream qd1 x16 read random size 4KiB\n",
	 false},
	{"seq + 16 x QD1", SEQ("seq", "0..10%") "stream qd1 x16 read random size 4KiB\n", false},

	{"4 seq + random 1:3",
	 "stream seq x4 read sequential split size 128KiB depth 2 in 0..40% group one "
	 "group-weight 100\nstream random read random size 4KiB group two group-weight 300\n",
	 false},
	{"mixed 70 % + seq",
	 "stream mixed mixed 70% sync random size 8KiB depth 8\n" SEQ("seq", "0..10%"), false},
	{"large random + small random",
	 "stream large read random size 1MiB depth 2\nstream small read random size 4KiB depth 2\n",
	 false},
	{"sync writers + readers",
	 "stream writer x4 write sync random size 4KiB\nstream reader x4 read random size 4KiB\n",
	 false},
	{"6 fsync + seq",
	 "stream fsync x6 write sync sequential split size 4KiB think @ in "
	 "50%..51%\n" SEQ("seq", "0..10%"),
	 false},
	{"fsync with FLUSH + seq + random",
	 "stream fsync write sync sequential size 8KiB fsync 1 think @ in 50%..51%\n" SEQ(
		 "seq", "0..10%") RANDOM,
	 true},
	{"bursts + seq + async",
	 "stream bursts read random size 16KiB burst 16 think @\n" SEQ("seq", "0..10%") ASYNC,
	 false},
	{"12 seq", "stream seq x12 read sequential split size 128KiB depth 2\n", false},
	{"cooperators + random",
	 "stream coop x3 read sequential shared size 32KiB in 0..10%\n" RANDOM, false},
	{"2 async + fsync",
	 ASYNC "stream async2 write sequential size 512KiB depth 16 in 0..10%\n" FSYNC, true},
	{"tenants 1 + 16, QD1",
	 "stream one read random size 4KiB group one\nstream many x16 read random size 4KiB group "
	 "many\n",
	 false},
	/* It is worth holding the arm for, but not always. */
	{"thinking seq + random + seq",
	 "stream thinks read sequential size 64KiB think exponential 3ms in 20%..30%\n" RANDOM SEQ(
		 "seq", "0..10%"),
	 false},
	{"deep random + deep async", "stream random read random size 4KiB depth 32\n" ASYNC_RANDOM,
	 false},
};

const unsigned load_count = sizeof(loads) / sizeof(loads[0]);

/* `text` with the think time in the place of each "@". */
static int put_streams(char *out, size_t size, const char *text, const char *think)
{
	size_t n = 0, length = strlen(think);

	for (; *text != '\0'; text++) {
		if (n + length + 1 >= size)
			return -1;
		if (*text == '@') {
			memcpy(out + n, think, length);
			n += length;
		} else {
			out[n++] = *text;
		}
	}
	out[n] = '\0';
	return (int)n;
}

unsigned load_text(char *out, unsigned size, const struct device *d, const struct load *l)
{
	int head = snprintf(out, size, "device %s\nlength %s\nwarmup %s\npolicy noop\n", d->line,
			    d->length, d->warmup);
	int tail = head < 0 || (unsigned)head >= size
			   ? -1
			   : put_streams(out + head, size - (unsigned)head, l->streams, d->think);

	return tail < 0 ? 0 : (unsigned)(head + tail);
}
