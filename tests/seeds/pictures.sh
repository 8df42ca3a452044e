#!/bin/sh
# The pictures of docs/seeds.md, drawn anew: all ratios, and what the device did in the cells it tells of.
set -eu
: "${builddir:?}" "${srcdir:?}"
images=$srcdir/docs/images
draw()
{
	picture=$1
	shift
	"$builddir/examples/iosched" seeds "$@" --runs 1 --plot "$images/$picture.png" >/dev/null
	echo "$images/$picture.png"
}
draw seeds --policy noop,deadline,anticipatory,cfq-2.6.32
for cell in sysbench-3 dump nfs-1 nfs-4 tps seeks rewrite; do
	draw "seeds-$cell" "$cell" --policy cfq-2.6.32
done
