#!/usr/bin/env bash
# explain: the log, its summary, and the timeline.
. "$(dirname "$0")/common.sh"
trace=$data/pgbench.blkparse.xz

for policy in $("$iosched" policies | awk 'NR > 1 { print $1 }'); do
	expect 0 explain "$trace" --policy "$policy" --device hdd-no-ncq --perfetto "$tmp/t.json"
	cp "$tmp/out" "$tmp/first"
	cp "$tmp/t.json" "$tmp/first.json"
	dispatches=$(sed -n "s/^$policy: 3528 requests, \\([0-9]*\\) dispatches\$/\\1/p" "$tmp/out")
	[ "$(grep -cE '^ *[0-9.]+ ms  .*: dispatch #[0-9]+ ' "$tmp/out")" = "$dispatches" ] ||
		complain "$policy: not a line for each of $dispatches dispatches"
	awk '$2 == "ms" && $1 + 0 < last { bad = 1 } $2 == "ms" { last = $1 + 0 }
		/^time of the device/ { exit } END { exit bad }' "$tmp/out" ||
		complain "$policy: lines are not in order of time"
	awk '/^time of the device/ { all = $5 }
		/ % +(busy|idle,)/ { sum += $1 }
		END { exit !(all > 0 && sum - all < 0.01 && all - sum < 0.01) }' "$tmp/out" ||
		complain "$policy: busy and idle times do not add up"
	expect 0 explain "$trace" --policy "$policy" --device hdd-no-ncq --perfetto "$tmp/t.json"
	cmp -s "$tmp/out" "$tmp/first" || complain "$policy: two logs differ"
	cmp -s "$tmp/t.json" "$tmp/first.json" || complain "$policy: two timelines differ"
	have_json || continue

	# The log counts the device's idle time from events, the simulator by its clock.
	held=$(sed -n 's/^ *\([0-9.]*\) ms .* idle, though requests.*/\1/p' "$tmp/out")
	empty=$(sed -n 's/^ *\([0-9.]*\) ms .* idle, nothing.*/\1/p' "$tmp/out")
	expect 0 replay "$trace" --policy "$policy" --device hdd-no-ncq --json
	awk -v a="$held" -v b="$(at 0.runs.0.held_ns)" -v c="$empty" -v d="$(at 0.runs.0.empty_ns)" '
		BEGIN { x = a - b / 1e6; y = c - d / 1e6; exit !(x * x < 1e-6 && y * y < 1e-6) }' ||
		complain "$policy: $held and $empty ms idle, the simulator says otherwise"
	counts=$("$json" timeline <"$tmp/t.json") || complain "$policy: the timeline is not good"
	[[ $counts = "3528 requests, "* ]] || complain "$policy: the timeline holds $counts"
done

# --- what is printed ---
expect 0 explain "$trace" --policy deadline --limit 7
[ "$(grep -cE '^ *[0-9.]+ ms  ' "$tmp/out")" -eq 10 ] || # three more are the summary's
	complain "--limit 7 does not print 7 lines"
says out '^and [0-9]+ more lines$'
expect 0 explain "$trace" --policy deadline --limit 0
says out '^and [0-9]+ more lines$'
says out 'never held back'
expect 0 explain "$trace" --policy deadline --from 5s --limit 1
says out '^ *5[0-9]{3}\.[0-9]{6} ms  context '
expect 0 explain "$trace" --policy deadline --all
[ "$(grep -c ': #[0-9]* .* is done' "$tmp/out")" = "$(grep -c ': dispatch #' "$tmp/out")" ] ||
	complain "--all does not print every completion"
[ "$(grep -cE ': #[0-9]+ .* (arrives|arrives and .*)$' "$tmp/out")" -eq 3528 ] ||
	complain "--all does not print every arrival"

# --- files ---
mkdir "$tmp/files"
echo kept >"$tmp/files/t.json"
xz -dc "$trace" | head -n 50 >"$tmp/bad.txt"
echo '7,0 broken' >>"$tmp/bad.txt"
expect 1 explain "$tmp/bad.txt" --policy noop --perfetto "$tmp/files/t.json"
says err 'bad\.txt:51: '
[ "$(cat "$tmp/files/t.json")" = kept ] || complain "a failed run overwrites the timeline"
only_these_in "$tmp/files" t.json
expect 1 explain "$trace" --policy noop --perfetto "$tmp/nowhere/t.json"
expect 2 explain "$trace" --policy noop --perfetto -
if [ -c /dev/full ]; then
	expect 1 explain "$trace" --policy noop --limit 0 --perfetto /dev/full
	says err '/dev/full: could not be written'
fi

# Names of processes are any bytes; in JSON they must not be.
printf '8,0 0 1 0.000000000 7 Q R 4096 + 8 [a"b\\c\001\377]\n' >"$tmp/odd.txt"
expect 0 explain "$tmp/odd.txt" --policy noop --perfetto "$tmp/odd.json"
if have_json; then
	"$json" timeline <"$tmp/odd.json" >"$tmp/out" || complain "odd names break the timeline"
	expect 0 replay "$tmp/odd.txt" --json
	at 0.runs.0.rows.1.name >/dev/null
fi
# A scenario is explained as a trace is.
expect 0 explain "$top/tests/scenarios/cooperators-merge.scn" --policy cfq --limit 5
grep -q 'a cooperator nearby takes over' "$tmp/out" || complain "a scenario is not explained"
exit $bad
