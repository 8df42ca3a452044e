/* SPDX-License-Identifier: MIT */
/** @file sim.h
 * libioschedsim: run a policy on a simulated disk, under a simulated load, in virtual time.
 *
 * One call does it: fill a config, iosched_sim_run(), read the result, free it.
 * A run has no clock, no thread and no hidden randomness: the same config gives
 * the same result, to the last bit of iosched_sim_result::digest.
 *
 * @code
 * struct iosched_sim_stream readers[2];
 * struct iosched_sim_config c;
 * struct iosched_sim_result *r;
 * struct iosched_sim_error why;
 *
 * iosched_sim_stream_init(&readers[0], sizeof(readers[0]));
 * readers[0].context = 1;
 * readers[0].region_length = UINT64_C(1) << 30;
 * readers[1] = readers[0];
 * readers[1].context = 2;
 * readers[1].pattern = IOSCHED_SIM_RANDOM;
 * iosched_sim_config_init(&c, sizeof(c));
 * c.policy = iosched_policy_find("deadline");
 * c.device = "hdd";
 * c.length_ns = 10 * UINT64_C(1000000000);
 * c.streams = readers;
 * c.stream_count = 2;
 * if (iosched_sim_run(&c, &r, &why) != 0)
 *         puts(why.text);
 * @endcode
 *
 * The simulator sees libiosched through iosched.h only, as every host does.
 * Before version 1.0 there is no ABI promise for this header.
 */
#ifndef IOSCHED_SIM_H
#define IOSCHED_SIM_H

#include <iosched/iosched.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Why something was refused, in words.
 * @ingroup sim */
struct iosched_sim_error {
	char text[320]; /**< one sentence without a full stop; empty if all is well */
};

/** @defgroup sim_device Simulated devices
 * A device is a model (its code) and the values of the model's parameters. A preset is
 * a named set of values; text of `name = value` lines starts from a preset
 * (`preset = hdd`) or from a model's defaults (`model = hdd`) and changes some.
 *
 * Some models are made of devices, all alike: an array of its disks, a network or a fault of the
 * device behind it. `member = hdd` says which preset or model those are, and
 * `member.rpm = 7200` sets a parameter of theirs; `member.member.rpm` goes deeper.
 *
 * Values carry a unit where the parameter has one: `8.5ms`, `60us`, `1.5s`, `64KiB`, `8MiB`,
 * `250GB`, `80MB/s`, `on`, `off`, or a plain number, which is taken as ns, bytes, or bytes/s.
 * @{ */

/** A named set of device parameters. */
struct iosched_sim_preset {
	const char *name;    /**< as in iosched_sim_config::device */
	const char *model;   /**< "null", "fixed", "hdd", "raid", "ssd", "net", "fault" */
	const char *summary; /**< one line */
};

/** The presets by number.
 * @param i  from 0  @return one, static, or NULL past the last   Threads: any.   Cost: O(1). */
IOSCHED_API const struct iosched_sim_preset *iosched_sim_preset_at(unsigned i);

/** One parameter of a device model. */
struct iosched_sim_param {
	const char *name; /**< as written in text */
	const char *unit; /**< "ns", "bytes", "bytes/s", "bool", or "" for a plain number */
	uint64_t min;	  /**< least value allowed */
	uint64_t max;	  /**< largest value allowed */
	uint64_t initial; /**< value in the preset or model asked for */
	const char *doc;  /**< one line: what it does */
};

/**
 * Describe the parameters of a preset or model.
 * @param device  a preset's or model's name
 * @param i       from 0
 * @param out     receives the parameter; its strings are static
 * @return 0, -ENOENT (no such preset or model), -ERANGE (@p i is past the last)
 * Threads: any.   Cost: O(presets).
 */
IOSCHED_API int iosched_sim_param_at(const char *device, unsigned i, struct iosched_sim_param *out);

/** A parameter and its value, as text. */
struct iosched_sim_setting {
	const char *name;  /**< e.g. "rpm" */
	const char *value; /**< e.g. "7200", "8.5ms", "on" */
};
/** @} */

/** @defgroup sim_load Simulated loads
 * @{ */

/** Where a stream's next request lies. */
enum iosched_sim_pattern {
	IOSCHED_SIM_SEQUENTIAL, /**< where the last one ended; from the start again at the end */
	IOSCHED_SIM_RANDOM,	/**< anywhere in the region, equally likely, aligned */
};

/** How a stream's waits are distributed. */
enum iosched_sim_wait {
	IOSCHED_SIM_FIXED,	 /**< always think_ns */
	IOSCHED_SIM_EXPONENTIAL, /**< exponential with mean think_ns */
	IOSCHED_SIM_UNIFORM,	 /**< think_ns - think_spread_ns .. think_ns + think_spread_ns */
};

/** One stream of requests: a process, client or thread. Fill with iosched_sim_stream_init().
 *
 * Closed loop (the default): `depth` requests are kept outstanding; after a completion the
 * stream thinks, then submits the next. Open loop: requests arrive think_ns apart,
 * whatever becomes of those before.
 */
struct iosched_sim_stream {
	size_t size;	  /**< sizeof the caller's struct; set by iosched_sim_stream_init() */
	const char *name; /**< for the tables; NULL: "ctx N". Must outlive the run; copied to the
			     result */
	uint64_t context; /**< who asks. Several streams may share one. Default 1 */
	uint64_t group;	  /**< the context's group, made if new; 0 = root. Default 0 */
	uint32_t weight;  /**< the context's weight, 1..1000; 0 = leave the policy's. Default 0 */
	uint32_t group_weight; /**< the group's, likewise. Default 0 */
	uint8_t prio_class;    /**< enum iosched_class of its requests. Default best effort */
	uint8_t prio_level;    /**< 0 = default, 1..8 = level + 1. Default 0 */
	uint8_t open_loop;     /**< 1: arrivals do not wait for completions. Default 0 */
	uint8_t reserved0;     /**< zero */
	enum iosched_sim_pattern pattern; /**< Default sequential */
	uint64_t region_offset;		  /**< first byte of its region. Default 0 */
	uint64_t region_length;		  /**< bytes; 0 = to the end of the device. Default 0 */
	uint64_t request_bytes;		  /**< bytes per request, 1..region_length. Default 4096 */
	uint64_t align_bytes; /**< random offsets are multiples of it from the region's start;
			       * 0 = request_bytes. Default 0 */
	uint32_t depth;	      /**< requests kept outstanding, 1..2^20. Default 1 */
	uint32_t refill; /**< submit again only when this few are outstanding, then up to depth;
			  * 0..depth-1, or UINT32_MAX = depth-1. Default UINT32_MAX */
	uint32_t
		read_permyriad; /**< share of reads, 0..10000; the rest are writes. Default 10000 */
	uint32_t write_flags;	/**< enum iosched_rq_flag of its writes. Default 0 */
	uint32_t read_flags;	/**< enum iosched_rq_flag of its reads. Default 0 */
	uint32_t flush_every; /**< a FLUSH after so many writes, waited for; 0 = never. Default 0 */
	enum iosched_sim_wait think; /**< distribution. Default fixed */
	/** Streams of one number above 0 take turns on one sequential position (whose region
	 * and request size are the first such stream's). Default 0 = a position of its own */
	uint32_t cursor;
	uint64_t think_ns;	  /**< mean wait. Default 0 */
	uint64_t think_spread_ns; /**< for uniform: half width, at most think_ns. Default 0 */
	uint64_t start_ns;	  /**< when it begins. Default 0 */
	uint64_t stop_ns;	  /**< submits nothing from then on. Default #IOSCHED_NEVER */
	uint64_t max_requests;	  /**< it is done after so many; 0 = no limit. Default 0 */
	/** Sequential: from the start of a request to that of the next, so that streams whose
	 * positions lie within a stride interleave; 0 = request_bytes. Default 0 */
	uint64_t stride_bytes;
	/** Each request waits for a completion of another stream: 1 + that one's index in the
	 * config; 0 = it waits for none. A stream that makes FLUSHes completes with each
	 * of those, any other with each request. Closed loops only. At most `depth` completions
	 * are saved up. Default 0 */
	uint32_t after;
	uint32_t after_count; /**< wait for any of so many streams from there on; 0 = 1. Default 0
			       */
	uint32_t ahead;	      /**< so many requests wait for nothing. Default 0 */
	uint32_t reserved1;   /**< zero */
};

/** Defaults. @param s to fill @param size sizeof(*s)   Threads: any. */
IOSCHED_API void iosched_sim_stream_init(struct iosched_sim_stream *s, size_t size);

/** One recorded request. */
struct iosched_sim_record {
	uint64_t time_ns;   /**< when, on the trace's clock; the first record's is the replay's 0 */
	uint64_t offset;    /**< first byte */
	uint64_t length;    /**< bytes; 0 only for a FLUSH */
	uint64_t context;   /**< who asked */
	uint32_t flags;	    /**< enum iosched_rq_flag */
	uint8_t op;	    /**< enum iosched_op */
	uint8_t prio_class; /**< enum iosched_class */
	uint8_t prio_level; /**< 0 = default, else level + 1 */
	uint8_t reserved;   /**< zero */
};

/** Replays a trace, open loop: each record is submitted at its time. Fill with
 * iosched_sim_replay_init(). */
struct iosched_sim_replay {
	size_t size; /**< sizeof the caller's struct; set by iosched_sim_replay_init() */
	/**
	 * The next record, in time order; a time earlier than the one before is taken as equal
	 * to it, and counted. Called as the virtual clock gets there, one record ahead.
	 * @return 1: @p out is filled; 0: the trace has ended; -errno: stop the run with it
	 */
	int (*next)(void *user, struct iosched_sim_record *out);
	void *user;		  /**< first argument of `next` */
	uint64_t time_permille;	  /**< 1000 = as recorded, 500 = twice as fast, 0 = all at once (use
				   * max_outstanding). Default 1000 */
	uint64_t start_ns;	  /**< when the first record is submitted. Default 0 */
	uint32_t max_outstanding; /**< hold records back while so many are outstanding; 0 = no
				   * limit. Default 0 */
	uint8_t fold;	     /**< 1: an extent past the device's end is moved into it (offset modulo
			      * capacity); 0: it stops the run with -ERANGE. Default 0 */
	uint8_t reserved[3]; /**< zero */
	uint64_t context_shift; /**< added to every record's context. Default 0 */
};

/** Defaults. @param r to fill @param size sizeof(*r)   Threads: any. */
IOSCHED_API void iosched_sim_replay_init(struct iosched_sim_replay *r, size_t size);

/** A program of a host with an operating system: processes that read and write through a page
 * cache, wait for each other, and send their requests through the host's block layer. Which
 * there are: iosched_sim_program_at(). */
struct iosched_sim_program {
	const char *name; /**< e.g. "sysbench" */
	/** parameters that differ from the program's own, as iosched_sim_program_param_at() has
	 * them */
	const struct iosched_sim_setting *settings;
	unsigned setting_count; /**< how many */
	uint64_t first_context; /**< its processes are contexts from this number on */
	/** what rows call its processes: LABEL.1, LABEL.2 ...; NULL: what they are, "thread 1" */
	const char *label;
	uint64_t group;	       /**< of its processes, as iosched_sim_stream::group */
	uint32_t weight;       /**< likewise; 0 = the policy's default */
	uint32_t group_weight; /**< likewise */
	uint8_t prio_class;    /**< likewise */
	uint8_t prio_level;    /**< likewise */
	uint8_t reserved[6];   /**< zero */
};

/** The programs by number.
 * @param i        from 0
 * @param summary  receives one line, static; may be NULL
 * @return the name, static, or NULL past the last   Threads: any.   Cost: O(1). */
IOSCHED_API const char *iosched_sim_program_at(unsigned i, const char **summary);

/**
 * Describe the parameters of a program.
 * @param program  its name
 * @param i        from 0
 * @param out      receives the parameter; its strings are static
 * @return 0, -ENOENT (no such program), -ERANGE (@p i is past the last)
 * Threads: any.   Cost: O(parameters).
 */
IOSCHED_API int iosched_sim_program_param_at(const char *program, unsigned i,
					     struct iosched_sim_param *out);

/**
 * Check a program, and count its processes: they are contexts first_context, first_context + 1 ...
 * @param p         the program
 * @param capacity  of the device it is to run on, bytes
 * @param count     receives how many processes, 1..65536
 * @param why       receives the sentence on an error; may be NULL
 * @return 0, -ENOENT (no such program or parameter), -EINVAL (not a value), -ERANGE (a value out
 *         of range, or more than the device holds), -ENOMEM
 * Threads: any.   Cost: O(parameters).
 */
IOSCHED_API int iosched_sim_program_check(const struct iosched_sim_program *p, uint64_t capacity,
					  unsigned *count, struct iosched_sim_error *why);
/** @} */

/** @defgroup sim Running a simulation
 * @{ */

/** When the host asks the queue for requests. */
enum iosched_sim_block_layer {
	/** Whenever something has happened: a host of today. */
	IOSCHED_SIM_EAGER,
	/** As Linux 2.6 did: the first request of an empty queue plugs it, so that others may
	 * merge with it. Out comes the plug when somebody sleeps on a request, when four are
	 * queued, after 3 ms, at a completion, or when the policy kicks. A request that joins
	 * others in an unplugged queue asks for nothing. */
	IOSCHED_SIM_PLUGGED,
};

/** A tunable of the policy, and what to set it to. */
struct iosched_sim_tunable {
	const char *name; /**< as iosched_tunable_set() wants it */
	uint64_t value;	  /**< in the tunable's unit */
};

/** What to simulate. Fill with iosched_sim_config_init(), then change. Everything it points to
 * must live until iosched_sim_run() returns, and no longer. */
struct iosched_sim_config {
	size_t size; /**< sizeof the caller's struct; set by iosched_sim_config_init() */
	const struct iosched_policy *policy;	    /**< Default noop */
	const struct iosched_sim_tunable *tunables; /**< set in order before the run */
	unsigned tunable_count;			    /**< how many. Default 0 */
	uint32_t max_inflight;	  /**< the queue's window; 0 = the device's depth. Default 0 */
	uint64_t max_merge_bytes; /**< as iosched_params::max_merge_bytes. Default 512 KiB */

	const char *device;	 /**< a preset's or model's name. Default "hdd" */
	const char *device_text; /**< `name = value` lines over it; may itself start with `preset =`
				  * or `model =`, which replaces `device`. Default NULL */
	const char *device_text_name; /**< what errors call the text, e.g. its file name. Default
					 NULL */
	const struct iosched_sim_setting
		*overrides;	 /**< single parameters, over all of the above */
	unsigned override_count; /**< how many. Default 0 */

	unsigned stream_count;			  /**< how many. Default 0 */
	const struct iosched_sim_stream *streams; /**< the streams */
	const struct iosched_sim_replay *replays; /**< the replays */
	unsigned replay_count;			  /**< how many. Default 0 */

	uint32_t max_meters; /**< contexts metered apart, 1..65536; later ones share one row.
			      * Default 1024 */
	uint64_t seed;	     /**< of the random numbers; any. Default 1 */
	/** Loads submit nothing from then on; #IOSCHED_NEVER = until they are done, which all
	 * of them must then be able to be. Default 10 s */
	iosched_time length_ns;
	iosched_time warmup_ns;	  /**< meters begin then. Default 0 */
	iosched_time interval_ns; /**< width of a point of the time series; 0 = none. Default 0 */
	uint8_t audit; /**< 1: the queue walks its structures after every call (slow). Default 0 */
	uint8_t drain; /**< 1: go on after length_ns until all submitted requests are done;
			* 0: give back what is still queued then. Default 0 */
	/** 1: a stream's weight or group that the policy cannot honour is left out, as when
	 * policies are compared; 0: it is an error. Default 0 */
	uint8_t weights_optional;
	uint8_t block_layer; /**< enum iosched_sim_block_layer. Default eager */
	/** 1: the policy gets no FLUSH to hand out (iosched_params::can_flush); 0: it does, if the
	 * device has a volatile write cache. Default 0 */
	uint8_t no_flush;
	uint8_t reserved[3]; /**< zero */

	/** Optional: every event of the queue, as iosched_params::event.
	 * iosched_sim_request_number() tells which request it is. Must not call into the queue. */
	void (*event)(void *user, const struct iosched_event *event);
	void *event_user; /**< first argument of `event` */

	const struct iosched_sim_program *programs; /**< the programs */
	unsigned program_count;			    /**< how many. Default 0 */
};

/** Defaults. @param c to fill @param size sizeof(*c)   Threads: any. */
IOSCHED_API void iosched_sim_config_init(struct iosched_sim_config *c, size_t size);

/** The number of a request seen in iosched_sim_config::event: 1, 2, 3 ... in order of submission;
 * 0 for one that the policy made itself.
 * @param rq  from an event  @return the number   Threads: the run's.   Cost: O(1). */
IOSCHED_API uint64_t iosched_sim_request_number(const struct iosched_request *rq);

/** A latency, summed up. All in ns; quantiles are upper edges of buckets 3.2 % wide, never above
 * `max`; absent (0) when nothing was counted. */
struct iosched_sim_latency {
	uint64_t mean; /**< arithmetic mean */
	uint64_t p50;  /**< median */
	uint64_t p90;  /**< 90 % are at most this */
	uint64_t p99;  /**< 99 % */
	uint64_t p999; /**< 99.9 % */
	uint64_t max;  /**< exact */
};

/** iosched_sim_row::op of a row that sums over all operations. */
#define IOSCHED_SIM_ALL_OPS 0xff
/** iosched_sim_row::context of a row that sums over all contexts. */
#define IOSCHED_SIM_ALL_CONTEXTS UINT64_MAX
/** iosched_sim_row::context of those beyond max_meters, taken together. */
#define IOSCHED_SIM_OTHER_CONTEXTS (UINT64_MAX - 1)

struct iosched_sim_histograms;

/** One line of the table. */
struct iosched_sim_row {
	uint64_t context;    /**< whose, #IOSCHED_SIM_ALL_CONTEXTS or #IOSCHED_SIM_OTHER_CONTEXTS */
	char name[32];	     /**< the stream's name, or "ctx N", "all", "others" */
	uint8_t op;	     /**< enum iosched_op or #IOSCHED_SIM_ALL_OPS */
	uint8_t reserved[3]; /**< zero */
	uint32_t weight;     /**< the context's, 0 if none was given */
	uint64_t requests;   /**< completed after warm-up */
	uint64_t bytes;	     /**< of those */
	uint64_t merged;     /**< of those: absorbed by another request */
	uint64_t failed; /**< of those: the device reported an error; their bytes do not count */
	uint64_t bytes_per_s; /**< bytes over the measured time */
	uint64_t milli_iops;  /**< requests per 1000 s over the measured time */
	/** Device time booked to the context: what it really cost. Only in rows with
	 * #IOSCHED_SIM_ALL_OPS; 0 in others. Counted from warm-up on. */
	uint64_t device_ns;
	uint32_t device_share_ppm;	   /**< of all contexts' device_ns, in millionths */
	uint32_t reserved1;		   /**< zero */
	struct iosched_sim_latency wait;   /**< insert to dispatch (of the absorbing request) */
	struct iosched_sim_latency device; /**< dispatch to completion */
	struct iosched_sim_latency total;  /**< insert to completion */
	const struct iosched_sim_histograms *histograms; /**< for iosched_sim_row_quantile() */
};

/** Bytes completed per interval by one context. */
struct iosched_sim_series {
	uint64_t context;      /**< as iosched_sim_row::context */
	const uint64_t *bytes; /**< iosched_sim_result::interval_count numbers */
};

/** What the device did; a device made of devices counts what those did, but for commands and
 * flushes. Models without an arm leave positions and hits 0. */
struct iosched_sim_device_stats {
	uint64_t commands;	/**< finished commands of the host */
	uint64_t media_ops;	/**< operations on the medium, destage and read-ahead continuation
				   included */
	uint64_t media_ns;	/**< time of those: the sum of all contexts' device_ns */
	uint64_t position_ns;	/**< of it: seek and rotation */
	uint64_t transfer_ns;	/**< of it: transfer */
	uint64_t seeks;		/**< media operations that moved the arm */
	uint64_t seek_bytes;	/**< sum of those distances */
	uint64_t read_hits;	/**< reads served from the read-ahead segments or cache */
	uint64_t cached_writes; /**< writes done on entering the cache */
	uint64_t destages;	/**< media operations that emptied the write cache */
	uint64_t flushes;	/**< FLUSH commands done */
	uint64_t errors;	/**< commands that failed, those between an array and its disks
				   included */
};

/** What a program got done, warm-up excluded. */
struct iosched_sim_program_result {
	const char *name;	/**< its name, static */
	uint64_t first_context; /**< as configured */
	uint64_t operations;	/**< seeks, records, transactions: what the program counts */
	uint64_t bytes;		/**< read or written by its processes */
	uint64_t elapsed_ns;	/**< in this time */
	uint64_t syncs;		/**< waits for a write to be safe */
	uint64_t sync_ns;	/**< sum of those */
};

/** What came out. Everything it points to is freed with it. */
struct iosched_sim_result {
	uint64_t digest; /**< of every insert, merge, dispatch, completion, requeue and cancel, with
			    number and time */
	iosched_time end;	    /**< virtual time of the last event */
	iosched_time measured_ns;   /**< what rates are computed over: from warm-up to length_ns, or
				       to the end */
	uint64_t events;	    /**< steps of the virtual clock */
	uint64_t submitted;	    /**< requests the loads made */
	uint64_t completed;	    /**< of those, by the device */
	uint64_t failed;	    /**< of the completed: with an error */
	uint64_t returned;	    /**< of those, given back unissued at the end */
	uint64_t skipped_records;   /**< trace records with no length that are no FLUSH */
	uint64_t folded_records;    /**< trace records moved into the device by `fold` */
	uint64_t unordered_records; /**< trace records earlier than the one before */
	uint64_t seeks;		    /**< dispatches that did not start where the one before ended */
	uint64_t seek_bytes;	    /**< sum of those distances */
	uint64_t held_ns;	    /**< time the device had nothing while requests were queued */
	uint64_t empty_ns;	    /**< time nothing was queued or in flight */
	double jain; /**< Jain's index of device_ns over weight (no weight counts as 100), over the
		      * contexts of `rows`: 1 = fair, 1/n = one has all; 0 if nothing was done */
	struct iosched_stats stats;		/**< the queue's own counters, whole run */
	struct iosched_sim_device_stats device; /**< the device's, whole run */
	/** The sum row (all contexts, all ops), then one per op used, then per context its
	 * sum and its ops, contexts in order of their numbers. */
	const struct iosched_sim_row *rows;
	unsigned row_count;				   /**< how many */
	unsigned series_count;				   /**< 0 without interval_ns */
	const struct iosched_sim_series *series;	   /**< all contexts, then each */
	uint64_t interval_count;			   /**< points in each series */
	uint64_t interval_ns;				   /**< width of a point */
	const struct iosched_sim_program_result *programs; /**< in the config's order */
	unsigned program_count;				   /**< how many */
};

/**
 * Simulate.
 *
 * A watch checks every step of the queue: nothing lost, nothing done twice, always something to
 * wait for while work is queued, hold reasons that fit. The first thing that is
 * false stops the run.
 * @param c    the config
 * @param out  receives the result; NULL on an error other than -EPROTO
 * @param why  receives the sentence on an error; may be NULL
 * @return 0, -EINVAL (a bad member, stream or setting), -ENOENT (no such device, parameter or
 *         tunable), -EOPNOTSUPP (tunable, weight or group that the policy lacks), -ERANGE (a value
 * or extent out of range), -ENOMEM, -EPROTO (the watch stopped it: the result holds what came
 * before), or what a replay's `next` returned Ownership: the caller frees *out with
 * iosched_sim_result_free(). Threads: any; different runs are independent.   Cost: well under a
 * microsecond a request on the "null" device, plus the policy's.
 */
IOSCHED_API int iosched_sim_run(const struct iosched_sim_config *c, struct iosched_sim_result **out,
				struct iosched_sim_error *why);

/** Free a result. @param r may be NULL   Threads: any. */
IOSCHED_API void iosched_sim_result_free(struct iosched_sim_result *r);

/** Find a line of the table.
 * @param r        the result
 * @param context  whose, or #IOSCHED_SIM_ALL_CONTEXTS
 * @param op       which, or #IOSCHED_SIM_ALL_OPS
 * @return the row, or NULL   Threads: any.   Cost: O(rows). */
IOSCHED_API const struct iosched_sim_row *iosched_sim_result_row(const struct iosched_sim_result *r,
								 uint64_t context, uint8_t op);

/** Any quantile of a row's latency.
 * @param row        of a result that still lives
 * @param which      which latency
 * @param permyriad  0..10000
 * @return ns, as iosched_sim_latency; 0 if nothing was counted   Threads: any.   Cost: O(buckets).
 */
IOSCHED_API uint64_t iosched_sim_row_quantile(const struct iosched_sim_row *row,
					      enum iosched_latency which, unsigned permyriad);
/** @} */

/** @defgroup sim_scenario Scenarios
 * A scenario is a text: a device, streams, policies, seeds, and what is expected of what comes
 * out (docs/scenarios.md). Loading one makes a list of runs, one for each policy line
 * and seed, and a list of expectations.
 *
 * @code
 * if (iosched_sim_scenario_load(&s, "backup.scn", &why) != 0)
 *         puts(why.text);
 * results = calloc(iosched_sim_scenario_case_count(s), sizeof(*results));
 * if (iosched_sim_scenario_run(s, results, &why) == 0)
 *         for (i = 0; i < iosched_sim_scenario_check_count(s); i++) {
 *                 iosched_sim_scenario_check(s, i, results, &verdict);
 *                 puts(verdict.state == IOSCHED_SIM_HOLDS ? "pass" : verdict.figures);
 *         }
 * @endcode
 * @{ */

/** A loaded scenario. */
struct iosched_sim_scenario;

/** One run of a scenario: a policy line with one seed. */
struct iosched_sim_case {
	const char *label;		     /**< the policy line's label */
	const struct iosched_policy *policy; /**< the policy */
	uint64_t seed;			     /**< the seed */
	/** What to run; copy it to change interval_ns or to watch events. */
	const struct iosched_sim_config *config;
};

/** What became of an expectation. */
enum iosched_sim_state {
	IOSCHED_SIM_HOLDS,	 /**< it holds in every run it speaks of */
	IOSCHED_SIM_FAILS,	 /**< it does not */
	IOSCHED_SIM_NOT_CHECKED, /**< no run it speaks of has a result */
};

/** An expectation and what was measured. */
struct iosched_sim_verdict {
	const char *text;	      /**< as written, on one line; lives as long as the scenario */
	unsigned line;		      /**< its line in the text */
	enum iosched_sim_state state; /**< what became of it */
	char figures[256];	      /**< measured, in words, of the run that was nearest to
				       * failing, or failed */
};

/**
 * Read a scenario from a file.
 * @param out   receives it; NULL on an error
 * @param path  the file, at most 1 MiB
 * @param why   receives `file:line: what is wrong`, with a hint where there is one; may be NULL
 * @return 0, -EINVAL (not a scenario), -ENOENT (a device, policy, tunable, or file that
 *         does not exist), -ERANGE (a value out of range), -E2BIG (too much of something), -ENOMEM,
 *         or why the file could not be read
 * Ownership: the caller frees *out with iosched_sim_scenario_free(). Threads: any.
 * Cost: O(text) and O(policy lines * seeds * streams).
 */
IOSCHED_API int iosched_sim_scenario_load(struct iosched_sim_scenario **out, const char *path,
					  struct iosched_sim_error *why);

/**
 * Read a scenario from memory.
 * @param out   as for iosched_sim_scenario_load()
 * @param text  the text, without a terminating 0; is copied
 * @param size  its length in bytes
 * @param name  what errors call it
 * @param why   as for iosched_sim_scenario_load()
 * @return as iosched_sim_scenario_load(); opens no file, so `device file` is -EINVAL
 * Ownership, threads, cost: as for iosched_sim_scenario_load().
 */
IOSCHED_API int iosched_sim_scenario_parse(struct iosched_sim_scenario **out, const char *text,
					   size_t size, const char *name,
					   struct iosched_sim_error *why);

/** Free a scenario. @param s may be NULL   Threads: any. */
IOSCHED_API void iosched_sim_scenario_free(struct iosched_sim_scenario *s);

/** Its title line. @param s a scenario @return the title, empty if it has none   Threads: any. */
IOSCHED_API const char *iosched_sim_scenario_title(const struct iosched_sim_scenario *s);

/**
 * Add a run of a policy that the scenario does not name, once for each seed, labelled with the
 * policy's name. No expectation but those on `each` speaks of it.
 * @param s       a scenario of which nothing obtained by iosched_sim_scenario_case() is in use
 * @param policy  the policy
 * @return 0, -EEXIST (a line has that label), -E2BIG, -ENOMEM
 * Threads: one at a time. Cost: as loading.
 */
IOSCHED_API int iosched_sim_scenario_add_policy(struct iosched_sim_scenario *s,
						const struct iosched_policy *policy);

/** How many runs. @param s a scenario @return the number, at least 1   Threads: any. */
IOSCHED_API unsigned iosched_sim_scenario_case_count(const struct iosched_sim_scenario *s);

/**
 * Describe a run.
 * @param s    a scenario
 * @param i    from 0; the seeds of a policy line are neighbours
 * @param out  receives it; valid until iosched_sim_scenario_add_policy() or _free()
 * @return 0 or -ERANGE (past the last)   Threads: any.   Cost: O(1).
 */
IOSCHED_API int iosched_sim_scenario_case(const struct iosched_sim_scenario *s, unsigned i,
					  struct iosched_sim_case *out);

/**
 * Do every run.
 * @param s        a scenario
 * @param results  one for each run, which receive what iosched_sim_run() made, or NULL
 * @param why      receives the sentence on an error; may be NULL
 * @return 0, or the first error of iosched_sim_run(), at which it stops
 * Ownership: the caller frees each result. Threads: any.   Cost: that of the runs.
 */
IOSCHED_API int iosched_sim_scenario_run(const struct iosched_sim_scenario *s,
					 struct iosched_sim_result **results,
					 struct iosched_sim_error *why);

/** How many expectations. @param s a scenario @return the number   Threads: any. */
IOSCHED_API unsigned iosched_sim_scenario_check_count(const struct iosched_sim_scenario *s);

/**
 * Compare results with an expectation. It is integer arithmetic: no rounding decides. A latency
 * of which nothing was measured fails.
 * @param s        a scenario
 * @param i        which expectation, from 0
 * @param results  one for each run, in order; NULL for a run that was not done
 * @param out      receives what became of it
 * @return 0, -ERANGE (past the last), -ENOMEM
 * Threads: any.   Cost: O(runs * (rows + buckets)).
 */
IOSCHED_API int iosched_sim_scenario_check(const struct iosched_sim_scenario *s, unsigned i,
					   struct iosched_sim_result *const *results,
					   struct iosched_sim_verdict *out);
/** @} */

/** @defgroup sim_realtime A simulated device in real time
 * The same device models, on the wall clock: a command given to a disk ends when the simulated
 * drive would have ended it, with its data moved. So a server can stand on a 7200 rpm
 * disk that is not there. One thread of the disk's own keeps the time, by absolute
 * deadlines: a late wake-up delays one answer and not those behind it.
 * @{ */

/** A simulated device that runs in real time. */
struct iosched_sim_disk;
struct iovec;

/** One command. The caller owns it, and must keep it until `done`. Zero-initialise. */
struct iosched_sim_disk_io {
	uint64_t offset;	 /**< bytes */
	uint64_t length;	 /**< bytes; 0 for a FLUSH */
	uint64_t owner;		 /**< whose time it is, see iosched_sim_disk_owner_ns() */
	uint8_t op;		 /**< enum iosched_op */
	uint8_t fua;		 /**< 1: a write is done only when on the medium */
	uint8_t reserved[6];	 /**< zero */
	const struct iovec *iov; /**< where the data is; NULL: only time passes */
	unsigned iov_count;	 /**< buffers, 0..1024; together @ref length bytes */
	unsigned reserved1;	 /**< zero */
	uint64_t moved;		 /**< on done: bytes moved, less than length after an error */
	/** Called by the disk's thread; the command is the caller's again. It may submit,
	 * not close. @p error is 0 or a negative errno. */
	void (*done)(struct iosched_sim_disk_io *io, int error);
	void *user; /**< never touched */
	struct {
		struct iosched_sim_disk_io *next; /**< on one of the disk's lists */
		iosched_time arrived;		  /**< on its clock */
		int error;			  /**< how it ended */
		int reserved;			  /**< zero */
	} internal;				  /**< private */
};

/** Which disk. Fill with iosched_sim_disk_params_init(), then change. */
struct iosched_sim_disk_params {
	size_t size;		      /**< sizeof the caller's struct */
	const char *device;	      /**< as iosched_sim_config::device. Default "hdd" */
	const char *device_text;      /**< as iosched_sim_config::device_text. Default NULL */
	const char *device_text_name; /**< likewise. Default NULL */
	const struct iosched_sim_setting *overrides; /**< likewise */
	unsigned override_count;		     /**< how many. Default 0 */
	/** 1000 = as the drive would, 100 = ten times faster; 1..1000000. Default 1000 */
	unsigned time_permille;
	const char *path; /**< file that holds the data; NULL: memory. Default NULL */
	/** Bytes, at most the device's capacity; a shorter file is made longer.
	 * Default 0: the file's size, or the device's capacity if that is 0 or in memory. */
	uint64_t length;
	/**
	 * Optional: asked by the disk's thread before the data of a command moves. May lower
	 * @p limit, the bytes that will be moved at most.
	 * @return 0, or the negative errno the command shall end with
	 */
	int (*fault)(void *user, const struct iosched_sim_disk_io *io, uint64_t *limit);
	void *user; /**< first argument of `fault` */
};

/** Defaults. @param p to fill @param size sizeof(*p)   Threads: any. */
IOSCHED_API void iosched_sim_disk_params_init(struct iosched_sim_disk_params *p, size_t size);

/**
 * Start a disk.
 * @param out  receives it; NULL on error
 * @param p    from iosched_sim_disk_params_init(); copied
 * @param why  receives the sentence on an error; may be NULL
 * @return 0, -EINVAL, -ENOENT, -ERANGE (a device, setting, length or time out of range),
 *         -ENOMEM, or what opening the file or starting the thread gave
 * Ownership: the caller's until iosched_sim_disk_close().
 * Threads: any. A child of fork() has no disk: start it there.   Cost: memory by the device's
 * depth.
 */
IOSCHED_API int iosched_sim_disk_open(struct iosched_sim_disk **out,
				      const struct iosched_sim_disk_params *p,
				      struct iosched_sim_error *why);

/**
 * Wait for what was submitted, then end the disk's thread and free the disk.
 * @param d  may be NULL
 * Threads: not in `done`; nobody may submit any more.
 */
IOSCHED_API void iosched_sim_disk_close(struct iosched_sim_disk *d);

/** Size of a disk. @param d the disk  @return bytes   Threads: any.   Cost: O(1). */
IOSCHED_API uint64_t iosched_sim_disk_length(const struct iosched_sim_disk *d);

/**
 * Tell a queue what stands behind it: fills rotational, write_cache, array, parallel and
 * device_depth, and max_inflight if that is 0.
 * @param d  the disk
 * @param p  from iosched_params_init()
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_sim_disk_describe(const struct iosched_sim_disk *d,
					   struct iosched_params *p);

/**
 * Give the disk a command. More than its depth wait in order of arrival.
 * @param d   the disk
 * @param io  the command
 * @return 0, -EINVAL (unknown op, no `done`, length 0, buffers that are not `length` bytes),
 *         -ERANGE (beyond the end)
 * Ownership: the disk's until `done`, which is called once on 0 and never on an error.
 * Threads: any, `done` included.   Cost: O(iov_count), a lock.
 */
IOSCHED_API int iosched_sim_disk_submit(struct iosched_sim_disk *d, struct iosched_sim_disk_io *io);

/** What the device did so far. @param d the disk @param out to fill   Threads: any. */
IOSCHED_API void iosched_sim_disk_stats(struct iosched_sim_disk *d,
					struct iosched_sim_device_stats *out);

/** Device time that commands of an owner took: what its share is measured by.
 * @param d      the disk
 * @param owner  as in iosched_sim_disk_io::owner
 * @return ns on the drive's clock, not yet scaled   Threads: any.   Cost: O(1), a lock. */
IOSCHED_API uint64_t iosched_sim_disk_owner_ns(struct iosched_sim_disk *d, uint64_t owner);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
