/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdlib.h>
#include <string.h>

int run_suite(Suite *s)
{
	SRunner *runner = srunner_create(s);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

void bench_open(struct bench *b, const char *text)
{
	struct ios_sim_device_choice choice = {.name = "null", .text = text, .text_name = "bench"};
	struct iosched_sim_error why = {""};

	memset(b, 0, sizeof(*b));
	ios_sim_engine_init(&b->engine);
	ios_sim_ledger_init(&b->ledger);
	ck_assert_msg(ios_sim_device_create(&b->device, &choice, &b->engine, &b->ledger, &why) == 0,
		      "%s", why.text);
}

void bench_close(struct bench *b)
{
	ios_sim_device_destroy(b->device);
	ios_sim_engine_fini(&b->engine);
	ios_sim_ledger_fini(&b->ledger);
}

static void ended(struct ios_sim_command *cmd, int error)
{
	struct bench *b = cmd->user;
	struct bench_command *c = (struct bench_command *)(void *)cmd;

	ck_assert(error == 0 || b->may_fail);
	b->failed += error != 0;
	c->error = error;
	ck_assert_uint_eq(c->done_at, IOSCHED_NEVER);
	c->done_at = b->engine.now;
	b->order[b->done++] = (unsigned)(c - b->commands);
}

unsigned bench_give(struct bench *b, enum iosched_op op, uint64_t offset, uint64_t length,
		    uint64_t context)
{
	unsigned i = b->used++;
	struct bench_command *c = &b->commands[i];

	ck_assert_uint_lt(i, 512);
	if (c->piece.next == NULL) /* unless the test has given it owners */
		c->piece = (struct ios_sim_piece){offset, length, context, NULL};
	c->cmd.offset = offset;
	c->cmd.length = length;
	c->cmd.op = (uint8_t)op;
	c->cmd.pieces = &c->piece;
	c->cmd.done = ended;
	c->cmd.user = b;
	c->done_at = IOSCHED_NEVER;
	ck_assert_int_eq(ios_sim_device_submit(b->device, &c->cmd), 0);
	return i;
}

static void stop_here(void *owner)
{
	struct bench *b = owner;

	ios_sim_stop(&b->engine, 1);
}

void bench_until(struct bench *b, iosched_time when)
{
	struct ios_sim_event stop;

	ios_sim_event_init(&stop, stop_here, b);
	ios_sim_schedule(&b->engine, &stop, when);
	ck_assert_int_eq(ios_sim_engine_run(&b->engine), 1);
	b->engine.stopped = 0;
}

void bench_settle(struct bench *b)
{
	ck_assert_int_eq(ios_sim_engine_run(&b->engine), 0);
	ck_assert_uint_eq(b->done, b->used);
}

uint64_t bench_time(struct bench *b, enum iosched_op op, uint64_t offset, uint64_t length)
{
	iosched_time from = b->engine.now;
	unsigned i = bench_give(b, op, offset, length, 1);

	while (b->commands[i].done_at == IOSCHED_NEVER)
		bench_until(b, b->engine.now + 50 * 1000);
	return b->commands[i].done_at - from;
}
