#!/usr/bin/env bash
# capture.sh: record the block requests of a real program, as the files beside
# this script were recorded. Run as root on a quiet Linux machine:
#
#   capture.sh pgbench|sysbench|dump|copy|fio FOLDER
#
# writes FOLDER/NAME.blkparse (text) and FOLDER/NAME.blktrace.CPU (binary, the
# same events) and prints how many there are of each.
#
# State, all of it undone when the script ends, however it ends: a temporary
# folder with a disk image, its loop device and mount, the slow disk's server,
# and the kernel's one block tracer.
#
# Rule: the image is filled through a fast loop device; only the load itself
# runs on the slow one, from cold caches, and only the load is traced.
set -euo pipefail

: "${SCHEDULER:=mq-deadline}" # of the traced device
: "${LATENCY:=3ms}"           # of each request on the slow disk, one at a time
: "${KEEP:=3600}"             # seconds of the trace to keep
: "${READ_AHEAD_KB:=128}"     # what a disk has; a loop device on FUSE reads ahead far more
: "${SECONDS_OF_LOAD:=10}"
# A loop device takes 128 requests at once and would leave nothing for the
# elevator to order; 4 is the smallest number the kernel lets us set.
: "${DEPTH:=4}"

tracefs=/sys/kernel/tracing
needs="blkparse nbdkit nbdfuse losetup mkfs.ext4 python3"
declare -A needs_of=([sysbench]=sysbench [dump]=dump [fio]=fio)

usage()
{
	sed -n '2,/^# writes/{s/^# \{0,1\}//p}' "$0" | head -n 4 >&2
	exit 2
}

die()
{
	echo "capture: $*" >&2
	exit 1
}

# Undo in reverse; every step is the opposite of one that succeeded.
undo=()
cleanup()
{
	local i
	set +e
	cd /
	for ((i = ${#undo[@]} - 1; i >= 0; i--)); do
		eval "${undo[i]}"
	done
}

at_exit()
{
	undo+=("$1")
}

undo_last()
{
	local last=$((${#undo[@]} - 1))
	eval "${undo[last]}"
	unset "undo[last]"
}

drop_caches()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# ---- the disk -------------------------------------------------------------

make_temp()
{
	tmp=$(mktemp -d)
	at_exit "rm -rf '$tmp'"
	chmod 711 "$tmp" # the database server is another user
	mnt=$tmp/mnt
	mkdir "$mnt" "$tmp/slow"
}

attach_fast()
{
	loop=$(losetup --find --show "$tmp/image")
	at_exit "losetup -d $loop"
}

attach_slow()
{
	nbdkit -f -U "$tmp/nbd.sock" --filter=noparallel --filter=delay file "$tmp/image" \
		serialize=all-requests rdelay="$LATENCY" wdelay="$LATENCY" &
	at_exit "kill $!; wait $! 2>/dev/null"
	wait_for "[ -S $tmp/nbd.sock ]"
	touch "$tmp/slow/disk"
	nbdfuse "$tmp/slow" "nbd+unix:///?socket=$tmp/nbd.sock" &
	at_exit "umount '$tmp/slow'; wait $! 2>/dev/null"
	wait_for "[ -s $tmp/slow/nbd ]"
	loop=$(losetup --find --show --direct-io=on "$tmp/slow/nbd")
	at_exit "losetup -d $loop"
	name=${loop#/dev/}
	# In this order: only without an elevator is nr_requests the device's own depth.
	echo none >"/sys/block/$name/queue/scheduler"
	echo "$DEPTH" >"/sys/block/$name/queue/nr_requests"
	echo "$SCHEDULER" >"/sys/block/$name/queue/scheduler"
	echo 1 >"/sys/block/$name/queue/rotational"
	echo "$READ_AHEAD_KB" >"/sys/block/$name/queue/read_ahead_kb"
}

wait_for()
{
	local i
	for i in $(seq 100); do
		! eval "$1" || return 0
		sleep 0.1
	done
	die "waited in vain for $1"
}

mount_disk()
{
	mount -o noatime "$loop" "$mnt"
	at_exit "umount '$mnt'"
}

# ---- the tracer -----------------------------------------------------------

open_tracer()
{
	if [ ! -e $tracefs/current_tracer ]; then
		mount -t tracefs none $tracefs || die "no tracefs"
		at_exit "umount $tracefs"
	fi
	[ "$(cat $tracefs/current_tracer)" = nop ] || die "somebody else is tracing"
	grep -qw blk $tracefs/available_tracers || die "this kernel has no blk tracer"
	local size
	size=$(sed 's/ .*//' $tracefs/buffer_size_kb)
	at_exit "echo nop >$tracefs/current_tracer; echo >$tracefs/trace
		echo nobin >$tracefs/trace_options; echo context-info >$tracefs/trace_options
		echo $size >$tracefs/buffer_size_kb"
	echo blk >$tracefs/current_tracer
	echo 32768 >$tracefs/buffer_size_kb
	echo >$tracefs/trace
	# Both are needed for blkparse to understand it.
	echo bin >$tracefs/trace_options
	echo nocontext-info >$tracefs/trace_options
}

trace_load()
{
	echo 1 >"/sys/block/$name/trace/enable"
	at_exit "echo 0 >/sys/block/$name/trace/enable"
	"load_$1"
	undo_last
	! grep -hE '^(overrun|dropped events): [1-9]' $tracefs/per_cpu/cpu*/stats ||
		die "the tracer lost events"
	# trace_pipe never ends; what there is comes at once.
	timeout 10 cat $tracefs/trace_pipe >"$tmp/raw" || true
	cat $tracefs/saved_cmdlines >"$tmp/names"
	[ -s "$tmp/raw" ] || die "nothing was traced"
}

# ---- the loads: fill_X prepares on the fast disk, ready_X and load_X run on the slow one

# Small shared_buffers: the pages come from the disk. The default fsync stays.
postgres()
{
	(cd / && runuser -u postgres -- "$@")
}

start_server()
{
	postgres "$pgbin/pg_ctl" -w -s -D "$mnt/pg" -l "$mnt/pg/log" \
		-o "-k $tmp/pgsock -c listen_addresses= -c shared_buffers=16MB" start
	at_exit "postgres '$pgbin/pg_ctl' -w -s -D '$mnt/pg' -m fast stop"
}

fill_pgbench()
{
	pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1) || die "no PostgreSQL server here"
	install -d -o postgres "$mnt/pg" "$tmp/pgsock"
	postgres "$pgbin/initdb" -A trust -D "$mnt/pg" >/dev/null
	start_server
	postgres "$pgbin/pgbench" -q -h "$tmp/pgsock" -i -s 30 postgres 2>/dev/null
	undo_last
}

ready_pgbench()
{
	start_server
}

load_pgbench()
{
	postgres "$pgbin/pgbench" -n -h "$tmp/pgsock" -c 8 -T "$SECONDS_OF_LOAD" postgres
}

fill_sysbench()
{
	(cd "$mnt" && sysbench fileio --file-num=16 --file-total-size=1G prepare >/dev/null)
}

load_sysbench()
{
	(cd "$mnt" && sysbench fileio --file-num=16 --file-total-size=1G --threads=5 \
		--time="$SECONDS_OF_LOAD" --file-test-mode=seqrd run)
}

# Files as they lie on a used disk: some are gone and newer ones are in the holes.
fill_dump()
{
	cp -r /usr/include /usr/share/perl "$mnt/"
	find "$mnt" -type f | sort | awk 'NR % 5 == 0' | xargs -d '\n' rm -f
	cp -r /usr/share/postgresql "$mnt/"
}

load_dump()
{
	dump -0 -f - "$loop" >/dev/null
}

# Reads of one process against the writeback of what it wrote.
fill_copy()
{
	mkdir "$mnt/from"
	cp -r /usr/share/perl /usr/share/postgresql "$mnt/from/"
	head -c 96M /dev/urandom >"$mnt/from/large"
}

load_copy()
{
	cp -r "$mnt/from" "$mnt/to"
	sync -f "$mnt"
}

fill_fio()
{
	run_fio --name=random --size=32M --create_only=1 >/dev/null
}

load_fio()
{
	run_fio --name=random --size=32M --time_based=1 --runtime="$SECONDS_OF_LOAD"
}

run_fio()
{
	fio --directory="$mnt" --rw=randread --bs=4k --numjobs=16 --ioengine=psync --direct=1 \
		--group_reporting "$@"
}

# ---------------------------------------------------------------------------

# The text is made from the binary files, so that they hold the same events.
write_result()
{
	rm -f "$2/$1".blktrace.*
	"$here/per_cpu.py" "$tmp/raw" "$tmp/names" "$KEEP" "$2/$1"
	blkparse -q -D "$2" -i "$1" -o "$2/$1.blkparse" >/dev/null
}

describe()
{
	echo "kernel $(uname -sr), $name, scheduler $SCHEDULER, depth $DEPTH, $LATENCY a request"
	wc -lc "$1"
	awk '{ n[$6]++ } END { for (a in n) print a, n[a] }' "$1" | sort
}

[ $# -eq 2 ] || usage
case $1 in pgbench | sysbench | dump | copy | fio) ;; *) usage ;; esac
[ "$(id -u)" -eq 0 ] || die "only root may trace"
[ -d "$2" ] || die "no folder $2"
for program in $needs ${needs_of[$1]:-}; do
	command -v "$program" >/dev/null || die "$program is not installed"
done
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

trap cleanup EXIT
trap 'exit 1' INT TERM HUP
make_temp
truncate -s 2G "$tmp/image"
mkfs.ext4 -q -F "$tmp/image"
attach_fast
mount_disk
"fill_$1"
undo_last
undo_last

attach_slow
# dump reads the device itself, and a file system at rest.
[ "$1" = dump ] || mount_disk
! declare -F "ready_$1" >/dev/null || "ready_$1"
open_tracer
drop_caches
trace_load "$1"
write_result "$1" "$out"
describe "$out/$1.blkparse"
