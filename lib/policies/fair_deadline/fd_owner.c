/* SPDX-License-Identifier: MIT */
/*
 * fd_owner: a context's six flows come, change their weight, group or limits, and go.
 */
#include "policies/fair_deadline/fd.h"

static void entity_init(struct fd_entity *e, struct fd_class *c, enum fd_kind kind, unsigned cls)
{
	e->of = c;
	e->kind = kind;
	e->cls = (uint8_t)cls;
	e->tau = FD_MS;
	e->parr = FD_ONE * 7 / 10;
	ios_list_init(&e->members);
}

void ios_fd_class_init(struct fd_class *c, unsigned cls)
{
	entity_init(&c->pool, c, FD_POOL, cls);
	ios_list_init(&c->edf);
	ios_list_init(&c->boosts);
}

/* A first guess that neither holds nor refuses to: three near arrivals of four make it a stream. */
static void flow_init(struct fd *d, struct fd_flow *f, struct fd_owner *o, unsigned cls, bool async)
{
	entity_init(&f->own, &d->cls[cls], async ? FD_ASYNC : FD_STREAM, cls);
	f->owner = o;
	f->of = &d->cls[cls];
	f->cls = (uint8_t)cls;
	f->async = async;
	f->ordinary = !async && cls != IOSCHED_IDLE;
	ios_fd_flow_weight_changed(f);
	f->by_tag.priority = ios_treap_priority(d->n_made++);
	f->near = FD_ONE * 3 / 10;
	f->parr = FD_ONE * 7 / 10;
	f->tau = FD_MS;
	f->entity = async ? &f->own : &d->cls[cls].pool;
	f->entity->n_flows++;
	ios_fifo_init(&f->fifo);
	ios_fifo_init(&f->wishes);
	ios_list_init(&f->edf);
	ios_list_init(&f->activity);
	ios_list_init(&f->boosting);
	ios_list_init(&f->turn);
	ios_list_init(&f->member);
	ios_list_init(&f->owing);
	ios_list_init(&f->syncing);
}

void ios_fd_owner_init(struct fd *d, struct fd_owner *o, struct iosched_context *ctx)
{
	unsigned i;

	o->ctx = ctx;
	o->group = ios_fd_group(d, ctx->group);
	for (i = 0; i < FD_CLASSES; i++) {
		flow_init(d, &o->flow[i][0], o, i, false);
		flow_init(d, &o->flow[i][1], o, i, true);
	}
}

/* Its weight, group or limits are others now. */
void ios_fd_owner_changed(struct fd *d, struct fd_owner *o, iosched_time now)
{
	struct fd_flow *f;

	for (f = &o->flow[0][0]; f <= &o->flow[FD_CLASSES - 1][1]; f++) {
		ios_fd_flow_leave(d, f);
		if (f->active)
			ios_fd_weigh(d, f, false);
	}
	o->group = ios_fd_group(d, o->ctx->group);
	ios_fd_limits_changed(d, &o->limit, &o->ctx->limits, now);
	for (f = &o->flow[0][0]; f <= &o->flow[FD_CLASSES - 1][1]; f++) {
		ios_fd_flow_weight_changed(f);
		if (f->active)
			ios_fd_weigh(d, f, true);
		ios_fd_flow_settle(d, f, now);
	}
}

static void flow_fini(struct fd *d, struct fd_flow *f)
{
	IOS_ASSERT(!fd_waits(f));
	if (d->hold.flow == f)
		d->hold.flow = NULL;
	if (!f->async)
		ios_fd_stream_leave(d, f);
	ios_fd_forget_end(d, f);
	ios_fd_flow_deactivate(d, f);
	f->entity->n_flows--;
	if (f->entity->last == f)
		f->entity->last = NULL;
	if (!ios_list_empty(&f->syncing)) {
		ios_list_remove(&f->syncing);
		d->n_syncers--;
	}
	ios_list_remove(&f->owing);
	if (d->e == &f->own)
		d->e = NULL;
	if (d->run.flow == f)
		d->run.flow = NULL;
}

void ios_fd_owner_fini(struct fd *d, struct fd_owner *o)
{
	unsigned i;

	for (i = 0; i < FD_CLASSES; i++) {
		flow_fini(d, &o->flow[i][0]);
		flow_fini(d, &o->flow[i][1]);
	}
	ios_fd_limits_changed(d, &o->limit, NULL, 0);
}
