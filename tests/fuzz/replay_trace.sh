#!/bin/sh
# The corpus of every format, read as every format, must not break a reader.
exec tests/fuzz/replay_trace "$srcdir"/tests/fuzz/corpus/trace_*
