/* SPDX-License-Identifier: MIT */
/*
 * Rule: runs are long enough for some hundred visits of a disk, or some ten thousand requests of
 * flash, and for several collections where there are any.
 */
#include "devices.h"

#define DISK "22s", "2s", "100ms", ONE_ARM
#define SLOW_FLASH "12s", "2s", "100ms", CHANNELS
#define FLASH "1200ms", "200ms", "5ms", CHANNELS
#define FAST_FLASH "500ms", "100ms", "5ms", CHANNELS

const struct device devices[] = {
	{"hdd-5400", "hdd-5400", DISK},
	{"hdd-5400-wt", "hdd-5400-wt", DISK},
	{"hdd-10k", "hdd-10k", DISK},
	{"hdd-4200", "hdd-4200", DISK},
	{"raid0-2", "raid0-2", DISK},
	{"raid0-2-wt", "raid0-2-wt", DISK},
	{"emmc", "emmc", SLOW_FLASH},
	{"nvme", "nvme", FAST_FLASH},
	{"ssd-stalls", "ssd-stalls", "2200ms", "200ms", "5ms", CHANNELS},

	/* A 15 000 rpm disk behind a host adapter, write cache off. */
	{"sas-15k-wt", "hdd-15k-sas depth=64", DISK},
	/* A drive-managed shingled disk: a cache that takes a quarter of a gigabyte and empties in
	 * small pieces, late. */
	{"late-destage",
	 "hdd rate_outer=180MB/s rate_inner=90MB/s rpm=5900 seek_average=11ms seek_full=20ms "
	 "write_cache=256MiB destage_size=64KiB destage_percent=95 destage_age=20s "
	 "destage_idle=500ms flush_blocks_writes=on",
	 DISK},
	/* Deep queue, an old drive that ages its commands late. */
	{"late-ageing", "hdd-110 depth=128 ncq_window=128 ncq_age=4s", DISK},
	/* Large and fast, 32 commands. */
	{"hdd-large",
	 "hdd capacity=16TB rate_outer=260MB/s rate_inner=120MB/s seek_average=8ms "
	 "seek_full=16ms write_cache=64MiB depth=32",
	 DISK},
	/* A third of the disk answers 20 ms late: reallocated sectors. */
	{"slow-region", "fault member=hdd slow_offset=80GB slow_length=80GB slow_time=20ms", DISK},
	/* Twenty-four disks without a controller cache. */
	{"raid0-24", "raid disks=24 mirrors=1 write_cache=0 ahead_ring=0 depth=256", "6s", "1s",
	 "50ms", CHANNELS},
	/* Four in RAID 10 behind a small non-volatile cache. */
	{"raid10-4", "raid10-4", "8s", "1s", "50ms", CHANNELS},
	/* A disk across a bad network: 2 ms each way, 1 ms jitter. */
	{"net-far-disk", "net member=hdd-128 latency=2ms jitter=1ms rate=117MB/s", DISK},
	/* The SD card of a camera. */
	{"sd", "sd", SLOW_FLASH},
	/* A SATA drive of four channels that collects 10 ms for each 8 MiB written. */
	{"ssd-collects",
	 "ssd channels=4 read_latency=60us write_latency=200us link_rate=550MB/s "
	 "collect_bytes=8MiB collect_time=10ms",
	 FLASH},
	/* An NVMe drive across a network whose delays vary. */
	{"net-nvme", "net member=nvme latency=30us jitter=200us rate=3GB/s ordered=off",
	 FAST_FLASH},
	/* Cheap NVMe: eight ways, writes slow, no memory. */
	{"nvme-cheap",
	 "ssd channels=8 depth=128 read_latency=60us read_rate=300MB/s write_latency=600us "
	 "write_rate=60MB/s link_rate=2GB/s overhead=8us",
	 FLASH},
};

const unsigned device_count = sizeof(devices) / sizeof(devices[0]);
