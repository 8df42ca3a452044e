/* SPDX-License-Identifier: MIT */
/* Scenarios: words and statements of a text, numbers in words, and complaints with a hint. */
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

/* --- Numbers --- */

bool ios_scn_parse_ppm(const char *text, uint64_t *out)
{
	uint64_t n = 0;
	unsigned decimals = 0;
	unsigned digits = 0;
	bool point = false;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
		if (*text == '.') {
			point = true;
			continue;
		}
		if (++digits > 12 || (point && ++decimals > 6))
			return false;
		n = 10 * n + (uint64_t)(*text - '0');
	}
	for (; decimals < 6; decimals++)
		n *= 10; /* at most 12 digits and 6 zeros: below 2^64 */
	if (digits > 0 && strcmp(text, "%") == 0)
		n /= 100;
	else if (digits == 0 || *text != '\0')
		return false;
	*out = n;
	return true;
}

int ios_scn_parse_value(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
			enum ios_sim_unit unit, const char *text, uint64_t *out)
{
	static const char *const examples[] = {
		[IOS_SIM_UNIT_NONE] = "a plain number such as 16",
		[IOS_SIM_UNIT_BOOL] = "on or off",
		[IOS_SIM_UNIT_NS] = "a time such as 300us, 8.5ms or 2s",
		[IOS_SIM_UNIT_BYTES] = "a size such as 4096, 64KiB or 2GB",
		[IOS_SIM_UNIT_RATE] = "a rate such as 80MB/s",
	};
	size_t digits = strspn(text, "0123456789.");

	/* A forgotten unit would be taken for nanoseconds. */
	if (unit == IOS_SIM_UNIT_NS && text[digits] == '\0' && strspn(text, "0") != strlen(text))
		return ios_scn_fail(s, w->line, -EINVAL,
				    "\"%.40s\" has no unit: write %.40sms or so", text, text);
	if (ios_sim_param_parse(unit, text, out) != 0)
		return ios_scn_fail(s, w->line, -EINVAL, "\"%.40s\" is not %s", text,
				    examples[unit]);
	return 0;
}

/* "40" and "ms" as "40ms". False: they are no number and unit. */
static bool join(char *out, size_t room, const char *number, const char *unit)
{
	size_t n = strlen(number);
	size_t m = strlen(unit);

	if (n + m >= room || strspn(number, "0123456789.") != n || strspn(unit, "0123456789.") > 0)
		return false;
	memcpy(out, number, n);
	memcpy(out + n, unit, m + 1);
	return true;
}

int ios_scn_number(struct ios_scn_reader *r, const char *what, enum ios_sim_unit unit,
		   uint64_t *out)
{
	const struct ios_scn_word *w;
	const struct ios_scn_word *more;
	char joined[48];
	int err = ios_scn_want(r, what, &w);

	if (err != 0)
		return err;
	more = ios_scn_peek(r);
	if (more != NULL && join(joined, sizeof(joined), w->text, more->text) &&
	    ios_sim_param_parse(unit, joined, out) == 0) {
		r->at++;
		return 0;
	}
	return ios_scn_parse_value(r->s, w, unit, w->text, out);
}

int ios_scn_u32(struct ios_scn_reader *r, const char *what, uint32_t *out)
{
	uint64_t n;
	int err = ios_scn_number(r, what, IOS_SIM_UNIT_NONE, &n);

	if (err == 0 && n > UINT32_MAX)
		err = ios_scn_fail(r->s, ios_scn_line(r), -ERANGE, "%s is above 2^32", what);
	if (err == 0)
		*out = (uint32_t)n;
	return err;
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
	uint32_t level;
	int err = ios_scn_u32(r, "a level from 0 to 7", &level);

	if (err == 0 && level > 7)
		return ios_scn_fail(r->s, ios_scn_line(r), -ERANGE,
				    "the level is not from 0 (first) to 7");
	if (err == 0)
		*out = (uint8_t)(level + 1);
	return err;
}

int ios_scn_name(struct ios_scn_reader *r, const char *what, const char **out)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, what, &w);

	if (err == 0)
		*out = w->text;
	return err;
}
