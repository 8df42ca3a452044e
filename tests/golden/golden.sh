#!/bin/sh
# Every decision trace the tree carries, against the policies.
exec ./tests/conformance "${srcdir:-.}/tests/golden"
