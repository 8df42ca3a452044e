/* SPDX-License-Identifier: MIT */
/*
 * stress: several producers, one dispatcher that really sleeps, a small ring that is often full.
 * Each producer numbers its requests; the dispatcher checks that every one comes, once, and
 * that each producer's come in order. The last part closes the front under the
 * producers' hands and counts that what was accepted is what came out. Run under TSan as well.
 */
#include <iosched/front.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PRODUCERS 4
#define EACH 20000u
#define RING 64

struct producer {
	pthread_t thread;
	unsigned id;
	bool batches;
	uint64_t accepted;
	uint64_t expected; /* the dispatcher's: which number comes next */
	struct iosched_request *rqs;
};

static struct iosched_front *front;
static struct iosched *queue;
static sem_t bell;
static struct producer producer[PRODUCERS];

static void die(const char *what)
{
	fprintf(stderr, "stress_front: %s\n", what);
	exit(1);
}

/* @return how many the front took, or -errno */
static int submit_some(struct producer *p, unsigned from, unsigned n)
{
	struct iosched_request *batch[8];
	bool wake = false;
	unsigned i;
	int got;

	if (!p->batches) {
		got = iosched_front_submit(front, &p->rqs[from]);
		wake = got == 1;
		got = got < 0 ? got : 1;
	} else {
		for (i = 0; i < n; i++)
			batch[i] = &p->rqs[from + i];
		got = iosched_front_submit_many(front, batch, n, &wake);
	}
	if (wake)
		sem_post(&bell);
	return got;
}

static void *produce(void *arg)
{
	struct producer *p = arg;
	unsigned i = 0;

	while (i < EACH) {
		unsigned n = EACH - i < 8 ? EACH - i : 1 + i % 8;
		int got = submit_some(p, i, n);

		if (got == -ESHUTDOWN)
			break;
		if (got == -EAGAIN)
			sched_yield();
		else
			i += (unsigned)got;
	}
	p->accepted = i;
	return NULL;
}

static void prepare(void)
{
	unsigned k, i;

	for (k = 0; k < PRODUCERS; k++) {
		producer[k].id = k;
		producer[k].batches = k % 2 == 1;
		producer[k].expected = 0;
		producer[k].accepted = 0;
		for (i = 0; i < EACH; i++)
			producer[k].rqs[i] = (struct iosched_request){
				.offset = i, .length = 1, .context = k + 1};
	}
}

static void start(void)
{
	unsigned k;

	prepare();
	for (k = 0; k < PRODUCERS; k++)
		if (pthread_create(&producer[k].thread, NULL, produce, &producer[k]) != 0)
			die("no thread");
}

static void check_order(const struct iosched_request *rq)
{
	struct producer *p = &producer[rq->context - 1];

	if (rq->offset != p->expected)
		die("a producer's requests came out of order, twice or not at all");
	p->expected++;
}

/* Everything that is here now. @return how many */
static uint64_t work(void)
{
	struct iosched_request *rq;
	uint64_t n = 0;
	int got;

	while ((got = iosched_front_drain(front, queue, 32, 0)) > 0)
		while ((rq = iosched_dispatch(queue, 0)) != NULL) {
			check_order(rq);
			if (iosched_complete(queue, rq, 0) != 0)
				die("complete refused a request");
			n++;
		}
	if (got < 0)
		die("the queue refused a request");
	return n;
}

static void wait_for_bell(void)
{
	if (iosched_front_sleep(front) != 0)
		return;
	while (sem_wait(&bell) != 0)
		if (errno != EINTR)
			die("sem_wait");
	iosched_front_awake(front);
}

static void all_arrive_in_order(void)
{
	uint64_t left = (uint64_t)PRODUCERS * EACH;
	unsigned k, sleeps = 0;

	start();
	while ((left -= work()) != 0) {
		wait_for_bell();
		sleeps++;
	}
	for (k = 0; k < PRODUCERS; k++)
		pthread_join(producer[k].thread, NULL);
	printf("%u requests of %u producers in order; the dispatcher slept up to %u times\n",
	       PRODUCERS * EACH, PRODUCERS, sleeps);
}

static void nothing_accepted_is_lost_by_closing(void)
{
	uint64_t out = 0, accepted = 0;
	unsigned k;

	start();
	while (out < EACH)
		out += work();
	iosched_front_close(front);
	while (iosched_front_pending(front) != 0) {
		out += work();
		sched_yield();
	}
	for (k = 0; k < PRODUCERS; k++) {
		pthread_join(producer[k].thread, NULL);
		accepted += producer[k].accepted;
	}
	if (out != accepted || work() != 0)
		die("closing lost a request or made one up");
	printf("closed after %llu requests: all of them came out\n", (unsigned long long)out);
}

int main(void)
{
	struct iosched_front_params fp;
	struct iosched_params p;
	unsigned k;

	iosched_front_params_init(&fp, sizeof(fp));
	fp.capacity = RING;
	iosched_params_init(&p, sizeof(p));
	p.max_merge_bytes = 0;
	if (iosched_front_create(&front, &fp) != 0 || iosched_create(&queue, &p) != 0 ||
	    sem_init(&bell, 0, 0) != 0)
		die("cannot start");
	for (k = 0; k < PRODUCERS; k++)
		if ((producer[k].rqs = calloc(EACH, sizeof(struct iosched_request))) == NULL)
			die("no memory");
	all_arrive_in_order();
	nothing_accepted_is_lost_by_closing();
	for (k = 0; k < PRODUCERS; k++)
		free(producer[k].rqs);
	if (iosched_front_destroy(front) != 0 || iosched_destroy(queue) != 0)
		die("something is left");
	sem_destroy(&bell);
	return 0;
}
