#!/usr/bin/env bash
# Real clients see the folder as it is and every byte of its files, both ways, under every policy,
# four at once; and nothing outside of it.
. "$(dirname "$0")/lib.sh"
for tool in nfs-ls nfs-cat nfs-cp; do
	command -v $tool >/dev/null || skip "no $tool here (libnfs-utils)"
done

head -c 4000001 /dev/urandom >"$tmp/export/big"
: >"$tmp/export/empty"
mkdir "$tmp/export/sub" "$tmp/secret"
echo hello >"$tmp/export/sub/hello"
echo secret >"$tmp/secret/file"
ln -s "$tmp/secret" "$tmp/export/link"
ln -s ../secret "$tmp/export/sub/up"
mkfifo "$tmp/export/pipe"
for i in $(seq 1200); do : >"$tmp/export/sub/many-$i"; done

before=$(ls "$tmp/export")
serve a --policy deadline
ls=$(nfs-ls "$(url a '')")
for name in big empty sub pipe; do
	grep -qw "$name" <<<"$ls" || fail "nfs-ls does not show $name"
done
[ "$(nfs-ls "$(url a /sub)" | grep -c many-)" = 1200 ] || fail "a folder of 1200 files is not shown whole"
[ "$(nfs-cat "$(url a /sub/hello)")" = hello ] || fail "nfs-cat of a file in a folder"
[ -z "$(nfs-cat "$(url a /empty)")" ] || fail "nfs-cat of an empty file"
for path in /link/file /sub/up/file /../secret/file /sub/../../secret/file /link; do
	! timeout 5 nfs-cat "$(url a "$path")" >"$tmp/got" 2>/dev/null || fail "$path can be read"
	! grep -q secret "$tmp/got" || fail "$path leads outside"
done
# A pipe is shown, and has nothing to read, rather than blocking the server.
timeout 5 nfs-cat "$(url a /pipe)" >"$tmp/got" 2>/dev/null || [ $? -ne 124 ] || fail "a pipe blocks"
[ ! -s "$tmp/got" ] || fail "a pipe has content"
if [ -x "$load" ]; then
	"$load" names "$(url a '')" || fail "names cannot be made, changed and removed"
	[ "$(ls "$tmp/export")" = "$before" ] || fail "names are left: $(ls "$tmp/export")"
fi
stop a "$pid"
[ "$(cat "$tmp/secret/file")" = secret ] || fail "a file outside was touched"
echo "the folder is seen as it is, and nothing else"

for p in bypass noop deadline mq-deadline anticipatory cfq cfq-2.6.32 fair-deadline; do
	serve "$p" --policy "$p" --workers 4
	clients=()
	for i in 1 2; do
		nfs-cat "$(url "$p" /big)" >"$tmp/cat-$i" &
		clients+=($!)
		nfs-cp "$tmp/export/big" "$(url "$p" "/copy-$i")" >/dev/null &
		clients+=($!)
	done
	for c in "${clients[@]}"; do wait "$c" || fail "a client under $p"; done
	for i in 1 2; do
		cmp "$tmp/cat-$i" "$tmp/export/big" || fail "nfs-cat under $p"
		cmp "$tmp/export/copy-$i" "$tmp/export/big" || fail "nfs-cp under $p"
	done
	nfs-cp "$(url "$p" /big)" "$tmp/back" >/dev/null && cmp "$tmp/back" "$tmp/export/big" ||
		fail "nfs-cp from the server under $p"
	[ ! -x "$load" ] || "$load" verify 16 16384 "$(url "$p" /big)" "$tmp/export/big" ||
		fail "16 reads at once under $p"
	stop "$p" "$pid"
	rm -f "$tmp/export"/copy-* "$tmp/back"
done
echo "four clients at once are exact under every policy"
