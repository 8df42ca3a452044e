#!/bin/sh
# The simulator decides the same under any compiler: what the library as built prints is compared with one
# that the other compiler made without optimisation. ALL=1 (make digests): both, with and without
# optimisation, and with sanitizers.
set -e
top=$(cd "$srcdir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Disks, an array, flash; programs; policies of every kind.
scenarios="
commit-log-beside-update.scn
array-random-seeks.scn
database-data-on-flash.scn
cooperators-split.scn
real-time-among-many.scn
program-bonnie-files.scn
doc/backup.scn
"
files=$(for s in $scenarios; do echo "$top/tests/scenarios/$s"; done)
build() { # name compiler flags...
	name=$1
	compiler=$2
	shift 2
	# shellcheck disable=SC2046
	"$compiler" -std=gnu11 -ffp-contract=off "$@" -I"$top/include" -I"$top/lib" -I"$builddir/include" \
		"$top/tests/digest/digest_sim.c" \
		$(find "$top/lib/blocks" "$top/lib/policies" "$top/lib/core" "$top/lib/sim" -name '*.c') \
		-o "$work/$name" -lm -lpthread
}
compare() { # name command...
	name=$1
	shift
	# shellcheck disable=SC2086
	"$@" $files >"$work/$name.out"
	if ! cmp -s "$work/reference.out" "$work/$name.out"; then
		echo "$name decides otherwise:"
		diff "$work/reference.out" "$work/$name.out"
		exit 1
	fi
	echo "same: $name"
}
# shellcheck disable=SC2086
tests/digest/digest_sim $files >"$work/reference.out"
cat "$work/reference.out"
test "$(wc -l <"$work/reference.out")" -gt 20
other=clang
case $(${CC:-cc} --version) in
*clang*) other=gcc ;;
esac
command -v "$other" >/dev/null || other=${CC:-cc}
build other-O0 "$other" -O0 -DIOS_ENABLE_ASSERT
compare other-O0 "$work/other-O0"
[ -n "${ALL:-}" ] || exit 0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for level in 0 3; do
		build $compiler-O$level $compiler -O$level
		compare $compiler-O$level "$work/$compiler-O$level"
	done
done
build sanitized gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DIOS_ENABLE_ASSERT
compare sanitized "$work/sanitized"
