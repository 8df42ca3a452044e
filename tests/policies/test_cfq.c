/* SPDX-License-Identifier: MIT */
/*
 * cfq, decisions: one rule a test. (The decision traces hold them all; these say what they are.)
 */
#include "policies/cfq_rig.h"

#define FAR 50000000 /* a sector far from all others */

/* A write nobody waits for. */
static struct iosched_request *write_behind(uint64_t context, uint64_t sector)
{
	return put(context, IOSCHED_WRITE, 0, sector, 8);
}

/* ---- idling ---- */

START_TEST(the_disk_idles_8_ms_for_a_reader_then_switches)
{
	struct iosched_request *other;

	rig_start();
	expect(get(1, 1000));
	other = get(2, FAR);
	expect_hold(IOSCHED_HOLD_IDLING);
	ck_assert_uint_eq(iosched_next_wakeup(rig.s), rig.now + 8 * MS);
	ck_assert(told("idling: its next request is expected soon and near") ||
		  told("idling for the group: its only queue ran dry"));
	rig.now += 8 * MS;
	ck_assert_int_eq(iosched_timer(rig.s, rig.now), 0);
	expect(other);
	rig_end();
}
END_TEST

START_TEST(the_awaited_request_goes_first)
{
	struct iosched_request *mine;

	rig_start();
	expect(get(1, 1000));
	get(2, FAR);
	expect_hold(IOSCHED_HOLD_IDLING);
	rig.now += MS;
	mine = get(1, 1016);
	ck_assert_uint_ge(rig.kicks[IOSCHED_KICK_NOW], 1);
	ck_assert_uint_eq(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
	expect(mine);
	rig_end();
}
END_TEST

START_TEST(a_small_request_alone_is_owed_a_dispatch_and_does_not_end_the_wait)
{
	struct iosched_request *mine;

	rig_start();
	expect(get(1, 1000));
	ck_assert_uint_ne(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
	mine = put(1, IOSCHED_READ, 0, 1016, 8);
	ck_assert_uint_eq(rig.kicks[IOSCHED_KICK_NOW], 0);
	ck_assert_uint_ne(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
	expect(mine);
	rig_end();
}
END_TEST

START_TEST(a_slow_thinker_is_not_waited_for)
{
	struct iosched_request *other;
	unsigned i;

	rig_start();
	for (i = 0; i < 12; i++) {
		rig.now += 20 * MS;
		expect(get(1, 1000 + 16 * i));
		while (iosched_next_wakeup(rig.s) != IOSCHED_NEVER) {
			rig.now = iosched_next_wakeup(rig.s);
			iosched_timer(rig.s, rig.now);
		}
	}
	other = get(2, FAR);
	get(1, 2000);
	expect(other);
	rig.now += 100 * MS;
	done(next(), MS);
	ck_assert_uint_eq(iosched_next_wakeup(rig.s), IOSCHED_NEVER);
	rig_end();
}
END_TEST

/* Context 1 writes so, context 2 waits: is the next request context 2's? */
static bool goes_on_after(uint32_t flags)
{
	struct iosched_request *mine, *other;
	bool on;

	rig_start();
	mine = put(1, IOSCHED_WRITE, flags, 1000, 8);
	ck_assert_ptr_eq(next(), mine);
	other = get(2, FAR);
	done(mine, MS);
	on = next() == other;
	rig_end();
	return on;
}

START_TEST(a_sync_writer_that_ends_its_burst_is_not_waited_for)
{
	ck_assert(goes_on_after(IOSCHED_RQ_SYNC | IOSCHED_RQ_NOIDLE));
	ck_assert(!goes_on_after(IOSCHED_RQ_SYNC));
}
END_TEST

START_TEST(without_an_arm_slice_idle_starts_at_0)
{
	struct iosched_params p = rig_params();
	uint64_t value = 1;

	p.rotational = 0;
	rig_start_with(&p);
	ck_assert_int_eq(iosched_tunable_get(rig.s, "slice_idle_ns", &value), 0);
	ck_assert_uint_eq(value, 0);
	rig_end();
}
END_TEST

/* ---- preemption ---- */

/* `first` of this class is dispatched and has one more queued; then `rq` arrives: is it next? */
static bool takes_over(enum iosched_class first, enum iosched_class second)
{
	struct iosched_request *running, *newer;
	bool over;

	rig_start();
	running = get_as(1, first, 4, 1000);
	get_as(1, first, 4, 1016);
	ck_assert_ptr_eq(next(), running);
	newer = get_as(2, second, 4, FAR);
	over = told("preempted");
	if (over)
		ck_assert_ptr_eq(next(), newer);
	rig_end();
	return over;
}

START_TEST(realtime_preempts_best_effort_and_idle_and_not_the_other_way)
{
	ck_assert(takes_over(IOSCHED_BEST_EFFORT, IOSCHED_REALTIME));
	ck_assert(takes_over(IOSCHED_IDLE, IOSCHED_REALTIME));
	ck_assert(takes_over(IOSCHED_IDLE, IOSCHED_BEST_EFFORT));
	ck_assert(!takes_over(IOSCHED_REALTIME, IOSCHED_BEST_EFFORT));
	ck_assert(!takes_over(IOSCHED_REALTIME, IOSCHED_IDLE));
	ck_assert(!takes_over(IOSCHED_BEST_EFFORT, IOSCHED_IDLE));
	ck_assert(!takes_over(IOSCHED_BEST_EFFORT, IOSCHED_BEST_EFFORT));
}
END_TEST

START_TEST(sync_preempts_async)
{
	struct iosched_request *running, *mine;

	rig_start();
	running = write_behind(1, FAR);
	write_behind(1, FAR + 100);
	ck_assert_ptr_eq(next(), running);
	mine = get(2, 1000);
	ck_assert(told("preempted"));
	expect_hold(IOSCHED_HOLD_INFLIGHT); /* async drains before a queue worth waiting for */
	done(running, MS);
	ck_assert_ptr_eq(next(), mine);
	rig_end();
}
END_TEST

START_TEST(metadata_preempts_a_queue_that_has_none)
{
	struct iosched_request *meta;

	rig_start();
	get(1, 1000);
	get(1, 1016);
	ck_assert_ptr_nonnull(next());
	meta = put(2, IOSCHED_READ, IOSCHED_RQ_META, FAR, 8);
	ck_assert(told("preempted"));
	ck_assert_ptr_eq(next(), meta);
	rig_end();
}
END_TEST

START_TEST(a_request_near_the_head_takes_over_from_an_idling_reader)
{
	struct iosched_request *near;

	rig_start();
	expect(get(1, 1000));
	near = get(2, 1500);
	expect(near);
	rig_end();
}
END_TEST

/* ---- within a queue ---- */

START_TEST(a_sweep_goes_up_and_a_short_way_back_costs_double)
{
	struct iosched_request *low, *mid, *up, *back;

	rig_start();
	mid = get(1, 10000);
	expect(mid);
	low = get(1, 1000);   /* 9016 back: as 18032 */
	up = get(1, 30000);   /* 19984 ahead */
	back = get(1, 20000); /* 9984 ahead */
	expect(back);
	expect(up);
	expect(low);
	rig_end();
}
END_TEST

START_TEST(metadata_goes_first_within_a_queue)
{
	struct iosched_request *near, *meta;

	rig_start();
	near = get(1, 16);
	meta = put(1, IOSCHED_READ, IOSCHED_RQ_META, FAR, 16);
	expect(meta);
	expect(near);
	rig_end();
}
END_TEST

START_TEST(an_expired_request_goes_first_once_per_slice)
{
	struct iosched_request *old, *near;

	rig_start();
	old = get(1, FAR);
	rig.now += 125 * MS;
	near = get(1, 16);
	get(1, 32);
	expect(old);
	ck_assert(told("the oldest request has expired: it goes first"));
	rig.now += 200 * MS; /* the others are expired too, but the slice is the same */
	forget_rules();
	ck_assert_ptr_eq(next(), near);
	rig_end();
}
END_TEST

/* ---- limits ---- */

START_TEST(a_queue_has_4_in_flight_while_others_wait_and_any_number_alone)
{
	unsigned i;

	rig_start();
	for (i = 0; i < 20; i++)
		get(1, 1000 + 16 * i);
	for (i = 0; i < 4; i++)
		ck_assert_ptr_nonnull(next());
	write_behind(2, FAR); /* another busy queue, but no other sync one */
	for (i = 4; i < 8; i++)
		ck_assert_ptr_nonnull(next());
	get(2, FAR);
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	ck_assert(told("limit reached: waits for requests in flight"));
	rig_end();
}
END_TEST

START_TEST(an_idle_class_queue_has_one_in_flight)
{
	rig_start();
	get_as(1, IOSCHED_IDLE, 0, 1000);
	get_as(1, IOSCHED_IDLE, 0, 1016);
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	rig_end();
}
END_TEST

START_TEST(async_waits_for_sync_in_flight)
{
	struct iosched_request *sync;

	rig_start();
	sync = get(1, 1000);
	write_behind(2, FAR);
	ck_assert_ptr_eq(next(), sync);
	iosched_context_exit(rig.s, 1, rig.now); /* nobody to wait for */
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	done(sync, MS);
	ck_assert_ptr_nonnull(next());
	rig_end();
}
END_TEST

START_TEST(after_a_delayed_sync_request_async_goes_one_at_a_time)
{
	struct iosched_request *late;

	rig_start();
	late = get(1, 1000);
	ck_assert_ptr_eq(next(), late);
	done(late, 125 * MS);
	iosched_context_exit(rig.s, 1, rig.now);
	write_behind(2, FAR);
	write_behind(2, FAR + 100);
	ck_assert_ptr_nonnull(next());
	expect_hold(IOSCHED_HOLD_INFLIGHT);
	rig.now += 200 * MS; /* two slices later it may have two */
	ck_assert_ptr_nonnull(next());
	rig_end();
}
END_TEST

START_TEST(an_async_queue_of_level_4_dispatches_16_then_others_go_on)
{
	struct iosched_request other = request(IOSCHED_WRITE, 16 * SECTOR, 8 * SECTOR);
	unsigned i;

	rig_start();
	for (i = 0; i < 20; i++)
		write_behind(1, FAR + 100 * i);
	other.context = 2;
	other.prio_level = 8; /* another async queue */
	ck_assert_ptr_nonnull(next());
	put_request(other);
	done(&rig.rq[0], 0);
	for (i = 1; i < 16; i++) {
		ck_assert(!told("quota used: slice ended"));
		done(next(), 0);
	}
	ck_assert(told("quota used: slice ended"));
	ck_assert_ptr_eq(next(), &rig.rq[20]);
	rig_end();
}
END_TEST

/* ---- shared and cooperating queues ---- */

START_TEST(buffered_writes_of_a_level_share_one_queue)
{
	struct iosched_request *a, *b;

	rig_start();
	b = write_behind(1, 2000);
	a = write_behind(2, 1000);
	expect(a); /* one sweep over both */
	expect(b);
	rig_end();
}
END_TEST

/* Two contexts that read one file in turn. */
static void read_in_turn(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		struct iosched_request *rq;

		get(1, 1000 + 32 * i);
		get(2, 1000 + 32 * i + 16);
		while (iosched_queued(rig.s) != 0) {
			rq = next();
			if (rq == NULL) {
				rig.now = iosched_next_wakeup(rig.s);
				iosched_timer(rig.s, rig.now);
			} else {
				done(rq, MS);
			}
		}
	}
}

START_TEST(contexts_that_read_one_file_are_merged_and_part_when_they_seek)
{
	unsigned i;

	rig_start();
	read_in_turn(20);
	ck_assert(told("cooperating queues will be merged"));
	ck_assert(told("a context joins the queue of its cooperator"));
	forget_rules();
	for (i = 0; i < 40; i++) {
		struct iosched_request *rq;

		get(1, 1000 + FAR * (i % 3));
		get(2, 70000 + 2 * FAR * (i % 2));
		while ((rq = next()) == NULL) {
			rig.now = iosched_next_wakeup(rig.s);
			iosched_timer(rig.s, rig.now);
		}
		done(rq, 10 * MS);
	}
	ck_assert(told("merged queues are split: they seek"));
	rig_end();
}
END_TEST

START_TEST(a_close_cooperator_takes_over_without_a_wait)
{
	struct iosched_request *near;

	rig_start();
	get(1, 1000);
	ck_assert_ptr_nonnull(next());
	near = get(2, 1016);
	done(&rig.rq[0], MS);
	ck_assert_ptr_eq(next(), near);
	ck_assert(told("a cooperator nearby takes over"));
	rig_end();
}
END_TEST

START_TEST(a_bio_merges_only_into_its_own_queue)
{
	struct iosched_params p = rig_params();
	struct iosched_stats stats;

	p.max_merge_bytes = 512 * KIB;
	rig_start_with(&p);
	get(1, 1000);
	get(2, 1016);
	iosched_stats_get(rig.s, &stats, sizeof(stats));
	ck_assert_uint_eq(stats.back_merges, 0);
	get(1, 1016);
	iosched_stats_get(rig.s, &stats, sizeof(stats));
	ck_assert_uint_eq(stats.back_merges, 1);
	rig_end();
}
END_TEST

START_TEST(the_context_gives_the_priority_of_requests_that_name_none)
{
	struct iosched_context_params c;
	struct iosched_request *rt;

	rig_start();
	iosched_context_params_init(&c, sizeof(c));
	c.prio_class = IOSCHED_REALTIME;
	ck_assert_int_eq(iosched_context_set(rig.s, 2, &c, rig.now), 0);
	get(1, 1000);
	get(1, 1016);
	ck_assert_ptr_nonnull(next());
	rt = get(2, FAR);
	ck_assert_ptr_eq(next(), rt);
	rig_end();
}
END_TEST

MAIN_OF("cfq", the_disk_idles_8_ms_for_a_reader_then_switches, the_awaited_request_goes_first,
	a_small_request_alone_is_owed_a_dispatch_and_does_not_end_the_wait,
	a_slow_thinker_is_not_waited_for, a_sync_writer_that_ends_its_burst_is_not_waited_for,
	without_an_arm_slice_idle_starts_at_0,
	realtime_preempts_best_effort_and_idle_and_not_the_other_way, sync_preempts_async,
	metadata_preempts_a_queue_that_has_none,
	a_request_near_the_head_takes_over_from_an_idling_reader,
	a_sweep_goes_up_and_a_short_way_back_costs_double, metadata_goes_first_within_a_queue,
	an_expired_request_goes_first_once_per_slice,
	a_queue_has_4_in_flight_while_others_wait_and_any_number_alone,
	an_idle_class_queue_has_one_in_flight, async_waits_for_sync_in_flight,
	after_a_delayed_sync_request_async_goes_one_at_a_time,
	an_async_queue_of_level_4_dispatches_16_then_others_go_on,
	buffered_writes_of_a_level_share_one_queue,
	contexts_that_read_one_file_are_merged_and_part_when_they_seek,
	a_close_cooperator_takes_over_without_a_wait, a_bio_merges_only_into_its_own_queue,
	the_context_gives_the_priority_of_requests_that_name_none)
