/* SPDX-License-Identifier: MIT */
/*
 * Devices, as those who use them see them: the host, or a device made of devices.
 *
 * A device takes commands until `depth` are with it, and ends each by its `done`, always from an
 * event of its own, never from within submit. It books its media time to the
 * owners of the bytes. It may refuse a command with -EBUSY; then it calls `ready`
 * or ends another command later.
 */
#ifndef IOS_SIM_DEVICE_H
#define IOS_SIM_DEVICE_H

#include "sim/engine.h"
#include "sim/ledger.h"
#include "sim/param.h"

struct ios_sim_device;

/* One command. The submitter fills the first part and keeps it until done. */
struct ios_sim_command {
	uint64_t offset; /* bytes */
	uint64_t length;
	uint8_t op;			    /* enum iosched_op */
	bool fua;			    /* done only when on the medium */
	const struct ios_sim_piece *pieces; /* owners of the bytes; NULL: a FLUSH of nobody's */
	void (*done)(struct ios_sim_command *cmd, int error); /* 0 or -errno */
	void *user;

	/* The device's. */
	struct ios_sim_device *device;
	iosched_time arrived;
	struct ios_sim_command *next;
	struct ios_sim_command *prev;
	uint64_t mark; /* a small number of its own */
	struct ios_sim_event event;
};

struct ios_sim_device {
	const struct ios_sim_model *model;
	struct ios_sim_engine *engine;
	struct ios_sim_ledger *ledger;
	uint64_t capacity; /* bytes */
	uint32_t depth;	   /* commands it takes at once */
	bool rotational;
	bool write_cache; /* volatile */
	bool array;
	bool instant;		   /* commands take no time */
	uint8_t parallel;	   /* enum iosched_parallel */
	void (*ready)(void *user); /* a refused command would be taken now; set by the submitter */
	void *ready_user;
	struct iosched_sim_device_stats stats;
};

/* What to make a device of. */
struct ios_sim_plan {
	const struct ios_sim_model *model;
	void *values;		     /* of the model's parameters */
	struct ios_sim_plan *member; /* of a model made of devices, else NULL */
};

/* What a device made of devices may ask of one of them, to choose among them. */
struct ios_sim_look {
	bool held;     /* all of the extent could be read without the medium */
	uint64_t head; /* byte under the head */
};

/* A kind of device: its parameters and operations. */
struct ios_sim_model {
	const char *name;
	const char *summary;
	const char *member; /* made of devices: the preset they are unless told; else NULL */
	const struct ios_sim_param *params;
	size_t params_size;
	/* @plan is copied. Returns 0, -EINVAL or -ERANGE with a sentence, -ENOMEM. */
	int (*create)(struct ios_sim_device **out, const struct ios_sim_plan *plan,
		      struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
		      struct iosched_sim_error *why);
	void (*destroy)(struct ios_sim_device *d); /* cancels its events; commands are dropped */
	/* Returns 0, or -EBUSY: not now. */
	int (*submit)(struct ios_sim_device *d, struct ios_sim_command *cmd);
	/* Optional, of devices with an arm: true if @look was filled in. */
	bool (*look)(struct ios_sim_device *d, uint64_t offset, uint64_t length,
		     struct ios_sim_look *look);
	/* Optional, of devices made of devices: add what those did. */
	void (*add_stats)(const struct ios_sim_device *d, struct iosched_sim_device_stats *sum);
};

extern const struct ios_sim_model ios_sim_fault_model;
extern const struct ios_sim_model ios_sim_fixed_model;
extern const struct ios_sim_model ios_sim_hdd_model;
extern const struct ios_sim_model ios_sim_net_model;
extern const struct ios_sim_model ios_sim_null_model;
extern const struct ios_sim_model ios_sim_raid_model;
extern const struct ios_sim_model ios_sim_ssd_model;

/* Which device to make: a preset or model, text over it, settings over that. */
struct ios_sim_device_choice {
	const char *name;
	const char *text; /* may be NULL */
	const char *text_name;
	const struct iosched_sim_setting *overrides;
	unsigned override_count;
};

/* Returns 0, -ENOENT, -EINVAL, -ERANGE with a sentence, -ENOMEM. */
int ios_sim_device_create(struct ios_sim_device **out, const struct ios_sim_device_choice *choice,
			  struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
			  struct iosched_sim_error *why);

static inline int ios_sim_plan_create(struct ios_sim_device **out, const struct ios_sim_plan *plan,
				      struct ios_sim_engine *engine, struct ios_sim_ledger *ledger,
				      struct iosched_sim_error *why)
{
	return plan->model->create(out, plan, engine, ledger, why);
}

static inline void ios_sim_device_destroy(struct ios_sim_device *d)
{
	d->model->destroy(d);
}

static inline int ios_sim_device_submit(struct ios_sim_device *d, struct ios_sim_command *cmd)
{
	static const struct ios_sim_piece nobodys = {0};

	if (cmd->pieces == NULL)
		cmd->pieces = &nobodys;
	cmd->device = d;
	cmd->arrived = d->engine->now;
	return d->model->submit(d, cmd);
}

/* What it did, and what the devices it is made of did. */
static inline void ios_sim_device_stats(const struct ios_sim_device *d,
					struct iosched_sim_device_stats *out)
{
	*out = d->stats;
	if (d->model->add_stats != NULL)
		d->model->add_stats(d, out);
}

/* Book the media time of all of @cmd. */
static inline void ios_sim_device_book(struct ios_sim_device *d, const struct ios_sim_command *cmd,
				       uint64_t ns)
{
	d->stats.media_ns += ns;
	ios_sim_ledger_book_extent(d->ledger, cmd->pieces, cmd->offset, cmd->length, ns);
}

static inline void ios_sim_device_done(struct ios_sim_device *d, struct ios_sim_command *cmd,
				       int error)
{
	d->stats.commands++;
	d->stats.errors += error != 0;
	cmd->done(cmd, error);
}

/* A first-in first-out list of commands by next and prev. */
struct ios_sim_command_list {
	struct ios_sim_command *head;
	struct ios_sim_command *tail;
	uint32_t count;
};

static inline void ios_sim_list_append(struct ios_sim_command_list *l, struct ios_sim_command *cmd)
{
	cmd->next = NULL;
	cmd->prev = l->tail;
	if (l->tail != NULL)
		l->tail->next = cmd;
	else
		l->head = cmd;
	l->tail = cmd;
	l->count++;
}

static inline void ios_sim_list_prepend(struct ios_sim_command_list *l, struct ios_sim_command *cmd)
{
	cmd->prev = NULL;
	cmd->next = l->head;
	if (l->head != NULL)
		l->head->prev = cmd;
	else
		l->tail = cmd;
	l->head = cmd;
	l->count++;
}

static inline void ios_sim_list_remove(struct ios_sim_command_list *l, struct ios_sim_command *cmd)
{
	if (cmd->prev != NULL)
		cmd->prev->next = cmd->next;
	else
		l->head = cmd->next;
	if (cmd->next != NULL)
		cmd->next->prev = cmd->prev;
	else
		l->tail = cmd->prev;
	l->count--;
}

static inline struct ios_sim_command *ios_sim_list_take(struct ios_sim_command_list *l)
{
	struct ios_sim_command *cmd = l->head;

	if (cmd != NULL)
		ios_sim_list_remove(l, cmd);
	return cmd;
}

#endif
