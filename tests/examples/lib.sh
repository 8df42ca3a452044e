# Sourced by the tests of the examples. Run in the build directory; $tmp goes away at the end.
srcdir=${srcdir:-.}
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT

skip() {
	echo "skipped: $*"
	exit 77
}

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# Runs a program; its output goes to $tmp/out, what it complains of to $tmp/err.
run() {
	timeout -k 5 120 "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	return $status
}

succeeds() {
	run "$@" || { cat "$tmp/out" "$tmp/err"; fail "status $status: $*"; }
}

# fails_with SENTENCE PROGRAM...: exit status 1, and the sentence among the complaints
fails_with() {
	sentence=$1
	shift
	run "$@"
	[ "$status" = 1 ] || { cat "$tmp/out" "$tmp/err"; fail "status $status, not 1: $*"; }
	grep -q "$sentence" "$tmp/err" || { cat "$tmp/err"; fail "did not say '$sentence': $*"; }
}

policies() {
	./examples/threaded_queue 2>&1 | sed -n 's/^policies://p'
}

# Clients that give up are counted: what they had submitted came back.
says() {
	grep -Eq "$1" "$tmp/out" || { cat "$tmp/out"; fail "did not print '$1'"; }
}
