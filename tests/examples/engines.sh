# What an engine with client threads must do, whichever it is. Sourced with $engine set.

# Writes, flushes, reads back, compares: with merging, without, few threads, many requests.
real_io() {
	for policy in $(policies); do
		succeeds "$engine" "$tmp/file" --policy "$policy" --seconds 0.3
		succeeds "$engine" "$tmp/file" --policy "$policy" --seconds 0.2 --stride 3 \
			--window 1 --threads 1 --clients 2
	done
	succeeds "$engine" "$tmp/file" --bypass --seconds 0.2
	says "requests, 0 errors, 0 cancelled"
}

# Shutdown with thousands in flight: nothing is lost, or a client would wait for ever.
abandon() {
	for policy in --bypass $(policies | sed 's/[^ ][^ ]*/--policy=&/g'); do
		succeeds "$engine" "$tmp/big" "$policy" --abandon --clients 4 --depth 3000 \
			--stride 2 --seconds 0.05
		says "0 errors, [0-9]{3,} cancelled"
		requests=$(sed -n 's/.* errors, \([0-9]*\) cancelled.*/\1/p' "$tmp/out")
		[ "$requests" -gt 1000 ] || fail "only $requests were in flight: no test"
	done
}

# The file ends at 200 KiB (the limit of its size); the disk is full; the device errs; the end is cut off.
errors() {
	(
		trap '' XFSZ
		ulimit -f 400 # blocks of 512 in POSIX sh, of 1024 in some
		fails_with "write of 4096 bytes at [0-9]*: File too large" \
			"$engine" "$tmp/limited" --clients 8 --depth 64 --seconds 0.5
	) || exit 1
	fails_with "write of 4096 bytes at 0: No space left" "$engine" /dev/full --seconds 5
	fails_with "write of 4096 bytes at 0: Input/output error" \
		"$engine" /proc/self/mem --seconds 5
	fails_with "No such file or directory" "$engine" "$tmp/absent/file"

	timeout 60 "$engine" "$tmp/cut" --reads --seconds 30 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until [ "$(wc -c 2>/dev/null <"$tmp/cut" || echo 0)" -ge 524288 ]; do sleep 0.05; done
	sleep 0.3
	truncate -s 10000 "$tmp/cut"
	wait $pid
	[ $? = 1 ] || fail "a read past the end went unnoticed"
	grep -q "read of 4096 bytes at [0-9]*: No data available" "$tmp/err" ||
		{ cat "$tmp/err"; fail "a read past the end was not called one"; }
}

# kill -9 in the middle of it: every round that was reported flushed is in the file.
killed() {
	: >"$tmp/journal"
	"$engine" "$tmp/log" --journal --seconds 60 >"$tmp/journal" 2>"$tmp/err" &
	pid=$!
	n=0
	until [ "$(wc -l 2>/dev/null <"$tmp/journal" || echo 0)" -ge 20 ]; do
		n=$((n + 1))
		[ $n -lt 600 ] || fail "no 20 rounds in 60 s"
		sleep 0.1
	done
	kill -9 $pid
	wait $pid
	[ $? = 137 ] || fail "it was not killed"
	succeeds "$engine" "$tmp/log" --recover "$tmp/journal"
	says "flushed rounds, all there"
	# The check itself must be able to fail.
	dd if=/dev/zero of="$tmp/log" bs=4096 seek=5 count=1 conv=notrunc 2>/dev/null
	fails_with "was flushed and is not there" "$engine" "$tmp/log" --recover "$tmp/journal"
	succeeds "$engine" "$tmp/log" --seconds 0.2 # and the file is usable
}
