/* SPDX-License-Identifier: MIT */
/*
 * validate: DiskSim's traces of real drives, one request at a time, with measured service times.
 *
 *   R|W cache-word sector sectors service-us pause-us
 *
 * There is no clock in it: a request is issued, served, and after the pause the next is
 * issued. The time of a record is the sum of all before it, which is when that drive got it.
 */
#include "trace/reader.h"

struct validate {
	iosched_time clock;
};

static bool validate_matches(struct ios_span line)
{
	struct ios_span op, cache, sector, count, service, pause, more;
	uint64_t number;

	return ios_text_word(&line, &op) && ios_text_word(&line, &cache) &&
	       ios_text_word(&line, &sector) && ios_text_word(&line, &count) &&
	       ios_text_word(&line, &service) && ios_text_word(&line, &pause) &&
	       !ios_text_word(&line, &more) && (ios_span_is(op, "R") || ios_span_is(op, "W")) &&
	       ios_number_u64(cache, &number) != 0 && ios_number_u64(sector, &number) == 0 &&
	       ios_number_u64(count, &number) == 0 &&
	       ios_number_decimal(service, 3, &number) == 0 &&
	       ios_number_decimal(pause, 3, &number) == 0;
}

static int advance(struct iosched_trace *t, uint64_t service, uint64_t pause)
{
	struct validate *state = t->state;

	if (service > UINT64_MAX - pause || state->clock > UINT64_MAX - service - pause)
		return ios_trace_fail(t, &t->inputs[0], -EBADMSG,
				      "the sum of times is over 64 bits");
	state->clock += service + pause;
	return 0;
}

static int validate_line(struct iosched_trace *t, struct ios_span line,
			 struct iosched_trace_record *rec)
{
	struct validate *state = t->state;
	struct ios_span words[6];
	uint64_t sector, count, pause;
	int err;

	for (int i = 0; i < 6; i++)
		ios_text_word(&line, &words[i]);
	rec->time = state->clock;
	if ((err = ios_trace_read_or_write(t, words[0], rec)) != 0 ||
	    (err = ios_trace_u64(t, "sector", words[2], &sector)) != 0 ||
	    (err = ios_trace_u64(t, "count of sectors", words[3], &count)) != 0 ||
	    (err = ios_trace_decimal(t, "service time", words[4], 3, &rec->latency)) != 0 ||
	    (err = ios_trace_decimal(t, "pause", words[5], 3, &pause)) != 0 ||
	    (err = ios_trace_sectors(t, sector, count, rec)) != 0 ||
	    (err = advance(t, rec->latency, pause)) != 0)
		return err;
	ios_trace_context_is_device(rec);
	return IOS_TRACE_RECORD;
}

const struct ios_trace_format ios_trace_validate = {
	.name = "validate",
	.summary = "DiskSim validate: op cache sector sectors service-us pause-us",
	.matches = validate_matches,
	.state_size = sizeof(struct validate),
	.line = validate_line,
	.untimed = true,
};
