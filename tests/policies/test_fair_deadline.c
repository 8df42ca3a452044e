/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline on a tiny virtual disk: shares, deadlines, tenants, limits; and
 * every structure audited after every call of a random run.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "disk.h"

static struct iosched_params params(void)
{
	struct iosched_params p;

	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find("fair-deadline");
	p.now = SEC;
	p.parallel = IOSCHED_PARALLEL_NO;
	p.audit = 1;
	return p;
}

static struct disk disk(const struct iosched_params *p)
{
	struct disk d;

	memset(&d, 0, sizeof(d));
	d.channels = 1;
	d.depth = 32;
	d.now = SEC;
	d.rng = UINT64_C(88172645463325252);
	ck_assert_int_eq(iosched_create(&d.queue, p), 0);
	return d;
}

static struct disk hdd(void)
{
	struct iosched_params p = params();

	return disk(&p);
}

static struct stream sequential(uint64_t context, uint64_t at)
{
	struct stream s;

	memset(&s, 0, sizeof(s));
	s.context = context;
	s.depth = 2;
	s.bytes = 128 << 10;
	s.at = at;
	return s;
}

static struct stream scattered(uint64_t context)
{
	struct stream s = sequential(context, 0);

	s.random = true;
	s.depth = 1;
	s.bytes = 4096;
	return s;
}

static struct stream log_writer(uint64_t context, uint64_t think)
{
	struct stream s = sequential(context, UINT64_C(300) << 30);

	s.write = true;
	s.flags = IOSCHED_RQ_SYNC;
	s.bytes = 4096;
	s.depth = 1;
	s.think_ns = think;
	return s;
}

static struct stream writeback(uint64_t context, bool random)
{
	struct stream s = sequential(context, UINT64_C(200) << 30);

	s.write = true;
	s.random = random;
	s.depth = 16;
	return s;
}

static void end(struct disk *d)
{
	while (iosched_drain(d->queue, d->now) != NULL)
		;
	while (d->n_in > 0)
		iosched_complete(d->queue, d->in[--d->n_in], d->now);
	ck_assert_int_eq(iosched_destroy(d->queue), 0);
}

static void weigh(struct disk *d, uint64_t context, uint32_t weight, uint64_t group)
{
	struct iosched_context_params p;

	iosched_context_params_init(&p, sizeof(p));
	p.weight = weight;
	p.group = group;
	ck_assert_int_eq(iosched_context_set(d->queue, context, &p, d->now), 0);
}

/* Permille of device time of stream 0 in 10 s after 2 s of learning. */
static unsigned share_of_first(struct disk *d, struct stream *s, unsigned n)
{
	uint64_t sum = 0;
	unsigned i;

	disk_run(d, s, n, d->now + 2 * SEC);
	for (i = 0; i < n; i++)
		s[i].busy_ns = 0;
	disk_run(d, s, n, d->now + 10 * SEC);
	for (i = 0; i < n; i++)
		sum += s[i].busy_ns;
	return (unsigned)(s[0].busy_ns * 1000 / sum);
}

static void assert_share(unsigned permille, unsigned wanted)
{
	ck_assert_msg(permille + 20 >= wanted && permille <= wanted + 20,
		      "share %u, wanted %u, permille", permille, wanted);
}

static unsigned two(struct stream a, struct stream b, uint32_t weight)
{
	struct disk d = hdd();
	struct stream s[2] = {a, b};
	unsigned share;

	weigh(&d, a.context, weight, 0);
	share = share_of_first(&d, s, 2);
	end(&d);
	return share;
}

static const uint32_t weights[4] = {100, 200, 300, 50};
static const unsigned wanted[4] = {500, 667, 750, 333};

START_TEST(two_streams_share_by_weight)
{
	assert_share(two(sequential(1, 0), sequential(2, DISK_BYTES / 2), weights[_i]), wanted[_i]);
}
END_TEST

START_TEST(a_stream_and_a_random_reader_share_by_weight)
{
	assert_share(two(sequential(1, 0), scattered(2), weights[_i]), wanted[_i]);
}
END_TEST

START_TEST(two_random_readers_share_by_weight)
{
	assert_share(two(scattered(1), scattered(2), weights[_i]), wanted[_i]);
}
END_TEST

START_TEST(a_reader_and_writeback_share_by_weight)
{
	assert_share(two(sequential(1, 0), writeback(2, false), weights[_i]), wanted[_i]);
}
END_TEST

START_TEST(a_shallow_reader_keeps_its_half_beside_a_deep_one)
{
	struct stream deep = scattered(2);

	deep.depth = 16;
	assert_share(two(scattered(1), deep, 100), 500);
}
END_TEST

START_TEST(a_tenant_gains_nothing_by_many_contexts)
{
	struct disk d = hdd();
	struct iosched_group_params g;
	struct stream *s = calloc(65, sizeof(*s));
	unsigned i;

	iosched_group_params_init(&g, sizeof(g));
	ck_assert_int_eq(iosched_group_set(d.queue, 1, &g, d.now), 0);
	ck_assert_int_eq(iosched_group_set(d.queue, 2, &g, d.now), 0);
	for (i = 0; i < 65; i++) {
		s[i] = scattered(i + 1);
		weigh(&d, i + 1, 100, i == 0 ? 1 : 2);
	}
	assert_share(share_of_first(&d, s, 65), 500);
	end(&d);
	free(s);
}
END_TEST

START_TEST(nested_groups_multiply_their_shares)
{
	struct disk d = hdd();
	struct iosched_group_params g;
	struct stream s[4];
	unsigned i;

	/* 1 has a third; 2 the rest, of which 3 (below 2) three quarters. */
	iosched_group_params_init(&g, sizeof(g));
	ck_assert_int_eq(iosched_group_set(d.queue, 1, &g, d.now), 0);
	g.weight = 200;
	ck_assert_int_eq(iosched_group_set(d.queue, 2, &g, d.now), 0);
	g.weight = 300;
	g.parent = 2;
	ck_assert_int_eq(iosched_group_set(d.queue, 3, &g, d.now), 0);
	for (i = 0; i < 4; i++)
		s[i] = scattered(i + 1);
	weigh(&d, 1, 100, 3);
	weigh(&d, 2, 100, 2);
	weigh(&d, 3, 100, 1);
	weigh(&d, 4, 100, 1);
	assert_share(share_of_first(&d, s, 4), 500);
	ck_assert_msg(s[1].busy_ns * 3 > s[0].busy_ns * 9 / 10, "a quarter of two thirds");
	end(&d);
}
END_TEST

START_TEST(a_read_beside_anything_starts_within_its_deadline)
{
	struct disk d = hdd();
	struct stream s[5] = {sequential(1, 0), sequential(2, DISK_BYTES / 2), writeback(3, true),
			      writeback(4, false), scattered(5)};

	disk_run(&d, s, 5, d.now + 20 * SEC);
	ck_assert_uint_gt(s[4].done, 10);
	ck_assert_uint_le(s[4].wait_max, 515 * MS);
	ck_assert_uint_le(s[2].wait_max, 5035 * MS);
	ck_assert_uint_le(s[3].wait_max, 5035 * MS);
	end(&d);
}
END_TEST

START_TEST(an_fsync_writer_below_its_share_waits_for_a_service_not_a_visit)
{
	struct disk d = hdd();
	struct stream s[4] = {log_writer(1, 100 * MS), sequential(2, 0), scattered(3),
			      writeback(4, false)};

	disk_run(&d, s, 4, d.now + 2 * SEC);
	s[0].latency_max = 0;
	disk_run(&d, s, 4, d.now + 10 * SEC);
	ck_assert_uint_gt(s[0].done, 70);
	ck_assert_uint_le(s[0].latency_max, 60 * MS);
	end(&d);
}
END_TEST

START_TEST(holding_stops_when_it_does_not_pay)
{
	struct disk d = hdd();
	struct stream s[2] = {sequential(1, 0), scattered(2)};
	struct iosched_stats before, after;
	struct iosched_params p = params();

	(void)p;
	s[0].depth = 1;
	s[0].think_ns = 7 * MS; /* always a little too long */
	disk_run(&d, s, 2, d.now + 3 * SEC);
	iosched_stats_get(d.queue, &before, sizeof(before));
	d.idle_ns = 0;
	disk_run(&d, s, 2, d.now + 10 * SEC);
	iosched_stats_get(d.queue, &after, sizeof(after));
	ck_assert_msg(d.idle_ns < SEC / 2, "idle for %llu ms",
		      (unsigned long long)(d.idle_ns / MS));
	end(&d);
}
END_TEST

START_TEST(holding_is_done_when_it_pays)
{
	struct disk d = hdd();
	struct stream s[2] = {sequential(1, 0), scattered(2)};

	s[0].depth = 1;
	s[0].think_ns = MS / 2;
	disk_run(&d, s, 2, d.now + 10 * SEC);
	ck_assert_msg(s[0].done_bytes > 200 << 20, "the stream read %llu MiB",
		      (unsigned long long)(s[0].done_bytes >> 20));
	end(&d);
}
END_TEST

static void limit(struct disk *d, uint64_t context, struct iosched_limits limits)
{
	struct iosched_context_params p;

	iosched_context_params_init(&p, sizeof(p));
	p.limits = limits;
	ck_assert_int_eq(iosched_context_set(d->queue, context, &p, d->now), 0);
}

START_TEST(a_limit_holds_though_the_device_is_idle)
{
	struct disk d = hdd();
	struct stream s[1] = {scattered(1)};

	limit(&d, 1, (struct iosched_limits){.max_iops = 20});
	disk_run(&d, s, 1, d.now + 10 * SEC);
	ck_assert_uint_ge(s[0].done, 190);
	ck_assert_uint_le(s[0].done, 202);
	end(&d);
}
END_TEST

START_TEST(a_limit_in_bytes_holds)
{
	struct disk d = hdd();
	struct stream s[2] = {sequential(1, 0), scattered(2)};

	limit(&d, 1, (struct iosched_limits){.max_bps = 10 << 20});
	disk_run(&d, s, 2, d.now + 10 * SEC);
	ck_assert_uint_le(s[0].done_bytes, 101 << 20);
	ck_assert_uint_ge(s[0].done_bytes, 90 << 20);
	end(&d);
}
END_TEST

START_TEST(a_limit_in_device_time_holds_and_the_rest_goes_to_the_others)
{
	struct disk d = hdd();
	struct stream s[2] = {sequential(1, 0), scattered(2)};

	limit(&d, 1, (struct iosched_limits){.max_permille = 200});
	assert_share(share_of_first(&d, s, 2), 200);
	end(&d);
}
END_TEST

START_TEST(a_group_limit_binds_all_its_contexts_together)
{
	struct disk d = hdd();
	struct iosched_group_params g;
	struct stream *s = calloc(32, sizeof(*s));
	uint64_t done = 0;
	unsigned i;

	iosched_group_params_init(&g, sizeof(g));
	g.limits.max_iops = 30;
	ck_assert_int_eq(iosched_group_set(d.queue, 7, &g, d.now), 0);
	for (i = 0; i < 32; i++) {
		s[i] = scattered(i + 1);
		weigh(&d, i + 1, 100, 7);
	}
	disk_run(&d, s, 32, d.now + 10 * SEC);
	for (i = 0; i < 32; i++) {
		ck_assert_uint_ge(s[i].done, 5);
		done += s[i].done;
	}
	ck_assert_uint_ge(done, 280);
	ck_assert_uint_le(done, 302);
	end(&d);
	free(s);
}
END_TEST

START_TEST(a_reservation_outweighs_weights)
{
	struct disk d = hdd();
	struct stream *s = calloc(20, sizeof(*s));
	unsigned i, share;

	for (i = 0; i < 20; i++)
		s[i] = scattered(i + 1);
	limit(&d, 1, (struct iosched_limits){.min_permille = 300});
	share = share_of_first(&d, s, 20);
	ck_assert_msg(share >= 280, "share %u permille", share);
	end(&d);
	free(s);
}
END_TEST

START_TEST(an_unused_reservation_goes_to_the_others)
{
	struct disk d = hdd();
	struct stream s[2] = {scattered(1), scattered(2)};

	limit(&d, 3, (struct iosched_limits){.min_permille = 500});
	assert_share(share_of_first(&d, s, 2), 500);
	ck_assert_uint_eq(d.idle_ns / SEC, 0);
	end(&d);
}
END_TEST

START_TEST(bad_limits_are_refused)
{
	struct disk d = hdd();
	struct iosched_context_params p;
	struct iosched *noop;
	struct iosched_params q;

	iosched_context_params_init(&p, sizeof(p));
	p.limits.max_permille = 1001;
	ck_assert_int_eq(iosched_context_set(d.queue, 1, &p, d.now), -22);
	p.limits = (struct iosched_limits){.min_iops = 10, .max_iops = 5};
	ck_assert_int_eq(iosched_context_set(d.queue, 1, &p, d.now), -22);
	p.limits = (struct iosched_limits){.max_iops = 5};
	iosched_params_init(&q, sizeof(q));
	ck_assert_int_eq(iosched_create(&noop, &q), 0);
	ck_assert_int_eq(iosched_context_set(noop, 1, &p, 0), -95);
	ck_assert_int_eq(iosched_destroy(noop), 0);
	/* A program built before limits existed passes a shorter struct. */
	p.size = offsetof(struct iosched_context_params, limits);
	ck_assert_int_eq(iosched_context_set(d.queue, 1, &p, d.now), 0);
	end(&d);
}
END_TEST

static uint64_t fences(uint8_t can_flush)
{
	struct iosched_params p = params();
	struct disk d;
	struct stream s[2] = {sequential(1, 0), writeback(2, false)};
	uint64_t flushes;

	p.write_cache = 1;
	p.can_flush = can_flush;
	d = disk(&p);
	disk_run(&d, s, 2, d.now + 5 * SEC);
	flushes = d.flushes;
	end(&d);
	return flushes;
}

START_TEST(async_visits_are_fenced_only_where_the_host_can_flush)
{
	ck_assert_uint_eq(fences(0), 0);
	ck_assert_uint_gt(fences(1), 10);
}
END_TEST

START_TEST(readers_or_writeback_alone_are_never_fenced)
{
	struct iosched_params p = params();
	struct disk d;
	struct stream s[2] = {sequential(1, 0), scattered(2)};

	p.write_cache = 1;
	p.can_flush = 1;
	d = disk(&p);
	if (_i == 1) {
		s[0] = writeback(1, false);
		s[1] = writeback(2, true);
	}
	disk_run(&d, s, 2, d.now + 5 * SEC);
	ck_assert_uint_eq(d.flushes, 0);
	end(&d);
}
END_TEST

START_TEST(the_idle_class_gets_nothing_beside_others_and_all_without)
{
	struct disk d = hdd();
	struct stream s[2] = {scattered(1), scattered(2)};
	uint64_t beside;

	s[1].prio_class = IOSCHED_IDLE;
	disk_run(&d, s, 2, d.now + 5 * SEC);
	beside = s[1].done;
	ck_assert_uint_le(beside, 2);
	disk_run(&d, s + 1, 1, d.now + 5 * SEC);
	ck_assert_uint_gt(s[1].done, 300);
	d.queue = d.queue;
	end(&d);
}
END_TEST

START_TEST(real_time_goes_first_but_best_effort_is_rescued)
{
	struct disk d = hdd();
	struct stream s[2] = {sequential(1, 0), scattered(2)};

	s[0].prio_class = IOSCHED_REALTIME;
	disk_run(&d, s, 2, d.now + 10 * SEC);
	ck_assert_uint_ge(s[1].done, 10);
	ck_assert_uint_le(s[1].done, 40);
	ck_assert_uint_le(s[1].wait_max, 515 * MS);
	end(&d);
}
END_TEST

START_TEST(a_deadline_of_the_hosts_is_kept)
{
	struct disk d = hdd();
	struct stream s[4] = {scattered(1), sequential(2, 0), writeback(3, true),
			      sequential(4, DISK_BYTES / 2)};

	s[0].deadline_ns = 30 * MS;
	s[0].think_ns = 60 * MS; /* within its quarter */
	disk_run(&d, s, 4, d.now + 10 * SEC);
	ck_assert_uint_le(s[0].wait_max, 60 * MS);
	end(&d);
}
END_TEST

START_TEST(flash_is_shared_without_waiting)
{
	struct iosched_params p = params();
	struct disk d;
	struct stream s[2] = {scattered(1), scattered(2)};

	p.rotational = 0;
	p.device_depth = 32;
	d = disk(&p);
	d.channels = 8;
	s[0].depth = s[1].depth = 16;
	disk_run(&d, s, 2, d.now + SEC / 4);
	ck_assert_uint_eq(d.idle_ns, 0);
	ck_assert_uint_gt(s[0].done * 100, s[1].done * 98);
	ck_assert_uint_gt(s[1].done * 100, s[0].done * 98);
	end(&d);
}
END_TEST

/* -- anything, in any order -- */

#define POOL 200

struct chaos {
	struct iosched *q;
	struct iosched_request rq[POOL];
	struct iosched_request *out[POOL], *flush;
	unsigned n_out;
	bool in[POOL]; /* inserted and not yet returned */
	iosched_time now;
	struct disk random;
};

static unsigned below(struct chaos *c, unsigned n)
{
	return (unsigned)(disk_random(&c->random) % n);
}

static void chaos_insert(struct chaos *c)
{
	unsigned i = below(c, POOL);
	struct iosched_request *rq = &c->rq[i];

	if (c->in[i])
		return;
	memset(rq, 0, sizeof(*rq));
	rq->offset = UINT64_C(4096) * below(c, below(c, 2) ? 64 : 1 << 28);
	rq->length = 4096u * (1 + below(c, 32));
	rq->context = below(c, 12);
	rq->op = (uint8_t)(below(c, 20) == 0 ? IOSCHED_DISCARD : below(c, 2));
	rq->flags = below(c, 3) == 0 ? IOSCHED_RQ_SYNC : 0;
	if (below(c, 30) == 0)
		rq->flags |= IOSCHED_RQ_HEAD;
	rq->prio_class = (uint8_t)(below(c, 6) < 3 ? 0 : below(c, 3));
	if (below(c, 8) == 0)
		rq->deadline = c->now + below(c, 300) * MS;
	rq->user = c;
	c->in[i] = true;
	ck_assert_int_eq(iosched_insert(c->q, rq, c->now), 0);
}

static void returned(struct chaos *c, struct iosched_request *rq)
{
	struct iosched_request *m = rq->merged, *next;

	if (rq->user == c)
		c->in[rq - c->rq] = false;
	for (; m != NULL; m = next) {
		next = iosched_merged_next(m);
		c->in[m - c->rq] = false;
	}
}

static void chaos_dispatch(struct chaos *c)
{
	struct iosched_request *rq = iosched_dispatch(c->q, c->now);
	enum iosched_hold why = iosched_hold_reason(c->q);

	if (rq != NULL) {
		c->out[c->n_out++] = rq;
		return;
	}
	if (why == IOSCHED_HOLD_IDLING || why == IOSCHED_HOLD_THROTTLED)
		ck_assert_uint_ne(iosched_next_wakeup(c->q), IOSCHED_NEVER);
	else if (why == IOSCHED_HOLD_EMPTY)
		ck_assert_uint_eq(iosched_queued(c->q), 0);
	else
		ck_assert_uint_gt(c->n_out, 0);
}

static void chaos_complete(struct chaos *c, bool requeue)
{
	unsigned i = c->n_out == 0 ? 0 : below(c, c->n_out);
	struct iosched_request *rq = c->out[i];

	if (c->n_out == 0)
		return;
	c->out[i] = c->out[--c->n_out];
	if (requeue) {
		ck_assert_int_eq(iosched_requeue(c->q, rq, c->now), 0);
		return;
	}
	returned(c, rq);
	ck_assert_int_eq(iosched_complete(c->q, rq, c->now), 0);
}

static void chaos_cancel(struct chaos *c)
{
	unsigned i = below(c, POOL);

	if (c->in[i] && iosched_cancel(c->q, &c->rq[i], c->now) == 0)
		c->in[i] = false;
}

static void chaos_owner(struct chaos *c)
{
	struct iosched_context_params p;
	struct iosched_group_params g;
	uint64_t group = below(c, 4);

	iosched_group_params_init(&g, sizeof(g));
	g.weight = 1 + below(c, 1000);
	g.parent = below(c, 4);
	if (below(c, 2))
		g.limits.max_iops = 1 + below(c, 400);
	if (below(c, 3) == 0)
		g.limits.min_permille = below(c, 300);
	iosched_group_set(c->q, group, &g, c->now);
	iosched_context_params_init(&p, sizeof(p));
	p.weight = 1 + below(c, 1000);
	p.group = below(c, 4);
	p.prio_class = (uint8_t)below(c, 3);
	if (below(c, 3) == 0)
		p.limits.max_bps = 1000000 + below(c, 100000000);
	if (below(c, 4) == 0)
		p.limits.min_iops = below(c, 50);
	iosched_context_set(c->q, below(c, 12), &p, c->now);
	if (below(c, 2))
		iosched_context_exit(c->q, below(c, 12), c->now);
}

static void chaos_switch(struct chaos *c)
{
	const char *name = below(c, 3) == 0 ? "noop" : "fair-deadline";

	ck_assert_int_eq(iosched_switch(c->q, iosched_policy_find(name), c->now), 0);
}

static void chaos_step(struct chaos *c)
{
	switch (below(c, 24)) {
	case 0:
		chaos_cancel(c);
		break;
	case 1:
		iosched_reprioritize(c->q, &c->rq[below(c, POOL)], below(c, 3), below(c, 9),
				     c->now);
		break;
	case 2:
		if (below(c, 4) == 0)
			chaos_owner(c);
		break;
	case 3:
		chaos_complete(c, below(c, 4) == 0);
		break;
	case 4:
		if (below(c, 200) == 0)
			chaos_switch(c);
		break;
	case 5:
		c->now += below(c, 40) * MS;
		break;
	case 6:
		iosched_timer(c->q, c->now);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
	case 11:
		chaos_insert(c);
		break;
	case 12:
	case 13:
	case 14:
	case 15:
	case 16:
	case 17:
		chaos_dispatch(c);
		break;
	default:
		chaos_complete(c, false);
	}
	c->now += below(c, 1000) * 1000;
}

static bool anything_in(const struct chaos *c)
{
	unsigned i;

	for (i = 0; i < POOL; i++)
		if (c->in[i])
			return true;
	return false;
}

/* All that went in comes out, with nothing but dispatch, complete and the timer. */
static void run_dry(struct chaos *c)
{
	unsigned i;

	for (i = 0; i < 100000 && (iosched_queued(c->q) != 0 || c->n_out != 0); i++) {
		chaos_dispatch(c);
		if (c->n_out > 0 && iosched_hold_reason(c->q) != IOSCHED_HOLD_NONE)
			chaos_complete(c, false);
		else if (iosched_next_wakeup(c->q) != IOSCHED_NEVER &&
			 iosched_next_wakeup(c->q) > c->now)
			c->now = iosched_next_wakeup(c->q);
	}
	ck_assert_uint_eq(iosched_queued(c->q), 0);
	ck_assert(!anything_in(c));
}

START_TEST(random_calls_lose_nothing_and_never_stall)
{
	struct iosched_params p = params();
	struct chaos *c = calloc(1, sizeof(*c));
	unsigned i;

	p.rotational = _i % 3 != 2;
	p.write_cache = _i & 1;
	p.can_flush = 1;
	p.array = _i % 4 == 3;
	p.parallel = (uint8_t)(_i % 3);
	p.max_contexts = 6 + (unsigned)_i % 8;
	p.device_depth = 16;
	c->random.rng = 7919u * (unsigned)(_i + 1);
	c->now = SEC;
	ck_assert_int_eq(iosched_create(&c->q, &p), 0);
	for (i = 0; i < 6000; i++)
		chaos_step(c);
	run_dry(c);
	ck_assert_int_eq(iosched_destroy(c->q), 0);
	free(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fair-deadline");
	TCase *c = tcase_create("all");
	SRunner *r;
	int failed;

	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, two_streams_share_by_weight, 0, 4);
	tcase_add_loop_test(c, a_stream_and_a_random_reader_share_by_weight, 0, 4);
	tcase_add_loop_test(c, two_random_readers_share_by_weight, 0, 4);
	tcase_add_loop_test(c, a_reader_and_writeback_share_by_weight, 0, 4);
	tcase_add_test(c, a_shallow_reader_keeps_its_half_beside_a_deep_one);
	tcase_add_test(c, a_tenant_gains_nothing_by_many_contexts);
	tcase_add_test(c, nested_groups_multiply_their_shares);
	tcase_add_test(c, a_read_beside_anything_starts_within_its_deadline);
	tcase_add_test(c, an_fsync_writer_below_its_share_waits_for_a_service_not_a_visit);
	tcase_add_test(c, holding_stops_when_it_does_not_pay);
	tcase_add_test(c, holding_is_done_when_it_pays);
	tcase_add_test(c, a_limit_holds_though_the_device_is_idle);
	tcase_add_test(c, a_limit_in_bytes_holds);
	tcase_add_test(c, a_limit_in_device_time_holds_and_the_rest_goes_to_the_others);
	tcase_add_test(c, a_group_limit_binds_all_its_contexts_together);
	tcase_add_test(c, a_reservation_outweighs_weights);
	tcase_add_test(c, an_unused_reservation_goes_to_the_others);
	tcase_add_test(c, bad_limits_are_refused);
	tcase_add_test(c, async_visits_are_fenced_only_where_the_host_can_flush);
	tcase_add_loop_test(c, readers_or_writeback_alone_are_never_fenced, 0, 2);
	tcase_add_test(c, the_idle_class_gets_nothing_beside_others_and_all_without);
	tcase_add_test(c, real_time_goes_first_but_best_effort_is_rescued);
	tcase_add_test(c, a_deadline_of_the_hosts_is_kept);
	tcase_add_test(c, flash_is_shared_without_waiting);
	tcase_add_loop_test(c, random_calls_lose_nothing_and_never_stall, 0, 24);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
