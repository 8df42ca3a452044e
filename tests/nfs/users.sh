#!/usr/bin/env bash
# One user reads with four clients, another with one, all from one 7200 rpm drive in real time. With a
# queue that knows clients only, the first has four fifths of it; with a group for each user,
# both have their half.
. "$(dirname "$0")/lib.sh"
[ -x "$load" ] || skip "the NFS client was not built"

for f in 1 2 3 4 5; do truncate -s 100M "$tmp/export/$f"; done
serve probe --policy cfq --group uid
stop probe "$pid"

# many_and_one OPTIONS...: sets many and one, in KB/s
many_and_one()
{
	local readers=() f uid
	serve run --policy cfq --context client --workers 20 --device hdd --depth 1 --transfer 65536 "$@"
	for f in 1 2 3 4 5; do
		uid=$((f == 5 ? 2000 : 1000))
		"$load" read 2500 4 65536 "$(url run "/$f")&uid=$uid&gid=$uid" >"$tmp/$f" &
		readers+=($!)
	done
	for f in "${readers[@]}"; do wait "$f" || fail "a client"; done
	stop run "$pid"
	one=$(($(cat "$tmp/5") / 1000 + 1)) many=0
	for f in 1 2 3 4; do many=$((many + $(cat "$tmp/$f") / 1000)); done
	echo "four clients : one = $((many * 100 / one)) : 100  ${*:-without groups}"
}

for try in 1 2 3; do
	many_and_one
	without=$((many * 100 / one))
	many_and_one --group uid
	with=$((many * 100 / one))
	[ "$without" -ge 230 ] && [ "$with" -ge 50 ] && [ "$with" -le 200 ] && exit 0
done
fail "a user with four clients should have 4 : 1 without groups, 1 : 1 with them"
