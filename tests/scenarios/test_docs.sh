#!/bin/sh
# docs/scenarios.md shows what the program prints.
PAGES=scenarios.md COMMANDS=4 exec "$srcdir/tests/workbench/test_docs.sh" "$@"
