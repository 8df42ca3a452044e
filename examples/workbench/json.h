/* SPDX-License-Identifier: MIT */
/*
 * json: building and printing JSON values. All calls are harmless without jansson; a verb
 * asks wb_json_available() first.
 *
 * Rule: what is set or appended belongs to its parent; wb_json_print() frees all. When
 * memory runs out a value is NULL, and the print of its parent fails.
 */
#ifndef WORKBENCH_JSON_H
#define WORKBENCH_JSON_H

#include <stdbool.h>
#include <stdint.h>

struct wb_json;

/* Complains when this program was built without jansson. */
bool wb_json_available(void);
struct wb_json *wb_json_object(void);
struct wb_json *wb_json_array(void);
void wb_json_set(struct wb_json *object, const char *key, struct wb_json *value);
void wb_json_set_text(struct wb_json *object, const char *key, const char *text);
/* Numbers of 2^63 and above, which JSON readers mistake, become null: "no limit". */
void wb_json_set_number(struct wb_json *object, const char *key, uint64_t value);
void wb_json_set_real(struct wb_json *object, const char *key, double value);
void wb_json_set_bool(struct wb_json *object, const char *key, bool value);
/* 64 bits as 16 hexadecimal digits. */
void wb_json_set_hex(struct wb_json *object, const char *key, uint64_t value);
void wb_json_append(struct wb_json *array, struct wb_json *value);
/* On stdout; frees `value`. Returns an exit code. */
int wb_json_print(struct wb_json *value);
void wb_json_free(struct wb_json *value);

#endif
