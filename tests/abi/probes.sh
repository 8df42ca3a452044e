#!/bin/sh
# The static probes are in the shared library for those who built it with them.
if ! grep -q '^#define IOS_HAVE_SDT 1' "$builddir/config.h"; then
	echo "SKIP: built without sys/sdt.h"
	exit 77
fi
if ! command -v readelf >/dev/null; then
	echo "SKIP: no readelf"
	exit 77
fi
readelf -n "$builddir/.libs/libiosched.so" >probes.out
for probe in insert merge dispatch complete; do
	grep -A1 'Provider: iosched' probes.out | grep -q "Name: $probe\$" || {
		echo "no probe iosched:$probe"
		rm -f probes.out
		exit 1
	}
done
rm -f probes.out
