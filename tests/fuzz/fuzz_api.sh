#!/bin/sh
# fuzz_api.sh: builds the library with sanitizers and fuzzes the public API against its twin.
# Environment: srcdir CLANG FUZZ_CFLAGS FUZZ_SECONDS. Findings stay in ./fuzz-api.
set -e
top=$(cd "$srcdir" && pwd)
here=$(pwd)
mkdir -p fuzz-api/corpus
cd fuzz-api
$CLANG $FUZZ_CFLAGS -fsanitize=fuzzer -DIOS_ENABLE_ASSERT -I"$top/include" -I"$top/lib" \
	-I"$here/include" "$top/tests/fuzz/fuzz_api.c" \
	$(find "$top/lib/blocks" "$top/lib/policies" "$top/lib/core" -name '*.c') \
	"$top/lib/sim/promise.c" "$top/lib/sim/map.c" -o fuzz_api
cp "$top"/tests/fuzz/corpus/api/* corpus
./fuzz_api -max_total_time="$FUZZ_SECONDS" -max_len=2000 -timeout=20 -print_final_stats=1 corpus \
	2>log || { tail -40 log; exit 1; }
grep -E 'number_of_executed_units|peak_rss' log
