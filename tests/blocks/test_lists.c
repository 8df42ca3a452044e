/* SPDX-License-Identifier: MIT */
/*
 * lists: fifo, dlist, mhash, ctab, and the arithmetic of seekpick and ewma.
 */
#include "blocks/ctab.h"
#include "blocks/dlist.h"
#include "blocks/ewma.h"
#include "blocks/mhash.h"
#include "blocks/seekpick.h"
#include "support/support.h"

static struct iosched_request rq[8];

static struct iosched_request *at(unsigned i, enum iosched_op op, uint64_t offset)
{
	rq[i] = request(op, offset, 10);
	rq[i].span_offset = offset;
	rq[i].span_length = 10;
	return &rq[i];
}

START_TEST(a_fifo_keeps_arrivals_in_order_whenever_they_come)
{
	struct ios_fifo f;
	unsigned i;

	ios_fifo_init(&f);
	for (i = 0; i < 4; i++)
		rq[i].inserted = (i + 1) * 10;
	ios_fifo_insert(&f, &rq[0]);
	ios_fifo_insert(&f, &rq[3]);
	ios_fifo_insert(&f, &rq[1]);
	ios_fifo_insert(&f, &rq[2]);
	for (i = 0; i < 4; i++)
		ck_assert_ptr_eq(ios_fifo_take(&f), &rq[i]);
	ck_assert_ptr_null(ios_fifo_take(&f));
}
END_TEST

START_TEST(replacing_hands_over_the_place)
{
	struct ios_fifo f;
	unsigned i;

	ios_fifo_init(&f);
	for (i = 0; i < 3; i++) {
		rq[i].inserted = i;
		ios_fifo_insert(&f, &rq[i]);
	}
	ios_fifo_replace(&rq[0], &rq[2]);
	ck_assert_ptr_eq(ios_fifo_first(&f), &rq[2]);
	ck_assert_ptr_eq(ios_fifo_next(&f, &rq[2]), &rq[1]);
	ck_assert_ptr_null(ios_fifo_next(&f, &rq[1]));
	ios_fifo_remove(&rq[0]); /* harmless: on no list */
	ck_assert_ptr_eq(ios_fifo_prev(&f, &rq[1]), &rq[2]);
}
END_TEST

START_TEST(a_dispatch_list_is_a_one_way_elevator)
{
	struct ios_dlist d;
	static const uint64_t want[] = {500, 600, 600, 100, 400};
	unsigned i;

	ios_dlist_init(&d);
	ios_dlist_insert(&d, at(0, IOSCHED_READ, 440));
	ck_assert_ptr_eq(ios_dlist_take(&d), &rq[0]); /* boundary 450 */
	ios_dlist_insert(&d, at(1, IOSCHED_READ, 400));
	ios_dlist_insert(&d, at(2, IOSCHED_READ, 600));
	ios_dlist_insert(&d, at(3, IOSCHED_READ, 500));
	ios_dlist_insert(&d, at(4, IOSCHED_READ, 100));
	ios_dlist_insert(&d, at(5, IOSCHED_READ, 600));
	for (i = 0; i < 5; i++) {
		struct iosched_request *r = ios_fifo_take(&d.list);

		ck_assert_uint_eq(r->span_offset, want[i]);
		if (i == 1)
			ck_assert_ptr_eq(r, &rq[2]); /* equals in order of arrival */
	}
}
END_TEST

START_TEST(a_dispatch_list_never_passes_the_other_direction)
{
	struct ios_dlist d;

	ios_dlist_init(&d);
	ios_dlist_insert(&d, at(0, IOSCHED_READ, 500));
	ios_dlist_insert(&d, at(1, IOSCHED_WRITE, 300));
	ios_dlist_insert(&d, at(2, IOSCHED_READ, 100));
	ck_assert_ptr_eq(ios_dlist_take(&d), &rq[0]);
	ck_assert_ptr_eq(ios_dlist_take(&d), &rq[1]);
	ck_assert_ptr_eq(ios_dlist_take(&d), &rq[2]);
}
END_TEST

START_TEST(the_newest_with_an_end_is_found_and_withdrawn_ones_are_dropped)
{
	struct iosched_hash_link *buckets[16] = {NULL};
	uint32_t starts[16] = {0};
	struct ios_mhash h;
	unsigned i;

	ios_mhash_init(&h, buckets, 16);
	h.starts = starts;
	for (i = 0; i < 3; i++)
		ios_mhash_insert(&h, at(i, IOSCHED_READ, 90));
	ck_assert_ptr_eq(ios_mhash_find(&h, 100), &rq[2]);
	ck_assert_ptr_null(ios_mhash_find(&h, 101));
	ck_assert(!ios_mhash_none_starts(&h, 90));
	iosched_withdraw(&rq[2]);
	ck_assert_ptr_eq(ios_mhash_find(&h, 100), &rq[1]);
	ck_assert(!ios_mhash_linked(&rq[2]));
	ios_mhash_remove(&h, &rq[2]);
	ios_mhash_remove(&h, &rq[1]);
	ios_mhash_remove(&h, &rq[0]);
	ck_assert(ios_mhash_none(&h, 100));
	ck_assert(ios_mhash_none_starts(&h, 90));
}
END_TEST

START_TEST(a_context_goes_from_unused_to_known_to_gone_to_unused)
{
	struct iosched_context entries[3] = {{0}};
	struct iosched_hash_link *buckets[16] = {NULL};
	struct iosched_group root = {0};
	struct ios_ctab t;
	struct iosched_context *c;

	ios_ctab_init(&t, entries, 3, buckets, 16, &root);
	ck_assert_ptr_eq(ios_ctab_find(&t, 0), &entries[0]);
	ck_assert_ptr_null(ios_ctab_find(&t, 5));
	c = ios_ctab_candidate(&t);
	ios_ctab_adopt(&t, c, 5, &root);
	ck_assert_ptr_eq(ios_ctab_find(&t, 5), c);
	ios_ctab_ref(c);
	ck_assert_ptr_null(ios_ctab_audit(&t));
	ios_ctab_orphan(c);
	ck_assert_ptr_null(ios_ctab_find(&t, 5));
	ck_assert(ios_ctab_unref(&t, c));
	ios_ctab_forget(&t, c);
	ck_assert_ptr_null(ios_ctab_audit(&t));
	ck_assert_uint_eq(c->state, IOS_CONTEXT_UNUSED);
}
END_TEST

START_TEST(seekpick_weighs_back_seeks_and_wraps)
{
	const struct ios_seekpick from = {1000, 200, 2};
	struct iosched_request *a = at(0, IOSCHED_READ, 0), *b = at(1, IOSCHED_READ, 0);

#define PICKS(x, y, which)                                          \
	do {                                                        \
		a->span_offset = (x);                               \
		b->span_offset = (y);                               \
		ck_assert_ptr_eq(ios_seekpick(&from, a, b), which); \
	} while (0)
	PICKS(1050, 960, a);  /* 50 against 2 x 40 */
	PICKS(1081, 960, b);  /* 81 against 80 */
	PICKS(1080, 960, a);  /* equal cost: the higher */
	PICKS(960, 1080, b);  /* on either side */
	PICKS(1900, 799, a);  /* 201 back is wrapped */
	PICKS(5000, 800, b);  /* 200 back is not */
	PICKS(700, 600, b);   /* both wrapped: the lower */
	PICKS(1200, 1200, a); /* the same */
#undef PICKS
	ck_assert_ptr_eq(ios_seekpick(&from, NULL, b), b);
	ck_assert_ptr_eq(ios_seekpick(&from, a, NULL), a);
}
END_TEST

START_TEST(ewma_floors_three_times_and_is_valid_at_the_third_sample)
{
	struct ios_ewma e = {0, 0, 0};

	ios_ewma_add(&e, 100);
	ck_assert_uint_eq(e.samples, 32);
	ck_assert_uint_eq(e.total, 3200);
	ck_assert_uint_eq(e.mean, 104); /* (3200 + 128) / 32 */
	ck_assert(!ios_ewma_valid(&e));
	ios_ewma_add(&e, 100);
	ck_assert(!ios_ewma_valid(&e));
	ios_ewma_add(&e, 100);
	ck_assert(ios_ewma_valid(&e));
	ck_assert_uint_eq(e.samples, 84);
}
END_TEST

MAIN_OF("lists", a_fifo_keeps_arrivals_in_order_whenever_they_come, replacing_hands_over_the_place,
	a_dispatch_list_is_a_one_way_elevator, a_dispatch_list_never_passes_the_other_direction,
	the_newest_with_an_end_is_found_and_withdrawn_ones_are_dropped,
	a_context_goes_from_unused_to_known_to_gone_to_unused, seekpick_weighs_back_seeks_and_wraps,
	ewma_floors_three_times_and_is_valid_at_the_third_sample)
