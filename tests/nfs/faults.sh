#!/usr/bin/env bash
# What a client or the disk does wrong, the server survives: random bytes and broken calls, a
# client killed in the middle, EIO from the drive, a stop with many calls out.
. "$(dirname "$0")/lib.sh"

head -c 3000000 /dev/urandom >"$tmp/export/file"
cp "$tmp/export/file" "$tmp/file"

# refused OPTIONS...
refused()
{
	! "$server" "$@" "$tmp/export" >/dev/null 2>"$tmp/refused" || fail "$* was taken"
	[ -s "$tmp/refused" ] || fail "$* was refused without a word"
}
refused --policy nonsense
refused --workers 0
refused --context shoe-size
refused --device floppy
refused --policy noop --group uid
refused --name export
! "$server" "$tmp/nowhere" 2>/dev/null || fail "a folder that is not there was taken"

[ -x "$load" ] || skip "the NFS client was not built"
echo outside >"$tmp/outside"
for seed in 1 2 3; do
	serve "fuzz-$seed" --policy mq-deadline
	"$fuzz" "$(sed -n 's/^port //p' "$tmp/fuzz-$seed.out")" "$seed" 100 || fail "seed $seed"
	stop "fuzz-$seed" "$pid"
done
[ "$(cat "$tmp/outside")" = outside ] || fail "a broken call reached outside of the export"
rm -rf "$tmp/export/file" && cp "$tmp/file" "$tmp/export/file" # fuzz wrote into it, or removed it

serve eio --policy deadline --device null --fail-every 5
"$load" some 16 16384 "$(url eio /file)" "$tmp/file" || fail "with a drive that fails now and then"
stop eio "$pid"
echo "EIO reaches the reader, and only his"

for p in anticipatory cfq-2.6.32 fair-deadline; do
	serve "kill-$p" --policy "$p" --device hdd --time-permille 300 --context client
	"$load" read 60000 32 16384 "$(url "kill-$p" /file)" >/dev/null 2>&1 &
	victim=$!
	sleep 0.4
	kill -9 "$victim"
	wait "$victim" 2>/dev/null || true
	"$load" verify 16 65536 "$(url "kill-$p" /file)" "$tmp/file" || fail "$p: after a client was killed"
	stop "kill-$p" "$pid"
done
echo "a killed client leaves nothing behind"

serve stop --policy deadline --device hdd --workers 16
"$load" read 60000 32 16384 "$(url stop /file)" >/dev/null 2>&1 &
racing=$!
sleep 0.4
stop stop "$pid"
kill -9 "$racing" 2>/dev/null || true
wait "$racing" 2>/dev/null || true
echo "stopped with calls out: $(tail -n 1 "$tmp/stop.out")"
