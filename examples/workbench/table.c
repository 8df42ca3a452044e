/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workbench.h"

#define GAP 2

void wb_table_init(struct wb_table *t, const struct wb_column *columns, size_t count)
{
	*t = (struct wb_table){.columns = columns, .column_count = count};
}

static bool make_room(struct wb_table *t)
{
	size_t room = t->room == 0 ? 64 : t->room * 2;
	char **cells;

	if (t->cell_count < t->room)
		return true;
	cells = realloc(t->cells, room * sizeof(*cells));
	if (cells == NULL)
		return false;
	t->cells = cells;
	t->room = room;
	return true;
}

void wb_table_add(struct wb_table *t, const char *format, ...)
{
	va_list args;
	char *cell = NULL;

	va_start(args, format);
	if (!make_room(t) || vasprintf(&cell, format, args) < 0)
		t->failed = true;
	else
		t->cells[t->cell_count++] = cell;
	va_end(args);
}

/* Columns on the screen: bytes that do not continue a character of UTF-8. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static int column_width(const struct wb_table *t, size_t column)
{
	int width = width_of(t->columns[column].name);

	for (size_t i = column; i < t->cell_count; i += t->column_count)
		if (width_of(t->cells[i]) > width)
			width = width_of(t->cells[i]);
	return width;
}

static bool same_group(const struct wb_table *t, size_t a, size_t b)
{
	const char *x = t->columns[a].group;

	return b < t->column_count && x != NULL && t->columns[b].group != NULL &&
	       strcmp(x, t->columns[b].group) == 0;
}

/* A heading that is wider than its columns widens the first of them. */
static void fit_groups(const struct wb_table *t, int *widths)
{
	size_t end;

	for (size_t i = 0; i < t->column_count; i = end) {
		int span = widths[i];

		for (end = i + 1; same_group(t, i, end); end++)
			span += GAP + widths[end];
		if (t->columns[i].group != NULL && width_of(t->columns[i].group) > span)
			widths[i] += width_of(t->columns[i].group) - span;
	}
}

static void blanks(int n)
{
	printf("%*s", n > 0 ? n : 0, "");
}

static void print_groups(const struct wb_table *t, const int *widths, int indent)
{
	int at = indent; /* where the next column begins */
	int printed = 0; /* where the cursor is */
	bool any = false;

	for (size_t i = 0; i < t->column_count; i++) {
		const char *group = t->columns[i].group;

		if (group != NULL && (i == 0 || !same_group(t, i, i - 1))) {
			int pad = 0;

			/* Over a single number it is flush right as that is. */
			if (!same_group(t, i, i + 1) && !t->columns[i].left)
				pad = widths[i] - width_of(group);
			blanks(at + pad - printed);
			fputs(group, stdout);
			printed = at + pad + width_of(group);
			any = true;
		}
		at += widths[i] + GAP;
	}
	if (any)
		putchar('\n');
}

static void print_cell(const struct wb_table *t, size_t column, int width, const char *text)
{
	int pad = width - width_of(text);
	bool last = column + 1 == t->column_count;

	if (!t->columns[column].left)
		blanks(pad);
	fputs(text, stdout);
	if (t->columns[column].left && !last)
		blanks(pad);
	if (last)
		putchar('\n');
	else
		blanks(GAP);
}

static void print_all(const struct wb_table *t, int *widths, int indent)
{
	fit_groups(t, widths);
	print_groups(t, widths, indent);
	blanks(indent);
	for (size_t c = 0; c < t->column_count; c++)
		print_cell(t, c, widths[c], t->columns[c].name);
	for (size_t i = 0; i < t->cell_count; i++) {
		if (i % t->column_count == 0)
			blanks(indent);
		print_cell(t, i % t->column_count, widths[i % t->column_count], t->cells[i]);
	}
}

int wb_table_print(struct wb_table *t, int indent)
{
	int *widths = calloc(t->column_count, sizeof(*widths));
	bool ok = widths != NULL && !t->failed;

	for (size_t c = 0; ok && c < t->column_count; c++)
		widths[c] = column_width(t, c);
	if (ok)
		print_all(t, widths, indent);
	free(widths);
	for (size_t i = 0; i < t->cell_count; i++)
		free(t->cells[i]);
	free(t->cells);
	return ok ? WB_OK : wb_fail("out of memory");
}
