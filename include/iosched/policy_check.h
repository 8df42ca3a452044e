/* SPDX-License-Identifier: MIT */
/** @file policy_check.h
 * A test kit for policies, ours and yours: library libioschedcheck.
 *
 * It runs a policy under a host that does everything a host may do, with times of its own
 * making, and checks what every policy owes its users:
 *  - the table is sound: tunables in their ranges, with distinct names;
 *  - nothing is lost, nothing comes twice, merged requests cover their span exactly;
 *  - progress: what is queued comes out; when nothing is in flight and the policy waits, it says
 *    until when; it never claims to be empty while it is not;
 *  - bounded starvation: a request among an endless stream of others of its class
 *    comes out within 60 simulated seconds;
 *  - order: requests that differ in nothing come out in the order they went in;
 *  - cancel, drain and a switch to another policy and back take every queued request along;
 *  - its audit is content after every call; two runs of one seed make the same decisions.
 *
 * The process is the policy's: one that follows a wild pointer crashes here as it would anywhere.
 */
#ifndef IOSCHED_POLICY_CHECK_H
#define IOSCHED_POLICY_CHECK_H

#include <iosched/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup policy_writing
 * @{ */

/**
 * Does @p policy keep the contract?
 * @param policy  the table to test
 * @param seed    what to do at random; different seeds find different faults: try 1 to 20
 * @param why     receives the sentence that is false, or an empty string; may be NULL
 * @param size    bytes at @p why; 200 are enough
 * @return 0, -EPROTO (a rule is broken: see @p why), -EINVAL (not a usable table), -ENOMEM
 * Ownership: all memory is given back, even after a broken rule.
 * Threads: any, one policy table in several at once too.   Cost: some 0.1 s of CPU.
 */
IOSCHED_API int iosched_policy_check(const struct iosched_policy *policy, unsigned seed, char *why,
				     size_t size);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
