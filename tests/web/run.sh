#!/usr/bin/env bash
# Tests the page of tools/web: its modules under node, then the page in headless Chromium. Each part ends with a line
# that ./dev test counts.     usage: run.sh PAGE.html POSLAB
here=$(dirname "${BASH_SOURCE[0]}") status=0
said=$(node --test --test-reporter=tap "$here"/{modules,lanes,home,pages}.mjs)
grep -E -A8 '^ *not ok' <<< "$said"
awk '/^# pass / {good = $3} /^# (fail|cancelled) / {bad += $3}
     END {printf "[modules] test cases: %d | %d passed | %d failed\n", good + bad, good, bad; exit bad > 0 || !good}' \
  <<< "$said" || status=1
python3 "$here/page.py" "$1" || status=1
python3 "$here/others.py" "$1" "$2" || status=1
python3 "$here/firefox.py" "$1" || status=1
exit $status
