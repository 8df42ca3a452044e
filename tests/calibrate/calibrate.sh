#!/bin/sh
# The disk model against measured service times of two real drives: fitted anew, and as fitted in
# tests/devices, the demerit over the half of the trace that was not fitted is at most 15 % of the mean, and
# the figures in the device files are those the tool prints.
src=${srcdir:-.}
tool=$builddir/tests/calibrate/calibrate_disk
traces=${IOSCHED_TRACES:-$src/../shared/traces}
limit=15

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

# The share in a line of figures that begins with $1.
share()
{
	sed -n "s/^# $1 .*= \([0-9.]*\) %\$/\1/p"
}

within()
{
	[ -n "$2" ] || fail "$1: no figure"
	awk "BEGIN { exit !($2 <= $limit) }" || fail "$1: demerit $2 % of the mean, over $limit %"
	echo "$1: demerit $2 % of the mean"
}

"$tool" >/dev/null 2>&1 && fail "the tool runs without a trace"
"$tool" "$src/tests/calibrate/calibrate.sh" >/dev/null 2>&1 && fail "the tool takes a script for a trace"

found=0
for drive in ibm18es-head3000 hp_c2490a-head2000; do
	trace=$traces/disksim-validate-$drive.trace
	name=${drive%-*}
	device=$src/tests/devices/$name.conf
	[ -r "$trace" ] || continue
	found=$((found + 1))
	figures=$("$tool" -c -d "$device" "$trace") || fail "$name: the device file is refused"
	within "$name as fitted" "$(echo "$figures" | share 'second half')"
	echo "$figures" | while IFS= read -r line; do
		grep -qxF "$line" "$device" || fail "$name: the device file does not say: $line"
	done || exit 1
	figures=$("$tool" -d "$src/tests/calibrate/$name.start.conf" "$trace") || fail "$name: no fit"
	within "$name fitted anew" "$(echo "$figures" | share 'second half')"
done
for drive in atlas10k cheetah9LP; do
	[ -r "$traces/disksim-$drive.seek" ] && [ $found -eq 2 ] || continue
	"$tool" -c -d "$src/tests/devices/ibm18es.conf" \
		"$traces/disksim-validate-ibm18es-head3000.trace" "$traces/disksim-$drive.seek" |
		grep -q "^# Seek curve .*rms error" || fail "$drive: no figure of the seek curve"
done
if [ $found -lt 2 ]; then
	echo "SKIP: no traces of real drives in $traces; IOSCHED_TRACES names their folder"
	exit 77
fi
