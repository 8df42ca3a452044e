#!/bin/sh
# The event loop: real I/O under every policy; a failing range; errors of the file.
. "${srcdir:-.}/tests/examples/lib.sh"
engine=./examples/push_adapter

for policy in --bypass $(policies | sed 's/[^ ][^ ]*/--policy=&/g'); do
	succeeds $engine "$tmp/file" "$policy" --seconds 0.3
	says "requests, 0 errors"
	succeeds $engine "$tmp/file" "$policy" --seconds 0.2 --apart
	fails_with "Input/output error" $engine "$tmp/file" "$policy" --fail-after 600000
	says "^[0-9]+ requests, [1-9][0-9]* errors"
done
fails_with "No space left" $engine /dev/full
fails_with "No such file" $engine "$tmp/absent/file"
