#!/usr/bin/env bash
# Checks the Markdown pages: every relative link and every #anchor resolves; every "spec A.1" that a comment cites is a
# heading; the README stays short; the code blocks marked ```sh run work, those of one page in order, in a folder of
# their own; numbers of schemes and the like are right; docs/own_scheme.md works.
# usage: tests/tools/docs.sh PROGRAM     Ends with a line in doctest's form, which ./dev test adds up.
set -uo pipefail
program=$(realpath "$1")
[[ -x $program ]] || { echo "there is no program $1"; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
source=$PWD
# shellcheck source=tests/tools/check.sh
. tests/tools/check.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mapfile -t pages < <(find . -name '*.md' -not -path './build/*' -not -path './runs/*' -not -path './.*' | sort)

# The anchors that GitHub makes from a page's headings: lower case, no punctuation, hyphens for spaces. ASCII only.
anchors() {   # PAGE
  awk '
    /^ *```/ { code = !code; next }
    !code && /^#+ / {
      sub(/^#+ +/, ""); gsub(/\]\([^)]*\)/, ""); text = tolower($0)
      gsub(/[^a-z0-9 _-]/, "", text); gsub(/ /, "-", text)
      print text (seen[text]++ ? "-" (seen[text] - 1) : "")
    }' "$1"
}

links() {   # PAGE: "LINE TARGET" for each [text](target) outside of code
  awk '
    /^ *```/ { code = !code; next }
    code || /^    / && !/^ *[-*] / && !/^ *[0-9]+\. / { next }
    {
      gsub(/`[^`]*`/, "code")
      while (match($0, /\]\([^()]*(\([^()]*\)[^()]*)*\)/)) {
        print FNR, substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
      }
    }' "$1"
}

resolves() (   # PAGE: all its links
  cd "$source" || exit
  local line target path anchor lost=0
  while read -r line target; do
    case $target in http://* | https://* | mailto:*) continue ;; esac
    path=${target%%#*} anchor=
    [[ $target != *'#'* ]] || anchor=${target#*#}
    if [[ -n $path ]]; then path=$(dirname "$1")/$path; else path=$1; fi
    if [[ ! -e $path ]]; then
      echo "$1:$line: there is no $target"
      lost=1
    elif [[ -n $anchor ]] && ! anchors "$path" | finds -xF -- "$anchor"; then
      echo "$1:$line: $path has no heading #$anchor; it has"
      anchors "$path"
      lost=1
    fi
  done < <(links "$1")
  return $lost
)

# Comments say "spec A.1 (2)", "spec A.1 and A.2", "spec, finding 4"; headings "### A.1 (2) Sin/cos", "### Finding 4: x"
cited() (
  cd "$source" || exit
  local folders=(apps autograd bench core cuda encodings experiment lab nn tasks tests)
  local one lost=0
  while read -r one; do
    grep -qiE "^#+ ${one//[().]/\\&}([ :]|$)" docs/*.md && continue
    echo "no page has a heading '$one', which is cited by"
    grep -rnF --include='*.cpp' --include='*.h' --include='*.def' --include='*.py' -- "$one" "${folders[@]}"
    lost=1
  done < <(grep -rhoE --include='*.cpp' --include='*.h' --include='*.cu' --include='*.def' --include='*.py' \
             '\bspec\b.*' "${folders[@]}" | grep -oE '\b[A-E]\.[0-9]+( \([0-9]+\))?|finding [0-9]' | sort -u)
  return $lost
)

# Finds lines that GitHub shows but the site leaves out: MyST treats a line that begins with % as a comment, and +++ as
# a break. Rewrapping a paragraph may put the % of "95 %" at the beginning of a line.
shown() (
  cd "$source" || exit
  awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code; next }
    !code && /^ ? ? ?(%|\+\+\+)/ {
      print FILENAME ":" FNR ": the site leaves out a line that begins so: " $0; lost = 1
    }
    END { exit lost }' "${pages[@]}"
)

short() {   # the README: 200 lines of 120 columns
  [[ $(wc -l < "$source/README.md") -le 200 ]] && ! LC_ALL=C.UTF-8 grep -nE '^.{121}' "$source/README.md"
}

release_notes() { [[ $(wc -l < "$source/CHANGELOG.md") -le 60 || $(git -C "$source" tag) ]]; }

one_version() {   # CMake's version is the newest in the changelog
  local newest
  newest=$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$source/CHANGELOG.md" | head -n 1)
  echo "CHANGELOG.md begins with version $newest"
  grep -F "VERSION $newest " "$source/CMakeLists.txt"
}

# The numbers of schemes and samplers, in every page that states them in the words below.
counts() (
  cd "$source" || exit
  local lost=0
  total() { "$program" list "$1" | grep -c '^[a-z0-9_]'; }
  newest() { awk '/^## / && seen++ { exit } { print }' CHANGELOG.md; }    # numbers of older versions may stay
  are() {   # NUMBER PATTERN: each number that PATTERN finds is NUMBER
    local found page line number
    found=$(grep -HnoP "$2" README.md docs/*.md; newest | grep -noP "$2" | sed 's/^/CHANGELOG.md:/')
    [[ -n $found ]] || { echo "no page says $2"; lost=1; }
    while IFS=: read -r page line number; do
      [[ $number == "$1" ]] || { echo "$page:$line: $number, and there are $1"; lost=1; }
    done <<< "$found"
  }
  published() { sed -n 's/^"encoding": "\([a-z0-9_]*\).*/\1/p' tests/data/published/*.json; }
  are "$(total tasks)" 'list tasks +# \K\d+'
  are "$(total encodings)" 'list encodings +# \K\d+|(?<!cases of )\b\d+(?= (schemes(?! are held)|positional encodings))'
  are "$(total samplers)" '\b\d+(?= (samplers|ways to choose positions))'
  are "$(total temperatures)" '\b\d+(?= (temperature policies|rules for how sharp))'
  are "$(published | wc -l)" '\b\d+(?= cases of \d+ schemes)'
  are "$(published | sort -u | wc -l)" '(?<=cases of )\d+(?= schemes)|\b\d+(?= schemes are held)'
  return $lost
)

# The lines below "$ poslab ..." in a block must be the command's output.
printed() {
  local page line output='' lost=0
  for page in "${pages[@]}"; do
    while IFS= read -r line; do
      case $line in
        '$ poslab '*) output=$(LC_ALL=C.UTF-8 eval "${line#$ }" < /dev/null) || lost=1 ;;
        '```'*) output='' ;;
        *) [[ -z $output ]] || grep -qxF -e "$line" <<< "$output" || { echo "$page: not printed: $line"; lost=1; } ;;
      esac
    done < "$source/$page"
  done
  return $lost
}

# The blocks of a page as files 001:LINE, 002:LINE, ... They only have to run, so numbers of steps are divided by 100.
blocks() {   # PAGE FOLDER
  sed -E 's/(--steps [0-9]+)00 /\1 /' "$1" | awk -v to="$2" '
    /^```sh run *$/ { out = sprintf("%s/%03d:%d", to, ++n, FNR + 1); printf "" > out; next }
    /^```/ { out = ""; next }
    out { print > out }'
}

cd "$folder" || exit
for page in "${pages[@]}"; do
  check "links of ${page#./}" resolves "$page"
done
check 'every part of the spec that comments cite is a heading' cited
check 'the numbers of schemes, samplers, policies and published cases are right' counts
check 'sentences with figures agree with the data, and old results are marked as old' \
  python3 "$source/results/sentences.py"
check 'tables between marks agree with the data' python3 "$source/results/readme.py" --check
check 'the site leaves out no line of a page as a comment' shown
check 'README.md has at most 200 lines of 120 columns' short
check 'docs/own_scheme.md works as it stands' "$source/tests/tools/own_scheme.sh" "$(dirname "$program")"
check 'CHANGELOG.md has at most 60 lines before the first tag' release_notes
check 'CHANGELOG.md and CMakeLists.txt agree on the version' one_version

PATH=$(dirname "$program"):$PATH
check 'commands print the output that pages show' printed
for page in "${pages[@]}"; do
  name=${page#./}
  mkdir -p "$folder/$name/blocks" "$folder/$name/here"
  blocks "$source/$page" "$folder/$name/blocks"
  cd "$folder/$name/here" || exit
  for block in ../blocks/*:*; do
    [[ ! -e $block ]] || check "$name, block at line ${block##*:}" bash -euo pipefail "$block" < /dev/null
  done
done

checked docs
