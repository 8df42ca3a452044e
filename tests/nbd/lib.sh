# Sourced by the NBD tests: servers that live in a temp folder and end with the test.
# builddir comes from make.
set -euo pipefail
: "${builddir:?}"

skip()
{
	echo "$*"
	exit 77
}

fail()
{
	echo "FAILED: $*"
	exit 1
}

# Others than the build's, and what they need loaded first: the sanitizers' tests give them.
filter=${NBD_FILTER:-$builddir/.libs/nbdkit-iosched-filter.so}
disk=${NBD_DISK:-$builddir/.libs/nbdkit-iosched-disk-plugin.so}
client=$builddir/tests/nbd/client
[ -f "$filter" ] && [ -f "$disk" ] || skip "the nbdkit modules were not built (nbdkit-plugin-dev)"
command -v nbdkit >/dev/null || skip "no nbdkit here"
export LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# For what is measured: other programs do not come before, where that is allowed.
prompt=
! chrt -f 10 true 2>/dev/null || prompt="chrt -f 10"

nbdkit()
{
	env ${NBD_PRELOAD:+"LD_PRELOAD=$NBD_PRELOAD"} nbdkit "$@"
}

tmp=$(mktemp -d)
threads=64 # of nbdkit, for one connection
servers=()
end_servers()
{
	local pid
	for pid in ${servers[@]+"${servers[@]}"}; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	servers=()
}
trap 'end_servers; rm -rf "$tmp"' EXIT

# serve NAME ARGUMENTS...: a server at the socket $tmp/NAME; its uri is `uri NAME [EXPORT]`.
serve()
{
	local name=$1 pid i
	shift
	# shellcheck disable=SC2086
	${serve_prompt-} env ${NBD_PRELOAD:+"LD_PRELOAD=$NBD_PRELOAD"} nbdkit -f -U "$tmp/$name" -P "$tmp/$name.pid" -t "$threads" "$@" 2>"$tmp/$name.log" &
	pid=$!
	servers+=("$pid")
	for i in $(seq 100); do
		[ -e "$tmp/$name.pid" ] && return 0
		kill -0 "$pid" 2>/dev/null || { cat "$tmp/$name.log"; fail "nbdkit $* did not start"; }
		sleep 0.05
	done
	fail "nbdkit $* is not there after 5 s"
}

uri()
{
	echo "nbd+unix:///${2-}?socket=$tmp/$1"
}

# The number behind WORDS in FILE.
number()
{
	sed -n "s|^$2 \([0-9]*\).*|\1|p" "$1"
}

# Whatever happened, what went in came out, and nothing is left.
conserved()
{
	local in out
	in=$(number "$1" inserted) out=$(number "$1" completed)
	[ -n "$in" ] && [ "$in" = "$out" ] || fail "$in requests went in, $out came out"
	[ "$(number "$1" queued)$(number "$1" inflight)" = 00 ] || fail "requests are left in the queue"
}

policies()
{
	local p
	for p in noop deadline mq-deadline anticipatory cfq cfq-2.6.32 fair-deadline; do
		nbdkit --filter="$filter" memory 1M "iosched-policy=$p" --run true 2>/dev/null && echo "$p"
	done
	return 0
}
