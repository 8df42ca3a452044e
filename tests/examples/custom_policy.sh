#!/bin/sh
# A policy from outside keeps the contract, and does what it is for.
. "${srcdir:-.}/tests/examples/lib.sh"

succeeds ./examples/custom_policy --check
says "quiet keeps the contract"
head -c 67108864 /dev/zero >"$tmp/file"
attempt() {
	succeeds ./examples/custom_policy "$tmp/file" 1
	cat "$tmp/out"
	awk '{ p50[$1] = $5 } END { exit !(p50["quiet"] * 2 < p50["noop"]) }' "$tmp/out"
}
# A reader that need not wait for a scrubber's 256 KiB: 100 times faster when the machine is ours.
attempt || attempt || attempt || fail "the reader waited half as long as with noop, or longer"
fails_with "No such file" ./examples/custom_policy "$tmp/absent"
