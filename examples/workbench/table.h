/* SPDX-License-Identifier: MIT */
/*
 * table: columns under headings, as wide as what is in them.
 *
 * Rule: cells are copied as they come, row by row; nothing is printed before
 * wb_table_print(). The first column is flush left, the others flush right. Out of memory
 * ends the program's wish to go on: the print then fails.
 */
#ifndef WORKBENCH_TABLE_H
#define WORKBENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct wb_column {
	const char *group; /* heading above neighbours of the same group; NULL: none */
	const char *name;
	bool left; /* flush left */
};

struct wb_table {
	const struct wb_column *columns;
	size_t column_count;
	char **cells;
	size_t cell_count, room;
	bool failed;
};

void wb_table_init(struct wb_table *t, const struct wb_column *columns, size_t count);
void wb_table_add(struct wb_table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* On stdout, each line after `indent` blanks. Frees the cells. Returns an exit code. */
int wb_table_print(struct wb_table *t, int indent);

#endif
