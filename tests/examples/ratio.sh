#!/bin/sh
# What the library costs: each embedding with noop against itself without a queue, in turns in one
# run. Page cache, 4 KiB reads, nothing to merge: the dearest case for the library. Throughput must
# be 0.9 of that without, and so must requests per CPU second, which a shared machine
# disturbs less. Single runs differ by a factor of two there, so the median of many short pairs is
# asked for, and three attempts are allowed.
#
# The io_uring engine is held at 0.9: where that is allowed it runs before all other programs, which makes
# its figures those of a quiet machine. The others have several threads at one mutex, and what a lock
# costs depends on who is preempted: first in, first out, would measure another program. For them RATIO_LEAST asks
# for less than 0.9 in make check; `make bench-ratio` asks for 0.9 of all.
. "${srcdir:-.}/tests/examples/lib.sh"
pairs=${RATIO_PAIRS:-15}
least=${RATIO_LEAST:-0.75}

# requests per second, us of CPU per request
measure() {
	succeeds "$@"
	sed -n 's/.* \([0-9]*\) requests\/s, \([0-9.]*\) us of CPU.*/\1 \2/p' "$tmp/out"
}

# pairs: the ratios of one pair a line. The second of two runs has the warmer cache: take turns.
pairs() {
	i=0
	while [ $i -lt "$pairs" ]; do
		i=$((i + 1))
		if [ $((i % 2)) = 0 ]; then
			with=$(measure "$@" --policy noop) && without=$(measure "$@" --bypass)
		else
			without=$(measure "$@" --bypass) && with=$(measure "$@" --policy noop)
		fi || return 1
		echo "$with $without" | awk '{ print $1 / $3, $4 / $2 }'
	done
}

# median COLUMN: and the least and the most
median() {
	sort -n -k "$1" "$tmp/pairs" |
		awk -v k="$1" '{ v[NR] = $k } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

check() {
	name=$1
	shift
	for _ in 1 2 3; do
		pairs "$@" >"$tmp/pairs" || fail "$name does not run"
		rate=$(median 1)
		cpu=$(median 2)
		echo "$name: noop / bypass (median, least, most): throughput $rate, per CPU second $cpu"
		awk -v a="${rate%% *}" -v b="${cpu%% *}" -v least=$least \
			'BEGIN { exit !(a >= least && b >= least) }' && return 0
	done
	fail "$name: less than $least of its throughput without a queue"
}

check threaded_queue ./examples/threaded_queue "$tmp/a" --reads --stride 2 --seconds 0.12
check push_adapter ./examples/push_adapter "$tmp/b" --apart --seconds 0.12
if [ -x examples/uring_engine ]; then
	# By the page cache: a disk would hide any cost. Not on tmpfs, whose reads io_uring gives to threads of the
	# kernel: then it is they that are measured.
	first=
	chrt -f 5 true 2>/dev/null && first="chrt -f 5" && least=0.9
	# shellcheck disable=SC2086
	check uring_engine $first ./examples/uring_engine "$tmp/c" --buffered --reads --stride 2 \
		--seconds 0.12
fi
exit 0
