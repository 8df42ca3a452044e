/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline merges alike with an arm and on flash. Every structure is audited after every call.
 */
#include <check.h>
#include <string.h>
#include <iosched/iosched.h>

#define NOW UINT64_C(2000000000)
#define BYTES 8192u
#define MOST 512

static struct iosched *queue(int flash)
{
	struct iosched_params p;
	struct iosched *q;

	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find("fair-deadline");
	p.now = NOW;
	p.rotational = !flash;
	p.audit = 1;
	ck_assert_int_eq(iosched_create(&q, &p), 0);
	return q;
}

static void end(struct iosched *q)
{
	while (iosched_drain(q, NOW) != NULL)
		;
	ck_assert_int_eq(iosched_destroy(q), 0);
}

/* A read of the `nth` piece of the device, by `context`. */
static void read_piece(struct iosched *q, struct iosched_request *rq, uint64_t nth,
		       uint64_t context)
{
	memset(rq, 0, sizeof(*rq));
	rq->offset = nth * BYTES;
	rq->length = BYTES;
	rq->context = context;
	ck_assert_int_eq(iosched_insert(q, rq, NOW), 0);
}

/* Three pieces that touch are one, whichever comes last, wherever they lie. */
START_TEST(a_gap_that_is_filled_joins_both_sides)
{
	static const uint64_t order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct iosched_request rq[3];
	uint64_t base;
	int o, i;

	for (base = 1; base < UINT64_C(1) << 40; base = base * 8 - 1) {
		for (o = 0; o < 6; o++) {
			struct iosched *q = queue(_i);

			for (i = 0; i < 3; i++)
				read_piece(q, &rq[i], base + order[o][i], 1);
			ck_assert_uint_eq(iosched_queued(q), 1);
			end(q);
		}
	}
}
END_TEST

/* Another context's, so that they stay two; one far away is the core's last merged. */
START_TEST(of_two_that_start_where_it_ends_the_first_come_is_joined)
{
	struct iosched *q = queue(_i);
	struct iosched_request far, first, second, rq;

	read_piece(q, &far, 1000, 1);
	read_piece(q, &first, 11, 2);
	read_piece(q, &second, 11, 3);
	read_piece(q, &rq, 10, 1);
	ck_assert_ptr_eq(first.merged, &rq);
	ck_assert_ptr_null(second.merged);
	end(q);
}
END_TEST

/* Evenly mixed with others that touch nothing. */
START_TEST(a_stream_backwards_is_one_request)
{
	static struct iosched_request rq[MOST], other[MOST];
	struct iosched *q = queue(_i);
	uint64_t i;

	for (i = 0; i < 60; i++) {
		read_piece(q, &rq[i], 5000 - i, 1);
		read_piece(q, &other[i], 10000 + i * 777, 1);
	}
	ck_assert_uint_eq(iosched_queued(q), 61);
	end(q);
}
END_TEST

/* Every other piece, then those between, from the end: each joins two. */
START_TEST(what_is_interleaved_becomes_one_request)
{
	static struct iosched_request rq[MOST];
	struct iosched *q = queue(_i);
	uint64_t i;

	for (i = 0; i < 64; i += 2)
		read_piece(q, &rq[i], 3000 + i, 1);
	for (i = 63; i < 64; i -= 2)
		read_piece(q, &rq[i], 3000 + i, 1);
	ck_assert_uint_eq(iosched_queued(q), 1);
	end(q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fair-deadline merges");
	TCase *c = tcase_create("merges");
	SRunner *r;
	int failed;

	tcase_add_loop_test(c, a_gap_that_is_filled_joins_both_sides, 0, 2);
	tcase_add_loop_test(c, of_two_that_start_where_it_ends_the_first_come_is_joined, 0, 2);
	tcase_add_loop_test(c, a_stream_backwards_is_one_request, 0, 2);
	tcase_add_loop_test(c, what_is_interleaved_becomes_one_request, 0, 2);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
