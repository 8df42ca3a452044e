/* SPDX-License-Identifier: MIT */
/* fairness: `iosched compare --suite fairness`, what share of a device each context gets. */
#ifndef WORKBENCH_FAIRNESS_H
#define WORKBENCH_FAIRNESS_H

#include "options.h"

/* o->policies are those to run. Returns an exit code. */
int wb_fairness(const struct wb_options *o);

#endif
