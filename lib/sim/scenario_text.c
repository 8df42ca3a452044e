/* SPDX-License-Identifier: MIT */
/* Scenarios: words and statements of a text, and complaints with a hint. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario.h"

/* --- Complaints --- */

int ios_scn_fail(const struct iosched_sim_scenario *s, unsigned line, int err, const char *format,
		 ...)
{
	char text[sizeof(s->why->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return ios_sim_fail(s->why, err, "%.80s:%u: %.220s", s->name, line, text);
}

#define LONGEST_HINT 32

/* Letters to insert, remove or change to make @b of @a (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[LONGEST_HINT + 1];
	size_t n = strlen(b);

	if (n > LONGEST_HINT || strlen(a) > LONGEST_HINT)
		return UINT32_MAX;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 0; a[i] != '\0'; i++) {
		unsigned corner = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			unsigned best = corner + (a[i] != b[j]);

			corner = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (corner + 1 < best)
				best = corner + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

static const char *nearest(const char *word, ios_scn_names *known, const void *user)
{
	unsigned least = (unsigned)strlen(word) / 2; /* half of it wrong is no likeness */
	const char *best = NULL;
	const char *name;

	for (unsigned i = 0; (name = known(user, i)) != NULL; i++) {
		unsigned d = distance(word, name);

		if (d <= least && d <= 3 && (best == NULL || d < least)) {
			least = d;
			best = name;
		}
	}
	return best;
}

/* "a, b, c" as far as there is room. */
static void list_names(char *out, size_t room, ios_scn_names *known, const void *user)
{
	size_t used = 0;
	const char *name;

	out[0] = '\0';
	for (unsigned i = 0; (name = known(user, i)) != NULL; i++) {
		size_t n = strlen(name) + 2;

		if (used + n + 4 > room) {
			strcpy(out + used, " ...");
			return;
		}
		sprintf(out + used, "%s%s", i > 0 ? ", " : "", name);
		used = strlen(out);
	}
}

int ios_scn_unknown(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, int err,
		    const char *what, ios_scn_names *known, const void *user)
{
	const char *hint = nearest(w->text, known, user);
	char list[150];

	if (hint != NULL)
		return ios_scn_fail(s, w->line, err, "\"%.40s\" is not %s; did you mean \"%s\"?",
				    w->text, what, hint);
	list_names(list, sizeof(list), known, user);
	if (list[0] == '\0')
		return ios_scn_fail(s, w->line, err, "\"%.40s\" is not %s", w->text, what);
	return ios_scn_fail(s, w->line, err, "\"%.40s\" is not %s: %s", w->text, what, list);
}

int ios_scn_glued(const struct iosched_sim_scenario *s, const struct ios_scn_word *w, int err,
		  const char *what, const char *keyword, ios_scn_names *known, const void *user)
{
	char *colon = strchr(w->text, ':');
	char apart[80];

	if (colon == NULL || strchr(colon, '=') == NULL || strlen(w->text) >= sizeof(apart))
		return ios_scn_unknown(s, w, err, what, known, user);
	strcpy(apart, w->text);
	apart[colon - w->text] = ' ';
	for (char *c = apart; *c != '\0'; c++)
		if (*c == ',')
			*c = ' ';
	return ios_scn_fail(s, w->line, err, "\"%.40s\" is not %s; with blanks: %s %s", w->text,
			    what, keyword, apart);
}

const char *ios_scn_listed(const void *array, unsigned i)
{
	return ((const char *const *)array)[i];
}

/* --- Cutting --- */

void *ios_scn_grow(void *array, unsigned count, size_t size)
{
	if ((count & (count - 1)) != 0) /* it has room up to the next power of two */
		return array;
	return realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int add_statement(struct iosched_sim_scenario *s)
{
	struct ios_scn_statement *all =
		ios_scn_grow(s->statements, s->statement_count, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	s->statements = all;
	all[s->statement_count++] = (struct ios_scn_statement){s->word_count, 0};
	return 0;
}

static int add_word(struct iosched_sim_scenario *s, char *text, unsigned line)
{
	struct ios_scn_word *all = ios_scn_grow(s->words, s->word_count, sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	s->words = all;
	all[s->word_count++] = (struct ios_scn_word){text, line};
	s->statements[s->statement_count - 1].count++;
	return 0;
}

/* The words of one line, which ends at a 0. */
static int cut_line(struct iosched_sim_scenario *s, char *at, unsigned line)
{
	bool indented = is_blank(*at);
	int err = 0;

	while (is_blank(*at))
		at++;
	if (*at == '\0' || *at == '#')
		return 0;
	if (indented && s->statement_count == 0)
		return ios_scn_fail(s, line, -EINVAL,
				    "an indented line goes on with the statement above it, and "
				    "there is none");
	if (!indented)
		err = add_statement(s);
	while (err == 0 && *at != '\0' && *at != '#') {
		char *word = at;

		while (*at != '\0' && !is_blank(*at))
			at++;
		while (is_blank(*at))
			*at++ = '\0';
		err = add_word(s, word, line);
	}
	return err;
}

int ios_scn_cut(struct iosched_sim_scenario *s)
{
	char *at = s->text;
	int err = 0;

	for (unsigned line = 1; err == 0 && at != NULL; line++) {
		char *end = strchr(at, '\n');

		if (end != NULL)
			*end++ = '\0';
		err = cut_line(s, at, line);
		at = end;
	}
	return err;
}

/* --- Reading words --- */

struct ios_scn_reader ios_scn_read(struct iosched_sim_scenario *s,
				   const struct ios_scn_statement *st)
{
	return (struct ios_scn_reader){s, &s->words[st->first], st->count, 1};
}

const struct ios_scn_word *ios_scn_peek(const struct ios_scn_reader *r)
{
	return r->at < r->count ? &r->words[r->at] : NULL;
}

bool ios_scn_take(struct ios_scn_reader *r, const char *text)
{
	const struct ios_scn_word *w = ios_scn_peek(r);

	if (w == NULL || strcmp(w->text, text) != 0)
		return false;
	r->at++;
	return true;
}

unsigned ios_scn_line(const struct ios_scn_reader *r)
{
	return r->words[r->at < r->count ? r->at : r->count - 1].line;
}

int ios_scn_want(struct ios_scn_reader *r, const char *what, const struct ios_scn_word **out)
{
	*out = ios_scn_peek(r);
	if (*out == NULL)
		return ios_scn_fail(r->s, ios_scn_line(r), -EINVAL, "%s is missing after \"%.40s\"",
				    what, r->words[r->count - 1].text);
	r->at++;
	return 0;
}

/* --- Words that streams and programs have --- */

int ios_scn_class(struct ios_scn_reader *r, uint8_t *out)
{
	static const char *const classes[] = {
		[IOSCHED_BEST_EFFORT] = "best-effort",
		[IOSCHED_REALTIME] = "realtime",
		[IOSCHED_IDLE] = "idle",
		NULL,
	};
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a class", &w);
	uint8_t i = 0;

	if (err != 0)
		return err;
	while (classes[i] != NULL && strcmp(classes[i], w->text) != 0)
		i++;
	if (classes[i] == NULL)
		return ios_scn_unknown(r->s, w, -EINVAL, "a class", ios_scn_listed, classes);
	*out = i;
	return 0;
}

int ios_scn_level(struct ios_scn_reader *r, uint8_t *out)
{
	uint64_t level;
	int err = ios_scn_ranged(r, "a level from 0 (first) to 7", 0, 7, &level);

	if (err == 0)
		*out = (uint8_t)(level + 1);
	return err;
}

int ios_scn_weight(struct ios_scn_reader *r, uint32_t *out)
{
	return ios_scn_ranged32(r, "a weight from 1 to 1000", 1, 1000, out);
}

int ios_scn_name(struct ios_scn_reader *r, const char *what, const char **out)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, what, &w);

	if (err == 0)
		*out = w->text;
	return err;
}
