/* SPDX-License-Identifier: MIT */
/*
 * fair-deadline: shares of device time by weight, deadlines as a floor under them, and no
 * waiting that does not pay. Our own; docs/policies/fair-deadline.md has the proofs.
 *
 * This file: the table, and what becomes of contexts, groups and requests that leave unserved.
 */
#include "policies/policies.h"
#include "policies/fair_deadline/fd.h"

struct iosched_request *ios_fd_wait(struct iosched_pause *pause, enum iosched_hold reason,
				    iosched_time until)
{
	pause->reason = reason;
	pause->until = until;
	return NULL;
}

/* For a completion. */
struct iosched_request *ios_fd_busy(struct iosched_pause *pause)
{
	return ios_fd_wait(pause, IOSCHED_HOLD_INFLIGHT, IOSCHED_NEVER);
}

static bool is_async(const struct iosched_request *rq)
{
	return !iosched_request_is_sync(rq);
}

struct fd_flow *ios_fd_flow_for(const struct iosched_request *rq)
{
	struct fd_owner *o = rq->internal.context->data;

	/* Written as an element of the array it would be computed again for each member. */
	return o->flow[0] + (iosched_request_class(rq) * 2u + is_async(rq));
}

void ios_fd_pass_time(struct fd *d, iosched_time now)
{
	if (now >= d->slice_end)
		ios_fd_slice_advance_slow(d, now);
	d->alarm = d->slice_end;
	ios_fd_grace(d, now);
	if (d->n_limits != 0)
		ios_fd_wake(d, now);
	if (d->n_limits != 0 || now == 0) /* 0 is never, and seen() knows */
		d->alarm = 0;
}

/* -- leaving -- */

static void leave_queue(struct fd *d, struct iosched_request *rq, iosched_time now)
{
	struct fd_flow *f = fd_flow_of(rq);

	ios_fd_flow_unlink(d, f, rq);
	if (rq->internal.mark & FD_MARK_SHARED)
		ios_fd_share_done(d, rq, now);
	ios_fd_flow_rest(d, f, now);
	ios_fd_flow_settle(d, f, now);
}

static void fd_remove(void *self, struct iosched_request *rq, iosched_time now)
{
	fd_tick(self, now);
	leave_queue(self, rq, now);
}

static struct iosched_request *fd_drain(void *self)
{
	struct fd *d = self;
	struct iosched_list_link *l;

	for (l = d->busy.next; l != &d->busy; l = l->next) {
		struct fd_flow *f = IOS_CONTAINER(l, struct fd_flow, activity);
		struct iosched_request *rq = ios_fd_flow_oldest(f);

		if (rq != NULL) {
			leave_queue(d, rq, d->now);
			return rq;
		}
	}
	return NULL;
}

/* -- contexts and groups -- */

static void fd_context_init(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;
	struct fd_owner *o = ctx->data;

	ios_fd_owner_init(d, o, ctx);
	ios_fd_limits_changed(d, &o->limit, &ctx->limits, now);
}

static void fd_context_changed(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;

	fd_tick(d, now);
	ios_fd_owner_changed(d, ctx->data, now);
	d->env->kick |= IOSCHED_KICK_NOW;
}

/* Its next request will not come: what is held for it is let go. */
static void fd_context_exit(void *self, struct iosched_context *ctx, iosched_time now)
{
	struct fd *d = self;
	struct fd_owner *o = ctx->data;

	fd_tick(d, now);
	o->gone = 1;
	if (d->hold.flow == NULL || d->hold.flow->owner != o)
		return;
	ios_fd_hold_end(d, now, false);
	d->e = NULL;
	d->env->kick |= IOSCHED_KICK_NOW;
}

static void fd_context_fini(void *self, struct iosched_context *ctx)
{
	ios_fd_owner_fini(self, ctx->data);
}

static void fd_group_changed(void *self, struct iosched_group *group, iosched_time now)
{
	struct fd *d = self;

	fd_tick(d, now);
	ios_fd_group_changed(d, group, now);
	d->env->kick |= IOSCHED_KICK_NOW;
}

/* -- the table -- */

static size_t groups_size(const struct iosched_params *p)
{
	return sizeof(struct fd_group) * (p->max_groups + 1u);
}

/* What a class keeps its POOL's requests in: with an arm sorted, over so many cells; on flash
 * hashed, in as many buckets. */
static size_t places_size(const struct iosched_params *p, uint32_t n_cells)
{
	return p->rotational ? ios_rqgrid_size(n_cells)
			     : n_cells * sizeof(struct iosched_tree_link *);
}

static void places_init(struct fd_class *c, const struct iosched_params *p, void *memory,
			uint32_t n_cells)
{
	if (p->rotational) {
		ios_rqgrid_init(&c->grid, memory, n_cells);
		c->pool.grid = &c->grid;
	} else {
		ios_rqstarts_init(&c->starts, memory, n_cells);
		c->pool.starts = &c->starts;
	}
}

static size_t fd_pool_size(const struct iosched_params *p)
{
	return groups_size(p) + FD_CLASSES * places_size(p, ios_rqgrid_cells(p->expected_queued));
}

static int fd_init(void *self, struct iosched_policy_env *env, void *pool, iosched_time now)
{
	uint32_t n_cells = ios_rqgrid_cells(env->params->expected_queued);
	struct fd *d = self;
	unsigned i;

	d->env = env;
	d->groups = pool;
	d->rotational = env->params->rotational;
	d->wce = env->params->write_cache;
	d->array = env->params->array;
	d->hint = env->params->parallel;
	d->measures = d->rotational && d->hint == IOSCHED_PARALLEL_UNKNOWN;
	d->tries = d->rotational && d->hint == IOSCHED_PARALLEL_YES;
	if (d->array && d->rotational)
		ios_fd_use_array_model(&d->t);
	for (i = 0; i < FD_CLASSES; i++) {
		ios_fd_class_init(&d->cls[i], i);
		places_init(&d->cls[i], env->params,
			    (char *)pool + groups_size(env->params) +
				    i * places_size(env->params, n_cells),
			    n_cells);
	}
	ios_list_init(&d->busy);
	ios_list_init(&d->grace);
	ios_list_init(&d->owing);
	ios_list_init(&d->syncers);
	d->now = now;
	d->slice = 0;
	d->weight_stamp = 1;
	d->t_pos = d->t.position_ns;
	d->c_byte = d->t.byte_ps;
	d->kappa = UINT64_C(1) << 16;
	d->phi = FD_ONE;
	d->bucket = (int64_t)d->t.pace_cap_ns;
	d->pace_on = 1;
	d->bucket_at = now;
	for (i = 0; i < 2; i++)
		d->lat_rand_ns[i] = d->t.lat_rand_ns[i];
	ios_fd_mode_init(d, now);
	return 0;
}

const struct iosched_policy ios_fair_deadline_policy = {
	.size = sizeof(struct iosched_policy),
	.flags = IOSCHED_POLICY_WEIGHTS | IOSCHED_POLICY_GROUPS | IOSCHED_POLICY_CONTEXTS |
		 IOSCHED_POLICY_PRIORITY | IOSCHED_POLICY_LIMITS,
	.name = "fair-deadline",
	.summary = "device time by weight, deadlines, limits; holds only when it pays (our own)",
	.self_size = sizeof(struct fd),
	.context_size = sizeof(struct fd_owner),
	.tunables = ios_fd_tunables,
	.pool_size = fd_pool_size,
	.init = fd_init,
	.insert = ios_fd_insert,
	.dispatch = ios_fd_dispatch,
	.complete = ios_fd_complete,
	.merge_allowed = ios_fd_merge_allowed,
	.front_candidate = ios_fd_front_candidate,
	.neighbour = ios_fd_neighbour,
	.absorbed = ios_fd_absorbed,
	.remove = fd_remove,
	.drain = fd_drain,
	.context_init = fd_context_init,
	.context_changed = fd_context_changed,
	.context_exit = fd_context_exit,
	.context_fini = fd_context_fini,
	.group_changed = fd_group_changed,
	.tunable_changed = ios_fd_tunable_changed,
	.audit = ios_fd_audit,
};

#ifdef IOS_ONE_UNIT
#include "policies/fair_deadline/fd_audit.c"
#include "policies/fair_deadline/fd_complete.c"
#include "policies/fair_deadline/fd_cost.c"
#include "policies/fair_deadline/fd_dispatch.c"
#include "policies/fair_deadline/fd_expired.c"
#include "policies/fair_deadline/fd_flow.c"
#include "policies/fair_deadline/fd_idle.c"
#include "policies/fair_deadline/fd_insert.c"
#include "policies/fair_deadline/fd_merge.c"
#include "policies/fair_deadline/fd_mode.c"
#include "policies/fair_deadline/fd_owner.c"
#include "policies/fair_deadline/fd_parallel.c"
#include "policies/fair_deadline/fd_queue.c"
#include "policies/fair_deadline/fd_serial.c"
#include "policies/fair_deadline/fd_stream.c"
#include "policies/fair_deadline/fd_tenant.c"
#include "policies/fair_deadline/fd_tunables.c"
#endif
