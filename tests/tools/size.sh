#!/usr/bin/env bash
# Checks that each folder is within its budget of lines, tools/size.txt. Only files that git tracks count.
# usage: tests/tools/size.sh [--write]     --write lowers each budget to the present number of lines, and raises none.
# Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

endings() {   # LANGUAGE
  case $1 in
    c++) echo 'cpp|h|cu|cuh|def' ;;
    python) echo 'py' ;;
    page) echo 'mjs|js|css|html' ;;
    shell) echo 'sh|cmake' ;;
    any) echo 'cpp|h|cu|cuh|def|c|py|mjs|js|css|html|sh|cmake' ;;
    *) echo "tools/size.txt: no language '$1'; there are c++, python, page, shell and any" >&2; exit 2 ;;
  esac
}
lines() {   # FOLDER LANGUAGE
  local ending
  ending=$(endings "$2") || exit
  git ls-files -z -- "$1" | grep -zE "\.($ending)\$|^tools/[a-z-]+\$" | xargs -0r cat | wc -l
}

good=0 bad=0
fault() { echo "$1" >&2; bad=$((bad + 1)); }

lowered=$(mktemp)
trap 'rm -f "$lowered"' EXIT
while read -r folder language budget; do
  if [[ $folder == '#'* || -z $folder ]]; then echo "$folder $language $budget" | sed 's/ *$//'; continue; fi
  there=$(lines "$folder" "$language") || exit
  if ((there == 0)); then fault "tools/size.txt: $folder has no lines of $language; remove its budget"
  elif ((there > budget)); then
    fault "$folder: $there lines of $language, $((there - budget)) above its budget, $budget (tools/size.txt); remove \
some, or raise the budget and say in the commit what the lines are for"
  else good=$((good + 1))
  fi
  printf '%-16s %-8s %6d\n' "$folder" "$language" $((there < budget ? there : budget))
done < tools/size.txt > "$lowered"

# Otherwise C++ in a folder without a budget would grow unnoticed.
for folder in $(git ls-files -- '*.cpp' '*.h' '*.cu' '*.cuh' | cut -d/ -f1 | sort -u); do
  grep -qE "^$folder(/[a-z]+)? +(c\+\+|any) " tools/size.txt && continue
  fault "$folder has C++ but no budget; give it one in tools/size.txt"
done

if [[ ${1:-} == --write ]]; then cp "$lowered" tools/size.txt; fi
echo "[size] test cases: $((good + bad)) | $good passed | $bad failed"
((bad == 0))
