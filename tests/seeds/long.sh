#!/bin/sh
# The whole of the seed tables, three random seeds: with one job and with two the same, and every
# reported ratio in order and within 25 %.
set -eu
: "${builddir:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$builddir/examples/iosched" seeds --jobs 2 >"$tmp/two"
cat "$tmp/two"
"$builddir/examples/iosched" seeds --jobs 1 >"$tmp/one"
cmp "$tmp/one" "$tmp/two" || { echo "FAILED: one job prints something else than two"; exit 1; }
if grep -E ' (missed|order only)$' "$tmp/two"; then
	echo "FAILED: these are not as reported"
	exit 1
fi
