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
	rm -rf "$tmp/export/file" && cp "$tmp/file" "$tmp/export/file" # it may be gone
	serve "fuzz-$seed" --policy mq-deadline
	"$fuzz" "$(sed -n 's/^port //p' "$tmp/fuzz-$seed.out")" "$seed" 100 || fail "seed $seed"
	stop "fuzz-$seed" "$pid"
done
[ "$(cat "$tmp/outside")" = outside ] || fail "a broken call reached outside of the export"
rm -rf "$tmp/export" && mkdir "$tmp/export" && cp "$tmp/file" "$tmp/export/file"

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

# Full: the writer is told so. Where a small file system can be mounted.
mkdir "$tmp/small"
if mount -t tmpfs -o size=1m tmpfs "$tmp/small" 2>/dev/null; then
	trap 'end_servers; umount -l "$tmp/small"; rm -rf "$tmp"' EXIT
	serve_folder=$tmp/small
	serve full --policy fair-deadline
	"$load" full "$(url full '')" || fail "ENOSPC is not said"
	stop full "$pid"
	umount "$tmp/small"
	serve_folder=
	trap 'end_servers; rm -rf "$tmp"' EXIT
	echo "a full disk is told"
else
	echo "no small file system here: a full disk is not tried"
fi

# The disk does not answer: its file is nbdkit's, which is stopped. Readers wait, others are served.
mkdir "$tmp/hung"
end_hung()
{
	kill -9 "$disk"
	kill "$fuse"
	wait "$disk" "$fuse"
	umount -l "$tmp/hung"
} 2>/dev/null
if command -v nbdkit >/dev/null && command -v nbdfuse >/dev/null && [ -w /dev/fuse ]; then
	nbdkit -f -U "$tmp/socket" file "$tmp/file" &
	disk=$!
	for i in $(seq 100); do [ -S "$tmp/socket" ] && break; sleep 0.05; done
	nbdfuse "$tmp/hung" --unix "$tmp/socket" 2>/dev/null &
	fuse=$!
	trap 'end_servers; end_hung || true; rm -rf "$tmp"' EXIT
	for i in $(seq 100); do [ -f "$tmp/hung/nbd" ] && break; sleep 0.05; done
fi
if [ -f "$tmp/hung/nbd" ]; then
	serve_folder=$tmp/hung
	serve hung --policy fair-deadline
	kill -STOP "$disk"
	"$load" verify 16 65536 "$(url hung /nbd)" "$tmp/file" &
	waiting=$!
	sleep 0.5
	kill -0 "$waiting" || fail "a reader did not wait for the disk"
	! command -v nfs-ls >/dev/null || timeout 5 nfs-ls "$(url hung '')" | grep -q nbd || fail "others wait for a disk they do not need"
	kill -CONT "$disk"
	wait "$waiting" || fail "a reader was not served when the disk answered again"
	kill -STOP "$disk"
	"$load" read 60000 16 65536 "$(url hung /nbd)" >/dev/null 2>&1 &
	waiting=$!
	sleep 0.3
	kill "$pid"
	sleep 0.3
	kill -0 "$pid" || fail "the server did not wait for its disk"
	kill -CONT "$disk"
	stop hung "$pid"
	kill -9 "$waiting" 2>/dev/null || true
	wait "$waiting" 2>/dev/null || true
	end_hung || true
	trap 'end_servers; rm -rf "$tmp"' EXIT
	serve_folder=
	echo "a disk that hangs holds up its readers only"
else
	echo "no file that can hang here (nbdkit, nbdfuse, /dev/fuse): not tried"
fi

# A thousand calls are out when it is told to stop.
serve stop --policy deadline --device hdd --workers 16 --time-permille 100
racing=()
for i in $(seq 16); do
	"$load" read 60000 64 16384 "$(url stop /file)" >/dev/null 2>&1 &
	racing+=($!)
done
sleep 0.8
stop stop "$pid"
kill -9 "${racing[@]}" 2>/dev/null || true
wait "${racing[@]}" 2>/dev/null || true
served=$(sed -n 's/^served \([0-9]*\),.*/\1/p' "$tmp/stop.out")
[ "$served" -ge 1000 ] || fail "only $served calls: there were no thousand out"
echo "stopped with calls out: $(tail -n 1 "$tmp/stop.out")"
