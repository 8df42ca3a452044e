#!/bin/sh
# The io_uring engine: real I/O under every policy, cancel, shutdown, errors, kill -9, the demo.
. "${srcdir:-.}/tests/examples/lib.sh"
. "$srcdir/tests/examples/engines.sh"
engine=./examples/uring_engine
[ -x $engine ] || skip "built without liburing"
run $engine "$tmp/file" --seconds 0.1 ||
	if grep -qE "Function not implemented|Operation not permitted" "$tmp/err"; then
		skip "no io_uring here: $(cat "$tmp/err")"
	fi
real_io
abandon
errors
killed

for policy in --bypass $(policies | sed 's/[^ ][^ ]*/--policy=&/g'); do
	succeeds $engine "$tmp/file" "$policy" --cancels --clients 4 --depth 200 --stride 2 \
		--seconds 0.3
	[ "$policy" = --bypass ] || says "0 errors, [1-9][0-9]* cancelled"
done

# Page cache where O_DIRECT is refused; a block device where one can be made.
fails_with "page cache" $engine /dev/full --seconds 5
if loop=$(truncate -s 64M "$tmp/image" && losetup --find --show "$tmp/image" 2>/dev/null); then
	trap 'losetup -d "$loop"; rm -rf "$tmp"' EXIT
	succeeds $engine "$loop" --seconds 0.5
else
	echo "no loop device here: block device not tried"
fi

# An emulated disk: all of the above, and one that answers some late with an error, has a bad place, dies.
truncate -s 64M "$tmp/disk"
for policy in deadline fair-deadline; do
	succeeds $engine "$tmp/disk" --disk null --policy $policy --seconds 0.2
	succeeds $engine "$tmp/disk" --disk hdd --policy $policy --abandon --clients 4 --depth 1000 \
		--stride 2 --seconds 0.1
	says "0 errors, [0-9]{3,} cancelled"
	fails_with "Connection timed out" $engine "$tmp/disk" --policy $policy --depth 200 --seconds 0.4 \
		--disk fault,member=null,timeouts=20000,timeout=100ms
	fails_with "Input/output error" $engine "$tmp/disk" --policy $policy --depth 200 --seconds 0.4 \
		--disk fault,member=null,bad_offset=1MB,bad_length=64KiB,error_time=1ms
	fails_with "No such device" $engine "$tmp/disk" --policy $policy --depth 200 --seconds 0.4 \
		--disk fault,member=null,dead_after=100ms
done
fails_with "no device .floppy" $engine "$tmp/disk" --disk floppy
fails_with "no parameter .colour" $engine "$tmp/disk" --disk hdd,colour=red
fails_with "more than 8 settings" $engine "$tmp/disk" --disk hdd,a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9

succeeds $engine "$tmp/demo" --demo --seconds 0.3
for policy in '\(bypass\)' $(policies); do
	[ "$(grep -Ec "^$policy +(log commits|compaction|point reads) .* p99.9 +[0-9.]+ us$" \
		"$tmp/out")" = 5 ] || { cat "$tmp/out"; fail "$policy: not five streams"; }
done
cat "$tmp/out"
