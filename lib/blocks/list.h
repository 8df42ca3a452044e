/* SPDX-License-Identifier: MIT */
/*
 * list: intrusive doubly linked list.
 *
 * A head is a link that points to itself when the list is empty; so does a
 * link that is on no list. Nothing here knows what it links.
 */
#ifndef IOS_BLOCKS_LIST_H
#define IOS_BLOCKS_LIST_H

#include <iosched/iosched.h>

/* The struct around a member; for typed accessors only. */
#define IOS_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void ios_list_init(struct iosched_list_link *link)
{
	link->prev = link;
	link->next = link;
}

static inline bool ios_list_empty(const struct iosched_list_link *link)
{
	return link->next == link;
}

static inline void ios_list_insert_before(struct iosched_list_link *at,
					  struct iosched_list_link *link)
{
	link->prev = at->prev;
	link->next = at;
	at->prev->next = link;
	at->prev = link;
}

static inline void ios_list_insert_after(struct iosched_list_link *at,
					 struct iosched_list_link *link)
{
	ios_list_insert_before(at->next, link);
}

static inline void ios_list_remove(struct iosched_list_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	ios_list_init(link);
}

#endif
