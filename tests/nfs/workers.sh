#!/usr/bin/env bash
# Two clients each read a file from its start, four READs on the road, on a 7200 rpm drive in real
# time. With one worker no policy has a choice. With enough workers a policy that knows whose
# a request is stays with one file for a while: more bytes in all, and as many for each. Taking
# the worker for who asks hides that.
#
#   workers.sh          what is asserted: ratios, the best of three tries
#   workers.sh table 3  medians of 3 rounds of all policies at 1, 2, 4 and 8 workers, 3 minutes; fails
#                       if fair-deadline has less than 0.95 of the best other anywhere
. "$(dirname "$0")/lib.sh"
[ -x "$load" ] || skip "the NFS client was not built"

serve_prompt=$prompt
for f in 1 2; do truncate -s 200M "$tmp/export/$f"; done

# both POLICY CONTEXT WORKERS MS: sets one, two and sum, in KB/s
both()
{
	serve run --policy "$1" --context "$2" --workers "$3" --device hdd --depth 1 --transfer 65536
	# shellcheck disable=SC2086
	$prompt "$load" read "$4" 4 65536 "$(url run /1)" >"$tmp/1" &
	local first=$!
	# shellcheck disable=SC2086
	$prompt "$load" read "$4" 4 65536 "$(url run /2)" >"$tmp/2"
	wait "$first"
	stop run "$pid"
	one=$(($(cat "$tmp/1") / 1000)) two=$(($(cat "$tmp/2") / 1000))
	sum=$((one + two))
	printf '%-13s by %-6s %d workers: %5d + %5d = %5d KB/s\n' "$1" "$2" "$3" $one $two $sum
}

policies="noop deadline mq-deadline anticipatory cfq cfq-2.6.32 fair-deadline"

# best_other and fair of the lines "POLICY WORKERS SUM" in $tmp/sums, medians, for one number of workers
judge()
{
	sort -k 1,1 -k 3,3n "$tmp/sums" | awk -v w="$1" '
		$2 == w { v[$1] = v[$1] " " $3 }
		END {
			for (p in v) {
				n = split(v[p], a, " ")
				m[p] = a[int((n + 1) / 2)]
				if (p != "fair-deadline" && m[p] > best) { best = m[p]; name = p }
			}
			printf "%d workers: fair-deadline %d KB/s, %s %d: %.2f\n", w,
				m["fair-deadline"], name, best, m["fair-deadline"] / best
			exit !(m["fair-deadline"] >= 0.95 * best)
		}'
}

if [ "${1-}" = table ]; then
	rounds=${2:-3}
	: >"$tmp/sums"
	for round in $(seq "$rounds"); do
		for w in 1 2 4 8; do
			for p in $policies; do
				both "$p" file "$w" 2000
				echo "$p $w $sum" >>"$tmp/sums"
			done
		done
	done
	for p in anticipatory cfq-2.6.32 fair-deadline; do both "$p" worker 8 2000; done
	less=0
	for w in 1 2 4 8; do judge "$w" || less=1; done
	exit $less
fi

# the_best WORKERS: fair-deadline has 0.9 of the best of those that wait for a file's reader
the_best()
{
	local best=0 p
	for p in anticipatory cfq-2.6.32; do
		both "$p" file "$1" 1200
		best=$((sum > best ? sum : best))
	done
	both fair-deadline file "$1" 1200
	[ $((sum * 10)) -ge $((best * 9)) ]
}

for try in 1 2 3; do
	both cfq-2.6.32 file 1 800
	alone=$sum
	both noop file 8 800
	noop=$sum
	both cfq-2.6.32 file 8 1200
	less=$((one < two ? one : two)) more=$((one < two ? two : one))
	[ $((sum * 10)) -ge $((alone * 15)) ] && [ $((sum * 10)) -ge $((noop * 12)) ] &&
		[ $((less * 10)) -ge $((more * 5)) ] && the_best 4 && the_best 8 && exit 0
done
fail "8 workers by file should give 1.5 x one worker, 1.2 x noop, each client half of the other's, and fair-deadline 0.9 of the best"
