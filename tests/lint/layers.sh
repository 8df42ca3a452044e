#!/usr/bin/env bash
# blocks <- policies <- core <- sim, trace <- examples, tests
#
# A file includes only its own layer or one to its left. Beside that:
#  - core/registry.c alone, among the files to the right of the policies, names
#    them (a unit test may, to look at one without the core);
#  - the simulator's and the traces' public headers are for nobody to the left
#    of them, the other public ones for everybody;
#  - front (beside the core) and check (beside the simulator) use the public
#    headers only, as a host would;
#  - examples are embeddings: they see what is installed and nothing else.
. "$(dirname "$0")/files.sh"

mapfile -d '' -t files < <(tracked 'lib/*.[ch]' 'examples/*.[ch]' 'tests/*.[ch]' 'include/*.h')
[ ${#files[@]} -gt 0 ] || { echo "no C files found"; exit 1; }

grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]' -H -- "${files[@]}" | awk '
	BEGIN {
		rank["blocks"] = 1; rank["policies"] = 2; rank["core"] = 3
		rank["front"] = 3; rank["check"] = 4
		rank["sim"] = 4; rank["trace"] = 4; rank["examples"] = 5; rank["tests"] = 5
		# The lowest layer that may see each public header; others: 1.
		public["sim.h"] = 4; public["trace.h"] = 4
	}
	function wrong(why) { print file ":" line ": " text ": " why; bad = 1 }
	{
		file = $0; sub(/:.*/, "", file)
		line = $0; sub(/^[^:]*:/, "", line); sub(/:.*/, "", line)
		text = $0; sub(/^[^:]*:[^:]*:[ \t]*/, "", text)
		match(text, /["<][^">]*[">]/)
		quote = substr(text, RSTART, 1)
		target = substr(text, RSTART + 1, RLENGTH - 2)

		n = split(file, dir, "/")
		layer = dir[1] == "lib" ? dir[2] : dir[1]
		if (layer == "include") {
			if (quote == "\"")
				wrong("a public header sees only installed ones")
			next
		}
		if (!(layer in rank)) { wrong("a folder without a layer: " layer); next }
		seen++

		split(target, part, "/")
		if (target ~ /(^|\/)\.\.?\//)
			wrong("write it from lib/ (blocks/x.h), not relative")
		else if (part[1] == "iosched") {
			if (public[part[2]] > rank[layer])
				wrong(layer " does not see this public header")
		} else if (part[1] in rank && index(target, "/")) {
			if (layer ~ /^(examples|front|check)$/ && part[1] != layer)
				wrong(layer " sees installed headers only")
			else if (rank[part[1]] > rank[layer])
				wrong(part[1] " is to the right of " layer)
			else if (part[1] == "policies" && rank[layer] > 2 && layer != "tests" &&
				 file != "lib/core/registry.c")
				wrong("only core/registry.c names policies")
		}
	}
	END {
		if (seen == 0) { print "no include line was seen"; bad = 1 }
		if (!bad) print seen " include lines keep to their layers"
		exit bad
	}'
