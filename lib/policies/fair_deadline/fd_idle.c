/* SPDX-License-Identifier: MIT */
/*
 * fd_idle: when the idle class may go.
 *
 * Never while a better class has anything. Then, one request at a time when those have been quiet
 * for a grace period; and as much as is short beside the pauses they make. `gap` is the mean of
 * those pauses; `idle_lat` the mean time of an idle request in the device, and back where the arm
 * was. With at most half a pause's worth of them in the device the others wait a quarter of their
 * pauses for it on average, and half at most, whatever the device. On a disk that is seldom more
 * than the grace period gives; on flash a log that writes every 10 ms does not stop an update.
 * When nothing better has come for a second, it goes as if there were no classes.
 *
 * One request a second goes whenever the others have nothing, so that what it costs is known.
 */
#include "policies/fair_deadline/fd.h"

#define PAUSE_RATE 8 /* of both means: a handful tells */
#define GAP_PART 2
#define PROBE_EVERY_NS FD_SEC
#define QUIET_NS FD_SEC /* what comes less often than this does not mind */

static bool better_in_flight(const struct fd *d)
{
	return d->cls[IOSCHED_REALTIME].infl + d->cls[IOSCHED_BEST_EFFORT].infl != 0;
}

static bool better_queued(const struct fd *d)
{
	return d->cls[IOSCHED_REALTIME].nq + d->cls[IOSCHED_BEST_EFFORT].nq != 0;
}

static uint64_t average(uint64_t mean, uint64_t x)
{
	return mean == 0 ? x : (mean * (PAUSE_RATE - 1) + x) / PAUSE_RATE;
}

/* A request of a better class arrives, and the idle class has something. */
void ios_fd_idle_pause_over(struct fd *d, iosched_time now)
{
	if (fd_better_last(d) != 0 && !better_in_flight(d) && !better_queued(d))
		d->gap = average(d->gap,
				 fd_min(fd_ago(now, fd_better_last(d)), 4 * d->t.idle_grace_ns));
}

/* One of the idle class's is done. What a cache has swallowed is not. */
void ios_fd_idle_done(struct fd *d, const struct iosched_request *rq, iosched_time now)
{
	uint64_t took = fd_ago(now, rq->dispatched);

	if (d->mode == FD_SERIAL && d->wce && rq->op != IOSCHED_READ)
		took = fd_max(took, d->t_pos + fd_bytes_ns(rq->span_length, d->c_byte));
	if (d->mode == FD_SERIAL)
		took += d->t_pos;
	d->idle_lat = average(d->idle_lat, took);
}

/* What lies in a drive's cache still is waited for as well. */
static bool short_beside_pauses(const struct fd *d, uint64_t quiet, iosched_time now)
{
	uint32_t n = d->cls[IOSCHED_IDLE].infl + 1;
	uint64_t dirt = d->mode == FD_SERIAL && d->wce ? ios_fd_dirty(d, now) : 0;

	return d->idle_lat != 0 && (n * d->idle_lat + dirt) * GAP_PART <= fd_max(d->gap, quiet);
}

/* Nothing better is QUEUED. false, with a pause: not yet. */
bool ios_fd_idle_may_go(const struct fd *d, iosched_time now, struct iosched_pause *pause)
{
	uint64_t quiet = fd_ago(now, fd_better_last(d));
	bool alone = d->cls[IOSCHED_IDLE].infl == 0;
	bool probe = d->idle_sent == 0 || fd_ago(now, d->idle_sent) >= PROBE_EVERY_NS;

	if (better_in_flight(d)) {
		ios_fd_busy(pause);
		return false;
	}
	if (fd_better_last(d) == 0 || quiet >= QUIET_NS || short_beside_pauses(d, quiet, now) ||
	    (alone && (probe || quiet >= d->t.idle_grace_ns)))
		return true;
	if (alone)
		ios_fd_wait(pause, IOSCHED_HOLD_IDLING, fd_better_last(d) + d->t.idle_grace_ns);
	else
		ios_fd_busy(pause);
	return false;
}
