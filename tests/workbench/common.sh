# Sourced by the workbench's tests: the program, the shipped traces, a folder to write in,
# and how to say what should be.
set -u
shopt -s nullglob dotglob
top=$(cd "$(dirname "$0")/../.." && pwd)
data=$top/tests/data
iosched=$builddir/examples/iosched
json=$builddir/tests/workbench/check_json
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0

complain()
{
	echo "FAILED: $*"
	bad=1
}

# expect CODE ARGUMENT...: runs the program, keeps $tmp/out and $tmp/err.
expect()
{
	local code=$1 got=0
	shift
	"$iosched" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || got=$?
	[ "$got" -eq "$code" ] || {
		complain "iosched $* ends with $got, not $code"
		head -n 5 "$tmp/err"
	}
}

# says FILE PATTERN: the kept file has a line with it.
says()
{
	grep -qE -e "$2" "$tmp/$1" || {
		complain "no \"$2\" in $1:"
		head -n 20 "$tmp/$1"
	}
}

# Nothing but the files named is in the folder for what the program writes.
only_these_in()
{
	local folder=$1 found
	shift
	found=$(cd "$folder" && printf '%s\n' * | sort | tr '\n' ' ')
	[ "$found" = "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" ] ||
		complain "in the folder: $found, not: $*"
}

have_json()
{
	[ -x "$json" ]
}

at()
{
	"$json" get "$1" <"${2:-$tmp/out}" || complain "no $1 in the JSON"
}

command -v xz >/dev/null || { echo "no xz here to unpack the shipped traces"; exit 77; }
