#!/bin/sh
# hello reads every block it asks for, merged or not, under every policy, and says what is wrong.
. "${srcdir:-.}/tests/examples/lib.sh"

head -c 409600 /dev/urandom >"$tmp/file"
for policy in $(policies); do
	succeeds ./examples/hello "$tmp/file" "$policy"
	requests=$(awk '{ n += $3 } END { print n }' "$tmp/out")
	[ "$requests" = 64 ] || fail "$policy: $requests of 64 requests"
done
succeeds ./examples/hello "$tmp/file" deadline
awk '{ if ($1 < last) bad = 1; last = $1 } END { exit bad }' "$tmp/out" ||
	fail "deadline did not sweep in offset order"

head -c 40960 "$tmp/file" >"$tmp/shorter"
head -c 100 "$tmp/file" >"$tmp/tiny"
succeeds ./examples/hello "$tmp/shorter"
fails_with "No such file" ./examples/hello "$tmp/absent"
fails_with "No data available" ./examples/hello "$tmp/tiny"
run ./examples/hello "$tmp/file" no-such-policy
[ "$status" = 2 ] || fail "an unknown policy is a usage error"
