/* SPDX-License-Identifier: MIT */
/* choices: the options whose argument names a policy, device, tunable or format. */
#ifndef WORKBENCH_CHOICES_H
#define WORKBENCH_CHOICES_H

#include "options.h"

int wb_take_policies(struct wb_options *o, const char *text);
int wb_take_device(struct wb_options *o, const char *text);
int wb_take_tunable(struct wb_options *o, const char *text);
int wb_take_format(struct wb_options *o, const char *text);
int wb_take_to(struct wb_options *o, const char *text);
void wb_list_devices(FILE *out);
/* Every policy that was not chosen already. */
void wb_choose_all_policies(struct wb_options *o);
/* Where `name` stands among the chosen; chosen if it was not. */
int wb_choose_base(struct wb_options *o, const char *name);

#endif
