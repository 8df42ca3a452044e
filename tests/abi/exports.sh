#!/bin/sh
# A shared library exports what its public headers mark IOSCHED_API and nothing
# else. CC, srcdir and builddir come from make.
set -eu
: "${CC:?}" "${srcdir:?}" "${builddir:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
command -v nm >/dev/null || { echo "no nm here"; exit 77; }

# The marked names of headers: the compiler takes out comments and unused
# branches, a declaration runs to its semicolon, a function's name ends at "(".
declared()
{
	for name; do
		echo "#include <iosched/$name>"
	done | $CC -E -P -I"$srcdir/include" -I"$builddir/include" -x c - | tr '\n' ' ' | tr ';{}' '\n\n\n' |
		sed -nE 's/.*__attribute__ *\(\(visibility\("default"\)\)\)//p' |
		sed -E 's/\(.*//; s/(\[[^]]*\])*[[:space:]]*$//; s/.*[^A-Za-z0-9_]//' | sort -u
}

# A = the version node of the map, which is no symbol of ours.
exported()
{
	nm -D --defined-only "$1" | awk '$(NF-1) != "A" { sub(/@.*/, "", $NF); print $NF }' | sort -u
}

# compare LIBRARY FILE: the marks in $tmp/declared against what FILE exports.
compare()
{
	exported "$2" >"$tmp/exported"
	comm -23 "$tmp/declared" "$tmp/exported" >"$tmp/absent"
	comm -13 "$tmp/declared" "$tmp/exported" >"$tmp/stray"
	sed "s/^/$1 declares but does not export /" "$tmp/absent"
	sed "s/^/$1 exports but no header declares /" "$tmp/stray"
	if [ -s "$tmp/absent" ] || [ -s "$tmp/stray" ]; then
		bad=1
	else
		echo "$1 exports its $(wc -l <"$tmp/exported") declared symbols"
	fi
}

# The headers of the other libraries; all that are left belong to the first.
second="seeds.h sim.h trace.h"
kit="policy_check.h"

bad=0
first=
later=
for h in "$srcdir"/include/iosched/*.h; do
	case " $second : $kit " in
	*" ${h##*/} "*:*) later="$later ${h##*/}" ;;
	*:*" ${h##*/} "*) ;;
	*) first="$first ${h##*/}" ;;
	esac
done

lib=$builddir/.libs/libiosched.so
[ -f "$lib" ] || { echo "no shared library was built"; exit 77; }
declared $first >"$tmp/declared"
[ -s "$tmp/declared" ] || { echo "no IOSCHED_API mark was found in$first"; exit 1; }
cp "$tmp/declared" "$tmp/first"
compare libiosched "$lib"

lib=$builddir/.libs/libioschedsim.so
if [ -f "$lib" ]; then
	declared $later | comm -23 - "$tmp/first" >"$tmp/declared"
	compare libioschedsim "$lib"
fi

lib=$builddir/.libs/libioschedcheck.so
if [ -f "$lib" ]; then
	declared $kit | comm -23 - "$tmp/first" >"$tmp/declared"
	compare libioschedcheck "$lib"
fi
exit $bad
