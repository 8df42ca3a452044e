#!/bin/sh
# A database's day on a 7200 rpm disk in real time: a log that commits, two compactions, point reads.
# Under fair-deadline the slowest commits take a fifth of what they take under noop, or less,
# and 0.95 of the bytes are moved, or more.
#
# In turns, medians of each. In make check one turn, and less is asked for (2.5 times, 0.85): its forty
# commits make a 99th percentile that one late thread can spoil. `make bench-demo` asks for all.
. "${srcdir:-.}/tests/examples/lib.sh"
engine=./examples/uring_engine
[ -x $engine ] || skip "built without liburing"
turns=${DEMO_TURNS:-1}
seconds=${DEMO_SECONDS:-8}
faster=${DEMO_FASTER:-2.5}
rate=${DEMO_RATE:-0.85}

# The data in memory: the emulated disk shall be the only one. Each of its answers wakes a thread; where
# that is allowed other programs do not come before.
dir=$tmp
if [ -d /dev/shm ] && dir=$(mktemp -d /dev/shm/iosched.XXXXXX); then
	trap 'rm -rf "$tmp" "$dir"' EXIT
fi
first=
chrt -f 10 true 2>/dev/null && first="chrt -f 10"

# measure POLICY: p99 of a commit in us, MB/s in all
measure() {
	# shellcheck disable=SC2086
	succeeds $first $engine "$dir/disk" --disk hdd,write_cache=0 --demo --policy "$1" \
		--seconds "$seconds"
	sed -n 's/.* log commits .* p99  *\([0-9.]*\) .*/\1/p; s/^[^ ]*  *all  *\([0-9.]*\) MB.*/\1/p' \
		"$tmp/out" | tr '\n' ' '
	echo
}

# median COLUMN FILE
median() {
	sort -n -k "$1" "$2" | awk -v k="$1" '{ v[NR] = $k } END { print v[int((NR + 1) / 2)] }'
}

attempt() {
	: >"$tmp/noop"
	: >"$tmp/fair"
	i=0
	while [ $i -lt "$turns" ]; do
		measure noop >>"$tmp/noop" || exit 1
		measure fair-deadline >>"$tmp/fair" || exit 1
		i=$((i + 1))
	done
	echo "$(median 1 "$tmp/noop") $(median 1 "$tmp/fair") $(median 2 "$tmp/noop")" \
		"$(median 2 "$tmp/fair")" | awk -v faster="$faster" -v rate="$rate" '
		NF != 4 { exit 1 }
		{ printf "log p99 %.1f ms under noop, %.1f under fair-deadline: %.1f times faster; " \
			"%.1f and %.1f MB/s: %.2f\n", $1 / 1e3, $2 / 1e3, $1 / $2, $3, $4, $4 / $3
		  exit !($1 >= faster * $2 && $4 >= rate * $3) }'
}

# A busy machine only ever makes it worse.
attempt || attempt || attempt || fail "not $faster times faster at $rate of the throughput"
