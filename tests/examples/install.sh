#!/bin/sh
# A stranger's way: install into an empty prefix, take the examples' sources, and build each with the
# line its page gives, pkg-config being all that knows where the library is. Then run it.
. "${srcdir:-.}/tests/examples/lib.sh"
command -v pkg-config >/dev/null || skip "no pkg-config"
root=$tmp/root
libdir=$(sed -n 's/^libdir = //p' Makefile)
prefix=$(sed -n 's/^prefix = //p' Makefile)
pkgconfigdir=$(sed -n 's/^pkgconfigdir = //p' Makefile)
libdir=$(echo "$libdir" | sed "s|\${exec_prefix}|$prefix|;s|\${prefix}|$prefix|")
pkgconfigdir=$(echo "$pkgconfigdir" | sed "s|\${libdir}|$libdir|")

# Of this build, not of a make that may be running above us.
unset MAKEFLAGS MFLAGS MAKELEVEL
make install DESTDIR="$root" >"$tmp/install" 2>&1 || { tail "$tmp/install"; fail "make install"; }
for header in "$srcdir"/include/iosched/*.h; do
	[ -f "$root$prefix/include/iosched/${header##*/}" ] || fail "not installed: ${header##*/}"
done

PKG_CONFIG_PATH=$root$pkgconfigdir
PKG_CONFIG_SYSROOT_DIR=$root
LD_LIBRARY_PATH=$root$libdir
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
[ "$(pkg-config --modversion libiosched)" = "$(sed -n 's/^PACKAGE_VERSION = //p' Makefile)" ] ||
	fail "pkg-config finds another libiosched"

here=$(pwd)
mkdir "$tmp/source"
cp "$srcdir"/examples/*.[ch] "$tmp/source"
n=0
for page in "$srcdir"/docs/embedding/*.md "$srcdir"/docs/simulator.md; do
	grep '^cc ' "$page" >"$tmp/lines"
	while read -r line; do
		case $line in
		*liburing*) pkg-config --exists liburing || continue ;;
		esac
		program=${line##* }
		(cd "$tmp/source" && eval "$line") || fail "$page: $line"
		ldd "$tmp/source/$program" | grep -q "libiosched.so.* => $root" ||
			fail "$program does not use the library just installed"
		n=$((n + 1))
		case $program in
		hello) succeeds "$tmp/source/$program" "$srcdir/examples/load.c" ;;
		policy_lab) succeeds "$tmp/source/$program" "$srcdir/tests/scenarios/doc/sizes.scn" ;;
		custom_policy) succeeds "$tmp/source/$program" --check ;;
		*) succeeds "$tmp/source/$program" "$tmp/file" --seconds 0.2 ;;
		esac
	done <"$tmp/lines"
done
cd "$here" || exit 99
[ $n -ge 4 ] || fail "only $n examples have a line to build them"
echo "$n examples built from their pages"
