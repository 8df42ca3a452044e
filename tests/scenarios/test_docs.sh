#!/bin/sh
# docs/scenarios.md and the figures of fair-deadline are what the program prints.
PAGES="scenarios.md policies/fair-deadline.md" COMMANDS=4 exec "$srcdir/tests/workbench/test_docs.sh" "$@"
