#!/usr/bin/env bash
# No tracked file names a directory of somebody's machine, and none says that
# it is unfinished. (The brackets keep this file from finding itself.)
. "$(dirname "$0")/files.sh"

words='\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b'
paths='(^|[^A-Za-z0-9_.~-])/(hom[e]|Use[r]s)/[A-Za-z0-9_-]+|(^|[^A-Za-z0-9_./~-])/(roo[t]|wor[k]|far[m])/|/tmp/bash_job[s]|[.]librar[y]/'

# absent PATTERN SAMPLE COMPLAINT. The sample proves that the pattern still finds
# something; -I leaves binary files alone.
absent()
{
	local hits
	echo "$2" | grep -qE -e "$1" || { echo "the pattern does not find \"$2\""; exit 1; }
	hits=$(tracked | xargs -0 -r grep -InE -e "$1" --) || true
	[ -z "$hits" ] || { printf '%s\n%s\n' "$hits" "$3"; bad=1; }
}

bad=0
absent "$words" "/* TO""DO: */" "the lines above say that something is unfinished"
absent "$paths" "cd /hom""e/user/src" "the lines above hold a path of somebody's machine"
exit $bad
