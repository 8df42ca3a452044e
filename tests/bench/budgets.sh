#!/bin/sh
# budgets.sh: no policy costs more instructions than it may: insert + dispatch + complete at 1024
# queued over 64 contexts, merge search included, and the same with 100000 idle contexts known.
if ! command -v valgrind >/dev/null; then
	echo "SKIP: valgrind is not installed"
	exit 77
fi
bench=$builddir/tests/bench/bench
budget() { # limit name arg...
	limit=$1
	shift
	got=$("$builddir/libtool" --mode=execute -dlopen "$builddir/libiosched.la" \
		"$srcdir/tests/bench/instructions.sh" "$bench" "$@")
	verdict=ok
	if [ "$got" -gt "$limit" ]; then
		verdict='OVER'
		failed=1
	fi
	printf '%-34s %5s of %5s  %s\n' "$*" "$got" "$limit" "$verdict"
}
failed=0
budget 130 noop merge=0
budget 220 noop
budget 600 deadline
budget 650 mq-deadline
budget 800 anticipatory
budget 1000 cfq-2.6.32
budget 1000 cfq
budget 1000 cfq known=100000
exit $failed
