/* SPDX-License-Identifier: MIT */
#include "sim/param.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ios_sim_fail(struct iosched_sim_error *why, int err, const char *format, ...)
{
	va_list args;

	if (why == NULL)
		return err;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return err;
}

const char *ios_sim_unit_name(enum ios_sim_unit unit)
{
	static const char *const names[] = {
		[IOS_SIM_UNIT_NONE] = "",	 [IOS_SIM_UNIT_BOOL] = "bool",
		[IOS_SIM_UNIT_NS] = "ns",	 [IOS_SIM_UNIT_BYTES] = "bytes",
		[IOS_SIM_UNIT_RATE] = "bytes/s",
	};

	return names[unit];
}

static uint64_t *member_of(const struct ios_sim_param *p, void *values)
{
	return (uint64_t *)(void *)((char *)values + p->member);
}

void ios_sim_param_defaults(const struct ios_sim_param *table, void *values)
{
	for (const struct ios_sim_param *p = table; p->name != NULL; p++)
		*member_of(p, values) = p->initial;
}

/* Letters behind a number, and what they multiply it by. */
struct suffix {
	enum ios_sim_unit unit;
	const char *text;
	uint64_t factor;
};

#define KB UINT64_C(1000)
#define KIB UINT64_C(1024)

static const struct suffix suffixes[] = {
	{IOS_SIM_UNIT_NS, "ns", 1},
	{IOS_SIM_UNIT_NS, "us", KB},
	{IOS_SIM_UNIT_NS, "ms", KB *KB},
	{IOS_SIM_UNIT_NS, "s", KB *KB *KB},
	{IOS_SIM_UNIT_BYTES, "B", 1},
	{IOS_SIM_UNIT_BYTES, "KB", KB},
	{IOS_SIM_UNIT_BYTES, "MB", KB *KB},
	{IOS_SIM_UNIT_BYTES, "GB", KB *KB *KB},
	{IOS_SIM_UNIT_BYTES, "TB", KB *KB *KB *KB},
	{IOS_SIM_UNIT_BYTES, "KiB", KIB},
	{IOS_SIM_UNIT_BYTES, "MiB", KIB *KIB},
	{IOS_SIM_UNIT_BYTES, "GiB", KIB *KIB *KIB},
	{IOS_SIM_UNIT_BYTES, "TiB", KIB *KIB *KIB *KIB},
	{IOS_SIM_UNIT_BYTES, "sectors", 512},
	{IOS_SIM_UNIT_RATE, "B/s", 1},
	{IOS_SIM_UNIT_RATE, "KB/s", KB},
	{IOS_SIM_UNIT_RATE, "MB/s", KB *KB},
	{IOS_SIM_UNIT_RATE, "GB/s", KB *KB *KB},
	{IOS_SIM_UNIT_RATE, "KiB/s", KIB},
	{IOS_SIM_UNIT_RATE, "MiB/s", KIB *KIB},
	{IOS_SIM_UNIT_RATE, "GiB/s", KIB *KIB *KIB},
};

static uint64_t factor_of(enum ios_sim_unit unit, const char *text)
{
	if (text[0] == '\0')
		return 1;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (suffixes[i].unit == unit && strcmp(suffixes[i].text, text) == 0)
			return suffixes[i].factor;
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits from *@text on as a number; false if it overflows. */
static bool read_digits(const char **text, uint64_t *out)
{
	uint64_t n = 0;

	for (; is_digit(**text); (*text)++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**text - '0'), &n))
			return false;
	*out = n;
	return true;
}

static int parse_number(enum ios_sim_unit unit, const char *text, uint64_t *out)
{
	uint64_t whole;
	uint64_t fraction = 0;
	uint64_t scale = 1;
	uint64_t factor;

	if (!is_digit(*text) || !read_digits(&text, &whole))
		return -EINVAL;
	if (*text == '.') {
		const char *point = text++;

		if (!is_digit(*text) || !read_digits(&text, &fraction) || text - point > 10)
			return -EINVAL; /* nine digits keep fraction * factor in 64 bits ... */
		for (const char *c = point + 1; c < text; c++)
			scale *= 10;
	}
	while (*text == ' ')
		text++;
	factor = factor_of(unit, text);
	if (factor == 0 || __builtin_mul_overflow(whole, factor, &whole) ||
	    __builtin_mul_overflow(fraction, factor, &fraction)) /* ... but for TiB, refused */
		return -EINVAL;
	return __builtin_add_overflow(whole, fraction / scale, out) ? -EINVAL : 0;
}

int ios_sim_param_parse(enum ios_sim_unit unit, const char *value, uint64_t *out)
{
	if (unit == IOS_SIM_UNIT_BOOL && strcmp(value, "on") == 0)
		*out = 1;
	else if (unit == IOS_SIM_UNIT_BOOL && strcmp(value, "off") == 0)
		*out = 0;
	else
		return parse_number(unit, value, out);
	return 0;
}

int ios_sim_param_set(const struct ios_sim_param *table, void *values, const char *name,
		      const char *value, struct iosched_sim_error *why)
{
	const struct ios_sim_param *p = table;
	uint64_t n;

	while (p->name != NULL && strcmp(p->name, name) != 0)
		p++;
	if (p->name == NULL)
		return ios_sim_fail(why, -ENOENT, "the device has no parameter \"%s\"", name);
	if (ios_sim_param_parse(p->unit, value, &n) != 0)
		return ios_sim_fail(why, -EINVAL, "%s: \"%s\" is not a value in %s", name, value,
				    p->unit == IOS_SIM_UNIT_NONE ? "plain digits"
								 : ios_sim_unit_name(p->unit));
	if (n < p->min || n > p->max)
		return ios_sim_fail(why, -ERANGE, "%s: %s is outside %llu..%llu%s%s", name, value,
				    (unsigned long long)p->min, (unsigned long long)p->max,
				    p->unit == IOS_SIM_UNIT_NONE ? "" : " ",
				    ios_sim_unit_name(p->unit));
	*member_of(p, values) = n;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Copy [from, to) without blanks at its ends. False: empty or too long. */
static bool copy_trimmed(char *out, size_t room, const char *from, const char *to)
{
	while (from < to && is_blank(*from))
		from++;
	while (to > from && is_blank(to[-1]))
		to--;
	if (from == to || (size_t)(to - from) >= room)
		return false;
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = '\0';
	return true;
}

static bool all_blank(const char *from, const char *to)
{
	while (from < to && is_blank(*from))
		from++;
	return from == to;
}

int ios_sim_param_line(const char **text, struct ios_sim_line *line, struct iosched_sim_error *why)
{
	while (**text != '\0') {
		const char *start = *text;
		size_t length = strcspn(start, "\n");
		const char *end = start + strcspn(start, "#\n");
		const char *equals = memchr(start, '=', (size_t)(end - start));

		*text = start + length + (start[length] == '\n');
		line->number++;
		if (all_blank(start, end))
			continue;
		if (equals == NULL ||
		    !copy_trimmed(line->name, sizeof(line->name), start, equals) ||
		    !copy_trimmed(line->value, sizeof(line->value), equals + 1, end))
			return ios_sim_fail(why, -EINVAL, "not a \"name = value\" line");
		return 1;
	}
	return 0;
}
