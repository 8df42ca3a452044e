#!/bin/sh
# instructions.sh BENCH ARG...: instructions of one op, from two runs of different
# length under callgrind, so that set-up cancels out.
count() {
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
		awk '/Collected :/ { print $4 }'
}
bench=$1
shift
a=$(count "$bench" "$@" ops=5000)
b=$(count "$bench" "$@" ops=25000)
echo $(((b - a) / 20000))
