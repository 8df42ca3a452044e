#!/usr/bin/env bash
# Two clients each read a file from its start, four READs on the road, on a 7200 rpm drive in real
# time. With one worker no policy has a choice. With enough workers a policy that knows whose
# a request is stays with one file for a while: more bytes in all, and as many for each. Taking
# the worker for who asks hides that.
#
#   workers.sh          what is asserted: ratios, the best of three tries
#   workers.sh table    the whole table, 1, 2, 4 and 8 workers; takes half a minute
. "$(dirname "$0")/lib.sh"
[ -x "$load" ] || skip "the NFS client was not built"

for f in 1 2; do truncate -s 200M "$tmp/export/$f"; done

# both POLICY CONTEXT WORKERS MS: sets one, two and sum, in KB/s
both()
{
	serve run --policy "$1" --context "$2" --workers "$3" --device hdd --depth 1 --transfer 65536
	"$load" read "$4" 4 65536 "$(url run /1)" >"$tmp/1" &
	local first=$!
	"$load" read "$4" 4 65536 "$(url run /2)" >"$tmp/2"
	wait "$first"
	stop run "$pid"
	one=$(($(cat "$tmp/1") / 1000)) two=$(($(cat "$tmp/2") / 1000))
	sum=$((one + two))
	printf '%-13s by %-6s %d workers: %5d + %5d = %5d KB/s\n' "$1" "$2" "$3" $one $two $sum
}

if [ "${1-}" = table ]; then
	for c in "noop file" "deadline file" "anticipatory worker" "anticipatory file" \
		"cfq-2.6.32 worker" "cfq-2.6.32 file"; do
		for w in 1 2 4 8; do
			# Two words on purpose.
			# shellcheck disable=SC2086
			both $c $w 1000
		done
	done
	exit 0
fi

for try in 1 2 3; do
	both cfq-2.6.32 file 1 800
	alone=$sum
	both noop file 8 800
	noop=$sum
	both cfq-2.6.32 file 8 1200
	less=$((one < two ? one : two)) more=$((one < two ? two : one))
	[ $((sum * 10)) -ge $((alone * 15)) ] && [ $((sum * 10)) -ge $((noop * 12)) ] &&
		[ $((less * 10)) -ge $((more * 5)) ] && exit 0
done
fail "8 workers by file should give 1.5 x one worker, 1.2 x noop, and each client half of the other's"
