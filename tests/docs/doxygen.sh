#!/bin/sh
# Every public thing is documented: Doxygen finds nothing to warn about.
if ! command -v doxygen >/dev/null; then
	echo "SKIP: doxygen is not installed"
	exit 77
fi
exec doxygen "$builddir/docs/Doxyfile"
