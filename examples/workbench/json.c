/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "json.h"

#include <stdio.h>

#include "workbench.h"

#ifdef HAVE_JANSSON

#include <jansson.h>

/* Set when a value could not be made or put in its place. */
static bool failed;

static json_t *of(struct wb_json *value)
{
	return (json_t *)(void *)value;
}

static struct wb_json *made(json_t *value)
{
	if (value == NULL)
		failed = true;
	return (struct wb_json *)(void *)value;
}

bool wb_json_available(void)
{
	return true;
}

struct wb_json *wb_json_object(void)
{
	return made(json_object());
}

struct wb_json *wb_json_array(void)
{
	return made(json_array());
}

void wb_json_set(struct wb_json *object, const char *key, struct wb_json *value)
{
	if (json_object_set_new(of(object), key, of(value)) != 0)
		failed = true;
}

/* Names in traces are any bytes; those that are not UTF-8 become question marks. */
static json_t *text_value(const char *text)
{
	json_t *value = json_string(text);
	char copy[256];
	size_t i;

	if (value != NULL)
		return value;
	for (i = 0; text[i] != '\0' && i + 1 < sizeof(copy); i++)
		copy[i] = text[i];
	copy[i] = '\0';
	for (i = 0; copy[i] != '\0'; i++)
		if ((copy[i] & 0x80) != 0)
			copy[i] = '?';
	return json_string(copy);
}

void wb_json_set_text(struct wb_json *object, const char *key, const char *text)
{
	wb_json_set(object, key, made(text_value(text)));
}

void wb_json_set_number(struct wb_json *object, const char *key, uint64_t value)
{
	wb_json_set(object, key,
		    made(value <= INT64_MAX ? json_integer((json_int_t)value) : json_null()));
}

void wb_json_set_real(struct wb_json *object, const char *key, double value)
{
	wb_json_set(object, key, made(json_real(value)));
}

void wb_json_set_bool(struct wb_json *object, const char *key, bool value)
{
	wb_json_set(object, key, made(json_boolean(value)));
}

void wb_json_set_hex(struct wb_json *object, const char *key, uint64_t value)
{
	wb_json_set(object, key,
		    made(json_sprintf("%08x%08x", (unsigned)(value >> 32),
				      (unsigned)(value & UINT32_MAX))));
}

void wb_json_append(struct wb_json *array, struct wb_json *value)
{
	if (json_array_append_new(of(array), of(value)) != 0)
		failed = true;
}

int wb_json_print(struct wb_json *value)
{
	int got = failed ? -1
			 : json_dumpf(of(value), stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));

	wb_json_free(value);
	if (got != 0)
		return wb_fail("the JSON could not be made or written");
	putchar('\n');
	return WB_OK;
}

void wb_json_free(struct wb_json *value)
{
	json_decref(of(value));
}

#else

bool wb_json_available(void)
{
	wb_complain("--json: this program was built without jansson");
	return false;
}

struct wb_json *wb_json_object(void)
{
	return NULL;
}

struct wb_json *wb_json_array(void)
{
	return NULL;
}

void wb_json_set(struct wb_json *object, const char *key, struct wb_json *value)
{
	(void)object, (void)key, (void)value;
}

void wb_json_set_text(struct wb_json *object, const char *key, const char *text)
{
	(void)object, (void)key, (void)text;
}

void wb_json_set_number(struct wb_json *object, const char *key, uint64_t value)
{
	(void)object, (void)key, (void)value;
}

void wb_json_set_real(struct wb_json *object, const char *key, double value)
{
	(void)object, (void)key, (void)value;
}

void wb_json_set_bool(struct wb_json *object, const char *key, bool value)
{
	(void)object, (void)key, (void)value;
}

void wb_json_set_hex(struct wb_json *object, const char *key, uint64_t value)
{
	(void)object, (void)key, (void)value;
}

void wb_json_append(struct wb_json *array, struct wb_json *value)
{
	(void)array, (void)value;
}

int wb_json_print(struct wb_json *value)
{
	(void)value;
	return WB_FAILED;
}

void wb_json_free(struct wb_json *value)
{
	(void)value;
}

#endif
