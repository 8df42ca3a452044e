# Sourced by the lint tests: which files are ours. Only git knows, so a tree
# without it (a release tarball, which was checked before it was made) is skipped.
set -eu
cd "$(dirname "$0")/../.."

# Whoever runs the tests need not own the tree.
tracked()
{
	local build builds=()

	for build in */config.status; do # whatever its name, what was built there is not ours
		builds+=(-x "/${build%/*}/")
	done
	git -c safe.directory='*' ls-files -z --cached --others --exclude-standard "${builds[@]}" -- "$@"
}

skip()
{
	echo "$*"
	exit 77
}

[ -e .git ] || skip "not a git checkout: the lint tests look at tracked files only"
command -v git >/dev/null || skip "no git here"
