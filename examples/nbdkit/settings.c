/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#define NBDKIT_API_VERSION 2
#include "settings.h"

#include <nbdkit-filter.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "identity.h"

/* --- Whom we know --- */

static struct who *find(struct settings *s, const char *name)
{
	for (struct who *w = s->known; w != NULL; w = w->next)
		if (strcmp(w->name, name) == 0)
			return w;
	return NULL;
}

static struct who *meet(struct settings *s, const char *name)
{
	size_t n = strlen(name) + 1;
	struct who *w = find(s, name);

	if (w != NULL)
		return w;
	w = calloc(1, sizeof(*w) + n);
	if (w == NULL)
		return NULL;
	memcpy(w->name, name, n);
	w->id = identity_hash(name);
	w->next = s->known;
	s->known = w;
	s->known_count++;
	return w;
}

/* Takes @who out; its account is added to the others'. */
static void forget(struct settings *s, struct who *who)
{
	struct who **w = &s->known;

	while (*w != who)
		w = &(*w)->next;
	*w = who->next;
	s->known_count--;
	s->other_requests += who->requests;
	s->other_bytes += who->bytes;
}

/* Whoever has been away longest. NULL: all are here, or on the command line. */
static struct who *away_longest(struct settings *s)
{
	struct who *found = NULL;

	for (struct who *w = s->known; w != NULL; w = w->next)
		if (w->connections == 0 && !w->configured &&
		    (found == NULL || w->left < found->left))
			found = w;
	return found;
}

static void name_peer(char *name, size_t n)
{
	struct sockaddr_storage a;
	socklen_t length = sizeof(a);
	const void *address;

	snprintf(name, n, "local");
	if (nbdkit_peer_name((struct sockaddr *)&a, &length) != 0)
		return;
	if (a.ss_family == AF_INET)
		address = &((struct sockaddr_in *)&a)->sin_addr;
	else if (a.ss_family == AF_INET6)
		address = &((struct sockaddr_in6 *)&a)->sin6_addr;
	else
		return;
	inet_ntop(a.ss_family, address, name, (socklen_t)n);
}

/* [identity] */
static void name_connection(struct settings *s, const char *exportname, char *name, size_t n)
{
	switch (s->identity) {
	case BY_EXPORT:
		snprintf(name, n, "%s", exportname);
		break;
	case BY_UID:
		snprintf(name, n, "%lld", (long long)nbdkit_peer_uid());
		break;
	case BY_PID:
		snprintf(name, n, "%lld", (long long)nbdkit_peer_pid());
		break;
	case BY_PEER:
		name_peer(name, n);
		break;
	case BY_CONNECTION:
		snprintf(name, n, "connection %llu", (unsigned long long)++s->connections);
		break;
	case BY_NOBODY:
		snprintf(name, n, "all");
		break;
	}
}
/* [/identity] */

struct who *settings_who(struct settings *s, const char *exportname, struct who **forgotten)
{
	char name[4096 + 1]; /* NBD allows names of 4096 bytes */
	struct who *w;
	bool full;

	*forgotten = NULL;
	pthread_mutex_lock(&s->lock);
	name_connection(s, exportname, name, sizeof(name));
	full = s->known_count >= SETTINGS_KNOWN && find(s, name) == NULL;
	if (full && (*forgotten = away_longest(s)) != NULL)
		forget(s, *forgotten);
	w = full && *forgotten == NULL ? NULL : meet(s, name);
	if (w != NULL)
		w->connections++;
	else if (full)
		nbdkit_error("%d who ask are connected already", SETTINGS_KNOWN);
	else
		nbdkit_error("out of memory");
	pthread_mutex_unlock(&s->lock);
	return w;
}

/* Processes and connections come and go without end; exports, users and peers come back. */
bool settings_leave(struct settings *s, struct who *who)
{
	bool gone;

	pthread_mutex_lock(&s->lock);
	who->left = ++s->ended;
	gone = --who->connections == 0 && !who->configured &&
	       (s->identity == BY_PID || s->identity == BY_CONNECTION);
	if (gone)
		forget(s, who);
	pthread_mutex_unlock(&s->lock);
	return gone;
}

static struct assignment *assign(struct assignment **list, const char *name, size_t n,
				 uint64_t value)
{
	struct assignment *a = calloc(1, sizeof(*a) + n + 1);

	if (a == NULL)
		return NULL;
	memcpy(a->name, name, n);
	a->value = value;
	a->next = *list;
	*list = a;
	return a;
}

/* One that is there, or the one to be replaced, or NULL. */
static struct export *find_export(struct settings *s, const char *name)
{
	struct export *found = NULL;

	for (struct export *e = s->exports; e != NULL; e = e->next) {
		if (strcmp(e->name, name) == 0)
			return e;
		if (e->connections == 0 && (found == NULL || e->left < found->left))
			found = e;
	}
	return s->export_count < SETTINGS_EXPORTS ? NULL : found;
}

/* The number of @old goes to @name: nobody has requests with it. */
static struct export *make_export(struct settings *s, const char *name, struct export *old)
{
	size_t n = strlen(name) + 1;
	struct export *e = calloc(1, sizeof(*e) + n), **place = &s->exports;

	if (e == NULL)
		return NULL;
	memcpy(e->name, name, n);
	e->number = old != NULL ? old->number : s->export_count++;
	while (old != NULL && *place != old)
		place = &(*place)->next;
	e->next = old != NULL ? old->next : s->exports;
	*place = e;
	free(old);
	return e;
}

struct export *settings_export(struct settings *s, const char *exportname)
{
	struct export *e;
	bool full;

	pthread_mutex_lock(&s->lock);
	e = find_export(s, exportname);
	full = e == NULL && s->export_count >= SETTINGS_EXPORTS;
	if (!full && (e == NULL || strcmp(e->name, exportname) != 0))
		e = make_export(s, exportname, e);
	if (e != NULL)
		e->connections++;
	else if (full)
		nbdkit_error("%d exports are connected already", SETTINGS_EXPORTS);
	else
		nbdkit_error("out of memory");
	pthread_mutex_unlock(&s->lock);
	return e;
}

void settings_export_leave(struct settings *s, struct export *e)
{
	if (e == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	e->left = ++s->ended;
	e->connections--;
	pthread_mutex_unlock(&s->lock);
}

/* --- Parameters --- */

static int wrong(const char *key, const char *value, const char *what)
{
	nbdkit_error("iosched-%s=%s: %s", key, value, what);
	return -1;
}

static int take_policy(struct settings *s, const char *value)
{
	s->policy = strcmp(value, "bypass") == 0 ? NULL : iosched_policy_find(value);
	if (s->policy == NULL && strcmp(value, "bypass") != 0)
		return wrong("policy", value, "there is no such policy");
	return 0;
}

static int take_identity(struct settings *s, const char *value)
{
	static const char *const kinds[] = {"export", "uid", "pid", "peer", "connection", "none"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(value, kinds[i]) == 0) {
			s->identity = (enum identity_kind)i;
			return 0;
		}
	}
	return wrong("identity", value, "not export, uid, pid, peer, connection or none");
}

/* NAME:NUMBER; the name may hold colons itself. */
static int split(const char *key, const char *value, size_t *name_length, uint64_t *number)
{
	const char *colon = strrchr(value, ':');

	if (colon == NULL || colon == value)
		return wrong(key, value, "not of the form NAME:NUMBER");
	*name_length = (size_t)(colon - value);
	return nbdkit_parse_uint64_t(key, colon + 1, number);
}

static int take_share(struct settings *s, const char *key, const char *value)
{
	bool weight = strcmp(key, "weight") == 0;
	char name[256] = "";
	uint64_t number;
	struct who *w;
	size_t n;

	if (split(key, value, &n, &number) != 0)
		return -1;
	if (n >= sizeof(name))
		return wrong(key, value, "the name is too long");
	if (weight ? number < 1 || number > 1000 : number > 7)
		return wrong(key, value, weight ? "not in 1..1000" : "not in 0..7");
	memcpy(name, value, n);
	w = meet(s, name);
	if (w == NULL)
		return wrong(key, value, "out of memory");
	w->configured = true;
	if (weight)
		w->weight = (uint32_t)number;
	else
		w->level = (uint32_t)number + 1;
	return 0;
}

static int take_tunable(struct settings *s, const char *value)
{
	uint64_t number;
	size_t n;

	if (split("set", value, &n, &number) != 0)
		return -1;
	return assign(&s->tunables, value, n, number) != NULL
		       ? 0
		       : wrong("set", value, "out of memory");
}

static int take_merge(struct settings *s, const char *value)
{
	int64_t n = nbdkit_parse_size(value);

	if (n < 0)
		return -1;
	if (n > SETTINGS_MERGE_MAX)
		return wrong("merge", value, "more than nbdkit lets a filter ask for");
	s->merge = (uint64_t)n;
	return 0;
}

static int take_stats(struct settings *s, const char *value)
{
	free(s->stats);
	s->stats = nbdkit_absolute_path(value);
	return s->stats != NULL ? 0 : -1;
}

static int take_bool(bool *out, const char *value)
{
	int b = nbdkit_parse_bool(value);

	*out = b == 1;
	return b < 0 ? -1 : 0;
}

int settings_take(struct settings *s, const char *key, const char *value)
{
	if (strcmp(key, "policy") == 0)
		return take_policy(s, value);
	if (strcmp(key, "depth") == 0)
		return nbdkit_parse_uint32_t("iosched-depth", value, &s->depth);
	if (strcmp(key, "merge") == 0)
		return take_merge(s, value);
	if (strcmp(key, "identity") == 0)
		return take_identity(s, value);
	if (strcmp(key, "weight") == 0 || strcmp(key, "level") == 0)
		return take_share(s, key, value);
	if (strcmp(key, "set") == 0)
		return take_tunable(s, value);
	if (strcmp(key, "same-disk") == 0)
		return take_bool(&s->same_disk, value);
	if (strcmp(key, "stats") == 0)
		return take_stats(s, value);
	return wrong(key, value, "there is no such parameter");
}

static void free_assignments(struct assignment *a)
{
	while (a != NULL) {
		struct assignment *next = a->next;

		free(a);
		a = next;
	}
}

void settings_free(struct settings *s)
{
	free_assignments(s->tunables);
	while (s->exports != NULL) {
		struct export *next = s->exports->next;

		free(s->exports);
		s->exports = next;
	}
	while (s->known != NULL) {
		struct who *next = s->known->next;

		free(s->known);
		s->known = next;
	}
	free(s->stats);
}
