#!/bin/sh
# budgets.sh: no policy costs more instructions than it may: insert + dispatch + complete at 1024
# queued over 64 contexts, merge search included, and the same with 100000 idle contexts known, or on
# flash, where fair-deadline has another mode. What
# README.md says of a policy is within a twentieth of it.
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
	if [ "$got" -eq 0 ]; then
		echo "SKIP: valgrind cannot count what this compiler makes"
		exit 77
	fi
	verdict=ok
	said=
	[ $# -gt 1 ] || said=$(sed -n "s/.*\`$1\` \([0-9][0-9]*\).*/\1/p" "$srcdir/README.md")
	if [ -n "$said" ] && { [ $((said * 20)) -gt $((got * 21)) ] || [ $((said * 20)) -lt $((got * 19)) ]; }; then
		verdict="README.md says $said"
		failed=1
	fi
	if [ "$got" -gt "$limit" ]; then
		verdict='OVER'
		failed=1
	fi
	printf '%-34s %5s of %5s  %s\n' "$*" "$got" "$limit" "$verdict"
}
failed=0
budget 130 noop merge=0
[ "$(grep -c '`noop` [0-9]' "$srcdir/README.md")" -eq 1 ] || { echo "README.md says nothing of cost"; failed=1; }
budget 220 noop
budget 600 deadline
budget 650 mq-deadline
budget 800 anticipatory
budget 1000 cfq-2.6.32
budget 1000 cfq
budget 1000 cfq known=100000
budget 990 fair-deadline
budget 990 fair-deadline known=100000
budget 710 fair-deadline flash=1
budget 710 fair-deadline flash=1 known=100000
exit $failed
