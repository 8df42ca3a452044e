/* SPDX-License-Identifier: MIT */
/*
 * front: a bounded ring, many producers, one consumer.
 *
 * State: `tail`, the next position to claim, doubled, with "closed" in bit 0; `head`, the
 * next position to take; a slot per position modulo the capacity, NULL when free.
 *
 * A producer claims positions by moving `tail`, then publishes each by storing the pointer
 * in its slot. The consumer takes pointers until it meets NULL, clears the slots, and
 * moves `head` once a batch. A position may be claimed when `head` is less than a ring behind it,
 * so a claimed slot is always free.
 *
 * Closing sets the bit in the word that claims swing, so after it no claim succeeds and
 * the number still to come is known exactly.
 *
 * Sleeping is Dekker's: the consumer writes `asleep` and then looks at its slot; a producer
 * writes its slot and then looks at `asleep`. All four are sequentially consistent, so one of the
 * two sees the other. A producer preempted between claim and publish needs no
 * special care: it looks after it has published.
 */
#include <iosched/front.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Two lines: the adjacent-line prefetcher of x86 fetches pairs. */
#define APART 128

#define CLOSED 1u
#define MAX_CAPACITY (1u << 24)

/* Enough to hide the cost of a batch, few enough to stay in the first-level cache. */
#define BATCH 64u

typedef _Atomic(struct iosched_request *) slot;

struct iosched_front {
	/* Producers' line. `seen` is a head some producer has read: it saves the others the trip.
	 */
	_Alignas(APART) atomic_uint_least64_t tail;
	atomic_uint_least64_t seen;
	/* Written once a batch by the consumer. */
	_Alignas(APART) atomic_uint_least64_t head;
	/* Written when the consumer goes to sleep and wakes. */
	_Alignas(APART) atomic_uint asleep;
	/* Never written after create. */
	_Alignas(APART) uint64_t mask;
	slot *slots;
	void *memory;
	struct iosched_front_params params;
};

static void *default_alloc(void *user, size_t size)
{
	(void)user;
	return malloc(size);
}

static void default_release(void *user, void *memory)
{
	(void)user;
	free(memory);
}

static const struct iosched_front_params defaults = {
	.size = sizeof(struct iosched_front_params),
	.capacity = 1024,
};

static size_t known(size_t size)
{
	return size < sizeof(defaults) ? size : sizeof(defaults);
}

void iosched_front_params_init(struct iosched_front_params *p, size_t size)
{
	memset(p, 0, size);
	memcpy(p, &defaults, known(size));
	p->size = size;
}

static int read_params(struct iosched_front_params *own, const struct iosched_front_params *p)
{
	if (p->size < offsetof(struct iosched_front_params, alloc))
		return -EINVAL;
	*own = defaults;
	memcpy(own, p, known(p->size));
	if (own->capacity < 2 || own->capacity > MAX_CAPACITY || own->reserved != 0 ||
	    (own->alloc == NULL) != (own->release == NULL))
		return -EINVAL;
	if (own->alloc == NULL) {
		own->alloc = default_alloc;
		own->release = default_release;
	}
	return 0;
}

static uint64_t power_of_two(uint32_t n)
{
	uint64_t power = 2;

	while (power < n)
		power *= 2;
	return power;
}

int iosched_front_create(struct iosched_front **out, const struct iosched_front_params *p)
{
	struct iosched_front_params own;
	struct iosched_front *f;
	uint64_t capacity, i;
	void *memory;
	int error = read_params(&own, p);

	if (error != 0)
		return error;
	capacity = power_of_two(own.capacity);
	memory = own.alloc(own.user, sizeof(*f) + capacity * sizeof(slot) + APART);
	if (memory == NULL)
		return -ENOMEM;
	f = (void *)(((uintptr_t)memory + APART - 1) & ~(uintptr_t)(APART - 1));
	f->memory = memory;
	f->params = own;
	f->mask = capacity - 1;
	f->slots = (slot *)(void *)(f + 1);
	for (i = 0; i < capacity; i++)
		atomic_init(&f->slots[i], NULL);
	atomic_init(&f->tail, 0);
	atomic_init(&f->seen, 0);
	atomic_init(&f->head, 0);
	atomic_init(&f->asleep, 0);
	*out = f;
	return 0;
}

int iosched_front_destroy(struct iosched_front *f)
{
	if (f == NULL)
		return 0;
	if (iosched_front_pending(f) != 0)
		return -EBUSY;
	f->params.release(f->params.user, f->memory);
	return 0;
}

/* How many of `n` may be claimed from `position` on. */
static uint64_t room(struct iosched_front *f, uint64_t position, uint64_t n)
{
	uint64_t capacity = f->mask + 1;
	uint64_t used = position - atomic_load_explicit(&f->seen, memory_order_acquire);

	if (used + n > capacity) {
		uint64_t head = atomic_load_explicit(&f->head, memory_order_acquire);

		atomic_store_explicit(&f->seen, head, memory_order_release);
		used = position - head;
	}
	/* `position` may be older than `head`: then its swap fails, whatever is answered here. */
	if (used > capacity)
		used = capacity;
	return n < capacity - used ? n : capacity - used;
}

/* Claims up to `n` positions. @return how many, from *first on; or -errno */
static int claim(struct iosched_front *f, unsigned n, uint64_t *first)
{
	uint64_t tail = atomic_load_explicit(&f->tail, memory_order_relaxed);

	for (;;) {
		uint64_t got, again;

		if (tail & CLOSED)
			return -ESHUTDOWN;
		got = room(f, tail / 2, n);
		if (got == 0) {
			again = atomic_load_explicit(&f->tail, memory_order_relaxed);
			if (again == tail)
				return -EAGAIN;
			tail = again; /* it was out of date */
		} else if (atomic_compare_exchange_weak_explicit(&f->tail, &tail, tail + 2 * got,
								 memory_order_relaxed,
								 memory_order_relaxed)) {
			*first = tail / 2;
			return (int)got;
		}
	}
}

/* True for one producer after the consumer went to sleep. */
static bool must_wake(struct iosched_front *f)
{
	return atomic_load(&f->asleep) != 0 && atomic_exchange(&f->asleep, 0) != 0;
}

int iosched_front_submit(struct iosched_front *f, struct iosched_request *rq)
{
	uint64_t position;
	int error = claim(f, 1, &position);

	if (error < 0)
		return error;
	atomic_store(&f->slots[position & f->mask], rq);
	return must_wake(f);
}

int iosched_front_submit_many(struct iosched_front *f, struct iosched_request *const *rqs,
			      unsigned n, bool *wake)
{
	uint64_t first;
	int i, got = claim(f, n < MAX_CAPACITY ? n : MAX_CAPACITY, &first);

	*wake = false;
	if (got < 0)
		return got;
	for (i = 1; i < got; i++)
		atomic_store_explicit(&f->slots[(first + (uint64_t)i) & f->mask], rqs[i],
				      memory_order_release);
	/* The first last: it is the one a consumer about to sleep looks for. */
	atomic_store(&f->slots[first & f->mask], rqs[0]);
	*wake = must_wake(f);
	return got;
}

/* The consumer's own word: only it writes it. */
static uint64_t own_head(const struct iosched_front *f)
{
	return atomic_load_explicit(&f->head, memory_order_relaxed);
}

/* What is published, without taking it. */
static unsigned look(const struct iosched_front *f, struct iosched_request **out, unsigned max)
{
	uint64_t head = own_head(f);
	unsigned n;

	for (n = 0; n < max; n++) {
		out[n] =
			atomic_load_explicit(&f->slots[(head + n) & f->mask], memory_order_acquire);
		if (out[n] == NULL)
			break;
	}
	return n;
}

static void forget(struct iosched_front *f, unsigned n)
{
	uint64_t head = own_head(f);
	unsigned i;

	for (i = 0; i < n; i++)
		atomic_store_explicit(&f->slots[(head + i) & f->mask], NULL, memory_order_relaxed);
	atomic_store_explicit(&f->head, head + n, memory_order_release);
}

unsigned iosched_front_take(struct iosched_front *f, struct iosched_request **out, unsigned max)
{
	unsigned n;

	/* Looking further than a ring would see the first again. */
	if (max > f->mask + 1)
		max = (unsigned)(f->mask + 1);
	n = look(f, out, max);
	if (n != 0)
		forget(f, n);
	return n;
}

/* Inserts all, giving back what is refused. @return how many of them are done with, or -errno */
static int insert_all(struct iosched_front *f, struct iosched *s,
		      struct iosched_request *const *rqs, unsigned n, iosched_time now)
{
	unsigned done = 0;

	while (done < n) {
		int got = iosched_insert_many(s, rqs + done, n - done, now);

		if (got > 0) {
			done += (unsigned)got;
			continue;
		}
		if (f->params.refused == NULL)
			return done == 0 ? got : (int)done;
		f->params.refused(f->params.user, rqs[done], got);
		done++;
	}
	return (int)done;
}

int iosched_front_drain(struct iosched_front *f, struct iosched *s, unsigned max, iosched_time now)
{
	struct iosched_request *rqs[BATCH];
	unsigned total = 0;

	while (total < max) {
		unsigned want = max - total < BATCH ? max - total : BATCH;
		unsigned n = look(f, rqs, want <= f->mask ? want : (unsigned)f->mask + 1);
		int done;

		if (n == 0)
			break;
		done = insert_all(f, s, rqs, n, now);
		if (done < 0)
			return total == 0 ? done : (int)total;
		forget(f, (unsigned)done);
		total += (unsigned)done;
		if ((unsigned)done < want)
			break;
	}
	return (int)total;
}

int iosched_front_sleep(struct iosched_front *f)
{
	atomic_store(&f->asleep, 1);
	if (atomic_load(&f->slots[own_head(f) & f->mask]) == NULL)
		return 0;
	iosched_front_awake(f);
	return -EAGAIN;
}

void iosched_front_awake(struct iosched_front *f)
{
	/* Read first: the line is shared with every producer and rarely changes. */
	if (atomic_load_explicit(&f->asleep, memory_order_relaxed) != 0)
		atomic_store(&f->asleep, 0);
}

void iosched_front_close(struct iosched_front *f)
{
	atomic_fetch_or(&f->tail, CLOSED);
}

uint32_t iosched_front_pending(const struct iosched_front *f)
{
	uint64_t head = atomic_load_explicit(&f->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&f->tail, memory_order_acquire) / 2;

	return tail > head ? (uint32_t)(tail - head) : 0;
}
