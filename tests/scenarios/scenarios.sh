#!/bin/sh
# Every scenario holds, and every run has the digest that is pinned.
here=$srcdir/tests/scenarios
exec tests/scenarios/run_scenarios -d "$here/digests.txt" "$here"/*.scn
