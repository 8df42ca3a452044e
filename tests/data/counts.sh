#!/bin/sh
# The table of README.md: what each shipped trace holds, counted from the files.
# With --check: complain unless README.md has exactly these lines.
set -eu
cd "$(dirname "$0")"
command -v xz >/dev/null || { echo "no xz here"; exit 77; }

events="Q G M F I D C X P U UT"

table()
{
	printf '| file | bytes | seconds |'
	printf ' %s |' $events
	printf ' read MiB | written MiB |\n|---|'
	for column in bytes seconds $events read written; do
		printf -- '---:|'
	done
	echo
	for file in *.blkparse.xz; do
		xz -dc "$file" | awk -v file="$file" -v bytes="$(wc -c <"$file")" -v events="$events" '
			{ n[$6]++; last = $4 }
			$6 == "Q" && $7 ~ /^F?R/ { read += $10 }
			$6 == "Q" && $7 ~ /^F?W/ { written += $10 }
			END {
				printf "| %s | %d | %.3f |", file, bytes, last
				count = split(events, e, " ")
				for (i = 1; i <= count; i++) { printf " %d |", n[e[i]]; sum += n[e[i]] }
				# Sectors of 512 bytes.
				printf " %.1f | %.1f |\n", read / 2048, written / 2048
				if (sum != NR) { print NR - sum " records of another kind"; exit 1 }
			}'
	done
}

if [ "${1:-}" = --check ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	table >"$tmp/counted"
	grep -E '^\|( file \||---\|---:|.*\.blkparse\.xz \| [0-9])' README.md >"$tmp/written" || true
	diff "$tmp/written" "$tmp/counted" || { echo "README.md is not what counts.sh counts"; exit 1; }
	echo "README.md counts $(($(wc -l <"$tmp/counted") - 2)) traces as they are"
else
	table
fi
