#!/usr/bin/env bash
# sim: exit codes, verdicts, and what each option prints.
. "$(dirname "$0")/common.sh"
good=$top/tests/scenarios/dump-interleaved.scn
failing=$top/tests/scenarios/doc/backup.scn

expect 0 sim "$good"
says out '  pass  throughput deadline = noop within 5%   \['
says out '^  cfq-2.6.28 '
expect 1 sim "$failing"
says out '  FAIL  p99_total\(database\) deadline <= 100 ms'
says err '1 expectation does not hold'
expect 1 sim "$good" "$failing"
says out 'dump: four'
says out 'beside a backup'

expect 0 sim --policy noop,mq-deadline "$good"
says out '^  mq-deadline '
says out '^note: noop and mq-deadline did the same: '
says out '`host window 1`'
says out '  not checked  throughput anticipatory'
expect 0 sim --only noop "$good"
! grep -q '^note' "$tmp/out" || complain "one policy did the same as itself"
expect 2 sim --only nosuch "$good"
says err 'no policy line is labelled "nosuch"'
says err '^  noop$'
expect 2 sim
expect 1 sim "$tmp/nowhere.scn"
says err 'nowhere.scn: No such file'
expect 1 sim "$top/tests/scenarios/doc/misspelt.scn"
says err 'misspelt.scn:7: "thnik" .* did you mean "think"'

expect 0 sim --only noop --explain --limit 3 "$good"
says out 'context 1 \(dumper.1\)'
says out '^noop: [0-9]* requests'
expect 2 sim --explain "$good"
says err 'want one run'
expect 2 sim --explain --only noop "$good" "$failing"
expect 0 sim --only noop --perfetto "$tmp/t.json" "$good"
grep -q '"ph":"' "$tmp/t.json" || complain "the timeline is empty"

if have_json; then
	expect 1 sim --json "$failing"
	says out '"state": "FAIL"'
	says out '"label": "alone"'
	[ "$("$json" get 0.expectations <"$tmp/out")" = 3 ] || complain "not three expectations"
fi
exit $bad
