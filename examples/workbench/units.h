/* SPDX-License-Identifier: MIT */
/* units: numbers with units, as users write them and as we print them. */
#ifndef WORKBENCH_UNITS_H
#define WORKBENCH_UNITS_H

#include <iosched/iosched.h>

/* "6ms", "1.5s", "64KiB", "on", or a plain number in the unit itself. */
bool wb_parse_value(const char *text, enum iosched_unit unit, uint64_t *out);
/* "0.25" in thousandths, up to three decimals. */
bool wb_parse_permille(const char *text, uint64_t *out);

#define WB_TEXT_SIZE 32

/* Exact, in the largest unit that divides it: "6 ms", "512 KiB", "no limit" for the largest. */
const char *wb_value_text(char out[WB_TEXT_SIZE], enum iosched_unit unit, uint64_t value);
/* Three significant digits. */
const char *wb_ms_text(char out[WB_TEXT_SIZE], uint64_t ns);
const char *wb_mib_text(char out[WB_TEXT_SIZE], uint64_t bytes);
const char *wb_digits_text(char out[WB_TEXT_SIZE], double value);
/* A size for people: "16 KiB", "1.5 GiB". */
const char *wb_size_text(char out[WB_TEXT_SIZE], uint64_t bytes);

#endif
