#!/bin/sh
# Builds the library and the simulator with sanitizers and fuzzes scenario files, beginning with
# those of the tests. Environment: srcdir CLANG FUZZ_CFLAGS FUZZ_SECONDS.
set -e
top=$(cd "$srcdir" && pwd)
here=$(pwd)
mkdir -p fuzz-scenario/corpus
cd fuzz-scenario
for file in $(find "$top"/lib/blocks "$top"/lib/core "$top"/lib/policies "$top"/lib/sim -name "*.c"); do
	$CLANG $FUZZ_CFLAGS -I"$top/include" -I"$top/lib" -I"$here" -I"$here/include" -c "$file" \
		-o "$(echo "${file#"$top"/lib/}" | tr / _).o"
done
$CLANG $FUZZ_CFLAGS -fsanitize=fuzzer -I"$top/include" -I"$here/include" \
	"$top/tests/fuzz/fuzz_scenario.c" ./*.o -o fuzz_scenario
cp "$top"/tests/scenarios/*.scn "$top"/tests/fuzz/corpus/scenario/* corpus
./fuzz_scenario -max_total_time="$FUZZ_SECONDS" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
	-dict="$top/tests/fuzz/scenario.dict" -print_final_stats=1 corpus 2>log || {
	tail -40 log
	exit 1
}
grep -E 'number_of_executed_units|peak_rss' log
