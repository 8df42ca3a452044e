/* SPDX-License-Identifier: MIT */
/*
 * The medium of a disk in real time: where its bytes are. A file, or memory, which is a file
 * without a name and is as large as what was written to it.
 */
#ifndef IOS_SIM_REALTIME_H
#define IOS_SIM_REALTIME_H

#include <iosched/sim.h>

struct ios_sim_media {
	int fd;
	bool named;	 /* a file of the user's: FLUSH means fdatasync */
	uint64_t length; /* bytes */
};

/* Returns 0 or -errno with a sentence. */
int ios_sim_media_open(struct ios_sim_media *m, const char *path, uint64_t length,
		       uint64_t capacity, struct iosched_sim_error *why);
void ios_sim_media_close(struct ios_sim_media *m);

/* Move at most @limit bytes of @io and count them in io->moved. Returns 0 or -errno. */
int ios_sim_media_move(const struct ios_sim_media *m, struct iosched_sim_disk_io *io,
		       uint64_t limit);

#endif
