/* SPDX-License-Identifier: MIT */
/*
 * reader: what a format's file sees of the reader core.
 *
 * A format is a table: how to know its lines, and one function that turns a line into a record
 * (text) or that fetches the next record itself (binary). The core does all
 * the rest: finding the format, reading lines, counting, skipping, selecting, sorting.
 */
#ifndef IOS_TRACE_READER_H
#define IOS_TRACE_READER_H

#include <errno.h>

#include "trace/input.h"
#include "trace/names.h"
#include "trace/text.h"
#include "trace/window.h"

/* What a format's functions return; negative: an errno, and ios_trace_bad() has said why. */
enum {
	IOS_TRACE_END = 0,     /* the trace ends here, whatever follows */
	IOS_TRACE_RECORD = 1,  /* the record is filled */
	IOS_TRACE_IGNORED = 2, /* a line or record without I/O in it */
};

struct ios_trace_format {
	const char *name, *alias, *summary;
	/* Could this line, neither empty nor the file's only sign, be of this format? */
	bool (*matches)(struct ios_span line);
	size_t state_size; /* zeroed before `begin` */
	int (*begin)(struct iosched_trace *t);
	void (*finish)(struct iosched_trace *t);
	/* Text: one line, not blank. @rec is zero. */
	int (*line)(struct iosched_trace *t, struct ios_span line,
		    struct iosched_trace_record *rec);
	/* Binary: the next record; 0 only at the end of all inputs. */
	int (*fetch)(struct iosched_trace *t, struct iosched_trace_record *rec);
	bool untimed; /* times are not those of arrival; may be changed per trace */
};

/* Indexed by enum iosched_trace_format; the entry of AUTO has only a name. */
extern const struct ios_trace_format *const ios_trace_formats[IOSCHED_TRACE_FORMATS];

struct iosched_trace {
	struct iosched_trace_options options;
	enum iosched_trace_format id;
	const struct ios_trace_format *format;
	void *state;
	bool timed;
	struct ios_trace_input *inputs;
	uint32_t input_count;
	struct ios_trace_names names;
	struct ios_trace_window window;
	struct iosched_trace_stats stats;
	uint32_t events_seen; /* bit per event among replayable records; for select */
	bool decided;	      /* `arrival` is final */
	uint8_t arrival;      /* enum iosched_trace_event that is selected */
	bool ended;	      /* nothing more comes from the inputs */
	int result;	      /* once ended and drained: 0 or -errno */
	bool any_yielded;
	iosched_time first_time, last_time; /* of records yielded, before from_zero */
	char error[512];
};

extern const struct ios_trace_format ios_trace_native, ios_trace_blktrace, ios_trace_blkparse,
	ios_trace_fio_v1, ios_trace_fio_v2, ios_trace_fio_v3, ios_trace_spc, ios_trace_msr,
	ios_trace_disksim, ios_trace_mqsim, ios_trace_validate, ios_trace_biosnoop, ios_trace_fiu;

/* The window that a reader with @t's options needs; decides `decided`. */
int ios_trace_window_for(struct iosched_trace *t);
/* Do these four bytes begin a record of a binary trace, in either byte order? */
bool ios_trace_blktrace_magic(const char *bytes);
/* Find the format from what the first input begins with: 0, -EBADMSG, -ENOTSUP, an error of
 * reading. */
int ios_trace_detect(struct iosched_trace *t);

/* Says what is wrong at @in's position; returns @err. */
int ios_trace_fail(struct iosched_trace *t, const struct ios_trace_input *in, int err,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same of the first input, with @word quoted: `time: "1x" is not ...`. Returns -EBADMSG. */
int ios_trace_bad(struct iosched_trace *t, const char *what, struct ios_span word,
		  const char *complaint);

/* Parse a field: 0, or -EBADMSG after saying which one is wrong. */
int ios_trace_u64(struct iosched_trace *t, const char *what, struct ios_span word, uint64_t *out);
int ios_trace_u32(struct iosched_trace *t, const char *what, struct ios_span word, uint32_t *out);
int ios_trace_decimal(struct iosched_trace *t, const char *what, struct ios_span word,
		      unsigned scale, uint64_t *out);
/* Sets the record's extent from sectors of 512 bytes, or from bytes. */
int ios_trace_sectors(struct iosched_trace *t, uint64_t sector, uint64_t count,
		      struct iosched_trace_record *rec);
int ios_trace_bytes(struct iosched_trace *t, uint64_t offset, uint64_t length,
		    struct iosched_trace_record *rec);
/* R or W, in either case. */
int ios_trace_read_or_write(struct iosched_trace *t, struct ios_span word,
			    struct iosched_trace_record *rec);
/* Sets `file` and `device` from a name. */
int ios_trace_file(struct iosched_trace *t, struct ios_span name, struct iosched_trace_record *rec);
/* Cut to fit. */
void ios_trace_process(struct ios_span name, struct iosched_trace_record *rec);
/* Formats without process ids: who asked is the device. */
void ios_trace_context_is_device(struct iosched_trace_record *rec);

/* rwbs letters into op and flags: 0, or -EINVAL. */
int ios_trace_rwbs_parse(struct ios_span letters, struct iosched_trace_record *rec);
/* blkparse's letters of an event; IOSCHED_TRACE_EVENTS if unknown. */
enum iosched_trace_event ios_trace_event_find(struct ios_span letters);

#endif
