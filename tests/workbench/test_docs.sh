#!/usr/bin/env bash
# docs/workbench.md shows what the program prints; with --update it is made to.
#
# A block begins with "    $ command"; what follows it, indented by four, is its output.
builddir=${builddir:-$(cd "$(dirname "$0")/../../build" && pwd)}
. "$(dirname "$0")/common.sh"
page=$top/docs/workbench.md

# The page as it should be, on standard output.
fresh()
{
	local line skipping=0
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
fresh >"$tmp/page"
if [ "${1:-}" = --update ]; then
	cp "$tmp/page" "$page"
	exit
fi
have_json || { echo "built without jansson: the page shows JSON"; exit 77; }
[ "$(grep -c '^    \$ ' "$page")" -ge 5 ] || complain "the page has too few commands"
diff -u "$page" "$tmp/page" || complain "the page is out of date; $0 --update makes it true again"
exit $bad
