# Sourced by the NFS tests: servers on a free port of the loopback, that end with the test.
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

server=$builddir/examples/nfs/nfs_server
load=$builddir/tests/nfs/load
fuzz=$builddir/tests/nfs/fuzz
[ -x "$server" ] || skip "the NFS server was not built (libnfs-dev)"

# For what is measured in real time: each answer of an emulated disk wakes a thread, and where that is
# allowed, other programs do not come before it.
prompt=
! chrt -f 10 true 2>/dev/null || prompt="chrt -f 10"

tmp=$(mktemp -d)
mkdir "$tmp/export"
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

# serve NAME OPTIONS...: a server of $tmp/export; sets pid
serve()
{
	local name=$1 i
	shift
	rm -f "$tmp/$name.out" # of a server of that name before
	# shellcheck disable=SC2086
	${serve_prompt-} "$server" "$@" "${serve_folder:-$tmp/export}" >"$tmp/$name.out" 2>"$tmp/$name.log" &
	pid=$!
	servers+=("$pid")
	for i in $(seq 100); do
		grep -q '^port' "$tmp/$name.out" 2>/dev/null && return 0
		kill -0 "$pid" 2>/dev/null || { cat "$tmp/$name.log"; fail "nfs_server $* did not start"; }
		sleep 0.05
	done
	fail "nfs_server $* is not there after 5 s"
}

# stop NAME PID: it ends by itself, with all answered
stop()
{
	kill "$2"
	wait "$2" || { cat "$tmp/$1.out" "$tmp/$1.log"; fail "$1 did not end well"; }
	grep -qE '^served ([0-9]+), answered \1$' "$tmp/$1.out" || fail "$1: $(tail -n 1 "$tmp/$1.out")"
	! grep -q 'left in the queue' "$tmp/$1.log" || fail "$1: requests were left in the queue"
}

# url NAME FILE
url()
{
	local port
	port=$(sed -n 's/^port //p' "$tmp/$1.out")
	echo "nfs://127.0.0.1/export$2?nfsport=$port&mountport=$port"
}
