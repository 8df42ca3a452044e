#!/usr/bin/env bash
# The keys of the JSON and those that docs/workbench.md explains are the same.
. "$(dirname "$0")/common.sh"
sources=("$top"/examples/workbench/*.c)

sed -n '/^## Keys of the JSON/,/^## Exit/p' "$top/docs/workbench.md" >"$tmp/page"
grep -o '`[a-z0-9_]*`' "$tmp/page" | tr -d '`' | sort -u >"$tmp/told"
cat "${sources[@]}" | grep -o 'set[a-z_]*([a-z]*, "[a-z0-9_]*"' | cut -d'"' -f2 | sort -u >"$tmp/set"
[ "$(wc -l <"$tmp/set")" -ge 90 ] || complain "only $(wc -l <"$tmp/set") keys found in the sources"
[ -z "$(comm -13 "$tmp/told" "$tmp/set")" ] ||
	complain "not in docs/workbench.md: $(comm -13 "$tmp/told" "$tmp/set" | tr '\n' ' ')"
while read -r word; do
	grep -qF "\"$word\"" "${sources[@]}" || case $word in
	_*) ;; # an ending
	*) complain "docs/workbench.md explains a key there is not: $word" ;;
	esac
done <"$tmp/told"
exit $bad
