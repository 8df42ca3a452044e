#!/bin/sh
# Two compilers, with and without optimisation, with sanitizers, under valgrind: the same decisions.
set -e
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sources="$top/tests/digest/digest.c $(find "$top/lib/blocks" "$top/lib/policies" "$top/lib/core" -name '*.c')"
build() { # name compiler flags...
	name=$1
	compiler=$2
	shift 2
	"$compiler" -std=gnu11 "$@" -I"$top/include" -I"$top/lib" -I"$builddir/include" $sources \
		-o "$work/$name"
}
compare() { # name command...
	name=$1
	shift
	"$@" >"$work/$name.out"
	if ! cmp -s "$work/reference.out" "$work/$name.out"; then
		echo "$name decides otherwise:"
		diff "$work/reference.out" "$work/$name.out"
		exit 1
	fi
	echo "same: $name"
}
build reference gcc -O0 -DIOS_ENABLE_ASSERT
"$work/reference" >"$work/reference.out"
cat "$work/reference.out"
test "$(wc -l <"$work/reference.out")" -gt 1
build gcc-O3 gcc -O3
compare gcc-O3 "$work/gcc-O3"
if command -v clang >/dev/null; then
	build clang-O0 clang -O0
	compare clang-O0 "$work/clang-O0"
	build clang-O3 clang -O3
	compare clang-O3 "$work/clang-O3"
fi
build sanitized gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DIOS_ENABLE_ASSERT
compare sanitized "$work/sanitized"
if command -v valgrind >/dev/null; then
	compare valgrind valgrind -q --error-exitcode=9 --leak-check=full "$work/gcc-O3"
fi
