/* SPDX-License-Identifier: MIT */
/*
 * custom_policy: a policy of one's own, outside the library, passed to it like any other.
 *
 *     custom_policy --check           run the library's test kit over it
 *     custom_policy FILE [SECONDS]    a scrubber and a reader on FILE, with noop and with it
 *
 * The policy comes first; what follows main's part is only there to show it at work.
 */
#define _GNU_SOURCE
#include <iosched/policy_check.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MSEC 1000000u

/* [policy] */
/*
 * quiet: requests of the idle class wait until the device has had nothing else to do for a while,
 * but never longer than they can bear.
 *
 * State: two lists by arrival. `quiet_from` is when the silence after the last foreground
 * request will have been long enough.
 *
 * dispatch() asks, in order: has the oldest background request waited too long?  is there
 * foreground?  has it been quiet?  else it names the moment when one of these becomes true.
 */
struct quiet {
	struct iosched_list_link foreground, background;
	iosched_time quiet_from;
	uint64_t queued;
	uint64_t quiet_ns, background_expire_ns; /* tunables */
};

static const struct iosched_tunable quiet_tunables[] = {
	/* Longer than a reader needs to ask for its next block, shorter than a scrubber notices. */
	{"quiet_ns", IOSCHED_UNIT_NS, 0, 1000 * (uint64_t)MSEC, 2 * MSEC,
	 offsetof(struct quiet, quiet_ns), "silence wanted before background requests run"},
	/* As deadline's write_expire: nobody notices a background request this late. */
	{"background_expire_ns", IOSCHED_UNIT_NS, MSEC, 3600 * 1000 * (uint64_t)MSEC,
	 5000 * (uint64_t)MSEC, offsetof(struct quiet, background_expire_ns),
	 "background requests older than this run first"},
	{0},
};

static struct iosched_request *first(const struct iosched_list_link *list)
{
	if (list->next == list)
		return NULL;
	return (struct iosched_request *)(void *)((char *)list->next -
						  offsetof(struct iosched_request, internal.fifo));
}

static void link_last(struct iosched_list_link *list, struct iosched_list_link *l)
{
	l->next = list;
	l->prev = list->prev;
	l->prev->next = l;
	list->prev = l;
}

static struct iosched_request *take(struct quiet *q, struct iosched_request *rq)
{
	struct iosched_list_link *l = &rq->internal.fifo;

	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = l->next = l;
	q->queued--;
	return rq;
}

static int quiet_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	struct quiet *q = self;

	(void)env, (void)pool;
	q->foreground.prev = q->foreground.next = &q->foreground;
	q->background.prev = q->background.next = &q->background;
	q->quiet_from = now;
	return 0;
}

/* `mark` remembers the list: the class may change while the request is with the device. */
static void quiet_insert(void *self, struct iosched_request *rq, iosched_time now)
{
	struct quiet *q = self;

	(void)now;
	rq->internal.mark = iosched_request_class(rq) == IOSCHED_IDLE;
	link_last(rq->internal.mark ? &q->background : &q->foreground, &rq->internal.fifo);
	q->queued++;
}

static struct iosched_request *quiet_dispatch(void *self, iosched_time now,
					      struct iosched_pause *pause)
{
	struct quiet *q = self;
	struct iosched_request *front = first(&q->foreground), *back = first(&q->background);
	iosched_time expires =
		back == NULL ? IOSCHED_NEVER : back->inserted + q->background_expire_ns;

	if (back != NULL && now >= expires)
		return take(q, back);
	if (front != NULL)
		return take(q, front);
	if (back != NULL && now >= q->quiet_from)
		return take(q, back);
	pause->reason = back == NULL ? IOSCHED_HOLD_EMPTY : IOSCHED_HOLD_IDLING;
	if (back != NULL)
		pause->until = expires < q->quiet_from ? expires : q->quiet_from;
	return NULL;
}

static void quiet_complete(void *self, struct iosched_request *rq, iosched_time now)
{
	struct quiet *q = self;

	if (!rq->internal.mark)
		q->quiet_from = now + q->quiet_ns;
}

static bool quiet_merge_allowed(void *self, const struct iosched_request *into,
				const struct iosched_request *bio)
{
	(void)self;
	return into->internal.mark == (iosched_request_class(bio) == IOSCHED_IDLE);
}

static void quiet_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	(void)now;
	take(self, rq);
}

static struct iosched_request *quiet_drain(void *self)
{
	struct quiet *q = self;
	struct iosched_request *rq = first(&q->foreground);

	if (rq == NULL)
		rq = first(&q->background);
	return rq == NULL ? NULL : take(q, rq);
}

static const char *quiet_audit(void *self)
{
	const struct quiet *q = self;
	const struct iosched_list_link *l;
	uint64_t n = 0;

	for (l = q->foreground.next; l != &q->foreground; l = l->next)
		n++;
	for (l = q->background.next; l != &q->background; l = l->next)
		n++;
	return n == q->queued ? NULL : "each queued request is on one of the two lists";
}

static const struct iosched_policy quiet_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_CONTEXTS | IOSCHED_POLICY_PRIORITY,
	.name = "quiet",
	.summary = "the idle class waits for silence",
	.self_size = sizeof(struct quiet),
	.tunables = quiet_tunables,
	.init = quiet_init,
	.insert = quiet_insert,
	.dispatch = quiet_dispatch,
	.complete = quiet_complete,
	.merge_allowed = quiet_merge_allowed,
	.remove = quiet_remove,
	.drain = quiet_drain,
	.audit = quiet_audit,
};
/* [/policy] */

/* [check] */
static int check_policy(void)
{
	char why[256];
	unsigned seed;

	for (seed = 1; seed <= 20; seed++)
		if (iosched_policy_check(&quiet_policy, seed, why, sizeof(why)) != 0) {
			fprintf(stderr, "custom_policy: %s\n", why);
			return 1;
		}
	printf("%s keeps the contract\n", iosched_policy_name(&quiet_policy));
	return 0;
}
/* [/check] */

/* At work: one thread; the scrubber always has SCRUBS reads of 256 KiB queued, the reader asks for
 * a block PAUSE after it got the last. */
#define SCRUB_BYTES (256u * 1024)
#define SCRUBS 8u
#define PAUSE_NS MSEC
#define BURST 16u
#define REST_NS (50 * PAUSE_NS)
#define MAX_READS 20000u

struct host {
	int fd;
	uint64_t size;
	struct iosched *queue;
	struct iosched_request reader, scrub[SCRUBS];
	iosched_time asked, next_ask;
	uint64_t scrubbed, random;
	uint64_t waits[MAX_READS];
	unsigned reads;
	char *buffer;
};

static iosched_time now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (iosched_time)t.tv_sec * 1000000000u + (iosched_time)t.tv_nsec;
}

static int ask_scrub(struct host *h, struct iosched_request *rq)
{
	rq->offset = h->scrubbed % (h->size / SCRUB_BYTES) * SCRUB_BYTES;
	rq->length = SCRUB_BYTES;
	rq->prio_class = IOSCHED_IDLE;
	rq->context = 2;
	h->scrubbed++;
	return iosched_insert(h->queue, rq, now_ns());
}

static int ask_reader(struct host *h, iosched_time now)
{
	h->random = h->random * 6364136223846793005u + 1442695040888963407u;
	h->reader.offset = (h->random >> 33) % (h->size / 4096) * 4096;
	h->reader.length = 4096;
	h->reader.context = 1;
	h->asked = now;
	h->next_ask = IOSCHED_NEVER;
	return iosched_insert(h->queue, &h->reader, now);
}

static int serve(struct host *h, struct iosched_request *rq)
{
	ssize_t n = pread(h->fd, h->buffer, rq->span_length, (off_t)rq->span_offset);
	iosched_time now = now_ns();
	int error = iosched_complete(h->queue, rq, now);

	if (n != (ssize_t)rq->span_length)
		return n < 0 ? -errno : -ENODATA;
	if (error != 0 || rq != &h->reader)
		return error != 0 ? error : ask_scrub(h, rq);
	h->waits[h->reads++] = now - h->asked;
	h->next_ask = now + (h->reads % BURST == 0 ? REST_NS : PAUSE_NS);
	return 0;
}

static int run(struct host *h, iosched_time end)
{
	struct iosched_request *rq;
	iosched_time now, until;
	int error = 0;

	while (error == 0 && (now = now_ns()) < end && h->reads < MAX_READS) {
		if (now >= h->next_ask)
			error = ask_reader(h, now);
		rq = iosched_dispatch(h->queue, now);
		if (rq != NULL) {
			error = serve(h, rq);
			continue;
		}
		until = iosched_next_wakeup(h->queue);
		if (h->next_ask < until)
			until = h->next_ask;
		if (until < IOSCHED_NEVER) {
			struct timespec t = {(time_t)(until / 1000000000u),
					     (long)(until % 1000000000u)};

			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		}
	}
	return error;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(struct host *h, const char *name, double seconds)
{
	qsort(h->waits, h->reads, sizeof(h->waits[0]), ascending);
	printf("%-6s %6u reads, p50 %7.1f us, p99 %7.1f us; scrubbed %.0f MB/s\n", name, h->reads,
	       (double)h->waits[h->reads / 2] * 1e-3,
	       (double)h->waits[h->reads - 1 - h->reads / 100] * 1e-3,
	       (double)(h->scrubbed - SCRUBS) * SCRUB_BYTES * 1e-6 / seconds);
}

static int show(struct host *h, const struct iosched_policy *policy, double seconds)
{
	struct iosched_params params;
	unsigned i;
	int error;

	iosched_params_init(&params, sizeof(params));
	params.policy = policy;
	params.now = now_ns();
	params.max_inflight = 1;
	params.max_merge_bytes = 0;
	error = iosched_create(&h->queue, &params);
	if (error != 0)
		return error;
	h->scrubbed = h->reads = 0;
	h->next_ask = 0;
	for (i = 0; i < SCRUBS && error == 0; i++)
		error = ask_scrub(h, &h->scrub[i]);
	if (error == 0)
		error = run(h, now_ns() + (iosched_time)(seconds * 1e9));
	while (iosched_drain(h->queue, now_ns()) != NULL)
		;
	if (error == 0 && h->reads == 0)
		error = -ETIME; /* nothing to show */
	if (error == 0)
		print(h, iosched_policy_name(policy), seconds);
	return iosched_destroy(h->queue) != 0 ? -EBUSY : error;
}

int main(int argc, char **argv)
{
	static struct host h;
	struct stat st;
	double seconds = argc == 3 ? strtod(argv[2], NULL) : 1;
	int error = 0;

	if (argc == 2 && strcmp(argv[1], "--check") == 0)
		return check_policy();
	if (argc < 2 || argc > 3 || !(seconds > 0)) {
		fprintf(stderr, "usage: custom_policy --check | FILE [SECONDS]\n");
		return 2;
	}
	h.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	h.buffer = malloc(SCRUB_BYTES);
	if (h.fd < 0 || h.buffer == NULL || fstat(h.fd, &st) != 0)
		error = -errno;
	else if (st.st_size < (off_t)SCRUB_BYTES)
		error = -ENODATA;
	h.size = error == 0 ? (uint64_t)st.st_size : 0;
	if (error == 0)
		error = show(&h, iosched_policy_find("noop"), seconds);
	if (error == 0)
		error = show(&h, &quiet_policy, seconds);
	if (error != 0)
		fprintf(stderr, "custom_policy: %s: %s\n", argv[1], strerror(-error));
	free(h.buffer);
	if (h.fd >= 0)
		close(h.fd);
	return error == 0 ? 0 : 1;
}
