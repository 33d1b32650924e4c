#!/usr/bin/env bash
# Checks that no line is wider than 120 columns, that the subjects of commits that main lacks have at most 72, and that
# the pages of docs/ have at most 37,100 words written by hand.
# usage: tests/tools/lines.sh [columns | subjects | words]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

columns() {
  local wide
  wide=$(git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh' '*.def' '*.py' '*.sh' '*.mjs' '*.cmake' \
           '*CMakeLists.txt' dev .ci/run tools | LC_ALL=C.UTF-8 xargs grep -nE '^.{121}' | cut -d: -f1,2) || true
  [[ -z $wide ]] || { echo "wider than 120 columns:"$'\n'"$wide" >&2; return 1; }
}

subjects() {   # passes if there is no history
  local base long
  base=$(git merge-base HEAD origin/main 2> /dev/null || git merge-base HEAD main 2> /dev/null) || return 0
  long=$(git log --format='%h %s' "$base..HEAD" | LC_ALL=C.UTF-8 grep -E '^[0-9a-f]+ .{73}') || return 0
  echo "subjects of more than 72 columns:"$'\n'"$long" >&2
  return 1
}

words() {   # without pages of results and tables, which are made; a page with a template counts as its template
  local page count
  count=$(for page in docs/*.md; do
            [[ $page != docs/results* ]] || continue
            [[ ! -e $page.in ]] || page+=.in
            sed -E '/^<!-- [a-z]+: /,/^<!-- (end of [a-z]+|[a-z]+ end) -->/d' "$page"
          done | wc -w)
  ((count <= 37100)) || { echo "docs/*.md have $count words by hand, above 37,100: shorten a page" >&2; return 1; }
}

case ${1:-} in
  columns | subjects | words) "$1" ;;
  *) columns && subjects && words ;;
esac
