#!/bin/sh
# fuzz_trace.sh FORMAT...: builds lib/trace with sanitizers and fuzzes one format after the other.
# Environment: srcdir CLANG FUZZ_CFLAGS FUZZ_SECONDS. Findings stay in ./fuzz-trace.
set -e
top=$(cd "$srcdir" && pwd)
here=$(pwd)
mkdir -p fuzz-trace
cd fuzz-trace
for file in "$top"/lib/trace/*.c; do
	$CLANG $FUZZ_CFLAGS -I"$top/include" -I"$top/lib" -I"$here/include" -c "$file"
done
for format; do
	name=$(echo "$format" | tr - _)
	$CLANG $FUZZ_CFLAGS -fsanitize=fuzzer -DFUZZ_FORMAT="\"$format\"" -I"$top/include" \
		-I"$here/include" "$top/tests/fuzz/fuzz_trace.c" ./*.o -o "fuzz_trace_$name"
	mkdir -p "corpus_$name"
	# "auto" starts from everybody's.
	if test "$format" = auto; then
		cp "$top"/tests/fuzz/corpus/trace_native/* "$top"/tests/fuzz/corpus/trace_blk*/* \
			"corpus_$name"
	else
		cp "$top/tests/fuzz/corpus/trace_$name"/* "corpus_$name"
	fi
	echo "== $format"
	"./fuzz_trace_$name" -max_total_time="$FUZZ_SECONDS" -max_len=8192 -timeout=10 \
		-rss_limit_mb=1024 -print_final_stats=1 "corpus_$name" 2>"log_$name" ||
		{ tail -40 "log_$name"; exit 1; }
	grep -E 'number_of_executed_units|peak_rss' "log_$name"
done
