#!/usr/bin/env bash
# compare --suite fairness: exit codes, the keys of its JSON, shares that sum to one, two runs that
# say the same, and the shares of fair-deadline where a reader streams beside one that seeks.
. "$(dirname "$0")/common.sh"
suite=(compare --suite fairness)

expect 2 compare --suite nosuch
says err 'the one there is is fairness'
expect 2 compare
says err 'too few operands'
expect 2 "${suite[@]}" "$data/dump.blkparse.xz"
says err 'no traces'
for option in --device=ssd --window=1 --closed=1 --scale=2 --skip-bad --tunable=noop.nosuch=1; do
	expect 2 "${suite[@]}" "$option"
done
expect 2 "${suite[@]}" --policy nosuch
expect 2 "${suite[@]}" --policy noop --plot "$tmp/picture.txt"

picture=()
command -v gnuplot >/dev/null && picture=(--plot "$tmp/picture.svg")
expect 0 "${suite[@]}" --policy noop "${picture[@]}"
says out '^seq \+ random \(hdd\)$'
says out '^  noop +seq +100 +50\.0 '
says out '^16 flows, cache off \(hdd:write_cache=0\)$'
[ ${#picture[@]} -eq 0 ] || grep -q '<svg' "$tmp/picture.svg" || complain "there is no picture"

have_json || exit $bad
policies=noop
"$iosched" policies fair-deadline >/dev/null 2>&1 && policies=noop,fair-deadline
expect 0 "${suite[@]}" --policy $policies --json
cp "$tmp/out" "$tmp/first"
expect 0 "${suite[@]}" --policy $policies --json --jobs 1
cmp -s "$tmp/first" "$tmp/out" || complain "the JSON of two runs differs"
rows=$(at rows)
[ "$rows" -ge 100 ] || complain "only $rows rows"
for key in scenario device policy context group weight ideal_share share throughput p50_ns p99_ns \
	max_wait_ns; do
	at "rows.0.$key" >/dev/null
	[ "$(grep -c "^ *\"$key\": " "$tmp/out")" -eq "$rows" ] || complain "$key is not in every row"
done
[ "$(grep -c '^ *"[a-z0-9_]*": ' "$tmp/out")" -eq $((12 * rows + 1)) ] || complain "there are other keys"

# One line a row: scenario, device, policy, ideal share, share, between tabs.
awk -F '": ' '
	{ gsub(/^ *"|,$/, "") ; v = $2; gsub(/^"|"$/, "", v); row[$1] = v }
	/^max_wait_ns/ {
		print row["scenario"] "\t" row["device"] "\t" row["policy"] "\t" \
			row["ideal_share"] "\t" row["share"]
	}' "$tmp/out" >"$tmp/rows"
awk -F '\t' '
	{ share[$1 ", " $3] += $5; ideal[$1 ", " $3] += $4 }
	END {
		for (k in share) {
			if (share[k] < 0.9999 || share[k] > 1.0001) print k ": shares sum to " share[k]
			if (ideal[k] < 0.9999 || ideal[k] > 1.0001) print k ": ideals sum to " ideal[k]
		}
	}' "$tmp/rows" >"$tmp/wrong"
[ ! -s "$tmp/wrong" ] || complain "$(cat "$tmp/wrong")"
if [ "$policies" != noop ]; then
	awk -F '\t' '
		$1 ~ /^seq \+ random( [13]:[13])?$/ && $2 == "hdd" && $3 == "fair-deadline" {
			n++
			if ($5 < $4 - 0.02 || $5 > $4 + 0.02) print $1 ": " $5 ", not " $4
		}
		END { if (n != 6) print n + 0 " rows of a streaming and a seeking reader, not 6" }
	' "$tmp/rows" >"$tmp/wrong"
	[ ! -s "$tmp/wrong" ] || complain "$(cat "$tmp/wrong")"
fi
exit $bad
