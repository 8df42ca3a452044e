#!/usr/bin/env bash
# Two tenants read at random from one slow disk, with all they can send. Who has the larger share by
# the policy's parameters gets the larger share of the drive's time, as the drive itself
# counts it; without a policy that knows them, both get the same.
. "$(dirname "$0")/lib.sh"
[ -x "$client" ] || skip "no libnbd here (libnbd-dev)"

# share NAME PARAMETERS...: sets a and b, ns of the drive's time
share()
{
	local name=$1
	shift
	serve "$name" --filter="$filter" "$disk" device=hdd-no-ncq size=64M time-permille=250 \
		"stats=$tmp/$name.disk" "iosched-stats=$tmp/$name.stats" iosched-same-disk=true \
		iosched-depth=1 "$@"
	"$client" race 2500 "$(uri "$name" a)" "$(uri "$name" b)" >/dev/null
	end_servers
	conserved "$tmp/$name.stats"
	a=$(number "$tmp/$name.disk" "owner a device_ns")
	b=$(number "$tmp/$name.disk" "owner b device_ns")
	[ "$a" -gt 0 ] && [ "$b" -gt 0 ] || fail "$name: one got nothing: a $a, b $b"
	echo "$name: a : b = $((a * 100 / b)) : 100"
}

# a : b within LOW..HIGH percent
within()
{
	[ $((a * 100 / b)) -ge "$1" ] && [ $((a * 100 / b)) -le "$2" ] || fail "not in $1..$2 to 100"
}

share plain iosched-policy=noop
within 60 165

# Level 0 has a slice of 180 ms, level 7 one of 40 ms.
share levels iosched-policy=cfq-2.6.32 iosched-level=a:0 iosched-level=b:7
within 220 900

for p in fair-deadline cfq; do
	nbdkit --filter="$filter" memory 1M "iosched-policy=$p" iosched-weight=a:300 --run true \
		2>/dev/null || continue
	share "weights-$p" "iosched-policy=$p" iosched-weight=a:300 iosched-weight=b:100
	within 200 450
done
