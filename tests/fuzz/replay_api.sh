#!/bin/sh
# The corpus of the API's fuzzer, and as many random programs, must hold what the twin claims.
exec tests/fuzz/replay_api -random=3000 "$srcdir"/tests/fuzz/corpus/api
