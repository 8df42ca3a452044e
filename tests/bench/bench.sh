#!/bin/sh
# bench.sh BENCH: the table `make bench` prints: instructions (callgrind; inside the library, of a floor
# without its loop's own) and CPU nanoseconds (median of 5, loop included) of one insert + dispatch +
# complete, beside bare floors.
dir=$(dirname "$0")
bench=$1
median() {
	for _ in 1 2 3 4 5; do "$bench" "$@"; done | awk '{ print $6 }' | sort -n | sed -n 3p
}
policies=$("$bench" policies)
loop=$("$dir/instructions.sh" "$bench" floor:loop)
row() {
	name=$1
	shift
	case $1 in floor:*) own=$loop ;; *) own=0 ;; esac
	printf '%-34s %8s %8s\n' "$name" "$(($("$dir/instructions.sh" "$bench" "$@") - own))" "$(median "$@")"
}
printf '%-34s %8s %8s\n' "1024 queued, 64 contexts, random" instr. ns
row "floor: intrusive list" floor:list
row "floor: red-black tree, take least" floor:rbtree
for policy in $policies; do
	row "$policy, no merge search" "$policy" merge=0
	row "$policy" "$policy"
done
for policy in $policies; do
	row "$policy, 100000 idle contexts" "$policy" known=100000
done
