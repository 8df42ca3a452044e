/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline's tenants on disks, flash and an array: what one gets does not depend on how
 * many contexts another has, and reservations and limits are kept.
 *
 * Groups and weights go by the simulator's public calls; limits are set on the queue itself, so
 * those tests put host, device and streams together on their own.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generality/descriptor.h"
#include "sim/load.h"
#include "sim/result.h"

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)
#define VICTIM 1 /* context and group of the one */
#define MANY 2	 /* group of the others, and the first of their contexts */
#define STREAMS 66

static struct iosched_sim_stream streams[STREAMS];
static unsigned count;
static struct iosched_sim_result *result;

/* Where, for how long, and with how many requests a context can use half of it. */
struct place {
	struct device d;
	uint64_t length_ns, warmup_ns;
	uint32_t depth;
	unsigned points;   /* how far from its share, permille */
	unsigned slower;   /* percent: p99 beside many over that beside one */
	unsigned weighted; /* how far with weights of 3:1 */
};

static const struct place places[] = {
	{{"hdd", "hdd", "22s", "2s", "", ONE_ARM}, 22 * SEC, 2 * SEC, 1, 20, 150, 20},
	{{"hdd-110-wt", "hdd-110-wt", "22s", "2s", "", ONE_ARM}, 22 * SEC, 2 * SEC, 1, 20, 150, 20},
	{{"hdd-10k", "hdd-10k", "22s", "2s", "", ONE_ARM}, 22 * SEC, 2 * SEC, 4, 20, 150, 20},
	{{"ssd", "ssd", "300ms", "100ms", "", CHANNELS}, 300 * MS, 100 * MS, 16, 20, 150, 20},
	/* Of weights on a device this deep, a part is lost in its queue. */
	{{"nvme", "nvme", "60ms", "20ms", "", CHANNELS}, 60 * MS, 20 * MS, 96, 20, 150, 150},
	/* Twelve disks are not all busy with 16 commands, and the controller chooses. */
	{{"raid10", "raid10", "6s", "1s", "", CHANNELS}, 6 * SEC, SEC, 32, 60, 250, 60},
};

#define PLACES (int)(sizeof(places) / sizeof(places[0]))
#define DISKS 3

/* Measured once, before tests fork. */
static struct descriptor models[sizeof(places) / sizeof(places[0])];

static const struct descriptor *model_of(const struct place *p)
{
	return &models[p - places];
}

static void setup(void)
{
	count = 0;
	result = NULL;
}

static void teardown(void)
{
	iosched_sim_result_free(result);
}

static struct iosched_sim_stream *add(uint64_t group, uint32_t depth)
{
	struct iosched_sim_stream *s = &streams[count++];

	iosched_sim_stream_init(s, sizeof(*s));
	s->context = count;
	s->group = group;
	s->pattern = IOSCHED_SIM_RANDOM;
	s->depth = depth;
	return s;
}

static struct iosched_sim_stream *victim(const struct place *p)
{
	count = 0;
	return add(VICTIM, p->depth);
}

static const struct iosched_sim_row *row(unsigned stream)
{
	const struct iosched_sim_row *found =
		iosched_sim_result_row(result, streams[stream].context, IOSCHED_SIM_ALL_OPS);

	ck_assert_ptr_nonnull(found);
	return found;
}

static void run_with(const struct place *p, const struct descriptor *model)
{
	struct iosched_sim_config c;
	struct iosched_sim_error why;

	iosched_sim_config_init(&c, sizeof(c));
	c.policy = iosched_policy_find("fair-deadline");
	c.device = p->d.line;
	c.length_ns = p->length_ns;
	c.warmup_ns = p->warmup_ns;
	c.streams = streams;
	c.stream_count = count;
	c.tunables = model->tunables;
	c.tunable_count = model->count;
	iosched_sim_result_free(result);
	ck_assert_msg(iosched_sim_run(&c, &result, &why) == 0, "%s: %s", p->d.name, why.text);
}

static void run(const struct place *p)
{
	run_with(p, model_of(p));
}

static void assert_half(const struct place *p, unsigned contexts)
{
	unsigned got = row(0)->device_share_ppm / 1000;

	ck_assert_msg(got + p->points >= 500 && got <= 500 + p->points,
		      "%s: beside %u contexts it has %u permille", p->d.name, contexts, got);
}

/* --- how many the others are --- */

static const unsigned crowds[] = {4, 16, 64};

START_TEST(a_crowd_of_readers_has_no_more_than_one)
{
	const struct place *p = &places[_i];
	uint64_t alone;

	victim(p);
	add(MANY, p->depth);
	run(p);
	assert_half(p, 1);
	alone = row(0)->total.p99;
	for (unsigned k = 0; k < sizeof(crowds) / sizeof(crowds[0]); k++) {
		victim(p);
		while (count < 1 + crowds[k])
			add(MANY, p->depth);
		run(p);
		assert_half(p, crowds[k]);
		ck_assert_msg(row(0)->total.p99 <= alone * p->slower / 100,
			      "%s: beside %u contexts p99 is %llu ns, beside one %llu", p->d.name,
			      crowds[k], (unsigned long long)row(0)->total.p99,
			      (unsigned long long)alone);
	}
}
END_TEST

START_TEST(a_crowd_of_streams_has_no_more_than_one_on_a_disk)
{
	const struct place *p = &places[_i];

	for (unsigned k = 0; k < sizeof(crowds) / sizeof(crowds[0]); k++) {
		victim(p);
		while (count < 1 + crowds[k]) {
			struct iosched_sim_stream *s = add(MANY, 2);

			s->pattern = IOSCHED_SIM_SEQUENTIAL;
			s->request_bytes = 131072;
			s->region_length = SEC;
			s->region_offset = count * 2 * SEC;
		}
		run(p);
		assert_half(p, crowds[k]);
	}
}
END_TEST

/* A tenant's one writer beside its reader binds both to one share. */
START_TEST(reads_and_writeback_of_a_tenant_have_one_share)
{
	const struct place *p = &places[_i];

	victim(p);
	add(MANY, 1);
	add(MANY, 16)->read_permyriad = 0;
	run(p);
	assert_half(p, 2);
}
END_TEST

START_TEST(weights_of_groups_hold_whatever_their_contexts_weigh)
{
	const struct place *p = &places[_i];
	unsigned got;

	victim(p)->group_weight = 300;
	while (count < 9) {
		struct iosched_sim_stream *s = add(MANY, p->depth);

		s->weight = 1000;
		s->group_weight = 100;
	}
	run(p);
	got = row(0)->device_share_ppm / 1000;
	ck_assert_msg(got + p->weighted >= 750 && got <= 750 + p->weighted, "%s: %u permille",
		      p->d.name, got);
}
END_TEST

/* --- sync writers --- */

static void sync_writers(const struct place *p, unsigned n, uint64_t group)
{
	while (n-- > 0) {
		struct iosched_sim_stream *s = add(group, p->depth);

		s->read_permyriad = 0;
		s->write_flags = IOSCHED_RQ_SYNC;
	}
}

/* A controller's cache swallows thousands of their writes before a reader is harmed by them. */
START_TEST(writers_are_not_stopped_for_what_a_cache_swallowed_before)
{
	static const struct descriptor defaults;
	struct place p = places[PLACES - 1];
	uint64_t written = 0;

	p.length_ns = 10 * SEC;
	p.warmup_ns = 2 * SEC;
	p.depth = 16;
	victim(&p);
	sync_writers(&p, 4, MANY);
	run_with(&p, _i == 0 ? &defaults : &models[PLACES - 1]);
	for (unsigned i = 1; i < count; i++) {
		ck_assert_uint_lt(row(i)->wait.max, 560 * MS);
		written += row(i)->milli_iops / 1000;
	}
	ck_assert_uint_gt(written, 500);		    /* noop: 870 */
	ck_assert_uint_gt(row(0)->milli_iops / 1000, 1100); /* noop: 1270 */
}
END_TEST

/* Each has a credit, and may pass others within it; not all one after the other. */
static const struct {
	unsigned place, writers;
	uint64_t group;
	uint64_t iops_least, wait_most; /* of the reader */
} boosted_crowds[] = {
	{3, 64, MANY, 10000, 2 * MS},
	{3, 64, 0, 500, 50 * MS}, /* a 65th */
	{4, 16, MANY, 250000, 2 * MS},
	{4, 16, 0, 30000, 5 * MS},
};

START_TEST(a_crowd_of_boosted_writers_does_not_stop_a_reader)
{
	const struct place *p = &places[boosted_crowds[_i].place];
	uint64_t group = boosted_crowds[_i].group;

	victim(p)->group = group == 0 ? 0 : VICTIM;
	sync_writers(p, boosted_crowds[_i].writers, group);
	run(p);
	ck_assert_uint_gt(row(0)->milli_iops / 1000, boosted_crowds[_i].iops_least);
	ck_assert_uint_lt(row(0)->wait.max, boosted_crowds[_i].wait_most);
}
END_TEST

/* A log that thinks for most of the time does not want its third of the device. */
START_TEST(writeback_has_what_a_thinking_log_leaves)
{
	struct place p = places[4];
	struct iosched_sim_stream *s;

	p.length_ns = 500 * MS;
	p.warmup_ns = 100 * MS;
	count = 0;
	for (unsigned i = 0; i < 3; i++) {
		s = add(0, i == 0 ? 1 : 64);
		s->read_permyriad = 0;
		s->pattern = IOSCHED_SIM_SEQUENTIAL;
		s->request_bytes = i == 0 ? 4096 : 131072;
		s->region_length = 9 * SEC;
		s->region_offset = i * 10 * SEC;
	}
	streams[0].write_flags = IOSCHED_RQ_SYNC;
	streams[0].think_ns = 5 * MS;
	run_with(&p, model_of(&places[4]));
	ck_assert_uint_gt(row(1)->bytes_per_s + row(2)->bytes_per_s, 5 * SEC);
	ck_assert_uint_lt(row(0)->total.p99, MS);
}
END_TEST

/* --- reservations and limits --- */

struct rig {
	struct ios_sim_host host;
	struct ios_sim_load *loads[STREAMS];
	struct ios_sim_event warm, end;
};

static void warm_up_ends(void *owner)
{
	struct rig *r = owner;

	ios_sim_ledger_reset(&r->host.ledger);
}

static void time_is_up(void *owner)
{
	struct rig *r = owner;

	r->host.ledger.closed = true;
	ios_sim_host_close(&r->host);
}

static void make_queue(struct rig *r, const struct place *p)
{
	const struct ios_sim_device *d = r->host.device;
	const struct descriptor *model = model_of(p);
	struct iosched_params params;

	iosched_params_init(&params, sizeof(params));
	params.policy = iosched_policy_find("fair-deadline");
	params.rotational = d->rotational;
	params.write_cache = d->write_cache;
	params.can_flush = d->write_cache;
	params.array = d->array;
	params.parallel = d->parallel;
	params.device_depth = d->depth;
	params.max_inflight = r->host.window = d->depth;
	params.event = ios_sim_host_event;
	params.user = &r->host;
	ck_assert_int_eq(iosched_create(&r->host.queue, &params), 0);
	for (unsigned i = 0; i < model->count; i++)
		ck_assert_int_eq(iosched_tunable_set(r->host.queue, model->tunables[i].name,
						     model->tunables[i].value),
				 0);
}

static struct rig *make_rig(const struct place *p)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct ios_sim_device_choice choice = {.name = p->d.line};
	struct ios_sim_device *device;
	struct iosched_sim_error why;

	ck_assert_ptr_nonnull(r);
	ios_sim_host_init(&r->host);
	ios_sim_meter_init(&r->host.meter, 1024);
	r->host.meter.from = p->warmup_ns;
	r->host.meter.until = p->length_ns;
	ck_assert_int_eq(
		ios_sim_device_create(&device, &choice, &r->host.engine, &r->host.ledger, &why), 0);
	ios_sim_host_attach(&r->host, device);
	make_queue(r, p);
	return r;
}

static void limit_context(struct rig *r, uint64_t context, struct iosched_limits limits)
{
	struct iosched_context_params p;

	iosched_context_params_init(&p, sizeof(p));
	p.limits = limits;
	ck_assert_int_eq(iosched_context_set(r->host.queue, context, &p, 0), 0);
}

static void limit_group(struct rig *r, uint64_t group, struct iosched_limits limits)
{
	struct iosched_group_params p;
	struct iosched_context_params member;

	iosched_group_params_init(&p, sizeof(p));
	p.limits = limits;
	ck_assert_int_eq(iosched_group_set(r->host.queue, group, &p, 0), 0);
	iosched_context_params_init(&member, sizeof(member));
	member.group = group;
	for (unsigned i = 0; i < count; i++)
		if (streams[i].group == group)
			ck_assert_int_eq(
				iosched_context_set(r->host.queue, streams[i].context, &member, 0),
				0);
}

/* Runs the streams and takes the rig apart. */
static void play(struct rig *r, const struct place *p)
{
	static const struct ios_sim_replay_counts none;
	struct ios_sim_host *h = &r->host;

	for (unsigned i = 0; i < count; i++)
		ck_assert_int_eq(ios_sim_stream_create(&r->loads[i], h, &streams[i], NULL, 1, i),
				 0);
	ios_sim_event_init(&r->warm, warm_up_ends, r);
	ios_sim_event_init(&r->end, time_is_up, r);
	ios_sim_schedule(&h->engine, &r->warm, p->warmup_ns);
	ios_sim_schedule(&h->engine, &r->end, p->length_ns);
	for (unsigned i = 0; i < count; i++)
		r->loads[i]->start(r->loads[i]);
	ck_assert_int_ge(ios_sim_engine_run(&h->engine), 0);
	ck_assert_str_eq(h->watch.violation.text, "");
	ck_assert_int_eq(ios_sim_result_make(&result, h, &none), 0);
	for (unsigned i = 0; i < count; i++)
		r->loads[i]->destroy(r->loads[i]);
	ios_sim_host_fini(h);
	free(r);
}

static void assert_between(const struct place *p, const char *what, uint64_t got, uint64_t least,
			   uint64_t most)
{
	ck_assert_msg(got >= least && got <= most, "%s: %s is %llu, not %llu to %llu", p->d.name,
		      what, (unsigned long long)got, (unsigned long long)least,
		      (unsigned long long)most);
}

static uint64_t iops(unsigned stream)
{
	return row(stream)->milli_iops / 1000;
}

/* Permille of what all got. */
static unsigned share(unsigned stream)
{
	return row(stream)->device_share_ppm / 1000;
}

/* A third of what one context alone would get there. */
static uint64_t third_of_solo(const struct place *p)
{
	struct rig *r = make_rig(p);
	uint64_t got;

	count = 0;
	add(0, p->depth);
	play(r, p);
	got = iops(0) / 3;
	iosched_sim_result_free(result);
	result = NULL;
	count = 0;
	return got;
}

START_TEST(a_limit_in_requests_is_kept_though_there_is_room)
{
	const struct place *p = &places[_i];
	uint32_t most = (uint32_t)third_of_solo(p);
	struct rig *r = make_rig(p);

	add(0, p->depth);
	limit_context(r, 1, (struct iosched_limits){.max_iops = most});
	play(r, p);
	assert_between(p, "iops", iops(0), most * 95ull / 100, most * 103ull / 100 + 1);
}
END_TEST

START_TEST(a_limit_of_a_group_binds_its_contexts_together)
{
	const struct place *p = &places[_i];
	uint32_t most = (uint32_t)third_of_solo(p);
	struct rig *r = make_rig(p);
	uint64_t sum = 0;

	while (count < 8)
		add(MANY, p->depth);
	limit_group(r, MANY, (struct iosched_limits){.max_iops = most});
	play(r, p);
	for (unsigned i = 0; i < count; i++) {
		sum += iops(i);
		ck_assert_uint_gt(row(i)->requests, 0);
	}
	assert_between(p, "iops", sum, most * 90ull / 100, most * 103ull / 100 + 8);
}
END_TEST

START_TEST(a_limit_in_bytes_is_kept_beside_others)
{
	const struct place *p = &places[_i];
	uint64_t most = third_of_solo(p) * 4096 / 2;
	struct rig *r = make_rig(p);

	add(0, p->depth);
	add(0, 1);
	limit_context(r, 1, (struct iosched_limits){.max_bps = most});
	play(r, p);
	assert_between(p, "bytes/s", row(0)->bytes_per_s, most * 9 / 10, most * 103 / 100 + 4096);
}
END_TEST

START_TEST(a_reservation_in_requests_is_kept_among_many)
{
	const struct place *p = &places[_i];
	uint32_t least = (uint32_t)third_of_solo(p);
	struct rig *r = make_rig(p);

	while (count < 17)
		add(0, p->depth);
	limit_context(r, 1, (struct iosched_limits){.min_iops = least});
	play(r, p);
	assert_between(p, "iops", iops(0), least * 95ull / 100, UINT64_MAX);
}
END_TEST

START_TEST(a_reservation_of_a_group_is_kept_among_many)
{
	const struct place *p = &places[_i];
	uint32_t least = (uint32_t)third_of_solo(p);
	struct rig *r = make_rig(p);
	uint64_t sum;

	add(VICTIM, p->depth);
	add(VICTIM, p->depth);
	while (count < 18)
		add(0, p->depth);
	limit_group(r, VICTIM, (struct iosched_limits){.min_iops = least});
	play(r, p);
	sum = iops(0) + iops(1);
	assert_between(p, "iops", sum, least * 95ull / 100, UINT64_MAX);
}
END_TEST

START_TEST(a_reservation_in_device_time_is_kept_on_a_disk)
{
	const struct place *p = &places[_i];
	struct rig *r = make_rig(p);

	while (count < 17)
		add(0, 1);
	limit_context(r, 1, (struct iosched_limits){.min_permille = 300});
	play(r, p);
	assert_between(p, "permille", share(0), 280, 1000);
}
END_TEST

START_TEST(a_limit_in_device_time_is_kept_on_a_disk)
{
	const struct place *p = &places[_i];
	struct rig *r = make_rig(p);

	while (count < 3)
		add(0, 1);
	limit_context(r, 1, (struct iosched_limits){.max_permille = 150});
	play(r, p);
	assert_between(p, "permille", share(0), 130, 165);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fair-deadline tenants");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	for (int i = 0; i < PLACES; i++) {
		struct iosched_sim_error why;

		if (descriptor_measure(&models[i], &places[i].d, &why) != 0) {
			fprintf(stderr, "%s: %s\n", places[i].d.name, why.text);
			return EXIT_FAILURE;
		}
	}
	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_crowd_of_readers_has_no_more_than_one, 0, PLACES);
	tcase_add_loop_test(t, a_crowd_of_streams_has_no_more_than_one_on_a_disk, 0, DISKS);
	tcase_add_loop_test(t, reads_and_writeback_of_a_tenant_have_one_share, 0, DISKS);
	tcase_add_loop_test(t, weights_of_groups_hold_whatever_their_contexts_weigh, 0, PLACES);
	tcase_add_loop_test(t, writers_are_not_stopped_for_what_a_cache_swallowed_before, 0, 2);
	tcase_add_loop_test(t, a_crowd_of_boosted_writers_does_not_stop_a_reader, 0, 4);
	tcase_add_test(t, writeback_has_what_a_thinking_log_leaves);
	tcase_add_loop_test(t, a_limit_in_requests_is_kept_though_there_is_room, 0, PLACES);
	tcase_add_loop_test(t, a_limit_of_a_group_binds_its_contexts_together, 0, PLACES);
	tcase_add_loop_test(t, a_limit_in_bytes_is_kept_beside_others, 0, PLACES);
	/* The array's trials of one arm cost reservations there. */
	tcase_add_loop_test(t, a_reservation_in_requests_is_kept_among_many, 0, PLACES - 1);
	tcase_add_loop_test(t, a_reservation_of_a_group_is_kept_among_many, 0, PLACES);
	tcase_add_loop_test(t, a_reservation_in_device_time_is_kept_on_a_disk, 0, DISKS);
	tcase_add_loop_test(t, a_limit_in_device_time_is_kept_on_a_disk, 0, DISKS);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
