/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <stdio.h>
#include <string.h>

struct suffix {
	enum iosched_unit unit;
	const char *text;
	uint64_t factor;
};

/* In rising order within a unit: wb_value_text() takes the last one that divides. */
static const struct suffix suffixes[] = {
	{IOSCHED_UNIT_NS, "ns", 1},
	{IOSCHED_UNIT_NS, "us", 1000},
	{IOSCHED_UNIT_NS, "ms", 1000000},
	{IOSCHED_UNIT_NS, "s", 1000000000},
	{IOSCHED_UNIT_BYTES, "B", 1},
	{IOSCHED_UNIT_BYTES, "KiB", UINT64_C(1) << 10},
	{IOSCHED_UNIT_BYTES, "MiB", UINT64_C(1) << 20},
	{IOSCHED_UNIT_BYTES, "GiB", UINT64_C(1) << 30},
	{IOSCHED_UNIT_BYTES, "TiB", UINT64_C(1) << 40},
};

#define SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

static bool read_digits(const char **text, uint64_t *out)
{
	const char *begin = *text;

	*out = 0;
	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(**text - '0'), out))
			return false;
	return *text > begin;
}

/* "12" or "12.345", the fraction in thousandths. */
static bool read_decimal(const char **text, uint64_t *whole, uint64_t *permille)
{
	const char *point = *text;
	uint64_t fraction;

	*permille = 0;
	if (!read_digits(text, whole))
		return false;
	if (**text != '.')
		return true;
	point = ++*text;
	if (!read_digits(text, &fraction) || *text - point > 3)
		return false;
	for (ptrdiff_t i = *text - point; i < 3; i++)
		fraction *= 10;
	*permille = fraction;
	return true;
}

bool wb_parse_permille(const char *text, uint64_t *out)
{
	uint64_t whole, permille;

	return read_decimal(&text, &whole, &permille) && *text == '\0' &&
	       !__builtin_mul_overflow(whole, 1000, &whole) &&
	       !__builtin_add_overflow(whole, permille, out);
}

static uint64_t factor_of(enum iosched_unit unit, const char *text)
{
	for (size_t i = 0; i < SUFFIXES; i++)
		if (suffixes[i].unit == unit && strcmp(suffixes[i].text, text) == 0)
			return suffixes[i].factor;
	return text[0] == '\0' ? 1 : 0;
}

bool wb_parse_value(const char *text, enum iosched_unit unit, uint64_t *out)
{
	uint64_t whole, permille, factor;

	if (unit == IOSCHED_UNIT_BOOL && (strcmp(text, "on") == 0 || strcmp(text, "off") == 0)) {
		*out = text[1] == 'n';
		return true;
	}
	if (!read_decimal(&text, &whole, &permille))
		return false;
	while (*text == ' ')
		text++;
	factor = factor_of(unit, text);
	if (factor == 0 || (factor == 1 && permille != 0))
		return false;
	return !__builtin_mul_overflow(whole, factor, &whole) &&
	       !__builtin_add_overflow(
		       whole, factor / 1000 * permille + factor % 1000 * permille / 1000, out);
}

const char *wb_value_text(char out[WB_TEXT_SIZE], enum iosched_unit unit, uint64_t value)
{
	const struct suffix *best = NULL;

	if (unit == IOSCHED_UNIT_BOOL && value <= 1)
		return value == 1 ? "on" : "off";
	if (value == UINT64_MAX)
		return "no limit";
	for (size_t i = 0; i < SUFFIXES; i++)
		if (suffixes[i].unit == unit && value % suffixes[i].factor == 0 && value > 0)
			best = &suffixes[i];
	if (best != NULL)
		snprintf(out, WB_TEXT_SIZE, "%llu %s", (unsigned long long)(value / best->factor),
			 best->text);
	else
		snprintf(out, WB_TEXT_SIZE, "%llu", (unsigned long long)value);
	return out;
}

const char *wb_digits_text(char out[WB_TEXT_SIZE], double value)
{
	/* The limits are where rounding would give a fourth digit. */
	int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;

	snprintf(out, WB_TEXT_SIZE, "%.*f", value > 0 ? decimals : 0, value);
	return out;
}

const char *wb_ms_text(char out[WB_TEXT_SIZE], uint64_t ns)
{
	return wb_digits_text(out, (double)ns / 1e6);
}

const char *wb_mib_text(char out[WB_TEXT_SIZE], uint64_t bytes)
{
	return wb_digits_text(out, (double)bytes / (1 << 20));
}

const char *wb_size_text(char out[WB_TEXT_SIZE], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t i = 0;

	for (; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	if (i < 2 && bytes % (i == 1 ? 1024 : 1) == 0)
		snprintf(out, WB_TEXT_SIZE, "%.0f %s", value, units[i]);
	else
		snprintf(out, WB_TEXT_SIZE, "%.1f %s", value, units[i]);
	return out;
}
