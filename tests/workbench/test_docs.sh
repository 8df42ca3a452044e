#!/usr/bin/env bash
# Pages of docs (PAGES; docs/workbench.md and docs/seeds.md) show what the program prints; with
# --update they are made to. Each has at least COMMANDS commands.
#
# A block begins with "    $ command"; what follows it, indented by four, is its output.
builddir=${builddir:-$(cd "$(dirname "$0")/../../build" && pwd)}
. "$(dirname "$0")/common.sh"

# The page $1 as it should be, on standard output.
fresh()
{
	local page=$1 line skipping=0
	while IFS= read -r line; do
		case $line in
		'    $ '*)
			[ "$skipping" -eq 0 ] || echo
			printf '%s\n' "$line"
			(cd "$tmp/tree" && PATH=$builddir/examples:$PATH bash -c "${line#    \$ }" 2>&1 </dev/null) |
				sed -e 's/^/    /' -e 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
			skipping=1
			;;
		'' | '    '*)
			[ "$skipping" -ne 0 ] || printf '%s\n' "$line"
			;;
		*)
			[ "$skipping" -eq 0 ] || echo
			skipping=0
			printf '%s\n' "$line"
			;;
		esac
	done <"$page"
}

mkdir "$tmp/tree"
ln -s "$top/tests" "$tmp/tree/tests"
if [ "${1:-}" != --update ] && ! have_json; then
	echo "built without jansson: the pages show JSON"
	exit 77
fi
for name in ${PAGES:-workbench.md seeds.md}; do
	page=$top/docs/$name
	fresh "$page" >"$tmp/page"
	if [ "${1:-}" = --update ]; then
		cp "$tmp/page" "$page"
		continue
	fi
	[ "$(grep -c '^    \$ ' "$page")" -ge "${COMMANDS:-5}" ] || complain "$page has too few commands"
	diff -u "$page" "$tmp/page" || complain "$page is out of date; $0 --update makes it true again"
done
exit $bad
