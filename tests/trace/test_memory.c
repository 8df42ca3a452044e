/* SPDX-License-Identifier: MIT */
/* A long trace takes no more memory than a short one. */
#include "support.h"

#include <sys/resource.h>

#include "generate.h"

#define MIB (1u << 20)

static long peak_kib(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void read_generated(enum iosched_trace_format format, uint64_t bytes)
{
	struct iosched_trace_options o = options_of(IOSCHED_TRACE_AUTO);
	struct generator g = {.format = format, .left = bytes};
	struct iosched_trace_record rec;
	struct iosched_trace *t;
	uint64_t n = 0;
	int got;

	ck_assert_int_eq(iosched_trace_open_read(&t, generate, &g, "generated", &o), 0);
	ck_assert_int_eq(iosched_trace_format(t), format);
	while ((got = iosched_trace_next(t, &rec)) == 1)
		n++;
	ck_assert_msg(got == 0, "%s", iosched_trace_error(t));
	ck_assert_uint_eq(n, g.number);
	ck_assert_uint_eq(stats_of(t).late, 0);
	ck_assert_uint_ge(stats_of(t).bytes, bytes);
	iosched_trace_close(t);
}

static void memory_is_constant(enum iosched_trace_format format)
{
	long small, large;

	read_generated(format, 2 * MIB);
	small = peak_kib();
	read_generated(format, 64 * MIB);
	large = peak_kib();
	/* Room for the noise of the allocator; a leak of one byte per record is as much. */
	ck_assert_int_le(large - small, 512);
}

START_TEST(a_long_text_takes_no_more_memory_than_a_short_one)
{
	memory_is_constant(IOSCHED_TRACE_BLKPARSE);
	memory_is_constant(IOSCHED_TRACE_NATIVE);
}
END_TEST

START_TEST(a_long_binary_trace_takes_no_more_memory_than_a_short_one)
{
	memory_is_constant(IOSCHED_TRACE_BLKTRACE);
}
END_TEST

RUN("memory", a_long_text_takes_no_more_memory_than_a_short_one,
    a_long_binary_trace_takes_no_more_memory_than_a_short_one)
