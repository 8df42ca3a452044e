/* SPDX-License-Identifier: MIT */
/* number: numbers of text traces, in integers; see text.h. */
#include "trace/text.h"

#include <errno.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Appends a digit; false when the result needs more than 64 bits. */
static bool push_digit(uint64_t *value, unsigned digit)
{
	if (*value > (UINT64_MAX - digit) / 10)
		return false;
	*value = *value * 10 + digit;
	return true;
}

int ios_number_u64(struct ios_span s, uint64_t *out)
{
	uint64_t value = 0;
	bool fits = true;

	if (ios_span_empty(s))
		return -EINVAL;
	/* "Not a number" goes before "too large", so every character is looked at. */
	for (const char *p = s.at; p < s.end; p++) {
		if (!is_digit(*p))
			return -EINVAL;
		fits = fits && push_digit(&value, (unsigned)(*p - '0'));
	}
	if (!fits)
		return -ERANGE;
	*out = value;
	return 0;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int ios_number_hex(struct ios_span s, uint64_t *out)
{
	uint64_t value = 0;

	if (ios_span_starts(s, "0x"))
		s.at += 2;
	if (ios_span_empty(s))
		return -EINVAL;
	for (const char *p = s.at; p < s.end; p++) {
		int digit = hex_digit(*p);

		if (digit < 0)
			return -EINVAL;
		if (value >> 60 != 0)
			return -ERANGE;
		value = value << 4 | (unsigned)digit;
	}
	*out = value;
	return 0;
}

static int fraction(struct ios_span s, unsigned scale, uint64_t *value)
{
	for (const char *p = s.at; p < s.end; p++)
		if (!is_digit(*p))
			return -EINVAL;
	for (; scale > 0; scale--) {
		unsigned digit = s.at < s.end ? (unsigned)(*s.at++ - '0') : 0;

		if (!push_digit(value, digit))
			return -ERANGE;
	}
	return 0;
}

int ios_number_decimal(struct ios_span s, unsigned scale, uint64_t *out)
{
	struct ios_span whole = s, part = {s.end, s.end};
	const char *point = ios_span_empty(s) ? NULL : memchr(s.at, '.', ios_span_length(s));
	uint64_t value = 0;
	int err;

	if (point != NULL) {
		whole.end = point;
		part.at = point + 1;
	}
	/* ".5" and "5." are numbers, "." is none. */
	if (ios_span_empty(whole) && ios_span_empty(part))
		return -EINVAL;
	err = ios_span_empty(whole) ? 0 : ios_number_u64(whole, &value);
	if (err == 0)
		err = fraction(part, scale, &value);
	if (err == 0)
		*out = value;
	return err;
}

int ios_number_device(struct ios_span s, uint32_t *out)
{
	const char *comma = ios_span_empty(s) ? NULL : memchr(s.at, ',', ios_span_length(s));
	uint64_t major, minor;

	if (comma == NULL || ios_number_u64((struct ios_span){s.at, comma}, &major) != 0 ||
	    ios_number_u64((struct ios_span){comma + 1, s.end}, &minor) != 0)
		return -EINVAL;
	/* The kernel's numbers: 12 bits and 20 bits. */
	if (major >= 1u << 12 || minor >= 1u << 20)
		return -ERANGE;
	*out = (uint32_t)(major << 20 | minor);
	return 0;
}
