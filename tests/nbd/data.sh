#!/usr/bin/env bash
# Every byte that a real client wrote through the filter is read back, under every policy: our own
# client with 64 requests in flight, nbdcopy both ways, qemu-io, fio.
. "$(dirname "$0")/lib.sh"

list=$(policies)
[ "$(wc -w <<<"$list")" -ge 4 ] || fail "policies found: $list"

head -c 8388608 /dev/urandom >"$tmp/in"
for p in $list; do
	serve "$p" --filter="$filter" memory 8M "iosched-policy=$p" "iosched-stats=$tmp/$p.stats"
	if [ -x "$client" ]; then
		"$client" verify "$(uri "$p")" || fail "data under $p"
	fi
	if command -v nbdcopy >/dev/null; then
		nbdcopy "$tmp/in" "$(uri "$p")"
		nbdcopy "$(uri "$p")" "$tmp/out"
		cmp "$tmp/in" "$tmp/out" || fail "nbdcopy under $p"
	fi
	end_servers
	conserved "$tmp/$p.stats"
	[ "$(number "$tmp/$p.stats" inserted)" -gt 0 ] || skip "neither libnbd-dev nor nbdcopy here"
done
echo "data is exact under: ${list//$'\n'/ }"

# Flush, trim, zero and FUA reach the plugin; the emulated disk keeps its data in a file.
if command -v qemu-io >/dev/null; then
	serve q --filter="$filter" "$disk" device=null size=8M file="$tmp/image" iosched-policy=deadline
	qemu-io -f raw "$(uri q)" -c 'write -P 0x5a 0 1M' -c 'write -f -P 0xa5 1M 64k' \
		-c 'flush' -c 'read -P 0x5a 0 1M' -c 'read -P 0xa5 1M 64k' -c 'write -z 0 512k' \
		-c 'read -P 0 0 512k' -c 'discard 1M 64k' -c 'read -P 0x5a 512k 512k' >"$tmp/q.out" 2>&1 ||
		{ cat "$tmp/q.out"; fail "qemu-io"; }
	! grep -iE 'fail|error|mismatch' "$tmp/q.out" || fail "qemu-io"
	end_servers
	[ "$(od -An -tx1 -j 1000000 -N 1 "$tmp/image" | tr -d ' ')" = 5a ] || fail "the file behind the disk"
	echo "qemu-io is content"
fi

# Exports of one filter are different disks unless it is told otherwise: never merged.
mkdir "$tmp/dir"
head -c 1048576 /dev/zero | tr '\0' a >"$tmp/dir/a"
head -c 1048576 /dev/zero | tr '\0' b >"$tmp/dir/b"
if command -v nbdcopy >/dev/null; then
	serve x --filter="$filter" file dir="$tmp/dir" iosched-policy=deadline iosched-depth=1
	nbdcopy --request-size=4096 "$(uri x a)" "$tmp/a" &
	copying=$!
	nbdcopy --request-size=4096 "$(uri x b)" "$tmp/b"
	wait "$copying"
	cmp "$tmp/a" "$tmp/dir/a" && cmp "$tmp/b" "$tmp/dir/b" || fail "two exports were mixed up"
	end_servers
	echo "two exports stay apart"
fi

if command -v fio >/dev/null && fio --enghelp 2>/dev/null | grep -qw nbd; then
	serve f --filter="$filter" memory 8M iosched-policy=mq-deadline "iosched-stats=$tmp/f.stats"
	fio --name=v --ioengine=nbd --uri="$(uri f)" --rw=randwrite --bs=4k --size=8M --iodepth=32 \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 >"$tmp/f.out" 2>&1 || { cat "$tmp/f.out"; fail "fio"; }
	end_servers
	conserved "$tmp/f.stats"
	echo "fio verified its data, depth 32"
fi
