#!/bin/sh
# Every public header compiles alone, twice in a row and beside all others,
# as C11 -pedantic and as C++17. CC, CXX, srcdir and builddir come from make.
set -eu
: "${CC:?}" "${srcdir:?}" "${builddir:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
flags="-pedantic -Wall -Wextra -Werror -fsyntax-only -I$srcdir/include -I$builddir/include"

# The headers, each by the name a user writes.
names()
{
	for h in "$srcdir"/include/iosched/*.h "$builddir"/include/iosched/*.h; do
		[ ! -f "$h" ] || echo "iosched/${h##*/}"
	done | sort -u
}

compile()
{
	# CC may be a compiler and its options.
	$CC -std=c11 -Wstrict-prototypes $flags -x c "$1" || return 1
	[ -z "$cxx" ] || $CXX -std=c++17 $flags -x c++ "$1"
}

cxx=
if [ -n "${CXX:-}" ] && echo 'int x;' >"$tmp/try.cc" && $CXX -fsyntax-only "$tmp/try.cc" 2>/dev/null
then
	cxx=yes
fi

count=0
for name in $(names); do
	# A header may hold macros only, and C wants a declaration in every file.
	printf '#include <%s>\n#include <%s>\nextern int a_file_has_something;\n' "$name" "$name" \
		>"$tmp/alone.c"
	compile "$tmp/alone.c" || { echo "<$name> does not compile alone"; exit 1; }
	echo "#include <$name>" >>"$tmp/all.c"
	count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "no header found"; exit 1; }
compile "$tmp/all.c" || { echo "the headers do not compile together"; exit 1; }

[ -n "$cxx" ] || { echo "$count headers are C11; no C++ compiler here"; exit 77; }
echo "$count headers are C11 and C++17"
