#!/bin/sh
# A policy from outside runs in a scenario beside ours, and is what its page says it is.
. "${srcdir:-.}/tests/examples/lib.sh"

scenario=$srcdir/tests/scenarios/doc/sizes.scn
succeeds ./examples/policy_lab "$scenario"
cat "$tmp/out"
for policy in noop deadline smallest; do
	says "^$policy "
done
says 'p50_total.small. deadline <= 1 . noop   .[0-9]'
awk '{ p50[$1] = $5 } END { exit !(p50["smallest"] * 2 < p50["noop"]) }' "$tmp/out" ||
	fail "with smallest the median request is done no sooner than in half of noop's time"
fails_with "No such file" ./examples/policy_lab "$tmp/absent"
fails_with ":1: " ./examples/policy_lab "$srcdir/LICENSE"
