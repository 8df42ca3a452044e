/* SPDX-License-Identifier: MIT */
/*
 * text: lines, words and numbers of text traces, without copying.
 *
 * A span points into the input's buffer and is good until the next line is read.
 * Numbers are parsed in integers only: a time of "1.25" seconds is 1250000000 ns exactly.
 */
#ifndef IOS_TRACE_TEXT_H
#define IOS_TRACE_TEXT_H

#include <string.h>

#include "trace/input.h"

/* Characters [at, end). */
struct ios_span {
	const char *at, *end;
};

static inline size_t ios_span_length(struct ios_span s)
{
	return (size_t)(s.end - s.at);
}

static inline bool ios_span_empty(struct ios_span s)
{
	return s.at == s.end;
}

bool ios_span_is(struct ios_span s, const char *text);
bool ios_span_is_nocase(struct ios_span s, const char *text);
bool ios_span_starts(struct ios_span s, const char *text);
struct ios_span ios_span_of(const char *text);

/* The next line without its end (LF or CR LF): 1; 0 at the end; -EBADMSG if it is too long or has a
 * NUL, then it has been taken and *why says which; or the error of reading. */
int ios_trace_line(struct ios_trace_input *in, struct ios_span *line, const char **why);

/* Takes leading blanks and tabs off. */
void ios_text_skip_blanks(struct ios_span *text);
/* Takes the next word (no blanks in it) off the front; false and an empty word if there is none. */
bool ios_text_word(struct ios_span *text, struct ios_span *word);
/* Takes the last word off the end. */
bool ios_text_last_word(struct ios_span *text, struct ios_span *word);
/* Takes the text up to the next comma off, trimmed of blanks; false if nothing is left. */
bool ios_text_comma(struct ios_span *text, struct ios_span *field);
size_t ios_text_count_words(struct ios_span text);

/* Whole number: 0, -EINVAL (not one), -ERANGE (over 64 bits). */
int ios_number_u64(struct ios_span s, uint64_t *out);
int ios_number_hex(struct ios_span s, uint64_t *out);
/* Decimal "12.345" times 10^@scale (0..9): what it is in the smaller unit; further digits are cut.
 */
int ios_number_decimal(struct ios_span s, unsigned scale, uint64_t *out);
/* "8,52" as major << 20 | minor. */
int ios_number_device(struct ios_span s, uint32_t *out);

#endif
