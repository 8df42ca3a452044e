#!/usr/bin/env bash
# replay and compare: tables, JSON, plots, options that change the run, and traces that are broken.
. "$(dirname "$0")/common.sh"

# --- every shipped trace, every policy ---
policies=$("$iosched" policies | awk 'NR > 1 { print $1 }')
for trace in "$data"/*.blkparse.xz; do
	expect 0 compare "$trace" --device hdd-no-ncq
	for policy in $policies; do
		[ "$(grep -cE "^  $policy +[0-9.]+ +[0-9.]+ " "$tmp/out")" -ge 1 ] ||
			complain "$policy has no row for $trace"
	done
	says out '^  noop .* 1\.00 +1\.00 +1\.00$'
	[ -s "$tmp/err" ] && complain "it complains: $(cat "$tmp/err")"
	cp "$tmp/out" "$tmp/first"
	expect 0 compare "$trace" --device hdd-no-ncq
	cmp -s "$tmp/first" "$tmp/out" || complain "two runs of $trace differ"
done

# --- the base runs though it was not named, and only once ---
expect 0 compare "$data/dump.blkparse.xz" --policy deadline
[ "$(grep -cE '^  (noop|deadline) +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ ' "$tmp/out")" -ge 2 ] ||
	complain "noop did not run beside deadline"
expect 0 replay "$data/dump.blkparse.xz" --policy noop,noop
[ "$(grep -cE '^  noop' "$tmp/out")" -eq 2 ] || complain "noop named twice is not one row in each table"

# --- several traces, standard input ---
expect 0 replay "$data/dump.blkparse.xz" "$data/fio.blkparse.xz" --policy noop
[ "$(grep -c 'device hdd$' "$tmp/out")" -eq 2 ] || complain "two traces are not two tables"
xz -dc "$data/dump.blkparse.xz" >"$tmp/dump.txt"
"$iosched" replay - --policy noop <"$tmp/dump.txt" >"$tmp/stdin" || complain "standard input is not read"
"$iosched" replay "$tmp/dump.txt" --policy noop >"$tmp/file" || complain "the unpacked trace is not read"
[ "$(sed 1d "$tmp/stdin")" = "$(sed 1d "$tmp/file")" ] || complain "standard input gives another table"
if command -v gzip >/dev/null; then
	gzip -c "$tmp/dump.txt" >"$tmp/dump.gz"
	"$iosched" replay "$tmp/dump.gz" --policy noop >"$tmp/gz" || complain "gzip is not unpacked"
	[ "$(sed 1d "$tmp/gz")" = "$(sed 1d "$tmp/file")" ] || complain "gzip gives another table"
	# No program to unpack it.
	PATH=$tmp "$iosched" replay "$tmp/dump.gz" 2>"$tmp/err" >"$tmp/out"
	[ $? -eq 1 ] || complain "without gzip it does not fail with 1"
	says err 'no program gzip'
fi

mkfifo "$tmp/fifo"
cat "$tmp/dump.txt" >"$tmp/fifo" &
"$iosched" replay "$tmp/fifo" --policy noop >"$tmp/piped" || complain "a named pipe is not read"
wait
[ "$(sed 1d "$tmp/piped")" = "$(sed 1d "$tmp/file")" ] || complain "a named pipe gives another table"

# --- traces that are broken ---
{ head -n 20 "$tmp/dump.txt"; echo '7,0 1 0 what is this'; } >"$tmp/bad.txt"
expect 1 replay "$tmp/bad.txt"
says err 'bad\.txt:21: '
[ -s "$tmp/out" ] && complain "a broken trace has a table"
expect 0 replay "$tmp/bad.txt" --policy noop --skip-bad
says err '1 malformed lines passed over'
expect 1 replay "$tmp/none.txt"
says err 'none\.txt'
: >"$tmp/empty.txt"
expect 1 replay "$tmp/empty.txt"
says err 'empty\.txt'
echo 'this is no trace' >"$tmp/prose.txt"
expect 1 replay "$tmp/prose.txt"
says err 'prose\.txt:1: '
expect 1 replay "$tmp"
head -c 30000 "$data/dump.blkparse.xz" >"$tmp/cut.xz"
expect 1 replay "$tmp/cut.xz" --policy noop
says err 'cut\.xz: xz failed to unpack it|cut\.xz:[0-9]+: '
[ -s "$tmp/out" ] && complain "a trace cut off has a table"

# --- past the end of the device ---
cat >"$tmp/far.txt" <<'EOF'
8,0 0 1 0.000000000 7 Q R 3000000000000 + 8 [far]
8,0 0 2 0.010000000 7 Q W 4096 + 16 [far]
EOF
expect 0 replay "$tmp/far.txt" --policy noop
says out '^note: 1 requests reach past the end'

# --- options change what they should ---
if have_json; then
	value()
	{
		"$iosched" replay "$data/fio.blkparse.xz" --policy deadline --json "${@:2}" >"$tmp/value" ||
			complain "replay ${*:2} fails"
		at "0.$1" "$tmp/value"
	}
	digest=$(value runs.0.digest)
	[ "$digest" = "$(value runs.0.digest)" ] || complain "two runs have two digests"
	for option in '--scale 0.5' '--closed 4' '--window 1' '--device hdd:rpm=15000' '--device fixed'; do
		# shellcheck disable=SC2086
		[ "$digest" != "$(value runs.0.digest $option)" ] || complain "$option changes nothing"
	done
	[ "$(value runs.0.digest --window 1)" != \
		"$(value runs.0.digest --window 1 --tunable fifo_batch=1)" ] ||
		complain "--tunable changes nothing"
	[ "$(value runs.0.digest --window 1 --tunable fifo_batch=1)" = \
		"$(value runs.0.digest --window 1 --tunable deadline.fifo_batch=1)" ] ||
		complain "a tunable named with its policy is another"
	[ "$(value runs.0.digest --window 1)" = "$(value runs.0.digest --device hdd --window 1 --seed 1)" ] ||
		complain "the defaults are not the defaults"
	requests=$(value requests)
	[ "$requests" = "$(value runs.0.completed)" ] || complain "not every request was completed"
	[ "$requests" = "$(value runs.0.rows.0.requests)" ] || complain "not every request was counted"
	[ "$requests" = "$(value runs.0.queue.completed)" ] || complain "the queue counts otherwise"
	[ "$(value scale_permille --scale 0.5)" = 500 ] || complain "the scale is not in the JSON"

	expect 0 compare "$data/copy.blkparse.xz" --json
	[ "$(at 0.format)" = blkparse ] || complain "the format is not blkparse"
	[ "$(at 0.runs.0.policy)" = noop ] || complain "noop is not the first"
	[ "$(at 0.runs.1.against.policy)" = noop ] || complain "nothing is against noop"
	[ "$(at 0.runs)" -eq "$(wc -w <<<"$policies")" ] || complain "not every policy is in the JSON"
	[ "$(at 0.runs.0.rows.0.context)" = null ] || complain "the sum has a context"
	cp "$tmp/out" "$tmp/first"
	expect 0 compare "$data/copy.blkparse.xz" --json
	cmp -s "$tmp/first" "$tmp/out" || complain "two runs' JSON differ"
	expect 0 replay "$data/copy.blkparse.xz" "$data/fio.blkparse.xz" --json --policy noop
	[ "$(at 1.requests)" = "$requests" ] || complain "the second trace is not the second"
	expect 1 replay "$data/copy.blkparse.xz" "$tmp/bad.txt" --json --policy noop
	[ -s "$tmp/out" ] && complain "JSON though one trace is broken"
	expect 0 policies --json
	[ "$(at 0.name)" = noop ] || complain "policies --json begins with $(at 0.name)"
	expect 0 policies deadline --json
	[ "$(at 0.tunables)" -ge 5 ] || complain "deadline has too few tunables in JSON"
else
	echo "built without jansson: --json must say so"
	expect 1 replay "$data/copy.blkparse.xz" --json
	says err 'without jansson'
	expect 1 policies --json
fi

# --- plots ---
mkdir "$tmp/plots"
PATH=$tmp "$iosched" replay "$tmp/dump.txt" --plot "$tmp/plots/x.svg" 2>"$tmp/err" >"$tmp/out"
[ $? -eq 1 ] || complain "without gnuplot it does not fail with 1"
says err 'gnuplot'
only_these_in "$tmp/plots"
if command -v gnuplot >/dev/null; then
	for end in svg png; do
		expect 0 compare "$data/dump.blkparse.xz" --plot "$tmp/plots/a.$end"
		expect 0 compare "$data/dump.blkparse.xz" --plot "$tmp/plots/b.$end"
		cmp -s "$tmp/plots/a.$end" "$tmp/plots/b.$end" || complain "two runs' $end differ"
	done
	only_these_in "$tmp/plots" a.svg b.svg a.png b.png
	[ "$(head -c 4 "$tmp/plots/a.png" | tail -c 3)" = PNG ] || complain "a.png is no PNG"
	grep -q '<svg' "$tmp/plots/a.svg" && tail -n 2 "$tmp/plots/a.svg" | grep -qx '</svg>' ||
		complain "a.svg is no whole SVG"
	for policy in $policies; do
		grep -qF "<title>$policy</title>" "$tmp/plots/a.svg" ||
			complain "$policy is not in the picture"
	done
	echo kept >"$tmp/plots/a.svg"
	expect 1 compare "$tmp/bad.txt" --plot "$tmp/plots/a.svg"
	[ "$(cat "$tmp/plots/a.svg")" = kept ] || complain "a failed run overwrites the picture"
	expect 1 compare "$data/dump.blkparse.xz" --plot "$tmp/nowhere/a.svg"
	says err 'nowhere/a\.svg: cannot be written'
	# A name with a quote in it goes through gnuplot's quoting.
	expect 0 replay "$data/dump.blkparse.xz" --policy noop --plot "$tmp/plots/it's.svg"
	[ -s "$tmp/plots/it's.svg" ] || complain "a name with a quote is not written"
else
	echo "no gnuplot here: pictures are not tested"
fi
exit $bad
