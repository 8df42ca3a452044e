/* SPDX-License-Identifier: MIT */
/* names: see names.h. */
#include "trace/names.h"

#include <errno.h>
#include <stdlib.h>

void ios_trace_names_fini(struct ios_trace_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->list[i].text);
	free(names->list);
	free(names->buckets);
	memset(names, 0, sizeof(*names));
}

/* FNV-1a: short strings, no adversary worth more (the table is bounded). */
static uint32_t hash_text(struct ios_span s)
{
	uint32_t hash = 2166136261u;

	for (const char *p = s.at; p < s.end; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return hash;
}

/* The bucket that holds @text, or the free one where it belongs. */
static uint32_t *find(const struct ios_trace_names *names, struct ios_span text)
{
	uint32_t mask = names->bucket_count - 1;
	uint32_t at = hash_text(text) & mask;

	while (names->buckets[at] != 0 &&
	       !ios_span_is(text, names->list[names->buckets[at] - 1].text))
		at = (at + 1) & mask;
	return &names->buckets[at];
}

static int grow(struct ios_trace_names *names)
{
	uint32_t room = names->room != 0 ? names->room * 2 : 16;
	struct ios_trace_name *list = realloc(names->list, room * sizeof(*list));
	uint32_t *buckets;

	if (list == NULL)
		return -ENOMEM;
	names->list = list;
	/* Half full at most, so that probing ends soon. */
	buckets = calloc(room * 2, sizeof(*buckets));
	if (buckets == NULL)
		return -ENOMEM;
	free(names->buckets);
	names->buckets = buckets;
	names->bucket_count = room * 2;
	names->room = room;
	for (uint32_t i = 0; i < names->count; i++)
		*find(names, ios_span_of(list[i].text)) = i + 1;
	return 0;
}

static int add(struct ios_trace_names *names, struct ios_span text, uint32_t *bucket)
{
	char *copy = malloc(ios_span_length(text) + 1);

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, text.at, ios_span_length(text));
	copy[ios_span_length(text)] = '\0';
	names->list[names->count] = (struct ios_trace_name){.text = copy};
	*bucket = ++names->count;
	return 0;
}

int ios_trace_names_get(struct ios_trace_names *names, struct ios_span text, uint32_t *index)
{
	uint32_t *bucket;
	int err = 0;

	if (ios_span_empty(text) || ios_span_length(text) > IOS_TRACE_NAME_MAX)
		return -EINVAL;
	if (names->count == names->room && names->room < IOS_TRACE_NAMES_MAX)
		err = grow(names);
	if (err != 0)
		return err;
	bucket = find(names, text);
	if (*bucket == 0 && names->count == IOS_TRACE_NAMES_MAX)
		return -E2BIG;
	if (*bucket == 0)
		err = add(names, text, bucket);
	if (err == 0)
		*index = *bucket - 1;
	return err;
}
