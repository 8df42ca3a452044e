/* SPDX-License-Identifier: MIT */
/*
 * known: the table that was measured on a prototype when fair-deadline was designed, and
 * claims that are known not to hold, with the reason.
 */
#ifndef TESTS_GENERALITY_KNOWN_H
#define TESTS_GENERALITY_KNOWN_H

#include "devices.h"
#include "loads.h"

#define KNOWN_LOADS 10 /* the first ones: columns of the table */

enum claim { CLAIM_TOTAL, CLAIM_SHARE, CLAIM_FSYNC, CLAIM_WAIT, CLAIMS };

extern const char *const claim_names[CLAIMS];

/* Is this a cell of the table? Only of those claims are made. */
bool known_cell(const struct device *d, const struct load *l);

/* How far a flow was from its share there, in points. */
double known_error(const struct device *d, const struct load *l);

/* Returns why, or NULL if the claim ought to hold. */
const char *known_not_to_hold(const struct device *d, const struct load *l, enum claim claim);

#endif
