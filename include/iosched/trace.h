/* SPDX-License-Identifier: MIT */
/** @file trace.h
 * Reading and writing traces of block I/O (libioschedsim).
 *
 * A reader opens a file, a pipe or anything a callback can read, finds out what
 * format it has, and yields one struct iosched_trace_record after the other.
 * docs/formats.md describes every format: columns, units, what is ignored.
 *
 * Conventions
 *  - Order: records come in order of time, equal times in order of the file. Files are
 *    not always sorted, so iosched_trace_options::window records are held back
 *    and sorted. A record that is earlier than one already yielded still comes, with
 *    #IOSCHED_TRACE_LATE set and iosched_trace_stats::late counted.
 *  - Memory: constant, whatever the length of the file: one buffer of 128 KiB for each
 *    input, the window, and a table of the names of files or disks (bounded, see
 *    iosched_trace_record::file).
 *  - Errors: 0 or a negative errno, and a sentence from iosched_trace_error() that
 *    names file and line (record number for binary files). After an error every
 *    record before it has been yielded, and the error stays.
 *    With iosched_trace_options::skip_bad a malformed line or record is counted and passed over.
 *  - Threads: one caller at a time for each reader or writer.
 *  - Stability: like the simulator's, this interface may change before 1.0.
 */
#ifndef IOSCHED_TRACE_H
#define IOSCHED_TRACE_H

#include <stdio.h>

#include <iosched/iosched.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @defgroup trace Traces
 * @{ */

/** What a trace is written in. */
enum iosched_trace_format {
	IOSCHED_TRACE_AUTO,	/**< find out from the first lines */
	IOSCHED_TRACE_NATIVE,	/**< "native": our own text */
	IOSCHED_TRACE_BLKTRACE, /**< "blktrace": binary of version 7, merged or one file per CPU */
	IOSCHED_TRACE_BLKPARSE, /**< "blkparse": its default text */
	IOSCHED_TRACE_FIO_V1,	/**< "fio-v1": never found automatically */
	IOSCHED_TRACE_FIO_V2,	/**< "fio-v2": fio iolog version 2 */
	IOSCHED_TRACE_FIO_V3,	/**< "fio-v3": fio iolog version 3 */
	IOSCHED_TRACE_SPC,	/**< "spc": SPC-1 and UMass */
	IOSCHED_TRACE_MSR,	/**< "msr": MSR-Cambridge CSV */
	IOSCHED_TRACE_DISKSIM,	/**< "disksim": five columns, milliseconds */
	IOSCHED_TRACE_MQSIM,	/**< "mqsim": five columns, nanoseconds */
	IOSCHED_TRACE_VALIDATE, /**< "validate": DiskSim's measured traces of real drives */
	IOSCHED_TRACE_BIOSNOOP, /**< "biosnoop": bcc biosnoop and perf-tools iosnoop */
	IOSCHED_TRACE_FIU,	/**< "fiu": FIU/SNIA content traces */
	IOSCHED_TRACE_FORMATS,	/**< how many there are, #IOSCHED_TRACE_AUTO included */
};

/** The step of a request's life a record tells of. */
enum iosched_trace_event {
	IOSCHED_TRACE_REQUEST,	    /**< the format knows requests only, not their steps */
	IOSCHED_TRACE_QUEUE,	    /**< Q: it arrived */
	IOSCHED_TRACE_BACK_MERGE,   /**< M: appended to a queued one */
	IOSCHED_TRACE_FRONT_MERGE,  /**< F: put before a queued one */
	IOSCHED_TRACE_GET,	    /**< G: got its request structure */
	IOSCHED_TRACE_SLEEP,	    /**< S: waited for a request structure */
	IOSCHED_TRACE_REQUEUE,	    /**< R: came back from the driver */
	IOSCHED_TRACE_ISSUE,	    /**< D: went to the driver */
	IOSCHED_TRACE_COMPLETE,	    /**< C: done */
	IOSCHED_TRACE_PLUG,	    /**< P: the queue was plugged */
	IOSCHED_TRACE_UNPLUG,	    /**< U: unplugged by I/O */
	IOSCHED_TRACE_UNPLUG_TIMER, /**< T: unplugged by timer */
	IOSCHED_TRACE_INSERT,	    /**< I: into the scheduler */
	IOSCHED_TRACE_SPLIT,	    /**< X: split in two */
	IOSCHED_TRACE_BOUNCE,	    /**< B: bounced */
	IOSCHED_TRACE_REMAP,	    /**< A: from another device */
	IOSCHED_TRACE_ABORT,	    /**< "abort" */
	IOSCHED_TRACE_DRIVER,	    /**< "drv": driver data */
	IOSCHED_TRACE_EVENTS,	    /**< how many there are */
};

/** iosched_trace_record::op when nothing is read, written, flushed or discarded. */
#define IOSCHED_TRACE_OP_NONE 255u

/** iosched_trace_record::flags above those of enum iosched_rq_flag. */
enum iosched_trace_flag {
	IOSCHED_TRACE_READAHEAD = 1u << 16,   /**< read ahead */
	IOSCHED_TRACE_PREFLUSH = 1u << 17,    /**< empty the device's cache first */
	IOSCHED_TRACE_BARRIER = 1u << 18,     /**< barrier, of old kernels */
	IOSCHED_TRACE_PASSTHROUGH = 1u << 19, /**< a raw command; its extent means nothing */
	IOSCHED_TRACE_LATE = 1u << 20,	      /**< earlier than a record already yielded */
};

/** Room for a process name and its NUL; the kernel's are 15 long. */
#define IOSCHED_TRACE_PROCESS_SIZE 32

/** One line or record of a trace. What a format does not have is 0. */
struct iosched_trace_record {
	iosched_time
		time; /**< ns; the origin is the format's, see iosched_trace_options::from_zero */
	uint64_t offset;   /**< first byte; offset + length does not overflow */
	uint64_t length;   /**< bytes; 0 where the trace has 0 */
	uint64_t context;  /**< process id; for formats without one, device + 1 */
	uint64_t latency;  /**< measured service time, ns; 0 = not known */
	uint64_t position; /**< line, or number of the record, in its file; from 1 */
	uint32_t device; /**< major << 20 | minor, or the format's number, or the index of `file` */
	uint32_t flags;	 /**< enum iosched_rq_flag and enum iosched_trace_flag, or-ed */
	uint32_t cpu;	 /**< where it was traced */
	int32_t error;	 /**< error number of a completion */
	uint8_t op;	 /**< enum iosched_op or #IOSCHED_TRACE_OP_NONE */
	uint8_t event;	 /**< enum iosched_trace_event */
	uint8_t prio_class; /**< enum iosched_class */
	uint8_t prio_level; /**< as iosched_request::prio_level */
	uint32_t reserved;  /**< zero */
	/** File or disk the format names, or NULL. The reader's, until it is closed. At most
	 * 65536 different ones of 255 bytes; one more is an error. */
	const char *file;
	char process[IOSCHED_TRACE_PROCESS_SIZE]; /**< name of the process, cut to fit; "" = not
						     known */
};

/** What the number of a `wait` line in fio's iolog version 2 is. */
enum iosched_trace_wait {
	IOSCHED_TRACE_WAIT_RELATIVE_US, /**< microseconds after the previous wait: fio's manual */
	IOSCHED_TRACE_WAIT_START_MS,	/**< milliseconds after the start: what fio's reader does */
};

/** Which records are yielded. */
enum iosched_trace_select {
	IOSCHED_TRACE_SELECT_ALL, /**< every one */
	/** Those to replay: replayable ones (iosched_trace_replayable()) of one event: Q if the
	 * first `window` records (at least 4096) have one, else D, else C. */
	IOSCHED_TRACE_SELECT_ARRIVALS,
};

/** Options of a reader. Fill with iosched_trace_options_init(), then change. */
struct iosched_trace_options {
	size_t size;	 /**< sizeof the caller's struct; set by the init function */
	uint32_t format; /**< enum iosched_trace_format. Default auto */
	uint32_t window; /**< records sorted at a time, 1 (as in the file)..2^20. Default 4096 */
	uint32_t select; /**< enum iosched_trace_select. Default all */
	uint32_t wait;	 /**< enum iosched_trace_wait. Default the manual's */
	uint32_t spc_block_bytes; /**< SPC: bytes of one block, 1..2^20. Default 512 */
	uint32_t device;	  /**< the one device to yield, if one_device is set */
	uint8_t one_device;	  /**< 1: pass over records of other devices. Default 0 */
	uint8_t skip_bad;	  /**< 1: count malformed lines and go on. Default 0 */
	uint8_t from_zero;	  /**< 1: subtract the first yielded time from all. Default 0 */
	uint8_t reserved[5];	  /**< zero */
};

/** What a reader did so far. */
struct iosched_trace_stats {
	size_t size;	     /**< sizeof the caller's struct */
	uint64_t records;    /**< yielded */
	uint64_t bytes;	     /**< taken from the input */
	uint64_t ignored;    /**< lines and records that are no I/O: headers, comments, messages */
	uint64_t skipped;    /**< malformed ones passed over (skip_bad) */
	uint64_t unselected; /**< records not asked for (select, one_device) */
	uint64_t late;	     /**< yielded after a later one: the window was too small */
	uint64_t oversized; /**< fio: lengths of 4 GiB and more, which fio itself cuts to 32 bits */
};

/** A reader. */
struct iosched_trace;
/** A writer. */
struct iosched_trace_writer;

/**
 * Where a reader gets its bytes.
 * @param user    as given to iosched_trace_open_read()
 * @param buffer  to fill
 * @param size    bytes wanted, at least 1
 * @return bytes written to @p buffer, 0 at the end, or a negative errno
 */
typedef int64_t iosched_trace_read_fn(void *user, void *buffer, size_t size);

/**
 * Fill @p o with the defaults named at its members.
 * @param o     to fill
 * @param size  sizeof(struct iosched_trace_options)
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_trace_options_init(struct iosched_trace_options *o, size_t size);

/**
 * Open a trace by its path.
 *
 * If there is no file `path`, but there are files `path.blktrace.N` (or `path.N` where path ends in
 * `.blktrace`), they are read together as one binary trace of several CPUs.
 * @param out   receives the reader, also on error, so that iosched_trace_error() can tell;
 *              NULL only on -ENOMEM and -EINVAL
 * @param path  the file
 * @param o     NULL = the defaults; copied
 * @return 0, -EINVAL (an option out of its range), -ENOMEM, -ENOENT and others of opening a file,
 *         -EBADMSG (not a trace we know), -ENOTSUP (one we know and cannot replay)
 * Ownership: the caller's until iosched_trace_close(), also after an error.
 * Threads: any.   Cost: reads the first 128 KiB.
 */
IOSCHED_API int iosched_trace_open(struct iosched_trace **out, const char *path,
				   const struct iosched_trace_options *o);

/**
 * Read a trace from a stream, a pipe for instance.
 * @param out   as for iosched_trace_open()
 * @param file  read from its current position; stays the caller's, must outlive the reader
 * @param name  stands in error messages; copied
 * @param o     NULL = the defaults; copied
 * @return as iosched_trace_open()
 * Ownership, threads, cost: as iosched_trace_open().
 */
IOSCHED_API int iosched_trace_open_file(struct iosched_trace **out, FILE *file, const char *name,
					const struct iosched_trace_options *o);

/**
 * Read a trace through a function.
 * @param out   as for iosched_trace_open()
 * @param read  gives the bytes
 * @param user  its first argument
 * @param name  stands in error messages; copied
 * @param o     NULL = the defaults; copied
 * @return as iosched_trace_open(), or what @p read returned
 * Ownership, threads, cost: as iosched_trace_open().
 */
IOSCHED_API int iosched_trace_open_read(struct iosched_trace **out, iosched_trace_read_fn *read,
					void *user, const char *name,
					const struct iosched_trace_options *o);

/**
 * The next record.
 * @param t    the reader
 * @param rec  to fill; untouched unless 1 is returned
 * @return 1, 0 at the end of the trace, or -EBADMSG (malformed or cut off), -ENOTSUP (a version or
 * a set of columns that cannot be read), -E2BIG (too many names), or the error of reading. 0 and
 * errors stay. Ownership: `rec->file` is the reader's. Threads: the reader's caller.   Cost: O(1)
 * where the trace is sorted, else O(window); one read of the input per 128 KiB.
 */
IOSCHED_API int iosched_trace_next(struct iosched_trace *t, struct iosched_trace_record *rec);

/**
 * What was wrong: "file:line: sentence". With skip_bad, what was wrong first.
 * @param t  the reader
 * @return the reader's, until it is closed; "" when nothing was wrong
 * Threads: the reader's caller.   Cost: O(1).
 */
IOSCHED_API const char *iosched_trace_error(const struct iosched_trace *t);

/**
 * Which format was found.
 * @param t  the reader
 * @return #IOSCHED_TRACE_AUTO if opening failed before it was known
 * Threads: the reader's caller.   Cost: O(1).
 */
IOSCHED_API enum iosched_trace_format iosched_trace_format(const struct iosched_trace *t);

/**
 * Are the times those at which requests arrived?
 *
 * If not, requests are to be issued one after the other, and the times are only what the trace says
 * of pauses (fio version 1 and 2), or of the one drive it was measured on (validate), or nothing
 * (iosnoop without start times).
 * @param t  the reader, after its first record
 * @return true: `time` is when a request arrived
 * Threads: the reader's caller.   Cost: O(1).
 */
IOSCHED_API bool iosched_trace_timed(const struct iosched_trace *t);

/**
 * Copy the counters.
 * @param t     the reader
 * @param out   to fill
 * @param size  sizeof(struct iosched_trace_stats) as the caller knows it
 * Threads: the reader's caller.   Cost: O(inputs).
 */
IOSCHED_API void iosched_trace_stats_get(const struct iosched_trace *t,
					 struct iosched_trace_stats *out, size_t size);

/** Free a reader and close what iosched_trace_open() opened.
 * @param t  may be NULL   Threads: the reader's caller.   Cost: O(names). */
IOSCHED_API void iosched_trace_close(struct iosched_trace *t);

/** The name of a format, as users write it.
 * @param format  the format  @return static storage; NULL if there is none such   Threads: any. */
IOSCHED_API const char *iosched_trace_format_name(enum iosched_trace_format format);

/** One line about a format.
 * @param format  the format  @return static storage; NULL if there is none such   Threads: any. */
IOSCHED_API const char *iosched_trace_format_summary(enum iosched_trace_format format);

/**
 * Find a format by its name ("auto", and "iosnoop" and "ssdsim" too).
 * @param name  as users write it
 * @return the format; #IOSCHED_TRACE_FORMATS if there is none such
 * Threads: any.   Cost: O(formats).
 */
IOSCHED_API enum iosched_trace_format iosched_trace_format_find(const char *name);

/** An event as blkparse writes it: "Q", "D", ...; "-" for #IOSCHED_TRACE_REQUEST.
 * @param event  the event  @return static storage; NULL if there is none such   Threads: any. */
IOSCHED_API const char *iosched_trace_event_name(enum iosched_trace_event event);

/** Room for iosched_trace_rwbs(). */
#define IOSCHED_TRACE_RWBS_SIZE 10

/**
 * Operation and flags as blkparse writes them: "WS", "FN", "RAM", ...
 * @param rec  the record
 * @param out  #IOSCHED_TRACE_RWBS_SIZE bytes; always terminated
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_trace_rwbs(const struct iosched_trace_record *rec, char *out);

/**
 * Can it be replayed: does it read, write, flush or discard something?
 * Raw commands and extents of length 0 (but for flushes) cannot.
 * @param rec  the record
 * @return true: iosched_trace_to_request() would make a request of it
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API bool iosched_trace_replayable(const struct iosched_trace_record *rec);

/**
 * Make the request a record tells of. Clears @p rq first. A write of nothing with
 * #IOSCHED_TRACE_PREFLUSH becomes a FLUSH; flags that requests do not have are left out.
 * @param rec  the record
 * @param rq   to fill
 * @return 0, or -EINVAL (not replayable; @p rq is untouched)
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API int iosched_trace_to_request(const struct iosched_trace_record *rec,
					 struct iosched_request *rq);

/** Options of a writer. Fill with iosched_trace_writer_options_init(), then change. */
struct iosched_trace_writer_options {
	size_t size;	 /**< sizeof the caller's struct; set by the init function */
	uint32_t format; /**< NATIVE (default), FIO_V2 or FIO_V3 of enum iosched_trace_format */
	uint32_t wait;	 /**< fio-v2: enum iosched_trace_wait. Default the manual's */
	/** fio: the file for records that name none. Default NULL: "dev-MAJOR-MINOR". */
	const char *file;
};

/**
 * Fill @p o with the defaults named at its members.
 * @param o     to fill
 * @param size  sizeof(struct iosched_trace_writer_options)
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API void iosched_trace_writer_options_init(struct iosched_trace_writer_options *o,
						   size_t size);

/**
 * Begin a trace: writes its header.
 * @param out   receives the writer; untouched on error
 * @param file  written to from its current position; stays the caller's, must outlive the writer
 * @param o     NULL = the defaults; the name in it is copied
 * @return 0, -EINVAL (no format that can be written, a name with blanks), -ENOMEM, -EIO
 * Ownership: the caller's until iosched_trace_writer_close().
 * Threads: any.   Cost: O(1).
 */
IOSCHED_API int iosched_trace_writer_open(struct iosched_trace_writer **out, FILE *file,
					  const struct iosched_trace_writer_options *o);

/**
 * Write one record. Native text keeps all of it but `position` and #IOSCHED_TRACE_LATE. fio's
 * formats keep operation, extent, file, and the time in microseconds (version 2 with
 * #IOSCHED_TRACE_WAIT_START_MS: in milliseconds).
 * @param w    the writer
 * @param rec  the record
 * @return 0, -EINVAL (fio: not replayable, or a name with blanks or over 255 bytes; version 2: its
 * time is before the previous one's), -E2BIG (over 65536 names), -ENOMEM, -EIO. Only -EIO and
 *         -ENOMEM may leave part of a line behind.
 * Threads: the writer's caller.   Cost: O(1).
 */
IOSCHED_API int iosched_trace_write(struct iosched_trace_writer *w,
				    const struct iosched_trace_record *rec);

/**
 * End the trace (fio: closes its files), flush the stream, free the writer.
 * @param w  may be NULL; freed also on error
 * @return 0 or -EIO, also of an earlier write
 * Threads: the writer's caller.   Cost: O(names).
 */
IOSCHED_API int iosched_trace_writer_close(struct iosched_trace_writer *w);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
