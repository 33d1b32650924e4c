#!/usr/bin/env bash
# The results beside the paper's in the README: Even Pairs and Bucket Sort, plain against randomized positions, for the relative and the
# rotary encoding. Preset `example` cut short: 3,000 and 1,500 of its 10,001 steps.
#
#   lab/results/reproduce.sh [JOBS]      2 runs at a time, with a thread each: about an hour on 2 cores
#
# A run that is there already is kept, one that was cut off goes on. lab/results/readme.py prints what came of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
jobs=${1:-2}
program=$PWD/build/release/poslab
runs=$PWD/runs/results

one() {   # TASK ENCODING POSITIONS STEPS LR
  local name=$1-$2-$3-lr$5
  if [[ -d $runs/$name ]]; then
    [[ -f $runs/$name/result.json ]] || "$program" resume "$runs/$name"
  else
    "$program" train --preset example --task "$1" --encoding "$2" --positions "$3" --steps "$4" --lr "$5" --threads 1 --out "$runs/$name"
  fi > "$runs/$name.log" 2>&1
  mkdir -p "lab/results/$name"
  cp "$runs/$name"/{config.toml,eval.csv,result.json} "lab/results/$name/"
  grep 'paper score' "$runs/$name.log" | sed "s/^/$name /"
}
export -f one
export program runs

mkdir -p "$runs"
xargs -P "$jobs" -L 1 bash -c 'one "$@"' one <<END
even_pairs relative sequential 3000 1e-3
even_pairs relative randomized 3000 1e-3
even_pairs rope sequential 3000 1e-3
even_pairs rope randomized 3000 1e-3
bucket_sort relative sequential 1500 1e-3
bucket_sort relative randomized 1500 1e-3
bucket_sort rope sequential 1500 1e-3
bucket_sort rope randomized 1500 1e-3
even_pairs relative randomized 3000 3e-4
END
