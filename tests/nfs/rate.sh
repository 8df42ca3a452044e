#!/usr/bin/env bash
# What the queue costs: bytes a second with noop, against the same server without a queue, in turns
# of 50 ms in one run, before all other programs where that is allowed (0.8 to 1.02 then, 0.5 to 1.4 beside a
# busy machine's). They can only make the ratio wrong: the best of three counts.
. "$(dirname "$0")/lib.sh"
[ -x "$load" ] || skip "the NFS client was not built"

head -c 16777216 /dev/urandom >"$tmp/export/file"
serve_prompt=$prompt
serve bypass --policy bypass
serve noop --policy noop
best=0
for try in 1 2 3; do
	# shellcheck disable=SC2086
	line=$($prompt "$load" rate 30 8 65536 "$(url bypass /file)" "$(url noop /file)")
	echo "noop / bypass in thousandths: $line"
	[ "${line%% *}" -le "$best" ] || best=${line%% *}
	[ "$best" -lt 900 ] || exit 0
done
fail "noop is below 0.9 of bypass: $best thousandths"
