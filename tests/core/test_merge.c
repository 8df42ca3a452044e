/* SPDX-License-Identifier: MIT */
/*
 * merge: who joins whom, and in which order the joined ones hang on their parent.
 */
#include "support/support.h"

static struct iosched *s;
static struct iosched_request rq[16];

static void setup(const char *policy, uint64_t limit)
{
	struct iosched_params p = params_for(policy);

	p.max_merge_bytes = limit;
	s = queue_with(&p);
}

static struct iosched_request *put_op(unsigned i, enum iosched_op op, uint64_t sector,
				      uint64_t count)
{
	rq[i] = request(op, sector * 512, count * 512);
	ck_assert_int_eq(iosched_insert(s, &rq[i], i + 1), 0);
	return &rq[i];
}

static struct iosched_request *put(unsigned i, uint64_t sector, uint64_t count)
{
	return put_op(i, IOSCHED_READ, sector, count);
}

/* `parent` hands out exactly [sector, sector + count), and its chain lies in it in order. */
static void spans(const struct iosched_request *parent, uint64_t sector, uint64_t count,
		  unsigned members)
{
	const struct iosched_request *m;
	uint64_t last = 0;
	unsigned n = 0;

	ck_assert_uint_eq(parent->span_offset, sector * 512);
	ck_assert_uint_eq(parent->span_length, count * 512);
	for (m = parent->merged; m != NULL; m = iosched_merged_next(m)) {
		ck_assert_uint_ge(m->offset, n == 0 ? parent->span_offset : last);
		last = m->offset;
		n++;
	}
	ck_assert_uint_eq(n, members);
}

START_TEST(a_request_is_appended_to_the_one_it_continues)
{
	setup("noop", 512 * KIB);
	put(0, 100, 8);
	put(1, 108, 8);
	spans(&rq[0], 100, 16, 1);
	ck_assert_uint_eq(iosched_queued(s), 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_request_is_put_before_the_one_that_continues_it)
{
	setup("deadline", 512 * KIB);
	put(0, 900, 8); /* so that the one-hit cache is elsewhere */
	put(1, 100, 8);
	put(2, 92, 8);
	spans(&rq[1], 92, 16, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(front_merges_off_spares_the_search_but_not_the_cache)
{
	setup("deadline", 512 * KIB);
	ck_assert_int_eq(iosched_tunable_set(s, "front_merges", 0), 0);
	put(0, 900, 8);
	put(1, 100, 8);
	put(2, 92, 8); /* not found in the tree */
	ck_assert_ptr_null(rq[1].merged);
	put(3, 892, 8); /* but the cache is request 0 */
	spans(&rq[0], 892, 16, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(filling_the_gap_joins_the_neighbours)
{
	setup("deadline", 512 * KIB);
	put(0, 100, 8);
	put(1, 116, 8);
	put(2, 108, 8);
	spans(&rq[0], 100, 24, 2);
	ck_assert_uint_eq(iosched_queued(s), 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_front_merge_that_fills_the_gap_joins_too)
{
	setup("deadline", 512 * KIB);
	put(0, 116, 8);
	put(1, 500, 8);
	put(2, 100, 8);
	put(3, 108, 8); /* continues 2: back merge by hash, then 0 is absorbed */
	spans(&rq[2], 100, 24, 2);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(chains_of_chains_stay_in_offset_order)
{
	setup("deadline", 512 * KIB);
	put(0, 140, 4);
	put(1, 136, 4);
	put(2, 144, 4);
	put(3, 100, 8);
	put(4, 108, 8);
	put(5, 132, 4);	 /* [132,148) is request 0 with three others */
	put(6, 116, 16); /* closes [116,132) */
	spans(&rq[3], 100, 48, 6);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(directions_and_kinds_do_not_mix)
{
	setup("deadline", 512 * KIB);
	put_op(0, IOSCHED_READ, 100, 8);
	put_op(1, IOSCHED_WRITE, 108, 8);
	put_op(2, IOSCHED_DISCARD, 116, 8);
	put_op(3, IOSCHED_DISCARD, 124, 8);
	ck_assert_uint_eq(iosched_queued(s), 3);
	spans(&rq[2], 116, 16, 1);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(nomerge_fua_and_head_stay_alone)
{
	unsigned i;

	setup("deadline", 512 * KIB);
	put(0, 100, 8);
	for (i = 1; i < 4; i++) {
		rq[i] = request(IOSCHED_READ, (100 + i * 8) * 512, 8 * 512);
		rq[i].flags = i == 1   ? IOSCHED_RQ_NOMERGE
			      : i == 2 ? IOSCHED_RQ_FUA
				       : IOSCHED_RQ_HEAD;
		ck_assert_int_eq(iosched_insert(s, &rq[i], 9), 0);
	}
	put(4, 132, 8);
	ck_assert_uint_eq(iosched_queued(s), 5);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(the_size_limit_is_inclusive_and_failing_it_is_for_good)
{
	setup("deadline", 16 * 512);
	put(0, 100, 8);
	put(1, 108, 8); /* exactly the limit */
	spans(&rq[0], 100, 16, 1);
	put(2, 116, 8); /* too much: stays alone, and marks request 0 */
	put(3, 99, 1);
	ck_assert_uint_eq(iosched_queued(s), 3);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(no_merging_at_all_when_the_limit_is_zero)
{
	setup("deadline", 0);
	put(0, 100, 8);
	put(1, 108, 8);
	ck_assert_uint_eq(iosched_queued(s), 2);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(completion_ends_the_whole_chain)
{
	struct iosched_request *out;

	setup("noop", 512 * KIB);
	put(0, 100, 8);
	put(1, 108, 8);
	put(2, 116, 8);
	out = iosched_dispatch(s, 10);
	ck_assert_ptr_eq(out, &rq[0]);
	ck_assert_int_eq(iosched_complete(s, out, 11), 0);
	spans(out, 100, 24, 2); /* still walkable */
	ck_assert_int_eq(iosched_insert(s, &rq[2], 12), 0);
	ck_assert_int_eq(iosched_insert(s, &rq[1], 12), 0);
	end_queue(s, NULL, 0);
}
END_TEST

START_TEST(a_dispatched_request_is_out_of_reach)
{
	struct iosched_request *out;

	setup("deadline", 512 * KIB);
	put(0, 100, 8);
	out = iosched_dispatch(s, 10);
	put(1, 108, 8);
	put(2, 92, 8);
	ck_assert_uint_eq(iosched_queued(s), 2);
	end_queue(s, &out, 1);
}
END_TEST

START_TEST(noop_joins_only_neighbours_in_the_fifo)
{
	setup("noop", 512 * KIB);
	put(0, 100, 8);
	put(1, 900, 8);
	put(2, 116, 8);
	put(3, 108, 8); /* appended to 0; 2 is not its neighbour */
	spans(&rq[0], 100, 16, 1);
	ck_assert_uint_eq(iosched_queued(s), 3);
	end_queue(s, NULL, 0);
}
END_TEST

MAIN_OF("merge", a_request_is_appended_to_the_one_it_continues,
	a_request_is_put_before_the_one_that_continues_it,
	front_merges_off_spares_the_search_but_not_the_cache, filling_the_gap_joins_the_neighbours,
	a_front_merge_that_fills_the_gap_joins_too, chains_of_chains_stay_in_offset_order,
	directions_and_kinds_do_not_mix, nomerge_fua_and_head_stay_alone,
	the_size_limit_is_inclusive_and_failing_it_is_for_good,
	no_merging_at_all_when_the_limit_is_zero, completion_ends_the_whole_chain,
	a_dispatched_request_is_out_of_reach, noop_joins_only_neighbours_in_the_fifo)
