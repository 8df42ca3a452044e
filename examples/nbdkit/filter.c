/* SPDX-License-Identifier: MIT */
/*
 * nbdkit-iosched-filter: any nbdkit plugin, under any policy of libiosched.
 *
 * nbdkit gives each request a thread (-t N a connection) and expects it back when the request is
 * done. The filter parks that thread in a gate until its request is dispatched, then lets it
 * call the plugin. One queue serves all connections.
 *
 * A context is what `iosched-identity` says: who connects to one export, one user, ... Each export
 * has its own stretch of the queue's offsets, so that requests of different disks are never
 * merged; `iosched-same-disk` says that they are one disk after all.
 */
#define _GNU_SOURCE
#define NBDKIT_API_VERSION 2
#include <nbdkit-filter.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate.h"
#include "settings.h"

/* Exports lie so far apart: more than any NBD disk has bytes in practice. */
#define EXPORT_STRIDE (UINT64_C(1) << 52)

struct connection {
	struct who *who;
	struct export *export; /* NULL: all exports are one disk */
	uint64_t base;	       /* where its export begins in the queue's offsets */
};

/* What a request needs to call the plugin. */
struct call {
	nbdkit_next *next;
	uint64_t base;
	uint32_t flags;
	bool cache; /* a read that moves nothing */
	bool zero;  /* a write that moves nothing */
};

static struct settings settings = SETTINGS_INIT;
static struct gate gate;
static bool ready;

/* --- Configuration --- */

static int filter_config(nbdkit_next_config *next, nbdkit_backend *backend, const char *key,
			 const char *value)
{
	if (strncmp(key, "iosched-", 8) != 0)
		return next(backend, key, value);
	return settings_take(&settings, key + 8, value);
}

static int set_tunables(void)
{
	for (struct assignment *a = settings.tunables; a != NULL; a = a->next) {
		int error = iosched_tunable_set(gate.queue, a->name, a->value);

		if (error != 0) {
			nbdkit_error("iosched-set=%s:%llu: policy %s: %s", a->name,
				     (unsigned long long)a->value,
				     iosched_policy_name(settings.policy), strerror(-error));
			return -1;
		}
	}
	return 0;
}

/* [share] */
/* Policies weigh contexts (fair-deadline) or groups (cfq): then everybody gets a group alone. */
static int give_share(const struct who *w)
{
	struct iosched_context_params c;
	struct iosched_group_params g;
	int error;

	iosched_context_params_init(&c, sizeof(c));
	c.prio_level = (uint8_t)w->level;
	if (w->weight == 0)
		return iosched_context_set(gate.queue, w->id, &c, gate_now());
	c.weight = w->weight;
	error = iosched_context_set(gate.queue, w->id, &c, gate_now());
	if (error != -EOPNOTSUPP)
		return error;
	iosched_group_params_init(&g, sizeof(g));
	g.weight = w->weight;
	error = iosched_group_set(gate.queue, w->id, &g, gate_now());
	iosched_context_params_init(&c, sizeof(c));
	c.prio_level = (uint8_t)w->level;
	c.group = w->id;
	return error != 0 ? error : iosched_context_set(gate.queue, w->id, &c, gate_now());
}
/* [/share] */

static int set_share(const struct who *w)
{
	int error = w->weight != 0 || w->level != 0 ? give_share(w) : 0;

	if (error != 0)
		nbdkit_error("share of \"%s\": %s", w->name,
			     error == -EOPNOTSUPP ? "the policy has no weights" : strerror(-error));
	return error != 0 ? -1 : 0;
}

/* Errors of the configuration are to be seen on the terminal: before nbdkit forks. */
static int filter_get_ready(int thread_model)
{
	struct iosched_params p;
	int error;

	if (settings.policy == NULL)
		return 0;
	if (thread_model != NBDKIT_THREAD_MODEL_PARALLEL)
		nbdkit_debug("iosched: requests come one at a time, nothing can be scheduled");
	iosched_params_init(&p, sizeof(p));
	p.policy = settings.policy;
	p.max_inflight = settings.depth;
	p.device_depth = settings.depth;
	p.max_merge_bytes = settings.merge;
	error = gate_init(&gate, &p);
	if (error != 0) {
		nbdkit_error("the queue cannot be created: %s", strerror(-error));
		return -1;
	}
	ready = true;
	if (set_tunables() != 0)
		return -1;
	for (struct who *w = settings.known; w != NULL; w = w->next)
		if (set_share(w) != 0)
			return -1;
	return 0;
}

static int filter_after_fork(nbdkit_backend *backend)
{
	int error = ready ? gate_start(&gate) : 0;

	(void)backend;
	if (error != 0)
		nbdkit_error("no thread for the timer: %s", strerror(-error));
	return error != 0 ? -1 : 0;
}

/* --- The end --- */

static void write_stats(FILE *f)
{
	struct iosched_stats s;

	if (ready) {
		iosched_stats_get(gate.queue, &s, sizeof(s));
		fprintf(f,
			"policy %s\ninserted %llu\ndispatched %llu\ncompleted %llu\nmerged %llu\n"
			"queued %llu\ninflight %u\n",
			iosched_policy_name(settings.policy), (unsigned long long)s.inserted,
			(unsigned long long)s.dispatched, (unsigned long long)s.completed,
			(unsigned long long)(s.back_merges + s.front_merges + s.coalesced),
			(unsigned long long)iosched_queued(gate.queue),
			iosched_inflight(gate.queue));
	}
	if (settings.other_requests != 0)
		fprintf(f, "others requests %llu bytes %llu\n",
			(unsigned long long)settings.other_requests,
			(unsigned long long)settings.other_bytes);
	for (struct who *w = settings.known; w != NULL; w = w->next)
		fprintf(f, "context %s requests %llu bytes %llu\n", w->name,
			(unsigned long long)w->requests, (unsigned long long)w->bytes);
}

static void filter_unload(void)
{
	FILE *f = settings.stats != NULL ? fopen(settings.stats, "w") : NULL;

	if (f != NULL) {
		write_stats(f);
		fclose(f);
	}
	if (ready && gate_fini(&gate) != 0)
		fprintf(stderr, "nbdkit-iosched-filter: requests were left in the queue\n");
	settings_free(&settings);
}

/* --- Connections --- */

/* Sends nothing more: a policy need not wait for it. */
static void let_go(struct who *w)
{
	if (w == NULL)
		return;
	if (ready) {
		pthread_mutex_lock(&gate.lock);
		iosched_context_exit(gate.queue, w->id, gate_now());
		pthread_mutex_unlock(&gate.lock);
	}
	free(w);
}

static int introduce(struct connection *c, const char *exportname)
{
	struct who *forgotten;

	if (!settings.same_disk) {
		c->export = settings_export(&settings, exportname);
		if (c->export == NULL)
			return -1;
		c->base = c->export->number * EXPORT_STRIDE;
	}
	c->who = settings_who(&settings, exportname, &forgotten);
	let_go(forgotten);
	if (c->who == NULL)
		settings_export_leave(&settings, c->export);
	return c->who != NULL ? 0 : -1;
}

static void *filter_open(nbdkit_next_open *next, nbdkit_context *context, int readonly,
			 const char *exportname, int is_tls)
{
	struct connection *c;

	(void)is_tls;
	if (next(context, readonly, exportname) == -1)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c != NULL && introduce(c, exportname) == 0)
		return c;
	free(c);
	return NULL;
}

static void filter_close(void *handle)
{
	struct connection *c = handle;

	if (settings_leave(&settings, c->who))
		let_go(c->who);
	settings_export_leave(&settings, c->export);
	free(c);
}

/* --- Requests --- */

static uint32_t fua_of(const struct call *c)
{
	return c->flags & NBDKIT_FLAG_FUA;
}

static int call_write(struct call *c, uint32_t n, uint64_t at, const void *buffer, int *err)
{
	if (c->zero)
		return c->next->zero(c->next, n, at, c->flags, err);
	return c->next->pwrite(c->next, buffer, n, at, fua_of(c), err);
}

static int call_plugin(struct ticket *t, uint64_t offset, uint64_t length, void *buffer)
{
	struct call *c = t->user;
	uint64_t at = offset - c->base;
	uint32_t n = (uint32_t)length;
	int err = EIO, result;

	switch (t->rq.op) {
	case IOSCHED_READ:
		result = c->cache ? c->next->cache(c->next, n, at, c->flags, &err)
				  : c->next->pread(c->next, buffer, n, at, c->flags, &err);
		break;
	case IOSCHED_WRITE:
		result = call_write(c, n, at, buffer, &err);
		break;
	case IOSCHED_FLUSH:
		result = c->next->flush(c->next, c->flags, &err);
		break;
	default:
		result = c->next->trim(c->next, n, at, c->flags, &err);
		break;
	}
	return result == 0 ? 0 : err > 0 ? -err : -EIO;
}

/* [request] */
static int pass(struct connection *h, struct call *c, enum iosched_op op, void *buffer, uint32_t n,
		uint64_t offset, int *err)
{
	struct ticket t = {.buffer = buffer, .perform = call_plugin, .user = c};
	int error;

	t.rq.op = (uint8_t)op;
	t.rq.offset = op == IOSCHED_FLUSH ? 0 : h->base + offset;
	t.rq.length = n;
	t.rq.context = h->who->id;
	if (op == IOSCHED_WRITE && fua_of(c) != 0)
		t.rq.flags = IOSCHED_RQ_FUA | IOSCHED_RQ_SYNC;
	if (buffer == NULL)
		t.rq.flags |= IOSCHED_RQ_NOMERGE;
	c->base = h->base;
	if (!ready) {
		t.rq.offset = h->base + offset;
		error = call_plugin(&t, t.rq.offset, n, buffer);
	} else {
		error = gate_pass(&gate, &t);
	}
	__atomic_fetch_add(&h->who->requests, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&h->who->bytes, n, __ATOMIC_RELAXED);
	*err = -error;
	return error == 0 ? 0 : -1;
}
/* [/request] */

static int filter_pread(nbdkit_next *next, void *handle, void *buf, uint32_t count, uint64_t offset,
			uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags};

	return pass(handle, &c, IOSCHED_READ, buf, count, offset, err);
}

static int filter_pwrite(nbdkit_next *next, void *handle, const void *buf, uint32_t count,
			 uint64_t offset, uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags};
	union {
		const void *in;
		void *out;
	} data = {buf}; /* a ticket's buffer of a write is only read */

	return pass(handle, &c, IOSCHED_WRITE, data.out, count, offset, err);
}

static int filter_flush(nbdkit_next *next, void *handle, uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags};

	return pass(handle, &c, IOSCHED_FLUSH, NULL, 0, 0, err);
}

static int filter_trim(nbdkit_next *next, void *handle, uint32_t count, uint64_t offset,
		       uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags};

	return pass(handle, &c, IOSCHED_DISCARD, NULL, count, offset, err);
}

static int filter_zero(nbdkit_next *next, void *handle, uint32_t count, uint64_t offset,
		       uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags, .zero = true};

	return pass(handle, &c, IOSCHED_WRITE, NULL, count, offset, err);
}

static int filter_cache(nbdkit_next *next, void *handle, uint32_t count, uint64_t offset,
			uint32_t flags, int *err)
{
	struct call c = {.next = next, .flags = flags, .cache = true};

	return pass(handle, &c, IOSCHED_READ, NULL, count, offset, err);
}

static struct nbdkit_filter filter = {
	.name = "iosched",
	.longname = "nbdkit I/O scheduling filter",
	.description = "serve requests in the order of a policy of libiosched",
	.unload = filter_unload,
	.config = filter_config,
	.config_help = SETTINGS_HELP,
	.get_ready = filter_get_ready,
	.after_fork = filter_after_fork,
	.open = filter_open,
	.close = filter_close,
	.pread = filter_pread,
	.pwrite = filter_pwrite,
	.flush = filter_flush,
	.trim = filter_trim,
	.zero = filter_zero,
	.cache = filter_cache,
};

struct nbdkit_filter *filter_init(void);
NBDKIT_REGISTER_FILTER(filter)
