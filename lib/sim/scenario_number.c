/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: numbers, their units and their ranges.
 *
 * A unit may be a word of its own: "40 ms", "35 %", "20 /s". An amount is both words, joined.
 *
 * Rule: a number that says something else than it seems to is refused where it stands: a time
 * without a unit, a rate for a time, 35 for 35 %.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario.h"

#define DIGITS "0123456789."

/* --- Kinds of numbers --- */

static const struct {
	const char *name;
	const char *wanted;
	const char *example;
} kinds[] = {
	[IOS_SIM_UNIT_NONE] = {NULL, "a plain number is wanted", "a plain number such as 16"},
	[IOS_SIM_UNIT_BOOL] = {NULL, "on or off is wanted", "on or off"},
	[IOS_SIM_UNIT_NS] = {"a time", "a time is wanted: ns, us, ms or s",
			     "a time such as 300us, 8.5ms or 2s"},
	[IOS_SIM_UNIT_BYTES] = {"a size", "a size is wanted: B, KB, MB, GB, TB, KiB ... TiB",
				"a size such as 4096, 64KiB or 2GB"},
	[IOS_SIM_UNIT_RATE] = {"a rate", "a rate is wanted: B/s, KB/s, MB/s, GB/s, KiB/s ... GiB/s",
			       "a rate such as 80MB/s"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What a number with the unit @unit is; NULL: that is no unit. */
static const char *kind_of_unit(const char *unit)
{
	char one[12];
	uint64_t n;

	if (strcmp(unit, "%") == 0)
		return "a share";
	if (strcmp(unit, "/s") == 0)
		return "a number a second";
	if (unit[0] == '\0' || unit[0] == '.' || (unit[0] >= '0' && unit[0] <= '9') ||
	    strlen(unit) + 2 > sizeof(one))
		return NULL;
	snprintf(one, sizeof(one), "1%s", unit);
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].name != NULL &&
		    ios_sim_param_parse((enum ios_sim_unit)i, one, &n) == 0)
			return kinds[i].name;
	return NULL;
}

static const char *kind_of(const char *text)
{
	size_t n = strspn(text, DIGITS);

	return n > 0 ? kind_of_unit(text + n) : NULL;
}

bool ios_scn_is_unit(const struct ios_scn_word *w)
{
	return w != NULL && kind_of_unit(w->text) != NULL;
}

/* @text is none of @example. If it is a number of another kind, say which is wanted. */
static int no_such_number(const struct iosched_sim_scenario *s, unsigned line, const char *text,
			  const char *own, const char *wanted, const char *example)
{
	const char *kind = kind_of(text);

	if (kind != NULL && (own == NULL || strcmp(kind, own) != 0))
		return ios_scn_fail(s, line, -EINVAL, "\"%.40s\" is %s, where %s", text, kind,
				    wanted);
	return ios_scn_fail(s, line, -EINVAL, "\"%.40s\" is not %s", text, example);
}

int ios_scn_parse_value(const struct iosched_sim_scenario *s, const struct ios_scn_word *w,
			enum ios_sim_unit unit, const char *text, uint64_t *out)
{
	size_t digits = strspn(text, DIGITS);
	bool needs_unit = unit == IOS_SIM_UNIT_NS || unit == IOS_SIM_UNIT_RATE;

	/* A forgotten unit would be taken for nanoseconds, or bytes a second. */
	if (needs_unit && text[digits] == '\0' && strspn(text, "0") != strlen(text))
		return ios_scn_fail(s, w->line, -EINVAL,
				    "\"%.40s\" has no unit: write %.40s%s or so", text, text,
				    unit == IOS_SIM_UNIT_NS ? "ms" : "MB/s");
	if (ios_sim_param_parse(unit, text, out) != 0)
		return no_such_number(s, w->line, text, kinds[unit].name, kinds[unit].wanted,
				      kinds[unit].example);
	return 0;
}

/* --- Amounts --- */

/* "40" and "ms" as "40ms". False: they are no number and unit, or too long. */
static bool join(char *out, size_t room, const char *number, const char *unit)
{
	size_t n = strlen(number);
	size_t m = strlen(unit);

	if (n + m >= room || strspn(number, DIGITS) != n)
		return false;
	memcpy(out, number, n);
	memcpy(out + n, unit, m + 1);
	return true;
}

int ios_scn_amount(struct ios_scn_reader *r, const char *what, struct ios_scn_amount *out)
{
	const struct ios_scn_word *more;
	int err = ios_scn_want(r, what, &out->word);

	if (err != 0)
		return err;
	more = ios_scn_peek(r);
	out->text = out->word->text;
	if (ios_scn_is_unit(more) &&
	    join(out->joined, sizeof(out->joined), out->word->text, more->text)) {
		out->text = out->joined;
		r->at++;
	}
	return 0;
}

int ios_scn_number(struct ios_scn_reader *r, const char *what, enum ios_sim_unit unit,
		   uint64_t *out)
{
	struct ios_scn_amount a;
	int err = ios_scn_amount(r, what, &a);

	return err != 0 ? err : ios_scn_parse_value(r->s, a.word, unit, a.text, out);
}

int ios_scn_ranged(struct ios_scn_reader *r, const char *what, uint64_t min, uint64_t max,
		   uint64_t *out)
{
	const char *keyword = r->words[r->at - 1].text;
	struct ios_scn_amount a;
	int err = ios_scn_amount(r, what, &a);

	if (err == 0)
		err = ios_scn_parse_value(r->s, a.word, IOS_SIM_UNIT_NONE, a.text, out);
	if (err == 0 && (*out < min || *out > max))
		return ios_scn_fail(r->s, a.word->line, -ERANGE, "%s: %.40s is outside %llu..%llu",
				    keyword, a.text, (unsigned long long)min,
				    (unsigned long long)max);
	return err;
}

int ios_scn_ranged32(struct ios_scn_reader *r, const char *what, uint32_t min, uint32_t max,
		     uint32_t *out)
{
	uint64_t n;
	int err = ios_scn_ranged(r, what, min, max, &n);

	if (err == 0)
		*out = (uint32_t)n;
	return err;
}

/* --- Millionths --- */

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

int ios_scn_share(struct ios_scn_reader *r, const char *what, uint64_t *out)
{
	struct ios_scn_amount a;
	int err = ios_scn_amount(r, what, &a);
	bool forgotten;

	if (err != 0)
		return err;
	if (!ios_scn_parse_ppm(a.text, out))
		return no_such_number(r->s, a.word->line, a.text, "a share",
				      "a share is wanted: 35% or 0.35", what);
	if (*out <= IOS_SCN_PPM)
		return 0;
	forgotten = strchr(a.text, '%') == NULL && *out <= 100 * IOS_SCN_PPM;
	return ios_scn_fail(r->s, a.word->line, -ERANGE,
			    "\"%.40s\" is %llu %%, and the most it can be is 100 %%%s%.40s%s",
			    a.text, (unsigned long long)(*out / (IOS_SCN_PPM / 100)),
			    forgotten ? "; did you mean " : "", forgotten ? a.text : "",
			    forgotten ? "%?" : "");
}

int ios_scn_per_second(struct ios_scn_reader *r, const char *what, bool slash, uint64_t *out)
{
	struct ios_scn_amount a;
	char number[48];
	size_t n;
	int err = ios_scn_amount(r, what, &a);

	if (err != 0)
		return err;
	n = strspn(a.text, DIGITS);
	if (n < sizeof(number) &&
	    (strcmp(a.text + n, "/s") == 0 || (!slash && a.text[n] == '\0'))) {
		memcpy(number, a.text, n);
		number[n] = '\0';
		if (ios_scn_parse_ppm(number, out))
			return 0;
	}
	return no_such_number(r->s, a.word->line, a.text, "a number a second",
			      "a number a second is wanted: 20/s", what);
}
