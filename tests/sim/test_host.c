/* SPDX-License-Identifier: MIT */
/* The host in front of a device that refuses, and merged chains on their way back. */
#include "sim/host.h"

#include <errno.h>
#include <string.h>

#include "support.h"

/* A device that serves one command in 1 ms and refuses every third one for 1 ms. */
static struct stubborn {
	struct ios_sim_device device;
	struct ios_sim_event ready;
	unsigned offered;
	unsigned refusals;
	uint64_t bytes;
} stubborn;

static void end_of_refusal(void *owner)
{
	struct stubborn *s = owner;

	s->device.ready(s->device.ready_user);
}

static void served(void *owner)
{
	struct ios_sim_command *cmd = owner;

	ios_sim_device_done(cmd->device, cmd, 0);
}

static int stubborn_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	struct stubborn *s = (struct stubborn *)d;
	uint64_t covered = 0;

	if (++s->offered % 3 == 0) {
		s->refusals++;
		ios_sim_schedule(d->engine, &s->ready, d->engine->now + MS);
		return -EBUSY;
	}
	for (const struct ios_sim_piece *p = cmd->pieces; p != NULL; p = p->next) {
		ck_assert_uint_eq(p->offset, cmd->offset + covered);
		covered += p->length;
	}
	ck_assert_uint_eq(covered, cmd->length);
	s->bytes += cmd->length;
	ios_sim_event_init(&cmd->event, served, cmd);
	ios_sim_schedule(d->engine, &cmd->event, d->engine->now + MS);
	return 0;
}

static void stubborn_destroy(struct ios_sim_device *d)
{
	ios_sim_cancel(d->engine, &((struct stubborn *)d)->ready);
}

static const struct ios_sim_model stubborn_model = {
	.name = "stubborn",
	.destroy = stubborn_destroy,
	.submit = stubborn_submit,
};

static struct ios_sim_host host;
static unsigned ends[100];

static void note_end(struct ios_sim_load *load, void *token, uint8_t op)
{
	(void)load;
	(void)op;
	ends[(uintptr_t)token]++;
}

static struct ios_sim_load load = {.host = &host, .completed = note_end};

static void setup(void)
{
	struct iosched_params p;

	memset(ends, 0, sizeof(ends));
	ios_sim_host_init(&host);
	ios_sim_meter_init(&host.meter, 16);
	stubborn = (struct stubborn){.device = {.model = &stubborn_model,
						.engine = &host.engine,
						.ledger = &host.ledger,
						.capacity = GB,
						.depth = 1}};
	ios_sim_event_init(&stubborn.ready, end_of_refusal, &stubborn);
	ios_sim_host_attach(&host, &stubborn.device);
	iosched_params_init(&p, sizeof(p));
	p.policy = iosched_policy_find("deadline"); /* it merges at both ends */
	p.max_inflight = 1;
	p.event = ios_sim_host_event;
	p.user = &host;
	host.window = 1;
	host.live_loads = 1;
	ck_assert_int_eq(iosched_create(&host.queue, &p), 0);
}

static void teardown(void)
{
	ios_sim_host_fini(&host);
	ios_sim_meter_fini(&host.meter);
}

static void submit(unsigned token, uint64_t offset)
{
	struct ios_sim_want want = {.offset = offset,
				    .length = 4096,
				    .context = 1 + token % 2,
				    .op = IOSCHED_READ,
				    .token = (void *)(uintptr_t)token};

	want.meter = ios_sim_meter_of(&host.meter, want.context);
	ck_assert_int_eq(ios_sim_host_submit(&host, &load, &want), 0);
}

static void run_dry(void)
{
	ios_sim_host_enter(&host);
	ios_sim_host_load_done(&host);
	ios_sim_host_leave(&host);
	ck_assert_int_eq(ios_sim_engine_run(&host.engine), 1);
	ck_assert_str_eq(host.watch.violation.text, "");
}

START_TEST(refused_requests_come_again_and_end_once)
{
	struct iosched_stats stats;

	for (unsigned i = 0; i < 50; i++)
		submit(i, i * 1000000);
	run_dry();
	for (unsigned i = 0; i < 50; i++)
		ck_assert_uint_eq(ends[i], 1);
	iosched_stats_get(host.queue, &stats, sizeof(stats));
	ck_assert_uint_gt(stubborn.refusals, 10);
	ck_assert_uint_eq(stats.requeued, stubborn.refusals);
}
END_TEST

START_TEST(all_of_a_merged_chain_end_with_it_refused_or_not)
{
	ios_sim_host_enter(&host);
	for (unsigned i = 0; i < 50; i++)
		submit(i, (i < 25 ? i : 74 - i) * 4096); /* half by back merges, half by front */
	ios_sim_host_leave(&host);
	run_dry();
	for (unsigned i = 0; i < 50; i++)
		ck_assert_uint_eq(ends[i], 1);
	ck_assert_uint_eq(stubborn.bytes, 50 * 4096);
	ck_assert_uint_lt(stubborn.device.stats.commands, 10);
	ck_assert_uint_eq(host.completed, 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim host");
	TCase *t = tcase_create("host");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, refused_requests_come_again_and_end_once);
	tcase_add_test(t, all_of_a_merged_chain_end_with_it_refused_or_not);
	suite_add_tcase(s, t);
	return run_suite(s);
}
