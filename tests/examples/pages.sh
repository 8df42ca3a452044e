#!/bin/sh
# What the pages quote is what the examples say. A quotation is a block of code after a line
#   <!-- examples/FILE: NAME -->
# and must equal what lies in FILE between /* [NAME] */ and /* [/NAME] */.
. "${srcdir:-.}/tests/examples/lib.sh"

n=0
for page in "$srcdir"/docs/embedding/*.md "$srcdir"/docs/simulator.md "$srcdir"/README.md; do
	sed -n 's/^<!-- \(examples\/[^:]*\): \([a-z]*\) -->$/\1 \2/p' "$page" >"$tmp/quotes"
	while read -r file name; do
		awk -v start="<!-- $file: $name -->" '
			$0 == start { found = 1; next }
			found && /^```/ { if (inside) exit; inside = 1; next }
			inside' "$page" >"$tmp/quoted"
		awk -v start="/* [$name] */" -v end="/* [/$name] */" '
			$0 == end { exit }
			inside
			$0 == start { inside = 1 }' "$srcdir/$file" >"$tmp/said"
		[ -s "$tmp/said" ] || fail "$file has no part called $name"
		diff -u "$tmp/said" "$tmp/quoted" || fail "$page misquotes $file: $name"
		n=$((n + 1))
	done <"$tmp/quotes"
	[ "${page##*/}" != README.md ] || continue
	for file in $(grep -o '](\(\.\./\)*[a-z_/.-]*)' "$page" | tr -d '()]'); do
		[ -f "$(dirname "$page")/$file" ] || fail "$page: link to $file, which is not there"
	done
done
[ $n -ge 8 ] || fail "only $n quotations found"
echo "$n quotations are exact"
