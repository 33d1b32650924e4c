# shellcheck shell=bash
# Sourced by the tests that are shell scripts. A check's output is in the file `output` of the working folder until the
# next check.

good=0 bad=0
# Like grep -q at the end of a pipe, but reads to the end: grep -q stops at the first match, and the writer then gets a
# signal, which pipefail counts as a failure.
finds() { grep "$@" | cat > /dev/null; }

# Makes a folder, which is removed when the script ends, and enters it.
scratch() {
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  cd "$folder" || exit
}

check() {   # WHAT COMMAND...
  local what=$1
  shift
  if "$@" > output 2>&1; then
    good=$((good + 1))
    echo "ok      $what"
  else
    bad=$((bad + 1))
    echo "FAILED  $what: $*"
    sed 's/^/        | /' output
  fi
}

# A line in doctest's form, which ./dev test adds up; fails if a check did.
checked() {   # NAME
  echo "[$1] test cases: $((good + bad)) | $good passed | $bad failed"
  ((bad == 0))
}
