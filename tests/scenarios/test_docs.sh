#!/bin/sh
# docs/scenarios.md shows what the program prints.
PAGE=scenarios.md COMMANDS=4 exec "$srcdir/tests/workbench/test_docs.sh" "$@"
