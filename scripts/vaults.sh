#!/usr/bin/env bash
# Fetches three vaults of others, each of more than 1,000 notes, for the part vaults of proof.sh.
# Prints their folders in the form of REAL_VAULTS. Their texts are not ours to ship: they stay out of the repository.
#
#   VAULTS   folder for them, default vaults
#   MIRROR   folder with copies of the repositories, OWNER+NAME/…, in place of github.com
set -euo pipefail
out=$(realpath -m "${VAULTS:-vaults}") folders=""
# repository ! commit ! licence
while IFS='!' read -r repository commit licence; do
	dir=$out/${repository#*/}
	if [ ! -d "$dir" ]; then
		git=$out/${repository#*/}.git
		if [ -n "${MIRROR:-}" ]; then
			git=$(dirname "$(find "$MIRROR/${repository/\//+}" -maxdepth 3 -name HEAD | head -n 1)")
		else
			git clone -q --bare "https://github.com/$repository" "$git"
		fi
		mkdir -p "$dir.part"
		# A copy may lack its largest files: they are left out.
		export GIT_DIR=$git GIT_INDEX_FILE=$dir.index GIT_WORK_TREE=$dir.part
		git read-tree "$commit"
		git -c core.autocrlf=false checkout-index -a -f 2>/dev/null || true
		unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
		mv "$dir.part" "$dir"
	fi
	echo "$repository at $commit ($licence): $(find "$dir" -name '*.md' | wc -l) notes" >&2
	folders+=${folders:+:}$dir
done <<'VAULTS'
obsidian-community/obsidian-hub!dae4bcf14!see its README
recep-yigit-samsa/DND-OBSIDIAN-VAULT!9457724!see its README
obsidianmd/obsidian-help!fa179e91!see its README
VAULTS
echo "$folders"
