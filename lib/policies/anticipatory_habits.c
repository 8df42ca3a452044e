/* SPDX-License-Identifier: MIT */
/*
 * anticipatory_habits: what contexts do, and whether it is worth to wait for one.
 *
 * Per context: decaying means of its think time and its seeks. Of new contexts, of which nothing is
 * known: the same from the first samples of all, and the chances that one exits before it asks
 * again, and that nobody near takes over from one that has exited. Chances are of ONE.
 *
 * Rule: wait unless the request is here, the wait has lasted long enough, something as near
 * can be served, or the context is not expected to ask within antic_expire.
 */
#include "policies/anticipatory.h"

#define MAX_THINK 19u			  /* ticks: longer thoughts count as this */
#define CLOSE (8192 * SECTOR)		  /* ahead of the head; half of it behind */
#define MAX_DELAY 20u			  /* ticks of waiting after which all is close */
#define FEW_SAMPLES 60u			  /* of a seek mean: about two */
#define SEEK_SLACK_FEW (2 * 1024 * 1024u) /* sectors a sample may exceed 4 means by, at first */
#define SEEK_SLACK (128 * 1024u)	  /* and later */
#define ONE 256u			  /* probability 1 */
#define HALF (ONE / 2)

static uint64_t distance(uint64_t x, uint64_t y)
{
	return x > y ? x - y : y - x;
}

/* A chance moves an eighth of the way to its end. */
static uint64_t raised(uint64_t chance)
{
	return (7 * chance + ONE) / 8;
}

static uint64_t lowered(uint64_t chance)
{
	return 7 * chance / 8;
}

static void book_think(struct anticipatory *a, struct habits *h, uint64_t t)
{
	bool idle = h->answered && !ios_antic_is_here(h);
	uint64_t think = idle ? t - h->answered_at : 0;

	if (think > MAX_THINK)
		think = MAX_THINK;
	if (h->think.samples == 0) {
		a->new_think_total = (7 * a->new_think_total + ONE * think) / 8;
		a->exit_chance = lowered(a->exit_chance);
	}
	ios_ewma_add(&h->think, think);
}

/* The mean of new contexts is fed before the sample is cut (trace y112). */
static void book_seek(struct anticipatory *a, struct habits *h, uint64_t sectors)
{
	uint64_t limit =
		4 * h->seek.mean + (h->seek.samples <= FEW_SAMPLES ? SEEK_SLACK_FEW : SEEK_SLACK);

	if (h->seek.samples == 0)
		a->new_seek_total = (7 * a->new_seek_total + ONE * sectors) / 8;
	ios_ewma_add_seek(&h->seek, sectors < limit ? sectors : limit);
}

void ios_antic_book(struct anticipatory *a, struct habits *h, const struct iosched_request *rq,
		    uint64_t t)
{
	if (h->asked) {
		book_think(a, h, t);
		book_seek(a, h, distance(rq->span_offset, h->previous_end) / SECTOR);
	}
	h->asked = true;
	h->previous_end = ios_antic_end(rq);
}

/* The window doubles with each tick of waiting. Theirs is a 32-bit number: at 18 it is beyond any
 * disk, then nothing is left of it (trace x3292, antic_expire 21). */
static uint64_t close_window(uint64_t delay)
{
	if (delay == 18)
		return UINT64_MAX;
	return delay > 18 ? 0 : CLOSE << delay;
}

/* Would serving `rq` keep the head about where the awaited context will ask? */
static bool is_close(const struct anticipatory *a, const struct iosched_request *rq, uint64_t t)
{
	const struct habits *h = a->awaited;
	bool counting = a->antic != ANTIC_OFF && a->awaited_done;
	uint64_t delay = counting ? t - a->awaited_since : 0;
	uint64_t mean = h->seek.samples != 0 ? h->seek.mean : a->new_seek_total / ONE;
	uint64_t head = a->last_end[SYNC];
	uint64_t gap = distance(rq->span_offset, head);
	uint64_t window;

	if (delay > MAX_DELAY)
		return true;
	window = close_window(delay);
	return gap <= (rq->span_offset >= head ? window : window / 2) || gap / SECTOR < mean;
}

/* Somebody else's request comes where the awaited context would have asked. */
static void take_over(struct anticipatory *a, const struct iosched_request *rq, uint64_t t)
{
	struct habits *h = a->awaited;

	if (h->exited) {
		if (h->think.samples == 0)
			a->exit_chance = raised(a->exit_chance);
		a->exit_alone = lowered(a->exit_alone);
	}
	ios_antic_book(a, h, rq, t);
}

static const char *why_not_exited(struct anticipatory *a, const struct habits *h)
{
	if (h->think.samples == 0)
		a->exit_chance = raised(a->exit_chance);
	return a->exit_alone > HALF ? "it has exited, and nobody takes over" : NULL;
}

static const char *why_not_habits(const struct anticipatory *a, const struct habits *h)
{
	if (h->think.samples != 0)
		return h->think.mean > a->antic_expire ? "it thinks for too long" : NULL;
	if (a->new_think_total / ONE > a->antic_expire)
		return "new contexts think for too long";
	if (a->exit_chance * a->exit_alone > HALF * ONE)
		return "new contexts tend to exit, and nobody takes over";
	return NULL;
}

const char *ios_antic_why_not_wait(struct anticipatory *a, const struct iosched_request *rq,
				   uint64_t t)
{
	struct habits *h = a->awaited;
	const char *why = NULL;

	if (rq != NULL && ios_antic_habits(rq) == h)
		return "its request is here";
	if (a->awaited_done && t - a->awaited_since >= a->antic_expire)
		return "it has been waited for long enough";
	if (ios_antic_is_here(h))
		return "others of its requests are here";
	if (rq != NULL && ios_antic_side(rq) == SYNC && is_close(a, rq, t)) {
		take_over(a, rq, t);
		return "a request near is here";
	}
	if (h->exited)
		why = why_not_exited(a, h);
	return why != NULL ? why : why_not_habits(a, h);
}

void ios_antic_book_no_show(struct anticipatory *a)
{
	if (a->awaited->think.samples == 0)
		a->exit_chance = raised(a->exit_chance);
	if (a->awaited->exited)
		a->exit_alone = raised(a->exit_alone);
}
