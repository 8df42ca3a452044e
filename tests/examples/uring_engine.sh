#!/bin/sh
# The io_uring engine: real I/O under every policy, cancel, shutdown, errors, kill -9, the demo.
. "${srcdir:-.}/tests/examples/lib.sh"
. "$srcdir/tests/examples/engines.sh"
engine=./examples/uring_engine
[ -x $engine ] || skip "built without liburing"
run $engine "$tmp/file" --seconds 0.1 ||
	if grep -qE "Function not implemented|Operation not permitted" "$tmp/err"; then
		skip "no io_uring here: $(cat "$tmp/err")"
	fi
real_io
abandon
errors
killed

for policy in --bypass $(policies | sed 's/[^ ][^ ]*/--policy=&/g'); do
	succeeds $engine "$tmp/file" "$policy" --cancels --clients 4 --depth 200 --stride 2 \
		--seconds 0.3
	[ "$policy" = --bypass ] || says "0 errors, [1-9][0-9]* cancelled"
done

# Page cache where O_DIRECT is refused; a block device where one can be made.
fails_with "page cache" $engine /dev/full --seconds 5
if loop=$(truncate -s 64M "$tmp/image" && losetup --find --show "$tmp/image" 2>/dev/null); then
	trap 'losetup -d "$loop"; rm -rf "$tmp"' EXIT
	succeeds $engine "$loop" --seconds 0.5
else
	echo "no loop device here: block device not tried"
fi

succeeds $engine "$tmp/demo" --demo --seconds 0.3
for policy in '\(bypass\)' $(policies); do
	[ "$(grep -Ec "^$policy +(log commits|compaction|point reads) .* p99.9 +[0-9.]+ us$" \
		"$tmp/out")" = 5 ] || { cat "$tmp/out"; fail "$policy: not five streams"; }
done
cat "$tmp/out"
