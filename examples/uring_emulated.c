/* SPDX-License-Identifier: MIT */
/*
 * uring_emulated: a slow disk that is not there, in place of the kernel's fast one, so that what a
 * policy does can be seen and measured anywhere (docs/embedding/emulated-disk.md).
 *
 * The disk's thread calls answered(); the slot goes on a list, and the dispatcher, woken by its
 * eventfd like by any client, takes it from there. Front, queue, timer and loop are the same.
 */
#define _GNU_SOURCE
#include "uring_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS 8u

static void answer(struct slot *s, int res)
{
	struct engine *e = s->engine;
	bool first;

	s->res = res;
	s->next_answer = NULL;
	pthread_mutex_lock(&e->answers_lock);
	first = e->answers == NULL;
	*e->answers_end = s;
	e->answers_end = &s->next_answer;
	pthread_mutex_unlock(&e->answers_lock);
	if (first)
		uring_wake(e);
}

static void answered(struct iosched_sim_disk_io *io, int error)
{
	answer(io->user, error != 0 ? error : (int)io->moved);
}

void uring_emulated_start(struct engine *e, struct slot *s)
{
	bool moves = s->rq->op == IOSCHED_READ || s->rq->op == IOSCHED_WRITE;
	int error;

	s->command = (struct iosched_sim_disk_io){
		.offset = s->rq->span_offset + s->done,
		.length = s->rq->span_length - s->done,
		.owner = s->rq->context,
		.op = s->rq->op,
		.fua = (s->rq->flags & IOSCHED_RQ_FUA) != 0,
		.iov = moves ? s->v : NULL,
		.iov_count = moves ? s->n : 0,
		.done = answered,
		.user = s,
	};
	s->engine = e;
	error = iosched_sim_disk_submit(e->disk, &s->command);
	if (error != 0)
		answer(s, error);
}

void uring_emulated_reap(struct engine *e)
{
	struct slot *s, *next;

	pthread_mutex_lock(&e->answers_lock);
	s = e->answers;
	e->answers = NULL;
	e->answers_end = &e->answers;
	pthread_mutex_unlock(&e->answers_lock);
	for (; s != NULL; s = next) {
		next = s->next_answer;
		uring_slot_answer(e, s, s->res, uring_now());
	}
}

/* DEVICE[,SETTING=VALUE]... The settings point into @text. Returns false: too many. */
static bool take_settings(struct iosched_sim_disk_params *p, struct iosched_sim_setting *settings,
			  char *text)
{
	char *next = strchr(text, ',');

	p->device = text;
	p->overrides = settings;
	while (next != NULL && p->override_count < MAX_SETTINGS) {
		struct iosched_sim_setting *s = &settings[p->override_count++];

		*next = '\0';
		s->name = next + 1;
		next = strchr(s->name, ',');
		text = strchr(s->name, '=');
		s->value = text == NULL ? "" : text + 1;
		if (text != NULL)
			*text = '\0';
	}
	return next == NULL;
}

int uring_emulated_open(struct engine *e, const struct engine_params *p)
{
	struct iosched_sim_setting settings[MAX_SETTINGS];
	struct iosched_sim_disk_params dp;
	struct iosched_sim_error why;
	char *text = strdup(p->disk);
	int error;

	if (text == NULL)
		return -ENOMEM;
	iosched_sim_disk_params_init(&dp, sizeof(dp));
	if (!take_settings(&dp, settings, text)) {
		fprintf(stderr, "uring_engine: a disk with more than %u settings\n", MAX_SETTINGS);
		free(text);
		return -E2BIG;
	}
	dp.path = p->path;
	pthread_mutex_init(&e->answers_lock, NULL);
	e->answers_end = &e->answers;
	error = iosched_sim_disk_open(&e->disk, &dp, &why);
	if (error != 0)
		fprintf(stderr, "uring_engine: %s\n", why.text);
	free(text);
	return error;
}
