/* SPDX-License-Identifier: MIT */
/*
 * What must be true of fair-deadline's tags at every step, looked at from inside, on a tiny
 * virtual disk without a cache: charges add up to time, virtual time goes forward, those that wait
 * stay together, boosts stay within their credit. Names are those of its page and of the list of
 * invariants it was designed by.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/sched.h"
#include "disk.h"
#include "sim/promise.h"

#undef IOS_ONE_UNIT /* of the policy only the types are wanted */
#include "policies/fair_deadline/fd.h"

#define STREAMS 20
/* Of this disk: 12 ms to the far end and back, and 512 KiB. */
#define COSTLIEST_NS (UINT64_C(17) * MS)
#define CAP 8 /* requests in flight that may be corrected */

struct look {
	struct disk disk;
	struct fd *fd;
	struct ios_sim_promise promise;
	struct stream s[STREAMS];
	unsigned n;

	uint64_t vtime[FD_CLASSES];
	uint64_t spread; /* largest, ns of virtual time */
	uint32_t inflight;
	iosched_time last; /* completion, or dispatch to the idle disk */
	uint64_t boosts;
	/* Boosted service less virtual time: now, its least, and how far it rose above that. */
	int64_t boosted, boosted_least, boosted_most;
};

static struct look *l;

/* -- what is seen -- */

static void see_vtime(void)
{
	for (unsigned i = 0; i < FD_CLASSES; i++) {
		ck_assert_msg(!fd_before(l->fd->cls[i].vtime, l->vtime[i]), "V went back");
		l->vtime[i] = l->fd->cls[i].vtime;
	}
}

static void see_flows(struct iosched_list_link *list)
{
	for (struct iosched_list_link *k = list->next; k != list; k = k->next) {
		const struct fd_flow *f = IOS_CONTAINER(k, struct fd_flow, activity);

		/* What was estimated too high is given back. */
		ck_assert_msg(!fd_before(f->tag + CAP * COSTLIEST_NS, l->fd->cls[f->cls].vtime),
			      "an active flow is behind V");
	}
}

static void see_spread(void)
{
	bool any = false;
	uint64_t least = 0, most = 0;

	for (struct iosched_list_link *k = l->fd->busy.next; k != &l->fd->busy; k = k->next) {
		const struct fd_flow *f = IOS_CONTAINER(k, struct fd_flow, activity);

		least = !any || fd_before(f->tag, least) ? f->tag : least;
		most = !any || fd_before(most, f->tag) ? f->tag : most;
		any = true;
	}
	if (most - least > l->spread)
		l->spread = most - least;
}

static void see_order(const struct iosched_request *rq)
{
	const struct iosched_request *first = ios_fifo_first(&fd_flow_of(rq)->fifo);

	if (!(rq->internal.mark & FD_MARK_BOOST))
		return;
	l->boosts++;
	ck_assert_msg(first == NULL || first->inserted >= rq->inserted,
		      "a boosted write passes its own flow's older one");
}

/* The disk serves one at a time: what came to its end now began when the last one ended. */
static void see_boost(const struct iosched_request *rq, iosched_time now)
{
	int64_t above;

	if (rq->internal.mark & FD_MARK_BOOST)
		l->boosted += (int64_t)(now - l->last);
	l->last = now;
	above = l->boosted - (int64_t)l->fd->cls[IOSCHED_BEST_EFFORT].vtime;
	if (above < l->boosted_least)
		l->boosted_least = above;
	if (above - l->boosted_least > l->boosted_most)
		l->boosted_most = above - l->boosted_least;
}

static void see(void *user, const struct iosched_event *event)
{
	(void)user;
	ios_sim_promise_event(&l->promise, event);
	ck_assert_str_eq(l->promise.broken, "");
	if (event->type == IOSCHED_EVENT_COMPLETE)
		see_boost(event->rq, event->now);
	if (event->type != IOSCHED_EVENT_DISPATCH)
		return;
	see_vtime();
	see_flows(&l->fd->busy);
	see_flows(&l->fd->grace);
	see_spread();
	see_order(event->rq);
	if (l->fd->infl == 1)
		l->last = event->now;
	if (l->fd->infl > l->inflight)
		l->inflight = l->fd->infl;
}

/* -- a disk and its streams -- */

static void setup(void)
{
	struct iosched_params p;

	l = calloc(1, sizeof(*l));
	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find("fair-deadline");
	p.now = SEC;
	p.parallel = IOSCHED_PARALLEL_NO;
	p.audit = 1;
	p.event = see;
	l->disk.channels = 1;
	l->disk.depth = 32;
	l->disk.now = SEC;
	l->disk.rng = UINT64_C(88172645463325252);
	ck_assert_int_eq(iosched_create(&l->disk.queue, &p), 0);
	l->fd = l->disk.queue->self;
	ios_sim_promise_init(&l->promise, l->disk.queue, 1);
}

static void teardown(void)
{
	ios_sim_promise_fini(&l->promise);
	free(l);
}

static void end(void)
{
	while (iosched_drain(l->disk.queue, l->disk.now) != NULL)
		;
	while (l->disk.n_in > 0)
		iosched_complete(l->disk.queue, l->disk.in[--l->disk.n_in], l->disk.now);
	ck_assert_int_eq(iosched_destroy(l->disk.queue), 0);
}

static struct stream *add(void)
{
	struct stream *s = &l->s[l->n++];

	s->context = l->n;
	s->depth = 1;
	s->bytes = 4096;
	return s;
}

static struct stream *scattered(uint32_t depth)
{
	struct stream *s = add();

	s->random = true;
	s->depth = depth;
	return s;
}

static struct stream *sequential(unsigned place)
{
	struct stream *s = add();

	s->at = DISK_BYTES / STREAMS * place;
	s->bytes = 128 << 10;
	s->depth = 2;
	return s;
}

static struct stream *writeback(unsigned place)
{
	struct stream *s = sequential(place);

	s->write = true;
	s->depth = 16;
	return s;
}

static struct stream *log_writer(unsigned place, uint64_t think_ns)
{
	struct stream *s = sequential(place);

	s->write = true;
	s->flags = IOSCHED_RQ_SYNC;
	s->bytes = 4096;
	s->depth = 1;
	s->think_ns = think_ns;
	return s;
}

static void run(uint64_t ns)
{
	disk_run(&l->disk, l->s, l->n, l->disk.now + ns);
}

static void weigh(const struct stream *s, uint32_t weight)
{
	struct iosched_context_params p;

	iosched_context_params_init(&p, sizeof(p));
	p.weight = weight;
	ck_assert_int_eq(iosched_context_set(l->disk.queue, s->context, &p, l->disk.now), 0);
}

/* What all flows, of the usual weight, were charged so far, ns of device time. */
static int64_t charged(void)
{
	struct iosched_list_link *lists[2] = {&l->fd->busy, &l->fd->grace};
	int64_t sum = 0;

	for (unsigned i = 0; i < 2; i++)
		for (struct iosched_list_link *k = lists[i]->next; k != lists[i]; k = k->next) {
			const struct fd_flow *f = IOS_CONTAINER(k, struct fd_flow, activity);

			sum += (int64_t)f->tag + f->owed;
		}
	return sum;
}

/* The loads of the first tests; enough for every kind of visit. */
static void load(int which)
{
	switch (which) {
	case 0:
		sequential(0);
		scattered(1);
		break;
	case 1:
		sequential(0);
		sequential(9);
		scattered(1);
		scattered(1);
		break;
	case 2:
		sequential(0);
		writeback(12);
		break;
	case 3:
		scattered(1);
		scattered(16);
		sequential(3);
		break;
	case 4: /* held for, and not always in vain */
		sequential(0)->depth = 1;
		l->s[0].think_ns = MS;
		scattered(1);
		break;
	default:
		sequential(0);
		scattered(1);
		writeback(12);
		log_writer(6, 100 * MS);
	}
}
#define LOADS 6

START_TEST(charges_add_up_to_the_time_that_passed)
{
	iosched_time since;
	int64_t before, after;

	load(_i);
	run(2 * SEC);
	before = charged();
	since = l->disk.now;
	run(10 * SEC);
	after = charged();
	/* The last of them are in flight or not yet corrected: some services of a thousand. */
	ck_assert_msg(llabs(after - before - (int64_t)(l->disk.now - since)) <= (int64_t)SEC / 10,
		      "%lld ns were charged in %llu", (long long)(after - before),
		      (unsigned long long)(l->disk.now - since));
	end();
}
END_TEST

START_TEST(those_that_wait_stay_together)
{
	load(_i);
	run(2 * SEC);
	l->spread = 0;
	run(20 * SEC);
	ck_assert_uint_gt(l->spread, 0);
	ck_assert_msg(l->spread <= l->fd->t.visit_max_ns + CAP * COSTLIEST_NS + 2 * l->fd->t_pos,
		      "they were %llu ms apart", (unsigned long long)(l->spread / MS));
	end();
}
END_TEST

START_TEST(those_of_other_weights_stay_together_too)
{
	load(_i);
	weigh(&l->s[0], 300);
	weigh(&l->s[1], 50);
	run(2 * SEC);
	l->spread = 0;
	run(20 * SEC);
	/* The lightest has half the usual weight. */
	ck_assert_msg(l->spread <=
			      2 * (l->fd->t.visit_max_ns + CAP * COSTLIEST_NS + 2 * l->fd->t_pos),
		      "they were %llu ms apart", (unsigned long long)(l->spread / MS));
	end();
}
END_TEST

START_TEST(boosted_service_keeps_within_its_credit)
{
	static const uint64_t thinks[4] = {0, MS, 10 * MS, 100 * MS};

	log_writer(6, thinks[_i]);
	sequential(0);
	scattered(1);
	run(20 * SEC);
	ck_assert_uint_gt(l->boosts, 20);
	ck_assert_msg(l->boosted_most <= (int64_t)(l->fd->t.boost_credit_ns + COSTLIEST_NS),
		      "%lld ms more than its share", (long long)(l->boosted_most / (int64_t)MS));
	end();
}
END_TEST

/* The device takes one: it is full all the time, and twenty wait for longer than the deadline. */
START_TEST(rescue_holds_before_a_device_that_stays_full)
{
	l->disk.depth = 1;
	for (unsigned i = 0; i < 8; i++)
		scattered(4);
	for (unsigned i = 0; i < 8; i++)
		sequential(2 * i);
	writeback(17);
	writeback(18)->random = true;
	run(30 * SEC);
	for (unsigned i = 0; i < l->n; i++)
		ck_assert_uint_gt(l->s[i].done, 0);
	end();
}
END_TEST

START_TEST(equal_readers_fill_the_queue)
{
	static const unsigned depths[3] = {4, 16, 32};

	l->disk.depth = depths[_i];
	l->disk.sorts = true;
	for (unsigned i = 0; i < 16; i++)
		scattered(1);
	run(5 * SEC);
	ck_assert_uint_eq(l->inflight, depths[_i] < 16 ? depths[_i] : 16);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fair-deadline invariants");
	TCase *t = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	/* Who thinks for longer than the grace period comes back at V: the last load is not for it.
	 */
	tcase_add_loop_test(t, charges_add_up_to_the_time_that_passed, 0, LOADS - 1);
	tcase_add_loop_test(t, those_that_wait_stay_together, 0, LOADS);
	tcase_add_loop_test(t, those_of_other_weights_stay_together_too, 0, LOADS);
	tcase_add_loop_test(t, boosted_service_keeps_within_its_credit, 0, 4);
	tcase_add_test(t, rescue_holds_before_a_device_that_stays_full);
	tcase_add_loop_test(t, equal_readers_fill_the_queue, 0, 3);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
