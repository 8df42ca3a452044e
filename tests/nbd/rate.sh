#!/usr/bin/env bash
# What the filter costs: requests a second with noop, against the same filter with its queue
# left out, in turns of 50 ms in one run. A busy machine can only make the ratio wrong, so
# the best of three counts.
. "$(dirname "$0")/lib.sh"
[ -x "$client" ] || skip "no libnbd here (libnbd-dev)"

serve_prompt=$prompt
serve bypass --filter="$filter" memory 64M
serve noop --filter="$filter" memory 64M iosched-policy=noop iosched-depth=64
best=0
for try in 1 2 3; do
	# shellcheck disable=SC2086
	line=$($prompt "$client" rate 30 "$(uri bypass)" "$(uri noop)")
	echo "noop / bypass in thousandths: $line"
	[ "${line%% *}" -le "$best" ] || best=${line%% *}
	[ "$best" -lt 900 ] || exit 0
done
fail "noop is below 0.9 of bypass: $best thousandths"
