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
cp -R "$srcdir/examples" "$tmp/source"
head -c 409600 /dev/urandom >"$tmp/data"

# try PROGRAM: it does what it is for
try() {
	program=$tmp/source/$1
	case $1 in
	hello) succeeds "$program" "$srcdir/examples/load.c" ;;
	custom_policy) succeeds "$program" --check ;;
	policy_lab) succeeds "$program" "$srcdir/tests/scenarios/doc/sizes.scn" ;;
	nbdkit-iosched-filter.so)
		command -v nbdkit >/dev/null && command -v nbdcopy >/dev/null || return 0
		succeeds nbdkit -U - "--filter=$program" file "$tmp/data" iosched-policy=fair-deadline \
			--run 'nbdcopy "$uri" - | cmp - '"$tmp/data"
		;;
	nbdkit-iosched-disk-plugin.so)
		command -v nbdkit >/dev/null && command -v nbdcopy >/dev/null || return 0
		succeeds nbdkit -U - "$program" device=hdd time-permille=10 size=4M "file=$tmp/disk" \
			--run 'nbdcopy "$uri" - | cmp - '"$tmp/disk"
		;;
	nfs_server)
		mkdir -p "$tmp/export"
		cp "$tmp/data" "$tmp/export/data"
		"$program" --policy fair-deadline "$tmp/export" >"$tmp/port" 2>"$tmp/err" &
		server=$!
		until grep -q '^port' "$tmp/port" || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
		port=$(sed -n 's/^port //p' "$tmp/port")
		if command -v nfs-cat >/dev/null; then
			nfs-cat "nfs://127.0.0.1/export/data?nfsport=$port&mountport=$port" |
				cmp - "$tmp/data" || { kill $server; fail "nfs_server sends something else"; }
		fi
		kill $server
		wait $server || fail "nfs_server did not end well"
		;;
	*) succeeds "$program" "$tmp/file" --seconds 0.2 ;;
	esac
}

# Every page of a program has a line, and every program a page.
n=0
for page in "$srcdir"/docs/embedding/*.md "$srcdir"/docs/simulator.md; do
	grep '^cc ' "$page" >"$tmp/lines" || case ${page##*/} in
	spdk.md) ;;
	*) fail "$page: no line to build it" ;;
	esac
	while read -r line; do
		name=${line##* }
		# What it needs beside us may not be here.
		for needed in liburing nbdkit libnfs; do
			case $line in
			*"pkg-config "*" $needed"*)
				pkg-config --exists $needed || { echo "$name: no $needed"; continue 2; }
				;;
			esac
		done
		(cd "$tmp/source" && eval "$line") || fail "$page: $line"
		ldd "$tmp/source/$name" | grep -q "libiosched.so.* => $root" ||
			fail "$name does not use the library just installed"
		try "$name"
		echo "$name" >>"$tmp/built"
		n=$((n + 1))
	done <"$tmp/lines"
done
cd "$here" || exit 99
[ $n -ge 4 ] || fail "only $n examples have a line to build them"
for program in hello policy_lab threaded_queue push_adapter custom_policy uring_engine nbdkit-iosched-filter.so \
	nbdkit-iosched-disk-plugin.so nfs_server; do
	grep -hq "^cc .* -o $program\$" "$srcdir"/docs/embedding/*.md "$srcdir"/docs/simulator.md || fail "$program is on no page"
done
echo "$n examples built from their pages: $(tr '\n' ' ' <"$tmp/built")"
