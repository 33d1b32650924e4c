#!/usr/bin/env bash
# The demo: one small model learns one task on short strings, once with plain and once with randomized positions; then
# both answer longer ones. `./dev demo` calls it after the build: lab/demo.sh PROGRAM [OPTIONS for both trainings]
# A run that is complete is drawn again, one that was cut off goes on, one with other settings is replaced.
set -euo pipefail
program=$1
shift

# The two runs. They differ in the numbers that the tokens carry, and in nothing else.
both=(--task even_pairs --encoding rope --layers 3 --train-length 20 --steps 2000 --max-position 512
      --eval-lengths 1:100 --eval-samples 128 --seed 1)
plain=(--positions sequential)
randomized=(--positions randomized)

train() {   # NAME OPTIONS...
  local folder=runs/demo-$1 asked=runs/demo-$1.options
  shift
  if [[ ! -d $folder || $* != "$(cat "$asked" 2> /dev/null)" ]]; then
    rm -rf "$folder"
    echo "$*" > "$asked"
    (set -x; "$program" train "$@" --out "$folder")
  elif [[ ! -f $folder/result.json ]]; then
    (set -x; "$program" resume "$folder")
  else
    echo "$folder is complete already; rm -r $folder to train it again"
  fi
}

mkdir -p runs
train plain "${both[@]}" "${plain[@]}" "$@"
train randomized "${both[@]}" "${randomized[@]}" "$@"
(set -x; "$program" report runs/demo-plain runs/demo-randomized -o runs/demo.html)

# eval.csv of both runs side by side, every tenth length. The columns are found by their names.
echo
awk -F, '
  FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; file++; next }
  { length_ = $column["length"]; accuracy[file, length_] = $column["accuracy"]; longest = length_ }
  file == 1 { for (name in column) base[name, length_] = $column[name] }
  END {
    print "accuracy in %                      without understanding:"
    print "length     plain  randomized     guess  majority  content only"
    for (n = 10; n <= longest; n += 10)
      if ((1, n) in accuracy)
        printf "%6d %9.1f %11.1f %9.1f %9.1f %13.1f\n", n, 100 * accuracy[1, n], 100 * accuracy[2, n],
               100 * base["guess", n], 100 * base["majority", n], 100 * base["content_only", n]
  }' runs/demo-plain/eval.csv runs/demo-randomized/eval.csv
printf '\nThe page, with curves, position matrices and attention maps: %s\n' "$PWD/runs/demo.html"
