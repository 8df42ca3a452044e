/* SPDX-License-Identifier: MIT */
/*
 * policies: the tables core/registry.c lists. Nothing else.
 */
#ifndef IOS_POLICIES_POLICIES_H
#define IOS_POLICIES_POLICIES_H

#include <iosched/policy.h>

extern const struct iosched_policy ios_noop_policy;
extern const struct iosched_policy ios_deadline_policy;
extern const struct iosched_policy ios_anticipatory_policy;
extern const struct iosched_policy ios_mq_deadline_policy;
extern const struct iosched_policy ios_cfq26_policy;
extern const struct iosched_policy ios_cfq_policy;
extern const struct iosched_policy ios_fair_deadline_policy;

#endif
