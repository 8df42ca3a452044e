#!/bin/sh
# instructions.sh BENCH NAME ARG...: instructions of one op, from two runs of different length under
# callgrind, so that set-up cancels out. Of a policy, those inside the library's calls; of a
# floor, those of its whole loop.
case $2 in
floor:*) only= ;;
*) only='--toggle-collect=iosched_insert --toggle-collect=iosched_dispatch
	--toggle-collect=iosched_complete --toggle-collect=iosched_timer' ;;
esac
count() {
	# shellcheck disable=SC2086
	valgrind --tool=callgrind --callgrind-out-file=/dev/null $only "$@" 2>&1 >/dev/null |
		awk '/Collected :/ { print $4 }'
}
bench=$1
shift
a=$(count "$bench" "$@" ops=3000)
b=$(count "$bench" "$@" ops=13000)
echo $(((b - a) / 10000))
