#!/bin/sh
# The thread pool: real I/O under every policy, shutdown, errors, kill -9.
. "${srcdir:-.}/tests/examples/lib.sh"
. "$srcdir/tests/examples/engines.sh"
engine=./examples/threaded_queue
real_io
abandon
errors
killed
