#!/usr/bin/env bash
# All C files are as clang-format would write them.
. "$(dirname "$0")/files.sh"

command -v clang-format >/dev/null || skip "no clang-format here"
# Releases differ in small things, and the tree is written with this one.
version=$(clang-format --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "$version" = 14 ] || skip "clang-format $version here, the tree follows 14"

mapfile -d '' -t files < <(tracked '*.c' '*.h')
[ ${#files[@]} -gt 0 ] || { echo "no C files found"; exit 1; }
clang-format --dry-run -Werror --style=file "${files[@]}"
echo "${#files[@]} files are formatted"
