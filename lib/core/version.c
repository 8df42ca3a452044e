/* SPDX-License-Identifier: MIT */
/*
 * version: which release runs.
 */
#include <iosched/iosched.h>
#include <iosched/version.h>

const char *iosched_version(void)
{
	return IOSCHED_VERSION;
}
