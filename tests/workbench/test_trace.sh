#!/usr/bin/env bash
# trace info and trace convert.
. "$(dirname "$0")/common.sh"

# --- info: the numbers are those of the data's own README, which has a test of its own ---
for trace in copy dump fio pgbench sysbench; do
	expect 0 trace info "$data/$trace.blkparse.xz"
	row=$(grep "^| $trace.blkparse.xz " "$data/README.md") || complain "README has no row for $trace"
	n=3
	for kind in seconds Q G M F I D C X P U; do
		n=$((n + 1))
		want=$(cut -d '|' -f "$n" <<<"$row" | tr -d ' ')
		[ "$kind" != seconds ] || continue
		got=$(awk -v k="$kind" '$1 == k { print $2; exit }' "$tmp/out")
		[ "${got:-0}" = "$want" ] || complain "$trace: ${got:-0} records $kind, not $want"
	done
done
expect 0 trace info "$data/copy.blkparse.xz" "$data/fio.blkparse.xz"
[ "$(grep -c ': blkparse (' "$tmp/out")" -eq 2 ] || complain "two traces are not two reports"
expect 1 trace info "$tmp/none"
says err 'none'

# --- binary, one file for each CPU ---
for cpu in 0 1; do
	xz -dc "$data/copy.blktrace.$cpu.xz" >"$tmp/copy.blktrace.$cpu"
done
expect 0 trace info "$tmp/copy"
says out ': blktrace \('
says out '^  Q +4960 '
expect 0 replay "$tmp/copy" --policy noop
says out '4960 requests'

if have_json; then
	expect 0 trace info "$data/dump.blkparse.xz" --json
	[ "$(at 0.kinds.Q)" = 2858 ] || complain "dump has $(at 0.kinds.Q) arrivals in JSON"
	[ "$(at 0.arrivals)" = Q ] || complain "arrivals are not Q"
	reads=$(at 0.ops.read.requests)
	[ "$reads" -gt 2800 ] && [ "$reads" -le 2858 ] || complain "dump has $reads reads"
fi

# --- convert: what is read back is what was there ---
mkdir "$tmp/out.d"
source=$data/pgbench.blkparse.xz
expect 0 trace convert "$source" "$tmp/out.d/native"
expect 0 trace info "$tmp/out.d/native"
says out ': native \('
sed 1d "$tmp/out" >"$tmp/native.info"
expect 0 trace info "$source"
sed 1d "$tmp/out" | cmp -s - "$tmp/native.info" || complain "native text holds something else"
"$iosched" replay "$source" --device hdd-no-ncq | sed 1d >"$tmp/before"
"$iosched" replay "$tmp/out.d/native" --device hdd-no-ncq | sed 1d >"$tmp/after"
cmp -s "$tmp/before" "$tmp/after" || complain "native text replays otherwise"
expect 0 trace convert "$tmp/out.d/native" "$tmp/out.d/again"
cmp -s "$tmp/out.d/native" "$tmp/out.d/again" || complain "native to native changes it"
for to in fio2 fio3; do
	expect 0 trace convert "$source" "$tmp/out.d/$to" --to $to
	expect 0 trace info "$tmp/out.d/$to"
	says out ": fio-v${to#fio} \\("
done
[ "$(awk '$1 == "read" { print $2 }' "$tmp/out")" = "$(awk '$1 == "read" { print $2 }' "$tmp/native.info")" ] ||
	complain "fio's log has another number of reads"
expect 0 replay "$tmp/out.d/fio2" --policy noop
says out 'one after the other'
"$iosched" trace convert "$source" - >"$tmp/stdout" || complain "convert to standard output fails"
cmp -s "$tmp/stdout" "$tmp/out.d/native" || complain "standard output gets something else"

# --- nothing half-written ---
xz -dc "$source" | head -n 3000 >"$tmp/half.txt"
echo '7,0 broken' >>"$tmp/half.txt"
echo kept >"$tmp/out.d/kept"
expect 1 trace convert "$tmp/half.txt" "$tmp/out.d/kept"
says err 'half\.txt:3001: '
[ "$(cat "$tmp/out.d/kept")" = kept ] || complain "a failed conversion overwrites its target"
expect 1 trace convert "$tmp/half.txt" "$tmp/out.d/new"
expect 1 trace convert "$source" "$tmp/nowhere/new"
says err 'nowhere/new: cannot be written'
only_these_in "$tmp/out.d" native again fio2 fio3 kept
if [ -c /dev/full ]; then
	expect 1 trace convert "$source" /dev/full
	says err '/dev/full: could not be written'
fi
exit $bad
