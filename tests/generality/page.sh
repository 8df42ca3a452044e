#!/bin/sh
# page.sh: writes the tables of docs/generality.md anew, from the line that begins them on.
# Environment: srcdir. Takes a minute or two.
set -e
page=$srcdir/docs/generality.md
sed '/^<!-- make generality-page/q' "$page" > page.new
tests/generality/generality -a -m >> page.new || true
mv page.new "$page"
