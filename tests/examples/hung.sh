#!/bin/sh
# A disk that does not answer, and one that never will: a file that a stopped process stands behind. What is
# queued comes back at once when the clients give up, what is with the disk when it answers
# again, or with an error when it dies. Nothing is lost, or a program would wait for ever.
. "${srcdir:-.}/tests/examples/lib.sh"
command -v nbdfuse >/dev/null && command -v nbdkit >/dev/null ||
	skip "no nbdkit and nbdfuse to stand behind a file"
[ -w /dev/fuse ] || skip "no FUSE here"
disk=
fuse=
end_disk() {
	[ -z "$disk" ] || kill -9 "$disk"
	[ -z "$fuse" ] || kill "$fuse"
	[ -z "$fuse" ] || wait "$fuse"
	# It may have left without its disk.
	[ -z "$fuse" ] || umount -l "$tmp/mnt" || fusermount3 -uz "$tmp/mnt"
	disk=
	fuse=
} 2>/dev/null
trap 'end_disk; rm -rf "$tmp"' EXIT

# until_true COMMAND...: for 10 s
until_true() {
	n=0
	until "$@"; do
		n=$((n + 1))
		[ $n -lt 200 ] || return 1
		sleep 0.05
	done
}

begin_disk() {
	rm -f "$tmp/socket"
	mkdir -p "$tmp/mnt"
	nbdkit -f -U "$tmp/socket" -t 64 memory 64M 2>"$tmp/disk.log" &
	disk=$!
	until_true [ -S "$tmp/socket" ] || { cat "$tmp/disk.log"; fail "nbdkit did not start"; }
	nbdfuse "$tmp/mnt" --unix "$tmp/socket" 2>"$tmp/fuse.log" &
	fuse=$!
	until_true [ -f "$tmp/mnt/nbd" ] || skip "nbdfuse cannot mount: $(cat "$tmp/fuse.log")"
}

# stopped ENGINE OPTIONS...: runs on a disk that stops after a moment; sets pid
stopped() {
	"$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep 0.4 # much less than it runs: a busy machine may make it more
	kill -STOP $disk
	sleep 1.8 # its time is over, and it has given up what was queued
	kill -0 $pid 2>/dev/null || { cat "$tmp/out" "$tmp/err"; fail "$* did not wait for the disk"; }
}

# ends STATUS: within 20 s
ends() {
	n=0
	while kill -0 $pid 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 400 ] || { kill -9 $pid; fail "something is lost: it does not end"; }
		sleep 0.05
	done
	wait $pid
	status=$?
	[ $status = "$1" ] || { cat "$tmp/out" "$tmp/err"; fail "status $status, not $1"; }
}

for engine in threaded_queue uring_engine push_adapter; do
	[ -x examples/$engine ] || continue
	many="--clients 4 --depth 1000 --abandon"
	[ $engine != push_adapter ] || many=
	for policy in fair-deadline; do
		begin_disk
		# shellcheck disable=SC2086
		stopped ./examples/$engine "$tmp/mnt/nbd" --policy $policy $many --seconds 1.6
		kill -CONT $disk
		ends 0
		says "0 errors"
		# shellcheck disable=SC2086
		stopped ./examples/$engine "$tmp/mnt/nbd" --policy $policy $many --seconds 1.6
		kill -9 $disk
		wait $disk 2>/dev/null
		disk=
		ends 1
		says "[1-9][0-9]* errors"
		end_disk
		echo "$engine, $policy: $(tail -n 1 "$tmp/out")"
	done
done
