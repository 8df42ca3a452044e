#!/usr/bin/env bash
# iosched seeds: the same with one job and with two, as table and as JSON, and refusals.
. "$(dirname "$0")/../workbench/common.sh"

expect 0 seeds sysbench-1 --runs 1 --jobs 1
cp "$tmp/out" "$tmp/one"
says one '^digest [0-9a-f]{16}$'
says one '^S1 +sysbench-1 +MB/s +cfq +2\.6\.28 +77\.8 '
says one '^policy +kernel'
expect 0 seeds sysbench-1 --runs 1 --jobs 2
cmp -s "$tmp/one" "$tmp/out" || complain "two jobs print something else than one"
expect 0 seeds sysbench-1 --runs 1 --policy noop
[ "$(grep -c '^S1 ' "$tmp/out")" -eq 1 ] || complain "--policy noop leaves others"

if have_json; then
	expect 0 seeds tps --runs 1 --policy cfq-2.6.32 --json
	[ "$(at .cells.0.policy)" = noop ] || complain "the base of the row is not there"
	[ "$(at .cells.1.policy)" = cfq ] || complain "cfq is not there"
	[ "$(at .cells.1.kernel)" = 2.6.32 ] || complain "cfq is not of 2.6.32"
	for key in seed cell unit reported simulated reported_ratio simulated_ratio error verdict; do
		at ".cells.1.$key" >/dev/null
	done
fi
if command -v gnuplot >/dev/null; then
	expect 0 seeds tps --runs 1 --policy cfq-2.6.32 --plot "$tmp/tps.svg"
	grep -q '<svg' "$tmp/tps.svg" || complain "no picture was drawn"
	# No report has a word of it, and there is one point.
	expect 0 seeds sysbench-1 --runs 1 --policy fair-deadline --plot "$tmp/ours.svg"
	[ ! -s "$tmp/err" ] || complain "gnuplot says: $(cat "$tmp/err")"
	grep -q '<svg' "$tmp/ours.svg" || complain "no picture was drawn"
	expect 2 seeds sysbench-1 --runs 1 --policy noop --plot "$tmp/none.svg"
	says err 'only bases are chosen'
fi

expect 2 seeds S9
says err 'no table or cell "S9"'
[ "$(grep -c '^  S2  nfs-4$' "$tmp/err")" -eq 1 ] || complain "the cells are not listed, each once"
expect 2 seeds --jobs 0
says err '\-\-jobs 0: wants a number'
expect 2 seeds --runs many
expect 2 seeds S1 S2
says err 'too many operands'
expect 2 seeds --plot tps.gif
exit $bad
