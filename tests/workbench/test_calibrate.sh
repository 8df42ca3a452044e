#!/usr/bin/env bash
# calibrate: measures within its time, writes nothing unasked, and what it prints can be used.
. "$(dirname "$0")/common.sh"
file=$tmp/disk
head -c 64M /dev/urandom >"$file"
before=$(sha256sum <"$file")
unchanged()
{
	[ "$(sha256sum <"$file")" = "$before" ] || complain "$* changed the file"
}

began=$(date +%s%N)
expect 0 calibrate --seconds 1 "$file"
took=$((($(date +%s%N) - began) / 1000000))
[ "$took" -lt 4000 ] || complain "one second of measuring took $took ms"
[ "$took" -ge 900 ] || complain "one second of measuring took only $took ms"
unchanged calibrate
says out '^ *sequential read +256 +4 '
says out '^ *random read +4 +32 '
says out '^rotational: (yes|no|unknown); volatile write cache: (yes|no|unknown); depth: ([0-9]+|unknown)'
says out '^note: writes were not measured'
says out '^    params.parallel = IOSCHED_PARALLEL_[A-Z]+;$'
grep -q 'write_' <(grep -e '--tunable' "$tmp/out") && complain "writes were not measured but have tunables"

# Rates and latencies: numbers above 0, in every column of the table.
rows=$(grep -cE '^ *(sequential|random) read' "$tmp/out")
[ "$rows" -eq 9 ] || complain "$rows rows, not 9"
awk '/^ *(sequential|random) read/ { for (i = 3; i <= 8; i++) if ($i !~ /^[0-9.]+$/ || $i <= 0) exit 1
	if (NF != 8) exit 1 }' "$tmp/out" || complain "a rate or latency is not above 0"

# A replay takes the options as they are printed, and the values are above 0.
mapfile -t options < <(sed -n 's/^    --tunable //p' "$tmp/out")
[ ${#options[@]} -eq 8 ] || complain "${#options[@]} tunables, not 8"
for option in "${options[@]}"; do
	[[ $option =~ ^fair-deadline\.[a-z_]+=[1-9][0-9]*$ ]] || complain "not a setting: $option"
	# The C lines have the same ones.
	name=${option#*.}
	says out "iosched_tunable_set\\(queue, \"${name%=*}\", UINT64_C\\(${name#*=}\\)\\);"
done
cp "$tmp/out" "$tmp/printed"
expect 0 replay "$data/dump.blkparse.xz" --policy fair-deadline "${options[@]/#/--tunable=}"

# The C lines are C.
if command -v "${CC:-cc}" >/dev/null; then
	{
		echo '#include <iosched/iosched.h>'
		echo 'int make(struct iosched *queue); int make(struct iosched *queue) {'
		echo 'struct iosched_params params; iosched_params_init(&params, sizeof(params));'
		sed -n '/^for C/,$p' "$tmp/printed" | grep '^    '
		echo 'return params.rotational; }'
	} >"$tmp/paste.c"
	# shellcheck disable=SC2086
	${CC:-cc} -fsyntax-only -I"$top/include" -I"$builddir/include" "$tmp/paste.c" ||
		complain "the C lines do not compile"
fi

if have_json; then
	expect 0 calibrate --seconds 1 --json "$file"
	unchanged "calibrate --json"
	[ "$(at bytes)" = 67108864 ] || complain "$(at bytes) bytes, not 64 MiB"
	[ "$(at measured)" = 9 ] || complain "$(at measured) loads, not 9"
	[ "$(at written)" = false ] || complain "it says that it wrote"
	at params.parallel >/dev/null
	for where in parallelism tunables.{position_ns,byte_ps,read_{byte_ps,seq_ns,rand_ns}} \
		tunables.read_solo_{rand_ns,seq_ns,byte_ps} \
		measured.{0..8}.{requests,bytes_per_s,iops,mean_ns,median_ns}; do
		value=$(at "$where")
		awk -v "v=$value" 'BEGIN { exit !(v ~ /^[0-9.e+]+$/ && v > 0) }' ||
			complain "$where is $value"
	done
fi

# Writes: only when asked for, and said.
expect 0 calibrate --seconds 1 --write "$file"
says err 'overwriting its content'
says out 'the content was overwritten'
says out '^    --tunable fair-deadline.write_rand_ns=[1-9]'
[ "$(sha256sum <"$file")" != "$before" ] || complain "--write wrote nothing"
[ "$(stat -c %s "$file")" -eq 67108864 ] || complain "--write changed the size"

expect 1 calibrate "$tmp/nosuch"
says err 'nosuch: No such file'
expect 1 calibrate "$tmp"
says err 'is a directory'
head -c 16777215 /dev/zero >"$tmp/small"
expect 1 calibrate "$tmp/small"
says err 'too small'
mkfifo "$tmp/pipe"
expect 1 calibrate "$tmp/pipe"
says err 'neither a file nor a block device'
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 "$file"
	expect 1 calibrate "$file"
	says err 'Permission denied'
fi
expect 2 calibrate
expect 2 calibrate "$file" "$file"
expect 2 calibrate --seconds 0 "$file"
says err 'wants a number from 1'
expect 2 calibrate --seconds soon "$file"
exit $bad
