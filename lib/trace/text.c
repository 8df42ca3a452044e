/* SPDX-License-Identifier: MIT */
/* text: words of a line; see text.h. */
#include "trace/text.h"

#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool ios_span_is(struct ios_span s, const char *text)
{
	return ios_span_length(s) == strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

bool ios_span_is_nocase(struct ios_span s, const char *text)
{
	return ios_span_length(s) == strlen(text) && strncasecmp(s.at, text, strlen(text)) == 0;
}

bool ios_span_starts(struct ios_span s, const char *text)
{
	return ios_span_length(s) >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

struct ios_span ios_span_of(const char *text)
{
	return (struct ios_span){text, text + strlen(text)};
}

void ios_text_skip_blanks(struct ios_span *text)
{
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
}

static void trim_end(struct ios_span *text)
{
	while (text->at < text->end && is_blank(text->end[-1]))
		text->end--;
}

bool ios_text_word(struct ios_span *text, struct ios_span *word)
{
	ios_text_skip_blanks(text);
	word->at = text->at;
	while (text->at < text->end && !is_blank(*text->at))
		text->at++;
	word->end = text->at;
	return !ios_span_empty(*word);
}

bool ios_text_last_word(struct ios_span *text, struct ios_span *word)
{
	trim_end(text);
	word->end = text->end;
	while (text->at < text->end && !is_blank(text->end[-1]))
		text->end--;
	word->at = text->end;
	return !ios_span_empty(*word);
}

bool ios_text_comma(struct ios_span *text, struct ios_span *field)
{
	const char *comma;

	if (ios_span_empty(*text)) {
		*field = *text;
		return false;
	}
	comma = memchr(text->at, ',', ios_span_length(*text));
	field->at = text->at;
	field->end = comma != NULL ? comma : text->end;
	text->at = comma != NULL ? comma + 1 : text->end;
	ios_text_skip_blanks(field);
	trim_end(field);
	return true;
}

size_t ios_text_count_words(struct ios_span text)
{
	struct ios_span word;
	size_t n = 0;

	while (ios_text_word(&text, &word))
		n++;
	return n;
}
