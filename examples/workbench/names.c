/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The slot of a context, or the free one where it belongs. Multiplying by the golden ratio's
 * bits spreads neighbouring numbers. */
static size_t slot_of(const struct wb_names *n, uint64_t context)
{
	size_t i = (size_t)(context * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n->slots - 1);

	while (n->index[i] != 0 && n->names[n->index[i] - 1].context != context)
		i = (i + 1) & (n->slots - 1);
	return i;
}

static bool grow_index(struct wb_names *n)
{
	size_t slots = n->slots == 0 ? 64 : n->slots * 2;
	uint32_t *index = calloc(slots, sizeof(*index));

	if (index == NULL)
		return false;
	free(n->index);
	n->index = index;
	n->slots = slots;
	for (size_t i = 0; i < n->count; i++)
		n->index[slot_of(n, n->names[i].context)] = (uint32_t)(i + 1);
	return true;
}

static bool grow_names(struct wb_names *n)
{
	size_t room = n->room == 0 ? 32 : n->room * 2;
	struct wb_name *names = realloc(n->names, room * sizeof(*names));

	if (names == NULL)
		return false;
	n->names = names;
	n->room = room;
	return true;
}

static struct wb_name *add(struct wb_names *n, uint64_t context)
{
	if (n->count == n->room && !grow_names(n))
		return NULL;
	/* Half empty, so that a search is short. */
	if (n->count * 2 >= n->slots && !grow_index(n))
		return NULL;
	n->index[slot_of(n, context)] = (uint32_t)(n->count + 1);
	n->names[n->count] = (struct wb_name){.context = context};
	return &n->names[n->count++];
}

static struct wb_name *find(const struct wb_names *n, uint64_t context)
{
	uint32_t at = n->slots == 0 ? 0 : n->index[slot_of(n, context)];

	return at == 0 ? NULL : &n->names[at - 1];
}

const struct wb_name *wb_names_find(const struct wb_names *n, uint64_t context)
{
	return find(n, context);
}

bool wb_names_count(struct wb_names *n, const struct iosched_trace_record *rec)
{
	struct wb_name *name = find(n, rec->context);

	if (name == NULL)
		name = add(n, rec->context);
	if (name == NULL)
		return false;
	name->requests++;
	name->bytes += rec->length;
	if (name->process[0] == '\0')
		memcpy(name->process, rec->process, sizeof(name->process));
	return true;
}

void wb_names_fini(struct wb_names *n)
{
	free(n->names);
	free(n->index);
	*n = (struct wb_names){0};
}

const char *wb_context_text(char out[WB_CONTEXT_SIZE], const struct wb_names *n, uint64_t context)
{
	const struct wb_name *name = find(n, context);

	if (name != NULL && name->process[0] != '\0')
		snprintf(out, WB_CONTEXT_SIZE, "context %llu (%s)", (unsigned long long)context,
			 name->process);
	else
		snprintf(out, WB_CONTEXT_SIZE, "context %llu", (unsigned long long)context);
	return out;
}
