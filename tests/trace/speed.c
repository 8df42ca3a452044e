/* SPDX-License-Identifier: MIT */
/*
 * speed FORMAT MEGABYTES: how fast a reader is, and how much memory it takes. Making the
 * trace is timed alone first and taken off.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "generate.h"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Seconds to make the trace and throw it away. */
static double floor_of(struct generator g)
{
	static char buffer[1 << 17];
	double start = now();

	while (generate(&g, buffer, sizeof(buffer)) > 0)
		;
	return now() - start;
}

int main(int argc, char **argv)
{
	struct generator g = {.format = IOSCHED_TRACE_BLKPARSE};
	struct iosched_trace_stats stats;
	struct iosched_trace_record rec;
	struct iosched_trace *t;
	struct rusage usage;
	double start, making, reading;
	int got;

	if (argc != 3) {
		fprintf(stderr, "usage: speed native|blkparse|blktrace MEGABYTES\n");
		return EXIT_FAILURE;
	}
	g.format = iosched_trace_format_find(argv[1]);
	g.left = strtoull(argv[2], NULL, 10) * 1000000;
	making = floor_of(g);
	start = now();
	if (iosched_trace_open_read(&t, generate, &g, "generated", NULL) != 0)
		return EXIT_FAILURE;
	while ((got = iosched_trace_next(t, &rec)) == 1)
		;
	reading = now() - start - making;
	iosched_trace_stats_get(t, &stats, sizeof(stats));
	getrusage(RUSAGE_SELF, &usage);
	printf("%s: %" PRIu64 " records, %" PRIu64 " bytes, %.2f s (and %.2f s to make it): "
	       "%.1f million records/s, %.0f MB/s, peak %ld KiB\n",
	       argv[1], stats.records, stats.bytes, reading, making,
	       (double)stats.records / reading / 1e6, (double)stats.bytes / reading / 1e6,
	       usage.ru_maxrss);
	iosched_trace_close(t);
	return got == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
