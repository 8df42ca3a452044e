#!/usr/bin/env bash
# Help, and exit code 2 with a sentence for everything asked for wrongly.
. "$(dirname "$0")/common.sh"
trace=$data/dump.blkparse.xz

expect 0 --help
says out '^Usage: iosched VERB'
expect 0 -h
expect 0 --version
says out '^iosched [0-9]+\.[0-9]+\.[0-9]+$'
verbs=$("$iosched" --help | sed -n 's/^  \([a-z]*\( [a-z][a-z]*\)\{0,1\}\)  .*/\1/p')
[ "$(echo "$verbs" | wc -l)" -ge 6 ] || complain "the help lists too few verbs: $verbs"
while IFS= read -r verb; do
	# shellcheck disable=SC2086
	expect 0 $verb --help
	says out "^Usage: iosched $verb "
	says out '^  --help'
	# shellcheck disable=SC2086
	expect 2 $verb --no-such-option
	says err "see .iosched $verb --help"
done <<<"$verbs"

expect 2
says err '^Usage:'
expect 2 dance
says err 'no verb "dance"'
expect 2 trace
says err 'iosched trace info'
expect 2 trace dance
expect 2 replay
says err 'too few operands'
expect 2 trace convert one
expect 2 trace convert one two three
says err 'too many operands'
expect 2 policies nosuch
says err 'no policy "nosuch"'
expect 2 replay "$trace" --policy noop,nosuch
says err 'no policy "nosuch"'
expect 2 replay "$trace" --device nosuch
says err 'no device "nosuch"; .iosched replay --help. lists them'
expect 2 replay "$trace" --device hdd:nosuch=1
says err 'nosuch'
expect 2 replay "$trace" --device hdd:rpm
says err 'not PARAMETER=VALUE'
expect 2 replay "$trace" --device hdd:rpm=fast
expect 2 replay "$trace" --tunable nosuch=1
says err 'no policy has it'
expect 2 replay "$trace" --policy noop --tunable read_expire_ns=1ms
says err 'none of the chosen policies has it'
expect 2 replay "$trace" --tunable noop.read_expire_ns=1ms
says err 'policy noop has no tunable'
expect 2 replay "$trace" --tunable read_expire_ns=soon
says err 'not a value'
expect 2 replay "$trace" --policy deadline --tunable read_expire_ns=90000s
says err 'out of range'
expect 2 replay "$trace" --tunable read_expire_ns
expect 2 replay "$trace" --scale 0
expect 2 replay "$trace" --scale -1
expect 2 replay "$trace" --closed 0
expect 2 replay "$trace" --window 0
expect 2 replay "$trace" --seed x
expect 2 replay "$trace" --format nosuch
says err '^  blkparse '
! grep -q null "$tmp/err" || complain "a format without a name is listed"
expect 2 replay "$trace" --plot "$tmp/x.pdf"
says err 'must end in .svg or .png'
expect 2 replay "$trace" "$trace" --plot "$tmp/x.svg"
says err 'one trace at a time'
expect 2 explain "$trace"
says err 'exactly one --policy'
expect 2 explain "$trace" --policy noop,deadline
expect 2 explain "$trace" --policy noop --limit x
expect 2 explain "$trace" --policy noop --from noon
expect 2 trace convert "$trace" "$tmp/x" --to spc

expect 0 policies
says out '^noop +0 +-  '
says out '^fair-deadline .* contexts, classes, groups, weights, limits  '
policies=$(awk 'NR > 1 { print $1 }' "$tmp/out")
grep -qx noop <<<"$policies" || complain "noop is not listed"
for policy in $policies; do
	expect 0 policies "$policy"
	says out "^$policy: ."
done
expect 0 policies deadline
says out 'read_expire_ns +500 ms'
says out 'fifo_batch +16 '

expect 0 programs
programs=$(awk 'NR > 1 { print $1 }' "$tmp/out")
grep -qx pgbench <<<"$programs" || complain "pgbench is not listed"
for program in $programs; do
	expect 0 programs "$program"
	says out "^$program: ."
done
expect 0 programs sysbench
says out 'file_bytes +80 MiB'
expect 2 programs nosuch
if have_json; then
	expect 0 programs nfs --json
	[ "$(at 0.name)" = nfs ] || complain "programs nfs --json tells of $(at 0.name)"
fi

# The manual knows every verb and option.
for option in $(while IFS= read -r verb; do
	# shellcheck disable=SC2086
	"$iosched" $verb --help
done <<<"$verbs" | sed -n 's/^  --\([a-z-]*\).*/\1/p' | sort -u); do
	grep -qE "^\.It Fl -$option( |\$)" "$top/docs/iosched.1" || complain "--$option is not in iosched.1"
done
while IFS= read -r verb; do
	grep -qE "^\.It Cm $verb " "$top/docs/iosched.1" || complain "$verb is not in iosched.1"
done <<<"$verbs"

# A full disk is a failure.
if [ -c /dev/full ]; then
	"$iosched" policies >/dev/full 2>"$tmp/err" && complain "printing on a full disk succeeds"
	says err 'could not be written'
fi
exit $bad
