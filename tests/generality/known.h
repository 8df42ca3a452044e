/* SPDX-License-Identifier: MIT */
/* known: claims that are known not to hold on a device, under a load, and why. */
#ifndef TESTS_GENERALITY_KNOWN_H
#define TESTS_GENERALITY_KNOWN_H

#include "devices.h"
#include "loads.h"

enum claim { CLAIM_TOTAL, CLAIM_SHARE, CLAIM_FSYNC, CLAIM_WAIT, CLAIMS };

extern const char *const claim_names[CLAIMS];

/* Returns why, or NULL if the claim ought to hold. */
const char *known_not_to_hold(const struct device *d, const struct load *l, enum claim claim);

#endif
