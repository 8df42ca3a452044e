/* SPDX-License-Identifier: MIT */
/** @file seeds.h
 * The seed tables: public reports of 2009 to 2011 in which CFQ lost to simpler schedulers, and
 * what the simulator says to them.
 *
 * A cell is one number of a report, or of a policy that the report does not have. Run each
 * with a few random seeds, take the mean, then judge them all at once.
 *
 * Before version 1.0 there is no ABI promise for this header.
 */
#ifndef IOSCHED_SEEDS_H
#define IOSCHED_SEEDS_H

#include <iosched/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup seeds Seed tables
 * @{ */

/** One cell. Its strings are static. */
struct iosched_seed_cell {
	const char *seed;   /**< "S0" bonnie++, "S1" dump and sysbench, "S2" NFS, "S3" pgbench */
	const char *cell;   /**< e.g. "sysbench-3" */
	const char *unit;   /**< e.g. "MB/s" */
	const char *policy; /**< "cfq" for all of its generations */
	const char *kernel; /**< whose block layer, server and, for cfq, generation it is */
	double reported;    /**< negative: not in the report */
	uint8_t lower_is_better; /**< 1 of times */
	uint8_t is_base;	 /**< 1: what the ratios of its row are to */
	uint8_t reserved[6];	 /**< zero */
	unsigned row;		 /**< cells of one row differ in policy only */
};

/**
 * Describe a cell.
 * @param i    from 0
 * @param out  receives it
 * @return 0, or -ERANGE past the last   Threads: any.   Cost: O(cells).
 */
IOSCHED_API int iosched_seed_cell_at(unsigned i, struct iosched_seed_cell *out);

/**
 * Fill in the config that a cell is run with.
 * @param i    which
 * @param out  receives it; what it points to is static
 * @return 0, or -ERANGE past the last   Threads: any.   Cost: O(cells).
 */
IOSCHED_API int iosched_seed_config(unsigned i, struct iosched_sim_config *out);

/**
 * Simulate a cell.
 * @param i       which
 * @param seed    of the random numbers
 * @param value   receives the result in the cell's unit
 * @param digest  receives the run's digest; may be NULL
 * @param why     receives the sentence on an error; may be NULL
 * @return 0, -ERANGE past the last, or an error of iosched_sim_run()
 * Threads: any; different runs are independent.   Cost: 20 to 200 ms.
 */
IOSCHED_API int iosched_seed_run(unsigned i, uint64_t seed, double *value, uint64_t *digest,
				 struct iosched_sim_error *why);

/** What a simulated cell is worth. */
enum iosched_seed_verdict {
	IOSCHED_SEED_BASE,	 /**< the base of its row */
	IOSCHED_SEED_REPRODUCED, /**< in order among its row, ratio to the base within 25 % */
	IOSCHED_SEED_ORDER_ONLY, /**< in order, but further off */
	IOSCHED_SEED_MISSED,	 /**< not in order */
	IOSCHED_SEED_WINS,	 /**< not reported: 3 % better than all other policies, or more */
	IOSCHED_SEED_TIES,	 /**< not reported: within 5 % of the best of the others */
	IOSCHED_SEED_LOSES,	 /**< not reported: worse */
};

/** A judgement. Ratios are to the base of the row: noop, or in S2 deadline. */
struct iosched_seed_judgement {
	double reported_ratio;	/**< negative: not reported */
	double simulated_ratio; /**< likewise of what was simulated */
	double error;		/**< simulated_ratio / reported_ratio - 1; 0 if not reported */
	double absolute_error;	/**< simulated / reported - 1; 0 if not reported */
	enum iosched_seed_verdict verdict; /**< in one word */
};

/**
 * Judge all cells. In order: no two reported values of a row that differ by more than 6 %
 * stand the other way round.
 * @param simulated  one value a cell; negative: this one was not run, and counts for nothing
 * @param count      how many cells there are
 * @param out        receives as many judgements
 * @return 0, or -EINVAL: @p count is not the number of cells
 * Threads: any.   Cost: O(cells * policies).
 */
IOSCHED_API int iosched_seed_judge(const double *simulated, unsigned count,
				   struct iosched_seed_judgement *out);

/** A verdict in a word or two.
 * @param verdict  from a judgement  @return static   Threads: any. */
IOSCHED_API const char *iosched_seed_verdict_name(enum iosched_seed_verdict verdict);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
