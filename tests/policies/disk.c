/* SPDX-License-Identifier: MIT */
#include "disk.h"
#include <check.h>

uint64_t disk_random(struct disk *d)
{
	d->rng ^= d->rng << 13;
	d->rng ^= d->rng >> 7;
	d->rng ^= d->rng << 17;
	return d->rng;
}

static uint64_t service(const struct disk *d, const struct iosched_request *rq)
{
	uint64_t far =
		rq->span_offset > d->head ? rq->span_offset - d->head : d->head - rq->span_offset;

	if (rq->op == IOSCHED_FLUSH)
		return 5 * MS;
	if (d->channels > 1)
		return 100000 + rq->span_length * 4;
	return (far == 0 ? 0 : 4 * MS + far / (DISK_BYTES / (8 * MS))) + rq->span_length * 8;
}

static unsigned pick(const struct disk *d)
{
	unsigned i, best = d->n_in;
	uint64_t least = UINT64_MAX;

	for (i = 0; i < d->n_in; i++) {
		uint64_t o = d->in[i]->span_offset;
		uint64_t far = o > d->head ? o - d->head : d->head - o;

		if (d->finish[i] != IOSCHED_NEVER)
			continue;
		if (!d->sorts)
			return i;
		if (far < least) {
			least = far;
			best = i;
		}
	}
	return best;
}

static void begin(struct disk *d)
{
	while (d->n_busy < d->channels && d->n_busy < d->n_in) {
		unsigned i = pick(d);

		d->cost[i] = service(d, d->in[i]);
		d->finish[i] = d->now + d->cost[i];
		d->head = d->in[i]->span_offset + d->in[i]->span_length;
		d->n_busy++;
	}
}

static void feed(struct disk *d)
{
	struct iosched_request *rq;

	while (d->n_in < d->depth && (rq = iosched_dispatch(d->queue, d->now)) != NULL) {
		struct stream *s = rq->user;

		if (rq->op == IOSCHED_FLUSH)
			d->flushes++;
		if (s != NULL && d->now - rq->inserted > s->wait_max)
			s->wait_max = d->now - rq->inserted;
		d->in[d->n_in] = rq;
		d->finish[d->n_in++] = IOSCHED_NEVER;
	}
	/* The liveness rule. */
	if (iosched_queued(d->queue) != 0 && d->n_in == 0)
		ck_assert_uint_ne(iosched_next_wakeup(d->queue), IOSCHED_NEVER);
	begin(d);
}

static void submit(struct disk *d, struct stream *s, unsigned i)
{
	struct iosched_request *rq = &s->rq[i];
	uint64_t slots = DISK_BYTES / s->bytes;

	*rq = (struct iosched_request){.length = s->bytes,
				       .context = s->context,
				       .op = s->write ? IOSCHED_WRITE : IOSCHED_READ,
				       .flags = s->flags,
				       .prio_class = s->prio_class,
				       .user = s};
	rq->offset = s->random ? disk_random(d) % slots * s->bytes : s->at;
	s->at += s->bytes;
	if (s->deadline_ns != 0)
		rq->deadline = d->now + s->deadline_ns;
	s->next[i] = IOSCHED_NEVER;
	ck_assert_int_eq(iosched_insert(d->queue, rq, d->now), 0);
}

static void ended(struct disk *d, struct iosched_request *rq, uint64_t cost)
{
	struct stream *s = rq->user;
	unsigned i;

	if (s == NULL)
		return;
	i = (unsigned)(rq - s->rq);
	s->done++;
	s->done_bytes += rq->length;
	s->busy_ns += cost;
	if (d->now - rq->inserted > s->latency_max)
		s->latency_max = d->now - rq->inserted;
	s->next[i] = d->now + s->think_ns;
}

/* A merged request's cost is booked by bytes. */
static void finish(struct disk *d, unsigned i)
{
	uint64_t cost = d->cost[i];
	struct iosched_request *rq = d->in[i], *m;
	uint64_t span = rq->span_length == 0 ? 1 : rq->span_length;
	unsigned k;

	for (k = i + 1; k < d->n_in; k++) {
		d->in[k - 1] = d->in[k];
		d->finish[k - 1] = d->finish[k];
		d->cost[k - 1] = d->cost[k];
	}
	d->n_in--;
	d->n_busy--;
	m = rq->merged;
	ck_assert_int_eq(iosched_complete(d->queue, rq, d->now), 0);
	ended(d, rq, cost * rq->length / span);
	while (m != NULL) {
		struct iosched_request *next = iosched_merged_next(m);

		ended(d, m, cost * m->length / span);
		m = next;
	}
}

static iosched_time next_event(const struct disk *d, const struct stream *s, unsigned n)
{
	iosched_time t = iosched_next_wakeup(d->queue);
	unsigned i, k;

	for (i = 0; i < d->n_in; i++)
		if (d->finish[i] < t)
			t = d->finish[i];
	for (i = 0; i < n; i++)
		for (k = 0; k < s[i].depth; k++)
			if (s[i].next[k] < t)
				t = s[i].next[k];
	return t < d->now ? d->now : t;
}

static void step(struct disk *d, struct stream *s, unsigned n)
{
	unsigned i, k;

	for (i = 0; i < d->n_in;) {
		if (d->finish[i] <= d->now)
			finish(d, i);
		else
			i++;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < s[i].depth; k++)
			if (s[i].next[k] <= d->now)
				submit(d, &s[i], k);
	if (iosched_next_wakeup(d->queue) <= d->now)
		d->waits += iosched_timer(d->queue, d->now) == 0;
	feed(d);
}

static void count_idle(struct disk *d, uint64_t idle)
{
	if (d->n_busy != 0 || iosched_queued(d->queue) == 0)
		return;
	d->idle_ns += idle;
	if (idle > d->longest_idle_ns)
		d->longest_idle_ns = idle;
}

void disk_run(struct disk *d, struct stream *s, unsigned n, iosched_time until)
{
	while (d->now < until) {
		iosched_time t;

		step(d, s, n);
		t = next_event(d, s, n);
		if (t == IOSCHED_NEVER)
			return;
		count_idle(d, t - d->now);
		d->now = t;
	}
}
