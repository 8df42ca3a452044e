#!/usr/bin/env bash
# What goes wrong stays with whom it belongs to: bad sectors under merging, a client killed in
# the middle, a server stopped with many requests in flight, parameters that make no sense.
. "$(dirname "$0")/lib.sh"

# refused PATTERN PARAMETERS...
refused()
{
	local pattern=$1
	shift
	! nbdkit --filter="$filter" memory 1M "$@" --run true 2>"$tmp/refused" || fail "$* was taken"
	grep -qe "$pattern" "$tmp/refused" || { cat "$tmp/refused"; fail "$*: said something else"; }
}
refused 'no such policy' iosched-policy=nonsense
refused 'no such parameter' iosched-colour=red
refused 'NAME:NUMBER' iosched-weight=7
refused '1\.\.1000' iosched-weight=a:1001
refused '0\.\.7' iosched-level=a:8
refused 'not export' iosched-identity=shoe-size
refused 'more than nbdkit' iosched-merge=1G
refused 'no weights' iosched-policy=noop iosched-weight=a:5
refused 'iosched-set=read_expire_ns:18446744073709551615' iosched-policy=deadline iosched-set=read_expire_ns:18446744073709551615
refused 'iosched-set=nonsense:1' iosched-policy=deadline iosched-set=nonsense:1
! nbdkit "$disk" device=floppy --run true 2>"$tmp/refused" || fail "a floppy was taken"
grep -q floppy "$tmp/refused" || fail "the sentence about the floppy is missing"
echo "parameters that make no sense are refused"

[ -x "$client" ] || skip "no libnbd here (libnbd-dev)"

# A merged span that fails is tried again in parts: only the bad blocks' readers hear of it.
for p in noop deadline cfq-2.6.32; do
	serve "bad-$p" --filter="$filter" "$disk" device=null size=8M bad=4M:64K \
		"iosched-policy=$p" iosched-depth=2 "iosched-stats=$tmp/bad-$p.stats"
	"$client" bad "$(uri "bad-$p")" 4194304 65536 || fail "$p: errors at the wrong blocks"
	end_servers
	conserved "$tmp/bad-$p.stats"
	[ "$(number "$tmp/bad-$p.stats" merged)" -gt 0 ] || fail "$p: nothing was merged"
done

# Clients make up names: those that left make room, and nothing is lost from the accounts.
serve names --filter="$filter" memory 1M iosched-policy=cfq iosched-weight=export-3:50 "iosched-stats=$tmp/names.stats"
"$client" names 700 "$tmp/names" || fail "700 exports one after the other"
end_servers
conserved "$tmp/names.stats"
[ "$(grep -c '^context export-' "$tmp/names.stats")" -le 256 ] || fail "accounts grow without bound"
grep -q '^context export-3 requests 1 ' "$tmp/names.stats" || fail "who has a weight was forgotten"
[ "$(awk '/^context|^others/ { for (i = 1; i < NF; i++) if ($i == "requests") n += $(i + 1) } END { print n }' \
	"$tmp/names.stats")" = 700 ] || fail "accounts were lost"
threads=1
serve crowd --filter="$filter" memory 1M iosched-policy=fair-deadline "iosched-stats=$tmp/crowd.stats"
"$client" crowd 257 "$tmp/crowd" || fail "257 exports at once"
end_servers
threads=64
conserved "$tmp/crowd.stats"
grep -q '256 exports are connected already' "$tmp/crowd.log" || fail "the last was not told why"
echo "made-up names have bounds"

# Errors that come and go: each is answered, and nothing else is.
if nbdkit --filter=error memory 1M --run true 2>/dev/null; then
	serve err --filter="$filter" --filter=error memory 8M error-pread=EIO error-pread-rate=20% \
		iosched-policy=deadline "iosched-stats=$tmp/err.stats"
	"$client" some "$(uri err)" || fail "with errors here and there"
	end_servers
	conserved "$tmp/err.stats"
fi

# The disk is full: the client is told so.
if command -v nbdcopy >/dev/null && nbdkit --filter=error memory 1M --run true 2>/dev/null; then
	serve full --filter="$filter" --filter=error memory 8M error-pwrite=ENOSPC error-pwrite-rate=100% \
		iosched-policy=fair-deadline "iosched-stats=$tmp/full.stats"
	head -c 1048576 /dev/urandom >"$tmp/in"
	! nbdcopy "$tmp/in" "$(uri full)" 2>"$tmp/full.err" || fail "a full disk took all"
	grep -q 'No space left on device' "$tmp/full.err" || { cat "$tmp/full.err"; fail "ENOSPC is not said"; }
	end_servers
	conserved "$tmp/full.stats"
fi

# A disk of which one command in fifty does not answer for half a second, and then with an error.
serve hung --filter="$filter" "$disk" device=fault set=member:null set=timeouts:20000 set=timeout:500ms \
	size=8M iosched-policy=fair-deadline "iosched-stats=$tmp/hung.stats"
"$client" some "$(uri hung)" || fail "with a disk that hangs now and then"
end_servers
conserved "$tmp/hung.stats"

# A client is killed with 16 requests in the queue, one a connection; another sees all its data.
# (With more than one thread a connection, nbdkit 1.32 itself aborts when a client vanishes:
# "connections.c: raw_send_socket: Assertion `sock >= 0' failed", with or without this filter.)
threads=1
for p in mq-deadline anticipatory cfq-2.6.32; do
	serve "kill-$p" --filter="$filter" "$disk" device=hdd size=4M time-permille=20 \
		"iosched-policy=$p" iosched-identity=pid "iosched-stats=$tmp/kill-$p.stats"
	"$client" flood 60000 16 "$(uri "kill-$p")" >/dev/null 2>&1 &
	victim=$!
	sleep 0.3
	kill -9 "$victim"
	wait "$victim" 2>/dev/null || true
	"$client" verify "$(uri "kill-$p")" || fail "$p: after a client was killed"
	end_servers
	conserved "$tmp/kill-$p.stats"
done
threads=64
echo "a killed client leaves nothing behind"

# The server is told to stop while requests are queued and with the drive.
# (Its clients may see the end of it and vanish: the assertion above, once more. Then it is tried again.)
for try in 1 2 3; do
	serve stop --filter="$filter" "$disk" device=hdd size=64M time-permille=100 iosched-policy=deadline \
		"iosched-stats=$tmp/stop.stats"
	"$client" flood 60000 20 "$(uri stop)" >/dev/null 2>&1 &
	racing=$!
	sleep 0.4
	end_servers
	kill -9 "$racing" 2>/dev/null || true
	wait "$racing" 2>/dev/null || true
	grep -q 'raw_send_socket: Assertion' "$tmp/stop.log" || break
	rm -f "$tmp/stop" "$tmp/stop.pid"
done
conserved "$tmp/stop.stats"
# (With a sanitizer it is slower.)
[ -n "${NBD_PRELOAD-}" ] || [ "$(number "$tmp/stop.stats" completed)" -ge 1000 ] || fail "there were no thousand requests under way"
! grep -q 'left in the queue' "$tmp/stop.log" || fail "requests were left in the queue"
echo "stopped with requests in flight: $(number "$tmp/stop.stats" completed) done, none lost"
