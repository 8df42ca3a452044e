/* SPDX-License-Identifier: MIT */
/*
 * What the filter was told on nbdkit's command line, and whom it has met since.
 */
#ifndef EXAMPLES_NBDKIT_SETTINGS_H
#define EXAMPLES_NBDKIT_SETTINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <iosched/iosched.h>

enum identity_kind { BY_EXPORT, BY_UID, BY_PID, BY_PEER, BY_CONNECTION, BY_NOBODY };

/* Someone who asks. */
struct who {
	struct who *next;
	uint64_t id;
	uint32_t weight; /* 0: the policy's */
	uint32_t level;	 /* 0: the policy's, else level + 1 */
	uint64_t requests, bytes;
	unsigned connections;
	uint64_t left;	 /* when its last one ended, counted in connections */
	bool configured; /* by the command line: never forgotten */
	char name[];
};

/* Content of its own, and so a stretch of the queue's offsets. */
struct export
{
	struct export *next;
	uint64_t number;
	unsigned connections;
	uint64_t left;
	char name[];
};

struct assignment {
	struct assignment *next;
	uint64_t value;
	char name[];
};

struct settings {
	const struct iosched_policy *policy; /* NULL: bypass */
	uint32_t depth;
	uint64_t merge;
	enum identity_kind identity;
	bool same_disk;
	char *stats;
	struct assignment *tunables;
	pthread_mutex_t lock; /* of what follows, once connections come */
	struct who *known;
	unsigned known_count, export_count;
	uint64_t other_requests, other_bytes; /* of those forgotten */
	struct export *exports;
	uint64_t connections, ended;
};

/* Requests the device gets at a time, unless iosched-depth says more: few enough that the
 * policy has something to choose from under -t 16, nbdkit's default. */
#define SETTINGS_DEPTH 4

/* nbdkit's own limit is 64 MiB. */
#define SETTINGS_MERGE_MAX (32 * 1024 * 1024)

/* Exports of different content with connections at most, and those who ask: clients make up names.
 * Offsets have 64 bits. */
#define SETTINGS_EXPORTS 256
#define SETTINGS_KNOWN 256

#define SETTINGS_INIT                                                                            \
	{                                                                                        \
		.depth = SETTINGS_DEPTH, .merge = 512 * 1024, .lock = PTHREAD_MUTEX_INITIALIZER, \
	}

#define SETTINGS_HELP                                                                             \
	"iosched-policy=NAME      noop, deadline, ...; or bypass (default): no queue\n"           \
	"iosched-depth=N          requests with the plugin at a time (default 4)\n"               \
	"iosched-merge=SIZE       largest request made by merging, 0 = none (default 512K)\n"     \
	"iosched-identity=KIND    who asks: export (default), uid, pid, peer, connection, none\n" \
	"iosched-weight=WHO:N     share of one who asks, 1..1000\n"                               \
	"iosched-level=WHO:N      priority level of one who asks, 0 (highest)..7\n"               \
	"iosched-set=NAME:VALUE   a tunable of the policy\n"                                      \
	"iosched-same-disk=BOOL   the exports are one disk (default false)\n"                     \
	"iosched-stats=FILE       write counters there at the end"

/* One parameter. Returns 0, or -1 with nbdkit_error(). */
int settings_take(struct settings *s, const char *key, const char *value);

/* Who this connection is; NULL, with nbdkit_error(): too many, or no memory. *forgotten is somebody
 * whose place was needed, or NULL: free() him. */
struct who *settings_who(struct settings *s, const char *exportname, struct who **forgotten);

/* One of its connections has ended. Returns true: it will not come back, free() it. */
bool settings_leave(struct settings *s, struct who *who);

/* A connection to an export. NULL, with nbdkit_error(): too many have one, or no memory. */
struct export *settings_export(struct settings *s, const char *exportname);
void settings_export_leave(struct settings *s, struct export *e); /* @e may be NULL */

void settings_free(struct settings *s);

#endif
