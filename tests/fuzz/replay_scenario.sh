#!/bin/sh
# Bad scenarios, the good ones, and bytes nobody wrote: none may break the reader.
exec tests/fuzz/replay_scenario "$srcdir"/tests/fuzz/corpus/scenario \
	"$srcdir"/tests/scenarios/*.scn -random=2000
